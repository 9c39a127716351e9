//! Every interleaving within a bound on context switches (M. Musuvathi and S. Qadeer, "Iterative context bounding for
//! systematic testing of multithreaded programs", PLDI 2007; all switches count here, not only preemptions).
//!
//! Partial-order reduction would lose interleavings: the one that it keeps of a class may need more switches than another. Here
//! states are remembered instead, with the switches that were left when they were reached.

use crate::explorer::{Ended, Tally};
use crate::system::{Next, System};
use rustc_hash::FxHashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::ControlFlow;

/// A system whose states can be told apart.
pub trait Fingerprint: System {
    /// A number that differs where states differ in what can follow; 128 bits, so that no two will be taken for one.
    fn fingerprint(&self) -> u128;

    /// Whether context switches count from here on.
    fn counts(&self) -> bool {
        true
    }
}

/// 128 bits of what a system hashes of its state, for [`Fingerprint::fingerprint`].
pub fn fingerprint_of(state: impl Fn(&mut DefaultHasher)) -> u128 {
    let half = |salt: u64| {
        let mut hasher = DefaultHasher::new();
        salt.hash(&mut hasher);
        state(&mut hasher);
        u128::from(hasher.finish())
    };
    half(0x9E37_79B9_7F4A_7C15) << 64 | half(0xD1B5_4A32_D192_ED03)
}

/// Takes each end: the state, and the threads and choices that led there.
pub type AtEnd<'f, S> = dyn FnMut(&S, &[(usize, usize)]) -> ControlFlow<()> + 'f;

/// A state that is still to be explored.
struct Open<S> {
    system: S,
    last: Option<usize>,
    left: u32,
    /// The step that led to it, among all.
    by: Option<u32>,
}

/// Explores every interleaving from `start` with at most `switches` changes from one thread to another where they count. `at_end` sees each end
/// with the threads and choices that led there.
pub fn bounded<S: Fingerprint>(
    start: &S,
    switches: u32,
    go_on: &mut dyn FnMut(&Tally) -> bool,
    at_end: &mut AtEnd<'_, S>,
) -> (Tally, Ended) {
    let mut tally = Tally::default();
    let mut seen: FxHashMap<(u128, Option<usize>), u32> = FxHashMap::default();
    let mut steps: Vec<(Option<u32>, usize, usize)> = Vec::new();
    let mut open = vec![Open { system: start.clone(), last: None, left: switches, by: None }];
    while let Some(state) = open.pop() {
        if !go_on(&tally) {
            return (tally, Ended::Limit);
        }
        // Where no switch counts, it does not matter who went last.
        let key = (state.system.fingerprint(), state.last.filter(|_| state.system.counts()));
        if seen.get(&key).is_some_and(|left| *left >= state.left) {
            tally.redundant += 1;
            continue;
        }
        seen.insert(key, state.left);
        let found = state.system.found();
        let threads = (0..state.system.threads()).filter(|_| !found);
        let ready = threads.filter_map(|thread| match state.system.next(thread) {
            Next::Ready(action) => Some((thread, action.choices)),
            _ => None,
        });
        // The one on top of the stack is explored first: staying with the thread.
        let mut able: Vec<(usize, usize)> = ready.collect();
        able.sort_by_key(|(thread, _)| Some(*thread) == state.last);
        let before = open.len();
        for (thread, choices) in able {
            let switch = u32::from(state.system.counts() && state.last.is_some_and(|last| last != thread));
            let Some(left) = state.left.checked_sub(switch) else {
                tally.cut += 1;
                continue;
            };
            for choice in 0..choices {
                let mut system = state.system.clone();
                system.step(thread, choice);
                tally.steps += 1;
                steps.push((state.by, thread, choice));
                open.push(Open { system, last: Some(thread), left, by: Some(steps.len() as u32 - 1) });
            }
        }
        if open.len() == before {
            tally.executions += 1;
            if at_end(&state.system, &path(&steps, state.by)).is_break() {
                return (tally, Ended::Stopped);
            }
        }
    }
    (tally, Ended::Complete)
}

/// The steps that led to one.
fn path(steps: &[(Option<u32>, usize, usize)], last: Option<u32>) -> Vec<(usize, usize)> {
    let back = std::iter::successors(last, |step| steps[*step as usize].0);
    let mut path: Vec<(usize, usize)> = back.map(|step| (steps[step as usize].1, steps[step as usize].2)).collect();
    path.reverse();
    path
}
