//! The report for people: first the classes that can happen, worst first. Classes of one variable and block are together, the worst of them
//! with a witness. Then the classes that are off the path, and the totals.

use super::block::Folded;
use super::class::{ClassVerdicts, Classes, Found};
use super::folding::{cut, in_library};
use super::names::{Names, SourceLine, WIDEST_LINE, wrapped};
use super::style::{HEAD, plural, write_rows};
use super::table;
use super::unseen_order::{PASSES_UNRECORDED, unseen_order};
use super::{BlockReport, Subject, UsesReport, block, off_path, pattern_meaning, totals};
use anstyle::{AnsiColor, Style};
use foretrace_analysis::blocks::BlockName;
use foretrace_analysis::predict::{OffPathCounts, Totals};
use foretrace_analysis::serializability::Beyond;
use foretrace_analysis::verdict::{Decision, Verdict};
use foretrace_trace::{Atomic, BlockKind, EventId, Independence, Trace, Triple, VarId};
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use std::io::{self, Write};

/// Classes that stay undecided are listed up to this many.
const MOST_UNDECIDED: usize = 20;

/// Classes of whole threads that do not count are shown up to this many, where nothing else explains the failure or nothing else
/// can happen.
const MOST_OF_THREADS: usize = 3;

/// Groups are shown with a witness up to this many, and listed in the index up to that many, unless all are asked for.
const MOST_IN_FULL: usize = 10;
const MOST_IN_INDEX: usize = 40;

/// Classes of a group that are listed below its worst.
const MOST_ALIKE: usize = 6;

/// A source line is shown behind its place where this many characters of it fit, else below.
const LEAST_OF_SOURCE: usize = 24;

const BAD: Style = AnsiColor::Red.on_default().bold();

/// Collects decisions by class and shows them at the end, since the worst comes first.
pub struct TextReport<'t> {
    subject: Subject<'t>,
    names: Names<'t>,
    classes: Classes,
    whole_off_path: bool,
    blocks: Option<(BlockReport<'t>, Beyond)>,
    uses: Option<UsesReport<'t>>,
}

/// A class that can happen, and what stands for it.
type Shown<'c> = (&'c ClassVerdicts, &'c Found);

impl<'t> TextReport<'t> {
    /// An empty report.
    pub fn new(subject: Subject<'t>) -> TextReport<'t> {
        let names = Names::new(subject.trace);
        TextReport { subject, names, classes: Classes::default(), whole_off_path: false, blocks: None, uses: None }
    }

    /// The same with the source lines of accesses.
    pub fn with_source(self, source: Option<SourceLine<'t>>) -> TextReport<'t> {
        TextReport { names: self.names.with_source(source), ..self }
    }

    /// The same, with all classes that are off the path and their schedules.
    pub fn with_off_path(self, whole: bool) -> TextReport<'t> {
        TextReport { whole_off_path: whole, ..self }
    }

    /// Adds what was found of blocks.
    pub fn set_blocks(&mut self, blocks: Option<(BlockReport<'t>, Beyond)>) {
        self.blocks = blocks;
    }

    /// Adds what was found of uses after free.
    pub fn set_uses(&mut self, uses: Option<UsesReport<'t>>) {
        self.uses = uses;
    }

    /// Adds a decision.
    pub fn add(&mut self, decision: &Decision) {
        self.classes.add(self.subject, decision);
    }

    /// Adds so many candidates of the class of this one that were refuted together.
    pub fn add_refuted(&mut self, triple: Triple, count: u64) {
        self.classes.add_refuted(self.subject.class(triple), count);
    }

    /// Writes the report. `out` may drop the styling.
    pub fn write(&self, totals: &Totals, out: &mut dyn Write) -> io::Result<()> {
        self.write_head(out)?;
        let feasible = self.classes.feasible(self.subject);
        let (shown, [of_threads, of_libraries]) = self.fold(&feasible);
        let groups = self.group(&shown);
        self.write_index(&groups, shown.len(), out)?;
        let mut headed = None;
        for (number, group) in groups.iter().enumerate().take(self.most(MOST_IN_FULL)) {
            writeln!(out)?;
            self.write_heading(group[0].1, &mut headed, out)?;
            self.write_group(number + 1, group, out)?;
        }
        for (count, what) in [
            (of_threads, "in no block but whole threads: they do not count as found"),
            (of_libraries, "in libraries alone, such as of counts of references and words of locks"),
        ] {
            if count > 0 {
                let classes = plural(count as u64, "class");
                writeln!(out, "\n{HEAD}{classes} more {what}{HEAD:#} (--all shows them)")?;
            }
        }
        if let Some((report, beyond)) = &self.blocks {
            report.write_beyond(beyond, out)?;
        }
        if let Some(uses) = &self.uses {
            uses.write_text(out)?;
        }
        self.write_undecided(out)?;
        off_path::write(self.subject, &self.names, &self.classes, self.whole_off_path, out)?;
        writeln!(out)?;
        let uncounted =
            feasible.iter().filter(|(_, found)| !self.subject.is_found(found.triple, found.observed)).count();
        self.write_classes((feasible.len(), uncounted), totals, out)?;
        totals::write(totals, self.subject.options.times, out)
    }

    fn write_head(&self, out: &mut dyn Write) -> io::Result<()> {
        let Subject { file, trace, options, .. } = self.subject;
        let question = options.question;
        writeln!(
            out,
            "{file}: {}, {}, {}",
            count(trace.events.len(), "event"),
            count(trace.threads.len(), "thread"),
            count(trace.vars.len(), "variable")
        )?;
        if let Some(folder) = self.names.folder() {
            writeln!(out, "paths are below {folder}")?;
        }
        writeln!(out, "{}", self.subject.transactions_line())?;
        writeln!(
            out,
            "model {}, {} feasibility, {} independence; candidates {}, per {}{}",
            question.model,
            question.feasibility,
            question.independence,
            super::candidate_set_name(options.candidates),
            super::per_name(options.per),
            super::within_words(options.context_switches)
        )
    }

    /// How many of something are shown.
    fn most(&self, usually: usize) -> usize {
        if self.subject.options.all { usize::MAX } else { usually }
    }

    /// Classes of one variable in blocks of one name, in the order of the first of each.
    fn group<'c>(&self, shown: &[Shown<'c>]) -> Vec<Vec<Shown<'c>>> {
        type Key = (Option<VarId>, Option<BlockName>, bool);
        let mut groups: IndexMap<Key, Vec<Shown<'c>>, FxBuildHasher> = IndexMap::default();
        for (class, found) in shown {
            let var = self.subject.trace.event(found.triple.first).op.var();
            let block = self.subject.block(found.triple).map(|(name, _)| name);
            let happened = found.observed && self.subject.options.failed;
            groups.entry((var, block, happened)).or_default().push((class, found));
        }
        groups.into_values().collect()
    }

    /// One line for each group, where there are several.
    fn write_index(&self, groups: &[Vec<Shown<'_>>], classes: usize, out: &mut dyn Write) -> io::Result<()> {
        if groups.len() < 2 {
            return Ok(());
        }
        let classes = plural(classes as u64, "class");
        writeln!(out, "\n{HEAD}{classes} can happen, of {} variables and blocks{HEAD:#}", groups.len())?;
        for (number, group) in groups.iter().enumerate().take(self.most(MOST_IN_INDEX)) {
            let Found { triple, pattern, .. } = group[0].1;
            let more = if group.len() > 1 { format!("; {} like it", group.len() - 1) } else { String::new() };
            let places = self.names.places([triple.first, triple.remote, triple.second]);
            let var = self.names.var_of(triple.first);
            let line = format!("{:>4}. {} on {var}: {places}{more}", number + 1, pattern_meaning(*pattern));
            writeln!(out, "{}", wrapped(&line, "      "))?;
        }
        let listed = groups.len().min(self.most(MOST_IN_INDEX));
        let in_full = groups.len().min(self.most(MOST_IN_FULL));
        match (groups.len() - listed, listed - in_full) {
            (0, 0) => Ok(()),
            (0, _) => writeln!(out, "The first {in_full} follow in full (--all shows all)."),
            (more, _) => writeln!(out, "and {more} more. The first {in_full} follow in full (--all shows all)."),
        }
    }

    /// What is shown, and how much is only counted, of whole threads and of libraries: those of whole threads that do not
    /// count are shown only where they alone explain the failure, or where there is nothing else to show.
    fn fold<'c>(
        &self,
        feasible: &[(&'c ClassVerdicts, &'c Found)],
    ) -> (Vec<(&'c ClassVerdicts, &'c Found)>, [usize; 2]) {
        let folds = |found: &Found| block::is_folded(self.subject, found.triple);
        let of = |wanted: Option<Folded>| -> Vec<_> {
            feasible.iter().copied().filter(|(_, found)| folds(found) == wanted).collect()
        };
        let (mut shown, of_threads, of_libraries) = (of(None), of(Some(Folded::Thread)), of(Some(Folded::Workings)));
        let happened = |found: &Found| found.observed && self.subject.options.failed;
        let is_explained = shown.iter().any(|(_, found)| happened(found));
        let is_alone = shown.is_empty();
        let unfolds = |found: &Found| is_alone || happened(found) && !is_explained;
        let first: Vec<_> =
            of_threads.iter().copied().filter(|(_, found)| unfolds(found)).take(MOST_OF_THREADS).collect();
        let hidden = [of_threads.len() - first.len(), of_libraries.len()];
        shown.splice(0..0, first);
        (shown, hidden)
    }

    /// The block that the next classes are of, where it is another one; marks have their names with the accesses.
    fn write_heading(&self, found: &Found, headed: &mut Option<BlockName>, out: &mut dyn Write) -> io::Result<()> {
        let name = self.subject.block(found.triple).map(|(name, _)| name);
        let name = name.filter(|name| name.kind != BlockKind::Mark && self.subject.options.atomic == Atomic::Auto);
        if name == std::mem::replace(headed, name) {
            return Ok(());
        }
        let Some(name) = name else { return Ok(()) };
        let words = block::in_words(self.subject.trace, name);
        let counts = self.subject.is_found(found.triple, found.observed);
        let remark = if counts { "" } else { ", which is seldom meant to be atomic: this does not count as found" };
        writeln!(out, "{HEAD}In {}{HEAD:#}", wrapped(&format!("{}{remark}", self.names.short(&words)), "   "))
    }

    /// The worst of a group in full, the others in a line each.
    fn write_group(&self, number: usize, group: &[Shown<'_>], out: &mut dyn Write) -> io::Result<()> {
        let [(class, worst), alike @ ..] = group else { return Ok(()) };
        self.write_class(number, class, worst, out)?;
        if alike.is_empty() {
            return Ok(());
        }
        writeln!(out, "\n   like it, on the same variable")?;
        for (_, found) in alike.iter().take(self.most(MOST_ALIKE)) {
            let Triple { first, remote, second } = found.triple;
            let places = self.names.places([first, remote, second]);
            let line = format!("{} {} {places}", found.pattern, found.triple);
            writeln!(out, "      {}", wrapped(&line, "         "))?;
        }
        match alike.len().saturating_sub(self.most(MOST_ALIKE)) {
            0 => Ok(()),
            more => writeln!(out, "      and {more} more (--all lists them)"),
        }
    }

    fn write_class(&self, number: usize, class: &ClassVerdicts, worst: &Found, out: &mut dyn Write) -> io::Result<()> {
        let trace = self.subject.trace;
        let triple = worst.triple;
        let var = self.names.var_of(triple.first);
        let label = self.label(triple).map_or(String::new(), |label| format!(", in `{label}`"));
        let what = format!("{number}. {} on {var} ({}){label}", pattern_meaning(worst.pattern), worst.pattern);
        writeln!(out, "{HEAD}{}{HEAD:#}", wrapped(&what, "   "))?;
        self.write_accesses(worst, out)?;
        if worst.severity.use_after_free {
            let used: Vec<String> =
                worst.witness.run().uses_after_free.iter().map(|event| self.place(*event)).collect();
            writeln!(out, "   {BAD}use after free{BAD:#}: {}", used.join(", "))?;
        }
        if worst.observed && self.subject.options.failed {
            writeln!(out, "   {BAD}this happened in this run{BAD:#}, which failed")?;
        }
        for remark in remarks(&self.names, trace, worst, self.subject.options.question.independence) {
            writeln!(out, "   {}", wrapped(&remark, "   "))?;
        }
        let counts = format!(
            "{} of these locations: {} feasible, {} infeasible, {} unknown; shown: {triple}, decided by {}",
            plural(class.feasible + class.infeasible + class.unknown, "candidate"),
            class.feasible,
            class.infeasible,
            class.unknown,
            worst.decided_by
        );
        writeln!(out, "   {}\n", wrapped(&counts, "   "))?;
        write_rows("   ", &table::rows(trace, &self.names, &worst.witness), out)
    }

    /// One line for each access of the triple, with its source where that is known.
    fn write_accesses(&self, found: &Found, out: &mut dyn Write) -> io::Result<()> {
        let trace = self.subject.trace;
        let triple = found.triple;
        let roles = [("first", triple.first), ("remote", triple.remote), ("second", triple.second)];
        for ((role, event), writes) in roles.into_iter().zip(found.pattern.writes()) {
            let thread = self.names.thread(trace.event(event).thread);
            let verb = if writes { "writes" } else { "reads" };
            let library = self
                .subject
                .inside(event)
                .map_or(String::new(), |places| format!(", inside {}", in_library(&self.names.short(places))));
            let mut line = format!("   {role:<6}  {thread} {verb} at {}{library}", self.place(event));
            if line.chars().count() > WIDEST_LINE {
                line = wrapped(&line, "             ");
            }
            if let Some(source) = self.names.source_line(event) {
                let last = line.rsplit('\n').next().map_or(0, |last| last.chars().count());
                let left = WIDEST_LINE.saturating_sub(last + 4);
                line.push_str(if left < LEAST_OF_SOURCE { "\n             | " } else { "  | " });
                line.push_str(&cut(&source, if left < LEAST_OF_SOURCE { WIDEST_LINE - 15 } else { left }));
            }
            writeln!(out, "{line}")?;
        }
        Ok(())
    }

    /// The label of a candidate's block; of its transaction, where blocks are not known.
    fn label(&self, triple: Triple) -> Option<std::borrow::Cow<'t, str>> {
        let Subject { trace, transactions, .. } = self.subject;
        let label = match self.subject.block(triple) {
            Some((name, _)) => name.label.filter(|_| matches!(name.kind, BlockKind::Mark | BlockKind::Function)),
            None => {
                let thread = trace.event(triple.first).thread;
                transactions.iter().find(|t| t.contains(thread, triple.first)).and_then(|t| t.label)
            }
        };
        label.map(|label| self.names.label(label))
    }

    fn place(&self, event: EventId) -> String {
        self.names.place(event)
    }

    fn write_undecided(&self, out: &mut dyn Write) -> io::Result<()> {
        let undecided = self.classes.undecided().count();
        if undecided == 0 {
            return Ok(());
        }
        writeln!(out, "\n{HEAD}Undecided{HEAD:#}")?;
        for (class, decision) in self.classes.undecided().take(MOST_UNDECIDED) {
            let places = [decision.triple.first, decision.triple.remote, decision.triple.second].map(|e| self.place(e));
            let Verdict::Unknown(reason) = &decision.verdict else { continue };
            let candidates = plural(class.unknown, "candidate");
            let line = format!("{} {}, {candidates}: {reason}", decision.pattern, places.join(", "));
            writeln!(out, "   {}", wrapped(&line, "      "))?;
        }
        match undecided.checked_sub(MOST_UNDECIDED) {
            Some(more) if more > 0 => writeln!(out, "   and {more} more (--format json lists them)"),
            _ => Ok(()),
        }
    }

    fn write_classes(
        &self,
        (feasible, uncounted): (usize, usize),
        totals: &Totals,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let undecided = self.classes.undecided().count();
        let impossible = self.classes.impossible();
        let OffPathCounts { after_remote, before_remote, unasked } = self.classes.count_off_path();
        let off_path = after_remote + before_remote + unasked;
        let pinned = self.classes.pinned();
        let pins = if pinned == 0 { String::new() } else { format!("; {pinned} by a pinned value alone") };
        let kinds = [(after_remote, "after-remote"), (before_remote, "before-remote"), (unasked, "not told apart")];
        let kinds: Vec<String> =
            kinds.into_iter().filter(|(count, _)| *count > 0).map(|(count, kind)| format!("{count} {kind}")).collect();
        let kinds = if kinds.is_empty() { String::new() } else { format!(" ({}{pins})", kinds.join(", ")) };
        let classes = plural(totals.classes as u64, "class");
        let uncounted = match uncounted {
            0 => String::new(),
            of_threads => format!(" ({of_threads} of them in whole threads alone, which do not count as found)"),
        };
        let reached = feasible + undecided + off_path as usize + impossible;
        let unreached = match totals.classes.saturating_sub(reached) {
            unreached if unreached > 0 && totals.unreached > 0 => format!(", {unreached} not reached"),
            _ => String::new(),
        };
        let line = format!(
            "{classes} of source locations: {feasible} can happen{uncounted}, {off_path} off the path{kinds}, {impossible} cannot happen, \
             {undecided} undecided{unreached}"
        );
        writeln!(out, "{HEAD}{}{HEAD:#}", wrapped(&line, "   "))
    }
}

/// What to keep in mind about a witness.
fn remarks(names: &Names<'_>, trace: &Trace, found: &Found, independence: Independence) -> Vec<String> {
    let asked = found.guarded.filter(|_| independence == Independence::Guarded);
    let guarded = asked.map(|guarded| match guarded {
        true => "guarded-dependent, too: the values make a difference",
        false => "not guarded-dependent: in every such schedule the values make the order irrelevant",
    });
    let mut remarks: Vec<String> = guarded.into_iter().map(str::to_string).collect();
    if found.witness.run().passes_external {
        remarks.push(PASSES_UNRECORDED.to_string());
    }
    remarks.extend(found.witness.run().unseen.map(|unseen| unseen_order(names, trace, unseen)));
    remarks
}

fn count(number: usize, noun: &str) -> String {
    plural(number as u64, noun)
}
