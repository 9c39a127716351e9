"""Real programs for the table of `scripts/testing`: built with foretrace from unmodified sources, with an input so small that a run of
each takes seconds. What they write goes to their output, which `foretrace test` compares.
"""

import bz2
import json
import os
import shutil
import subprocess
import sys
from collections import namedtuple
from pathlib import Path

from real_program import HOST, ROOT, text

# Its name, the program's file, what follows it on the command line, the file that it reads by name and content, and options of `foretrace test`.
Real = namedtuple("Real", ["name", "built", "arguments", "given", "options"])

CRATES = ["arc_swap", "dashmap", "flume", "parking_lot", "rayon", "tokio"]
# Two workers. Without the threads that tend memory in the background, which wake a thousand times a second. Large items, so that not
# ten thousand of them are cut from a page when it is first used.
MEMCACHED_FEATURES = ["-o", "no_lru_maintainer,no_lru_crawler,no_hashexpand,no_slab_reassign"]
MEMCACHED = ["-U", "0", "-l", HOST, "-t", "2", "-m", "8", "-n", "32768", "-u", "root", "-A", *MEMCACHED_FEATURES]
# Threads for input and output.
REDIS = ["--io-threads", "3", "--io-threads-do-reads", "yes", "--save", "", "--appendonly", "no", "--daemonize", "no"]
REDIS_BUILD = ["MALLOC=libc", "OPTIMIZATION=-O1", "BUILD_TLS=no"]
# Starts a server and its clients.
SERVED = ["--harness", ROOT / "scripts/served"]
# Programs that use crates with a known bug: crossbeam-channel 0.5.14, spin 0.9.7, tokio 1.43.0 (examples/old-bugs).
OLD_BUGS = ["crossbeam-list", "spin-once", "tokio-broadcast"]


def real_programs(foretrace, folder, wanted):
    """Builds each program that is wanted in a folder. One that this foretrace has built before stays; one that cannot be built is named and left out."""
    for name, build in PROGRAMS.items():
        if not wanted(name):
            continue
        try:
            source = Path(must([ROOT / "scripts/fetch-program", name]).strip())
            yield kept(foretrace, folder / name, source, build)
        except subprocess.CalledProcessError as error:
            print(f"{name}: cannot be built: {str(error.stderr)[-500:]}", file=sys.stderr)
    crates = [name for name in CRATES if wanted(name)]
    if crates:
        yield from crate_programs(foretrace, folder / "crates", ROOT / "examples/crates", crates)
    for name in filter(wanted, OLD_BUGS):
        yield from crate_programs(foretrace, folder / "old-bugs", ROOT / "examples/old-bugs" / name, [name])


def kept(foretrace, folder, source, build):
    done = folder / "built-by-foretrace"
    if done.is_file() and done.stat().st_mtime > foretrace.stat().st_mtime:
        return build(None, folder)
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(source, folder, symlinks=True)
    real = build(foretrace, folder)
    done.touch()
    return real


def crate_programs(foretrace, folder, project, names):
    words = ["cargo", "build", "--quiet", "--locked", "--target-dir", folder, "--message-format", "json"]
    try:
        output = must([foretrace, *words], project, CARGO_NET_OFFLINE="false")
    except subprocess.CalledProcessError as error:
        print(f"{', '.join(names)}: cannot be built: {str(error.stderr)[-500:]}", file=sys.stderr)
        return
    messages = [json.loads(line) for line in output.splitlines()]
    built = {one["target"]["name"]: one["executable"] for one in messages if one.get("executable")}
    for name in names:
        yield Real(name, Path(built[name]), [], None, [])


def must(command, folder=None, **environment):
    """What a command writes; an exception if it fails."""
    words = [str(word) for word in command]
    how = {"cwd": folder, "env": {**os.environ, **environment}, "text": True, "errors": "replace"}
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **how).stdout


# What builds a program; without a foretrace it is there.


def pigz(foretrace, folder):
    if foretrace:
        must(["make", "-s", "pigz", f"CC={foretrace} cc", "CFLAGS=-O1 -g -w"], folder)
    return Real("pigz", folder / "pigz", ["-1", "-c", "-p", "2", "-b", "128", "text"], ("text", text(150_000)), [])


def pbzip2(foretrace, folder):
    if foretrace:
        # The sources are older than C++11's literals with a suffix, which clang would see in "%"PRIuMAX.
        must(["make", "-s", f"CXX={foretrace} c++ -Wno-reserved-user-defined-literal", "pbzip2"], folder)
    return Real("pbzip2", folder / "pbzip2", ["-b1", "-c", "-p2", "text"], ("text", text(120_000)), [])


def lbzip2(foretrace, folder):
    if foretrace:
        # Its copy of gnulib is older than the C library, where these names are gone.
        names = "-D_IO_ftrylockfile -D_IO_ERR_SEEN=0x20"
        must(["./configure", "-q", f"CPPFLAGS={names}"], folder, CC=f"{foretrace} cc -w")
        must(["make", "-s"], folder)
    return Real("lbzip2", folder / "src/lbzip2", ["-d", "-c", "-n2", "text.bz2"], ("text.bz2", bz2.compress(text(800))), [])


def xz(foretrace, folder):
    left_out = [f"--disable-{part}" for part in ["shared", "nls", "doc", "scripts", "xzdec", "lzmadec", "lzmainfo"]]
    if foretrace:
        must(["./configure", "-q", "--enable-sandbox=no", *left_out], folder, CC=f"{foretrace} cc -w", CFLAGS="-O1 -g")
        must(["make", "-s"], folder)
    return Real("xz", folder / "src/xz/xz", ["-T2", "--block-size=512", "-0", "-c", "text"], ("text", text(1_000)), [])


def leveldb(foretrace, folder):
    if foretrace:
        left_out = [f"-DLEVELDB_BUILD_{part}=OFF" for part in ("TESTS", "BENCHMARKS")] + [f"-DHAVE_{part}=0" for part in ("SNAPPY", "CRC32C", "TCMALLOC")]
        words = ["cmake", "-S", folder, "-B", folder / "built", "-DCMAKE_BUILD_TYPE=RelWithDebInfo", *left_out]
        must(words, CC=f"{foretrace} cc", CXX=f"{foretrace} c++")
        must(["make", "-s", "-C", folder / "built", "leveldb"])
        files = [ROOT / "scripts/leveldb_client.cpp", folder / "built/libleveldb.a"]
        must([foretrace, "c++", "-g", "-O1", "-pthread", f"-I{folder}/include", *files, "-o", folder / "client"])
    return Real("leveldb", folder / "client", [], None, ["--sandbox"])


def memcached(foretrace, folder):
    if foretrace:
        must(["./configure", "-q", "--disable-docs", "--disable-coverage"], folder, CC=f"{foretrace} cc -w")
        must(["make", "-s", "memcached"], folder)
    return Real("memcached", folder / "memcached", MEMCACHED, None, SERVED)


def redis(foretrace, folder):
    if foretrace:
        must(["make", "-s", "-C", "src", "redis-server", f"CC={foretrace} cc -w", *REDIS_BUILD], folder)
    return Real("redis", folder / "src/redis-server", REDIS, None, SERVED)


PROGRAMS = {"memcached": memcached, "redis": redis, "leveldb": leveldb, "pigz": pigz, "pbzip2": pbzip2, "lbzip2": lbzip2, "xz": xz}
