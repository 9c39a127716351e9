"""What scripts/repairs and scripts/causes have in common: programs with known bugs, built by foretrace and recorded."""

import json
import os
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRAMS = ROOT / "examples/programs"
FORETRACE = os.path.realpath(os.environ.get("FORETRACE", ROOT / "target/debug/foretrace"))
# What the main function of the case `ledger` does: it moves money in a circle, and the sum must stay.
LEDGER = """
fn main() {
    let ledger = Arc::new(Ledger::default());
    (0..3).for_each(|id| ledger.open(id, 100));
    let transfer = |n: u32| {
        let ledger = ledger.clone();
        std::thread::spawn(move || ledger.transfer(n, (n + 1) % 3, 10 * (i64::from(n) + 1)).unwrap())
    };
    let threads: Vec<_> = (0..3).map(transfer).collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(ledger.total(), 300);
}
"""


class DoesNotBuild(Exception):
    """With the compiler's last line."""


def run(command, **options):
    """Runs a command; one that takes longer than its `timeout` gives nothing."""
    try:
        return subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)
    except subprocess.TimeoutExpired:
        return None


def must(command, **options):
    done = run(command, **options)
    if done.returncode != 0:
        raise DoesNotBuild((done.stderr.strip().splitlines() or ["?"])[-1][:80])
    return done.stdout


def compiled(source, work, *flags, libraries=()):
    """The program of a C or C++ file."""
    program = work / source.stem
    compiler = "cc" if source.suffix == ".c" else "c++"
    must([FORETRACE, compiler, "-g", "-O1", "-pthread", *flags, "-o", program, source, *libraries])
    return program


def crate(folder, work, *options):
    """The program of a Rust package."""
    target = work / "target"
    words = [FORETRACE, "cargo", "build", "--quiet", "--target-dir", target, "--message-format", "json", *options]
    messages = [json.loads(line) for line in must(words, cwd=folder).splitlines() if line.startswith("{")]
    return next(Path(message["executable"]) for message in messages if message.get("executable"))


def programs_of(folder):
    """The programs of a Rust package: their names, and how to build each."""
    for source in sorted((folder / "src/bin").glob("*.rs")):
        name = source.stem
        yield name, lambda work, name=name: crate(folder, work, "--bin", name)


def ledger(work):
    """The case `ledger`, as a program."""
    folder = work / "ledger"
    (folder / "src").mkdir(parents=True)
    (folder / "Cargo.toml").write_text('[package]\nname = "ledger"\nversion = "0.0.0"\nedition = "2021"\n')
    (folder / "src/main.rs").write_text((ROOT / "tests/testing/ledger.rs").read_text().replace("//!", "//") + LEDGER)
    return crate(folder, work, "--offline")


def examples():
    """Each example: its name, the transaction with its bug, its source, and whether it is in Rust."""
    for one in json.loads((PROGRAMS / "expected.json").read_text()):
        yield one["name"], one["violation"]["transaction"], PROGRAMS / one["source"], one["language"] == "rust"


def example(name, source, is_rust, work, fixed=False):
    """The program of an example, or of its twin without the bug."""
    if not is_rust:
        return compiled(source, work, *(["-DFIXED"] if fixed else []))
    features = ["--features", "fixed"] if fixed else []
    return crate(PROGRAMS, work, "--offline", "--package", name, *features)


def recorded(program, recording, seed, passes):
    """Whether a run is recorded that passes, or fails."""
    shutil.rmtree(recording, ignore_errors=True)
    done = run([FORETRACE, "record", "--seed", seed, "-o", recording, "--", program], timeout=120)
    return done is not None and (done.returncode == 0) == passes


def section(one):
    """A section of a repair in a cell of a table."""
    def lines(l):
        return f"{os.path.basename(l['file'])}:{l['first']}–{l['last']}"

    function = one.get("function", "")
    text = ", ".join(map(lines, one["lines"]))
    return f"{text} in `{function.split('::')[-1]}`" if function else text
