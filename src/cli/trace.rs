//! `foretrace trace`: from a recording to a trace, and what `record` shares of it.

use super::atomic::AtomicArgs;
use super::outcome::{Outcome, say};
use super::walk::{Found, Or, Walking, walk_to};
use foretrace::recorder::{Folder, WalkedBy};
use foretrace_walker::finish_logs;
use std::path::{Path, PathBuf};

/// Make a trace of a recording, with other transactions or another focus
///
/// `foretrace record` does this by itself once; the recording's logs stay as they are.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  foretrace trace bank.foretrace -o by-function.jsonl --atomic functions
  foretrace trace bank.foretrace -o deposits.jsonl --atomic 'functions=deposit*'
  foretrace trace bank.foretrace -o small.jsonl --focus 'acct.*'")]
pub struct Args {
    /// The folder of the recording
    recording: PathBuf,

    /// The file for the trace; its name says the format, as for `convert` [default: trace.jsonl.zst in the folder]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    #[command(flatten)]
    walk: WalkArgs,
}

/// How the trace is made.
#[derive(clap::Args)]
pub struct WalkArgs {
    #[command(flatten)]
    atomic: AtomicArgs,

    /// Keep only blocks that access a variable whose name fits, such as 'acct.*'. All events stay, since
    /// verdicts depend on them
    #[arg(long, value_name = "PATTERN")]
    focus: Option<String>,
}

impl WalkArgs {
    /// Walks a recording and writes its trace; the result says what is in it, and whether a block is.
    pub fn walk(&self, recording: &Path, output: &Path, or: Or) -> anyhow::Result<(String, Found)> {
        let walking = self.walking()?;
        let walked = walk_to(recording, output, &walking, or)?;
        if output == Folder::trace_of(recording) {
            WalkedBy { inside: walked.inside, ..walking.by }.save(recording)?;
        }
        Ok((walked.told, walked.found))
    }

    /// Whether a pattern says which blocks are wanted.
    fn asks_for_some(&self) -> bool {
        self.focus.is_some() || self.atomic.has_pattern()
    }

    /// What the walk is asked for.
    pub fn walking(&self) -> anyhow::Result<Walking> {
        self.atomic.walking(self.focus.as_deref())
    }
}

/// Makes the trace.
pub fn run(args: &Args) -> anyhow::Result<Outcome> {
    if args.recording.is_dir() {
        let _lock = Folder::lock(&args.recording)?;
        if Folder::is_unfinished(&args.recording) {
            finish_logs(&args.recording)?; // foretrace was killed while it recorded
        }
    }
    let output = args.output.clone().unwrap_or_else(|| Folder::trace_of(&args.recording));
    let or = if args.walk.asks_for_some() { Or::Fail } else { Or::Write };
    let (told, _) = args.walk.walk(&args.recording, &output, or)?;
    say(format_args!("foretrace: {told}: {}", output.display()));
    Ok(Outcome::Fine)
}
