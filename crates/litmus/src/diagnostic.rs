//! What is wrong with a litmus program, where, and how people see it.

use ariadne::{Config, IndexType, Label, Report, ReportKind, Source};

/// A part of a program's text, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    /// The first byte.
    pub start: u32,
    /// The byte after the last.
    pub end: u32,
}

impl Span {
    /// From this span's start to the other's end.
    pub(super) fn to(self, other: Span) -> Span {
        Span { start: self.start, end: other.end.max(self.start) }
    }

    /// The same as a range of bytes.
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// One mistake in a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// What was found and what was expected.
    pub message: String,
    /// Where, and what is to be said about the place.
    pub place: (Span, String),
    /// Another place that matters, such as an earlier definition.
    pub related: Option<(Span, String)>,
    /// What may help.
    pub help: Option<String>,
}

impl Diagnostic {
    /// A mistake at a place.
    pub(super) fn new(span: Span, message: impl Into<String>, note: impl Into<String>) -> Diagnostic {
        Diagnostic { message: message.into(), place: (span, note.into()), related: None, help: None }
    }

    /// With another place that matters.
    pub(super) fn related(mut self, span: Span, note: impl Into<String>) -> Diagnostic {
        self.related = Some((span, note.into()));
        self
    }
}

/// All mistakes that were found in a program, at least one, in the order of their places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostics(pub Vec<Diagnostic>);

/// Longer lines are not shown: they would bury the message.
const LONGEST_LINE_SHOWN: usize = 300;

/// More mistakes than this are counted, not shown.
const MOST_SHOWN: usize = 20;

impl Diagnostics {
    /// The mistakes with the places in `source` that they are about; `name` is the file's.
    pub fn render(&self, name: &str, source: &str, color: bool) -> String {
        let mut text = String::new();
        for diagnostic in self.0.iter().take(MOST_SHOWN) {
            text.push_str(&diagnostic.render(name, source, color));
        }
        if let Some(more) = self.0.len().checked_sub(MOST_SHOWN).filter(|more| *more > 0) {
            text.push_str(&format!("{more} more errors in {name}\n"));
        }
        text
    }
}

impl Diagnostic {
    fn render(&self, name: &str, source: &str, color: bool) -> String {
        let mut shown: Vec<_> = std::iter::once(&self.place).chain(&self.related).collect();
        shown.sort(); // ariadne shows them in the order given
        if shown.iter().any(|(span, _)| longest_line(source, *span) > LONGEST_LINE_SHOWN) {
            return self.render_plain(name, source);
        }
        let config = Config::default().with_color(color).with_index_type(IndexType::Byte);
        let mut report = Report::build(ReportKind::Error, (name, self.place.0.range()))
            .with_config(config)
            .with_message(&self.message);
        for (span, note) in shown {
            report.add_label(Label::new((name, span.range())).with_message(note));
        }
        if let Some(help) = &self.help {
            report.set_help(help);
        }
        let mut bytes = Vec::new();
        match report.finish().write((name, Source::from(source)), &mut bytes) {
            Ok(()) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(_) => self.render_plain(name, source),
        }
    }

    fn render_plain(&self, name: &str, source: &str) -> String {
        let (span, note) = &self.place;
        let (line, column) = places(source, &[*span])[0];
        let help = self.help.as_ref().map_or(String::new(), |help| format!(" ({help})"));
        format!("Error: {}: {note}{help}\n  at {name}:{line}:{column}\n", self.message)
    }
}

fn longest_line(source: &str, span: Span) -> usize {
    let range = span.range();
    let start = source[..range.start].rfind('\n').map_or(0, |newline| newline + 1);
    let end = source[range.end..].find('\n').map_or(source.len(), |newline| range.end + newline);
    source[start..end].split('\n').map(str::len).max().unwrap_or(0)
}

/// Line and column of each span's start, both from 1; a column is a character.
pub(super) fn places(source: &str, spans: &[Span]) -> Vec<(u32, u32)> {
    let mut order: Vec<usize> = (0..spans.len()).collect();
    order.sort_by_key(|position| spans[*position].start);
    let mut places = vec![(1, 1); spans.len()];
    let (mut line, mut column) = (1, 1);
    let mut characters = source.char_indices().peekable();
    for position in order {
        while let Some((_, character)) = characters.next_if(|(at, _)| *at < spans[position].start as usize) {
            (line, column) = if character == '\n' { (line + 1, 1) } else { (line, column + 1) };
        }
        places[position] = (line, column);
    }
    places
}
