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
