//! `foretrace predict --property linearizability`: is there a schedule whose history of operations is not linearizable?

use super::asking::ended_early;
use super::atomic::Asked;
use super::choices::{Format, one_of};
use super::linearizable::{MeaningArgs, SPECS};
use super::outcome::Outcome;
use super::outcome::since_start;
use super::oversee::{End, Hearer, oversee};
use super::specification::{Specification, initial_value};
use anyhow::{Context, bail};
use foretrace::options::Options;
use foretrace::report::{HistoryReport, SavedMeaning, WitnessDir};
use foretrace_histories::{self as histories, Decision, PredictError, Prediction, Undecided, predict};
use foretrace_linearizability::{History, Limits, Spec, Verdict, read_trace};
use foretrace_trace::{Feasibility, Independence, Question};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;
use std::time::Duration;

/// What is asked of histories.
#[derive(clap::Args)]
#[command(group = clap::ArgGroup::new("history-specification").args(["spec", "spec_from"]))]
pub struct HistoryArgs {
    /// With --property linearizability: the specification that the objects should follow
    #[arg(long, value_parser = one_of(SPECS))]
    spec: Option<Spec>,

    /// With --property linearizability: histories of the object without overlapping operations, which serve as the specification
    #[arg(long, value_name = "HISTORY", num_args = 1..)]
    spec_from: Vec<PathBuf>,

    /// With --spec: the first value of a register [default: nil if a read gave nothing in the run, else 0]
    #[arg(long, value_name = "VALUE", requires = "spec")]
    initial: Option<String>,

    /// With --spec or --spec-from: look at no more than N different histories
    #[arg(long, value_name = "N", default_value = "100000", requires = "history-specification", value_parser = clap::value_parser!(u64).range(1..))]
    most_histories: u64,

    #[command(flatten)]
    names: MeaningArgs,
}

impl HistoryArgs {
    /// Fails where something is asked of histories, but they are not what is looked for.
    pub fn refuse(&self) -> anyhow::Result<()> {
        if self.spec.is_some() || !self.spec_from.is_empty() || !self.names.is_empty() {
            bail!("--spec, --spec-from, --operation-names and --empty are for --property linearizability");
        }
        Ok(())
    }

    /// What histories are held against; `None` if the command may not go on.
    fn specification(&self, go_on: &dyn Fn() -> bool) -> anyhow::Result<Option<Specification>> {
        match (self.spec, self.spec_from.is_empty()) {
            (Some(spec), _) => Ok(Some(Specification::Named(spec, self.initial.as_deref().map(initial_value)))),
            (None, false) => Specification::of_runs(&self.spec_from, go_on),
            (None, true) => {
                bail!("--property linearizability needs --spec, such as --spec stack, or --spec-from")
            }
        }
    }
}

/// How it is reported, and how long it may take.
pub struct How<'a> {
    pub args: &'a HistoryArgs,
    pub time_limit: Option<Duration>,
    pub format: Format,
    pub witness_dir: Option<&'a Path>,
}

/// Predicts and reports.
pub fn run(options: &Options, asked: &Asked, how: &How<'_>, stop: &AtomicBool) -> anyhow::Result<Outcome> {
    let Asked { trace, observed, file, .. } = asked;
    let Question { model, feasibility, independence } = options.question;
    let go_on = || !stop.load(Ordering::Relaxed) && how.time_limit.is_none_or(|limit| since_start() < limit);
    let Some(specification) = how.args.specification(&go_on)? else {
        return Ok(ended_early("reading the specification"));
    };
    if feasibility != Feasibility::Prefix || independence != Independence::Conflict {
        bail!("--property linearizability is about all prefixes, found --feasibility or --independence");
    }
    if options.context_switches.is_some() {
        bail!("--context-switches is for triples and blocks, found --property linearizability");
    }
    if !model.knows_results() {
        bail!("--property linearizability needs a model that knows results (ctp, mcm or avp), found {model}");
    }
    let recorded = how.args.names.apply(read_trace(trace));
    if recorded.operations.is_empty() {
        bail!("{file}: found no operations, expected call and return events");
    }
    if let Some(unknown) = recorded.operations.iter().find(|operation| operation.has_unknown_argument()) {
        bail!("{file}: the arguments of {} are not known, so that its object cannot be judged", unknown.method);
    }
    specification.knows(&recorded).with_context(|| file.clone())?;
    let work = |messages: SyncSender<Looked>| {
        let judge = |history: &History| {
            let history = how.args.names.apply(history.clone());
            let checked = specification.check(&history, Limits { go_on: &go_on });
            // What the specification has no meaning for in another schedule is left open.
            checked.map_or(Verdict::Unknown, |checked| checked.verdict)
        };
        predict(histories::Asked {
            trace,
            observed,
            model,
            judge: &judge,
            most_histories: how.args.most_histories,
            progress: &|histories, steps| drop(messages.send(Looked { histories, steps })),
            go_on: &go_on,
        })
    };
    let report = |prediction: Prediction| {
        let part = match &prediction.decision {
            Decision::Violated(violation) => {
                let history = how.args.names.apply(violation.history.clone());
                if specification.check_by_search(&history)? != Verdict::NotLinearizable {
                    bail!("internal error: search finds the predicted history linearizable");
                }
                let checked = specification.check(&history, Limits::NONE)?;
                specification.part(&history, &checked, Limits::NONE)?
            }
            _ => None,
        };
        let spec_from = how.args.spec_from.iter().map(|path| path.display().to_string()).collect();
        let meaning = SavedMeaning { spec_from, ..how.args.names.saved(how.args.initial.as_deref()) };
        let report = HistoryReport {
            file,
            trace,
            model,
            spec: specification.name(),
            meaning: &meaning,
            operations: recorded.operations.len(),
            prediction: &prediction,
            part: part.as_ref(),
        };
        write(&report, how)?;
        Ok(match prediction.decision {
            Decision::Violated(_) => Outcome::Found,
            Decision::Holds { .. } => Outcome::Fine,
            Decision::Unknown(_) => Outcome::Undecided,
        })
    };
    oversee((how.time_limit, stop), work, Listener { looked: Looked::default(), report })
}

/// How much was looked at.
#[derive(Default)]
struct Looked {
    histories: u64,
    steps: u64,
}

/// Hears how much was looked at, and reports in the end.
struct Listener<F> {
    looked: Looked,
    report: F,
}

impl<F> Hearer<Looked, Result<Prediction, PredictError>> for Listener<F>
where
    F: FnOnce(Prediction) -> anyhow::Result<Outcome>,
{
    fn hear(&mut self, looked: Looked) -> anyhow::Result<()> {
        self.looked = looked;
        Ok(())
    }

    fn finish(self, end: anyhow::Result<End<Result<Prediction, PredictError>>>) -> anyhow::Result<Outcome> {
        let Looked { histories, steps } = self.looked;
        let decision = Decision::Unknown(Undecided::Limit);
        (self.report)(match end? {
            End::Done(found) => found?,
            End::Overdue => Prediction { decision, departures: Vec::new(), histories, steps, redundant: 0 },
        })
    }
}

fn write(report: &HistoryReport<'_>, how: &How<'_>) -> anyhow::Result<()> {
    let is_violated = matches!(report.prediction.decision, Decision::Violated(_));
    let has_witness = is_violated || !report.prediction.departures.is_empty();
    if let Some(folder) = how.witness_dir.filter(|_| has_witness) {
        report.write_witnesses(&WitnessDir::create(folder)?)?;
    }
    let mut out = io::BufWriter::new(io::stdout().lock());
    match how.format {
        Format::Text => report.write_text(&mut out)?,
        Format::Json => {
            serde_json::to_writer_pretty(&mut out, &report.json())?;
            writeln!(out)?;
        }
    }
    Ok(out.flush()?)
}
