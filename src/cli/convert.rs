//! `foretrace convert`: from one format to another.

use super::asking::{TimeLimit, ended_early, may_read_on};
use super::choices::{Choice, one_of};
use super::files;
use super::outcome::Outcome;
use anyhow::Context;
use foretrace_trace::{Data, Format, Layout, lower};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// Turn a trace into another format
///
/// The trace is checked first. The result keeps everything that both formats can hold.
#[derive(clap::Args)]
#[command(after_help = "\
The end of a file's name says the format: `.jsonl` JSON Lines, `.ftb` the compact binary form, `.std` the text format that RAPID reads \
(kinds and names only; places become numbers, and FILE.locations says which). With `.zst` after it, the file is compressed. \
The content of a file that is read decides its format. `-` is stdin or stdout.

Examples:
  foretrace convert trace.jsonl trace.ftb
  foretrace convert trace.ftb.zst - | head -5
  foretrace convert trace.jsonl values.jsonl --data concrete
  foretrace convert rapid.std trace.jsonl.zst")]
pub struct Args {
    /// The trace to read
    input: PathBuf,

    /// The file to write
    output: PathBuf,

    /// The format to write [default: by the file's name, else jsonl]
    #[arg(long, value_name = "FORMAT", value_parser = one_of(LAYOUTS))]
    to: Option<Layout>,

    /// Keep only this much about values, as if less had been recorded
    #[arg(long, value_parser = one_of(DATA))]
    data: Option<Data>,

    #[command(flatten)]
    limit: TimeLimit,
}

const LAYOUTS: &[Choice<Layout>] = &[
    ("jsonl", "JSON Lines", Layout::Jsonl),
    ("binary", "the compact binary form", Layout::Binary),
    ("std", "the text format that RAPID reads", Layout::Std),
];

const DATA: &[Choice<Data>] = &[
    ("symbolic", "expressions", Data::Symbolic),
    ("concrete", "the values that were read and written", Data::Concrete),
    ("none", "kinds and names only", Data::None),
];

/// Converts.
pub fn run(args: &Args) -> anyhow::Result<Outcome> {
    let never = AtomicBool::new(false);
    let go_on = || may_read_on(args.limit.time_limit, &never);
    let Some((mut trace, _)) = files::read_trace_as_it_is_within(&args.input, &go_on)? else {
        return Ok(ended_early("reading the trace"));
    };
    if let Some(data) = args.data {
        trace = lower(&trace, data).with_context(|| args.input.display().to_string())?;
    }
    files::write_trace(&trace, Some(&args.output), args.to.map(|layout| format(layout, &args.output)))?;
    Ok(Outcome::Fine)
}

/// A layout, compressed where the file's name says so.
fn format(layout: Layout, output: &Path) -> Format {
    Format { layout, compressed: output.extension().is_some_and(|ending| ending == "zst") }
}
