//! `walk DIR OUT [auto|marked|sections|functions|inner-functions|loops|threads]`: the trace of a recording, and what making it met; with `-` for
//! OUT the trace is not written.

use foretrace_trace::Atomic;
use foretrace_walker::{Options, finish_logs, walk};
use std::path::Path;
use std::time::Instant;

/// Seconds of processor time so far, from `/proc/self/stat`.
fn seconds() -> f64 {
    const PER_SECOND: f64 = 100.0; // of the kernel's ticks, on every common system
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / PER_SECOND
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, recording, out, rest @ ..] = &arguments[..] else {
        return Err("usage: walk DIR OUT [TRANSACTIONS]".into());
    };
    let named = |name: &&String| Atomic::ALL.into_iter().find(|atomic| atomic.name() == *name);
    let atomic = rest.first().as_ref().and_then(named).unwrap_or_default();
    finish_logs(Path::new(recording))?;
    let (start, begun) = (seconds(), Instant::now());
    let made = |_: &_| (seconds() - start, begun.elapsed().as_secs_f64());
    let walked = walk(Path::new(recording), &Options { atomic, ..Options::default() }, made);
    let (walked, (made, made_at)) = walked?;
    walked.statistics.mismatches.iter().for_each(|mismatch| eprintln!("{mismatch}"));
    let (checked, checked_at) = (seconds() - start, begun.elapsed().as_secs_f64());
    eprintln!("{:#?}\nseconds: {made:.2}\nclock: {made_at:.3}", walked.statistics);
    eprintln!("seconds with its check: {checked:.2}\nclock with its check: {checked_at:.3}");
    if out == "-" {
        return Ok(());
    }
    let format = foretrace_trace::Format { layout: foretrace_trace::Layout::Jsonl, compressed: out.ends_with(".zst") };
    foretrace_trace::write(Path::new(out), &walked.trace, format)?;
    Ok(())
}
