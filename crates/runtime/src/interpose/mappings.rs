//! Memory that is mapped more than once: which piece of a file, or of System V shared memory, is where. A second mapping of the same
//! piece is another name of the first one's memory, and the log says so.

use core::ffi::c_int;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use super::descriptors::identity;
use crate::lock::Lock;
use crate::log;
use crate::ownership;
use crate::record::Kind;
use crate::sys;
use crate::text::say;
use crate::threads::Thread;

/// How many mappings are kept.
const MOST: usize = 256;
/// In place of a device: System V shared memory.
pub(super) const SEGMENTS: u64 = u64::MAX;
/// The same: no file. The address stands for the file's number.
const ANONYMOUS: u64 = u64::MAX - 1;

/// A piece of a file, and where it is; all under the lock.
struct Mapping {
    device: AtomicU64,
    inode: AtomicU64,
    offset: AtomicU64,
    /// 0 where this is free.
    bytes: AtomicU64,
    address: AtomicU64,
}

static LOCK: Lock = Lock::new();
static MAPPINGS: [Mapping; MOST] = [const {
    Mapping {
        device: AtomicU64::new(0),
        inode: AtomicU64::new(0),
        offset: AtomicU64::new(0),
        bytes: AtomicU64::new(0),
        address: AtomicU64::new(0),
    }
}; MOST];
static SAID: AtomicBool = AtomicBool::new(false);

/// What is mapped: of which file, from where on, how much.
#[derive(Clone, Copy)]
pub(super) struct Piece {
    pub(super) file: (u64, u64),
    pub(super) offset: u64,
    pub(super) bytes: u64,
}

impl Mapping {
    fn is_of(&self, file: (u64, u64)) -> bool {
        self.bytes.load(Relaxed) > 0 && (self.device.load(Relaxed), self.inode.load(Relaxed)) == file
    }

    /// What both have of the file: from where on, up to where.
    fn common(&self, piece: Piece) -> Option<(u64, u64)> {
        let (offset, bytes) = (self.offset.load(Relaxed), self.bytes.load(Relaxed));
        let (from, to) = (offset.max(piece.offset), (offset + bytes).min(piece.offset + piece.bytes));
        (from < to).then_some((from, to))
    }
}

/// This piece is at an address now. The thread is inside of a hook.
pub(super) fn mapped(thread: &'static Thread, address: u64, piece: Piece, place: usize) {
    ownership::give_up(address, piece.bytes);
    LOCK.lock();
    for mapping in MAPPINGS.iter().filter(|mapping| mapping.is_of(piece.file)) {
        if let Some((from, to)) = mapping.common(piece) {
            let first = mapping.address.load(Relaxed) + (from - mapping.offset.load(Relaxed));
            log::ordered(thread, Kind::Alias, place, [address + (from - piece.offset), first, to - from]);
        }
    }
    keep(address, piece);
    LOCK.unlock();
}

/// Memory without a file, which processes forked later share, is at an address now.
pub fn anonymous_mapped(address: u64, bytes: u64) {
    let piece = Piece { file: (ANONYMOUS, address), offset: 0, bytes: bytes.next_multiple_of(sys::PAGE as u64) };
    LOCK.lock();
    keep(address, piece);
    LOCK.unlock();
}

/// The lock is held.
fn keep(address: u64, piece: Piece) {
    match MAPPINGS.iter().find(|mapping| mapping.bytes.load(Relaxed) == 0) {
        Some(free) => {
            free.device.store(piece.file.0, Relaxed);
            free.inode.store(piece.file.1, Relaxed);
            free.offset.store(piece.offset, Relaxed);
            free.address.store(address, Relaxed);
            free.bytes.store(piece.bytes, Relaxed);
        }
        None if !SAID.swap(true, Relaxed) => say(format_args!(
            "more than {MOST} shared mappings: whether two of them are one memory is not known any more"
        )),
        None => {}
    }
}

/// The address that stands for the memory at this one, whichever mapping it is reached by. Asks for no lock, as it is asked under that
/// of the controller.
pub fn canonical(address: u64) -> u64 {
    let Some(here) = holding(address) else { return address };
    let file = (here.device.load(Relaxed), here.inode.load(Relaxed));
    let offset = here.offset.load(Relaxed) + (address - here.address.load(Relaxed));
    let piece = Piece { file, offset, bytes: 1 };
    let first = MAPPINGS.iter().find(|mapping| mapping.is_of(file) && mapping.common(piece).is_some());
    first.map_or(address, |first| first.address.load(Relaxed) + (offset - first.offset.load(Relaxed)))
}

/// The first mapping that the address is in.
fn holding(address: u64) -> Option<&'static Mapping> {
    MAPPINGS.iter().find(|mapping| {
        let start = mapping.address.load(Relaxed);
        (start..start.saturating_add(mapping.bytes.load(Relaxed))).contains(&address)
    })
}

/// Whether other processes may have the memory at this address, too.
pub fn is_shared(address: u64) -> bool {
    holding(address).is_some()
}

/// A file was mapped.
pub fn file_mapped(thread: &'static Thread, address: u64, bytes: u64, file: c_int, offset: u64, place: usize) {
    if let Some(identity) = identity(file) {
        mapped(
            thread,
            address,
            Piece { file: identity, offset, bytes: bytes.next_multiple_of(sys::PAGE as u64) },
            place,
        );
    }
}

/// Memory from this address on is mapped no more.
pub fn unmapped(address: u64) {
    LOCK.lock();
    let here = MAPPINGS.iter().filter(|mapping| mapping.address.load(Relaxed) == address);
    here.for_each(|mapping| mapping.bytes.store(0, Relaxed));
    LOCK.unlock();
}
