//! `foretrace explain`: why a candidate can or cannot happen.

use super::asking::{QuestionArgs, TimeLimits, ended_early, may_read_on, stop_on_ctrl_c};
use super::atomic::Asked;
use super::choices::{FORMATS, Format, one_of};
use super::explain_block;
use super::files::source_lines;
use super::outcome::Outcome;
use super::oversee::{End, Hearer, oversee};
use anyhow::Context;
use foretrace::explain::{Explanation, explain_and_tell};
use foretrace::options::Options;
use foretrace::report::{ExplanationReport, Subject};
use foretrace::verdict::{Decision, Limit, Verdict};
use foretrace_trace::{EventId, Observed, Triple};
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::sync::mpsc::SyncSender;

/// Say why a candidate of a trace can or cannot happen, or why a whole block can or cannot be violated
///
/// If it cannot happen, a checked argument says which orders, locks, signals, values and branches rule it out: no schedule
/// fulfils these rules, and none of the rules can be left out. If it can happen, there is a schedule, and the reason why the order
/// of its accesses makes a difference.
#[derive(clap::Args)]
#[command(after_help = "\
Exit codes: 0 it cannot happen on this trace's path, 1 it can, 2 error, such as three events that are no candidate, 3 not decided.

Examples:
  foretrace explain trace.jsonl 15 40 16
  foretrace explain trace.jsonl 15 40 16 --model mcm --atomic threads
  foretrace explain trace.jsonl 15 40 16 --context-switches 2
  foretrace explain trace.jsonl --block deposit
  foretrace explain trace.jsonl --block 10-14 --model mcm
  foretrace explain trace.jsonl 15 40 16 --format json")]
pub struct Args {
    /// The trace, in any format that foretrace reads, or the folder of a recording
    trace: PathBuf,

    /// The transaction's earlier access: an event's index, as in the report of `predict`
    #[arg(required_unless_present = "block")]
    first: Option<u32>,

    /// The other thread's access
    #[arg(required_unless_present = "block")]
    remote: Option<u32>,

    /// The transaction's later access
    #[arg(required_unless_present = "block")]
    second: Option<u32>,

    /// Explain a whole block: its events as reports show them (`10-14`), the first of them or any inside, its label, or where it
    /// begins (`bank.c:31`)
    #[arg(long, value_name = "BLOCK", conflicts_with_all = ["first", "remote", "second"])]
    block: Option<String>,

    #[command(flatten)]
    question: QuestionArgs,

    #[command(flatten)]
    limits: TimeLimits,

    /// How to report
    #[arg(long, default_value = "text", value_parser = one_of(FORMATS))]
    format: Format,

    /// The solver's random seed
    #[arg(long, value_name = "N", default_value = "0")]
    seed: u32,
}

/// Explains.
pub fn run(args: &Args) -> anyhow::Result<Outcome> {
    let stop = stop_on_ctrl_c()?;
    let go_on = || may_read_on(args.limits.time_limit, &stop);
    let Some(asked) = args.question.read_within(&args.trace, &go_on)? else {
        return Ok(ended_early("reading the trace"));
    };
    let options = options(args, &asked)?;
    if let Some(block) = &args.block {
        return explain_block::run(block, &asked, &options, args.format, &stop);
    }
    let Asked { trace, observed, file, .. } = asked;
    let transactions = options.atomic.transactions(&trace);
    let (Some(first), Some(remote), Some(second)) = (args.first, args.remote, args.second) else {
        anyhow::bail!("found no candidate, expected three events (FIRST REMOTE SECOND) or --block");
    };
    let triple = Triple { first: EventId(first), remote: EventId(remote), second: EventId(second) };
    triple.candidate(&trace, &transactions).with_context(|| {
        format!("{triple} is no candidate of {} (--atomic {})", args.trace.display(), options.atomic)
    })?;
    let subject = Subject { file: &file, trace: &trace, transactions: &transactions, options: &options };
    let work = |messages: SyncSender<Box<Decision>>| {
        let mut tell = |decision: &Decision| drop(messages.send(Box::new(decision.clone())));
        explain_and_tell((&trace, &observed), &transactions, &options, triple, &stop, &mut tell)
    };
    let reporter = Reporter { subject, observed: &observed, format: args.format, decision: None };
    oversee((args.limits.time_limit, &stop), work, reporter)
}

/// Takes the verdict, and reports.
struct Reporter<'t> {
    subject: Subject<'t>,
    observed: &'t Observed,
    format: Format,
    decision: Option<Box<Decision>>,
}

impl Hearer<Box<Decision>, anyhow::Result<Explanation>> for Reporter<'_> {
    fn hear(&mut self, decision: Box<Decision>) -> anyhow::Result<()> {
        self.decision = Some(decision);
        Ok(())
    }

    fn finish(self, end: anyhow::Result<End<anyhow::Result<Explanation>>>) -> anyhow::Result<Outcome> {
        let explanation = match (end?, self.decision) {
            (End::Done(explanation), _) => explanation?,
            (End::Overdue, None) => return Ok(ended_early("deciding the candidate")),
            (End::Overdue, Some(decision)) => {
                let missing = Some(Limit::Budget);
                Explanation { decision: *decision, arguments: Vec::new(), missing, fewest_switches: None }
            }
        };
        let source = source_lines(self.subject.file);
        let report = ExplanationReport::new(self.subject, self.observed, &explanation).with_source(source);
        let mut out = BufWriter::new(anstream::stdout().lock());
        match self.format {
            Format::Text => report.write_text(&mut out)?,
            Format::Json => report.write_json(&mut out)?,
        }
        out.flush()?;
        Ok(match explanation.decision.verdict {
            Verdict::Feasible(_) => Outcome::Found,
            Verdict::Infeasible => Outcome::Fine,
            Verdict::Unknown(_) => Outcome::Undecided,
        })
    }
}

fn options(args: &Args, asked: &Asked) -> anyhow::Result<Options> {
    let mut options = args.question.options(asked)?;
    args.limits.apply(&mut options);
    options.seed = args.seed;
    options.off_path = true;
    options.jobs = 1;
    Ok(options)
}
