"""What the scripts that record real programs have in common: build, record, predict, replay one witness of each class.

A program's script makes an `Experiment` for each of its runs. The tables say which of the classes of locations the real program
reached, and where and why it left the schedule of the others. A step that fails ends the script with 1; a schedule that
was left is a result, not a failure.
"""

import argparse
import json
import re
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NAME = Path(sys.argv[0]).name
# Where servers listen, and the seconds that their clients wait.
HOST = "127.0.0.1"
PATIENCE = 60
# A line of JSON for each experiment, in the script's folder; and what stands in a report.
ROWS = "rows.jsonl"
FIGURES = {
    "events": r": (\d+) events, ",
    "threads": r" events, (\d+) threads",
    "can happen": r" classes of source locations: (\d+)\s+can\s+happen",
    "cannot": r"(\d+)\s+cannot\s+happen",
    "undecided": r"(\d+)\s+undecided",
    "left": r"(\d+)\s+not\s+reached",
}


def parse_options(description, classes=20, budget=300):
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--foretrace", type=Path, default=ROOT / "target/release/foretrace", help="the binary to use")
    add("--work", type=Path, default=ROOT / "target" / NAME, help="the folder to work in, which is emptied")
    add("--classes", type=int, default=classes, help="how many classes of locations to replay")
    add("--seed", type=int, default=1, help="of the serial scheduler")
    add("--budget", type=int, default=budget, help="seconds for each prediction")
    options = parser.parse_args()
    options.foretrace = options.foretrace.resolve()
    require(options.foretrace.is_file(), f"{options.foretrace} is missing: build it (cargo build --release), or say --foretrace")
    options.work = options.work.resolve()
    shutil.rmtree(options.work, ignore_errors=True)
    options.work.mkdir(parents=True)
    return options


def sources(options):
    """A copy of the program's unmodified sources."""
    fetched = run([ROOT / "scripts/fetch-program", NAME], capture=True).strip()
    folder = options.work / "source"
    shutil.copytree(fetched, folder, symlinks=True)
    return folder


def text(length):
    """Text that compresses as text does, and is the same every time."""
    lines = (f"{number} squared is {number * number}, and cubed {number**3}\n" for number in range(length))
    content = bytearray()
    while len(content) < length:
        content += next(lines).encode()
    return bytes(content[:length])


def free_port():
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return probe.getsockname()[1]


def wait_for(port):
    """Until the server listens, without a connection, which it would see."""
    listening = f":{port:04X} 00000000:0000 0A "
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        with open("/proc/net/tcp", encoding="ascii") as table:
            if listening in table.read():
                return
        time.sleep(0.02)
    require(False, "the server does not listen")


class Experiment:
    """One command line of the program: its recording, its prediction, its replays.

    `given` are files that it finds, by name. `prepare` is called with the folder before each run of the program, `drive` while it is recorded: a replay
    plays the clients itself.
    """

    def __init__(self, options, name, command, given=None, prepare=None, drive=None, parallel=False, atomic="functions"):
        self.options = options
        self.name = name
        self.mode = ["--parallel"] if parallel else ["--serial", "--seed", options.seed]
        self.atomic = atomic
        self.prepare = prepare or (lambda folder: None)
        self.drive = drive or (lambda: None)
        self.folder = options.work / name
        self.folder.mkdir()
        for file, content in (given or {}).items():
            (self.folder / file).write_bytes(content)
        self.command = ["--", *command]
        # What the table of `scripts/real` has of it.
        self.row = {"program": f"{NAME} {name}"}
        self.recording = self.folder / "recording"
        self.witnesses = self.folder / "witnesses"

    def foretrace(self, *arguments, allowed=(0,), **how):
        return run([self.options.foretrace, *map(str, arguments)], allowed, cwd=self.folder, **how)

    def run_program(self, *arguments, **how):
        """`foretrace` with arguments that make it run the program."""
        self.prepare(self.folder)
        return self.foretrace(*arguments, *self.command, **how)

    def record(self):
        say(f"{self.name}: recording")
        before = time.monotonic()
        self.run_program("record", "-o", self.recording, *self.mode, "--atomic", self.atomic, meanwhile=self.drive)
        self.foretrace("check", self.trace())
        print(f"\n{self.name}: {NAME} {' '.join(self.command[2:])}")
        print(f"recorded and walked in {time.monotonic() - before:.1f} s: {size(self.recording):,} bytes of logs")

    def trace(self):
        return self.recording / "trace.jsonl.zst"

    def predict(self):
        say(f"{self.name}: predicting")
        limits = ["--time-limit", self.options.budget, "--witness-dir", self.witnesses]
        nothing, something, undecided = 0, 1, 3
        before = time.monotonic()
        report = self.foretrace("predict", self.trace(), *limits, allowed=(nothing, something, undecided), capture=True)
        print(f"predicted in {time.monotonic() - before:.1f} s\n")
        (self.folder / "report").write_text(report)
        about = (f"{self.trace()}: ", "transactions: ")
        totals = (" classes of source locations: ", " candidates: ")
        for key, pattern in FIGURES.items():
            found = re.search(pattern, report)
            self.row[key] = int(found.group(1)) if found else 0
        for line in report.splitlines():
            if line.startswith(about) or any(total in line for total in totals):
                print(line)

    def repeat(self):
        """Replays the recording's own schedule."""
        verdict = json.loads(self.run_program("replay", self.recording, "--format", "json", allowed=(0, 1), capture=True))
        self.row["own"] = "followed" if verdict["followed"] else reason(verdict)
        print(f"its own schedule: {outcome(verdict)}", flush=True)

    def replay(self):
        classes = classes_of(self.witnesses)
        ways = {"to the letter": 0, "another way": 0, "not": 0}
        reasons = {}
        chosen = list(classes.items())[: self.options.classes]
        print(f"\n{len(classes)} classes with a witness; replayed: the first {len(chosen)}\n")
        before = time.monotonic()
        for number, (locations, (path, witness)) in enumerate(chosen, start=1):
            say(f"{self.name}: replaying {number}")
            verdict = json.loads(self.run_program("replay", path, "--format", "json", allowed=(0, 1), capture=True))
            ways["to the letter" if verdict["followed"] else "another way" if verdict["another_way"] else "not"] += 1
            if not verdict["followed"]:
                reasons[reason(verdict)] = reasons.get(reason(verdict), 0) + 1
            print(f"{number:>3}  {witness['pattern']}  {variable(witness)}")
            print(f"     {'  '.join(locations)}")
            print(f"     {outcome(verdict)}", flush=True)
        counts = ", ".join(f"{count} {way}" for way, count in ways.items())
        print(f"\nreached: {counts}; {len(chosen)} in {time.monotonic() - before:.1f} s", flush=True)
        self.row |= {"replayed": len(chosen), **ways, "reasons": reasons}
        with open(self.options.work / ROWS, "a", encoding="utf-8") as rows:
            rows.write(json.dumps(self.row) + "\n")


def compress(options, command, written, decompress, content):
    """All steps of a program that compresses the file `text` into another: once serial, once in parallel."""

    def check(folder):
        require(decompress((folder / written).read_bytes()) == content, "the compressed file is wrong")

    fresh = lambda folder: (folder / written).unlink(missing_ok=True)
    serial_and_parallel(options, "compress", [*command, "text"], check, given={"text": content}, prepare=fresh)


def serial_and_parallel(options, name, command, check=lambda folder: None, **how):
    """All steps with the blocks of `--atomic auto`, once serial and once in parallel; `check` looks at what the recorded run left in its folder."""
    for parallel in (False, True):
        experiment = Experiment(options, name + "-parallel" * parallel, command, parallel=parallel, atomic="auto", **how)
        experiment.record()
        check(experiment.folder)
        experiment.repeat()
        experiment.predict()
        experiment.replay()


def size(recording):
    return sum(path.stat().st_size for path in recording.glob("thread-*.log"))


def classes_of(witnesses):
    """Locations of first, remote and second -> one witness, in the order of the trace."""
    found = [(path, json.loads(path.read_text())) for path in witnesses.glob("witness-*.json")]
    found.sort(key=lambda entry: triple(entry[1]))
    classes = {}
    for path, witness in found:
        events = {step["event"]: step for step in witness["schedule"]}
        locations = tuple(events[event].get("loc", "?") for event in triple(witness))
        classes.setdefault(locations, (path, witness))
    return classes


def triple(witness):
    return witness["first"], witness["remote"], witness["second"]


def variable(witness):
    return next(step.get("var", "?") for step in witness["schedule"] if step["event"] == witness["first"])


def outcome(verdict):
    ending = ", ".join(ended(ending) for ending in verdict["endings"])
    left = verdict.get("left")
    if verdict["followed"]:
        return f"reached; then the program {ending}"
    if verdict["another_way"]:
        return f"reached another way; then the program {ending}"
    if left is None:
        return f"followed the schedule, but not reached: {verdict.get('reason')}; the program {ending}"
    found = left["found"] or "nothing"
    because = f" ({left['reason']})" if left.get("reason") else ""
    where = f"left the schedule at event {left['at']} of thread {left['thread']}"
    return f"{where}: expected {left['expected']}, found {found}{because}; the program {ending}"


def reason(verdict):
    """Why a schedule was not followed, without numbers."""
    left = verdict.get("left") or {}
    return re.sub(r"\d[\d.]*", "#", left.get("reason") or verdict.get("reason") or f"expected {left.get('expected', '?').split(' at ')[0]}")


def ended(ending):
    if "code" in ending:
        return f"ended with {ending['code']}"
    return f"was killed by signal {ending['signal']}" if "signal" in ending else "hung"


def run(command, allowed=(0,), capture=False, cwd=None, environment=None, meanwhile=None):
    """Runs a command, which must end with one of the allowed codes; gives its output if that is captured."""
    stdout = subprocess.PIPE if capture else sys.stderr
    with subprocess.Popen(command, cwd=cwd, text=True, stdout=stdout, env=environment) as process:
        if meanwhile:
            meanwhile()
        output, _ = process.communicate()
    require(process.returncode in allowed, f"{' '.join(map(str, command))} ended with {process.returncode}")
    return output


def require(truth, message):
    if not truth:
        say(message)
        sys.exit(1)


def say(message):
    print(f"{NAME}: {message}", file=sys.stderr)
