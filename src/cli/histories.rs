//! Whether an interleaving fails: one of a litmus program by its end, and each by the history of its operations.

use anyhow::bail;
use foretrace::litmus::{self, Execution, Program};
use foretrace_linearizability::{
    History, Limits, Operation, Spec, Verdict, check, compile, hint, minimal, picture, read_trace,
};

/// What is said of an interleaving.
pub enum Judged {
    /// It finishes, and its history fits.
    Passes,
    /// It fails.
    Fails(Failure),
    /// It was cut off, or the limit was reached before its history was decided.
    Open,
}

/// How an interleaving fails.
pub struct Failure {
    /// What happened, the same for all that fail so.
    pub what: String,
    /// Whether it is a deadlock.
    pub is_deadlock: bool,
    /// A small part of the history that does not fit, as a picture.
    pub picture: Option<String>,
}

/// Judges interleavings of one program.
#[derive(Clone, Copy)]
pub struct Judge {
    /// The specification that the operations should follow.
    spec: Option<Spec>,
}

impl Judge {
    /// By the end alone, or by a specification; fails where the program's operations are none of it.
    pub fn new(spec: Option<Spec>, program: &Program) -> anyhow::Result<Judge> {
        let Some(wanted) = spec else { return Ok(Judge { spec }) };
        let number = |number: usize| foretrace_linearizability::Value::Int(number as i64);
        let operation = |(object, method, arguments): (Option<&str>, &str, usize)| Operation {
            process: String::new(),
            object: object.map(str::to_string),
            method: method.to_string(),
            args: (0..arguments).map(number).collect(),
            result: None,
            call: 0,
            ret: u64::MAX,
        };
        let all: Vec<Operation> = program.operations().map(operation).collect();
        if all.is_empty() {
            bail!("--spec is about operations, found none in the program; expected `operation fn …`");
        }
        if let Err(error) = compile(&History::new(all), wanted, None) {
            let method = program.operations().nth(error.number).map_or("", |(_, method, _)| method);
            bail!("found an operation `{method}`, expected a method of a {}: {}", error.spec, error.expected);
        }
        Ok(Judge { spec })
    }

    /// Whether the order of returns and calls matters.
    pub fn needs_real_time(self) -> bool {
        self.spec.is_some()
    }

    /// Judges an interleaving.
    pub fn judge(self, execution: &Execution, limits: Limits<'_>) -> anyhow::Result<Judged> {
        let fails = |what: String, is_deadlock: bool| Judged::Fails(Failure { what, is_deadlock, picture: None });
        Ok(match &execution.outcome {
            litmus::Outcome::StepLimit => Judged::Open,
            litmus::Outcome::Deadlock(_) => fails(execution.outcome.to_string(), true),
            litmus::Outcome::AssertionFailed(failure) | litmus::Outcome::Error(failure) => {
                fails(format!("failed in `{}` at {}: {}", failure.thread, failure.loc, failure.reason), false)
            }
            litmus::Outcome::Finished => match self.spec {
                Some(spec) => judge_history(&read_trace(&execution.trace), spec, limits)?,
                None => Judged::Passes,
            },
        })
    }
}

/// Judges a history.
pub fn judge_history(history: &History, spec: Spec, limits: Limits<'_>) -> anyhow::Result<Judged> {
    Ok(match check(history, spec, None, limits)?.verdict {
        Verdict::Linearizable => Judged::Passes,
        Verdict::Unknown => Judged::Open,
        Verdict::NotLinearizable => {
            let what = format!("not linearizable as a {}: {}", spec.name(), outcome(history));
            let drawn = |part: &History| picture(part) + &hint(part).map(|hint| hint + "\n").unwrap_or_default();
            let picture = minimal(history, spec, None, limits)?.as_ref().map(drawn);
            Judged::Fails(Failure { what, is_deadlock: false, picture })
        }
    })
}

/// What the operations of each thread gave.
fn outcome(history: &History) -> String {
    let mut threads: Vec<(&str, Vec<String>)> = Vec::new();
    for operation in &history.operations {
        let name = operation.process.as_str();
        match threads.iter_mut().find(|(known, _)| *known == name) {
            Some((_, all)) => all.push(operation.to_string()),
            None => threads.push((name, vec![operation.to_string()])),
        }
    }
    threads.sort();
    let shown = threads.into_iter().map(|(name, all)| format!("{name}: {}", all.join(", ")));
    shown.collect::<Vec<_>>().join("; ")
}
