//! Looks at clocks. What a clock says is the same in each schedule of a trace, but no clock goes back: who looks later sees a later moment.
//!
//! Marks of one object stand before and after the looks, between the events of the thread that looks. A schedule in which two threads look in
//! another order rests on what is not seen. Where one of them does not look at all, the other may see what it saw.

use crate::marks::{Mark, Ran};
use foretrace_trace::{NameId, ThreadId};

/// What the marks say.
pub const LOOK: &str = "a look at a clock";
/// What they concern.
pub(crate) const CLOCKS: &str = "clocks";

const FUNCTIONS: [&str; 10] = [
    "clock_gettime",
    "gettimeofday",
    "time",
    "timespec_get",
    "clock",
    "ftime",
    "_ZNSt6chrono3_V212steady_clock3nowEv",
    "_ZNSt6chrono3_V212system_clock3nowEv",
    "_ZNSt3__16chrono12steady_clock3nowEv",
    "_ZNSt3__16chrono12system_clock3nowEv",
];
/// Those of Rust's `std`, and what is in the mangled names of both.
const RUST_MODULE: &str = "3std4time";
const RUST_FUNCTIONS: [&str; 4] = ["7Instant3now", "7Instant7elapsed", "10SystemTime3now", "10SystemTime7elapsed"];

/// Whether a function looks at a clock.
pub(crate) fn looks(symbol: &str) -> bool {
    let is_rust = || symbol.contains(RUST_MODULE) && RUST_FUNCTIONS.iter().any(|part| symbol.contains(part));
    FUNCTIONS.contains(&symbol) || (symbol.starts_with("_R") || symbol.starts_with("_ZN3std")) && is_rust()
}

/// The marks so far.
#[derive(Default)]
pub(crate) struct Looks {
    marks: Vec<Mark>,
    /// Per thread, whether its next event has a mark before it.
    pending: Vec<Option<Ran>>,
}

impl Looks {
    /// A thread looks; its next event is put in later.
    pub fn look(&mut self, mark: Mark) {
        let thread = mark.thread.index();
        if self.pending.len() <= thread {
            self.pending.resize(thread + 1, None);
        }
        if self.pending[thread].replace(mark.ran).is_none() {
            self.marks.push(mark);
        }
    }

    /// The event of the draft with this index is the next one of a thread.
    pub fn goes_on(&mut self, before: usize, thread: ThreadId, loc: Option<NameId>) {
        if let Some(ran) = self.pending.get_mut(thread.index()).and_then(Option::take) {
            self.marks.push(Mark { before, thread, loc, ran });
        }
    }

    /// All marks, if several threads have looked.
    pub fn into_marks(self) -> Vec<Mark> {
        let is_shared = self.marks.windows(2).any(|pair| pair[0].thread != pair[1].thread);
        if is_shared { self.marks } else { Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::num::NonZeroU32;

    #[test]
    fn looks_are_known_by_the_names_of_functions() {
        let rust = [
            "_ZN3std4time7Instant3now17h0123456789abcdefE",
            "_RNvMNtCs1234_3std4timeNtB2_7Instant3now",
            "_RNvMs_NtCs1234_3std4timeNtB4_10SystemTime7elapsed",
        ];
        assert!(FUNCTIONS.iter().chain(&rust).all(|symbol| looks(symbol)));
        let others =
            ["clock_getres", "mytime", "_ZN3std4time8Duration5as_ms17h0123456789abcdefE", "_ZN4mine7Instant3nowEv"];
        assert!(!others.iter().any(|symbol| looks(symbol)));
    }

    #[test]
    fn marks_stand_between_the_events_of_threads_that_look() {
        let ran = Ran { what: NameId(NonZeroU32::MIN), object: NameId(NonZeroU32::MAX), if_both: true };
        let look = |before, thread| Mark { before, thread: ThreadId(thread), loc: None, ran };
        let marks = |steps: &dyn Fn(&mut Looks)| {
            let mut looks = Looks::default();
            steps(&mut looks);
            let marks = looks.into_marks();
            marks.iter().map(|mark| (mark.before, mark.thread.0)).collect::<Vec<_>>()
        };
        let alone = |looks: &mut Looks| {
            looks.look(look(1, 0));
            looks.look(look(1, 0)); // in a loop without events
            looks.goes_on(3, ThreadId(1), None);
            looks.goes_on(4, ThreadId(0), None);
            looks.goes_on(5, ThreadId(0), None);
        };
        assert_eq!(marks(&alone), []);
        let both = |looks: &mut Looks| {
            alone(looks);
            looks.look(look(6, 1));
        };
        assert_eq!(marks(&both), [(1, 0), (4, 0), (6, 1)]);
    }
}
