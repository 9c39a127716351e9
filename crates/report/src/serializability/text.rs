//! What is said of whole blocks, for people.

use super::{Alike, BlockReport, BlockTotals, Judged, NotCounted};
use crate::block::in_words;
use crate::names::wrapped;
use crate::style::plural;
use crate::table::act;
use foretrace_analysis::serializability::Beyond;
use foretrace_analysis::verdict::RestsOn;
use foretrace_checker::Step;
use foretrace_serializability::{Link, PathKind, Violation, Weight};
use foretrace_trace::EventId;
use std::io::{self, Write};

/// So many violations of whole threads get a line each.
const MOST_OF_THREADS: usize = 8;

impl BlockReport<'_> {
    /// The violations, for people.
    pub(crate) fn write_violations(&self, out: &mut dyn Write) -> io::Result<()> {
        self.write_groups("", out)
    }

    /// The report for people.
    ///
    /// # Errors
    /// Where it cannot be written.
    pub fn write_text(&self, totals: &BlockTotals, out: &mut dyn Write) -> io::Result<()> {
        let within = crate::within_words(self.context_switches);
        writeln!(out, "{}: {} events, model {}{within}", self.file, self.trace.events.len(), self.model)?;
        if let Some(folder) = self.names.folder() {
            writeln!(out, "paths are below {folder}")?;
        }
        self.write_groups("", out)?;
        self.write_off_path(out)?;
        writeln!(out)?;
        writeln!(out, "{}", wrapped(&self.totals_line(totals), "   "))?;
        let dropped = self.judged.iter().filter(|judged| judged.judgement.is_dropped).count();
        if dropped > 0 {
            writeln!(out, "of the violated ones {dropped} only in attempts that they give up, which does not count")?;
        }
        let whole = totals.segment_per_mille as f64 / 10.0;
        let line = format!(
            "segments: {} events on average, {whole} % of the trace; {} interleavings explored",
            totals.segment_events, totals.interleavings
        );
        writeln!(out, "{}", wrapped(&line, "   "))
    }

    fn totals_line(&self, totals: &BlockTotals) -> String {
        let BlockTotals { blocks, proved, holds, violated, observed, limit, .. } = totals;
        let BlockTotals { off_path, off_path_unasked, not_observed, not_within, .. } = totals;
        let blocks = format!("{} by --atomic {}: {violated} violated", plural(*blocks, "block"), self.atomic);
        if *not_observed > 0 {
            return format!(
                "{blocks} by the recorded order itself, {not_observed} not; other orders were not looked at"
            );
        }
        let unasked = match off_path_unasked {
            0 => String::new(),
            count => format!(" ({count} not told apart)"),
        };
        let beyond = match not_within {
            0 => String::new(),
            count => format!("{count} not violated within so few context switches, "),
        };
        format!(
            "{blocks} ({observed} by the recorded order itself), {proved} proved statically, {holds} hold in every schedule, {off_path} \
             off the path of this run{unasked}, {beyond}{limit} undecided at the limit"
        )
    }

    /// Blocks that hold on the path of this run alone, a line for each kind.
    fn write_off_path(&self, out: &mut dyn Write) -> io::Result<()> {
        const MOST: usize = 10;
        let groups = self.paths_off_path();
        if groups.is_empty() {
            return Ok(());
        }
        let text = "Off the path of this run: no schedule of it violates these blocks; another path of the program may, by these accesses";
        writeln!(out, "\n{}", wrapped(text, "   "))?;
        groups.iter().take(MOST).try_for_each(|group| self.write_in_a_line(group, out))?;
        match groups.len().saturating_sub(MOST) {
            0 => Ok(()),
            more => writeln!(out, "     and {more} more (--format json lists every block)"),
        }
    }

    /// What no triple shows, for people, behind the report of triples. Numbers begin with `B`, since triples have numbers of their own.
    ///
    /// # Errors
    /// Where it cannot be written.
    pub fn write_beyond(&self, beyond: &Beyond, out: &mut dyn Write) -> io::Result<()> {
        if self.judged.iter().any(Judged::is_own) {
            writeln!(out, "\nBlocks that are violated in a way that no triple shows")?;
            self.write_groups("B", out)?;
        }
        self.write_off_path(out)?;
        let Beyond { blocks, judged, undecided } = beyond;
        let left = match (blocks - judged, undecided) {
            (0, 0) => return Ok(()),
            (0, undecided) => format!("{undecided} not decided"),
            (more, 0) => format!("{more} not looked at"),
            (more, undecided) => format!("{more} not looked at, {undecided} not decided"),
        };
        let blocks = plural(*blocks, "block");
        let line = format!("of {blocks} as wholes {left} (--property serializability decides them)");
        writeln!(out, "{}", wrapped(&line, "   "))
    }

    fn write_groups(&self, prefix: &str, out: &mut dyn Write) -> io::Result<()> {
        let (mut dropped, mut of_threads, mut counted) = (Vec::new(), Vec::new(), Vec::new());
        for pair in self.pairs() {
            let first = pair.first().and_then(|group| group.first());
            match first.and_then(|(block, _)| self.not_counted(*block)) {
                Some(NotCounted::FailedAttempt) => dropped.push(pair),
                Some(NotCounted::WholeThread) => of_threads.push(pair),
                None => counted.push(pair),
            }
        }
        for (number, pair) in counted.iter().enumerate() {
            let [smallest, others @ ..] = &pair[..] else { continue };
            writeln!(out)?;
            self.write_group(&format!("{prefix}{}", number + 1), smallest, out)?;
            self.write_others(others, out)?;
        }
        if !of_threads.is_empty() {
            writeln!(out, "\nOf whole threads, and not counted (--all counts them)")?;
            for group in of_threads.iter().flatten().take(MOST_OF_THREADS) {
                self.write_in_a_line(group, out)?;
            }
        }
        if !dropped.is_empty() {
            let text = "Harmless, and not counted: cycles through attempts that the block gives up. No schedule lets an attempt that they \
                        disturb take effect";
            writeln!(out, "\n{}", wrapped(text, "   "))?;
            for group in dropped.iter().flatten() {
                self.write_in_a_line(group, out)?;
            }
        }
        Ok(())
    }

    /// More cycles of a pair of blocks, each in a line.
    fn write_others(&self, others: &[Alike<'_>], out: &mut dyn Write) -> io::Result<()> {
        const MOST: usize = 8;
        if others.is_empty() {
            return Ok(());
        }
        writeln!(out, "   more cycles of these blocks")?;
        others.iter().take(MOST).try_for_each(|group| self.write_in_a_line(group, out))?;
        match others.len().saturating_sub(MOST) {
            0 => Ok(()),
            more => writeln!(out, "     and {more} more (serializability --format json lists every block)"),
        }
    }

    fn write_in_a_line(&self, group: &Alike<'_>, out: &mut dyn Write) -> io::Result<()> {
        let Some(line) = self.in_a_line(group) else { return Ok(()) };
        writeln!(out, "     {}", wrapped(&line, "       "))
    }

    /// Each group of violations: the first event of its path, whether it counts, and the path in a line.
    pub(crate) fn in_a_line_each(&self) -> Vec<(EventId, bool, String)> {
        let described = |group: &Alike<'_>| {
            let (block, violation) = group.first()?;
            let first = violation.claim().events.first()?;
            Some((*first, self.not_counted(*block).is_none(), self.in_a_line(group)?))
        };
        self.groups().iter().filter_map(described).collect()
    }

    fn in_a_line(&self, group: &Alike<'_>) -> Option<String> {
        let (block, violation) = group.first()?;
        let path = violation.claim();
        let names: Vec<_> = path.vars().iter().map(|var| self.names.var(*var)).collect();
        let events: Vec<String> = path.events.iter().map(|event| self.names.place(*event)).collect();
        let words = in_words(self.trace, self.name(&self.blocks.all()[*block]));
        let more = if group.len() > 1 { format!(", {} blocks", group.len()) } else { String::new() };
        Some(format!("{}: {} by {}{more}", self.names.short(&words), names.join(", "), events.join(", ")))
    }

    fn write_group(&self, number: &str, group: &[(usize, &Violation)], out: &mut dyn Write) -> io::Result<()> {
        let (position, violation) = group[0];
        let against: Vec<String> = self.against(violation).iter().map(|name| in_words(self.trace, *name)).collect();
        let block = &self.blocks.all()[position];
        let names: Vec<_> = violation.claim().vars().iter().map(|var| self.names.var(*var)).collect();
        let what = match violation.claim().kind() {
            PathKind::SeveralVariables => format!("a cycle over {}", names.join(", ")),
            PathKind::SeveralAccesses => format!("a cycle over {} through several accesses", names.join(", ")),
            PathKind::Triple => format!("a cycle over {} by one access", names.join(", ")),
        };
        let words = in_words(self.trace, self.name(block));
        writeln!(out, "{}", wrapped(&format!("{number}. {}: {what}", self.names.short(&words)), "   "))?;
        let observed = if self.judged_of(position).observed { "; the recorded order itself shows it" } else { "" };
        let length = violation.schedule().len();
        let line = format!(
            "events {} to {} of {}; a schedule of {length} events{observed}",
            block.first,
            block.last,
            self.names.thread(block.thread)
        );
        writeln!(out, "   {}", wrapped(&line, "   "))?;
        if !against.is_empty() {
            let line = format!("through {}", against.join(", "));
            writeln!(out, "   {}", wrapped(&self.names.short(&line), "   "))?;
        }
        match self.weight(position, violation) {
            Weight::Full => {}
            Weight::Partial => writeln!(out, "   without its harmless conflicts there is no cycle")?,
            Weight::None => writeln!(out, "   harmless: no conflict on the cycle makes a difference")?,
        }
        if let Some(others) = group.len().checked_sub(1).filter(|others| *others > 0) {
            let blocks = plural(others as u64, "more block");
            writeln!(out, "   {blocks} of this place too, by the same path")?;
        }
        let steps = violation.run().steps(self.trace);
        for (at, event) in violation.claim().events.iter().enumerate() {
            let known = Step { event: *event, read: None, written: None };
            let step = steps.iter().find(|step| step.event == *event).unwrap_or(&known);
            let place = self.names.loc(*event).map_or(String::new(), |loc| format!(", {loc}"));
            let thread = self.names.thread(self.trace.event(*event).thread);
            let act = act(self.trace, step);
            let line = format!("{thread}: {} (event {event}{place})", self.names.short(&act));
            writeln!(out, "     {}", wrapped(&line, "       "))?;
            match violation.claim().links.get(at) {
                Some(Link::ProgramOrder) => writeln!(out, "       then, in the same thread")?,
                Some(Link::Conflict(_)) => writeln!(out, "       before")?,
                None => {}
            }
        }
        if let Some(rests_on) = RestsOn::of_run(violation.run()) {
            let words =
                if rests_on == RestsOn::External { "a write by unrecorded code" } else { "an order that is not seen" };
            writeln!(out, "   it rests on {words}")?;
        }
        Ok(())
    }
}
