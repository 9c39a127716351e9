//! Which memory is shared, and in which pieces: the first pass over the records of all threads in order. Where accesses were
//! left out, this pass is a separate walk.
//!
//! Each allocation (heap, variables of a frame) makes a new *region*, also at an address that was used before. All memory that is never
//! allocated (static variables) is region 0. A byte is shared if two threads touch it within one region and
//! one of them writes. It is shared, too, if one thread touches it and another one frees it, and has not joined the first: the first may come
//! later in another schedule. The shared bytes of a region fall into *cells*: the largest pieces that no access cuts.

use crate::aliases::Aliases;
use crate::log::{Log, Record, Records};
use crate::order::Turns;
use crate::paged::Paged;
use crate::program::{Copied, Program};
use crate::regions::{Birth, Born, Extent, OUTSIDE, RegionId, Regions};
use foretrace_runtime::record::Kind;
use rustc_hash::FxHashMap;

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
    pub pieces: FxHashMap<RegionId, Vec<Piece>>,
    /// Bytes that were accessed, those of each region counted.
    pub touched: u64,
    /// Those of them that are shared.
    pub shared: u64,
}

/// What happened to a byte in its region: the thread that touched it plus one, and flags.
#[derive(Clone, Copy, Default)]
struct Use(u32);

const THREAD: u32 = (1 << 29) - 1;
/// Another thread touched it, too.
const SEVERAL: u32 = 1 << 29;
const WRITTEN: u32 = 1 << 30;
/// An access starts here, or ended just before.
const EDGE: u32 = 1 << 31;

impl Use {
    #[inline]
    fn touch(&mut self, thread: u32, written: u32) {
        let before = self.0 & THREAD;
        let by = match before {
            0 => thread,
            _ if before == thread => 0,
            _ => SEVERAL,
        };
        self.0 |= by | written;
    }

    fn is_touched(self) -> bool {
        self.0 & THREAD != 0
    }

    /// The thread that alone touched it; nothing if several did.
    fn only(self) -> Option<u32> {
        (self.0 & SEVERAL == 0).then_some(self.0 & THREAD)
    }

    fn is_shared(self) -> bool {
        self.0 & (SEVERAL | WRITTEN) == SEVERAL | WRITTEN
    }
}

/// Which threads were joined so far.
#[derive(Default)]
struct Joins {
    /// The threads, from 1, by the numbers that records call them.
    threads: FxHashMap<u64, u32>,
    /// Who joined each.
    by: FxHashMap<u32, u32>,
}

impl Joins {
    /// Whether one thread is over for another: joined by it, or by one that was.
    fn is_over(&self, one: u32, other: u32) -> bool {
        let mut joined = one;
        while let Some(by) = self.by.get(&joined) {
            if *by == other {
                return true;
            }
            joined = *by;
        }
        false
    }

    /// Whether a thread, or some thread, may go on when `other` does something.
    fn goes_on(&self, one: Option<u32>, other: u32) -> bool {
        match one {
            Some(one) => one != other && !self.is_over(one, other),
            None => self.threads.values().any(|one| *one != other && !self.is_over(*one, other)),
        }
    }
}

/// What was found out so far.
#[derive(Default)]
pub(crate) struct Analysis {
    joins: Joins,
    aliases: Aliases,
    regions: Regions,
    uses: Paged<Use>,
    sharing: Sharing,
}

/// Finds what is shared from the records alone, where each access has one.
pub(crate) fn analyse(program: &Program, logs: &[Log]) -> Sharing {
    let mut analysis = Analysis::new(logs);
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
    pub fn new(logs: &[Log]) -> Analysis {
        let threads = logs.iter().zip(1..).map(|(log, thread)| (log.header().thread, thread)).collect();
        Analysis { joins: Joins { threads, ..Joins::default() }, ..Analysis::default() }
    }

    /// What a record says, of the thread of this number, from 1.
    pub fn record(&mut self, thread: u32, record: &Record) {
        let size = record.kind.size() as u64;
        if size > 0 {
            match record.kind.is_load() || is_failed(record.kind) {
                true => self.read(thread, record.words[0], size),
                false => self.write(thread, record.words[0], size),
            }
            return;
        }
        match record.kind {
            Kind::Allocate => self.born(record.words[0], record.words[1], Birth::Block),
            Kind::Alloca => self.born(record.words[0], record.words[1], Birth::Frame),
            Kind::Free => self.freed(thread, record),
            Kind::Join => self.joined(thread, record),
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
        self.access(thread, address, size, 0);
    }

    /// A write.
    #[inline]
    pub fn write(&mut self, thread: u32, address: u64, size: u64) {
        self.access(thread, address, size, WRITTEN);
    }

    #[inline]
    fn access(&mut self, thread: u32, address: u64, size: u64, written: u32) {
        let address = self.aliases.first(address);
        let around = self.uses.entries(address, size + 1);
        if let [inside @ .., after] = around
            && inside.len() as u64 == size
        {
            inside.iter_mut().for_each(|byte| byte.touch(thread, written));
            after.0 |= EDGE;
            around[0].0 |= EDGE;
            return;
        }
        self.access_over_pages(thread, address, size, written);
    }

    #[cold]
    fn access_over_pages(&mut self, thread: u32, address: u64, size: u64, written: u32) {
        let mut done = 0;
        while done < size {
            let uses = self.uses.entries(address.wrapping_add(done), size - done);
            uses.iter_mut().for_each(|byte| byte.touch(thread, written));
            done += uses.len() as u64;
        }
        self.uses.entry(address).0 |= EDGE;
        self.uses.entry(address.wrapping_add(size)).0 |= EDGE;
    }

    /// A thread joins another one. A try may find it running in another schedule.
    pub fn joined(&mut self, thread: u32, record: &Record) {
        let other = self.joins.threads.get(&record.words[0]).filter(|_| !record.is_tried());
        if let Some(other) = other.copied().filter(|other| *other != thread) {
            self.joins.by.entry(other).or_insert(thread);
        }
    }

    /// A block is freed, or a piece of memory is mapped no more. What a thread touched there that may go on is shared.
    pub fn freed(&mut self, thread: u32, record: &Record) {
        let joins = &self.joins;
        let mut last = (Some(thread), false);
        for Extent { start, end, .. } in self.regions.ending(record.words[0], record.words[1]) {
            self.uses.for_each_stretch(start, end, &mut |_, uses| {
                for byte in uses.iter_mut().filter(|byte| byte.is_touched()) {
                    if byte.only() != last.0 {
                        last = (byte.only(), joins.goes_on(byte.only(), thread));
                    }
                    byte.0 |= if last.1 { SEVERAL | WRITTEN } else { 0 };
                }
            });
        }
        self.regions.end(record.words[0], record.words[1]);
    }

    /// Memory is allocated.
    pub fn born(&mut self, start: u64, size: u64, birth: Birth) {
        self.aliases.forget(start, size);
        let gone = self.regions.born(start, size, birth).gone;
        // What was there before the first allocation belongs to region 0; what is in a region goes with it.
        for old in &gone {
            self.close(*old);
        }
        self.close(Extent { start, end: start.saturating_add(size), region: OUTSIDE });
    }

    /// Notes what is shared of a region, which ends.
    fn close(&mut self, extent: Extent) {
        let mut pieces = Pieces { sharing: &mut self.sharing, region: extent.region, open: None };
        self.uses.for_each_stretch(extent.start, extent.end, &mut |first, uses| pieces.add(first, uses));
        pieces.cut();
    }

    /// What is shared.
    pub fn finish(mut self) -> Sharing {
        for extent in self.regions.all() {
            self.close(extent);
        }
        let mut pieces = Pieces { sharing: &mut self.sharing, region: OUTSIDE, open: None };
        self.uses.for_each_page(&mut |first, uses| pieces.add(first, uses));
        pieces.cut();
        self.sharing
    }
}

/// Puts shared bytes together to pieces.
struct Pieces<'a> {
    sharing: &'a mut Sharing,
    region: RegionId,
    open: Option<Piece>,
}

impl Pieces<'_> {
    /// The uses of bytes from `first` on, which are then forgotten.
    fn add(&mut self, first: u64, uses: &mut [Use]) {
        for (address, byte) in (first..).zip(uses) {
            let used = std::mem::take(byte);
            self.sharing.touched += u64::from(used.is_touched());
            if !used.is_shared() {
                self.cut();
                continue;
            }
            self.sharing.shared += 1;
            match &mut self.open {
                Some(piece) if used.0 & EDGE == 0 && piece.address + u64::from(piece.size) == address => {
                    piece.size += 1
                }
                _ => {
                    self.cut();
                    self.open = Some(Piece { address, size: 1 });
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
}

/// The cells at a point of the run.
pub(crate) struct Cells {
    pub aliases: Aliases,
    sharing: Sharing,
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
        for piece in pieces {
            self.all.push(Cell { piece, region, base });
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
        sharing.pieces.get(&region).into_iter().flatten().map(|piece| (piece.address, piece.size)).collect()
    }

    #[test]
    fn memory_of_one_thread_or_never_written_is_not_shared() {
        let mut analysis = Analysis::default();
        analysis.access(1, 0x1000, 8, WRITTEN);
        analysis.access(1, 0x1000, 8, 0);
        analysis.access(1, 0x2000, 4, 0);
        analysis.access(2, 0x2000, 4, 0);
        assert_eq!(pieces(analysis, OUTSIDE), []);
    }

    #[test]
    fn accesses_cut_shared_memory_into_cells() {
        let mut analysis = Analysis::default();
        analysis.access(1, 0x1000, 8, WRITTEN);
        analysis.access(2, 0x1004, 2, 0);
        analysis.access(2, 0x1000, 4, 0);
        // the last two bytes are touched by one thread alone
        assert_eq!(pieces(analysis, OUTSIDE), [(0x1000, 4), (0x1004, 2)]);
    }

    #[test]
    fn memory_allocated_anew_is_other_memory() {
        let mut analysis = Analysis::default();
        analysis.born(0x1000, 16, Birth::Block);
        analysis.access(1, 0x1000, 8, WRITTEN);
        analysis.born(0x1000, 16, Birth::Block);
        analysis.access(2, 0x1000, 8, WRITTEN);
        analysis.access(1, 0x1000, 4, 0);
        let second = 2;
        assert_eq!(pieces(analysis, second), [(0x1000, 4)]);
    }

    /// The cells of a block that thread 1 wrote and this thread frees, after joins of one thread by another, some of them tries.
    fn freed_by(thread: u32, joins: &[(u32, u64, bool)]) -> Vec<(u64, u32)> {
        let mut analysis = Analysis::default();
        analysis.joins.threads = FxHashMap::from_iter([(1, 1), (2, 2), (3, 3)]);
        let record = |kind, words: [u64; 2]| Record { kind, place: 0, words: [words[0], words[1], 0, 0], at: 0 };
        analysis.born(0x1000, 16, Birth::Block);
        analysis.access(1, 0x1000, 8, WRITTEN);
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
        analysis.access(1, 0x1000, 8, WRITTEN);
        analysis.born(0x1080, 8, Birth::Frame);
        analysis.access(2, 0x1000, 8, 0);
        assert_eq!(pieces(analysis, 1), [(0x1000, 8)]);
    }
}
