//! What the instrumenter tells the runtime of a function that it has recognised as a lock's: one number.

/// What the function does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u64)]
pub enum Action {
    /// Takes the lock, however long that takes.
    Take = 0,
    /// Takes it if it is free.
    Try = 1,
    /// Gives it back.
    Give = 2,
    /// Tells whether it is taken.
    Ask = 3,
    /// One who reads, and will perhaps write, writes.
    Upgrade = 4,
    /// The same if there is no reader.
    TryUpgrade = 5,
    /// Who writes goes on reading.
    Downgrade = 6,
    /// Who would perhaps write goes on reading.
    DowngradeUpgradable = 7,
    /// Who writes goes on reading, and will perhaps write.
    DowngradeToUpgradable = 8,
}

/// How the lock is held.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u64)]
pub enum Hold {
    /// A mutex, by one thread.
    Mutex = 0,
    /// A lock that can be shared, by one thread.
    Alone = 1,
    /// Such a lock, by all who read.
    Shared = 2,
    /// Such a lock, by all who read, and this one thread may go on to write.
    Upgradable = 3,
    /// Such a lock, in whichever way the thread holds it.
    Either = 4,
}

/// Objects of the runtime's that stand for locks of the program's have this bit in their addresses.
pub const OURS: usize = 1 << 62;
/// Those that stand for gates have this one, too: which leaves them in the bucket of their lock.
pub const GATE: usize = 1 << 61;
/// The gate of a lock, as records name it, lies so many bytes further.
const GATE_BYTES: usize = 1;

/// What records call an object for which a thread waits.
pub const fn as_recorded(object: usize) -> usize {
    const MARKS: usize = 0b1111 << 60;
    const OF_GATE: usize = OURS | GATE;
    match object & MARKS {
        OURS => object & !MARKS,
        OF_GATE => (object & !MARKS) + GATE_BYTES,
        _ => object,
    }
}

const HOLD: u32 = 8;
const AGAIN: u64 = 1 << 16;
const GATED: u64 = 1 << 17;
const WRITERS_FIRST: u64 = 1 << 18;

/// A function of a lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LockCall {
    /// What it does.
    pub action: Action,
    /// How.
    pub hold: Hold,
    /// A thread that holds the lock may take it once more.
    pub again: bool,
    /// The lock is of a type that may be upgraded or downgraded.
    pub gated: bool,
    /// Who comes to read waits for a writer who waits.
    pub writers_first: bool,
}

impl LockCall {
    /// A function of a lock that is neither upgraded nor downgraded, and that readers do not leave to writers who wait.
    pub const fn new(action: Action, hold: Hold, again: bool) -> LockCall {
        LockCall { action, hold, again, gated: false, writers_first: false }
    }

    /// Its number.
    pub const fn code(self) -> u64 {
        let flags = if self.again { AGAIN } else { 0 }
            | if self.gated { GATED } else { 0 }
            | if self.writers_first { WRITERS_FIRST } else { 0 };
        self.action as u64 | (self.hold as u64) << HOLD | flags
    }

    /// The one of this number.
    pub const fn from_code(code: u64) -> Option<LockCall> {
        let action = match code as u8 {
            0 => Action::Take,
            1 => Action::Try,
            2 => Action::Give,
            3 => Action::Ask,
            4 => Action::Upgrade,
            5 => Action::TryUpgrade,
            6 => Action::Downgrade,
            7 => Action::DowngradeUpgradable,
            8 => Action::DowngradeToUpgradable,
            _ => return None,
        };
        let hold = match (code >> HOLD) as u8 {
            0 => Hold::Mutex,
            1 => Hold::Alone,
            2 => Hold::Shared,
            3 => Hold::Upgradable,
            4 => Hold::Either,
            _ => return None,
        };
        let (again, gated, writers_first) = (code & AGAIN != 0, code & GATED != 0, code & WRITERS_FIRST != 0);
        Some(LockCall { action, hold, again, gated, writers_first })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_for_calls() {
        let mut seen = 0;
        for code in (0..0x1_0000_u64).flat_map(|code| [code, code | AGAIN, code | GATED, code | WRITERS_FIRST]) {
            let Some(call) = LockCall::from_code(code) else { continue };
            assert_eq!(call.code(), code);
            seen += 1;
        }
        assert_eq!(seen, 9 * 5 * 4);
    }
}
