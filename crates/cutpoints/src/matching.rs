//! Which pairs of the sets fit together: WW with R, AA with W, of different threads, with compatible locks, at once.

use crate::cut_point::{CutPoint, Then};
use crate::future::Futures;
use crate::locks::{LockStates, Taken};
use crate::scan::{Kind, Pair, PairKey, Point, PointKey, Site, Summary};
use foretrace_index::MustHappenBefore;
use foretrace_trace::{Blocks, EventId, ThreadId, Trace, Triple, VarId};
use rustc_hash::FxHashMap;

/// What makes two cut-points one for people and for tests: their order is also that of the results.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Class {
    var: VarId,
    threads: [ThreadId; 2],
    sites: [Site; 3],
    block: u32,
}

/// The trace, its blocks, and the orders that always hold.
type Known<'a> = (&'a Trace, &'a Blocks, &'a MustHappenBefore);

/// All cut-points, one for each class and pair of lock states, those of a class beside each other.
///
/// Two accesses at the same places of the source but with other locks are other cut-points of the same class. Stops when `go_on`
/// says no, with what was found until then and false.
pub(crate) fn match_all(
    known: &Known<'_>,
    states: &mut LockStates,
    futures: &Futures,
    summary: &Summary,
    go_on: &dyn Fn() -> bool,
) -> (Vec<CutPoint>, bool) {
    let pairs = sorted(&summary.pairs);
    let points = sorted(&summary.points);
    let mut matcher = Matcher { known, states, futures, found: FxHashMap::default() };
    let mut start = 0;
    let mut is_whole = true;
    for own in points.chunk_by(|(one, _), (other, _)| one.var == other.var) {
        let var = own[0].0.var;
        start += pairs[start..].partition_point(|(pair, _)| pair.var < var);
        let end = start + pairs[start..].partition_point(|(pair, _)| pair.var == var);
        for pair in &pairs[start..end] {
            own.iter().for_each(|point| matcher.try_both(*pair, *point));
        }
        start = end;
        if !go_on() {
            is_whole = false;
            break;
        }
    }
    (matcher.finish(), is_whole)
}

fn sorted<K: Copy + Ord, V>(all: &FxHashMap<K, Vec<V>>) -> Vec<(K, &[V])> {
    let mut all: Vec<(K, &[V])> = all.iter().map(|(key, kept)| (*key, &kept[..])).collect();
    all.sort_unstable_by_key(|(key, _)| *key);
    all
}

struct Matcher<'a> {
    known: &'a Known<'a>,
    states: &'a mut LockStates,
    futures: &'a Futures,
    found: FxHashMap<(Class, [u32; 2]), CutPoint>,
}

impl Matcher<'_> {
    fn try_both(&mut self, (pair, pairs): (PairKey, &[Pair]), (point, points): (PointKey, &[Point])) {
        if pair.thread == point.thread
            || !fits(pair.first.kind, point.site.kind, pair.second.kind)
            || !self.states.compatible(pair.state, point.state)
        {
            return;
        }
        let Some((chosen, remote)) = at_once(self.known.2, pair.thread, pairs, points) else { return };
        let is_shut = self.futures.is_shut(pair.future, self.states.get(point.ahead));
        let then = if is_shut { Then::LockedOut } else { Then::Second };
        let class = Class {
            var: pair.var,
            threads: [pair.thread, point.thread],
            sites: [pair.first, point.site, pair.second],
            block: pair.block,
        };
        let triple = Triple { first: chosen.first, remote, second: chosen.second };
        let held = [pair.state, point.state].map(|state| self.states.get(state).locks());
        let Some(new) = self.cut_point(triple, chosen.stop, held, then) else { return };
        let known = self.found.entry((class, [pair.state, point.state])).or_insert_with(|| new.clone());
        if (new.then, new.triple) < (known.then, known.triple) {
            *known = new;
        }
    }

    fn cut_point(&self, triple: Triple, stop: EventId, held: [Vec<Taken>; 2], then: Then) -> Option<CutPoint> {
        let (trace, blocks, _) = self.known;
        let pattern = triple.patterns(trace).next()?;
        let thread = trace.event(triple.first).thread;
        let block = blocks.innermost(thread, triple.first, triple.second)?;
        let var = trace.event(triple.first).op.var()?;
        let remote = trace.event(triple.remote).thread;
        Some(CutPoint { triple, pattern, stop, var, threads: [thread, remote], held, block, then, class: 0 })
    }

    /// In order: tight blocks first; the cut-points of a class together, those that reach second with the fewest locks first.
    fn finish(self) -> Vec<CutPoint> {
        let locks = |state: u32| self.states.get(state).0.len();
        let mut all: Vec<_> = self.found.into_iter().collect();
        all.sort_unstable_by_key(|((class, states), point)| {
            (*class, point.then, states.map(locks), point.triple, *states)
        });
        let mut classes: Vec<Vec<CutPoint>> = Vec::new();
        for group in all.chunk_by(|((one, _), _), ((other, _), _)| one == other) {
            classes.push(group.iter().map(|(_, point)| point.clone()).collect());
        }
        let height = |point: &CutPoint| self.known.1.all()[point.block].height;
        classes.sort_by_key(|class| (class[0].then, height(&class[0]), class[0].triple));
        let number = |(number, class): (usize, Vec<CutPoint>)| {
            class.into_iter().map(move |point| CutPoint { class: number as u32, ..point })
        };
        classes.into_iter().enumerate().flat_map(number).collect()
    }
}

/// Whether three kinds of accesses make a pattern.
fn fits(first: Kind, remote: Kind, second: Kind) -> bool {
    let writes = |kind| kind != Kind::Read;
    writes(remote) || writes(first) && writes(second)
}

/// A pair and an access that can happen in the middle of it, as far as orders are concerned that always hold.
///
/// Both lists are in their threads' order, and so are the orders between them: one walk over both finds a pair if there is one.
fn at_once(clocks: &MustHappenBefore, thread: ThreadId, pairs: &[Pair], points: &[Point]) -> Option<(Pair, EventId)> {
    let mut rest = points.iter().peekable();
    for pair in pairs {
        while rest.next_if(|point| clocks.before(point.event, pair.stop)).is_some() {}
        let point = rest.peek()?;
        if clocks.seen(point.event, thread.index()) <= clocks.seen(pair.stop, thread.index()) + 1 {
            return Some((*pair, point.event));
        }
    }
    None
}
