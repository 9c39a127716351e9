//! `foretrace linearizable`: is a history of operations on concurrent objects linearizable?

use super::asking::{TimeLimit, ended_early, may_read_on, stop_on_ctrl_c};
use super::atomic::OperationArgs;
use super::choices::{FORMATS, Format, one_of};
use super::outcome::Outcome;
use super::specification::{Specification, initial_value, read_history};
use anyhow::{Context, bail};
use foretrace::report::{OperationJson, SEQUENTIAL_RUNS, SavedMeaning, operation_json};
use foretrace_linearizability::{Checked, History, Limits, Spec, Value, Verdict, hint, picture};
use serde::Serialize;
use std::io::{self, Write};
use std::path::PathBuf;

/// Say whether a history of operations is linearizable
///
/// A history comes from the `call` and `return` events of a trace, or from a file of Jepsen's or Porcupine's kind (JSON Lines,
/// EDN). Operations that never returned may have happened or not. Each object is judged by itself, each key of a set or
/// map as well. If the history is not linearizable, a picture shows a small part of it that is not.
#[derive(clap::Args)]
#[command(
    group = clap::ArgGroup::new("specification").required(true).args(["spec", "spec_from"]),
    after_help = "\
Exit codes: 0 linearizable, 1 not, 2 error, 3 not decided: the limit was reached, or the histories of --spec-from do not \
show what some operation gives.

Examples:
  foretrace linearizable history.edn --spec register
  foretrace linearizable stack.foretrace --spec stack
  foretrace linearizable trace.jsonl --spec-from serial-1.jsonl serial-2.jsonl --format json"
)]
pub struct Args {
    /// A trace, a recording, or a history as JSON Lines or EDN
    history: PathBuf,

    /// The specification that the objects should follow
    #[arg(long, value_parser = one_of(SPECS))]
    spec: Option<Spec>,

    /// Histories of the object without overlapping operations, which serve as the specification
    #[arg(long, value_name = "HISTORY", num_args = 1..)]
    spec_from: Vec<PathBuf>,

    /// The first value of a register [default: nil if a read gave nothing, else 0]
    #[arg(long, value_name = "VALUE")]
    initial: Option<String>,

    #[command(flatten)]
    names: MeaningArgs,

    #[command(flatten)]
    operations: OperationArgs,

    /// How to show it
    #[arg(long, default_value = "text", value_parser = one_of(FORMATS))]
    format: Format,

    #[command(flatten)]
    limit: TimeLimit,
}

/// What the operations of a history mean to a specification.
#[derive(clap::Args, Clone, Default)]
pub struct MeaningArgs {
    /// Other names for operations, such as add=enqueue,get=dequeue
    #[arg(long, value_name = "NAME=METHOD", value_delimiter = ',', value_parser = renaming)]
    operation_names: Vec<(String, String)>,

    /// The result by which an operation says that it found nothing, such as -1
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true)]
    empty: Option<String>,
}

impl MeaningArgs {
    /// The history with the names and results that a specification has.
    pub fn apply(&self, history: History) -> History {
        with_meaning(&self.saved(None), history)
    }

    /// The same as witnesses keep it, with the first value of a register.
    pub fn saved(&self, initial: Option<&str>) -> SavedMeaning {
        let initial = initial.map(str::to_string);
        let (operation_names, empty) = (self.operation_names.clone(), self.empty.clone());
        SavedMeaning { operation_names, empty, initial, spec_from: Vec::new() }
    }

    /// The same as words of a command line, each after a blank.
    pub fn words(&self) -> String {
        let names = self.operation_names.iter().map(|(name, method)| format!(" --operation-names {name}={method}"));
        let empty = self.empty.iter().map(|empty| format!(" --empty {empty}"));
        names.chain(empty).collect()
    }

    /// Whether nothing is said.
    pub fn is_empty(&self) -> bool {
        self.operation_names.is_empty() && self.empty.is_none()
    }
}

/// A history with the names and results that a specification has.
pub fn with_meaning(meaning: &SavedMeaning, mut history: History) -> History {
    let empty = meaning.empty.as_deref().map(initial_value);
    for operation in &mut history.operations {
        if let Some((_, method)) = meaning.operation_names.iter().find(|(name, _)| *name == operation.method) {
            operation.method.clone_from(method);
        }
        if empty.is_some() && operation.result == empty {
            operation.result = Some(Value::Nil);
        }
    }
    history
}

fn renaming(text: &str) -> Result<(String, String), String> {
    let pair = text.split_once('=').filter(|(name, method)| !name.is_empty() && !method.is_empty());
    let (name, method) = pair.ok_or_else(|| format!("found {text}, expected NAME=METHOD, such as add=enqueue"))?;
    Ok((name.to_string(), method.to_string()))
}

/// The values of `--spec`.
pub const SPECS: &[super::choices::Choice<Spec>] = &[
    ("register", "read, write(v), cas(old, new)", Spec::Register),
    ("counter", "get, inc, dec, add(n), fetch_add(n)", Spec::Counter),
    ("stack", "push(v), pop, peek", Spec::Stack),
    ("queue", "enqueue(v), dequeue, peek", Spec::Queue),
    ("deque", "push_front(v), push_back(v), pop_front, pop_back, peek_front, peek_back", Spec::Deque),
    ("set", "add(v), remove(v), contains(v)", Spec::Set),
    ("map", "put(k, v), get(k), remove(k), contains(k), put_if_absent(k, v)", Spec::Map),
    ("priority-queue", "insert(v), delete_min, min", Spec::PriorityQueue),
];

#[derive(Serialize)]
struct Json<'h> {
    foretrace: u32,
    history: String,
    spec: &'static str,
    verdict: &'static str,
    operations: usize,
    parts: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    explanation: Option<Vec<OperationJson<'h>>>,
}

/// Judges.
pub fn run(args: &Args) -> anyhow::Result<Outcome> {
    let stop = stop_on_ctrl_c()?;
    let go_on = || may_read_on(args.limit.time_limit, &stop);
    let path = args.operations.file(&args.history)?;
    let Some(history) = read_history(&path, &go_on)? else { return Ok(ended_early("reading the history")) };
    let history = args.names.apply(history);
    let name = args.history.display();
    if history.operations.is_empty() {
        bail!("{name}: found no operations, expected call and return events");
    }
    let limits = Limits { go_on: &go_on };
    let initial = args.initial.as_deref().map(initial_value);
    let specification = match args.spec {
        Some(spec) => Specification::Named(spec, initial),
        None => match Specification::of_runs(&args.spec_from, &go_on)? {
            Some(runs) => runs,
            None => return Ok(ended_early("reading the specification")),
        },
    };
    let checked = specification.check(&history, limits).with_context(|| name.to_string())?;
    let part = specification.part(&history, &checked, limits)?;
    let mut out = io::BufWriter::new(io::stdout().lock());
    match args.format {
        Format::Text => write_text(args, &history, &checked, part.as_ref(), &mut out)?,
        Format::Json => {
            serde_json::to_writer_pretty(&mut out, &json(args, &history, &checked, part.as_ref()))?;
            writeln!(out)?;
        }
    }
    out.flush()?;
    Ok(match checked.verdict {
        Verdict::Linearizable => Outcome::Fine,
        Verdict::NotLinearizable => Outcome::Found,
        Verdict::Unknown => Outcome::Undecided,
    })
}

fn spec_name(args: &Args) -> &'static str {
    args.spec.map_or(SEQUENTIAL_RUNS, Spec::name)
}

fn write_text(
    args: &Args,
    history: &History,
    checked: &Checked,
    part: Option<&History>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let verdict = match checked.verdict {
        Verdict::Linearizable => "linearizable",
        Verdict::NotLinearizable => "not linearizable",
        Verdict::Unknown => "not decided",
    };
    let operations = history.operations.len();
    let parts = if checked.parts == 1 { "as one".to_string() } else { format!("in {} parts", checked.parts) };
    let name = args.history.display();
    writeln!(out, "{name}: {verdict} ({}); {operations} operations, judged {parts}", spec_name(args))?;
    if checked.verdict == Verdict::Unknown && args.spec.is_none() {
        writeln!(out, "the sequential runs do not show what some operation gives at its place")?;
    }
    if let Some(part) = part {
        let few = match part.operations.len() {
            1 => "this operation does not give this result in any order".to_string(),
            few => format!("no order of these {few} operations gives these results"),
        };
        writeln!(out, "\n{few}:\n\n{}", picture(part).trim_end())?;
        hint(part).iter().try_for_each(|hint| writeln!(out, "\n{hint}"))?;
    }
    Ok(())
}

fn json<'h>(args: &Args, history: &History, checked: &Checked, part: Option<&'h History>) -> Json<'h> {
    Json {
        foretrace: 1,
        history: args.history.display().to_string(),
        spec: spec_name(args),
        verdict: match checked.verdict {
            Verdict::Linearizable => "linearizable",
            Verdict::NotLinearizable => "not-linearizable",
            Verdict::Unknown => "unknown",
        },
        operations: history.operations.len(),
        parts: checked.parts,
        explanation: part.map(|part| part.operations.iter().map(operation_json).collect()),
    }
}
