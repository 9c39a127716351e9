//! `foretrace explain`, for people and for programs.

use super::json::{DecidedJson, VERSION};
use super::names::{Names, SourceLine, thread_name, wrapped};
use super::sentence::{Speaker, capital};
use super::style::{HEAD, write_rows};
use super::table;
use super::values::shown_value;
use super::{Subject, pattern_meaning};
use foretrace_analysis::explain::{Argument, Explanation, Reason};
use foretrace_analysis::verdict::{Limit, OffPath, Verdict};
use foretrace_checker::{Step, Witness};
use foretrace_index::TraceIndex;
use foretrace_trace::{Atomic, EventId, Feasibility, Independence, Model, Observed, Pattern, Triple, Value};
use serde::Serialize;
use std::cell::RefCell;
use std::io::{self, Write};

/// An explanation with all that it takes to say it.
pub struct ExplanationReport<'t> {
    subject: Subject<'t>,
    explanation: &'t Explanation,
    observed: &'t Observed,
    trace_index: TraceIndex,
    names: Names<'t>,
}

impl<'t> ExplanationReport<'t> {
    /// A report of an explanation.
    pub fn new(subject: Subject<'t>, observed: &'t Observed, explanation: &'t Explanation) -> ExplanationReport<'t> {
        let names = Names::new(subject.trace);
        ExplanationReport { subject, explanation, observed, trace_index: TraceIndex::new(subject.trace), names }
    }

    /// The same with the source lines of the accesses.
    pub fn with_source(self, source: Option<SourceLine<'t>>) -> ExplanationReport<'t> {
        ExplanationReport { names: self.names.with_source(source), ..self }
    }

    /// Who says it; to people no event is introduced twice.
    fn speaker(&self, to_people: bool) -> Speaker<'_> {
        Speaker {
            trace: self.subject.trace,
            trace_index: &self.trace_index,
            observed: self.observed,
            model: self.subject.options.question.model,
            introduced: to_people.then(RefCell::default),
        }
    }

    /// Writes it for people. `out` may drop the styling.
    pub fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let decision = &self.explanation.decision;
        let question = self.subject.options.question;
        let triple = decision.triple;
        let what = match (&decision.verdict, &decision.off_path) {
            (Verdict::Feasible(_), _) => "can happen",
            (Verdict::Infeasible, None) => "cannot happen",
            (Verdict::Infeasible, Some(OffPath::Unasked(None))) => "cannot happen on the path of this run",
            (Verdict::Infeasible, Some(_)) => "is off the path of this run",
            (Verdict::Unknown(Limit::ContextSwitches(_)), _) => "cannot happen with so few context switches",
            (Verdict::Unknown(_), _) => "is undecided",
        };
        writeln!(
            out,
            "{HEAD}{triple} {what}{HEAD:#}: model {}, {} feasibility, {} independence; decided by {}",
            question.model, question.feasibility, question.independence, decision.decided_by
        )?;
        self.write_accesses(out)?;
        match &decision.verdict {
            Verdict::Feasible(witness) => self.write_witness(witness, out),
            Verdict::Infeasible => {
                if let Some(off_path) = &decision.off_path {
                    writeln!(out, "\n{}", beyond(off_path))?;
                }
                self.write_arguments(out)
            }
            Verdict::Unknown(Limit::ContextSwitches(most)) => self.write_bound(*most, out),
            Verdict::Unknown(limit) => writeln!(out, "\nNot decided: {limit}."),
        }
    }

    /// That a candidate takes more context switches than were asked for.
    fn write_bound(&self, most: u32, out: &mut dyn Write) -> io::Result<()> {
        let Triple { first, second, .. } = self.explanation.decision.triple;
        writeln!(out, "\nNo schedule shows it with at most {most} context switches between {first} and {second}.")?;
        match self.explanation.fewest_switches {
            Some(fewest) => writeln!(out, "It can happen with {fewest}, and not with fewer."),
            None => writeln!(out, "Whether it can happen with more was not decided."),
        }
    }

    fn write_accesses(&self, out: &mut dyn Write) -> io::Result<()> {
        let trace = self.subject.trace;
        let Triple { first, remote, second } = self.explanation.decision.triple;
        for (role, event) in [("first", first), ("remote", remote), ("second", second)] {
            let op = &trace.event(event).op;
            let var = self.names.var_of(event);
            let verb = match (op.reads(), op.writes()) {
                (true, true) => "reads and writes",
                (true, false) => "reads",
                _ => "writes",
            };
            let thread = thread_name(trace, trace.event(event).thread);
            writeln!(out, "   {role:<6}  {thread} {verb} {var} at {}", self.names.place(event))?;
            if let Some(line) = self.names.source_line(event) {
                writeln!(out, "             | {line}")?;
            }
        }
        Ok(())
    }

    fn write_arguments(&self, out: &mut dyn Write) -> io::Result<()> {
        if let Some(limit) = &self.explanation.missing {
            return writeln!(out, "\nNo argument was found in time ({limit}); the verdict stands.");
        }
        self.explanation.arguments.iter().try_for_each(|argument| self.write_argument(argument, out))
    }

    fn write_argument(&self, argument: &Argument, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "\n{}", self.supposition(argument))?;
        reasons(&self.speaker(true), argument, out)?;
        writeln!(out, "\n{}", checked(argument, "the candidate"))?;
        if argument.rests_on_pin() {
            writeln!(out, "It rests on a pin: in the program that value could be another.")?;
        }
        Ok(())
    }

    /// What an argument leads to a contradiction.
    fn supposition(&self, argument: &Argument) -> String {
        let Triple { first, remote, second } = self.explanation.decision.triple;
        let all = match self.subject.options.question.feasibility {
            Feasibility::Prefix => "",
            Feasibility::Complete => " in an execution of all events",
        };
        let order = format!("Suppose that {remote} comes after {first} and before {second}{all}");
        match argument.pattern {
            Some(pattern) => format!("{order}, with values that make the order matter ({pattern}).",),
            None => format!("{order}."),
        }
    }

    fn write_witness(&self, witness: &Witness, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "\nThis schedule shows it: {} ({}).\n", pattern_meaning(witness.pattern()), witness.pattern())?;
        write_rows("   ", &table::rows(self.subject.trace, &self.names, witness), out)?;
        writeln!(out, "\nThe order makes a difference:")?;
        for dependence in self.dependences(witness) {
            writeln!(out, "   {dependence}")?;
        }
        if let Some(unseen) = witness.run().unseen {
            writeln!(
                out,
                "\nWhat it leans on: {}.",
                super::unseen_order::unseen_order(&self.names, self.subject.trace, unseen)
            )?;
        }
        if witness.run().passes_external {
            writeln!(out, "\nWhat it leans on: {}.", super::unseen_order::PASSES_UNRECORDED)?;
        }
        Ok(())
    }

    /// Why first and remote, and remote and second, depend on each other.
    fn dependences(&self, witness: &Witness) -> [String; 2] {
        let Triple { first, remote, second } = *witness.claim();
        let [first_writes, remote_writes, second_writes] = witness.pattern().writes();
        let guarded = witness.guarded_dependent() == Some(true);
        let steps = witness.run().steps(self.subject.trace);
        [((first, first_writes), (remote, remote_writes)), ((remote, remote_writes), (second, second_writes))]
            .map(|(earlier, later)| dependence(&steps, earlier, later, guarded))
    }

    /// Writes it for programs.
    pub fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        let decision = &self.explanation.decision;
        let question = self.subject.options.question;
        let speaker = self.speaker(false);
        let mut decided = DecidedJson::new(decision);
        if matches!(decision.verdict, Verdict::Infeasible) {
            decided.reason = self.explanation.missing.as_ref().map(ToString::to_string);
        }
        let witness = match &decision.verdict {
            Verdict::Feasible(witness) => Some(WitnessJson {
                schedule: witness.schedule(),
                guarded: witness.guarded_dependent(),
                dependences: self.dependences(witness),
            }),
            _ => None,
        };
        let arguments = self.explanation.arguments.iter().map(|argument| argument_json(&speaker, argument));
        let whole = ExplanationJson {
            foretrace: VERSION,
            trace: self.subject.file,
            model: question.model,
            feasibility: question.feasibility,
            independence: question.independence,
            context_switches: self.subject.options.context_switches,
            fewest_switches: self.explanation.fewest_switches,
            atomic: self.subject.options.atomic,
            decided,
            off_path: decision.off_path.as_ref().map(OffPath::name),
            witness,
            arguments: arguments.collect(),
        };
        serde_json::to_writer_pretty(&mut *out, &whole)?;
        writeln!(out)
    }
}

/// What stands before the lines of a point but its first.
const INDENT: &str = "     ";

/// The points of an argument.
pub fn reasons(speaker: &Speaker<'_>, argument: &Argument, out: &mut dyn Write) -> io::Result<()> {
    for (number, reason) in argument.reasons.iter().enumerate() {
        let point = format!("{:>3}. {}.", number + 1, capital(&speaker.sentence(&reason.statement)));
        writeln!(out, "{}", wrapped(&point, INDENT))?;
        if !reason.so.is_empty() {
            let so = format!("{INDENT}So {}.", speaker.conclusions(&reason.so).join(", and "));
            writeln!(out, "{}", wrapped(&so, INDENT))?;
        }
    }
    Ok(())
}

/// What was checked of an argument against something.
pub fn checked(argument: &Argument, what: &str) -> String {
    let (points, rules) = (argument.reasons.len(), argument.origins().len());
    let these = match points {
        0 => return "Nothing else is needed: what is supposed contradicts itself.".to_string(),
        1 => "this point alone leaves".to_string(),
        _ => format!("these {points} points alone ({rules} instances of rules) leave"),
    };
    let needed = match (argument.minimal, points) {
        (true, 1) => "without it there is one",
        (true, _) => "without any one of them there is one",
        (false, _) => "whether each is needed was not found out in time",
    };
    format!("Checked: {these} no schedule with {what}; {needed}.")
}

fn dependence(steps: &[Step], earlier: (EventId, bool), later: (EventId, bool), guarded: bool) -> String {
    let verb = |writes: bool| if writes { "writes" } else { "reads" };
    let value = |(event, writes): (EventId, bool)| -> Option<Value> {
        let step = steps.iter().find(|step| step.event == event)?;
        if writes { step.written.clone() } else { step.read.clone() }
    };
    let shown = |access: (EventId, bool)| {
        let value = value(access).map_or(String::new(), |value| format!(" {}", shown_value(&value)));
        format!("{} {}{value}", access.0, verb(access.1))
    };
    let values = match (guarded, earlier.1, later.1) {
        (false, ..) => "",
        (true, true, false) => ", and what is written is not what was there before",
        (true, ..) => ", another value",
    };
    format!("{}, then {}: one variable{values}", shown(earlier), shown(later))
}

#[derive(Serialize)]
struct ExplanationJson<'a> {
    foretrace: u32,
    trace: &'a str,
    model: Model,
    feasibility: Feasibility,
    independence: Independence,
    #[serde(skip_serializing_if = "Option::is_none")]
    context_switches: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fewest_switches: Option<u32>,
    atomic: Atomic,
    #[serde(flatten)]
    decided: DecidedJson,
    #[serde(skip_serializing_if = "Option::is_none")]
    off_path: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    witness: Option<WitnessJson<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    arguments: Vec<ArgumentJson>,
}

#[derive(Serialize)]
struct WitnessJson<'a> {
    schedule: &'a [EventId],
    #[serde(skip_serializing_if = "Option::is_none")]
    guarded: Option<bool>,
    dependences: [String; 2],
}

/// An argument as JSON has it.
#[derive(Serialize)]
pub struct ArgumentJson {
    #[serde(skip_serializing_if = "Option::is_none")]
    pattern: Option<Pattern>,
    rests_on_pin: bool,
    minimal: bool,
    reasons: Vec<ReasonJson>,
}

#[derive(Serialize)]
struct ReasonJson {
    rule: &'static str,
    events: Vec<EventId>,
    text: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    so: Vec<String>,
}

/// An argument as JSON has it.
pub fn argument_json(speaker: &Speaker<'_>, argument: &Argument) -> ArgumentJson {
    let reason = |reason: &Reason| ReasonJson {
        rule: reason.statement.name(),
        events: reason.statement.events(),
        text: speaker.sentence(&reason.statement),
        so: speaker.conclusions(&reason.so),
    };
    ArgumentJson {
        pattern: argument.pattern,
        rests_on_pin: argument.rests_on_pin(),
        minimal: argument.minimal,
        reasons: argument.reasons.iter().map(reason).collect(),
    }
}

/// What may happen on other paths of the program.
fn beyond(off_path: &OffPath) -> &'static str {
    match off_path {
        OffPath::AfterRemote(_) => {
            "The program can get to first and then to remote: that is proved. Whether second follows on another path is open."
        }
        OffPath::BeforeRemote(_) | OffPath::Unasked(Some(_)) => {
            "Synchronisation alone does not forbid it: another path of the program may show it."
        }
        OffPath::Unasked(None) => "Whether another path of the program may show it was not told in time.",
    }
}
