//! Sorting and searching with a function of the program. Only the sign of what that gives back counts.

use super::call::{Arguments, Call};
use crate::library::Function;
use crate::sys::{self, Compare, CompareWith};

/// The function of `qsort_r` gets one argument more. That of `qsort` does not look at it.
fn comparison_with(function: u64, argument: u64) -> impl Fn(u64, u64) -> i32 {
    // SAFETY: the program's function.
    let compare = unsafe { core::mem::transmute::<u64, CompareWith>(function) };
    // SAFETY: as above, with elements as it wants them.
    move |one, other| unsafe { compare(one as *const _, other as *const _, argument as *mut _) }
}

fn comparison(function: u64) -> impl Fn(u64, u64) -> i32 {
    // SAFETY: the program's function.
    let compare = unsafe { core::mem::transmute::<u64, Compare>(function) };
    // SAFETY: as above, with elements as it wants them.
    move |one, other| unsafe { compare(one as *const _, other as *const _) }
}

/// Merges in memory of its own, and so is stable, as the C library's is as long as there is memory.
pub fn qsort(call: Call, by: Function, [array, count, size, function, argument]: Arguments) -> u64 {
    let bytes = count.wrapping_mul(size);
    if count < 2 || size == 0 {
        return 0;
    }
    let Some(memory) = sys::map(bytes as usize) else { sys::die_by(sys::SIGABRT) };
    let argument = if by == Function::QsortR { argument } else { 0 };
    let compare = comparison_with(function, argument);
    let (mut from, mut to) = (array, memory as u64);
    let mut width = 1;
    while width < count {
        let mut start = 0;
        while start < count {
            let runs =
                Runs { from, to, size, start, middle: count.min(start + width), end: count.min(start + 2 * width) };
            runs.merge(call, &compare);
            start += 2 * width;
        }
        (from, to) = (to, from);
        width *= 2;
    }
    if from != array {
        call.copy(array, from, bytes);
    }
    sys::unmap(memory, bytes as usize);
    0
}

/// Two sorted runs of elements, and where they are to be one.
struct Runs {
    from: u64,
    to: u64,
    size: u64,
    start: u64,
    middle: u64,
    end: u64,
}

impl Runs {
    fn merge(&self, call: Call, compare: &impl Fn(u64, u64) -> i32) {
        let (mut left, mut right) = (self.start, self.middle);
        for place in self.start..self.end {
            let at = |index: u64| self.from + index * self.size;
            let is_right = left == self.middle || right < self.end && compare(at(left), at(right)) > 0;
            let taken = if is_right { &mut right } else { &mut left };
            call.copy(self.to + place * self.size, at(*taken), self.size);
            *taken += 1;
        }
    }
}

/// The element that equals the key, or null.
pub fn bsearch(_: Call, [key, array, count, size, function]: Arguments) -> u64 {
    let compare = comparison(function);
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low + (high - low) / 2;
        let element = array + middle * size;
        match compare(key, element) {
            0 => return element,
            less if less < 0 => high = middle,
            _ => low = middle + 1,
        }
    }
    0
}
