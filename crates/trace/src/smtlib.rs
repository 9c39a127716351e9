//! Terms as SMT-LIB 2 text: the expressions of traces, of litmus programs and of dumped queries.
//!
//! Reading and printing use explicit stacks, since traces come from outside: text that nests deeper than
//! [`NESTING_LIMIT`] is refused, and terms of any depth and sharing are printed in space linear in the number of
//! distinct subterms, so that they read back as the very same terms.

mod lexer;
mod parse;
mod print;

pub use parse::parse;
pub(crate) use parse::parse_over;
pub use print::{print, symbol};

use crate::error::Problem;
use crate::function::{FUNCTIONS_BY_NAME, Func};

/// How deep applications and bindings may nest in a text. The body of a `let` does not count.
pub const NESTING_LIMIT: usize = 10_000;

/// Most digits that a numeral may have.
pub const DIGIT_LIMIT: usize = 1_000_000;

/// Why a text is no term.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("at column {column}: {problem}")]
pub struct TermError {
    /// Where in the text, in bytes from 1.
    pub column: usize,
    /// What is wrong there.
    pub problem: Problem,
}

impl TermError {
    fn new(position: usize, found: impl Into<String>, expected: impl Into<String>) -> TermError {
        TermError { column: position + 1, problem: Problem::new(found, expected) }
    }
}

/// Words that SMT-LIB keeps for itself or that are literals: never plain names.
const RESERVED: &[&str] = &[
    "let",
    "_",
    "!",
    "as",
    "par",
    "forall",
    "exists",
    "match",
    "true",
    "false",
    "BINARY",
    "DECIMAL",
    "HEXADECIMAL",
    "NUMERAL",
    "STRING",
];

fn is_symbol_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"~!@$%^&*_-+=<>.?/".contains(&byte)
}

/// Whether a name can stand in a term, quoted where needed.
pub fn is_expressible(name: &str) -> bool {
    !name.contains(['|', '\\'])
}

/// The function of an SMT-LIB name and indices; `-` of one argument is [`Func::Neg`].
pub fn function(name: &str, indices: &[u32]) -> Option<Func> {
    match (name, indices) {
        (name, []) => FUNCTIONS_BY_NAME.get(name).copied(),
        ("divisible", [n]) if *n > 0 => Some(Func::Divisible(*n)),
        ("extract", [high, low]) => Some(Func::Extract { high: *high, low: *low }),
        ("zero_extend", [n]) => Some(Func::ZeroExtend(*n)),
        ("sign_extend", [n]) => Some(Func::SignExtend(*n)),
        ("rotate_left", [n]) => Some(Func::RotateLeft(*n)),
        ("rotate_right", [n]) => Some(Func::RotateRight(*n)),
        ("repeat", [n]) => Some(Func::Repeat(*n)),
        _ => None,
    }
}

/// The name and indices under which [`function`] finds a function.
pub fn name_and_indices(func: Func) -> (&'static str, Vec<u32>) {
    match func {
        Func::Neg => ("-", vec![]),
        Func::Divisible(n) => ("divisible", vec![n]),
        Func::Extract { high, low } => ("extract", vec![high, low]),
        Func::ZeroExtend(n) => ("zero_extend", vec![n]),
        Func::SignExtend(n) => ("sign_extend", vec![n]),
        Func::RotateLeft(n) => ("rotate_left", vec![n]),
        Func::RotateRight(n) => ("rotate_right", vec![n]),
        Func::Repeat(n) => ("repeat", vec![n]),
        plain => (crate::function::NAMES.iter().find(|(_, f)| *f == plain).map_or("", |(name, _)| name), vec![]),
    }
}
