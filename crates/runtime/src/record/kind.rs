//! Kinds of records: what each says, in how many words.

use super::PLACE_BITS;

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident = $code:literal, $words:literal;)*) => {
        /// What a record says. After each, the words that follow its header.
        ///
        /// As wide as a word, so that records in memory are all words: what fills them up would be copied apart.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
        #[repr(u64)]
        pub enum Kind { $($(#[$doc])* $name = $code,)* }

        impl Kind {
            /// The kind of a header word; `None` where it is no header.
            #[inline]
            pub const fn from_header(header: u64) -> Option<Kind> {
                match (header >> PLACE_BITS) as u8 { $($code => Some(Kind::$name),)* _ => None }
            }

            /// Words of a record of this kind, its header included.
            #[inline]
            pub const fn words(self) -> usize {
                match self { $(Kind::$name => $words,)* }
            }
        }
    };
}

kinds! {
    /// A conditional branch whose condition was false.
    BranchFalse = 1, 1;
    /// A conditional branch whose condition was true.
    BranchTrue = 2, 1;
    /// A switch or indirect branch: the value that chose.
    Switch = 3, 2;
    /// An instrumented function was entered (the site is the function's); no parameter was recorded.
    Enter0 = 8, 1;
    /// The same, with the first recorded parameter: of the parameters, in order, those of scalar type.
    Enter1 = 9, 2;
    /// The same with two.
    Enter2 = 10, 3;
    /// The same with three.
    Enter3 = 11, 4;
    /// The same with four. Those after the fourth follow as `Argument`.
    Enter4 = 12, 5;
    /// One more parameter (the site is the function's): value.
    Argument = 13, 2;
    /// What an instruction produced that the offline tools cannot compute: value.
    Value = 14, 2;
    /// A call that may have led out of instrumented code came back (the site is the call's): value, 0 if none.
    Result = 15, 2;
    /// A landing pad was reached: an exception unwound to here.
    Landing = 16, 1;
    /// Memory of the frame whose address escapes: address, size in bytes.
    Alloca = 17, 3;
    /// More accesses were left out than stamps can tell: how many counted things the thread has done.
    Skip = 18, 2;

    /// The thread goes on in another context of `swapcontext`: what stands for this one from now on (0 for nothing), and for that one.
    Context = 19, 3;

    /// A function that gcc instrumented was entered (the place lies in it): where it will return to.
    Called = 24, 2;
    /// Such a function returns, or an exception leaves it.
    Returned = 25, 1;

    /// The log does not begin with the thread: one of [`cut`](super::cut), the order number of the moment from which on it is whole, 1
    /// if it is not known what the thread has open. Right after the file's header.
    Cut = 26, 4;
    /// What the thread has open there, one record for each: kind, first and second word of the record that began it; of a wait
    /// whether its mutex is recursive.
    Open = 27, 5;

    /// A read of 1 byte: address, value, order.
    Load1 = 32, 4;
    /// A read of 2 bytes.
    Load2 = 33, 4;
    /// A read of 4 bytes.
    Load4 = 34, 4;
    /// A read of 8 bytes.
    Load8 = 35, 4;
    /// A write of 1 byte: address, value, order.
    Store1 = 36, 4;
    /// A write of 2 bytes.
    Store2 = 37, 4;
    /// A write of 4 bytes.
    Store4 = 38, 4;
    /// A write of 8 bytes.
    Store8 = 39, 4;
    /// An atomic read-modify-write or a compare-and-swap that succeeded, of 1 byte: address, old, new, order.
    Update1 = 40, 5;
    /// The same of 2 bytes.
    Update2 = 41, 5;
    /// The same of 4 bytes.
    Update4 = 42, 5;
    /// The same of 8 bytes.
    Update8 = 43, 5;
    /// A compare-and-swap that failed, of 1 byte: address, old, expected, order.
    Failed1 = 44, 5;
    /// The same of 2 bytes.
    Failed2 = 45, 5;
    /// The same of 4 bytes.
    Failed4 = 46, 5;
    /// The same of 8 bytes.
    Failed8 = 47, 5;

    /// A write of 1 byte where not all is recorded: address, value, what was there before, order.
    Replace1 = 48, 5;
    /// The same of 2 bytes.
    Replace2 = 49, 5;
    /// The same of 4 bytes.
    Replace4 = 50, 5;
    /// The same of 8 bytes.
    Replace8 = 51, 5;

    /// Start of an operation that the program marks: address of the method's name (a C string), the object (0 for none), order.
    CallBegin = 52, 4;
    /// Its end: address of the method's name, the object, order.
    CallEnd = 53, 4;
    /// An argument of the next `CallBegin` or the result of the next `CallEnd` of the thread: value, one of [`given`](super::given), order.
    CallValue = 54, 4;

    /// A call for a lock, condition variable, semaphore or barrier failed by an error, or waits when the run ends in a deadlock: object, the
    /// error (`EDEADLK` for the wait), order.
    Refused = 55, 4;

    /// Memory is another name of memory that was mapped before: its address, that of the other, how many bytes, order. After its `Allocate`.
    Alias = 62, 5;
    /// Code that is not recorded may order threads here: what it is (address of a C string), what it concerns (of another one, 0 for
    /// anything), order.
    Unseen = 63, 4;

    /// A mutex or spin lock was taken: object, its [`nature`](super::nature), order.
    Acquire = 64, 4;
    /// It was given back: object, -, order.
    Release = 65, 4;
    /// A try or timed lock that failed: object, 0 for held by another or the error (`EDEADLK`: held by itself), order.
    Busy = 66, 4;
    /// An rwlock was taken alone: object, -, order.
    WriteLock = 67, 4;
    /// It was given back by its writer: object, -, order.
    WriteUnlock = 68, 4;
    /// An rwlock was shared: object, whether [`AFTER_WRITERS`](super::AFTER_WRITERS), order.
    ReadLock = 69, 4;
    /// A share was given back: object, -, order.
    ReadUnlock = 70, 4;
    /// Start of a wait, gives the mutex back: condition variable, mutex, order.
    Wait = 71, 4;
    /// End of a wait, the mutex is held again: condition variable, order of the signal that woke it, or one of
    /// [`WOKEN_BY_TIMEOUT`](super::WOKEN_BY_TIMEOUT), [`WOKEN_SPURIOUSLY`](super::WOKEN_SPURIOUSLY), order. The mutex is that of the wait.
    Wake = 72, 4;
    /// One waiter was released, or none waited: condition variable, number of the thread released or 0, order.
    Signal = 73, 4;
    /// All waiters were released: condition variable, how many, order.
    Broadcast = 74, 4;
    /// A semaphore came into being or was set again: object, count, order.
    SemaphoreInit = 75, 4;
    /// One was put back: object, count before it, order.
    Post = 76, 4;
    /// One was taken: object, count after it, order.
    Down = 77, 4;
    /// A barrier was reached: object, round, order.
    Arrive = 78, 4;
    /// It was left: object, round, order.
    Depart = 79, 4;
    /// A barrier came into being: object, parties, order.
    BarrierInit = 80, 4;
    /// A thread was created: number of the child, address of its start function, order.
    Fork = 81, 4;
    /// The thread's first record: its number, -, order.
    Start = 82, 4;
    /// The thread's last record: its number, -, order.
    Exit = 83, 4;
    /// A thread was joined: its number, -, order.
    Join = 84, 4;
    /// Memory was allocated: address, size in bytes (with [`LEFT_OVER`](super::LEFT_OVER)), order. The place is where the allocator returns to.
    Allocate = 85, 4;
    /// Memory was given back: address, bytes of a mapping (0 of the allocator), order.
    Free = 86, 4;
    /// Start of a marked transaction: address of its label (a C string, 0 for none), -, order.
    AtomicBegin = 87, 4;
    /// End of a marked transaction: address of its label, -, order.
    AtomicEnd = 88, 4;
    /// A signal handler starts: signal number, address of the handler, order.
    HandlerBegin = 89, 4;
    /// It returned: signal number, -, order.
    HandlerEnd = 90, 4;
    /// The failure that ends the run: one of [`fail`](super::fail), its detail, order.
    Fail = 91, 4;
    /// The thread is to run the initialiser of something that happens once: object, -, order.
    OnceBegin = 92, 4;
    /// It is through: object, -, order.
    OnceEnd = 93, 4;
    /// The thread goes past, since another was through before: object, -, order.
    OncePass = 94, 4;
    /// The initialiser failed and may be tried again: object, -, order.
    OnceFail = 95, 4;

    /// Nothing is recorded from here on: one of [`stop`](super::stop). Written by the runtime or, after the run, by `foretrace record`.
    Stop = 127, 2;
}

/// The pattern of all accesses of memory. With `code_kinds!` it spares a `_` arm, so that the compiler names each `match` that a new kind of
/// synchronisation needs.
#[macro_export]
macro_rules! access_kinds {
    () => {
        $crate::record::Kind::Load1
            | $crate::record::Kind::Load2
            | $crate::record::Kind::Load4
            | $crate::record::Kind::Load8
            | $crate::record::Kind::Store1
            | $crate::record::Kind::Store2
            | $crate::record::Kind::Store4
            | $crate::record::Kind::Store8
            | $crate::record::Kind::Update1
            | $crate::record::Kind::Update2
            | $crate::record::Kind::Update4
            | $crate::record::Kind::Update8
            | $crate::record::Kind::Failed1
            | $crate::record::Kind::Failed2
            | $crate::record::Kind::Failed4
            | $crate::record::Kind::Failed8
            | $crate::record::Kind::Replace1
            | $crate::record::Kind::Replace2
            | $crate::record::Kind::Replace4
            | $crate::record::Kind::Replace8
    };
}

/// The pattern of all kinds without an order: what code of one thread does, and what a log says of itself.
#[macro_export]
macro_rules! code_kinds {
    () => {
        $crate::record::Kind::BranchFalse
            | $crate::record::Kind::BranchTrue
            | $crate::record::Kind::Switch
            | $crate::record::Kind::Enter0
            | $crate::record::Kind::Enter1
            | $crate::record::Kind::Enter2
            | $crate::record::Kind::Enter3
            | $crate::record::Kind::Enter4
            | $crate::record::Kind::Argument
            | $crate::record::Kind::Value
            | $crate::record::Kind::Result
            | $crate::record::Kind::Landing
            | $crate::record::Kind::Alloca
            | $crate::record::Kind::Skip
            | $crate::record::Kind::Context
            | $crate::record::Kind::Called
            | $crate::record::Kind::Returned
            | $crate::record::Kind::Cut
            | $crate::record::Kind::Open
            | $crate::record::Kind::Stop
    };
}

impl Kind {
    /// Whether records of this kind carry their order as last word.
    #[inline]
    pub const fn ordered(self) -> bool {
        matches!(self as u8, 32..=95)
    }

    /// Whether records of this kind are counted. Ordered records of the allocator are not. The first thread that uses a stream or a cache
    /// of a library allocates it. So how often a thread allocates depends on other threads, too. How many mappings are of one memory when a
    /// thread makes its own depends on them as well. A call that was refused did nothing: no schedule has a step for it.
    #[inline]
    pub const fn counted(self) -> bool {
        self.ordered() && !matches!(self, Kind::Allocate | Kind::Free | Kind::Alias | Kind::Refused)
    }

    /// Bytes that an access touches; 0 for any other kind.
    #[inline]
    pub const fn size(self) -> usize {
        match self as u8 {
            code @ 32..=51 => 1 << (code & 3),
            _ => 0,
        }
    }

    /// The `Load` of so many bytes: 1, 2, 4, else 8.
    pub const fn load(bytes: u64) -> Kind {
        match bytes {
            1 => Kind::Load1,
            2 => Kind::Load2,
            4 => Kind::Load4,
            _ => Kind::Load8,
        }
    }

    /// The `Store` of so many bytes.
    pub const fn store(bytes: u64) -> Kind {
        match bytes {
            1 => Kind::Store1,
            2 => Kind::Store2,
            4 => Kind::Store4,
            _ => Kind::Store8,
        }
    }

    /// Whether it is a `Load`.
    #[inline]
    pub const fn is_load(self) -> bool {
        matches!(self as u8, 32..=35)
    }

    /// Whether it is a `Store` or a `Replace`.
    #[inline]
    pub const fn is_store(self) -> bool {
        matches!(self as u8, 36..=39 | 48..=51)
    }

    /// Whether it is a `Replace`.
    pub const fn is_replace(self) -> bool {
        matches!(self as u8, 48..=51)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_itself_again() {
        for code in 0..=u8::MAX {
            let Some(kind) = Kind::from_header(u64::from(code) << PLACE_BITS) else { continue };
            assert_eq!(kind as u8, code);
            assert!(kind.words() >= 1);
            assert_eq!(kind.size() > 0, (32..52).contains(&code));
            assert!(kind.ordered() || !kind.counted());
            assert_eq!(kind.size() > 0, matches!(kind, access_kinds!()), "{kind:?}");
            assert_eq!(!kind.ordered(), matches!(kind, code_kinds!()), "{kind:?}");
        }
    }
}
