//! `foretrace explain --block`, for people and for programs.

use super::explanation::{ArgumentJson, argument_json, checked, reasons};
use super::json::VERSION;
use super::names::{Names, wrapped};
use super::sentence::Speaker;
use super::serializability::BlockReport;
use super::style::HEAD;
use super::within_words;
use foretrace_analysis::explain::{BlockArgument, BlockExplanation};
use foretrace_analysis::serializability::OtherPaths;
use foretrace_index::TraceIndex;
use foretrace_serializability::{Apart, Decision, Question};
use foretrace_trace::{EventId, Model, Observed, Trace};
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use serde::Serialize;
use std::cell::RefCell;
use std::io::{self, Write};

/// Accesses of a question that a sentence names; of more only the first.
const MOST_ACCESSES: usize = 6;

/// An explanation of a block with all that it takes to say it.
pub struct BlockExplanationReport<'t> {
    trace: &'t Trace,
    observed: &'t Observed,
    model: Model,
    context_switches: Option<u32>,
    trace_index: TraceIndex,
    names: Names<'t>,
    /// The block with its verdict, as `serializability` reports it.
    block: BlockReport<'t>,
    explanation: &'t BlockExplanation,
}

#[derive(Serialize)]
struct Whole<'a> {
    foretrace: u32,
    trace: &'a str,
    property: &'static str,
    model: Model,
    #[serde(skip_serializing_if = "Option::is_none")]
    context_switches: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fewest_switches: Option<u32>,
    block: super::serializability::json::BlockJson<'a>,
    /// Of a block that cannot be violated: whether synchronisation alone allows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    off_path: Option<bool>,
    /// Why no argument was found in time.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    proof: Vec<ApartJson<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    arguments: Vec<PathsJson>,
}

#[derive(Serialize)]
struct ApartJson<'a> {
    events: Vec<EventId>,
    variable: &'a str,
    why: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    locks: Vec<&'a str>,
}

#[derive(Serialize)]
struct PathsJson {
    starts: Vec<EventId>,
    through: Vec<EventId>,
    ends: Vec<EventId>,
    #[serde(flatten)]
    argument: ArgumentJson,
}

impl<'t> BlockExplanationReport<'t> {
    /// A report of an explanation; `block` holds the block alone.
    pub fn new(
        (trace, observed): (&'t Trace, &'t Observed),
        model: Model,
        context_switches: Option<u32>,
        block: BlockReport<'t>,
        explanation: &'t BlockExplanation,
    ) -> BlockExplanationReport<'t> {
        let (trace_index, names) = (TraceIndex::new(trace), Names::new(trace));
        BlockExplanationReport { trace, observed, model, context_switches, trace_index, names, block, explanation }
    }

    fn speaker(&self, to_people: bool) -> Speaker<'_> {
        let introduced = to_people.then(RefCell::default);
        Speaker {
            trace: self.trace,
            trace_index: &self.trace_index,
            observed: self.observed,
            model: self.model,
            introduced,
        }
    }

    /// Whether another path of the program may violate a block that this run's does not, where that is known.
    fn may_violate(&self) -> Option<bool> {
        self.explanation.other_paths.as_ref().and_then(OtherPaths::may_violate)
    }

    /// Writes it for people. `out` may drop the styling.
    ///
    /// # Errors
    /// Where it cannot be written.
    pub fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let decision = &self.explanation.judgement.decision;
        let what = match decision {
            Decision::Violated(_) => "can be violated",
            Decision::Proved | Decision::Holds if self.may_violate() == Some(false) => "cannot be violated",
            Decision::Proved | Decision::Holds => "cannot be violated on the path of this run",
            Decision::NotWithin(_) => "cannot be violated with so few context switches",
            Decision::Limit | Decision::NotObserved | Decision::Refused(_) => "is undecided",
        };
        let by = match decision {
            Decision::Proved => "; decided by the static check",
            _ if self.explanation.judgement.by_solver => "; decided by the solver",
            _ => "",
        };
        let words = self.block.words(self.explanation.judgement.block);
        let name = self.names.short(&words);
        let within = within_words(self.context_switches);
        writeln!(out, "{HEAD}{name} {what}{HEAD:#}: model {}{within}{by}", self.model)?;
        writeln!(out, "   {}", self.block.place(self.explanation.judgement.block))?;
        match decision {
            Decision::Violated(_) => self.block.write_violations(out),
            Decision::Proved | Decision::Holds => {
                match self.may_violate() {
                    Some(false) => {}
                    Some(true) => writeln!(
                        out,
                        "\nSynchronisation alone does not forbid it: another path of the program may violate it."
                    )?,
                    None => {
                        writeln!(out, "\nWhether another path of the program may violate it was not told in time.")?
                    }
                }
                self.write_proof(out)?;
                self.write_arguments(out)
            }
            Decision::NotWithin(most) => {
                writeln!(
                    out,
                    "\nNo schedule violates it with a path from whose first to whose last access there are at most {most}."
                )?;
                match self.explanation.fewest_switches {
                    Some(fewest) => writeln!(out, "It can be violated with {fewest}, and not with fewer."),
                    None => writeln!(out, "Whether it can be violated with more was not decided."),
                }
            }
            Decision::Limit | Decision::NotObserved | Decision::Refused(_) => {
                writeln!(out, "\nNot decided: the limit was reached.")
            }
        }
    }

    /// Accesses of the block with one variable and one reason, in order.
    fn apart(&self) -> Vec<(&'t str, &Apart, Vec<EventId>)> {
        let mut groups: IndexMap<(&'t str, &Apart), Vec<EventId>, FxBuildHasher> = IndexMap::default();
        for (event, apart) in &self.explanation.apart {
            let var = self.trace.event(*event).op.var().map_or("", |var| self.trace.vars[var.index()].shown());
            groups.entry((var, apart)).or_default().push(*event);
        }
        groups.into_iter().map(|((var, apart), events)| (var, apart, events)).collect()
    }

    fn write_proof(&self, out: &mut dyn Write) -> io::Result<()> {
        if !matches!(self.explanation.judgement.decision, Decision::Proved) {
            return Ok(());
        }
        if self.explanation.apart.is_empty() {
            return writeln!(out, "\nStatically: the block makes no access that counts.");
        }
        let events = self.explanation.judgement.segment.range.events();
        writeln!(out, "\nStatically, from the {events} events that can happen beside it:")?;
        for (var, apart, events) in self.apart() {
            let line = format!("{} ({}): {}", self.names.short(var), listed(&events), self.meaning(apart));
            writeln!(out, "   {}", wrapped(&line, "      "))?;
        }
        Ok(())
    }

    fn locks(&self, apart: &Apart) -> Vec<&'t str> {
        match apart {
            Apart::Locks(locks) => locks.iter().map(|lock| &*self.trace.syncs[lock.index()].key).collect(),
            _ => Vec::new(),
        }
    }

    fn meaning(&self, apart: &Apart) -> String {
        match apart {
            Apart::Untouched => "no access of another thread conflicts".to_string(),
            Apart::Locks(_) => {
                let locks = self.locks(apart).join(", ");
                format!("accesses that conflict need {locks}, which the block holds throughout")
            }
            Apart::Ordered => "accesses that conflict come before or after the block in every schedule".to_string(),
            Apart::LeavesOnly => "a path can leave the block here, but not come back later".to_string(),
            Apart::EntersOnly => "a path can come back here, but not leave the block earlier".to_string(),
            Apart::Alone => "a path from here would come back here, or be one of a block inside".to_string(),
        }
    }

    fn write_arguments(&self, out: &mut dyn Write) -> io::Result<()> {
        if let Some(limit) = &self.explanation.missing {
            writeln!(out, "\nNo argument was found in time ({limit}); the verdict stands.")?;
        } else if self.explanation.arguments.is_empty() {
            return writeln!(
                out,
                "\nConflicts and program order lead from no access of the block through another thread to a later one."
            );
        }
        for BlockArgument { paths, argument } in &self.explanation.arguments {
            let Question { starts, through, ends, .. } = paths;
            let line = format!(
                "Suppose that a path of conflicts and program order leaves the block at {}, goes through {}, and comes back at {}.",
                any_of(starts),
                any_of(through),
                any_of(ends)
            );
            writeln!(out, "\n{}", wrapped(&line, ""))?;
            reasons(&self.speaker(true), argument, out)?;
            writeln!(out, "\n{}", wrapped(&checked(argument, "such a path"), ""))?;
            if argument.rests_on_pin() {
                writeln!(out, "It rests on a pin: in the program that value could be another.")?;
            }
        }
        Ok(())
    }

    /// Writes it for programs; the schema is `schemas/block-explanation.schema.json`.
    ///
    /// # Errors
    /// Where it cannot be written.
    pub fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        let speaker = self.speaker(false);
        let paths = |BlockArgument { paths, argument }: &BlockArgument| PathsJson {
            starts: paths.starts.clone(),
            through: paths.through.clone(),
            ends: paths.ends.clone(),
            argument: argument_json(&speaker, argument),
        };
        let apart = |(variable, apart, events): (&'t str, &Apart, Vec<EventId>)| ApartJson {
            events,
            variable,
            why: match apart {
                Apart::Untouched => "untouched",
                Apart::Locks(_) => "locks",
                Apart::Ordered => "ordered",
                Apart::LeavesOnly => "leaves-only",
                Apart::EntersOnly => "enters-only",
                Apart::Alone => "alone",
            },
            locks: self.locks(apart),
        };
        let Some(block) = self.block.only() else { return Ok(()) };
        let whole = Whole {
            foretrace: VERSION,
            trace: self.block.file(),
            property: "serializability",
            model: self.model,
            context_switches: self.context_switches,
            fewest_switches: self.explanation.fewest_switches,
            block,
            off_path: self.may_violate(),
            reason: self.explanation.missing.as_ref().map(ToString::to_string),
            proof: self.apart().into_iter().map(apart).collect(),
            arguments: self.explanation.arguments.iter().map(paths).collect(),
        };
        serde_json::to_writer_pretty(&mut *out, &whole)?;
        writeln!(out)
    }
}

fn listed(events: &[EventId]) -> String {
    let shown: Vec<String> = events.iter().take(MOST_ACCESSES).map(ToString::to_string).collect();
    let more = if events.len() > MOST_ACCESSES {
        format!(" and {} more", events.len() - MOST_ACCESSES)
    } else {
        String::new()
    };
    let noun = if events.len() == 1 { "event" } else { "events" };
    format!("{noun} {}{more}", shown.join(", "))
}

/// One event, or one of several.
fn any_of(events: &[EventId]) -> String {
    match events {
        [one] => one.to_string(),
        _ => format!("one of the {}", listed(events)),
    }
}
