//! A call on a pipe, event counter or queue makes several events in one step of the program: a `depart` after earlier calls, a `post` or
//! `down` for what it writes or takes, an `arrive` before later calls. A schedule of a trace may put another thread's event in between,
//! which the program cannot do.
//!
//! This module puts each such call in one place. The schedule stays possible: a `depart` may come later and an `arrive` sooner, since no
//! thread waits for them there, and a `post` may come sooner and a `down` later. Events of other threads keep their order.

use foretrace_report::SavedStep;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// The steps of a schedule, each call in one place.
pub fn whole(steps: &[SavedStep]) -> Vec<SavedStep> {
    let mut of_thread: FxHashMap<&str, Vec<usize>> = FxHashMap::default();
    for (index, step) in steps.iter().enumerate() {
        of_thread.entry(step.path.as_deref().unwrap_or_default()).or_default().push(index);
    }
    let mut places: Vec<usize> = (0..steps.len()).collect();
    for indices in of_thread.values() {
        let thread: Vec<&SavedStep> = indices.iter().map(|index| &steps[*index]).collect();
        let mut from = 0;
        while from < thread.len() {
            let call = call_at(&thread, from);
            if let Some(place) = place_of(&thread[call.clone()]) {
                let place = indices[call.start + place];
                indices[call.clone()].iter().for_each(|index| places[*index] = place);
            }
            from = call.end.max(from + 1);
        }
    }
    let mut order: Vec<usize> = (0..steps.len()).collect();
    order.sort_by_key(|index| places[*index]); // a stable sort: a call's own events stay as they are
    order.into_iter().map(|index| steps[index].clone()).collect()
}

/// Positions of two events of one call are so far apart at most: some of its records are no events.
const APART: u64 = 3;

/// The events of a thread that one call from this one on makes; none if it is no such call. A call that waits for several descriptors puts
/// back what it takes for each, and takes for all of them at one time.
fn call_at(thread: &[&SavedStep], from: usize) -> Range<usize> {
    let mut all = part_at(thread, from);
    let mut last = all.clone();
    while puts_back(&thread[last.clone()]) {
        let next = part_at(thread, last.end);
        if !puts_back(&thread[next.clone()]) || !follows(thread, next.start) {
            break;
        }
        all.end = next.end;
        last = next;
    }
    all
}

/// Whether events take from semaphores, and put as much back at once.
fn puts_back(part: &[&SavedStep]) -> bool {
    let (downs, posts) = part.split_at(part.len() / 2);
    let all = |steps: &[&SavedStep], op: &str| steps.iter().all(|step| step.op == op);
    !part.is_empty() && downs.len() == posts.len() && all(downs, "down") && all(posts, "post")
}

/// Whether an event may be of the same call as the one before.
fn follows(thread: &[&SavedStep], index: usize) -> bool {
    let (before, step) = (thread[index - 1], thread[index]);
    before.loc == step.loc && step.at.zip(before.at).is_some_and(|(at, before)| at.saturating_sub(before) <= APART)
}

/// The events of a call from this one on that are about one descriptor.
fn part_at(thread: &[&SavedStep], from: usize) -> Range<usize> {
    let is = |index: usize, op: &str| thread.get(index).is_some_and(|step| step.op == op);
    let mut end = from;
    for op in ["depart", "down", "post", "arrive"] {
        while is(end, op) && (end == from || follows(thread, end)) {
            end += 1;
        }
    }
    from..end
}

/// Which event of a call all of it moves to: the last `down`, else the first `post`. What is sent by a socket has neither, and arrives for
/// those who send after it and for those who receive: it moves to the first `arrive`.
fn place_of(call: &[&SavedStep]) -> Option<usize> {
    let last_down = call.iter().rposition(|step| step.op == "down");
    let first = |op| call.iter().position(|step| step.op == op);
    let arrives = call.iter().filter(|step| step.op == "arrive").count();
    last_down.or_else(|| first("post")).or_else(|| first("arrive").filter(|_| arrives > 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A schedule of `thread op at`.
    fn schedule(text: &str) -> Vec<SavedStep> {
        let step = |(index, line): (usize, &str)| {
            let words: Vec<&str> = line.split(' ').collect();
            let (path, op) = (Some(words[0].to_string()), words[1].to_string());
            let event = foretrace_trace::EventId::from_index(index);
            SavedStep { event, path, at: words[2].parse().ok(), op, var: None, loc: None }
        };
        text.split(", ").enumerate().map(step).collect()
    }

    fn moved(text: &str) -> String {
        let step = |step: SavedStep| format!("{} {} {}", step.path.unwrap(), step.op, step.at.unwrap());
        whole(&schedule(text)).into_iter().map(step).collect::<Vec<String>>().join(", ")
    }

    #[test]
    fn a_write_comes_where_it_posts() {
        let split = "0 depart 4, 1 read 7, 0 post 5, 1 down 8, 0 arrive 6, 0 read 7";
        assert_eq!(moved(split), "1 read 7, 0 depart 4, 0 post 5, 0 arrive 6, 1 down 8, 0 read 7");
    }

    #[test]
    fn a_read_comes_where_it_takes_the_last() {
        let split = "0 down 5, 1 post 8, 0 down 6, 1 read 9, 0 arrive 7";
        assert_eq!(moved(split), "1 post 8, 0 down 5, 0 down 6, 0 arrive 7, 1 read 9");
    }

    #[test]
    fn a_call_that_saw_something_puts_it_back_at_once() {
        assert_eq!(moved("0 down 5, 1 down 8, 0 post 6, 1 arrive 9"), "0 down 5, 0 post 6, 1 down 8, 1 arrive 9");
        let sent = "0 depart 4, 1 read 7, 0 arrive 5, 1 depart 8, 0 arrive 6";
        assert_eq!(moved(sent), "1 read 7, 0 depart 4, 0 arrive 5, 0 arrive 6, 1 depart 8");
    }

    #[test]
    fn a_call_that_saw_two_comes_where_it_saw_the_last() {
        let split =
            "0 down 5, 0 post 6, 1 post 8, 0 down 7, 0 down 8, 0 post 9, 0 post 10, 1 read 9, 0 down 11, 0 arrive 12";
        let whole =
            "1 post 8, 0 down 5, 0 post 6, 0 down 7, 0 down 8, 0 post 9, 0 post 10, 1 read 9, 0 down 11, 0 arrive 12";
        assert_eq!(moved(split), whole);
    }

    #[test]
    fn other_events_and_other_calls_stay() {
        for text in
            ["0 arrive 4, 1 read 7, 0 depart 5", "0 depart 4, 1 read 7, 0 arrive 5", "0 post 4, 1 down 7, 0 arrive 9"]
        {
            assert_eq!(moved(text), text);
        }
    }
}
