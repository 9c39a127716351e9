//! Writes that are no literals and whose value is known: it is computed from reads that conditions leave one value.
//!
//! The index of an append to an array is an example. The recorder pins it, so `count` after `a[count++] = v` is known, too. That
//! orders all appends, and each read of `count` that decides whether an element is read.
//!
//! A condition may stand behind the write, as that of a pin does: it pins an address after `count++`. In a prefix that ends between
//! the two, the value is open. A reader in another critical section of the same lock sees no such prefix.
//!
//! A read finds what its thread read or wrote last, if one critical section holds both accesses and each write of another thread is in a section of
//! the same lock, or comes before or after both. So `a[count] = v; count++` is known, too, where `count` is read twice.

use super::regions::{RegionsByThread, region_around};
use foretrace_index::{MustHappenBefore, Region, TraceIndex};
use foretrace_trace::{EventId, Func, Local, Node, Op, SyncId, TermId, Trace, Value, VarId};
use rustc_hash::FxHashMap;

/// Locks held from a write to its condition that are looked at.
const MOST_REGIONS: usize = 4;
/// Writes of a variable outside of a lock's sections that are looked at.
const MOST_OUTSIDE: usize = 16;
/// Parts of a term that is evaluated.
const MOST_PARTS: u32 = 64;

/// Reads that a condition leaves one value: this value, and the condition's event.
pub(super) type SingleValues = FxHashMap<EventId, Known>;

/// A value, and the event in whose presence it is this one: of the same thread, perhaps a later one.
#[derive(Clone, Debug)]
pub(super) struct Known {
    pub value: Value,
    pub by: EventId,
}

/// The known values of one rule for reads.
#[derive(Debug, Default)]
pub(super) struct KnownWrites {
    writes: FxHashMap<EventId, KnownWrite>,
}

#[derive(Debug)]
struct KnownWrite {
    known: Known,
    /// Critical sections that hold both the write and the condition, where the condition comes after the write.
    regions: Vec<Region>,
}

impl KnownWrites {
    /// The writes of a trace that compute with `single` values alone. Literals are left out.
    pub fn new(
        trace: &Trace,
        trace_index: &TraceIndex,
        regions: &RegionsByThread,
        single: &SingleValues,
        clocks: &MustHappenBefore,
    ) -> KnownWrites {
        let mut writes = FxHashMap::default();
        let mut undisturbed = Undisturbed { trace, trace_index, regions, clocks, outside: FxHashMap::default() };
        for (thread, own) in trace_index.threads.iter().enumerate() {
            let mut names: FxHashMap<EventId, Known> = FxHashMap::default();
            let mut held = Held::new(regions, thread);
            // The last access of each variable, where its value is known.
            let mut last: FxHashMap<VarId, (EventId, Known)> = FxHashMap::default();
            for id in own {
                if let Some(known) = single.get(id) {
                    names.insert(*id, known.clone());
                }
                let op = &trace.event(*id).op;
                let before = op.var().and_then(|var| Some((var, last.remove(&var)?)));
                if let (Op::Read { guard: None, .. }, Some((var, (before, known)))) = (op, before)
                    && !names.contains_key(id)
                    && held.around(*id).iter().any(|region| undisturbed.between(region, var, before, *id))
                {
                    names.insert(*id, known);
                }
                let mut known = names.get(id).cloned().filter(|_| op.reads() && !op.writes());
                match op {
                    Op::Let { expr, .. } => {
                        if let Some(known) = value_of(trace, *expr, &names) {
                            names.insert(*id, known);
                        }
                    }
                    Op::Write { expr: Some(term), .. } | Op::Rmw { expr: Some(term), .. } => {
                        if let Some(written) = value_of(trace, *term, &names) {
                            let regions = held.throughout(*id, written.by);
                            known = Some(written.clone());
                            writes.insert(*id, KnownWrite { known: written, regions });
                        } else {
                            known = trace.terms.as_const(*term).map(|value| Known { value: value.clone(), by: *id });
                        }
                    }
                    _ => {}
                }
                if let (Some(var), Some(known), None) = (op.var(), known, op.condition()) {
                    last.insert(var, (*id, known));
                }
            }
        }
        KnownWrites { writes }
    }

    /// The value that `read` returns in every prefix in which it reads from `write`. With it comes an event of the writer that then comes
    /// before the read: the write itself or a later one.
    pub fn read_from(
        &self,
        trace: &Trace,
        regions: &RegionsByThread,
        write: EventId,
        read: EventId,
    ) -> Option<(&Value, EventId)> {
        let KnownWrite { known, regions: around } = self.writes.get(&write)?;
        let (writer, reader) = (trace.event(write).thread, trace.event(read).thread);
        if known.by <= write || writer == reader && known.by <= read {
            return Some((&known.value, write));
        }
        let closed = around.iter().find(|region| {
            let of_reader = regions[region.lock.index()].get(reader.index());
            of_reader.and_then(|own| region_around(own, read)).is_some_and(|other| other.excludes(region))
        })?;
        Some((&known.value, closed.end.unwrap_or(known.by)))
    }
}

/// Whether other threads leave a variable alone for a while.
struct Undisturbed<'a> {
    trace: &'a Trace,
    trace_index: &'a TraceIndex,
    regions: &'a RegionsByThread,
    clocks: &'a MustHappenBefore,
    /// The writes of a variable that no section of a lock holds alone; nothing if they are too many.
    outside: FxHashMap<(VarId, SyncId), Option<Vec<EventId>>>,
}

impl Undisturbed<'_> {
    /// Whether no other thread writes the variable between two accesses of one thread, if this section holds both.
    fn between(&mut self, region: &Region, var: VarId, from: EventId, to: EventId) -> bool {
        let (trace, clocks) = (self.trace, self.clocks);
        let comes_between = |write: &EventId| {
            trace.event(*write).thread != region.thread && !clocks.before(*write, from) && !clocks.before(to, *write)
        };
        region.start < from && self.outside(var, region.lock).is_some_and(|outside| !outside.iter().any(comes_between))
    }

    fn outside(&mut self, var: VarId, lock: SyncId) -> Option<&[EventId]> {
        let (trace, trace_index, regions) = (self.trace, self.trace_index, self.regions);
        let found = self.outside.entry((var, lock)).or_insert_with(|| {
            let is_outside = |write: &EventId| {
                let own = regions[lock.index()].get(trace.event(*write).thread.index());
                own.and_then(|own| region_around(own, *write)).is_none_or(|region| region.shared)
            };
            let writes = trace_index.writes[var.index()].iter().copied();
            let outside: Vec<EventId> = writes.filter(is_outside).take(MOST_OUTSIDE + 1).collect();
            (outside.len() <= MOST_OUTSIDE).then_some(outside)
        });
        found.as_deref()
    }
}

/// The value of a term over names that all have one, which are at least one.
fn value_of(trace: &Trace, term: TermId, names: &FxHashMap<EventId, Known>) -> Option<Known> {
    if names.is_empty() {
        return None;
    }
    let value = evaluate(trace, term, &|definition| Some(&names.get(&definition)?.value))?;
    let leaves = trace.terms.leaves(term);
    let by = leaves.iter().map(|local| names[&local.definition].by).max()?;
    Some(Known { value, by })
}

/// The value of a term of few parts over definitions that all have one.
pub(super) fn evaluate<'v>(trace: &Trace, term: TermId, known: &dyn Fn(EventId) -> Option<&'v Value>) -> Option<Value> {
    let is_small = trace.terms.size(term) <= MOST_PARTS;
    if !is_small || trace.terms.leaves(term).iter().any(|local| known(local.definition).is_none()) {
        return None;
    }
    let value = |local: &Local| known(local.definition).cloned().unwrap_or_else(|| Value::zero(local.sort));
    Some(trace.terms.evaluate(term, &mut { value }))
}

/// The critical sections of one thread, in the order of their starts, and those that may still be open.
struct Held {
    to_come: std::iter::Peekable<std::vec::IntoIter<Region>>,
    open: Vec<Region>,
}

impl Held {
    fn new(regions: &RegionsByThread, thread: usize) -> Held {
        let mut own: Vec<Region> =
            regions.iter().filter_map(|by_thread| by_thread.get(thread)).flatten().copied().collect();
        own.sort_unstable_by_key(|region| region.start);
        Held { to_come: own.into_iter().peekable(), open: Vec::new() }
    }

    /// Those that hold an event. Events are asked about in their order.
    fn around(&mut self, event: EventId) -> &[Region] {
        while let Some(region) = self.to_come.next_if(|region| region.start <= event) {
            self.open.push(region);
        }
        self.open.retain(|region| region.end.is_none_or(|end| event <= end));
        &self.open
    }

    /// Those that hold both a write and a condition behind it.
    fn throughout(&mut self, write: EventId, condition: EventId) -> Vec<Region> {
        let around = self.around(write);
        if condition <= write {
            return Vec::new();
        }
        let both = around.iter().filter(|region| region.end.is_none_or(|end| condition <= end));
        both.take(MOST_REGIONS).copied().collect()
    }
}

/// The value that a condition over one read alone leaves this read, where it is an equation with a literal.
pub(super) fn single_value(trace: &Trace, condition: TermId, read: EventId) -> Option<&Value> {
    let Node::App(Func::Eq, _) = trace.terms.node(condition) else { return None };
    let [left, right] = trace.terms.args(condition) else { return None };
    let is_read = |term: &TermId| matches!(trace.terms.node(*term), Node::Leaf(local) if local.definition == read);
    match (is_read(left), is_read(right)) {
        (true, false) => trace.terms.as_const(*right),
        (false, true) => trace.terms.as_const(*left),
        _ => None,
    }
}
