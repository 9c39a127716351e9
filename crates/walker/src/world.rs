//! What all threads of a walk have in common: memory, variables, objects, and the events made so far.

use crate::counts::Counts;
use crate::detours::Detours;
use crate::draft::Draft;
use crate::emit::next_name;
use crate::expression::Expressions;
use crate::given_again::GivenAgain;
use crate::initials::Initials;
use crate::inlined::InlinedAt;
use crate::inside::Inside;
use crate::log::Record;
use crate::memory::{Memory, Mirror};
use crate::names::{Names, Origin};
use crate::objects::{Class, Objects};
use crate::options::Options;
use crate::owners::Owners;
use crate::program::{Position, Program};
use crate::regions::{Birth, OUTSIDE, RegionId};
use crate::shared::{Analysis, Cells, Shared, Sharing};
use crate::statistics::{Mismatch, Statistics, Ways};
use crate::transactions::Span;
use crate::unfilled::Unfilled;
use crate::value::Word;
use foretrace_instrument::sidecar::LocationId;
use foretrace_trace::{
    CallStacksBuilder, Data, Event, EventId, NameId, Op, Problem, SyncId, SyncKind, TermId, ThreadId, TraceAssembler,
};
use rustc_hash::FxHashMap;

/// How many mismatches are kept in full.
const SHOWN_MISMATCHES: usize = 100;

/// The common state of a walk.
pub(crate) struct World<'a> {
    pub program: &'a Program,
    pub options: &'a Options,
    pub expressions: Expressions,
    pub memory: Memory,
    owners: Owners,
    /// Where accesses were left out, what they read.
    pub mirror: Option<Mirror>,
    /// Of each thread by its number, what its unseen calls concern.
    pub unseen: Vec<(u64, Vec<u64>)>,
    /// In a first walk, what it finds out about which memory is shared; all that it is for.
    pub survey: Option<Analysis>,
    pub cells: Cells,
    /// Per cell that was accessed, whether all that was by the library's code that threads meet in.
    meeting: Vec<Option<bool>>,
    pub counts: Counts,
    /// Per cell, its value before the first event, where that is known.
    pub initial: Vec<Option<u64>>,
    /// Per cell what the last access found or left there, as bits and as a literal.
    contents: Vec<Option<(u64, TermId)>>,
    /// Per cell that is handed on, what the trace does not say of it.
    fixed: Vec<Fixed>,
    pub objects: Objects,
    /// What was sent to other programs: its number, and the thread that did.
    pub sent: Vec<(u64, usize)>,
    pub names: Names,
    pub draft: Draft,
    pub detours: Detours,
    pub spans: Vec<Span>,
    pub inside: Inside,
    pub call_stacks: CallStacksBuilder,
    pub inlined_at: InlinedAt,
    pub statistics: Statistics,
    /// By function and instruction, the ways that branches on shared memory went.
    pub branches: FxHashMap<(usize, usize), Ways>,
    /// By thread number, its place in the trace.
    pub threads: FxHashMap<u64, ThreadId>,
    /// Whether the first thread has started another one.
    pub others_started: bool,
    /// Whether the trace begins later than the run: its events have no positions that a replay could come to.
    pub begins_later: bool,
    /// What is known of its variables' values then.
    pub initials: Initials,
    pub unfilled: Unfilled,
    pub given_again: GivenAgain,
    /// Whether the failure that ended the run is in the trace.
    pub failed: bool,
    /// With so many events the trace ends at the next access that was left out.
    pub most_events: usize,
    /// By unit and location, of those that were asked for.
    locations: Vec<Vec<Option<NameId>>>,
    /// The same by where a call in code without side-car returns to; only positions of the program's own code.
    places: FxHashMap<u64, Option<NameId>>,
    object_names: FxHashMap<String, u32>,
    /// By function, the operation that it is, of those that were called.
    pub operations: FxHashMap<usize, Option<String>>,
    /// The objects of operations by where they are, with their numbers from 1.
    pub marked_objects: FxHashMap<(RegionId, u64), usize>,
    /// Synchronisation objects in allocated memory, with where they are.
    allocated: Vec<(SyncId, u64, (RegionId, u64))>,
    /// Those in each region.
    in_region: FxHashMap<RegionId, Vec<SyncId>>,
}

/// A cell that is handed on from thread to thread, of which the trace has no event until something is written there that depends on what
/// is shared.
#[derive(Clone, Copy, Default)]
enum Fixed {
    /// It holds what it held before the first event.
    #[default]
    Untouched,
    /// It holds this, which no event of the trace has written.
    Holds(u64),
    /// The last write is an event.
    Told,
}

/// Where and when an event of the draft comes from.
#[derive(Clone, Copy)]
pub(crate) struct Source {
    pub thread: ThreadId,
    pub loc: Option<NameId>,
    pub at: u64,
}

impl<'a> World<'a> {
    pub fn new(program: &'a Program, options: &'a Options, sharing: Sharing, names: Names) -> World<'a> {
        let statistics = Statistics { touched: sharing.touched, shared: sharing.shared, ..Statistics::default() };
        let data = if program.is_concrete() { Data::Concrete } else { Data::Symbolic };
        World {
            program,
            options,
            expressions: Expressions::default(),
            memory: Memory::default(),
            owners: Owners::default(),
            mirror: None,
            unseen: Vec::new(),
            survey: None,
            cells: Cells::new(sharing),
            meeting: Vec::new(),
            counts: Counts::default(),
            initial: Vec::new(),
            contents: Vec::new(),
            fixed: Vec::new(),
            objects: Objects::default(),
            sent: Vec::new(),
            names,
            draft: Draft::new(TraceAssembler::new(data)),
            detours: Detours::default(),
            spans: Vec::new(),
            inside: Inside::default(),
            call_stacks: CallStacksBuilder::default(),
            inlined_at: InlinedAt::default(),
            statistics,
            branches: FxHashMap::default(),
            threads: FxHashMap::default(),
            others_started: false,
            begins_later: false,
            initials: Initials::default(),
            unfilled: Unfilled::default(),
            given_again: GivenAgain::default(),
            failed: false,
            most_events: usize::MAX,
            locations: Vec::new(),
            places: FxHashMap::default(),
            object_names: FxHashMap::default(),
            operations: FxHashMap::default(),
            marked_objects: FxHashMap::default(),
            allocated: Vec::new(),
            in_region: FxHashMap::default(),
        }
    }

    /// The trace's header; all else goes.
    pub fn into_assembler(self) -> TraceAssembler {
        self.draft.assembler
    }

    /// Whether the trace ends at the next access that was left out of the log.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.draft.events.len() >= self.most_events
    }

    /// The thread that a term is of.
    pub fn owner(&mut self, term: TermId) -> Option<ThreadId> {
        self.owners.owner_of(term, &self.expressions, &self.draft.events)
    }

    /// What a cell holds, as a literal.
    pub fn literal(&mut self, cell: u32, bits: u64) -> TermId {
        let index = cell as usize;
        if self.contents.len() <= index {
            self.contents.resize(self.cells.all.len().max(index + 1), None);
        }
        match self.contents[index] {
            Some((same, literal)) if same == bits => literal,
            _ => {
                let literal = self.expressions.literal(self.cells.all[index].piece.size * 8, bits);
                self.contents[index] = Some((bits, literal));
                literal
            }
        }
    }

    /// Adds an event.
    pub fn push(&mut self, source: Source, op: Op) -> EventId {
        self.push_part(source, op, None)
    }

    /// A thread is about to access a cell.
    pub fn accesses(&mut self, thread: ThreadId, cell: u32) {
        let region = self.cells.all[cell as usize].region;
        if let Some(place) = self.cells.place_again(region) {
            self.given_again.accessed(&mut self.draft, thread, (region, place));
        }
    }

    /// A thread has allocated the newest region, here in the source.
    pub fn allocated(&mut self, Source { thread, loc, .. }: Source) {
        if let Some(place) = self.cells.place_again(self.cells.regions.last()) {
            self.given_again.born(&mut self.draft, (thread, loc), place);
        }
    }

    /// Adds an event that is one of two outcomes of a call, or not.
    pub fn push_outcome(&mut self, source: Source, op: Op, tried: bool) -> EventId {
        let event = self.push(source, op);
        self.draft.events[event.index()].tried = tried;
        event
    }

    /// Adds an event that the thread's log shows the result of, but which has no position there.
    pub fn push_unlogged(&mut self, source: Source, op: Op) -> EventId {
        let Source { thread, loc, .. } = source;
        self.draft.push(Event { thread, op, loc, at: None, part: None, tried: false })
    }

    /// Adds an access that is the k-th of n of one step.
    pub fn push_part(&mut self, source: Source, op: Op, part: Option<(u32, u32)>) -> EventId {
        let Source { thread, loc, at } = source;
        self.unfilled.note(thread, &op, &self.cells);
        let at = (!self.begins_later).then_some(at);
        self.expressions.events += usize::from(!matches!(op, Op::Assume { .. }));
        self.draft.push(Event { thread, op, loc, at, part, tried: false })
    }

    /// Whether starts of threads order all that happens to a cell.
    #[inline]
    pub fn is_handed_on(&self, cell: u32) -> bool {
        self.cells.all[cell as usize].shared == Shared::HandedOn
    }

    /// Whether a cell holds the same in every schedule, so that a read of it is no event.
    #[inline]
    pub fn is_fixed(&self, cell: u32) -> bool {
        self.is_handed_on(cell) && !matches!(self.fixed.get(cell as usize), Some(Fixed::Told))
    }

    /// A constant is written to a cell: whether that is no event.
    #[inline]
    pub fn fix(&mut self, cell: u32, bits: u64) -> bool {
        let is_handed_on = self.is_handed_on(cell);
        if is_handed_on {
            self.set_fixed(cell, Fixed::Holds(bits));
        }
        is_handed_on
    }

    /// From here on accesses of a cell are events: what it holds, if no event has written that.
    #[inline]
    pub fn loosen(&mut self, cell: u32) -> Option<u64> {
        if !self.is_handed_on(cell) {
            return None;
        }
        match self.set_fixed(cell, Fixed::Told) {
            Fixed::Holds(bits) => Some(bits),
            Fixed::Untouched | Fixed::Told => None,
        }
    }

    fn set_fixed(&mut self, cell: u32, fixed: Fixed) -> Fixed {
        let index = cell as usize;
        if self.fixed.len() <= index {
            self.fixed.resize(self.cells.all.len().max(index + 1), Fixed::Untouched);
        }
        std::mem::replace(&mut self.fixed[index], fixed)
    }

    /// A source position as the trace has it.
    pub fn location(&mut self, unit: usize, location: LocationId) -> Option<NameId> {
        let known = self.locations.get(unit).and_then(|unit| unit.get(location as usize));
        known.copied().flatten().or_else(|| self.name_location(unit, location))
    }

    fn name_location(&mut self, unit: usize, location: LocationId) -> Option<NameId> {
        let position = self.program.location(unit, location)?;
        let name = self.name_position(&position);
        if self.locations.len() <= unit {
            self.locations.resize(unit + 1, Vec::new());
        }
        let of_unit = &mut self.locations[unit];
        if of_unit.len() <= location as usize {
            of_unit.resize(location as usize + 1, None);
        }
        of_unit[location as usize] = Some(name);
        Some(name)
    }

    /// The first position of the program's own code among these places; of library code, if there is no other.
    pub fn location_of_places(&mut self, places: &[u64]) -> Option<NameId> {
        let own = places.iter().find_map(|place| self.own_location(*place));
        own.or_else(|| {
            places
                .iter()
                .find_map(|place| self.program.positions(*place).first().cloned())
                .map(|position| self.name_position(&position))
        })
    }

    fn own_location(&mut self, place: u64) -> Option<NameId> {
        if let Some(known) = self.places.get(&place) {
            return *known;
        }
        let positions = self.program.positions(place);
        let own = positions.iter().find(|position| !position.is_library());
        let name = own.map(|position| self.name_position(position));
        self.places.insert(place, name);
        name
    }

    /// Where a block is in the source: in a file's line, and its column where that is known.
    pub fn place_of_block(&mut self, unit: usize, location: LocationId) -> Option<NameId> {
        let position = self.program.location(unit, location)?;
        match position.column {
            0 => Some(self.draft.assembler.name(&format!("{}:{}", position.file, position.line))),
            _ => Some(self.name_position(&position)),
        }
    }

    fn name_position(&mut self, position: &Position) -> NameId {
        self.draft.assembler.name(&format!("{}:{}:{}", position.file, position.line, position.column))
    }

    /// A cell is accessed, by the library's code that threads meet in or by other code.
    pub fn note_use(&mut self, cell: u32, is_meeting: bool) {
        let cell = cell as usize;
        if self.meeting.len() <= cell {
            self.meeting.resize(self.cells.all.len().max(cell + 1), None);
        }
        let so_far = self.meeting[cell].unwrap_or(true);
        self.meeting[cell] = Some(so_far && is_meeting);
    }

    /// Whether only the library's code that threads meet in accesses a cell.
    pub fn is_of_library(&self, cell: u32) -> bool {
        self.meeting.get(cell as usize).copied().flatten() == Some(true)
    }

    /// The value of a cell before the first event is this, unless that is known already.
    pub fn starts_as(&mut self, cell: u32, bits: u64) {
        let cell = cell as usize;
        if self.initial.len() <= cell {
            self.initial.resize(self.cells.all.len().max(cell + 1), None);
        }
        self.initial[cell].get_or_insert(bits);
    }

    /// Whether what a cell holds before the first event may have to be called unknown.
    pub fn may_start_unknown(&self, cell: u32) -> bool {
        self.begins_later || self.unfilled.is_left_over(self.cells.all[cell as usize].region)
    }

    /// The first that is known of a cell is a write, of this thread: before it memory was as at the start, unless the trace begins later, or
    /// other threads may know a block that holds what a freed one left there.
    pub fn starts_unseen(&mut self, thread: ThreadId, cell: u32) {
        if self.initial.get(cell as usize).copied().flatten().is_some() {
            return;
        }
        if self.begins_later || self.unfilled.is_shown(thread, self.cells.all[cell as usize].region) {
            self.initials.unknown(cell);
        }
        self.starts_as(cell, self.image(cell));
    }

    /// The value of a cell in the program's file, 0 where it has none.
    pub fn image(&self, cell: u32) -> u64 {
        let cell = self.cells.all[cell as usize];
        if cell.region != OUTSIDE {
            return 0;
        }
        let bytes = self.program.image(cell.piece.address).unwrap_or(&[]);
        let bytes = bytes.iter().take(cell.piece.size as usize).rev();
        bytes.fold(0, |bits, byte| bits << 8 | u64::from(*byte))
    }

    /// A name for what a thread reads: after a variable of the source, and new.
    pub fn fresh_name(&mut self, counter: &mut u64, base: &str) -> NameId {
        next_name(&mut self.draft.assembler, counter, if base.is_empty() { "r" } else { base })
    }

    /// Memory was allocated, here in the program.
    pub fn born(&mut self, start: u64, size: u64, (birth, origin): (Birth, Origin)) {
        if let Some(survey) = &mut self.survey {
            return survey.born(start, size, birth);
        }
        let region = self.cells.born(start, size, birth);
        self.memory.forget(start, size);
        self.names.set_origin(region, origin);
    }

    /// Memory has a second address.
    pub fn alias(&mut self, record: &Record) {
        if let Some(survey) = &mut self.survey {
            return survey.alias(record);
        }
        let [address, of, bytes, ..] = record.words;
        self.cells.aliases.add(address, of, bytes);
        self.memory.aliases.add(address, of, bytes);
    }

    /// The region of an address and where it starts.
    pub fn region(&self, address: u64) -> (RegionId, u64) {
        self.cells.regions.at(address)
    }

    /// The object at an address, which comes into being if there is none.
    pub fn object(&mut self, address: u64, class: Class, kind: SyncKind) -> Result<usize, Problem> {
        let address = self.cells.aliases.first(address);
        let (region, base) = self.region(address);
        match self.objects.find(address, region, class) {
            Some(object) => Ok(object),
            None => self.new_object(address, (region, base), class, kind),
        }
    }

    /// A new object at an address, whatever was there before.
    pub fn new_object(
        &mut self,
        address: u64,
        (region, base): (RegionId, u64),
        class: Class,
        kind: SyncKind,
    ) -> Result<usize, Problem> {
        let name = self.names.object(self.program, address, region, base);
        let count = self.object_names.entry(name.clone()).or_default();
        *count += 1;
        let name = if *count > 1 { format!("{name}#{count}") } else { name };
        let sync = self.draft.assembler.declare_sync(&name, kind)?;
        let object = self.objects.add(address, region, class, sync);
        if region != OUTSIDE {
            self.allocated.push((sync, address, (region, base)));
            self.in_region.entry(region).or_default().push(sync);
        }
        match kind {
            SyncKind::Mutex { recursive } => self.objects.get(object).recursive = recursive,
            SyncKind::Semaphore { init } => self.objects.get(object).count = init,
            _ => {}
        }
        Ok(object)
    }

    /// The synchronisation objects in a block of the allocator that is freed. What goes with a mapping is not told.
    pub fn objects_of_block(&self, freed: &Record) -> Box<[SyncId]> {
        let [start, bytes, ..] = freed.words;
        let region = self.cells.regions.starting_at(start).filter(|_| bytes == 0);
        region.and_then(|region| self.in_region.get(&region)).map(|syncs| syncs.as_slice().into()).unwrap_or_default()
    }

    /// Names the synchronisation objects in allocated memory again, now that more is known of what that memory holds.
    pub fn rename_objects(&mut self) {
        for (sync, address, (region, base)) in std::mem::take(&mut self.allocated) {
            let name = self.names.object(self.program, address, region, base);
            self.draft.assembler.rename_sync(sync, &name);
        }
    }

    /// The log and the program disagree.
    pub fn mismatch(&mut self, thread: u64, at: u64, loc: Option<NameId>, what: String) {
        let place = loc.map_or("an unknown place", |loc| self.draft.assembler.trace().names.text(loc)).to_string();
        self.statistics.mismatch_count += 1;
        if self.statistics.mismatches.len() < SHOWN_MISMATCHES {
            self.statistics.mismatches.push(Mismatch { thread, at, place, what });
        }
    }

    /// A condition that fixes a word, unless it is a constant.
    pub fn pin(&mut self, word: Word) -> Option<TermId> {
        self.expressions.pin(word)
    }
}
