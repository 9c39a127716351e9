//! What comes from outside of the program, as files have it: `outside-<path>` of a recording, and what a replay gets of it for its sockets.
//! The runtime writes the first and reads both, the harness makes the second of the first.

// An entry is a header (key in the top 16 bits, bytes of data below), the result, the data up to a whole word. The header is
// written last, so a file is whole up to its first zero word.

/// Where the key of a header begins: the kind of call in its upper byte, a detail in the lower.
pub const KEY_SHIFT: u32 = 48;
/// The bytes of data.
pub const LENGTH: u64 = (1 << KEY_SHIFT) - 1;
/// Bytes of a word.
pub const WORD: usize = size_of::<u64>();
/// Words of an entry before its data.
pub const HEAD_WORDS: usize = 2;
/// Fills the end of a piece of the file: a header alone, and so many bytes that mean nothing.
pub const FILLER: u16 = u16::MAX;
/// The kind of the numbers of processes and threads; the detail 0 is the process itself.
pub const NUMBER: u8 = 9;
/// The kind of the calls on sockets.
pub const SOCKET: u8 = 12;

/// Words of an entry with so many bytes of data.
pub const fn words_for(bytes: usize) -> usize {
    HEAD_WORDS + bytes.div_ceil(WORD)
}

/// Which call it was. Each has its own sequence of entries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Call {
    /// Bytes were read.
    Receive,
    /// Bytes were looked at, which stay there.
    Peek,
    /// A connection came; the data is [`Opening`] and the other side's address.
    Accept,
    /// A connection was made; the data is [`Opening`] and the own address.
    Connect,
    /// Bytes were sent.
    Send,
    /// It was waited for several descriptors; the data is a [`Ready`] for each that was reported.
    Ready,
    /// Bytes were read from a terminal, or from a pipe that the program was started with.
    Input,
}

/// What the data of each entry begins with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Head {
    /// The place among all calls on sockets.
    pub number: u64,
    /// The socket's inode, which no other socket has.
    pub socket: u64,
    /// Its descriptor.
    pub file: i32,
    /// The error of a call that failed.
    pub error: i32,
}

/// A connection that begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Opening {
    /// The descriptor that it came by; of one that was made it is the same as that of the head.
    pub by: i32,
    /// Not 0 if the runtime knows that no other program is at its other end.
    pub own: i32,
}

/// A descriptor that was reported.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Ready {
    /// Of `epoll`: the program's number. Of `poll`: the position in the array.
    pub data: u64,
    /// The inode if it is a socket, else 0.
    pub socket: u64,
    /// The descriptor; -1 if it is not known.
    pub file: i32,
    /// What was reported, as the call has it; of `select` a bit for each of the three sets.
    pub events: u32,
}

/// A line of the file. It holds the number of these, the number of connections, these by number, then the bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Deed {
    /// Which call on sockets of the recording it stands for.
    pub number: u64,
    /// The connection, from 0.
    pub connection: u32,
    /// [`ACCEPTED`], [`CONNECTED`], [`SENT`], [`ENDED`] or [`INHERITED`].
    pub kind: u32,
    /// For sent bytes their position in the file. For an accepted connection the descriptor that it was accepted on. For one that was there
    /// when the program started its descriptor.
    pub at: u64,
    /// How many bytes were sent.
    pub bytes: u64,
}

/// Another program connected.
pub const ACCEPTED: u32 = 0;
/// The program connected to another one.
pub const CONNECTED: u32 = 1;
/// The other program sent bytes.
pub const SENT: u32 = 2;
/// It will send no more.
pub const ENDED: u32 = 3;
/// It was there when the program started. The number is 0, and the bytes are the socket's or pipe's inode.
pub const INHERITED: u32 = 4;

/// Words before the deeds.
pub const WORDS_BEFORE_DEEDS: usize = 2;
