//! The compact binary form of traces, `.ftb`: see `docs/binary-format.md`.
//!
//! It is read as a stream: no length in the file is trusted with an allocation, every reference is checked when it
//! is read, and in the end the same rules as for JSON Lines.

mod input;
pub(crate) mod read;
mod write;

pub use read::read;
pub use write::write;

/// The first bytes of a file; the first one is no text, the line ends show damage by text tools.
pub const MAGIC: [u8; 8] = *b"\x89FTB\r\n\x1a\n";

/// The version of the format.
pub const VERSION: u64 = 1;

/// The kinds of events, by their codes.
const KINDS: [&str; 31] = [
    "begin",
    "end",
    "read",
    "write",
    "rmw",
    "let",
    "assume",
    "acquire",
    "release",
    "acquire_shared",
    "release_shared",
    "busy",
    "wait",
    "wake",
    "signal",
    "broadcast",
    "post",
    "down",
    "arrive",
    "depart",
    "fork",
    "join",
    "call",
    "return",
    "free",
    "fail",
    "unseen",
    "once_begin",
    "once_end",
    "once_pass",
    "once_fail",
];

/// Tags of terms.
mod tag {
    pub(super) const FALSE: u8 = 0;
    pub(super) const TRUE: u8 = 1;
    pub(super) const NATURAL: u8 = 2;
    pub(super) const NEGATIVE: u8 = 3;
    pub(super) const WORD: u8 = 4;
    pub(super) const LOCAL: u8 = 5;
    pub(super) const APPLICATION: u8 = 6;
}

/// Bits that say which of an event's optional parts follow.
mod flag {
    pub(super) const LOC: u64 = 1;
    pub(super) const AT: u64 = 2;
    pub(super) const PART: u64 = 4;
    /// The optional fields of an operation, in its order, from this bit on.
    pub(super) const FIRST_FIELD: u64 = 8;
    /// Above the optional fields: it is one of two outcomes.
    pub(super) const TRIED: u64 = FIRST_FIELD << 5;
    /// Above that: an `rmw` is external.
    pub(super) const EXTERNAL: u64 = FIRST_FIELD << 6;
}

/// Content with the checksum that ends a file.
pub fn with_checksum(content: &[u8]) -> Vec<u8> {
    let mut file = content.to_vec();
    file.extend_from_slice(&crc32fast::hash(content).to_le_bytes());
    file
}
