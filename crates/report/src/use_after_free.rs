//! Uses after free that other schedules lead to: for people, for programs, and a witness file for each.

use super::Subject;
use super::json::write_open_object;
use super::names::{Names, SourceLine, wrapped};
use super::style::{HEAD, plural, write_rows};
use super::table::{act_of, rows_named};
use super::unseen_order::{PASSES_UNRECORDED, unseen_order};
use super::witness::{PrefixHead, WitnessDir, WitnessFileError, write_schedule};
use foretrace_analysis::use_after_free::{FoundUse, UsesAfterFree};
use foretrace_analysis::verdict::RestsOn;
use foretrace_checker::UseAfterFree;
use foretrace_trace::{EventId, Model, Trace, Triple, write_whole};
use serde::Serialize;
use std::io::{self, Write};
use std::path::PathBuf;

/// So many are shown with their schedules, unless all are asked for.
const MOST_IN_FULL: usize = 5;

/// Collects uses after free.
pub struct UsesReport<'t> {
    subject: Subject<'t>,
    names: Names<'t>,
    found: Vec<FoundUse>,
    counted: UsesAfterFree,
}

/// All that is said of them, for programs.
#[derive(Serialize)]
pub struct UsesJson<'t> {
    /// Pairs of places that are not ordered in every prefix.
    places: u64,
    /// Of those, pairs that were not decided.
    undecided: u64,
    found: Vec<UseJson<'t>>,
}

#[derive(Serialize)]
struct UseJson<'t> {
    free: EventId,
    access: EventId,
    var: &'t str,
    /// Where the memory is freed, and where it is used.
    locs: [Option<&'t str>; 2],
    observed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    rests_on: Option<RestsOn>,
    schedule: Vec<EventId>,
}

/// What stands before the schedule of a witness file.
#[derive(Serialize)]
struct Head<'t> {
    #[serde(flatten)]
    shown: PrefixHead<'t>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rests_on: Option<RestsOn>,
    observed: bool,
}

/// One with its file.
pub struct WrittenUse<'r> {
    /// What was found.
    pub found: &'r FoundUse,
    /// The witness.
    pub file: PathBuf,
}

impl<'t> UsesReport<'t> {
    /// A report of nothing yet.
    pub fn new(subject: Subject<'t>) -> UsesReport<'t> {
        let (names, counted) = (Names::new(subject.trace), UsesAfterFree::default());
        UsesReport { subject, names, found: Vec::new(), counted }
    }

    /// The same with the source lines of events.
    pub fn with_source(self, source: Option<SourceLine<'t>>) -> UsesReport<'t> {
        UsesReport { names: self.names.with_source(source), ..self }
    }

    /// Adds one.
    pub fn add(&mut self, found: FoundUse) {
        self.found.push(found);
    }

    /// Says how many there are.
    pub fn finish(self, counted: UsesAfterFree) -> UsesReport<'t> {
        UsesReport { counted, ..self }
    }

    /// Whether there is one.
    pub fn has_found(&self) -> bool {
        !self.found.is_empty()
    }

    /// Whether some pairs were not decided.
    pub fn is_undecided(&self) -> bool {
        self.counted.undecided > 0
    }

    /// Those found, each with the text of one line.
    pub(crate) fn in_a_line_each(&self) -> impl Iterator<Item = (EventId, String)> {
        self.found.iter().map(|found| (found.witness.claim().access, self.in_a_line(found)))
    }

    fn in_a_line(&self, found: &FoundUse) -> String {
        let trace = self.subject.trace;
        let UseAfterFree { free, access } = *found.witness.claim();
        let [freer, user] = [free, access].map(|event| self.names.thread(trace.event(event).thread));
        let act = act_of(trace, access);
        format!(
            "{user} {} at {} after {freer} freed it at {}",
            self.names.short(&act),
            self.names.place(access),
            self.names.place(free)
        )
    }

    /// The report for people, behind that of triples. Numbers begin with `F`, since triples have numbers of their own.
    ///
    /// # Errors
    /// Where it cannot be written.
    pub fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let UsesAfterFree { places, undecided, .. } = self.counted;
        if !self.found.is_empty() {
            writeln!(out, "\n{HEAD}Memory that is used after it was freed{HEAD:#}")?;
        }
        let most = if self.subject.options.all { usize::MAX } else { MOST_IN_FULL };
        for (number, found) in self.found.iter().enumerate() {
            let line = format!("F{}. {}", number + 1, self.in_a_line(found));
            writeln!(out, "{}", wrapped(&line, "    "))?;
            if number < most {
                self.write_in_full(found, out)?;
            }
        }
        if undecided > 0 {
            let pairs = plural(places, "pair");
            let line = format!("of {pairs} of places that free and use memory {undecided} not decided");
            writeln!(out, "{}", wrapped(&line, "   "))?;
        }
        Ok(())
    }

    fn write_in_full(&self, found: &FoundUse, out: &mut dyn Write) -> io::Result<()> {
        let trace = self.subject.trace;
        let witness = &found.witness;
        if found.observed {
            writeln!(out, "    the recorded order itself shows it")?;
        }
        if witness.run().passes_external {
            writeln!(out, "    {}", wrapped(PASSES_UNRECORDED, "    "))?;
        }
        if let Some(unseen) = witness.run().unseen {
            writeln!(out, "    {}", wrapped(&unseen_order(&self.names, trace, unseen), "    "))?;
        }
        let rows =
            rows_named(trace, &self.names, ends(trace, found), &witness.run().steps(trace), ["before", "free", "use"]);
        write_rows("    ", &rows, out)
    }

    /// All that is said, for programs.
    pub fn json(&self) -> UsesJson<'t> {
        let trace = self.subject.trace;
        let found = self.found.iter().map(|found| {
            let UseAfterFree { free, access } = *found.witness.claim();
            UseJson {
                free,
                access,
                var: key(trace, access),
                locs: [free, access].map(|event| trace.loc(event)),
                observed: found.observed,
                rests_on: found.rests_on,
                schedule: found.witness.schedule().to_vec(),
            }
        });
        let UsesAfterFree { places, undecided, .. } = self.counted;
        UsesJson { places, undecided, found: found.collect() }
    }

    /// Writes the file of each; says which.
    ///
    /// # Errors
    /// Where a file cannot be written.
    pub fn write_witnesses(&self, folder: &WitnessDir) -> Result<Vec<WrittenUse<'_>>, WitnessFileError> {
        let mut written = Vec::new();
        for found in &self.found {
            let UseAfterFree { free, access } = *found.witness.claim();
            let file = folder.file(&format!("use-after-free-{free}-{access}.json"));
            write_whole(&file, |out| self.write_witness(found, out))
                .map_err(|source| WitnessFileError { path: file.clone(), source })?;
            written.push(WrittenUse { found, file });
        }
        Ok(written)
    }

    fn write_witness(&self, found: &FoundUse, out: &mut dyn Write) -> io::Result<()> {
        let Subject { file, trace, options, .. } = self.subject;
        let Triple { first, remote, second } = ends(trace, found);
        let model: Model = options.question.model;
        let head = Head {
            shown: PrefixHead::new(
                ("use-after-free", "feasible"),
                file,
                [first, remote, second],
                model,
                options.atomic,
            ),
            rests_on: found.rests_on,
            observed: found.observed,
        };
        write_open_object(&head, out)?;
        write_schedule(trace, &found.witness.run().steps(trace), out)
    }
}

/// The last access of the using thread before the `free`, the `free`, and the use. Where there is none before, the `free` stands for it.
fn ends(trace: &Trace, found: &FoundUse) -> Triple {
    let UseAfterFree { free, access } = *found.witness.claim();
    Triple { first: found.interrupted(trace).unwrap_or(free), remote: free, second: access }
}

/// The variable or the object that is used.
fn key(trace: &Trace, access: EventId) -> &str {
    let op = &trace.event(access).op;
    let object = op.used_syncs().into_iter().flatten().next().map(|sync| &*trace.syncs[sync.index()].key);
    op.var().map(|var| &*trace.vars[var.index()].key).or(object).unwrap_or_default()
}
