//! The threads that are recorded: what each has, which one runs here, and the table of all.

use core::arch::{asm, global_asm};
use core::cell::Cell;
use core::ffi::c_void;
use core::sync::atomic::{
    AtomicBool, AtomicI32, AtomicI64, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize,
    Ordering::{Acquire, Relaxed, Release, SeqCst},
};

use crate::controller::Turn;
use crate::feed::Feed;
use crate::hooks::held_write::Held;
use crate::interpose::cancelled::Cancelled;
use crate::interpose::in_lock::InLock;
use crate::interpose::initialisers::Stack;
use crate::interpose::openmp::Own as TeamsOwn;
use crate::interpose::signals::Deferred;
use crate::log::Log;
use crate::log::window::ThreadWindow;
use crate::mode;
use crate::ownership::own::{self, Own};
use crate::record::{Kind, own as layout};
use crate::sys::{self, Timespec};
use crate::text::Text;
use crate::waiting::Wait;

/// A thread. Cells are its own; what others touch is atomic.
#[repr(C)]
pub struct Thread {
    /// What it accesses without a record.
    pub own: Own,
    /// A signal waits.
    pub pending: Cell<bool>,
    /// At this count the thread has to ask the controller.
    pub limit: AtomicU64,
    /// Where it counts what it does: in its log's header while there is one, so that it outlives the process.
    counter: AtomicPtr<AtomicU64>,
    /// Its log.
    pub log: Log,
    /// Where it counts otherwise.
    count: AtomicU64,
    /// It is inside of a hook: signals wait until the end.
    pub busy: Cell<bool>,
    /// The access that is under way: its record, null if none.
    pub inflight: Cell<*mut u64>,
    /// Records that are not counted, and what the count was meanwhile.
    apart: Cell<(u64, u64)>,
    /// The orders that the next records of one step have: the first, and where they end.
    pub together: Cell<(u64, u64)>,
    /// Its number, from 1.
    pub number: Cell<u64>,
    /// The number of its creator.
    pub parent: Cell<u64>,
    /// Which child it is.
    pub nth: Cell<u64>,
    /// How many children it has.
    pub children: Cell<u64>,
    /// What it runs.
    pub start: Cell<Option<sys::Start>>,
    /// With this.
    pub argument: Cell<*mut c_void>,
    /// The signals that it starts with blocked.
    pub mask: Cell<u64>,
    /// Its `pthread_t`, 0 once that means nothing any more.
    pub pthread: AtomicUsize,
    /// It wrote its last record.
    pub ended: AtomicBool,
    /// Nobody will join it.
    pub detached: AtomicBool,
    /// Its number in the kernel.
    pub tid: AtomicI32,
    /// Set when it has memory of the allocator's.
    pub has_memory: AtomicU32,
    /// Set when its creator has recorded it.
    pub announced: AtomicU32,
    /// Somebody cancelled it.
    pub cancelled: AtomicBool,
    /// How often its destructor of thread data has run.
    pub rounds: Cell<u32>,
    /// The group of lines in which it last took one from another thread.
    pub stolen: Cell<u64>,
    /// Its failure is recorded.
    pub failed: Cell<bool>,
    /// Calls of the C library are under way whose allocations are not recorded.
    pub quiet: Cell<u32>,
    /// Once objects whose initialiser it runs.
    pub once: Stack,
    /// Until when it sleeps by the monotonic clock, where it let others run instead; zero if it owes nothing.
    pub sleeps_until: Cell<Timespec>,
    /// What the controller keeps of it.
    pub turn: Turn,
    /// The innermost wait.
    pub wait: AtomicPtr<Wait>,
    /// Its deferred signal.
    pub deferred: Deferred,
    /// What its log has to say if it begins again.
    pub part: ThreadWindow,
    /// What it gets from outside.
    pub feed: Feed,
    /// The function of a lock that it is in.
    pub in_lock: InLock,
    /// Where it stands in OpenMP's teams.
    pub openmp: TeamsOwn,
    /// A write that it has made or is about to make, and that is not recorded.
    pub held: Held,
    /// What a call of the C library had before it that it replaces: the place of the call, and two words.
    pub noted: Cell<[u64; 3]>,
    /// Whether it was seen to unwind since it was cancelled.
    pub cancellation: Cancelled,
}

const _: () = {
    assert!(core::mem::offset_of!(Thread, own) == 0);
    assert!(core::mem::offset_of!(Thread, pending) == layout::PENDING);
    assert!(core::mem::offset_of!(Thread, limit) == layout::LIMIT);
    assert!(core::mem::offset_of!(Thread, counter) == layout::COUNTER);
};

// SAFETY: cells are touched by the thread itself, or by its creator before it starts.
unsafe impl Sync for Thread {}

const CAPACITY: usize = 1 << 20;
static TABLE: AtomicPtr<AtomicPtr<Thread>> = AtomicPtr::new(core::ptr::null_mut());
static COUNT: AtomicUsize = AtomicUsize::new(0);
/// When the second thread came, in seconds and nanoseconds of the clock that files get their times from.
static SECOND_CAME: [AtomicI64; 2] = [const { AtomicI64::new(i64::MAX) }; 2];

// Words of thread-local storage: the thread, null where not known yet, with `UNRECORDED`; the thread if it owns memory, else null.
global_asm!(
    ".pushsection .tbss,\"awT\",@nobits",
    ".globl foretrace_current",
    ".hidden foretrace_current",
    ".type foretrace_current,@object",
    ".size foretrace_current,8",
    ".p2align 3",
    "foretrace_current:",
    ".zero 8",
    ".globl foretrace_owner",
    ".type foretrace_owner,@object",
    ".size foretrace_owner,8",
    "foretrace_owner:",
    ".zero 8",
    ".popsection"
);

/// Alone, or in the address of a thread that does for a while what is not recorded.
const UNRECORDED: usize = 1;

#[inline(always)]
fn local() -> usize {
    let word: usize;
    // SAFETY: reads the word above of this thread.
    unsafe {
        asm!("mov {0}, qword ptr [rip + foretrace_current@GOTTPOFF]", "mov {0}, qword ptr fs:[{0}]", out(reg) word,
            options(nostack, preserves_flags, readonly));
    }
    word
}

fn set_local(word: usize) {
    let owner = if word & UNRECORDED == 0 && own::ready() { word } else { 0 };
    // SAFETY: writes the words above of this thread.
    unsafe {
        asm!("mov {0}, qword ptr [rip + foretrace_current@GOTTPOFF]", "mov qword ptr fs:[{0}], {1}", out(reg) _,
            in(reg) word, options(nostack, preserves_flags));
        asm!("mov {0}, qword ptr [rip + foretrace_owner@GOTTPOFF]", "mov qword ptr fs:[{0}], {1}", out(reg) _,
            in(reg) owner, options(nostack, preserves_flags));
    }
}

/// The thread that runs here, if it may own memory.
#[inline(always)]
pub fn owner() -> Option<&'static Thread> {
    let word: usize;
    // SAFETY: reads the word above of this thread.
    unsafe {
        asm!("mov {0}, qword ptr [rip + foretrace_owner@GOTTPOFF]", "mov {0}, qword ptr fs:[{0}]", out(reg) word,
            options(nostack, preserves_flags, readonly, pure));
    }
    (word != 0).then(|| at(word))
}

/// What the thread that runs here is known to be.
#[inline(always)]
pub fn here() -> Here {
    let word = local();
    if word & UNRECORDED == 0 && word != 0 { Here::Recorded(at(word)) } else { Here::Not { is_known: word != 0 } }
}

/// See [`here`].
pub enum Here {
    /// A thread to record.
    Recorded(&'static Thread),
    /// None, by what is known, or not known yet.
    Not {
        /// It is known.
        is_known: bool,
    },
}

/// The thread that runs here, for code that may run anywhere: starts nothing.
pub fn known() -> Option<&'static Thread> {
    let word = local() & !UNRECORDED;
    (word != 0).then(|| at(word))
}

#[inline(always)]
fn at(word: usize) -> &'static Thread {
    // SAFETY: threads are never freed.
    unsafe { &*(word as *const Thread) }
}

/// The same, if it is one to record.
pub fn recorded() -> Option<&'static Thread> {
    match here() {
        Here::Recorded(thread) if mode::get() != mode::OFF => Some(thread),
        _ => None,
    }
}

/// From here on this thread is not recorded: it is ours, or it has ended as far as the program is concerned.
pub fn leave() {
    set_local(UNRECORDED);
}

/// Undoes [`leave`] where no thread was.
pub fn forget_left() {
    set_local(0);
}

/// Makes the table; once, before everything else.
pub fn prepare() -> bool {
    let Some(memory) = sys::map(CAPACITY * size_of::<AtomicPtr<Thread>>()) else { return false };
    TABLE.store(memory.cast(), Release);
    true
}

impl Thread {
    /// A thread without a number.
    pub fn new() -> Option<&'static Thread> {
        let memory = sys::map(size_of::<Thread>())?;
        let thread = at(memory as usize); // all zeroes is a valid thread
        thread.limit.store(u64::MAX, Relaxed);
        thread.part.start();
        thread.counter.store(core::ptr::from_ref(&thread.count).cast_mut(), Relaxed);
        Some(thread)
    }

    /// Gives back a thread that never was.
    ///
    /// # Safety
    /// Nobody knows it.
    pub unsafe fn discard(&'static self) {
        sys::unmap(core::ptr::from_ref(self) as *mut u8, size_of::<Thread>());
    }

    /// Gives it its number and a place in the table; false where the table is full.
    pub fn enlist(&'static self, parent: u64, nth: u64) -> bool {
        let index = COUNT.fetch_add(1, SeqCst);
        if index == 1 {
            let now = sys::now(sys::CLOCK_REALTIME_COARSE);
            SECOND_CAME[1].store(now.nanoseconds, SeqCst);
            SECOND_CAME[0].store(now.seconds, SeqCst);
        }
        self.number.set(index as u64 + 1);
        self.own.start(index as u64 + 1);
        self.parent.set(parent);
        self.nth.set(nth);
        let has_room = index < CAPACITY;
        if has_room {
            slot(index).store(core::ptr::from_ref(self).cast_mut(), Release);
        }
        has_room
    }

    /// What those who join it wait for.
    pub fn end_key(&'static self) -> usize {
        core::ptr::from_ref(self) as usize
    }

    /// From here on it is the one that runs here.
    pub fn enter(&'static self) {
        self.tid.store(sys::gettid(), Relaxed);
        set_local(core::ptr::from_ref(self) as usize);
    }

    /// From here on nothing that it does is recorded, until [`Thread::show`].
    pub fn hide(&'static self) {
        set_local(core::ptr::from_ref(self) as usize | UNRECORDED);
    }

    /// Ends [`Thread::hide`].
    pub fn show(&'static self) {
        set_local(core::ptr::from_ref(self) as usize);
    }

    /// One more counted record took effect.
    #[inline(always)]
    pub fn counted(&self) {
        let counter = self.counter();
        counter.store(counter.load(Relaxed) + 1, Relaxed);
    }

    /// One more ordered record that is no access took effect.
    pub fn recorded(&self, kind: Kind) {
        if kind.counted() {
            self.counted();
        } else {
            self.apart.set((self.count(), self.since_counted() + 1));
        }
    }

    /// How many records that are not counted took effect since the last counted thing.
    pub fn since_counted(&self) -> u64 {
        let (count, records) = self.apart.get();
        if count == self.count() { records } else { 0 }
    }

    /// Counted things that it did.
    #[inline(always)]
    pub fn count(&self) -> u64 {
        self.counter().load(Relaxed)
    }

    #[inline(always)]
    fn counter(&self) -> &AtomicU64 {
        // SAFETY: its own field, or a word that stays mapped.
        unsafe { &*self.counter.load(Relaxed) }
    }

    /// Counts there from now on, nowhere else to be seen where nothing is given.
    pub fn count_in(&self, counter: Option<&'static AtomicU64>) {
        let counter = counter.unwrap_or(
            // SAFETY: threads are never freed.
            unsafe { &*core::ptr::from_ref(&self.count) },
        );
        counter.store(self.count(), Relaxed);
        self.counter.store(core::ptr::from_ref(counter).cast_mut(), Relaxed);
    }

    /// Whether it is inside of a hook, or performs an access without a record.
    pub fn occupied(&self) -> bool {
        self.busy.get() || self.own.under_way().is_some()
    }

    /// Its path in the tree of threads.
    pub fn path(&self) -> Text<256> {
        let mut chain = [0u64; 24];
        let mut depth = 0;
        let (mut parent, mut nth) = (self.parent.get(), self.nth.get());
        while parent != 0 && depth < chain.len() {
            chain[depth] = nth;
            depth += 1;
            let Some(thread) = by_number(parent) else { break };
            (parent, nth) = (thread.parent.get(), thread.nth.get());
        }
        // Threads that no recorded thread created are roots as well: `0` is the first.
        let mut path = Text::formatted(format_args!("{nth}"));
        for nth in chain[..depth].iter().rev() {
            path.push(Text::<24>::formatted(format_args!(".{nth}")).bytes());
        }
        path
    }

    /// Runs `call` with the allocations in it unrecorded.
    pub fn quietly<R>(&self, call: impl FnOnce() -> R) -> R {
        self.quiet.set(self.quiet.get() + 1);
        let result = call();
        self.quiet.set(self.quiet.get() - 1);
        result
    }
}

fn slot(index: usize) -> &'static AtomicPtr<Thread> {
    debug_assert!(index < CAPACITY);
    // SAFETY: the table has this capacity and is never freed.
    unsafe { &*TABLE.load(Acquire).add(index) }
}

/// How many there are or were.
pub fn count() -> usize {
    COUNT.load(SeqCst).min(CAPACITY)
}

/// Whether a second thread was there at this time of a file, in seconds and nanoseconds.
pub fn several_at(time: (i64, i64)) -> bool {
    time >= (SECOND_CAME[0].load(SeqCst), SECOND_CAME[1].load(SeqCst))
}

/// The thread of this number.
pub fn by_number(number: u64) -> Option<&'static Thread> {
    let index = usize::try_from(number).ok()?.checked_sub(1)?;
    // SAFETY: never freed once it is there.
    (index < count()).then(|| unsafe { slot(index).load(Acquire).as_ref() }).flatten()
}

/// All threads, in order of creation.
pub fn all() -> impl DoubleEndedIterator<Item = &'static Thread> {
    (1..=count()).filter_map(|number| by_number(number as u64))
}

/// The thread that a `pthread_t` names.
pub fn by_pthread(pthread: usize) -> Option<&'static Thread> {
    all().rev().find(|thread| thread.pthread.load(Relaxed) == pthread)
}

/// The thread of this path.
pub fn by_path(path: &[u8]) -> Option<&'static Thread> {
    let mut parts = path.split(|&byte| byte == b'.').map(crate::text::number);
    let root = parts.next()??;
    let mut thread = all().find(|thread| thread.parent.get() == 0 && thread.nth.get() == root)?;
    for part in parts {
        let nth = part?;
        thread = all().find(|child| child.parent.get() == thread.number.get() && child.nth.get() == nth)?;
    }
    Some(thread)
}
