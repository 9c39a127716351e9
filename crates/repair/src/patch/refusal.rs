//! Why there is no patch.

/// Why no change of the source is proposed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct NoPatch(String);

pub(super) fn no<T>(why: impl Into<String>) -> Result<T, NoPatch> {
    Err(NoPatch(why.into()))
}
