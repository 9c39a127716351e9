//! Marks what is meant to be atomic, and operations on concurrent objects, for [foretrace](https://docs.rs/foretrace).
//!
//! ```
//! # use foretrace_marker as foretrace;
//! let mut balance = 100;
//! let before = foretrace::atomic!("deposit", {
//!     let before = balance;
//!     balance = before + 10;
//!     before
//! });
//! assert_eq!((before, balance), (100, 110));
//! ```
//!
//! where `Cargo.toml` says `foretrace = { package = "foretrace-marker", version = "0.1" }`. In a program that `foretrace cargo` builds the block is a transaction of the recording; in any other program it is the
//! block and nothing else.

#![no_std]

mod operation;

pub use operation::{Given, Operation};

/// Evaluates a block that is meant to be atomic: a transaction with this label, which is a string literal.
///
/// It ends where the block is left: at its end, by `return`, `break` or `?`, or by a panic. Transactions may be nested.
///
/// ```
/// # use foretrace_marker as foretrace;
/// fn withdraw(balance: &mut u32, amount: u32) -> Option<u32> {
///     foretrace::atomic!("withdraw", {
///         *balance = balance.checked_sub(amount)?;
///         Some(*balance)
///     })
/// }
/// assert_eq!(withdraw(&mut 5, 7), None);
/// ```
#[macro_export]
macro_rules! atomic {
    ($label:literal, $block:block) => {{
        let _transaction = $crate::Transaction::begin(::core::concat!($label, "\0"));
        $block
    }};
}

/// A transaction that lasts as long as this value. Made by [`atomic!`].
#[must_use = "it ends when it is dropped"]
pub struct Transaction {
    #[cfg(foretrace)]
    label: &'static str,
}

#[cfg(not(foretrace))]
impl Transaction {
    /// Begins one; the label ends with a zero byte.
    #[doc(hidden)]
    #[inline(always)]
    pub fn begin(_label: &'static str) -> Transaction {
        Transaction {}
    }
}

#[cfg(foretrace)]
mod recorded {
    use super::Transaction;
    use core::ffi::c_char;

    extern "C" {
        fn foretrace_atomic_begin(label: *const c_char);
        fn foretrace_atomic_end(label: *const c_char);
    }

    impl Transaction {
        /// Begins one; the label ends with a zero byte.
        #[doc(hidden)]
        pub fn begin(label: &'static str) -> Transaction {
            debug_assert!(label.ends_with('\0'));
            // SAFETY: the label is a C string that lives as long as the program.
            unsafe { foretrace_atomic_begin(label.as_ptr().cast()) };
            Transaction { label }
        }
    }

    impl Drop for Transaction {
        fn drop(&mut self) {
            // SAFETY: as above.
            unsafe { foretrace_atomic_end(self.label.as_ptr().cast()) };
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_block_is_what_it_would_be() {
        fn early(leave: bool) -> u32 {
            atomic!("early", {
                if leave {
                    return 1;
                }
            });
            2
        }
        assert_eq!((early(true), early(false)), (1, 2));
        let mut turns = 0;
        for turn in 0..3 {
            atomic!("loop", {
                if turn == 1 {
                    break;
                }
            });
            turns += 1;
        }
        assert_eq!(turns, 1);
    }

    #[test]
    fn it_takes_no_room() {
        #[cfg(not(foretrace))]
        assert_eq!(core::mem::size_of::<super::Transaction>(), 0);
    }
}
