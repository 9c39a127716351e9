//! `walk DIR OUT [marked|sections|functions|inner|loops]`: the trace of a recording, and what making it met.

use foretrace_walker::{Options, Transactions, WalkError, finish_logs, walk};
use std::path::Path;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, recording, out, rest @ ..] = &arguments[..] else {
        return Err("usage: walk DIR OUT [TRANSACTIONS]".into());
    };
    let transactions = match rest.first().map(String::as_str) {
        Some("sections") => Transactions::CriticalSections,
        Some("functions") => Transactions::Functions { pattern: None, outermost: true },
        Some("inner") => Transactions::Functions { pattern: None, outermost: false },
        Some("loops") => Transactions::LoopBodies,
        _ => Transactions::Marked,
    };
    finish_logs(Path::new(recording))?;
    let start = Instant::now();
    let walked = walk(Path::new(recording), &Options { transactions, focus: None });
    if let Err(WalkError::Mismatch { all, .. }) = &walked {
        all.iter().for_each(|mismatch| eprintln!("{mismatch}"));
    }
    let walked = walked?;
    eprintln!("{:#?}\nseconds: {:.3}", walked.statistics, start.elapsed().as_secs_f64());
    let format = foretrace_trace::Format { layout: foretrace_trace::Layout::Jsonl, compressed: out.ends_with(".zst") };
    foretrace_trace::write(Path::new(out), &walked.trace, format)?;
    Ok(())
}
