//! Small programs that say themselves what is right: a block labelled "no …" must have no feasible candidate, one labelled
//! "yes …" needs one in some recording, of one labelled "open …" none may be impossible, and of one labelled "never …" all must be. Every witness and every recording's own schedule must be followed, and a recorded program behaves as a native one.

mod blocks;
mod fortified;
mod rust;
#[path = "../recorder/support.rs"]
#[allow(dead_code)] // the other tests use the rest
mod support;
mod unseen;

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use support::{Ran, Workshop, foretrace, ran};

/// How each case is recorded: always as the first two say, and as the others say if those have not shown all that they must.
const MODES: [&str; 6] = ["--seed 0", "--parallel", "--seed 1", "--parallel", "--seed 2", "--seed 3"];
const ALWAYS: usize = 2;
/// Runs of the native program that show how it may behave.
const NATIVE_RUNS: usize = 12;
/// Seconds until a replayed program counts as hung.
const REPLAY_SECONDS: &str = "20";

/// A test for each program: `name: file, "flags of its own"`.
macro_rules! cases {
    ($($name:ident: $file:literal $(, $flags:literal)?;)*) => {
        $(#[test]
        fn $name() {
            judge($file, concat!("", $($flags)?));
        })*
    };
}

cases! {
    alloca: "alloca.c";
    arenas: "arenas.c";
    asm_lock: "asm-lock.c";
    asm_operations: "asm-operations.c";
    asm_twins: "asm-twins.c";
    asm_wide: "asm-wide.c";
    asynchronous: "async.cpp";
    atomic_ref: "atomic-ref.cpp";
    atomic_shared: "atomic-shared.cpp";
    atomic_shared_swapped: "atomic-shared-swapped.cpp";
    atomic_wait: "atomic-wait.cpp";
    barrier: "barrier.c";
    barrier_serial: "barrier-serial.c";
    bit_fields: "bit-fields.c";
    by_value: "by-value.c";
    c11: "c11.c";
    c11_threads: "c11-threads.c";
    cancel: "cancel.c";
    cancel_cleanup: "cancel-cleanup.c";
    cancel_sleep: "cancel-sleep.c";
    clock_cond: "clock-cond.c";
    clock_mutex: "clock-mutex.c";
    clock_rwlock: "clock-rwlock.c";
    clock_sem: "clock-sem.c";
    clone_children: "clone-children.c";
    cond_shared: "cond-shared.c";
    condition_any: "condition-any.cpp";
    condition_any_stop: "condition-any-stop.cpp";
    containers: "containers.cpp";
    containers_17: "containers.cpp", "-std=c++17";
    coroutine: "coroutine.cpp";
    coroutine_task: "coroutine-task.cpp";
    detours: "detours.c";
    end_async: "end-async.cpp";
    end_destructors: "end-destructors.c";
    end_exit_nested: "end-exit-nested.c";
    end_join_elsewhere: "end-join-elsewhere.c";
    end_jthread: "end-jthread.cpp";
    end_locals: "end-locals.cpp";
    end_main_exits: "end-main-exits.c";
    end_notify_all: "end-notify-all.cpp";
    end_set_value: "end-set-value.cpp";
    end_try: "end-try.c";
    entropy: "entropy.c";
    event_loop: "event-loop.c";
    exceptions: "exceptions.cpp";
    first_uses: "first-uses.c";
    fork_handlers: "fork-handlers.c";
    formats: "formats.c";
    futex_mutex: "futex-mutex.c";
    futures: "futures.cpp";
    generator: "generator.cpp";
    handed_on: "handed-on.c";
    handles: "handles.c";
    identity: "identity.c";
    increment: "increment.c";
    iostream: "iostream.cpp";
    join_late: "join-late.c";
    join_loop: "join-loop.c";
    join_private: "join-private.c";
    join_signal: "join-signal.c";
    jthread_stop: "jthread-stop.cpp";
    latch: "latch.cpp";
    library_writes: "library-writes.c";
    longjmp: "longjmp.c";
    mapping_parts: "mapping-parts.c";
    meeting_points: "meeting-points.cpp";
    messages_in_order: "messages-in-order.c";
    mmap_twice: "mmap-twice.c";
    mutex_kinds: "mutex-kinds.c";
    named_semaphore: "named-semaphore.c";
    once: "once.c";
    once_cpp: "once.cpp";
    once_early: "once-early.cpp";
    once_fails: "once-fails.cpp";
    once_shared: "once-shared.c";
    once_threads: "once-threads.c";
    openmp: "openmp.c", "-fopenmp";
    openmp_decisions: "openmp-decisions.cpp", "-fopenmp";
    openmp_tasks: "openmp-tasks.cpp", "-fopenmp";
    openmp_twins: "openmp-twins.c", "-fopenmp";
    orders_accept: "orders-accept.c";
    orders_cancel: "orders-cancel.c";
    orders_contexts: "orders-contexts.c";
    orders_datagram: "orders-datagram.c";
    orders_epoll: "orders-epoll.c";
    orders_epoll_asked: "orders-epoll-asked.c";
    orders_epoll_edges: "orders-epoll-edges.c";
    orders_epoll_interest: "orders-epoll-interest.c";
    orders_epoll_mask: "orders-epoll-mask.c";
    orders_epoll_one_step: "orders-epoll-one-step.c";
    orders_eventfd_semaphore: "orders-eventfd-semaphore.c";
    orders_flock: "orders-flock.c";
    orders_futex_bitset: "orders-futex-bitset.c";
    orders_futex_requeue: "orders-futex-requeue.c";
    orders_futex_waitv: "orders-futex-waitv.c";
    orders_futex_waitv_private: "orders-futex-waitv.c", "-DPRIVATE=128";
    orders_futex_wake_op: "orders-futex-wake-op.c";
    orders_handler: "orders-handler.c";
    orders_handler_in_wait: "orders-handler-in-wait.c";
    orders_interrupted: "orders-interrupted.c";
    orders_interrupted_accept: "orders-interrupted-accept.c";
    orders_interrupted_readv: "orders-interrupted-readv.c";
    orders_interrupted_semaphore: "orders-interrupted-semaphore.c";
    orders_interrupted_sigtimedwait: "orders-interrupted-sigtimedwait.c";
    orders_interrupted_sleep: "orders-interrupted-sleep.c";
    orders_mapped_by_each: "orders-mapped-by-each.c";
    orders_mapped_lock: "orders-mapped-lock.c";
    orders_mapped_parts: "orders-mapped-parts.c";
    orders_membarrier: "orders-membarrier.c";
    orders_messages: "orders-messages.c";
    orders_mmsg: "orders-mmsg.c";
    orders_mq: "orders-mq.c";
    orders_mq_room: "orders-mq-room.c";
    orders_not_ready: "orders-not-ready.c";
    orders_ofd_lock: "orders-ofd-lock.c";
    orders_pipe: "orders-pipe.c";
    orders_pipe_at_once: "orders-pipe-at-once.c";
    orders_pipe_readers: "orders-pipe-readers.c";
    orders_pselect: "orders-pselect.c";
    orders_pthread_sigqueue: "orders-pthread-sigqueue.c";
    orders_robust: "orders-robust.c";
    orders_robust_first: "orders-robust-first.c";
    orders_scm_rights: "orders-scm-rights.c";
    orders_select: "orders-select.c";
    orders_semop: "orders-semop.c";
    orders_semtimedop: "orders-semtimedop.c";
    orders_sendfile: "orders-sendfile.c";
    orders_shmat: "orders-shmat.c";
    orders_signalfd: "orders-signalfd.c";
    orders_signalfd_epoll: "orders-signalfd-epoll.c";
    orders_sigqueue: "orders-sigqueue.c";
    orders_socket_empty: "orders-socket-empty.c";
    orders_socket_pieces: "orders-socket-pieces.c";
    orders_socketpair: "orders-socketpair.c";
    orders_tgkill: "orders-tgkill.c";
    orders_two_signals: "orders-two-signals.c";
    orders_writev: "orders-writev.c";
    outer_loop: "outer-loop.c";
    outer_loop_inner: "outer-loop.c", "-DINNER";
    outside: "outside.c";
    outside_cpp: "outside.cpp";
    own_lock: "own-lock.cpp";
    own_rwlock: "own-rwlock.c";
    own_spin: "own-spin.c";
    own_ticket: "own-ticket.c";
    port: "port.c";
    posix_sync: "posix-sync.c";
    preinit: "preinit.c";
    print_first: "print-first.c";
    prio_inherit: "prio-inherit.c";
    realloc: "realloc.c";
    recursive: "recursive.c";
    recursive_timed: "recursive-timed.cpp";
    reused_locals: "reused-locals.c";
    robust: "robust.c";
    rwlock: "rwlock.c";
    same_addresses: "same-addresses.cpp";
    seqlock: "seqlock.c";
    shared_mutex: "shared-mutex.cpp";
    shared_timed: "shared-timed.cpp";
    signals: "signals.c";
    sigtimedwait: "sigtimedwait.c";
    static_local: "static-local.cpp";
    static_results: "static-results.c";
    std_sync: "std-sync.cpp";
    stop_callback: "stop-callback.cpp";
    stream_operators: "stream-operators.cpp";
    sync_stream: "sync-stream.cpp";
    thread_function: "thread-function.cpp";
    thread_function_lambda: "thread-function.cpp", "-DLAMBDA";
    thread_local: "thread-local.cpp";
    timedwait: "timedwait.c";
    timers_once: "timers-once.c";
    tries: "tries.c";
    tryjoin: "tryjoin.c";
    ucontext: "ucontext.c";
    unfilled: "unfilled.c";
    wide_memory: "wide-memory.c";
    wide_mixed: "wide-mixed.c", "-mcx16";
    wide_swap: "wide-swap.c", "-mcx16";
    wrong_lock: "wrong-lock.c";
}

/// Verdicts of the candidates in one labelled block, over all recordings.
type Verdicts = BTreeMap<String, BTreeSet<String>>;

/// Builds, records, predicts and replays one program; lists all that is not right.
fn judge(file: &str, flags: &str) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/programs").join(file);
    let is_cpp = file.ends_with(".cpp");
    let standard = if is_cpp { "-std=c++20" } else { "-std=gnu17" };
    let compile = format!("{standard} -w -O1 -g -mavx2 -pthread {flags} {} -o", source.display());
    let libraries = "-lm -ldl -latomic -lrt";
    let workshop = Workshop::empty();
    let driver = if is_cpp { "c++" } else { "cc" };
    let clang = clang(is_cpp);
    workshop.make(&format!("{clang} -I\"$(foretrace cc --print-include)\" {compile} native {libraries}"));
    workshop.make(&format!("foretrace {driver} {compile} program {libraries}"));
    let rare = if file == "print-first.c" { vec!["overwritten"] } else { Vec::new() };
    let mut usual = Usual::of_program(&workshop.path("native"), rare);
    // What few native runs show: a lost update; a callback that is gone before the stop is asked for.
    match file {
        "increment.c" => drop(usual.seen.insert((Some(1), vec!["1".to_string()]))),
        "stop-callback.cpp" => drop(usual.seen.insert((Some(0), vec!["2".to_string()]))),
        _ => {}
    }
    let text = std::fs::read_to_string(&source).expect("read");
    let marked = ["YES(", "NO(", "OPEN(", "NEVER(", "\"yes ", "\"no ", "FORETRACE_ATOMIC"]
        .iter()
        .any(|mark| text.contains(mark));
    let asked = if marked { "--candidates all" } else { "--candidates all --atomic threads" };
    let starts = [("YES(\"", "yes "), ("OPEN(\"", "open "), ("NEVER(\"", "never ")];
    let labels = starts.into_iter().flat_map(|(mark, start)| {
        let labelled = text.split(mark).skip(1).filter_map(|rest| rest.split('"').next());
        labelled.map(move |label| format!("{start}{label}"))
    });
    judge_built(&workshop, file, asked, &usual, &labels.collect());
}

/// How the native program may behave: how it ended, and the lines that it wrote, sorted, since threads write in any order.
struct Usual {
    seen: BTreeSet<(Option<i32>, Vec<String>)>,
    /// What the program writes in few runs only, so that native ones need not show it.
    rare: Vec<&'static str>,
}

impl Usual {
    fn of_program(program: &Path, rare: Vec<&'static str>) -> Usual {
        let mut usual = Usual { seen: BTreeSet::new(), rare };
        for _ in 0..NATIVE_RUNS {
            let run = ran(&mut Command::new(program));
            usual.seen.insert((run.status, usual.lines(&run.out)));
        }
        usual
    }

    fn lines(&self, out: &str) -> Vec<String> {
        let mut lines: Vec<String> = out.lines().filter(|line| !self.rare.contains(line)).map(String::from).collect();
        lines.sort();
        lines
    }

    fn has(&self, status: Option<i32>, out: &str) -> bool {
        self.seen.contains(&(status, self.lines(out)))
    }
}

/// Whether a label has the candidates that it must have.
fn is_shown(label: &str, found: &BTreeSet<String>) -> bool {
    if label.starts_with("yes ") { found.contains("feasible") } else { !found.is_empty() }
}

/// The same of a program that is built. In blocks with `labels` there must be candidates.
fn judge_built(workshop: &Workshop, file: &str, asked: &str, usual: &Usual, labels: &BTreeSet<String>) {
    let mut wrong = String::new();
    let mut verdicts: Verdicts = labels.iter().map(|label| (label.clone(), BTreeSet::new())).collect();
    let mut replays = 0;
    let takes_all = std::env::var_os("FORETRACE_ALL_RECORDINGS").is_some();
    for (index, mode) in MODES.iter().enumerate() {
        let all_shown = verdicts.iter().all(|(label, found)| label.starts_with("no ") || is_shown(label, found));
        if index >= ALWAYS && all_shown && !takes_all {
            break;
        }
        let recording = format!("run{index}");
        let mut case = Case { workshop, name: format!("{mode} ({recording})"), wrong: &mut wrong };
        let recorded = case.shell(&format!("foretrace record -o {recording} {mode} -- ./program"));
        // A shell's own status of a program that a signal ended.
        let by_signal = recorded.status.filter(|status| *status < 128);
        if ![recorded.status, by_signal].iter().any(|status| usual.has(*status, &recorded.out)) {
            case.note(&format!("behaves unlike the native program: {:?} {}", recorded.status, recorded.out));
        }
        if !workshop.path(&recording).join("trace.jsonl.zst").is_file() {
            case.note(&format!("no trace: {}", recorded.err));
            continue;
        }
        replays += case.predicted(&recording, asked, &mut verdicts);
        case.replayed(&workshop.path(&recording), "its own schedule");
    }
    for (label, found) in &verdicts {
        if !is_shown(label, found) {
            let _ = writeln!(wrong, "nothing found in \"{label}\": {found:?}");
        }
    }
    assert!(wrong.is_empty(), "{file}\n{wrong}{replays} witnesses were replayed");
}

/// The newest clang, or clang++, that is installed.
fn clang(is_cpp: bool) -> String {
    let base = if is_cpp { "clang++" } else { "clang" };
    let versions = std::iter::once(String::new()).chain((14..=22).rev().map(|version| format!("-{version}")));
    let mut names = versions.map(|version| format!("{base}{version}"));
    let installed = |name: &String| Command::new(name).arg("--version").output().is_ok();
    names.find(installed).unwrap_or_else(|| panic!("{base} is not installed"))
}

/// One recording of a case.
struct Case<'a> {
    workshop: &'a Workshop,
    name: String,
    wrong: &'a mut String,
}

impl Case<'_> {
    fn shell(&self, script: &str) -> Ran {
        ran(&mut self.workshop.shell(script))
    }

    fn note(&mut self, what: &str) {
        let _ = writeln!(self.wrong, "{}: {}", self.name, what.trim());
    }

    /// Predicts and replays every witness; how many.
    fn predicted(&mut self, recording: &str, asked: &str, verdicts: &mut Verdicts) -> usize {
        let witnesses = self.workshop.path(recording).join("witnesses");
        let predict =
            format!("foretrace predict {recording} {asked} --format json --witness-dir {recording}/witnesses");
        let report = self.shell(&predict);
        if report.status == Some(2) && report.err.contains("transaction") {
            return 0; // nothing in it is shared
        }
        let Ok(parsed) = serde_json::from_str::<Value>(&report.out) else {
            self.note(&format!("predict ends with {:?}: {}", report.status, report.err));
            return 0;
        };
        let trace = self.workshop.trace(recording);
        let mut replays = 0;
        for candidate in parsed["candidates"].as_array().expect("a list") {
            let event = |which: &str| candidate[which].as_u64().expect("an index");
            let label = label_of(&trace[1..], event("first") as usize);
            let verdict = candidate["verdict"].as_str().expect("a verdict");
            verdicts.entry(label.clone()).or_default().insert(verdict.to_string());
            if label.starts_with("open ") && verdict == "infeasible" && candidate["off_path"].is_null() {
                self.note(&format!("called impossible in \"{label}\": {candidate}"));
            }
            if label.starts_with("never ") && (verdict != "infeasible" || !candidate["off_path"].is_null()) {
                self.note(&format!("not called impossible in \"{label}\": {candidate}"));
            }
            if verdict != "feasible" {
                continue;
            }
            if label.starts_with("no ") {
                self.note(&format!("false alarm in \"{label}\": {candidate}"));
            }
            let name = format!("witness-{}-{}-{}.json", event("first"), event("remote"), event("second"));
            self.replayed(&witnesses.join(name), &format!("a witness of \"{label}\""));
            replays += 1;
        }
        replays
    }

    /// Replays a witness or a recording, which must be followed.
    fn replayed(&mut self, what: &PathBuf, named: &str) {
        let mut command = foretrace();
        command
            .arg("replay")
            .arg(what)
            .args(["--exactly", "--time-limit", REPLAY_SECONDS, "--"])
            .arg(&self.workshop.program);
        let replay = ran(&mut command);
        if replay.status != Some(0) {
            self.note(&format!("{named} is not followed: {}{}", replay.out, replay.err));
        }
    }
}

/// The innermost label "yes …", "no …", "open …" or "never …" around an event.
fn label_of(events: &[Value], index: usize) -> String {
    let thread = &events[index]["t"];
    let mut open: Vec<&str> = Vec::new();
    for event in events[..index].iter().filter(|event| event["t"] == *thread) {
        match event["op"].as_str() {
            Some("begin") => open.push(event["label"].as_str().unwrap_or("")),
            Some("end") => drop(open.pop()),
            _ => {}
        }
    }
    let labelled = |label: &&&str| ["yes ", "no ", "open ", "never "].iter().any(|start| label.starts_with(start));
    open.iter().rev().find(labelled).unwrap_or(&"").to_string()
}
