//! What `foretrace replay` reports: how the program ended, then whether the triple happened, and where the program left the schedule.

use super::replayed_history::Judged;
use foretrace::recorder::{
    Difference, Ending, Event, Outcome, Plan, Replayed, ThreadNames, UseAfterFreeInWords, What, ops,
};
use foretrace::report::below_project;
use foretrace_walker::log::Record;
use foretrace_walker::program::is_of_library;
use indexmap::IndexMap;
use serde::Serialize;
use std::fmt;
use std::io::{self, Write};

/// What the program's code and recording say of a replay.
pub trait Seen {
    /// Where an access is, as `file:line:column`.
    fn location(&self, record: &Record) -> Option<String>;

    /// The names of threads.
    fn threads(&self) -> &ThreadNames;

    /// Where the accesses of the witness are, as the program's own code has it: an access of a library's function is where that is called.
    fn own_places(&self) -> Option<&[Option<String>; 3]>;
}

/// What came of one or more replays.
#[derive(Default)]
pub struct Tally {
    endings: IndexMap<Ending, u32>,
    /// How freed memory was used, and in how many replays.
    uses: IndexMap<String, u32>,
    to_the_letter: OutcomeCount,
    another_way: OutcomeCount,
    not_reached: OutcomeCount,
}

/// Replays of one outcome.
#[derive(Default)]
struct OutcomeCount {
    times: u32,
    /// The first of them.
    first: Option<Replayed>,
}

#[derive(Serialize)]
pub struct TallyJson {
    foretrace: u32,
    times: u32,
    followed: u32,
    another_way: u32,
    not_reached: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    recorded: Option<Ending>,
    endings: Vec<EndingJson>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    uses_after_free: Vec<UseJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    triple: Option<Vec<AccessJson>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    left: Option<LeftJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    moved: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    histories: Option<Judged>,
}

#[derive(Serialize)]
struct EndingJson {
    #[serde(flatten)]
    ending: Ending,
    times: u32,
}

/// A use of freed memory.
#[derive(Serialize)]
struct UseJson {
    what: String,
    times: u32,
}

#[derive(Serialize)]
struct AccessJson {
    thread: String,
    at: u64,
    op: &'static str,
    read: Option<u64>,
    written: Option<u64>,
    loc: Option<String>,
}

#[derive(Serialize)]
struct LeftJson {
    thread: String,
    at: u64,
    expected: String,
    found: Option<String>,
    out_of_turn: bool,
    reason: Option<String>,
}

impl Tally {
    /// Counts a replay.
    pub fn add(&mut self, replayed: Replayed) {
        *self.endings.entry(replayed.ending).or_default() += 1;
        let group = match replayed.outcome {
            Outcome::ToTheLetter => &mut self.to_the_letter,
            Outcome::AnotherWay => &mut self.another_way,
            Outcome::NotReached(_) => &mut self.not_reached,
        };
        group.times += 1;
        group.first.get_or_insert(replayed);
    }

    /// The replay that was counted last used memory after its `free`.
    pub fn add_use(&mut self, used: UseAfterFreeInWords) {
        let at = used.place.map(|place| format!(" at {place}")).unwrap_or_default();
        *self.uses.entry(format!("{}{at}", used.text)).or_default() += 1;
    }

    /// How many followed the plan to the letter.
    pub fn to_the_letter(&self) -> u32 {
        self.to_the_letter.times
    }

    /// In how many the triple happened.
    pub fn reached(&self) -> u32 {
        self.to_the_letter.times + self.another_way.times
    }

    /// How many there were.
    pub fn times(&self) -> u32 {
        self.reached() + self.not_reached.times
    }

    /// Writes what people read; `recorded` is how the recorded run ended.
    pub fn write_text(
        &self,
        notes: &[String],
        plan: &Plan,
        recorded: Option<Ending>,
        seen: &dyn Seen,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        for (ending, count) in &self.endings {
            writeln!(out, "{}{}{}", Told(*ending), self.share(*count), compared(*ending, recorded))?;
        }
        for (what, count) in &self.uses {
            writeln!(out, "use after free: {what}{}", self.share(*count))?;
        }
        self.write_to_the_letter(plan, seen, out)?;
        self.write_another_way(plan, seen, out)?;
        self.write_not_reached(plan, seen, out)?;
        notes.iter().try_for_each(|note| writeln!(out, "{note}"))
    }

    /// `, 3 of 5 times`, where there is more than one.
    fn share(&self, count: u32) -> String {
        if self.times() > 1 { format!(", {count} of {} times", self.times()) } else { String::new() }
    }

    fn write_to_the_letter(&self, plan: &Plan, seen: &dyn Seen, out: &mut dyn Write) -> io::Result<()> {
        let Some(one) = &self.to_the_letter.first else { return Ok(()) };
        let asked = if plan.triple.is_some() { ", and the triple happened" } else { "" };
        let (turns, events) = (plan.turns.len(), plan.expected.len());
        let share = self.share(self.to_the_letter.times);
        let own = seen.own_places();
        if plan.turns.is_empty() && plan.triple.is_some() {
            writeln!(out, "reached the triple where it was recorded{share}")?; // there is nothing to follow
            return write_triple(one, own, seen, out);
        }
        writeln!(out, "followed the schedule to the letter{share} ({events} events in {turns} turns){asked}")?;
        write_triple(one, own, seen, out)
    }

    fn write_another_way(&self, plan: &Plan, seen: &dyn Seen, out: &mut dyn Write) -> io::Result<()> {
        let Some(one) = &self.another_way.first else { return Ok(()) };
        let way = if plan.turns.is_empty() { "" } else { " another way" };
        writeln!(out, "reached the triple{way}{}", self.share(self.another_way.times))?;
        write_triple(one, None, seen, out)?; // another call of the library may have come there
        write_departure(one, seen, out)
    }

    fn write_not_reached(&self, plan: &Plan, seen: &dyn Seen, out: &mut dyn Write) -> io::Result<()> {
        let Some(one) = &self.not_reached.first else { return Ok(()) };
        let share = self.share(self.not_reached.times);
        match &one.outcome {
            Outcome::NotReached(why) if plan.triple.is_some() => {
                writeln!(out, "did not reach the triple{share}: {}", seen.threads().in_line(why))?;
            }
            _ => writeln!(out, "did not follow the schedule{share}")?,
        }
        if one.difference.is_none() && one.left.is_none() && !plan.turns.is_empty() {
            write_triple(one, None, seen, out)?;
        }
        write_departure(one, seen, out)
    }

    /// What programs read.
    pub fn json(
        &self,
        notes: &[String],
        recorded: Option<Ending>,
        histories: Option<Judged>,
        seen: &dyn Seen,
    ) -> TallyJson {
        let groups = [&self.to_the_letter, &self.another_way, &self.not_reached];
        let departed = groups.into_iter().skip(1).find_map(|group| group.first.as_ref());
        let reached = groups.into_iter().take(2).find_map(|group| group.first.as_ref());
        let reason = self.not_reached.first.as_ref().and_then(|one| match &one.outcome {
            Outcome::NotReached(why) => Some(seen.threads().in_line(why)),
            _ => None,
        });
        TallyJson {
            foretrace: 1,
            times: self.times(),
            followed: self.to_the_letter.times,
            another_way: self.another_way.times,
            not_reached: self.not_reached.times,
            recorded,
            endings: self.endings.iter().map(|(ending, times)| EndingJson { ending: *ending, times: *times }).collect(),
            uses_after_free: self
                .uses
                .iter()
                .map(|(what, times)| UseJson { what: what.clone(), times: *times })
                .collect(),
            triple: reached.or(departed).and_then(|one| accesses(one, seen)),
            left: departed.and_then(|one| left_json(one, seen)),
            reason,
            moved: notes.to_vec(),
            histories,
        }
    }
}

/// What programs read where a place of a witness is not in an edited program: no replay was made.
pub fn unmatched(missing: &str) -> TallyJson {
    let mut none = Tally::default().json(&[], None, None, &Nothing::default());
    none.reason = Some(missing.to_string());
    none
}

/// Knows no positions and no names.
#[derive(Default)]
struct Nothing(ThreadNames);

impl Seen for Nothing {
    fn location(&self, _: &Record) -> Option<String> {
        None
    }

    fn threads(&self) -> &ThreadNames {
        &self.0
    }

    fn own_places(&self) -> Option<&[Option<String>; 3]> {
        None
    }
}

fn accesses(replayed: &Replayed, seen: &dyn Seen) -> Option<Vec<AccessJson>> {
    let triple = replayed.triple.as_ref()?;
    triple.iter().map(|event| Some(access_json(event.as_ref()?, seen))).collect()
}

fn access_json(event: &Event, seen: &dyn Seen) -> AccessJson {
    AccessJson {
        thread: event.path.clone(),
        at: event.record.at,
        op: ops(event.record.kind)[0],
        read: event.read(),
        written: event.written(),
        loc: seen.location(&event.record),
    }
}

fn left_json(departed: &Replayed, seen: &dyn Seen) -> Option<LeftJson> {
    let Difference { expected, found, out_of_turn } = departed.difference.as_ref()?;
    Some(LeftJson {
        thread: expected.path.clone(),
        at: expected.at,
        expected: told(&expected.what),
        found: found.as_ref().map(|event| shown(event, seen)),
        out_of_turn: *out_of_turn,
        reason: departed.left.as_ref().map(|reason| seen.threads().in_line(reason)),
    })
}

/// How a program ended, as the news.
struct Told(Ending);

impl fmt::Display for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = if self.0 == Ending::Code(0) { "passed" } else { "failed" };
        write!(f, "{verdict}: {}", ending(self.0))
    }
}

fn ending(ending: Ending) -> String {
    match ending {
        Ending::Code(code) => format!("exit status {code}"),
        Ending::Signal(_) => format!("the program {ending}"),
        Ending::Hang => "the program hung and was killed".to_string(),
        Ending::Deadlock => "deadlock, every thread waited for another".to_string(),
    }
}

/// What the recorded run did, if that is known.
fn compared(replayed: Ending, recorded: Option<Ending>) -> String {
    match (replayed, recorded) {
        (_, None) => String::new(),
        (Ending::Code(_), Some(Ending::Code(code))) => format!(" (the recorded run: {code})"),
        (replayed, Some(recorded)) if replayed == recorded => " (the recorded run: the same)".to_string(),
        (_, Some(recorded)) => format!(" (the recorded run: {})", ending(recorded)),
    }
}

fn write_triple(
    replayed: &Replayed,
    own: Option<&[Option<String>; 3]>,
    seen: &dyn Seen,
    out: &mut dyn Write,
) -> io::Result<()> {
    for (role, event) in replayed.triple.iter().flatten().enumerate() {
        let name = ["first", "remote", "second"][role];
        let own = own.and_then(|own| own[role].as_deref());
        let what = event.as_ref().map_or("did not happen".to_string(), |event| shown_from(event, own, seen));
        writeln!(out, "  {name:<8}{what}")?;
    }
    Ok(())
}

/// Where the program left the schedule.
fn write_departure(replayed: &Replayed, seen: &dyn Seen, out: &mut dyn Write) -> io::Result<()> {
    if let Some(Difference { expected, found, out_of_turn }) = &replayed.difference {
        writeln!(out, "left the schedule at event {} of {}", expected.at, seen.threads().full(&expected.path))?;
        writeln!(out, "  expected  {}", told(&expected.what))?;
        match found {
            Some(event) if *out_of_turn => writeln!(out, "  found     it out of turn: {}", shown(event, seen))?,
            Some(event) => {
                let same = told(&expected.what) == ops(event.record.kind)[0];
                let elsewhere = if same { ", at another place in the code" } else { "" };
                writeln!(out, "  found     {}{elsewhere}", shown(event, seen))?
            }
            None => writeln!(out, "  found     nothing: the thread did not come so far")?,
        }
    } else if replayed.left.is_some() {
        writeln!(out, "left the schedule, though all its events came in their order")?;
    }
    match &replayed.left {
        Some(reason) => writeln!(out, "  because   {}", seen.threads().in_line(reason)),
        None => Ok(()),
    }
}

/// An expected event for people.
fn told(what: &What) -> String {
    match what {
        What::Told(op, Some(loc)) => format!("{op} at {}", below_project(loc)),
        What::Told(op, None) => op.clone(),
        What::Seen(kind, _) => ops(*kind)[0].to_string(),
    }
}

/// An event of a log for people.
fn shown(event: &Event, seen: &dyn Seen) -> String {
    shown_from(event, None, seen)
}

/// The same of an access that comes of a place of the program's own.
fn shown_from(event: &Event, own: Option<&str>, seen: &dyn Seen) -> String {
    let loc = seen.location(&event.record).map_or(String::new(), |loc| {
        let of_caller = own.filter(|own| is_of_library(&loc) && !is_of_library(own));
        let shown = below_project(&loc);
        of_caller.map_or_else(|| format!(" at {shown}"), |own| format!(" at {}, then {shown}", below_project(own)))
    });
    let value = match (event.read(), event.written()) {
        (Some(old), Some(new)) => format!(" {old}, then {new}"),
        (Some(value), None) | (None, Some(value)) => format!(" {value}"),
        (None, None) => String::new(),
    };
    format!("{}: {}{value}{loc}", seen.threads().full(&event.path), ops(event.record.kind)[0])
}
