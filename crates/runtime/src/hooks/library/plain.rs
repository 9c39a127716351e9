//! The same with recording off: the C library's own.

use super::call::{Arguments, WIDE};
use super::memory::text_length;
use crate::library::Function;
use crate::sys::{self, Compare, CompareWith};
use core::ffi::c_char;
use core::sync::atomic::AtomicU64;

/// Where `strtok` keeps the rest, as the C library does: in one variable for all threads.
#[unsafe(no_mangle)]
static __foretrace_strtok: AtomicU64 = AtomicU64::new(0);

/// The address of that variable.
pub fn rest_of_strtok() -> u64 {
    (&raw const __foretrace_strtok) as u64
}

/// # Safety
/// As the C library's function.
pub unsafe fn perform(function: Function, [a, b, c, d, e]: Arguments) -> u64 {
    // SAFETY: the caller's promise.
    unsafe {
        match function {
            Function::Memcpy | Function::Memmove => sys::memmove(a as _, b as _, c as usize) as u64,
            Function::Mempcpy => sys::memmove(a as _, b as _, c as usize) as u64 + c,
            Function::Memset => sys::memset(a as _, b as i32, c as usize) as u64,
            Function::Wmemcpy | Function::Wmemmove => sys::memmove(a as _, b as _, (c * WIDE) as usize) as u64,
            Function::Wmempcpy => sys::memmove(a as _, b as _, (c * WIDE) as usize) as u64 + c * WIDE,
            Function::Wmemset => {
                (0..c).for_each(|index| ((a + index * WIDE) as *mut u32).write_unaligned(b as u32));
                a
            }
            Function::Strlen => sys::strlen(a as _) as u64,
            Function::Strnlen => sys::strnlen(a as _, b as usize) as u64,
            Function::Strcpy => sys::strcpy(a as _, b as _) as u64,
            Function::Stpcpy => sys::stpcpy(a as _, b as _) as u64,
            Function::Strncpy => sys::strncpy(a as _, b as _, c as usize) as u64,
            Function::Stpncpy => sys::stpncpy(a as _, b as _, c as usize) as u64,
            Function::Memccpy => sys::memccpy(a as _, b as _, c as i32, d as usize) as u64,
            Function::Strchrnul => sys::strchrnul(a as _, b as i32) as u64,
            Function::Strcat => sys::strcat(a as _, b as _) as u64,
            Function::Strncat => sys::strncat(a as _, b as _, c as usize) as u64,
            Function::Strdup => sys::strdup(a as _) as u64,
            Function::Strndup => sys::strndup(a as _, b as usize) as u64,
            Function::Memchr => sys::memchr(a as _, b as i32, c as usize) as u64,
            Function::Strchr => sys::strchr(a as _, b as i32) as u64,
            Function::Strrchr => sys::strrchr(a as _, b as i32) as u64,
            Function::Memcmp | Function::Bcmp => sys::memcmp(a as _, b as _, c as usize) as u64,
            Function::Strcmp => sys::strcmp(a as _, b as _) as u64,
            Function::Strncmp => sys::strncmp(a as _, b as _, c as usize) as u64,
            Function::Strcasecmp => sys::strcasecmp(a as _, b as _) as u64,
            Function::Strncasecmp => sys::strncasecmp(a as _, b as _, c as usize) as u64,
            Function::Strstr => sys::strstr(a as _, b as _) as u64,
            Function::Strspn => sys::strspn(a as _, b as _) as u64,
            Function::Strcspn => sys::strcspn(a as _, b as _) as u64,
            Function::Strpbrk => sys::strpbrk(a as _, b as _) as u64,
            Function::Strtok => sys::strtok_r(a as _, b as _, rest_of_strtok() as _) as u64,
            Function::StrtokR => sys::strtok_r(a as _, b as _, c as _) as u64,
            Function::Strsep => sys::strsep(a as _, b as _) as u64,
            Function::Qsort => {
                sys::qsort(a as _, b as usize, c as usize, core::mem::transmute::<u64, Compare>(d));
                0
            }
            Function::QsortR => {
                sys::qsort_r(a as _, b as usize, c as usize, core::mem::transmute::<u64, CompareWith>(d), e as _);
                0
            }
            Function::Strlcpy => put_within(a, b, c),
            Function::Strlcat => {
                let length = sys::strnlen(a as _, c as usize) as u64;
                length + put_within(a + length, b, c - length)
            }
            Function::Bsearch => {
                let compare = core::mem::transmute::<u64, Compare>(e);
                sys::bsearch(a as _, b as _, c as usize, d as usize, compare) as u64
            }
            _ => parse(function, a, b as *mut u64, c),
        }
    }
}

/// The number that a text starts with; where it ends goes to `end` unless that is null.
///
/// # Safety
/// A text, and a place for an address.
pub unsafe fn parse(function: Function, text: u64, end: *mut u64, base: u64) -> u64 {
    let (text, end, base) = (text as *const c_char, end.cast::<*mut c_char>(), base as i32);
    // SAFETY: the caller's promise.
    unsafe {
        match function {
            Function::StrtolC23 | Function::StrtoulC23 => parse_c23(function, text, end, base),
            Function::Strtol | Function::Strtoll => sys::strtol(text, end, base) as u64,
            Function::Strtoul | Function::Strtoull => sys::strtoul(text, end, base),
            Function::Strtod => sys::strtod(text, end).to_bits(),
            Function::Atof => sys::strtod(text, core::ptr::null_mut()).to_bits(),
            Function::Atoi => sys::strtol(text, core::ptr::null_mut(), 10) as i32 as u64,
            _ => sys::strtol(text, core::ptr::null_mut(), 10) as u64,
        }
    }
}

/// The same by the rules of C23: a number to base 2 or 0 may begin with `0b`.
///
/// # Safety
/// A text, and a place for an address.
unsafe fn parse_c23(function: Function, start: *const c_char, end: *mut *mut c_char, base: i32) -> u64 {
    let older = if function == Function::StrtolC23 { Function::Strtol } else { Function::Strtoul };
    // SAFETY: the program's text, up to its end.
    let byte = |at: u64| unsafe { *(at as *const u8) };
    let mut at = start as u64;
    while matches!(byte(at), b' ' | b'\t'..=b'\r') {
        at += 1;
    }
    let is_negative = byte(at) == b'-';
    at += u64::from(is_negative || byte(at) == b'+');
    let is_binary = matches!(base, 0 | 2)
        && byte(at) == b'0'
        && matches!(byte(at + 1), b'b' | b'B')
        && matches!(byte(at + 2), b'0' | b'1');
    if !is_binary {
        // SAFETY: the caller's promise.
        return unsafe { parse(older, start as u64, end.cast(), base as u64) };
    }
    // SAFETY: as above.
    let size = unsafe { sys::strtoul((at + 2) as *const _, end, 2) };
    let most = if is_negative { 1 << 63 } else { i64::MAX as u64 };
    if older == Function::Strtol && size > most {
        sys::set_errno(sys::ERANGE);
        return if is_negative { i64::MIN as u64 } else { i64::MAX as u64 };
    }
    if is_negative { size.wrapping_neg() } else { size }
}

/// `strlcpy`.
fn put_within(to: u64, from: u64, room: u64) -> u64 {
    let length = text_length(from);
    if room > 0 {
        let kept = length.min(room - 1);
        // SAFETY: the program's text, and as much room as it says.
        unsafe {
            sys::memmove(to as _, from as _, kept as usize);
            *((to + kept) as *mut u8) = 0;
        }
    }
    length
}

/// Bytes of the number that a text begins with, for functions that the library performs.
pub fn length_of_number(function: Function, text: u64, base: u64) -> u64 {
    let reader = match function {
        Function::StrtolL | Function::StrtoulL => Function::StrtoulC23,
        _ => Function::Strtod,
    };
    let (mut end, error) = (text, sys::errno());
    // SAFETY: the program's text, and a place for an address.
    unsafe { parse(reader, text, &raw mut end, base) };
    sys::set_errno(error);
    end - text
}

/// Characters of the number that a text of wide characters begins with.
pub fn length_of_wide_number(function: Function, text: u64, base: u64) -> u64 {
    let (mut end, error) = (text as *mut u32, sys::errno());
    // SAFETY: the program's text, and a place for an address.
    unsafe {
        match function {
            Function::Wcstod => _ = sys::wcstod(text as *const _, &raw mut end),
            _ => _ = sys::wcstoul(text as *const _, &raw mut end, base as i32),
        }
    }
    sys::set_errno(error);
    (end as u64 - text) / WIDE
}
