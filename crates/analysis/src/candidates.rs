//! Candidate triples, one at a time: a real trace has up to 10⁹ of them, so that none is ever held.

use crate::blocks::NamedBlocks;
use crate::options::CandidateSet;
use foretrace_index::TraceIndex;
use foretrace_trace::{EventId, NameId, Op, ThreadId, Trace, Transaction, Triple, VarId};
use rustc_hash::FxHashMap;

/// Where candidates come from: the transactions' accesses, by variable.
///
/// The order is that of the transactions, then of each one's variables by first access, then of `first`, `second` and
/// `remote`.
#[derive(Debug)]
pub struct Candidates<'a> {
    trace: &'a Trace,
    trace_index: &'a TraceIndex,
    transactions: &'a [Transaction],
    /// Per variable: how many accesses, by kind, in all threads.
    totals: Vec<Kinds>,
    /// The same per thread, where there are any.
    by_thread: FxHashMap<(VarId, ThreadId), Kinds>,
}

/// Accesses that were recorded as such (not external), by what they do.
#[derive(Clone, Copy, Default, Debug)]
struct Kinds {
    write: u64,
    read_only: u64,
    read: u64,
}

impl Kinds {
    fn add(&mut self, op: &Op) {
        self.write += u64::from(op.writes());
        self.read += u64::from(op.reads());
        self.read_only += u64::from(!op.writes());
    }

    fn without(self, own: Kinds) -> Kinds {
        Kinds { write: self.write - own.write, read_only: self.read_only - own.read_only, read: self.read - own.read }
    }
}

/// The accesses of one transaction to one variable, in program order.
#[derive(Clone, Debug)]
pub struct TransactionAccesses {
    /// The transaction's thread.
    pub thread: ThreadId,
    /// The variable.
    pub var: VarId,
    /// The accesses; external writes are not among them.
    pub accesses: Vec<EventId>,
}

/// Three source locations in blocks of one name; candidates with the same ones are reported together.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Class {
    /// Where `first` is.
    pub first: AccessLocation,
    /// Where `remote` is.
    pub remote: AccessLocation,
    /// Where `second` is.
    pub second: AccessLocation,
    /// Which blocks ([`NamedBlocks::apart`]); 0 where they are not told apart.
    pub block: u32,
}

/// A source location; an event without one is a place of its own.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum AccessLocation {
    /// As the trace says.
    Loc(NameId),
    /// The event itself.
    Event(EventId),
}

impl AccessLocation {
    /// Where an event is.
    pub fn of_event(trace: &Trace, event: EventId) -> AccessLocation {
        trace.event(event).loc.map_or(AccessLocation::Event(event), AccessLocation::Loc)
    }
}

impl Class {
    /// The class of a triple, by its locations alone.
    pub fn by_locations(trace: &Trace, triple: Triple) -> Class {
        let place = |event| AccessLocation::of_event(trace, event);
        Class { first: place(triple.first), remote: place(triple.remote), second: place(triple.second), block: 0 }
    }

    /// The class of a triple, by its locations and its block.
    pub fn in_block(trace: &Trace, blocks: Option<&NamedBlocks>, triple: Triple) -> Class {
        let block = blocks.map_or(0, |blocks| blocks.apart(trace, triple));
        Class { block, ..Class::by_locations(trace, triple) }
    }

    /// Whether it has no location: then no other candidate is of this class, and it need not be remembered.
    pub fn is_one_candidate(&self) -> bool {
        [self.first, self.remote, self.second].iter().all(|place| matches!(place, AccessLocation::Event(_)))
    }
}

/// Two accesses of one transaction, in program order, with the remote accesses that they are tried with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pair {
    /// The transaction's thread.
    pub thread: ThreadId,
    /// The variable.
    pub var: VarId,
    /// The earlier access.
    pub first: EventId,
    /// The later one.
    pub second: EventId,
    /// What is tried between.
    pub remotes: Remotes,
}

/// Which remote accesses a pair of the transaction's accesses is tried with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Remotes {
    /// Those that write.
    Writes,
    /// Those that read.
    Reads,
    /// All.
    Accesses,
}

impl Remotes {
    /// Whether accesses that read or write as it is said are among them.
    pub fn include(self, reads: bool, writes: bool) -> bool {
        match self {
            Remotes::Writes => writes,
            Remotes::Reads => reads,
            Remotes::Accesses => true,
        }
    }

    fn count(self, kinds: Kinds) -> u64 {
        match self {
            Remotes::Writes => kinds.write,
            Remotes::Reads => kinds.read,
            Remotes::Accesses => kinds.write + kinds.read_only,
        }
    }
}

impl<'a> Candidates<'a> {
    /// The candidates of these transactions.
    pub fn new(trace: &'a Trace, trace_index: &'a TraceIndex, transactions: &'a [Transaction]) -> Candidates<'a> {
        let mut totals = vec![Kinds::default(); trace.vars.len()];
        let mut by_thread: FxHashMap<(VarId, ThreadId), Kinds> = FxHashMap::default();
        for event in &trace.events {
            if let Some(var) = own_access(trace, &event.op) {
                totals[var.index()].add(&event.op);
                by_thread.entry((var, event.thread)).or_default().add(&event.op);
            }
        }
        Candidates { trace, trace_index, transactions, totals, by_thread }
    }

    /// The accesses of one transaction, by variable in order of first access.
    pub fn groups(&self, transaction: &Transaction) -> Vec<TransactionAccesses> {
        let mut groups: Vec<TransactionAccesses> = Vec::new();
        let mut position: FxHashMap<VarId, usize> = FxHashMap::default();
        for event in events_of(self.trace_index, transaction) {
            let Some(var) = own_access(self.trace, &self.trace.event(*event).op) else { continue };
            let at = *position.entry(var).or_insert_with(|| {
                groups.push(TransactionAccesses { thread: transaction.thread, var, accesses: Vec::new() });
                groups.len() - 1
            });
            groups[at].accesses.push(*event);
        }
        groups
    }

    /// All candidates of a set, streamed; none comes twice.
    pub fn triples(&self, set: CandidateSet) -> impl Iterator<Item = Triple> + '_ {
        self.all_pairs(set).flat_map(|Pair { thread, var, first, second, remotes }| {
            self.remotes(thread, var, remotes).map(move |remote| Triple { first, remote, second })
        })
    }

    /// The pairs of all transactions.
    pub fn all_pairs(&self, set: CandidateSet) -> impl Iterator<Item = Pair> + '_ {
        self.transactions.iter().flat_map(move |transaction| self.pairs(transaction, set))
    }

    /// The pairs of a transaction's accesses that some remote access may come between.
    pub fn pairs(&self, transaction: &Transaction, set: CandidateSet) -> impl Iterator<Item = Pair> + '_ {
        let groups = self.groups(transaction).into_iter();
        groups
            .filter(|group| group.accesses.len() > 1 && self.remote_kinds(group).count_any() > 0)
            .flat_map(move |group| Pairs::new(self.trace, group, set))
    }

    /// How many candidates a set has, without going through them.
    pub fn count(&self, set: CandidateSet) -> u64 {
        let groups = self.transactions.iter().flat_map(|transaction| self.groups(transaction));
        groups.fold(0, |sum, group| sum.saturating_add(self.count_group(&group, set)))
    }

    fn count_group(&self, group: &TransactionAccesses, set: CandidateSet) -> u64 {
        let remote = self.remote_kinds(group);
        if set == CandidateSet::Adjacent {
            let pairs = Pairs::new(self.trace, group.clone(), set);
            return pairs.fold(0, |sum, pair| sum.saturating_add(pair.remotes.count(remote)));
        }
        let writes = group.accesses.iter().filter(|e| self.trace.event(**e).op.writes()).count() as u64;
        let pairs = |n: u64| n.saturating_mul(n.saturating_sub(1)) / 2;
        let of_writes = pairs(group.accesses.len() as u64).saturating_mul(remote.write);
        of_writes.saturating_add(pairs(writes).saturating_mul(remote.read_only))
    }

    /// The triples of `all` around the same remote access, transaction and variable that are not of `adjacent`.
    ///
    /// Under guarded independence a pair of neighbours can be independent where a wider one is not.
    pub fn wider(&self, adjacent: Triple) -> impl Iterator<Item = Triple> + '_ {
        let group = self.group_of(adjacent);
        let remote = adjacent.remote;
        let op = &self.trace.event(remote).op;
        let (reads, writes) = (op.reads(), op.writes());
        let pairs = move |group: TransactionAccesses, set| {
            let tried = move |pair: &Pair| pair.remotes.include(reads, writes);
            Pairs::new(self.trace, group, set).filter(tried).map(|pair| (pair.first, pair.second))
        };
        let neighbours: rustc_hash::FxHashSet<(EventId, EventId)> =
            group.iter().flat_map(|group| pairs(group.clone(), CandidateSet::Adjacent)).collect();
        group
            .into_iter()
            .flat_map(move |group| pairs(group, CandidateSet::All))
            .filter(move |pair| !neighbours.contains(pair))
            .map(move |(first, second)| Triple { first, remote, second })
    }

    /// The transaction that holds a triple's local accesses.
    pub fn transaction_of(&self, triple: Triple) -> Option<&'a Transaction> {
        let thread = self.trace.event(triple.first).thread;
        let begun = self.transactions.partition_point(|transaction| transaction.first <= triple.first);
        let latest = self.transactions[..begun].iter().rev().find(|transaction| transaction.thread == thread);
        latest.filter(|transaction| transaction.contains(thread, triple.second))
    }

    fn group_of(&self, triple: Triple) -> Option<TransactionAccesses> {
        let var = self.trace.event(triple.first).op.var()?;
        let groups = self.groups(self.transaction_of(triple)?);
        groups.into_iter().find(|group| group.var == var)
    }

    fn remotes(&self, thread: ThreadId, var: VarId, remotes: Remotes) -> impl Iterator<Item = EventId> + '_ {
        self.trace_index.accesses[var.index()].iter().copied().filter(move |access| {
            let event = self.trace.event(*access);
            let op = &event.op;
            event.thread != thread && !op.is_external() && remotes.include(op.reads(), op.writes())
        })
    }

    fn remote_kinds(&self, group: &TransactionAccesses) -> Kinds {
        let own = self.by_thread.get(&(group.var, group.thread)).copied().unwrap_or_default();
        self.totals[group.var.index()].without(own)
    }
}

impl Kinds {
    fn count_any(self) -> u64 {
        self.write + self.read_only
    }
}

/// The variable of an access that can be part of a candidate.
fn own_access(trace: &Trace, op: &Op) -> Option<VarId> {
    op.var().filter(|var| !op.is_external() && !trace.vars[var.index()].is_of_library())
}

/// The events of a transaction, its ends included.
pub fn events_of<'a>(trace_index: &'a TraceIndex, transaction: &Transaction) -> &'a [EventId] {
    let own = &trace_index.threads[transaction.thread.index()];
    let from = own.partition_point(|event| *event < transaction.first);
    let to = own.partition_point(|event| *event <= transaction.last);
    &own[from..to]
}

/// The pairs of a group.
struct Pairs<'a> {
    trace: &'a Trace,
    group: TransactionAccesses,
    set: CandidateSet,
    first: usize,
    second: usize,
}

impl<'a> Pairs<'a> {
    fn new(trace: &'a Trace, group: TransactionAccesses, set: CandidateSet) -> Pairs<'a> {
        Pairs { trace, group, set, first: 0, second: 1 }
    }

    fn writes(&self, position: usize) -> bool {
        self.trace.event(self.group.accesses[position]).op.writes()
    }

    /// What to try between the current two, which are in order of program.
    fn current(&self) -> Option<Remotes> {
        let both_write = self.writes(self.first) && self.writes(self.second);
        if self.set == CandidateSet::All || self.second == self.first + 1 {
            return Some(if both_write { Remotes::Accesses } else { Remotes::Writes });
        }
        both_write.then_some(Remotes::Reads) // with nothing but reads between, see `advance`
    }

    fn advance(&mut self) {
        let reached_write = self.set == CandidateSet::Adjacent && self.writes(self.second);
        self.second += 1;
        let only_neighbours = self.set == CandidateSet::Adjacent && !self.writes(self.first);
        if reached_write || only_neighbours || self.second >= self.group.accesses.len() {
            self.first += 1;
            self.second = self.first + 1;
        }
    }
}

impl Iterator for Pairs<'_> {
    type Item = Pair;

    fn next(&mut self) -> Option<Self::Item> {
        while self.second < self.group.accesses.len() {
            let TransactionAccesses { thread, var, ref accesses } = self.group;
            let (first, second) = (accesses[self.first], accesses[self.second]);
            let remotes = self.current();
            self.advance();
            if let Some(remotes) = remotes {
                return Some(Pair { thread, var, first, second, remotes });
            }
        }
        None
    }
}

#[cfg(test)]
mod tests;
