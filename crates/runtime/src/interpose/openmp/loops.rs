//! Loops whose turns the threads of a team share.

use core::ffi::c_int;

use super::members::{in_team, lock, own, wait, wake};
use super::team::{AT_ONCE, Loop, ORDERED, Team};
use crate::controller;
use crate::feed;
use crate::hooks::begin::Begin;
use crate::hooks::occupied::Occupied;
use crate::interpose::{interpose, tracked};
use crate::log;
use crate::record::Kind;
use crate::sys;
use crate::threads::Thread;

/// A decision has the number of the piece in so many low bits, that of the loop above.
const PIECE_BITS: u32 = 32;
const PIECE_MASK: u64 = (1 << PIECE_BITS) - 1;

/// How many turns a loop has.
fn count(low: i64, high: i64, step: i64, unsigned: bool) -> u64 {
    let (low, high) = if unsigned { (low as u64 as i128, high as u64 as i128) } else { (low.into(), high.into()) };
    let step = i128::from(step);
    let turns = if step > 0 { (high - low) / step + 1 } else { (low - high) / -step + 1 };
    let none = if step > 0 { high < low } else { high > low };
    if none { 0 } else { turns as u64 }
}

/// Which turns a thread has of a loop that is divided beforehand: the first, the last, how far the next piece is, whether the
/// loop's last turn is among them.
fn divide(turns: u64, kind: c_int, piece: u64, index: u64, size: u64) -> (u64, u64, u64, bool) {
    const IN_PIECES: c_int = 33;
    if kind == IN_PIECES {
        let piece = piece.max(1);
        let last = turns > 0 && (turns - 1) / piece % size == index;
        return (index * piece, index * piece + piece, piece * size, last);
    }
    let (each, more) = (turns / size, turns % size);
    let first = index * each + index.min(more);
    let mine = each + u64::from(index < more);
    (first, first + mine, turns, mine > 0 && first + mine == turns)
}

macro_rules! loops {
    ($($word:ty, $unsigned:literal, $static:ident $static_fn:ident, $init:ident $init_fn:ident, $next:ident $next_fn:ident, $fini:ident;)*) => {
        $(
            /// A loop that is divided beforehand.
            ///
            /// # Safety
            /// The program's pointers.
            unsafe extern "C" fn $static_fn(
                _: usize, _: c_int, kind: c_int, last: *mut c_int, low: *mut $word, high: *mut $word, stride: *mut $word,
                step: $word, piece: $word,
            ) {
                let Some(thread) = tracked() else { return };
                let place = own(thread).place.get();
                let size = place.team.map_or(1, |team| u64::from(team.size));
                // SAFETY: the caller's promise.
                unsafe {
                    let (start, step) = (*low, step);
                    let turns = count(start as i64, *high as i64, step as i64, $unsigned);
                    let (first, end, next, has_last) = divide(turns, kind, piece as u64, place.index.into(), size);
                    let at = |turn: u64| start.wrapping_add((turn as $word).wrapping_mul(step));
                    if first >= turns && kind != 33 {
                        *low = (*high).wrapping_add(step);
                    } else {
                        *low = at(first);
                        *high = at(end).wrapping_sub(step);
                    }
                    *stride = (next as $word).wrapping_mul(step);
                    if !last.is_null() {
                        *last = c_int::from(has_last);
                    }
                }
            }

            extern "C" fn $init_fn(_: usize, _: c_int, kind: c_int, low: $word, high: $word, step: $word, piece: $word) {
                begin(kind, low as i64, step as i64, count(low as i64, high as i64, step as i64, $unsigned), piece as u64);
            }

            /// # Safety
            /// The program's pointers.
            unsafe extern "C" fn $next_fn(
                _: usize, _: c_int, last: *mut c_int, low: *mut $word, high: *mut $word, stride: *mut $word,
            ) -> c_int {
                let Some((first, end, has_last, start, step)) = next() else { return 0 };
                // SAFETY: the caller's promise.
                unsafe {
                    let (start, step) = (start as $word, step as $word);
                    *low = start.wrapping_add((first as $word).wrapping_mul(step));
                    *high = start.wrapping_add(((end - 1) as $word).wrapping_mul(step));
                    if !stride.is_null() {
                        *stride = step;
                    }
                    if !last.is_null() {
                        *last = c_int::from(has_last);
                    }
                }
                1
            }

            interpose! {
                $static "rax" => $static_fn, off $static;
                $init "rax" => $init_fn, off $init;
                $next "rax" => $next_fn, off $next;
                $fini "rdx" => turn_ends, off $fini;
            }
        )*
    };
}

loops! {
    i32, false, __kmpc_for_static_init_4 static_4, __kmpc_dispatch_init_4 init_4, __kmpc_dispatch_next_4 next_4, __kmpc_dispatch_fini_4;
    u32, true, __kmpc_for_static_init_4u static_4u, __kmpc_dispatch_init_4u init_4u, __kmpc_dispatch_next_4u next_4u, __kmpc_dispatch_fini_4u;
    i64, false, __kmpc_for_static_init_8 static_8, __kmpc_dispatch_init_8 init_8, __kmpc_dispatch_next_8 next_8, __kmpc_dispatch_fini_8;
    u64, true, __kmpc_for_static_init_8u static_8u, __kmpc_dispatch_init_8u init_8u, __kmpc_dispatch_next_8u next_8u, __kmpc_dispatch_fini_8u;
}

/// A thread comes to a loop whose turns are given away. Without a team they are all its own.
fn begin(kind: c_int, low: i64, step: i64, turns: u64, piece: u64) {
    const MODIFIERS: c_int = 3 << 29;
    const FIRST_ORDERED: c_int = 64;
    let Some(thread) = tracked() else { return };
    let mine = &own(thread).turns;
    mine.low.set(low);
    mine.step.set(step);
    mine.at.set(0);
    mine.end.set(turns);
    mine.is_ordered.set(kind & !MODIFIERS >= FIRST_ORDERED);
    let number = own(thread).loops.get() + 1;
    own(thread).loops.set(number);
    thread.begin();
    if let Some((team, bucket)) = in_team(thread) {
        let shared = &team.loops[(number as usize) % AT_ONCE];
        while shared.number.get() != number {
            let is_free = shared.number.get() == 0 || shared.through.get() == team.size;
            if is_free && shared.number.get() < number {
                shared.start(number, turns, piece.max(1));
                break;
            }
            wait(thread, team, bucket);
        }
        bucket.unlock();
    }
    thread.end();
}

/// The thread's next turns: the first, the end, whether the last is among them, where the loop starts and how it goes on.
fn next() -> Option<(u64, u64, bool, i64, i64)> {
    let thread = tracked()?;
    let mine = &own(thread).turns;
    let Some(team) = own(thread).place.get().team else {
        let (first, end) = (mine.at.get(), mine.end.get());
        mine.at.set(end);
        return (first < end).then(|| (first, end, true, mine.low.get(), mine.step.get()));
    };
    let number = own(thread).loops.get();
    let shared = &team.loops[(number as usize) % AT_ONCE];
    let decided = feed::decision(feed::LOOP, |before| {
        let before = before.map(|before| before as u64).filter(|before| before >> PIECE_BITS == number & PIECE_MASK);
        (number << PIECE_BITS | take(thread, team, before.map(|before| before & PIECE_MASK))) as i64
    });
    let piece = shared.piece.get();
    let (first, turns) = ((decided as u64 & PIECE_MASK).saturating_mul(piece), shared.turns.get());
    mine.at.set(first);
    let end = first.saturating_add(piece).min(turns);
    (first < turns).then(|| (first, end, end == turns, mine.low.get(), mine.step.get()))
}

/// A piece of the thread's loop: the wanted one, else the first that is left. A number beyond the last if there is none.
fn take(thread: &'static Thread, team: &'static Team, wanted: Option<u64>) -> u64 {
    thread.begin();
    let bucket = lock(team);
    let shared = &team.loops[(own(thread).loops.get() as usize) % AT_ONCE];
    let pieces = shared.turns.get().div_ceil(shared.piece.get());
    let piece = match wanted {
        Some(wanted) if wanted >= pieces || shared.mark(wanted) => wanted,
        _ => loop {
            let piece = shared.given.get();
            if piece >= pieces {
                break PIECE_MASK;
            }
            shared.given.set(piece + 1);
            if shared.mark(piece) {
                break piece;
            }
        },
    };
    if piece >= pieces {
        shared.through.set(shared.through.get() + 1);
        wake(team, bucket);
    }
    bucket.unlock();
    thread.end();
    piece
}

impl Loop {
    /// The loop of this number begins.
    fn start(&self, number: u64, turns: u64, piece: u64) {
        self.number.set(number);
        self.given.set(0);
        self.turns.set(turns);
        self.piece.set(piece);
        self.through.set(0);
        self.ordered.set(0);
        // In a replay pieces may be taken in any order; the memory stays, as replays are short.
        let bytes = (turns.div_ceil(piece) / 8 + 1) as usize;
        let taken = if controller::replaying() { sys::map(bytes) } else { None };
        self.taken.set(taken.unwrap_or(core::ptr::null_mut()));
    }

    /// Takes a piece of the loop; false if it is taken. Without a replay they are taken in order.
    fn mark(&self, piece: u64) -> bool {
        let taken = self.taken.get();
        if taken.is_null() {
            return true;
        }
        let bit = 1 << (piece % 8);
        // SAFETY: a bit for each piece.
        unsafe {
            let byte = taken.add((piece / 8) as usize);
            let is_free = *byte & bit == 0;
            *byte |= bit;
            is_free
        }
    }
}

/// Before the `ordered` part of a turn: those of all turns before are done.
extern "C" fn ordered(_: usize, _: c_int) {
    let Some(thread) = tracked() else { return };
    thread.begin();
    if let Some((team, bucket)) = in_team(thread) {
        let shared = &team.loops[(own(thread).loops.get() as usize) % AT_ONCE];
        let at = own(thread).turns.at.get();
        while shared.ordered.get() < at {
            wait(thread, team, bucket);
        }
        bucket.unlock();
        if at > 0 {
            thread.begin();
            log::sync(thread, Kind::Depart, 0, team.object(ORDERED), own(thread).loops.get() << 32 | (at - 1));
        }
    }
    thread.end();
}

/// A turn of a loop with such a part ends. One that had none lets the next one come, too.
extern "C" fn turn_ends(_: usize, _: c_int) {
    ordered(0, 0);
    let Some(thread) = tracked() else { return };
    thread.begin();
    if let Some((team, bucket)) = in_team(thread) {
        let shared = &team.loops[(own(thread).loops.get() as usize) % AT_ONCE];
        let mine = &own(thread).turns;
        let at = mine.at.get();
        log::sync(thread, Kind::Arrive, 0, team.object(ORDERED), own(thread).loops.get() << 32 | at);
        shared.ordered.set(at + 1);
        mine.at.set(at + 1);
        wake(team, bucket);
        bucket.unlock();
    }
    thread.end();
}

extern "C" fn nothing() {}

interpose! {
    __kmpc_ordered "rdx" => ordered, off __kmpc_ordered;
    __kmpc_end_ordered "rdx" => nothing, off __kmpc_end_ordered;
    __kmpc_for_static_fini "rdx" => nothing, off __kmpc_for_static_fini;
    __kmpc_dispatch_deinit "rdx" => nothing, off __kmpc_dispatch_deinit;
}
