//! How long a check may go on.

/// When to stop.
#[derive(Clone, Copy)]
pub struct Limits<'a> {
    /// Asked now and then whether to go on.
    pub go_on: &'a dyn Fn() -> bool,
}

impl Limits<'_> {
    /// No limit.
    pub const NONE: Limits<'static> = Limits { go_on: &|| true };
}

/// Counts turns, and asks now and then whether the limit is reached.
pub(crate) struct Turns<'a> {
    limits: Limits<'a>,
    turns: u32,
    /// Whether the limit was reached.
    pub(crate) are_over: bool,
}

impl<'a> Turns<'a> {
    pub(crate) fn new(limits: Limits<'a>) -> Turns<'a> {
        Turns { limits, turns: 0, are_over: false }
    }

    /// One more turn; whether it may be taken.
    pub(crate) fn go_on(&mut self) -> bool {
        self.turns = self.turns.wrapping_add(1);
        if self.turns.is_multiple_of(1 << 10) && !self.are_over {
            self.are_over = !(self.limits.go_on)();
        }
        !self.are_over
    }
}
