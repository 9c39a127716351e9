//! Where control went and what came from outside: records without an order.

use super::recording;
use crate::hooks::occupied::Occupied;
use crate::interpose::{locks, once};
use crate::log;
use crate::mode;
use crate::record::Kind;

#[inline(always)]
fn write<const N: usize>(kind: Kind, site: u64, words: [u64; N]) {
    if mode::get() != mode::OFF {
        record(kind, site, words);
    }
}

#[inline(never)]
fn record<const N: usize>(kind: Kind, site: u64, words: [u64; N]) {
    if let Some(thread) = recording() {
        thread.occupy();
        log::write(thread, kind, site, words);
        thread.end();
    }
}

macro_rules! hooks {
    ($($(#[$doc:meta])* $name:ident = $kind:ident: [$($before:ident),*] site [$($after:ident),*];)*) => {
        $(
            $(#[$doc])*
            #[unsafe(no_mangle)]
            pub extern "C" fn $name($($before: u64,)* site: u64 $(, $after: u64)*) {
                write(Kind::$kind, site, [$($before,)* $($after),*]);
            }
        )*
    };
}

hooks! {
    /// A switch or indirect branch.
    __foretrace_switch = Switch: [value] site [];
    /// A function, no parameters recorded.
    __foretrace_enter0 = Enter0: [] site [];
    /// A function and its first parameter.
    __foretrace_enter1 = Enter1: [] site [a];
    /// A function and two parameters.
    __foretrace_enter2 = Enter2: [] site [a, b];
    /// A function and three parameters.
    __foretrace_enter3 = Enter3: [] site [a, b, c];
    /// A function and four parameters.
    __foretrace_enter4 = Enter4: [] site [a, b, c, d];
    /// One more parameter.
    __foretrace_argument = Argument: [value] site [];
    /// What an instruction produced.
    __foretrace_value = Value: [value] site [];
    /// A call came back.
    __foretrace_result = Result: [value] site [];
    /// Memory of a frame.
    __foretrace_alloca = Alloca: [address, size] site [];
}

/// A conditional branch.
#[unsafe(no_mangle)]
pub extern "C" fn __foretrace_branch(condition: u64, site: u64) {
    write(if condition & 1 == 0 { Kind::BranchFalse } else { Kind::BranchTrue }, site, []);
}

/// An initialiser fails in the call that the exception leaves, not in the landing pad.
extern "C" fn landing(site: u64, stack: usize) {
    locks::unwound(stack);
    once::unwound(stack);
    write(Kind::Landing, site, []);
}

/// An exception arrived. Once objects that it came through are free again.
#[unsafe(no_mangle)]
#[unsafe(naked)]
pub extern "C" fn __foretrace_landing(site: u64) {
    core::arch::naked_asm!("lea rsi, [rsp + 8]", "jmp {}", sym landing)
}
