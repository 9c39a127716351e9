//! Which memory is shared, and in which pieces: the first pass over the records of all threads in order. Where accesses were
//! left out, this pass is a separate walk.
//!
//! Each allocation (heap, variables of a frame) makes a new *region*, also at an address that was used before. All memory that is never
//! allocated (static variables) is region 0. A byte is shared if two threads touch it within one region and
//! one of them writes. It is shared, too, if one thread touches it and another one frees it, and has not joined the first: the first may come
//! later in another schedule. The shared bytes of a region fall into *cells*: the largest pieces that no access cuts.
//!
//! A byte is *handed on* if starts of threads put all its accesses that conflict in order, as where a thread fills an array before it starts
//! those that read it. What such a cell holds is the same in every schedule, unless what was written there depends on what is shared. Joins do
//! not count: on another way through the program there may be none. Where few bytes are handed on, they are shared as others are: then
//! reports show where values come from.

use crate::aliases::Aliases;
use crate::buffers::Buffers;
use crate::log::{Log, Record, Records};
use crate::order::Turns;
use crate::paged::Paged;
use crate::program::{Copied, Program};
use crate::regions::{Birth, Born, Extent, OUTSIDE, RegionId, Regions};
use crate::thread_order::{PartId, ThreadOrder};
use crate::wide_swaps::WideSwaps;
use foretrace_runtime::record::Kind;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// A piece of shared memory that no access cuts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Piece {
    pub address: u64,
    /// In bytes, 1 to 8.
    pub size: u32,
}

/// The shared memory of a run.
#[derive(Default, Debug)]
pub(crate) struct Sharing {
    pub pieces: FxHashMap<RegionId, Vec<(Piece, Shared)>>,
    /// Bytes that were accessed, those of each region counted.
    pub touched: u64,
    /// Those of them that are shared.
    pub shared: u64,
    /// Those of these that are handed on.
    handed_on: u64,
    /// Blocks in whose place another one was allocated, earlier or later, where threads share one of them: a number of that place.
    again: FxHashMap<RegionId, u32>,
    pub wide_swaps: WideSwaps,
}

/// With fewer bytes nothing counts as handed on.
const MANY_HANDED_ON: u64 = 1024;

impl Sharing {
    /// Notes blocks of one place, where `heads` has the first one of each later block's place. A block that one thread alone has used is the
    /// one that others get in another schedule.
    fn note_places(&mut self, heads: &FxHashMap<RegionId, RegionId>) {
        let is_shared = |pieces: &[(Piece, Shared)]| pieces.iter().any(|(_, shared)| *shared == Shared::Open);
        let shared = self.pieces.iter().filter(|(region, pieces)| **region != OUTSIDE && is_shared(pieces));
        let head = |region: &RegionId| *heads.get(region).unwrap_or(region);
        let mut places: BTreeMap<RegionId, Vec<RegionId>> =
            shared.map(|(region, _)| (head(region), Vec::new())).collect();
        for (region, head) in heads {
            if let Some(later) = places.get_mut(head) {
                later.push(*region);
            }
        }
        let several = places.into_iter().filter(|(_, later)| !later.is_empty());
        for (number, (first, later)) in (1..).zip(several) {
            self.again.extend(later.into_iter().chain([first]).map(|region| (region, number)));
        }
    }

    fn keep_few(&mut self) {
        if self.handed_on < MANY_HANDED_ON {
            self.pieces.values_mut().flatten().for_each(|(_, shared)| *shared = Shared::Open);
        }
    }
}

/// What happened to a byte in its region: the parts of threads that wrote and read it last, and flags.
#[derive(Clone, Copy, Default)]
struct Use {
    written: u32,
    read: u32,
}

/// Of both words, the part of a thread; 0 where there is none.
const PART: u32 = (1 << 29) - 1;
/// Of the first word: an access starts here, or ended just before.
const EDGE: u32 = 1 << 31;
/// Of the first word: not all accesses that conflict are ordered.
const UNORDERED: u32 = 1 << 30;
/// Of the first word: it was updated in one step, or was to be. That is never taken for ordered.
const UPDATED: u32 = 1 << 29;
/// Of the second word: several threads have read since the last write.
const READERS: u32 = 1 << 31;
/// Of the second word: several threads touched it.
const SEVERAL: u32 = 1 << 30;

/// How an access uses a byte.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Read,
    Write,
    /// Both in one step.
    Update,
    /// An update that was refused: it reads.
    Failed,
}

impl Use {
    /// The thread's part `now` touches it.
    #[inline]
    fn touch(&mut self, now: PartId, way: Way, order: &mut ThreadOrder) {
        let (written, read) = (self.written & PART, self.read & PART);
        if (written == 0 || written == now) && (read == 0 || read == now) {
            return self.note(now, way);
        }
        self.meet(now, way, order);
    }

    #[inline]
    fn note(&mut self, now: PartId, way: Way) {
        match way {
            Way::Read => self.read = self.read & !PART | now,
            Way::Failed => (self.written, self.read) = (self.written | UPDATED, self.read & !PART | now),
            Way::Write => (self.written, self.read) = (self.written & !PART | now, self.read & SEVERAL),
            Way::Update => (self.written, self.read) = (self.written & !PART | now | UPDATED, self.read & SEVERAL),
        }
    }

    /// Another part of a thread touched it before.
    fn meet(&mut self, now: PartId, way: Way, order: &mut ThreadOrder) {
        let (written, read) = (self.written & PART, self.read & PART);
        let is_other = |part: PartId| part != 0 && order.thread_of(part) != order.thread_of(now);
        if is_other(written) || is_other(read) {
            self.read |= SEVERAL;
        }
        if self.written & UNORDERED != 0 {
            return;
        }
        let is_after_write = written == 0 || order.is_before(written, now);
        let is_after_read = read == 0 || order.is_before(read, now);
        let is_ordered = match way {
            Way::Read | Way::Failed => is_after_write,
            _ => is_after_write && is_after_read && self.read & READERS == 0,
        };
        if matches!(way, Way::Read | Way::Failed) && !is_after_read {
            self.read |= READERS;
        }
        if !is_ordered {
            self.written |= UNORDERED;
        }
        self.note(now, way);
    }

    /// The parts that wrote and read it last, where one thread alone touches it.
    fn parts(self) -> Option<(PartId, PartId)> {
        (self.read & (SEVERAL | READERS) == 0).then_some((self.written & PART, self.read & PART))
    }

    fn starts_cell(self) -> bool {
        self.written & EDGE != 0
    }

    fn is_touched(self) -> bool {
        (self.written | self.read) & PART != 0
    }

    /// Whether an access may come after what the thread's part `now` does.
    fn may_come_after(&self, now: PartId, order: &mut ThreadOrder) -> bool {
        let (written, read) = (self.written & PART, self.read & PART);
        let may_be_later = |part: PartId| part != 0 && part != now && !order.is_over(part, now);
        may_be_later(written) || may_be_later(read) || self.read & READERS != 0 && !order.are_all_over(now)
    }

    /// Another thread may use it when its memory is freed.
    fn is_used_on(&mut self) {
        self.read |= SEVERAL;
        self.written |= UNORDERED;
    }

    /// Others stand for it.
    fn is_left_out(&mut self) {
        self.read &= !SEVERAL;
    }

    /// Whether several threads touch it, one of them writes, and in which way.
    fn sharing(self) -> Option<Shared> {
        let is_ordered = self.written & (UNORDERED | UPDATED) == 0;
        let is_written = self.written & (PART | UNORDERED) != 0;
        (self.read & SEVERAL != 0 && is_written).then_some(if is_ordered { Shared::HandedOn } else { Shared::Open })
    }
}

/// How threads share a piece of memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Shared {
    /// Starts of threads order all accesses that conflict.
    HandedOn,
    /// They do not.
    Open,
}

/// What was found out so far.
#[derive(Default)]
pub(crate) struct Analysis {
    /// The threads, from 1, by the numbers that records call them.
    threads: FxHashMap<u64, u32>,
    order: ThreadOrder,
    /// Whether the run's start was seen: else threads may have been started unseen.
    is_whole: bool,
    aliases: Aliases,
    regions: Regions,
    uses: Paged<Use>,
    sharing: Sharing,
    /// For blocks in whose place another one was before, the first one there.
    heads: FxHashMap<RegionId, RegionId>,
}

/// Finds what is shared from the records alone, where each access has one.
pub(crate) fn analyse(program: &Program, logs: &[Log], is_whole: bool) -> Sharing {
    let mut analysis = Analysis::new(logs, is_whole);
    let mut turns = Turns::new(logs);
    let mut cursors: Vec<_> = logs.iter().map(Log::records).collect();
    while let Some((thread, until)) = turns.next() {
        let cursor = &mut cursors[thread];
        while let Some(record) = cursor.peek() {
            match record.order() {
                Some(order) if order >= until => {
                    turns.wait(thread, order);
                    break;
                }
                _ => {}
            }
            cursor.pass(record.kind);
            if record.order() != Some(0) {
                analysis.record(thread as u32 + 1, &record);
            }
            if matches!(record.kind, Kind::Enter1 | Kind::Enter2 | Kind::Enter3 | Kind::Enter4) {
                analysis.copies(program.copied(record.site()), &record, cursor);
            }
        }
    }
    analysis.finish()
}

impl Analysis {
    /// Of a run that is recorded as a whole, or from a later point on.
    pub fn new(logs: &[Log], is_whole: bool) -> Analysis {
        let threads = logs.iter().zip(1..).map(|(log, thread)| (log.header().thread, thread)).collect();
        Analysis { threads, is_whole, ..Analysis::default() }
    }

    /// What a record says, of the thread of this number, from 1.
    pub fn record(&mut self, thread: u32, record: &Record) {
        let size = record.kind.size() as u64;
        if size > 0 {
            let way = match record.kind {
                kind if kind.is_load() => Way::Read,
                kind if kind.is_store() => Way::Write,
                kind if is_failed(kind) => Way::Failed,
                _ => Way::Update,
            };
            self.sharing.wide_swaps.see(thread, record);
            self.access(thread, record.words[0], size, way);
            return;
        }
        match record.kind {
            Kind::Allocate => self.born(record.words[0], record.allocated(), Birth::Block),
            Kind::Alloca => self.born(record.words[0], record.words[1], Birth::Frame),
            Kind::Free => self.freed(thread, record),
            Kind::Fork | Kind::Join => self.of_threads(thread, record),
            Kind::Alias => self.alias(record),
            _ => {}
        }
    }

    /// Memory has a second address.
    pub fn alias(&mut self, record: &Record) {
        self.aliases.add(record.words[0], record.words[1], record.words[2]);
    }

    /// The copies that a function got of its arguments.
    fn copies(&mut self, copied: &[Copied], entry: &Record, after: &Records<'_>) {
        let in_entry = entry.kind.words() - 1;
        for copy in copied {
            let address = match copy.scalar.checked_sub(in_entry) {
                None => Some(entry.words[copy.scalar]),
                Some(later) => after.clone().nth(later).map(|record| record.words[0]),
            };
            if let Some(address) = address {
                self.born(address, copy.size, Birth::Frame);
            }
        }
    }

    /// A read.
    #[inline]
    pub fn read(&mut self, thread: u32, address: u64, size: u64) {
        self.access(thread, address, size, Way::Read);
    }

    /// A write.
    #[inline]
    pub fn write(&mut self, thread: u32, address: u64, size: u64) {
        self.access(thread, address, size, Way::Write);
    }

    #[inline]
    fn access(&mut self, thread: u32, address: u64, size: u64, way: Way) {
        let address = self.aliases.first(address);
        let (now, order) = (self.order.now(thread), &mut self.order);
        let around = self.uses.entries(address, size + 1);
        if let [inside @ .., after] = around
            && inside.len() as u64 == size
        {
            inside.iter_mut().for_each(|byte| byte.touch(now, way, order));
            after.written |= EDGE;
            around[0].written |= EDGE;
            return;
        }
        self.access_over_pages(now, address, size, way);
    }

    #[cold]
    fn access_over_pages(&mut self, now: PartId, address: u64, size: u64, way: Way) {
        let mut done = 0;
        while done < size {
            let uses = self.uses.entries(address.wrapping_add(done), size - done);
            uses.iter_mut().for_each(|byte| byte.touch(now, way, &mut self.order));
            done += uses.len() as u64;
        }
        self.uses.entry(address).written |= EDGE;
        self.uses.entry(address.wrapping_add(size)).written |= EDGE;
    }

    /// A thread starts another one, or joins it. A try to join may find it running in another schedule.
    pub fn of_threads(&mut self, thread: u32, record: &Record) {
        let other = self.threads.get(&record.words[0]).filter(|_| !record.is_tried());
        let Some(other) = other.copied().filter(|other| *other != thread) else { return };
        match record.kind {
            Kind::Fork => self.order.starts(thread, other),
            _ => self.order.joins(thread, other),
        }
    }

    /// A block is freed, or a piece of memory is mapped no more. What a thread touched there that may come later is shared.
    pub fn freed(&mut self, thread: u32, record: &Record) {
        let (now, order) = (self.order.now(thread), &mut self.order);
        for Extent { start, end, .. } in self.regions.ending(record.words[0], record.words[1]) {
            let mut buffers = Buffers::default();
            self.uses.for_each_stretch(start, end, &mut |first, uses| {
                for (address, byte) in (first..).zip(uses).filter(|(_, byte)| byte.may_come_after(now, order)) {
                    buffers.add(address, byte.parts(), byte.starts_cell());
                    byte.is_used_on();
                }
            });
            for (start, end) in buffers.left_out() {
                self.uses.for_each_stretch(start, end, &mut |_, uses| uses.iter_mut().for_each(Use::is_left_out));
            }
        }
        self.regions.end(record.words[0], record.words[1]);
    }

    /// Memory is allocated.
    pub fn born(&mut self, start: u64, size: u64, birth: Birth) {
        self.aliases.forget(start, size);
        let Born { region, gone, .. } = self.regions.born(start, size, birth);
        if birth == Birth::Block
            && let Some(old) = gone.iter().map(|old| old.region).find(|old| *old != OUTSIDE)
        {
            let head = *self.heads.get(&old).unwrap_or(&old);
            self.heads.insert(region, head);
        }
        // What was there before the first allocation belongs to region 0; what is in a region goes with it.
        for old in &gone {
            self.close(*old);
        }
        self.close(Extent { start, end: start.saturating_add(size), region: OUTSIDE });
    }

    /// Notes what is shared of a region, which ends.
    fn close(&mut self, extent: Extent) {
        let mut pieces =
            Pieces { sharing: &mut self.sharing, region: extent.region, is_whole: self.is_whole, open: None };
        self.uses.for_each_stretch(extent.start, extent.end, &mut |first, uses| pieces.add(first, uses));
        pieces.cut();
    }

    /// What is shared.
    pub fn finish(mut self) -> Sharing {
        for extent in self.regions.all() {
            self.close(extent);
        }
        let mut pieces = Pieces { sharing: &mut self.sharing, region: OUTSIDE, is_whole: self.is_whole, open: None };
        self.uses.for_each_page(&mut |first, uses| pieces.add(first, uses));
        pieces.cut();
        self.sharing.keep_few();
        self.sharing.note_places(&self.heads);
        self.sharing
    }
}

/// Puts shared bytes together to pieces.
struct Pieces<'a> {
    sharing: &'a mut Sharing,
    region: RegionId,
    is_whole: bool,
    open: Option<(Piece, Shared)>,
}

impl Pieces<'_> {
    /// The uses of bytes from `first` on, which are then forgotten.
    fn add(&mut self, first: u64, uses: &mut [Use]) {
        for (address, byte) in (first..).zip(uses) {
            let used = std::mem::take(byte);
            self.sharing.touched += u64::from(used.is_touched());
            let Some(shared) = used.sharing() else {
                self.cut();
                continue;
            };
            let shared = if self.is_whole { shared } else { Shared::Open };
            self.sharing.shared += 1;
            self.sharing.handed_on += u64::from(shared == Shared::HandedOn);
            match &mut self.open {
                Some((piece, same))
                    if used.written & EDGE == 0
                        && *same == shared
                        && piece.address + u64::from(piece.size) == address =>
                {
                    piece.size += 1
                }
                _ => {
                    self.cut();
                    self.open = Some((Piece { address, size: 1 }, shared));
                }
            }
        }
    }

    fn cut(&mut self) {
        if let Some(piece) = self.open.take() {
            self.sharing.pieces.entry(self.region).or_default().push(piece);
        }
    }
}

fn is_failed(kind: Kind) -> bool {
    matches!(kind, Kind::Failed1 | Kind::Failed2 | Kind::Failed4 | Kind::Failed8)
}

/// A shared variable: a cell of a region.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cell {
    pub piece: Piece,
    pub region: RegionId,
    /// Where its region starts.
    pub base: u64,
    pub shared: Shared,
}

/// The cells at a point of the run.
pub(crate) struct Cells {
    pub aliases: Aliases,
    pub sharing: Sharing,
    pub regions: Regions,
    /// Per byte, the cell that it belongs to plus one.
    here: Paged<u32>,
    /// All cells so far.
    pub all: Vec<Cell>,
    of_region: FxHashMap<RegionId, std::ops::Range<u32>>,
}

impl Cells {
    pub fn new(sharing: Sharing) -> Cells {
        let mut cells = Cells {
            aliases: Aliases::default(),
            sharing,
            regions: Regions::default(),
            here: Paged::default(),
            all: Vec::new(),
            of_region: FxHashMap::default(),
        };
        cells.install(OUTSIDE, 0);
        cells
    }

    /// The number of the place of a block, if other blocks that threads share were or will be there.
    pub fn place_again(&self, region: RegionId) -> Option<u32> {
        self.sharing.again.get(&region).copied()
    }

    /// Memory is allocated: its region.
    pub fn born(&mut self, start: u64, size: u64, birth: Birth) -> RegionId {
        self.aliases.forget(start, size);
        let Born { region, gone, rests } = self.regions.born(start, size, birth);
        for old in &gone {
            self.remove(*old);
        }
        if self.of_region.contains_key(&OUTSIDE) && !self.here.is_empty() {
            self.here.for_each_stretch(start, start.saturating_add(size), &mut |_, cells| cells.fill(0));
        }
        for rest in rests {
            self.install(rest.region, rest.start);
        }
        self.install(region, start);
        region
    }

    fn install(&mut self, region: RegionId, base: u64) {
        let Some(pieces) = self.sharing.pieces.remove(&region) else { return };
        let first = self.all.len() as u32;
        for (piece, shared) in pieces {
            self.all.push(Cell { piece, region, base, shared });
            let id = self.all.len() as u32;
            (0..u64::from(piece.size)).for_each(|byte| *self.here.entry(piece.address + byte) = id);
        }
        self.of_region.insert(region, first..self.all.len() as u32);
    }

    fn remove(&mut self, old: Extent) {
        if self.of_region.contains_key(&old.region) {
            self.here.for_each_stretch(old.start, old.end, &mut |_, cells| cells.fill(0));
        }
    }

    /// The cell that a byte belongs to.
    #[inline]
    pub fn at(&mut self, address: u64) -> Option<u32> {
        self.here.get(self.aliases.first(address))?.checked_sub(1)
    }

    /// Whether none of these bytes is shared; not always seen.
    #[inline]
    pub fn are_none(&mut self, address: u64, size: u32) -> bool {
        self.here.are_unset(self.aliases.first(address), u64::from(size))
    }

    /// The cell that is all of these bytes.
    #[inline]
    pub fn whole(&mut self, address: u64, size: u32) -> Option<u32> {
        let cell = self.at(address)?;
        let address = self.aliases.first(address);
        (self.all[cell as usize].piece == Piece { address, size }).then_some(cell)
    }

    /// A block is freed, or so many bytes of a mapping are gone if that is not 0: the cells there.
    pub fn freed(&mut self, start: u64, bytes: u64) -> Vec<u32> {
        let cells = match bytes {
            0 => self.regions.starting_at(start).map_or(Vec::new(), |region| self.cells_of(region).collect()),
            _ => self.within(start, start.saturating_add(bytes)),
        };
        self.regions.end(start, bytes);
        cells
    }

    /// The cells of all that was allocated in a stretch of memory.
    fn within(&self, start: u64, end: u64) -> Vec<u32> {
        let cells = self.regions.within(start, end).into_iter().flat_map(|region| self.cells_of(region));
        cells.filter(|cell| (start..end).contains(&self.all[*cell as usize].piece.address)).collect()
    }

    /// The cells of a region that has come into being.
    fn cells_of(&self, region: RegionId) -> std::ops::Range<u32> {
        self.of_region.get(&region).cloned().unwrap_or(0..0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use foretrace_runtime::record::TRIED;

    fn pieces(analysis: Analysis, region: RegionId) -> Vec<(u64, u32)> {
        let sharing = analysis.finish();
        sharing.pieces.get(&region).into_iter().flatten().map(|(piece, _)| (piece.address, piece.size)).collect()
    }

    #[test]
    fn memory_of_one_thread_or_never_written_is_not_shared() {
        let mut analysis = Analysis::default();
        analysis.access(1, 0x1000, 8, Way::Write);
        analysis.access(1, 0x1000, 8, Way::Read);
        analysis.access(1, 0x2000, 4, Way::Read);
        analysis.access(2, 0x2000, 4, Way::Read);
        assert_eq!(pieces(analysis, OUTSIDE), []);
    }

    /// An access by a thread, or a start or join of another one by a thread.
    type Step = Result<(u32, Way), (u32, Kind, u64)>;

    /// How threads share bytes that these touch, in this order.
    fn shared_after(steps: &[Step]) -> Option<Shared> {
        let threads = FxHashMap::from_iter([(1, 1), (2, 2), (3, 3)]);
        let mut analysis = Analysis { is_whole: true, threads, ..Analysis::default() };
        for step in steps {
            match *step {
                Ok((thread, way)) => {
                    (0..MANY_HANDED_ON).for_each(|byte| analysis.access(thread, 0x1000 + byte, 1, way));
                }
                Err((thread, kind, other)) => {
                    analysis.record(thread, &Record { kind, place: 0, words: [other, 0, 0, 0], at: 0 });
                }
            }
        }
        analysis.finish().pieces.get(&OUTSIDE).and_then(|pieces| pieces.first()).map(|(_, shared)| *shared)
    }

    #[test]
    fn memory_is_handed_on_where_starts_order_all_that_conflicts() {
        let (write, read) = (|thread| Ok((thread, Way::Write)), |thread| Ok((thread, Way::Read)));
        let start = |thread, other| Err((thread, Kind::Fork, other));
        let join = |thread, other| Err((thread, Kind::Join, other));
        let handed_on = Some(Shared::HandedOn);
        assert_eq!(shared_after(&[write(1), start(1, 2), read(2)]), handed_on);
        assert_eq!(shared_after(&[start(1, 2), write(1), read(2)]), Some(Shared::Open), "both go on");
        assert_eq!(shared_after(&[write(1), start(1, 2), read(2), write(1)]), Some(Shared::Open), "not joined");
        assert_eq!(shared_after(&[write(1), start(1, 2), read(2), read(1)]), handed_on, "reads do not conflict");
        let joined = [start(1, 2), write(2), join(1, 2), write(1)];
        assert_eq!(shared_after(&joined), Some(Shared::Open), "there may be a way around the join");
        let readers = [write(1), start(1, 2), start(1, 3), read(2), read(3)];
        assert_eq!(shared_after(&readers), handed_on);
        assert_eq!(shared_after(&[&readers[..], &[write(1)]].concat()), Some(Shared::Open));
        let update = [write(1), start(1, 2), Ok((2, Way::Update))];
        assert_eq!(shared_after(&update), Some(Shared::Open), "updates in one step are never left out");
        assert_eq!(shared_after(&[write(1), start(1, 2), Ok((2, Way::Failed))]), Some(Shared::Open));
    }

    #[test]
    fn accesses_cut_shared_memory_into_cells() {
        let mut analysis = Analysis::default();
        analysis.access(1, 0x1000, 8, Way::Write);
        analysis.access(2, 0x1004, 2, Way::Read);
        analysis.access(2, 0x1000, 4, Way::Read);
        // the last two bytes are touched by one thread alone
        assert_eq!(pieces(analysis, OUTSIDE), [(0x1000, 4), (0x1004, 2)]);
    }

    #[test]
    fn memory_allocated_anew_is_other_memory() {
        let mut analysis = Analysis::default();
        analysis.born(0x1000, 16, Birth::Block);
        analysis.access(1, 0x1000, 8, Way::Write);
        analysis.born(0x1000, 16, Birth::Block);
        analysis.access(2, 0x1000, 8, Way::Write);
        analysis.access(1, 0x1000, 4, Way::Read);
        let second = 2;
        assert_eq!(pieces(analysis, second), [(0x1000, 4)]);
    }

    /// The cells of a block that thread 1 wrote and this thread frees, after joins of one thread by another, some of them tries.
    fn freed_by(thread: u32, joins: &[(u32, u64, bool)]) -> Vec<(u64, u32)> {
        let threads = FxHashMap::from_iter([(1, 1), (2, 2), (3, 3)]);
        let mut analysis = Analysis { threads, ..Analysis::default() };
        let record = |kind, words: [u64; 2]| Record { kind, place: 0, words: [words[0], words[1], 0, 0], at: 0 };
        analysis.born(0x1000, 16, Birth::Block);
        analysis.access(1, 0x1000, 8, Way::Write);
        for (by, other, tried) in joins {
            analysis.record(*by, &record(Kind::Join, [*other, if *tried { TRIED } else { 0 }]));
        }
        analysis.record(thread, &record(Kind::Free, [0x1000, 0]));
        pieces(analysis, 1)
    }

    #[test]
    fn memory_of_one_thread_is_shared_where_another_one_frees_it_and_has_not_joined_the_first() {
        let shared = [(0x1000, 8)];
        assert_eq!(freed_by(3, &[]), shared);
        assert_eq!(freed_by(1, &[]), []);
        assert_eq!(freed_by(3, &[(3, 1, false)]), []);
        assert_eq!(freed_by(3, &[(2, 1, false), (3, 2, false)]), []);
        assert_eq!(freed_by(3, &[(2, 1, false)]), shared, "by a thread that goes on");
        assert_eq!(freed_by(3, &[(3, 2, false)]), shared, "another thread");
        assert_eq!(freed_by(3, &[(3, 1, true)]), shared, "the try may find the thread running");
    }

    #[test]
    fn a_block_is_shared_also_before_and_after_a_part_of_it_is_allocated() {
        let mut analysis = Analysis::default();
        analysis.born(0x1000, 0x100, Birth::Block);
        analysis.access(1, 0x1000, 8, Way::Write);
        analysis.born(0x1080, 8, Birth::Frame);
        analysis.access(2, 0x1000, 8, Way::Read);
        assert_eq!(pieces(analysis, 1), [(0x1000, 8)]);
    }
}
