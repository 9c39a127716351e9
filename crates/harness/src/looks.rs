//! Whether the clocks of a replay may say exactly what they said in the recording, though the threads come in another order.
//!
//! Time must not go back for a thread: not after a moment that it can know of, its own or that of another thread which came before it by
//! memory or synchronisation. Threads that looked at clocks at the same time know nothing of one another, and either may come first. So the
//! recorded moments fit an order in which each look knows of no other that it did not come after in the recording. A witness numbers its
//! events in the order of the recording.

use super::verify::has_record;
use foretrace_report::SavedStep;
use rustc_hash::FxHashMap;

/// What a mark beside a look at a clock is in a schedule.
const LOOK: &str = "unseen";

/// Whether each look in the schedule may give what it gave.
pub(super) fn give_the_same(steps: &[SavedStep]) -> bool {
    let mut places: FxHashMap<&str, usize> = FxHashMap::default();
    for step in steps.iter().filter(|step| step.op == LOOK) {
        let next = places.len();
        places.entry(path(step)).or_insert(next);
    }
    if places.len() < 2 {
        return true;
    }
    let mut recorded: Vec<&SavedStep> = steps.iter().collect();
    recorded.sort_by_key(|step| step.event);
    // In the recording all that came before a record was over. In another order only what comes before it by some object counts.
    let before = known(recorded.into_iter(), &places, |_| Object::Any);
    let now = known(steps.iter(), &places, Object::of_step);
    now.iter().all(|(event, now)| now.iter().zip(&before[event]).all(|(now, before)| now <= before))
}

fn path(step: &SavedStep) -> &str {
    step.path.as_deref().unwrap_or_default()
}

/// By what one event comes before another: both are of the same object, and not both read it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Object<'a> {
    Variable(&'a str),
    /// Synchronisation: all of it, since the schedule does not name its objects.
    Any,
}

impl Object<'_> {
    fn of_step(step: &SavedStep) -> Object<'_> {
        step.var.as_deref().map_or(Object::Any, Object::Variable)
    }
}

/// How many looks of each thread that looks are known.
type Looks = Vec<u32>;

fn join(to: &mut Looks, from: &Looks) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to = (*to).max(*from));
}

/// Per look, the looks of each thread that it comes after.
fn known<'a>(
    steps: impl Iterator<Item = &'a SavedStep>,
    places: &FxHashMap<&str, usize>,
    object: impl Fn(&'a SavedStep) -> Object<'a>,
) -> FxHashMap<foretrace_trace::EventId, Looks> {
    let none: Looks = vec![0; places.len()];
    let mut threads: FxHashMap<&str, Looks> = FxHashMap::default();
    // Per thread, what was known at each start of another one.
    let mut starts: FxHashMap<&str, Vec<Looks>> = FxHashMap::default();
    // What is known by who wrote an object, and by who read or wrote it.
    let mut objects: FxHashMap<Object, [Looks; 2]> = FxHashMap::default();
    let mut found = FxHashMap::default();
    for step in steps {
        let started = || {
            let (parent, number) = path(step).rsplit_once('.')?;
            starts.get(parent)?.get(number.parse::<usize>().ok()?.checked_sub(1)?).cloned()
        };
        let thread = threads.entry(path(step)).or_insert_with(|| started().unwrap_or_else(|| none.clone()));
        if step.op == LOOK {
            thread[places[path(step)]] += 1;
            found.insert(step.event, thread.clone());
        } else if has_record(&step.op) {
            let [written, used] = objects.entry(object(step)).or_insert_with(|| [none.clone(), none.clone()]);
            let reads = step.op == "read" && object(step) != Object::Any;
            join(thread, if reads { written } else { used });
            join(used, thread);
            if !reads {
                join(written, thread);
            }
            if step.op == "fork" {
                starts.entry(path(step)).or_default().push(thread.clone());
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use foretrace_trace::EventId;

    /// A schedule of `number-in-the-recording thread op variable`.
    fn same(text: &str) -> bool {
        let step = |line: &str| {
            let words: Vec<&str> = line.split(' ').collect();
            let event = EventId::from_index(words[0].parse().unwrap());
            let var = words.get(3).map(ToString::to_string);
            SavedStep { event, path: Some(words[1].into()), at: Some(1), op: words[2].into(), var, loc: None }
        };
        give_the_same(&text.split(", ").map(step).collect::<Vec<SavedStep>>())
    }

    #[test]
    fn looks_at_once_give_the_same_in_any_order() {
        assert!(same("0 a unseen, 1 b unseen, 2 a write x, 3 b write y"));
        assert!(same("1 b unseen, 3 b write y, 0 a unseen, 2 a write x"), "they share nothing");
        assert!(same("1 b unseen, 3 b read x, 0 a unseen, 2 a read x"), "they only read");
        assert!(same("0 a unseen, 2 a write x, 5 a unseen"), "one thread alone");
        assert!(
            same("0 a fork, 1 a fork, 4 a.2 unseen, 5 a.2 release, 2 a.1 unseen, 3 a.1 write x"),
            "one that starts later"
        );
    }

    #[test]
    fn a_look_that_comes_after_another_now_gives_another_moment() {
        assert!(!same("2 b unseen, 3 b write x, 0 a write x, 1 a unseen"));
        assert!(!same("2 b unseen, 3 b release, 0 a acquire, 1 a unseen"));
        assert!(!same("1 a unseen, 0 a fork, 2 a.1 unseen, 3 a.1 write x"), "by the thread's start");
        assert!(
            !same("2 b write y, 4 b unseen, 5 b write x, 0 c read x, 1 c write z, 2 a read z, 3 a unseen"),
            "by a third"
        );
    }

    #[test]
    fn a_look_that_came_after_another_may_come_after_it() {
        assert!(same("0 a unseen, 1 a write x, 2 b write y, 3 b unseen"));
        assert!(same("0 a unseen, 1 a write x, 2 b write x, 3 b unseen"));
        assert!(!same("0 a unseen, 3 a write x, 1 b write x, 2 b unseen"), "it was at the same time");
    }
}
