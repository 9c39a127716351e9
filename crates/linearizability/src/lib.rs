//! Is a history of operations on concurrent objects linearizable?
//!
//! A history is linearizable if its operations can be put in one order, each at some moment between its call and its
//! return, in which every result is what the object's specification says (Herlihy and Wing, "Linearizability: a
//! correctness condition for concurrent objects", TOPLAS 1990). An operation that never returned may have happened or not.
//!
//! Objects are judged one by one, sets and maps key by key (Horn and Kroening, "Faster linearizability checking via
//! P-compositionality", FORTE 2015). Registers, queues and stacks whose values are all different are decided in
//! O(n log n) ([`distinct`]). Others have searches of their own: queues for the order in which values pass the front ([`visits`]), stacks one that
//! need not know what lies below the top ([`pushdown`]), deques one that takes each end by itself ([`ends`]). Everything else is decided by search
//! with memoisation ([`search`]).

pub mod check;
mod controls;
pub mod distinct;
pub mod ends;
mod history;
mod levels;
mod limits;
mod minimal;
mod model;
mod one_end;
mod picture;
pub mod pushdown;
mod read;
pub mod search;
mod sequential;
mod value;
pub mod visits;

pub use check::{Checked, Verdict, check};
pub use history::{History, Operation};
pub use limits::Limits;
pub use minimal::minimal;
pub use model::{Act, BadOperation, Ret, Spec, Step, compile};
pub use picture::{hint, picture};
pub use read::{ReadError, read_edn, read_json_lines, read_order, read_text, read_trace};
pub use sequential::Sequential;
pub use value::Value;
