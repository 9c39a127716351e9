//! The allocator, and mappings: where memory comes from and goes to.

use core::ffi::{c_int, c_void};

use super::{freed, interpose, mappings, real};
use crate::controller;
use crate::current::current;
use crate::hooks::begin::Begin;
use crate::hooks::occupied::Occupied;
use crate::log;
use crate::mode;
use crate::modules;
use crate::ownership;
use crate::record::{Kind, LEFT_OVER};
use crate::sys::{self, EINVAL, ENOMEM};
use crate::threads::Thread;

/// The thread, if its allocations are recorded, inside of a hook. Within the C library it may hold locks that others wait
/// for in the kernel: it is not stopped there.
fn begin(place: usize) -> Option<&'static Thread> {
    if mode::get() != mode::RECORDING && mode::get() != mode::UNKNOWN {
        return None;
    }
    let thread = current().filter(|thread| thread.quiet.get() == 0 && !thread.busy.get())?;
    if modules::in_library(place) {
        thread.occupy()
    } else {
        thread.begin_apart()
    }
    Some(thread)
}

fn allocate(bytes: usize, place: usize, real: impl Fn() -> *mut c_void) -> *mut c_void {
    let Some(thread) = begin(place) else { return real() };
    let memory = real();
    if !memory.is_null() {
        ownership::renew(memory as u64, bytes as u64);
        log::sync(thread, Kind::Allocate, place, memory as u64, bytes as u64 | left_over(memory, bytes));
    }
    thread.end();
    memory
}

/// [`LEFT_OVER`] if a new block holds something: what a freed one left there. Of longer blocks the start says it: most are new mappings, of zeros.
fn left_over(memory: *const c_void, bytes: usize) -> u64 {
    const MOST: usize = 128 << 10;
    // SAFETY: the block that the allocator has just given, which nobody else knows yet.
    let held = unsafe { core::slice::from_raw_parts(memory.cast::<u8>(), bytes.min(MOST)) };
    let holds = |part: &[u8]| part.iter().fold(0, |all, byte| all | byte) != 0; // many bytes at a time
    if held.chunks(256).any(holds) { LEFT_OVER } else { 0 }
}

extern "C" fn malloc_(bytes: usize, place: usize) -> *mut c_void {
    // SAFETY: the library's function, as the program calls it; so all below.
    allocate(bytes, place, || unsafe { sys::__libc_malloc(bytes) })
}

extern "C" fn calloc_(count: usize, bytes: usize, place: usize) -> *mut c_void {
    allocate(count.wrapping_mul(bytes), place, || unsafe { sys::__libc_calloc(count, bytes) })
}

extern "C" fn realloc_(memory: *mut c_void, bytes: usize, place: usize) -> *mut c_void {
    let real = || unsafe { sys::__libc_realloc(memory, bytes) };
    if memory.is_null() {
        return allocate(bytes, place, real);
    }
    let Some(thread) = begin(place) else { return real() };
    let before = unsafe { sys::malloc_usable_size(memory) };
    log::sync(thread, Kind::Free, place, memory as u64, 0);
    let new = real();
    if !new.is_null() {
        ownership::renew(new as u64, bytes as u64);
        log::sync(thread, Kind::Allocate, place, new as u64, bytes as u64 | left_over(new, bytes));
    } else if bytes != 0 {
        log::sync(thread, Kind::Allocate, place, memory as u64, before as u64); // it failed: the old one is still there
    }
    thread.end();
    new
}

extern "C" fn reallocarray_(memory: *mut c_void, count: usize, bytes: usize, place: usize) -> *mut c_void {
    match count.checked_mul(bytes) {
        Some(bytes) => realloc_(memory, bytes, place),
        None => {
            sys::set_errno(ENOMEM);
            core::ptr::null_mut()
        }
    }
}

extern "C" fn free_(memory: *mut c_void, place: usize) {
    let thread = if memory.is_null() { None } else { begin(place) };
    let Some(thread) = thread else { return unsafe { sys::__libc_free(memory) } };
    log::sync(thread, Kind::Free, place, memory as u64, 0);
    let size = controller::controlled().then(|| freed::overwrite(memory));
    if !size.is_some_and(freed::keep) {
        unsafe { sys::__libc_free(memory) };
        if let Some(size) = size {
            freed::settle(memory, size);
        }
    }
    thread.end();
}

extern "C" fn memalign_(alignment: usize, bytes: usize, place: usize) -> *mut c_void {
    allocate(bytes, place, || unsafe { sys::__libc_memalign(alignment, bytes) })
}

extern "C" fn posix_memalign_(result: *mut *mut c_void, alignment: usize, bytes: usize, place: usize) -> c_int {
    if !alignment.is_power_of_two() || !alignment.is_multiple_of(size_of::<usize>()) {
        return EINVAL;
    }
    let before = sys::errno();
    let memory = memalign_(alignment, bytes, place);
    sys::set_errno(before);
    if memory.is_null() {
        return ENOMEM;
    }
    // SAFETY: the program's pointer.
    unsafe { *result = memory };
    0
}

extern "C" fn valloc_(bytes: usize, place: usize) -> *mut c_void {
    memalign_(sys::PAGE, bytes, place)
}

extern "C" fn pvalloc_(bytes: usize, place: usize) -> *mut c_void {
    memalign_(sys::PAGE, bytes.next_multiple_of(sys::PAGE), place)
}

/// The seventh argument is on the stack.
unsafe extern "C" fn mmap_(
    address: usize,
    bytes: usize,
    protection: c_int,
    flags: c_int,
    file: c_int,
    offset: i64,
    place: usize,
) -> usize {
    const FAILED: usize = usize::MAX;
    const SHARED: c_int = 1;
    const ANONYMOUS: c_int = 0x20;
    let real = || real::mmap(address, bytes, protection, flags, file, offset);
    let Some(thread) = begin(place) else { return real() };
    let memory = real();
    if memory != FAILED {
        log::sync(thread, Kind::Allocate, place, memory as u64, bytes as u64);
        if flags & SHARED != 0 && flags & ANONYMOUS != 0 {
            mappings::anonymous_mapped(memory as u64, bytes as u64);
        } else if flags & SHARED != 0 {
            mappings::file_mapped(thread, memory as u64, bytes as u64, file, offset as u64, place);
        }
    }
    thread.end();
    memory
}

extern "C" fn munmap_(address: usize, bytes: usize, place: usize) -> c_int {
    let Some(thread) = begin(place) else { return real::munmap(address, bytes) };
    log::sync(thread, Kind::Free, place, address as u64, bytes.next_multiple_of(sys::PAGE) as u64);
    mappings::unmapped(address as u64);
    let result = real::munmap(address, bytes);
    thread.end();
    result
}

/// The old mapping goes, the new one holds what it held.
extern "C" fn mremap_(old: usize, bytes: usize, new_bytes: usize, flags: c_int, to: usize, place: usize) -> usize {
    const FAILED: usize = usize::MAX;
    let whole = |bytes: usize| bytes.next_multiple_of(sys::PAGE) as u64;
    let real = || real::mremap(old, bytes, new_bytes, flags, to);
    let Some(thread) = begin(place) else { return real() };
    log::sync(thread, Kind::Free, place, old as u64, whole(bytes));
    let new = real();
    match new {
        FAILED => log::sync(thread, Kind::Allocate, place, old as u64, whole(bytes)),
        _ => log::sync(thread, Kind::Allocate, place, new as u64, whole(new_bytes)),
    };
    thread.end();
    new
}

interpose! {
    malloc "rsi" => malloc_;
    calloc "rdx" => calloc_;
    realloc "rdx" => realloc_;
    reallocarray "rcx" => reallocarray_;
    free "rsi" => free_;
    cfree "rsi" => free_;
    memalign "rdx" => memalign_;
    aligned_alloc "rdx" => memalign_;
    posix_memalign "rcx" => posix_memalign_;
    valloc "rsi" => valloc_;
    pvalloc "rsi" => pvalloc_;
    munmap "rdx" => munmap_;
    mremap "r9" => mremap_;
}

/// `mmap` has six arguments: the place of its call goes onto the stack.
#[unsafe(no_mangle)]
#[unsafe(naked)]
pub extern "C" fn mmap() {
    core::arch::naked_asm!("push [rsp]", "call {}", "pop rcx", "ret", sym mmap_)
}

/// The same function under its other name.
#[unsafe(no_mangle)]
#[unsafe(naked)]
pub extern "C" fn mmap64() {
    core::arch::naked_asm!("push [rsp]", "call {}", "pop rcx", "ret", sym mmap_)
}
