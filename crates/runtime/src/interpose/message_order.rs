//! The order of what is written to a pipe or queue, and of what is read from it.
//!
//! What a read gives is in the log as it was, so who reads first matters: in another order the messages are others. Each call meets
//! the calls before it in the same direction at a barrier of the channel, unless all that was ever written is one text. A read that
//! left nothing is also before the next write: otherwise it would have got more. Another path of the program may have other orders,
//! so the walker takes these for those of this path alone.
//!
//! Each call makes the same records whatever the order is, so that positions in logs are those of the recording when it is replayed.

use crate::log;
use crate::record::{Kind, MESSAGES};
use crate::threads::Thread;
use crate::waiting::Bucket;

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
    fn of(word: u64) -> Epochs {
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

/// Of a channel, by the words of its second object: epochs of reads, those of writes, and the last two.
pub struct Order {
    number: u64,
    reads: Epochs,
    writes: Epochs,
    /// The epoch of the last read that left nothing; 0 for none.
    emptied: u64,
    /// What was written first: 0 nothing, [`SEVERAL`] where another text came after it.
    text: u64,
}

/// Not one text alone.
pub const SEVERAL: u64 = 1;

/// A text as far as it is compared: longer ones are taken for different each time.
pub fn text_of(bytes: &[u8]) -> u64 {
    const LONGEST: usize = 64;
    if bytes.len() > LONGEST {
        return SEVERAL;
    }
    let start = 0x811c_9dc5_u32 ^ bytes.len() as u32;
    let hash = bytes.iter().fold(start, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193));
    u64::from(hash) | 2
}

/// Where the bucket of a channel keeps its order.
fn key_of(channel: usize) -> usize {
    channel | 1
}

impl Order {
    /// What is known of the channel of this key and number; its bucket is locked.
    pub fn of(bucket: &Bucket, channel: usize, number: u64) -> Order {
        let [reads, writes, last] = bucket.object(key_of(channel)).map_or([0; 3], |object| object.words.get());
        let (emptied, text) = (last & EPOCH, last >> EPOCH_BITS);
        Order { number, reads: Epochs::of(reads), writes: Epochs::of(writes), emptied, text }
    }

    fn keep(&self, bucket: &Bucket, channel: usize) {
        let last = self.emptied & EPOCH | self.text << EPOCH_BITS;
        bucket.object_or_new(key_of(channel)).words.set([self.reads.word(), self.writes.word(), last]);
    }

    /// Before the records of a write of this text.
    pub fn before_write(&mut self, thread: &'static Thread, text: u64, place: usize) {
        if self.text == 0 {
            self.text = text;
        } else if self.text != text {
            self.text = SEVERAL;
        }
        self.writes.go_on(self.text == SEVERAL);
        let last = [Direction::Write.round(self.writes.before), Direction::Read.round(self.emptied)];
        self.depart(thread, last, place);
    }

    /// After them.
    pub fn after_write(&self, thread: &'static Thread, (bucket, channel): (&Bucket, usize), place: usize) {
        self.arrive(thread, Direction::Write.round(self.writes.now), place);
        self.keep(bucket, channel);
    }

    /// Before the records of a read, which left nothing or something.
    pub fn before_read(&mut self, thread: &'static Thread, left_nothing: bool, place: usize) {
        self.reads.go_on(left_nothing || self.text == SEVERAL);
        if left_nothing {
            self.emptied = self.reads.now;
        }
        self.depart(thread, [Direction::Read.round(self.reads.before), 0], place);
    }

    /// After them.
    pub fn after_read(&self, thread: &'static Thread, (bucket, channel): (&Bucket, usize), place: usize) {
        self.arrive(thread, Direction::Read.round(self.reads.now), place);
        self.keep(bucket, channel);
    }

    fn object(&self) -> u64 {
        MESSAGES + self.number * 16
    }

    fn depart(&self, thread: &'static Thread, [first, second]: [u64; 2], place: usize) {
        log::sync(thread, Kind::Depart, place, self.object(), first | second << 32);
    }

    fn arrive(&self, thread: &'static Thread, round: u64, place: usize) {
        log::sync(thread, Kind::Arrive, place, self.object(), round);
    }
}
