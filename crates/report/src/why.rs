//! What `foretrace why` says: which violations of a failing run are its cause, and which context switches it takes.

use super::names::thread_name;
use super::repair::{count, json_link, write_cycle};
use super::table::act_of;
use foretrace_repair::{Link, Section, Switch};
use foretrace_trace::{EventId, Trace};
use serde::Serialize;
use std::io::{self, Write};

/// The post-mortem of a failing run.
pub struct WhyReport<'t> {
    /// The recording, as it was named.
    pub recording: &'t str,
    /// Its trace.
    pub trace: &'t Trace,
    /// How the recorded run ended, as in "the program …".
    pub ending: String,
    /// How often each schedule was tried.
    pub times: u32,
    /// How often the recorded schedule, run again, failed.
    pub again: u32,
    /// What the run shows, best repair first.
    pub violations: Vec<Violation>,
    /// Functions that the run did not finish, where no violation is a cause.
    pub unfinished: Vec<Unfinished>,
    /// Writes that another thread read before it failed, and that no violation explains which is a cause.
    pub too_early: Vec<TooEarly>,
    /// Reads of what another thread had yet to write, where nothing else is a cause.
    pub read_early: Vec<ReadEarly>,
    /// Whether all violations were tried before the limit.
    pub complete: bool,
    /// The context switches that the failure takes; nothing where that was not found out.
    pub switches: Option<Switches>,
}

/// A violation that the failing run shows, and what became of the program when its sections were kept whole.
pub struct Violation {
    /// The sections.
    pub sections: Vec<Section>,
    /// The cycle that they break.
    pub cycle: Vec<Link>,
    /// How many of the passing runs they would forbid, and of how many.
    pub forbids: (usize, usize),
    /// How often the program passed; nothing where no schedule keeps the sections whole.
    pub gone: Option<Gone>,
    /// The violation, by its place in the report, that is smaller and a cause, and that did not come about either with this one kept whole.
    pub smaller: Option<usize>,
    /// The cause that makes the program fail with this one kept whole, too, once a thread is held until it comes about.
    pub delays: Option<Delays>,
}

/// A cause, by its place in the report.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Delays {
    /// A write that comes too early.
    TooEarly(usize),
    /// A violation.
    Violation(usize),
}

impl Violation {
    /// Whether it removes the failure every time. It does not count if a smaller cause did not happen along with it, or if it only delays a thread.
    pub fn is_cause(&self, times: u32) -> bool {
        self.smaller.is_none() && self.delays.is_none() && self.gone.is_some_and(|gone| gone.passed == times)
    }

    /// Whether the program passed every time. It may have left the schedule.
    pub fn removes_failure(&self, times: u32) -> bool {
        self.gone.is_some_and(|gone| gone.passed + gone.left == times)
    }

    /// Whether all that a thread does in some lines, from one turn of a loop to the next, is one section.
    pub fn is_of_turns(&self) -> bool {
        self.sections.iter().any(|section| section.turns)
    }
}

/// A function in which a thread stopped until the program ended, and what became of the program when it was finished first.
pub struct Unfinished {
    /// The thread's last step: an access, or what let another thread begin or go on.
    pub last: EventId,
    /// The function.
    pub function: String,
    /// Whether it was finished as far as another run tells; if not, its thread just went on.
    pub is_finished: bool,
    /// Where the thread had to get, if the function was not finished.
    pub reached: Option<String>,
    /// How often the program passed.
    pub passed: u32,
}

impl Unfinished {
    /// Whether the program passes every time if the thread goes on first.
    pub fn is_cause(&self, times: u32) -> bool {
        self.passed == times
    }

    /// Which function was not finished, and what became of the program where its thread went on first, of so many runs.
    pub fn lines(&self, trace: &Trace, times: u32) -> [String; 2] {
        let thread = thread_name(trace, trace.event(self.last).thread);
        let loc = trace.loc(self.last).map(|loc| format!(" at {loc}")).unwrap_or_default();
        let with = match (self.is_finished, &self.reached) {
            (true, _) => "finished first".to_string(),
            (false, Some(place)) => format!("where that thread went on to {place} first"),
            (false, None) => "where that thread went on first".to_string(),
        };
        let passed = self.passed;
        [
            format!("not finished: {}, in which {thread} stopped{loc} until the program ended", self.function),
            format!("{with}, with the rest of the schedule as it was, the program passed {passed} of {times} times"),
        ]
    }
}

/// A write that another thread read before it failed, and what became of the program when that thread went on first.
pub struct TooEarly {
    /// The write.
    pub write: EventId,
    /// The read.
    pub read: EventId,
    /// How often the program passed.
    pub passed: u32,
    /// The violation, by its place in the report, with which kept whole the program passes although the write comes first.
    pub harmless: Option<usize>,
}

/// A read of the thread that failed, and what became of the program when another thread went on to its next write of that first.
pub struct ReadEarly {
    /// The read.
    pub read: EventId,
    /// The write that came after it.
    pub write: EventId,
    /// How often the program passed.
    pub passed: u32,
}

impl ReadEarly {
    /// What came too early, and what became of the program where it did not, of so many runs.
    pub fn lines(&self, trace: &Trace, times: u32) -> [String; 2] {
        early_lines(trace, (self.read, self.write), "on to that first", (self.passed, times))
    }

    /// Whether the program passes every time if the other thread goes on first.
    pub fn is_cause(&self, times: u32) -> bool {
        self.passed == times
    }
}

/// What came before what, and how often the program passed, of so many runs, where the thread of the second goes on like this.
fn early_lines(
    trace: &Trace,
    (first, second): (EventId, EventId),
    how: &str,
    (passed, times): (u32, u32),
) -> [String; 2] {
    let ((early, acts), (late, acts_then)) = (act_at(trace, first), act_at(trace, second));
    [
        format!("too early: {early} {acts}, before {late} {acts_then}"),
        format!(
            "where {late} went {how}, with the rest of the schedule as it was, the program passed {passed} of {times} times"
        ),
    ]
}

/// The thread of an access, and what it does where.
fn act_at(trace: &Trace, event: EventId) -> (String, String) {
    let thread = thread_name(trace, trace.event(event).thread);
    let loc = trace.loc(event).map(|loc| format!(" at {loc}")).unwrap_or_default();
    (thread, format!("{}{loc}", act_of(trace, event)))
}

impl TooEarly {
    /// What came too early, and what became of the program where it did not, of so many runs.
    pub fn lines(&self, trace: &Trace, times: u32) -> [String; 2] {
        early_lines(trace, (self.write, self.read), "on first", (self.passed, times))
    }

    /// Whether the program passes every time if the other thread goes on first. It does not count if the write does no harm with a cause kept whole.
    pub fn is_cause(&self, times: u32) -> bool {
        self.harmless.is_none() && self.passed == times
    }
}

/// How often a program passed that failed before.
#[derive(Clone, Copy, Debug)]
pub struct Gone {
    /// After it had followed the schedule to the end of the violated code.
    pub passed: u32,
    /// After it had left the schedule before, so that the violated code may not have been kept whole.
    pub left: u32,
}

/// Context switches.
pub struct Switches {
    /// How many times the recorded run interrupted a thread that could have gone on.
    pub recorded: usize,
    /// Those without any of which the program passes.
    pub left: Vec<Switch>,
    /// How many runs of the program it took to find them.
    pub runs: u32,
    /// How often the program failed with these alone.
    pub fails: u32,
}

#[derive(Serialize)]
struct Json<'t> {
    foretrace: u32,
    recording: &'t str,
    ending: &'t str,
    times: u32,
    again: u32,
    violations: Vec<JsonViolation<'t>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unfinished: Vec<JsonUnfinished<'t>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    too_early: Vec<JsonTooEarly<'t>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    read_early: Vec<JsonReadEarly<'t>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    switches: Option<JsonSwitches<'t>>,
}

#[derive(Serialize)]
struct JsonViolation<'t> {
    sections: &'t [Section],
    forbids: usize,
    passing: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    gone: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    left: Option<u32>,
    cause: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    smaller: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    delays: Option<Delays>,
    cycle: Vec<super::repair::JsonLink<'t>>,
}

#[derive(Serialize)]
struct JsonUnfinished<'t> {
    #[serde(flatten)]
    place: JsonPlace<'t>,
    function: &'t str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reached: Option<&'t str>,
    gone: u32,
    cause: bool,
}

#[derive(Serialize)]
struct JsonReadEarly<'t> {
    read: JsonPlace<'t>,
    write: JsonPlace<'t>,
    gone: u32,
    cause: bool,
}

#[derive(Serialize)]
struct JsonTooEarly<'t> {
    write: JsonPlace<'t>,
    read: JsonPlace<'t>,
    gone: u32,
    cause: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    harmless: Option<usize>,
}

#[derive(Serialize)]
struct JsonSwitches<'t> {
    recorded: usize,
    runs: u32,
    fails: u32,
    left: Vec<JsonSwitch<'t>>,
}

#[derive(Serialize)]
struct JsonSwitch<'t> {
    after: JsonPlace<'t>,
    to: JsonPlace<'t>,
}

#[derive(Serialize)]
struct JsonPlace<'t> {
    event: EventId,
    thread: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    loc: Option<&'t str>,
}

impl WhyReport<'_> {
    /// Whether keeping these sections whole removed the failure every time.
    fn is_cause(&self, violation: &Violation) -> bool {
        violation.is_cause(self.times)
    }

    /// Whether a cause was found.
    pub fn has_cause(&self) -> bool {
        self.violations.iter().any(|violation| self.is_cause(violation)) || self.has_other_cause()
    }

    /// Whether a cause was found that is no violation.
    fn has_other_cause(&self) -> bool {
        let is_read_early = self.read_early.iter().any(|one| one.is_cause(self.times));
        self.stopped().next().is_some() || self.early().next().is_some() || is_read_early
    }

    /// Unfinished functions that remove the failure when they are finished first.
    fn stopped(&self) -> impl Iterator<Item = &Unfinished> {
        self.unfinished.iter().filter(|one| one.is_cause(self.times))
    }

    /// Writes without which the program passes, if the other thread goes on first.
    fn early(&self) -> impl Iterator<Item = &TooEarly> {
        self.too_early.iter().filter(|one| one.is_cause(self.times))
    }

    /// Writes one JSON object.
    pub fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        let place = |event: EventId| JsonPlace {
            event,
            thread: self.trace.threads[self.trace.event(event).thread.index()].number,
            loc: self.trace.loc(event),
        };
        let switch = |switch: &Switch| JsonSwitch { after: place(switch.after), to: place(switch.to) };
        let json = Json {
            foretrace: 1,
            recording: self.recording,
            ending: &self.ending,
            times: self.times,
            again: self.again,
            violations: self.violations.iter().map(|violation| self.json_violation(violation)).collect(),
            unfinished: (self.unfinished.iter())
                .map(|one| JsonUnfinished {
                    place: place(one.last),
                    function: &one.function,
                    reached: one.reached.as_deref(),
                    gone: one.passed,
                    cause: one.is_cause(self.times),
                })
                .collect(),
            read_early: (self.read_early.iter())
                .map(|one| JsonReadEarly {
                    read: place(one.read),
                    write: place(one.write),
                    gone: one.passed,
                    cause: one.is_cause(self.times),
                })
                .collect(),
            too_early: (self.too_early.iter())
                .map(|one| JsonTooEarly {
                    write: place(one.write),
                    read: place(one.read),
                    gone: one.passed,
                    cause: one.is_cause(self.times),
                    harmless: one.harmless,
                })
                .collect(),
            switches: self.switches.as_ref().map(|switches| JsonSwitches {
                recorded: switches.recorded,
                runs: switches.runs,
                fails: switches.fails,
                left: switches.left.iter().map(switch).collect(),
            }),
        };
        serde_json::to_writer_pretty(&mut *out, &json)?;
        writeln!(out)
    }

    fn json_violation<'v>(&'v self, violation: &'v Violation) -> JsonViolation<'v> {
        JsonViolation {
            sections: &violation.sections,
            forbids: violation.forbids.0,
            passing: violation.forbids.1,
            gone: violation.gone.map(|gone| gone.passed),
            left: violation.gone.map(|gone| gone.left).filter(|left| *left > 0),
            cause: self.is_cause(violation),
            smaller: violation.smaller,
            delays: violation.delays,
            cycle: violation.cycle.iter().map(|link| json_link(self.trace, link)).collect(),
        }
    }

    /// Writes text.
    pub fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let (times, again) = (self.times, self.again);
        writeln!(out, "the recorded run {}; its schedule, run again, failed {again} of {times} times", self.ending)?;
        let (causes, others): (Vec<&Violation>, Vec<&Violation>) =
            self.violations.iter().partition(|violation| self.is_cause(violation));
        match (causes.is_empty() && !self.has_other_cause(), self.complete) {
            (true, true) => writeln!(out, "\nno violation that this run shows is its cause by itself")?,
            (true, false) => writeln!(out, "\nno cause was found before the limit was reached")?,
            (false, _) => {}
        }
        for (number, violation) in causes.iter().enumerate() {
            writeln!(out)?;
            self.write_sections(&format!("cause {}: not atomic", number + 1), violation, out)?;
            writeln!(
                out,
                "   kept whole, with the rest of the schedule as it was, the program passed {times} of {times} times"
            )?;
            if violation.is_of_turns() {
                writeln!(
                    out,
                    "   no smaller code that was tried removes the failure: all turns of the loop have to be one section"
                )?;
            }
            writeln!(out, "   in the failing run:")?;
            write_cycle(self.trace, &violation.cycle, out)?;
        }
        for (number, one) in self.stopped().enumerate() {
            let number = causes.len() + number + 1;
            let [what, with] = one.lines(self.trace, times);
            writeln!(out, "\ncause {number}: {what}\n   {with}")?;
        }
        for (number, one) in self.early().enumerate() {
            let number = causes.len() + self.stopped().count() + number + 1;
            let [what, with] = one.lines(self.trace, times);
            writeln!(out, "\ncause {number}: {what}\n   {with}")?;
        }
        for (number, one) in self.read_early.iter().filter(|one| one.is_cause(times)).enumerate() {
            let number = causes.len() + self.stopped().count() + self.early().count() + number + 1;
            let [what, with] = one.lines(self.trace, times);
            writeln!(out, "\ncause {number}: {what}\n   {with}")?;
        }
        for violation in &others {
            writeln!(out)?;
            let is_open = violation.smaller.is_none() && violation.delays.is_none() && violation.removes_failure(times);
            self.write_sections(if is_open { "perhaps the cause" } else { "not the cause" }, violation, out)?;
            if let Some(smaller) = violation.smaller {
                let is_it = |cause: &&Violation| std::ptr::eq(*cause, &self.violations[smaller]);
                let number = causes.iter().position(is_it).map_or(0, |place| place + 1);
                writeln!(
                    out,
                    "   kept whole, the program passed, but on this schedule cause {number} did not come about either"
                )?;
                continue;
            }
            if let Some(delays) = violation.delays {
                writeln!(
                    out,
                    "   kept whole, the program passed, since threads met in another order; where cause {} came about, it failed all the same",
                    self.number_of(delays, &causes)
                )?;
                continue;
            }
            match violation.gone {
                None => writeln!(out, "   no schedule of this run's events keeps it whole")?,
                Some(Gone { passed: 0, left: 0 }) => {
                    writeln!(out, "   kept whole, the program failed all the same, {times} of {times} times")?;
                }
                Some(Gone { passed, left: 0 }) => {
                    writeln!(out, "   kept whole, the program passed {passed} of {times} times")?;
                }
                Some(Gone { passed, left }) => writeln!(
                    out,
                    "   the program passed {} of {times} times, but {left} times it had left the schedule before this code ended",
                    passed + left
                )?,
            }
        }
        match &self.switches {
            Some(switches) => self.write_switches(switches, out),
            None => Ok(()),
        }
    }

    /// The number that the text gives a cause.
    fn number_of(&self, cause: Delays, causes: &[&Violation]) -> usize {
        let before = causes.len() + self.stopped().count();
        let place = match cause {
            Delays::Violation(at) => causes.iter().position(|one| std::ptr::eq(*one, &self.violations[at])),
            Delays::TooEarly(at) => {
                self.early().position(|one| std::ptr::eq(one, &self.too_early[at])).map(|at| before + at)
            }
        };
        place.map_or(0, |place| place + 1)
    }

    fn write_sections(&self, lead: &str, violation: &Violation, out: &mut dyn Write) -> io::Result<()> {
        for (place, section) in violation.sections.iter().enumerate() {
            let lead = if place == 0 { lead.to_string() } else { "   and".to_string() };
            writeln!(out, "{lead}: {section}")?;
        }
        match violation.forbids {
            (_, 0) => Ok(()),
            (forbidden, all) => writeln!(out, "   {forbidden} of {} show it as well", count(all, "passing run")),
        }
    }

    fn write_switches(&self, switches: &Switches, out: &mut dyn Write) -> io::Result<()> {
        let Switches { recorded, left, runs, fails } = switches;
        writeln!(
            out,
            "\ncontext switches that the failure takes: {} of {recorded}; with these alone the program failed {fails} of {} times \
             ({})",
            left.len(),
            self.times,
            count(*runs as usize, "run") + " to find them"
        )?;
        if left.is_empty() && self.has_other_cause() {
            writeln!(out, "   it fails also if each other thread runs until it ends or waits")?;
        } else if left.is_empty() {
            writeln!(out, "   it fails also if each thread runs until it ends or waits")?;
        }
        for (number, switch) in left.iter().enumerate() {
            let line = |event: EventId| {
                let thread = thread_name(self.trace, self.trace.event(event).thread);
                let loc = self.trace.loc(event).map(|loc| format!(" at {loc}")).unwrap_or_default();
                format!("{thread}, {}{loc}", act_of(self.trace, event))
            };
            writeln!(out, "   {}. after {}", number + 1, line(self.last_act(switch.after)))?;
            writeln!(out, "      comes {}", line(self.first_act(switch.to)))?;
        }
        Ok(())
    }

    /// An event that others can see: an access, or what threads meet at.
    fn is_act(&self, event: EventId) -> bool {
        !matches!(self.trace.event(event).op.kind(), "begin" | "end" | "assume" | "let" | "call" | "return")
    }

    /// The first of a thread's acts from an event on.
    fn first_act(&self, event: EventId) -> EventId {
        let thread = self.trace.event(event).thread;
        let later = (event.0..self.trace.events.len() as u32).map(EventId);
        let mut acts = later.filter(|later| self.trace.event(*later).thread == thread && self.is_act(*later));
        acts.next().unwrap_or(event)
    }

    /// The last of a thread's acts up to an event.
    fn last_act(&self, event: EventId) -> EventId {
        let thread = self.trace.event(event).thread;
        let earlier = (0..=event.0).rev().map(EventId);
        let mut acts = earlier.filter(|earlier| self.trace.event(*earlier).thread == thread && self.is_act(*earlier));
        acts.next().unwrap_or(event)
    }
}
