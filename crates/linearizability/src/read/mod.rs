//! Histories from files: JSON Lines and EDN as Jepsen and Porcupine have them, and traces of ours.

mod edn;
mod entry;
mod json;
mod trace;

pub use edn::read_edn;
pub use entry::ReadError;
pub use json::read_json_lines;
pub use trace::{read_order, read_trace};

use crate::history::History;

/// Reads a history. Its first character says which form it has: `{` with a quoted or a bare word after it, `[`, or `(`. Anything else is
/// lines of a log with `{…}` or words in them.
pub fn read_text(text: &str) -> Result<History, ReadError> {
    let start = text.trim_start_matches(|c: char| c.is_whitespace() || c == ',');
    let inside = start.trim_start_matches(['[', '(']).trim_start().strip_prefix('{').map(str::trim_start);
    match inside {
        Some(inside) if inside.starts_with('"') => read_json_lines(text),
        _ => read_edn(text),
    }
}
