//! The order of the writes to a pipe or queue, and of the reads from it.
//!
//! The log has the result of a read as it was in the run, so the order of readers matters: in another order they get other messages. Each
//! call meets the calls before it in the same direction at a barrier of the channel, unless all writes are the same text. A read that left
//! nothing is also before the next write: otherwise it would have got more. Another path of the program may have other orders, so the
//! walker marks these as orders of this path alone.
//!
//! Each call makes the same records whatever the order is, so that positions in logs are those of the recording when it is replayed.

/// Calls that may change places, and the ones that came before them.
#[derive(Clone, Copy)]
struct Epochs {
    /// The last one that is over; 0 for none.
    before: u64,
    /// The one that the last call belongs to; 0 before the first call.
    now: u64,
    /// Whether no other call may belong to it.
    alone: bool,
}

const EPOCH_BITS: u32 = 31;
const EPOCH: u64 = (1 << EPOCH_BITS) - 1;

impl Epochs {
    fn from_word(word: u64) -> Epochs {
        Epochs { before: word & EPOCH, now: word >> EPOCH_BITS & EPOCH, alone: word >> 63 == 1 }
    }

    fn word(self) -> u64 {
        self.before & EPOCH | (self.now & EPOCH) << EPOCH_BITS | u64::from(self.alone) << 63
    }

    /// The next call comes.
    fn go_on(&mut self, alone: bool) {
        if self.now == 0 {
            self.now = 1;
        } else if alone || self.alone {
            (self.before, self.now) = (self.now, self.now + 1);
        }
        self.alone = alone;
    }
}

/// Which way a call moves bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Read,
    Write,
}

impl Direction {
    /// The barrier's round of an epoch; 0 for none.
    fn round(self, epoch: u64) -> u64 {
        if epoch == 0 { 0 } else { epoch * 2 + u64::from(self == Direction::Write) }
    }
}

/// The calls on a channel so far.
pub struct Order {
    reads: Epochs,
    writes: Epochs,
    /// The epoch of the last read that left nothing; 0 for none.
    emptied: u64,
    /// What was written first: 0 nothing, [`SEVERAL`] where another text came after it.
    text: u64,
}

/// Not one text alone.
pub const SEVERAL: u64 = 1;

/// Longer texts are not compared: each is [`SEVERAL`].
pub const LONGEST_TEXT: usize = 64;

/// Stands for a text: equal texts have equal numbers.
pub fn text_of(bytes: &[u8]) -> u64 {
    let start = 0x811c_9dc5_u32 ^ bytes.len() as u32;
    let hash = bytes.iter().fold(start, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193));
    u64::from(hash) | 2
}

/// Rounds that a call departs from, and the one that it arrives in; 0 for none.
#[derive(Clone, Copy)]
pub struct Rounds {
    /// Rounds of calls that came before.
    pub before: [u64; 2],
    /// The call's own round.
    pub own: u64,
}

impl Rounds {
    /// Of a call whose place among the others is not known.
    pub const NONE: Rounds = Rounds { before: [0; 2], own: 0 };
}

impl Order {
    /// As it was kept, all 0 before the first call.
    pub fn from_words([reads, writes, last]: [u64; 3]) -> Order {
        let (emptied, text) = (last & EPOCH, last >> EPOCH_BITS);
        Order { reads: Epochs::from_word(reads), writes: Epochs::from_word(writes), emptied, text }
    }

    /// What is to be kept.
    pub fn words(&self) -> [u64; 3] {
        [self.reads.word(), self.writes.word(), self.emptied & EPOCH | self.text << EPOCH_BITS]
    }

    /// A write of this text comes.
    pub fn write(&mut self, text: u64) -> Rounds {
        if self.text == 0 {
            self.text = text;
        } else if self.text != text {
            self.text = SEVERAL;
        }
        self.writes.go_on(self.text == SEVERAL);
        let before = [Direction::Write.round(self.writes.before), Direction::Read.round(self.emptied)];
        Rounds { before, own: Direction::Write.round(self.writes.now) }
    }

    /// A read comes, which leaves nothing or something.
    pub fn read(&mut self, leaves_nothing: bool) -> Rounds {
        self.reads.go_on(leaves_nothing || self.text == SEVERAL);
        if leaves_nothing {
            self.emptied = self.reads.now;
        }
        Rounds { before: [Direction::Read.round(self.reads.before), 0], own: Direction::Read.round(self.reads.now) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Calls as letters: `a` and `b` write these texts, `r` reads and leaves something, `e` empties. What each departs from and arrives in.
    fn rounds(calls: &str) -> std::vec::Vec<([u64; 2], u64)> {
        let mut words = [0; 3];
        let mut call = |letter: char| {
            let mut order = Order::from_words(words);
            let rounds = match letter {
                'r' => order.read(false),
                'e' => order.read(true),
                _ => order.write(text_of(&[letter as u8])),
            };
            words = order.words();
            (rounds.before, rounds.own)
        };
        calls.chars().map(&mut call).collect()
    }

    #[test]
    fn calls_with_one_text_may_change_places() {
        assert_eq!(rounds("aarr"), [([0, 0], 3), ([0, 0], 3), ([0, 0], 2), ([0, 0], 2)]);
    }

    #[test]
    fn each_call_meets_the_one_before_where_texts_differ() {
        assert_eq!(rounds("abrr"), [([0, 0], 3), ([3, 0], 5), ([0, 0], 2), ([2, 0], 4)]);
    }

    #[test]
    fn a_write_meets_the_read_that_left_nothing() {
        assert_eq!(rounds("aea"), [([0, 0], 3), ([0, 0], 2), ([0, 2], 3)]);
        assert_eq!(rounds("aaerr")[3..], [([2, 0], 4), ([2, 0], 4)], "reads after it come after it");
    }
}
