//! What is asked of a walk.

use crate::transactions::{Pattern, Transactions};

/// What is asked of a walk.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// What is taken for a transaction.
    pub transactions: Transactions,
    /// Only transactions that access a shared variable whose name fits.
    pub focus: Option<Pattern>,
}
