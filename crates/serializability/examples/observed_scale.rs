//! Measures the time of the monitoring pass, and its memory besides the trace: `cargo run --release --example observed_scale -- EVENTS
//! THREADS SHARED`. SHARED is the number of variables that threads share.

use foretrace_serializability::observed;
use foretrace_trace::{Atomic, BlockKind, Data, Event, Op, Thread, ThreadId, Trace, VarId, Variable};
use std::time::Instant;

fn main() {
    let mut arguments = std::env::args().skip(1).filter_map(|text| text.parse::<usize>().ok());
    let (events, threads) = (arguments.next().unwrap_or(1_000_000), arguments.next().unwrap_or(8));
    let shared = arguments.next().unwrap_or(1_000);
    let trace = trace(events, threads, shared);
    let blocks = Atomic::Marked.blocks(&trace);
    let (before, begun) = (peak(), Instant::now());
    let violated = observed(&trace, &blocks, &|_| true);
    let time = begun.elapsed();
    println!(
        "{events} events, {threads} threads: {} of {} blocks violated, {time:.2?}, {} kB more at the peak",
        violated.len(),
        blocks.all().len(),
        peak().saturating_sub(before)
    );
}

/// The most memory so far, in kB, where the system says it.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}

/// Blocks of ten accesses each: of a variable of the thread's own, and now and then of a shared one.
fn trace(events: usize, threads: usize, shared: usize) -> Trace {
    let mut trace = Trace::new(Data::None);
    let name = |number: usize| Variable { key: format!("v{number}").into(), name: None, sort: None, init: None };
    trace.vars = (0..2_000).map(name).collect();
    trace.threads = (0..threads).map(|number| Thread { number: number as u64 + 1, name: None, path: None }).collect();
    let mut seed = 1u64;
    let mut random = |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % below
    };
    let mut at = vec![0usize; threads];
    while trace.events.len() < events {
        let thread = random(threads);
        let var = VarId::from_index(if random(20) == 0 {
            random(shared.min(1_000))
        } else {
            1_000 + thread * 1_000 / threads
        });
        let op = match at[thread] % 12 {
            0 => Op::Begin { label: None, kind: BlockKind::Mark },
            11 => Op::End { label: None },
            _ if random(3) == 0 => Op::Write { var, expr: None, value: None, guard: None, external: false },
            _ => Op::Read { var, dst: None, value: None, guard: None },
        };
        at[thread] += 1;
        trace.events.push(Event {
            thread: ThreadId::from_index(thread),
            op,
            loc: None,
            at: None,
            part: None,
            tried: false,
        });
    }
    trace
}
