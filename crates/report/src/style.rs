//! How text reports look: styles, counted nouns, and the lines of a table.

use super::table::{Mark, Row};
use anstyle::{AnsiColor, Style};
use std::io::{self, Write};

/// Headings.
pub(super) const HEAD: Style = Style::new().bold();
/// A line that is part of the triple.
pub(super) const TRIPLE: Style = AnsiColor::Yellow.on_default().bold();

/// Writes a table's lines behind an indent, the triple marked.
pub(super) fn write_rows(indent: &str, rows: &[Row], out: &mut dyn Write) -> io::Result<()> {
    rows.iter().try_for_each(|Row { mark, text }| match mark {
        Mark::Triple(_) => writeln!(out, "{indent}{TRIPLE}{text}{TRIPLE:#}"),
        Mark::None => writeln!(out, "{indent}{text}"),
    })
}

/// A number with its noun.
pub fn plural(number: u64, noun: &str) -> String {
    let ending = match (number, noun.ends_with('s')) {
        (1, _) => "",
        (_, true) => "es",
        _ => "s",
    };
    format!("{number} {noun}{ending}")
}
