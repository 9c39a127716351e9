//! The functions without side-car that a thread is in.

/// A call of a function without side-car.
pub(super) struct Call {
    /// An address in its code.
    pub place: u64,
    /// What it returns to.
    pub caller: u64,
    /// How many frames with side-car are below it.
    pub frames: usize,
    /// How many stretches were open when it began.
    pub nest: usize,
}

/// The calls that a thread is in, the innermost last.
#[derive(Default)]
pub(crate) struct Calls(pub(super) Vec<Call>);

impl Calls {
    /// Whether the innermost function of a thread with so many frames is one of these.
    pub fn is_innermost(&self, frames: usize) -> bool {
        self.0.last().is_some_and(|call| call.frames == frames)
    }
}
