//! Accesses in parts.

use crate::llvm::Value;

/// A part of an access is as aligned as its offset allows, and as volatile.
pub fn same_access(access: Value, part: Value, offset: u64) {
    let alignment = u64::from(access.alignment());
    let alignment = if offset == 0 { alignment } else { alignment.min(1 << offset.trailing_zeros()) };
    part.set_alignment(u32::try_from(alignment).unwrap_or(1));
    part.set_volatile(access.is_volatile());
}
