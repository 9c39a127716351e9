//! Measures how long cut-points take: `cargo run --release --package foretrace-cutpoints --example linear -- [MOST]`, on traces of 10⁴ to MOST
//! events (10⁷ if nothing is said), the same code again and again. Each row is the best of three.

use foretrace_cutpoints::CutPoints;
use foretrace_trace::Atomic;
use foretrace_trace::strategies::Synthetic;
use std::time::Instant;

fn main() {
    let most: usize = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(10_000_000);
    println!("| events | seconds | events a second | classes | cut-points |");
    println!("| ---: | ---: | ---: | ---: | ---: |");
    let mut events = 10_000;
    while events <= most {
        let trace = Synthetic::large(events, 1).trace();
        let blocks = Atomic::Marked.blocks(&trace);
        let mut best = f64::MAX;
        let mut found = None;
        for _ in 0..3 {
            let start = Instant::now();
            found = Some(CutPoints::in_trace(&trace, &blocks));
            best = best.min(start.elapsed().as_secs_f64());
        }
        let Some(found) = found else { return };
        let (count, classes) = (trace.events.len(), found.representatives().count());
        println!("| {count} | {best:.4} | {:.2e} | {classes} | {} |", count as f64 / best, found.all.len());
        events *= 10;
    }
}
