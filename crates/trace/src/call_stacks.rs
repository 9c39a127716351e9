//! Through which calls a recorded program came to each event, inlined ones too. The trace's format has no room for it: a file
//! beside the trace keeps it.

use crate::ids::ThreadId;
use crate::printable::make_printable;
use indexmap::IndexSet;
use serde::{Deserialize, Serialize};

/// The calls of a run that led to events.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct CallStacks {
    /// Names of functions, and places.
    texts: Vec<Box<str>>,
    /// Each after the call that it was made in.
    calls: Vec<Call>,
    /// By thread. From a position in its log on all is done in this call, up to the next such position.
    threads: Vec<Vec<(u64, Option<u32>)>>,
}

/// A call: the one that it was made in, the function, and where it was called.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Call(Option<u32>, u32, Option<u32>);

impl CallStacks {
    /// The innermost call in which a thread did something, by the position in its log.
    pub fn at(&self, thread: ThreadId, at: u64) -> Option<u32> {
        let entries = self.threads.get(thread.index())?;
        let after = entries.partition_point(|(from, _)| *from <= at);
        entries.get(after.checked_sub(1)?)?.1
    }

    /// The call that a call was made in.
    pub fn caller(&self, call: u32) -> Option<u32> {
        self.calls.get(call as usize)?.0
    }

    /// The function that was called.
    pub fn function(&self, call: u32) -> &str {
        self.calls.get(call as usize).map_or("", |Call(_, function, _)| self.text(*function))
    }

    /// Where it was called, as events' places are written.
    pub fn called_at(&self, call: u32) -> Option<&str> {
        self.calls.get(call as usize)?.2.map(|place| self.text(place))
    }

    /// How many calls there are; their numbers are below.
    pub fn count(&self) -> u32 {
        self.calls.len() as u32
    }

    /// Puts a mark in place of each control character of all names.
    pub(crate) fn make_printable(&mut self) {
        self.texts.iter_mut().for_each(make_printable);
    }

    /// A call and those that it was made in, innermost first.
    pub fn outwards(&self, call: u32) -> impl Iterator<Item = u32> {
        std::iter::successors(Some(call), |call| self.caller(*call))
    }

    /// Whether each number in it stands for something; files may hold anything.
    pub fn is_sound(&self) -> bool {
        let is_text = |text: &u32| (*text as usize) < self.texts.len();
        let fits = |(number, Call(caller, function, place)): (usize, &Call)| {
            caller.is_none_or(|caller| (caller as usize) < number)
                && is_text(function)
                && place.as_ref().is_none_or(is_text)
        };
        let is_call = |call: &Option<u32>| call.is_none_or(|call| (call as usize) < self.calls.len());
        self.calls.iter().enumerate().all(fits)
            && self.threads.iter().all(|entries| {
                entries.iter().all(|(_, call)| is_call(call)) && entries.is_sorted_by(|one, other| one.0 < other.0)
            })
    }

    fn text(&self, text: u32) -> &str {
        self.texts.get(text as usize).map_or("", |text| text)
    }
}

/// Call stacks in the making.
#[derive(Default)]
pub struct CallStacksBuilder {
    texts: IndexSet<Box<str>>,
    calls: Vec<Call>,
    threads: Vec<Noted>,
}

/// What was noted of a thread.
#[derive(Clone, Default)]
struct Noted {
    entries: Vec<(u64, Option<u32>)>,
    /// The last position.
    last: Option<u64>,
}

impl CallStacksBuilder {
    /// A function is called; the number of the call.
    pub fn call(&mut self, caller: Option<u32>, function: &str, called_at: Option<&str>) -> u32 {
        let function = self.text(function);
        let place = called_at.map(|place| self.text(place));
        self.calls.push(Call(caller, function, place));
        self.calls.len() as u32 - 1
    }

    fn text(&mut self, text: &str) -> u32 {
        let known = self.texts.get_index_of(text);
        known.unwrap_or_else(|| self.texts.insert_full(text.into()).0) as u32
    }

    /// What a thread does at a position in its log is done in this call. Positions come in order.
    pub fn note(&mut self, thread: ThreadId, at: u64, call: Option<u32>) {
        let thread = thread.index();
        if self.threads.len() <= thread {
            self.threads.resize(thread + 1, Noted::default());
        }
        let Noted { entries, last } = &mut self.threads[thread];
        if last.is_some_and(|last| at < last) {
            return; // the second half of a step that has two
        }
        let is_same_position = last.replace(at) == Some(at);
        match entries.last_mut() {
            Some((_, known)) if *known == call => {}
            // Two calls at one position: which one an event there is in is not known.
            Some((from, known)) if is_same_position && *from == at => *known = None,
            Some(_) if is_same_position => entries.push((at, None)),
            _ => entries.push((at, call)),
        }
    }

    /// All that was noted.
    pub fn finish(self) -> CallStacks {
        let threads = self.threads.into_iter().map(|noted| noted.entries).collect();
        CallStacks { texts: self.texts.into_iter().collect(), calls: self.calls, threads }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const THREAD: ThreadId = ThreadId(1);

    #[test]
    fn events_are_in_the_call_that_was_noted_last() {
        let mut made = CallStacksBuilder::default();
        let work = made.call(None, "work", None);
        let add = made.call(Some(work), "add", Some("bank.c:7:3"));
        [(2, work), (3, add), (4, add), (6, work)].into_iter().for_each(|(at, call)| made.note(THREAD, at, Some(call)));
        let stacks = made.finish();
        let found: Vec<Option<u32>> = (1..8).map(|at| stacks.at(THREAD, at)).collect();
        assert_eq!(found, [None, Some(work), Some(add), Some(add), Some(add), Some(work), Some(work)]);
        assert_eq!(stacks.at(ThreadId(0), 3), None);
        assert_eq!(stacks.at(ThreadId(2), 3), None);
        assert_eq!(stacks.outwards(add).collect::<Vec<u32>>(), [add, work]);
        assert_eq!((stacks.function(add), stacks.called_at(add)), ("add", Some("bank.c:7:3")));
        assert!(stacks.is_sound());
    }

    #[test]
    fn of_two_calls_at_one_position_none_is_known() {
        let mut made = CallStacksBuilder::default();
        let work = made.call(None, "work", None);
        let add = made.call(Some(work), "add", None);
        [(2, work), (3, work), (3, add), (3, add), (4, add)]
            .into_iter()
            .for_each(|(at, call)| made.note(THREAD, at, Some(call)));
        let stacks = made.finish();
        assert_eq!([2, 3, 4].map(|at| stacks.at(THREAD, at)), [Some(work), None, Some(add)]);
    }

    #[test]
    fn files_with_numbers_of_nothing_are_refused() {
        let read = |text: &str| serde_json::from_str::<CallStacks>(text).expect("as such files are written").is_sound();
        for (text, is_sound) in [
            (r#"{"texts":["f"],"calls":[[null,0,null],[0,0,null]],"threads":[[[3,1],[4,null]]]}"#, true),
            (r#"{"texts":["f"],"calls":[[1,0,null],[0,0,null]],"threads":[]}"#, false), // a circle
            (r#"{"texts":["f"],"calls":[[null,1,null]],"threads":[]}"#, false),
            (r#"{"texts":["f"],"calls":[[null,0,1]],"threads":[]}"#, false),
            (r#"{"texts":["f"],"calls":[[null,0,null]],"threads":[[[3,1]]]}"#, false),
            (r#"{"texts":["f"],"calls":[[null,0,null]],"threads":[[[4,0],[3,0]]]}"#, false),
        ] {
            assert_eq!(read(text), is_sound, "{text}");
        }
    }
}
