//! `foretrace info`: what a trace holds.

use super::asking::{TimeLimit, ended_early, may_read_on};
use super::choices::{FORMATS, Format, one_of};
use super::files;
use super::outcome::Outcome;
use foretrace::summary::Summary;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

/// Show what a trace holds
///
/// Threads, events by kind, variables, transactions and candidates by each choice of --atomic, how many reads have a
/// value that reaches a guard or an assume of their thread, and how many values were pinned.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  foretrace info trace.jsonl
  foretrace info trace.jsonl.zst --format json")]
pub struct Args {
    /// The trace, in any format that foretrace reads
    trace: PathBuf,

    /// How to show it
    #[arg(long, default_value = "text", value_parser = one_of(FORMATS))]
    format: Format,

    #[command(flatten)]
    limit: TimeLimit,
}

/// Shows the numbers.
pub fn run(args: &Args) -> anyhow::Result<Outcome> {
    let never = AtomicBool::new(false);
    let go_on = || may_read_on(args.limit.time_limit, &never);
    let Some((trace, _)) = files::read_trace_within(&args.trace, &go_on)? else {
        return Ok(ended_early("reading the trace"));
    };
    let summary = Summary::new(&trace);
    let mut out = io::BufWriter::new(io::stdout().lock());
    match args.format {
        Format::Text => write_text(&args.trace.display().to_string(), &summary, &mut out)?,
        Format::Json => {
            serde_json::to_writer_pretty(&mut out, &summary)?;
            writeln!(out)?;
        }
    }
    out.flush()?;
    Ok(Outcome::Fine)
}

fn write_text(file: &str, summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    let data = format!("{:?}", summary.data).to_lowercase();
    writeln!(out, "{:<24}{file}", "trace")?;
    if let Some(program) = &summary.program {
        writeln!(out, "{:<24}{program}", "program")?;
    }
    writeln!(out, "{:<24}{data}", "data")?;
    writeln!(out, "{:<24}{}", "threads", summary.threads)?;
    let (all, contended) = (summary.variables, summary.contended_variables);
    writeln!(out, "{:<24}{all}, {contended} of them accessed by several threads and written", "variables")?;
    if summary.library_variables > 0 {
        writeln!(out, "{:<24}{} of them, no candidates", "  the library's own", summary.library_variables)?;
    }
    writeln!(out, "{:<24}{}", "synchronisation objects", summary.sync_objects)?;
    writeln!(out, "{:<24}{}", "events", summary.events)?;
    for (kind, count) in &summary.events_by_kind {
        writeln!(out, "  {kind:<22}{count}")?;
    }
    let share = percent(summary.reads_that_feed_guards, summary.reads);
    writeln!(out, "{:<24}{} of {}{share}", "reads that feed guards", summary.reads_that_feed_guards, summary.reads)?;
    writeln!(out, "{:<24}{} branches, {} pins", "assumes", summary.branches, summary.pins)?;
    if summary.expressions > 0 {
        let (of_reads, all) = (summary.expressions_of_reads, summary.expressions);
        writeln!(out, "{:<24}{of_reads} of {all}{}", "writes of what was read", percent(of_reads, all))?;
    }
    for (number, (place, count)) in summary.pinned_at.iter().enumerate() {
        let title = if number == 0 { "pinned most" } else { "" };
        writeln!(out, "{title:<24}{count} at {place}")?;
    }
    writeln!(out, "\n{:<14}{:>12}  {:>16}  {:>16}", "--atomic", "transactions", "candidates: all", "adjacent")?;
    for row in &summary.transactions {
        writeln!(
            out,
            "{:<14}{:>12}  {:>16}  {:>16}",
            row.atomic, row.count, row.candidates_all, row.candidates_adjacent
        )?;
    }
    Ok(())
}

fn percent(part: usize, whole: usize) -> String {
    match whole {
        0 => String::new(),
        _ => format!(" ({:.1} %)", 100.0 * part as f64 / whole as f64),
    }
}
