//! The values that options take, by the names that reports use for them.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// A value of an option: its name, its help, and what it stands for.
pub type Choice<T> = (&'static str, &'static str, T);

/// A parser for an option with few values.
pub fn one_of<T: Clone + Send + Sync + 'static>(choices: &'static [Choice<T>]) -> impl TypedValueParser<Value = T> {
    let shown = choices.iter().map(|(name, help, _)| PossibleValue::new(*name).help(*help));
    PossibleValuesParser::new(shown).try_map(|chosen| {
        let found = choices.iter().find(|(name, _, _)| *name == chosen);
        found.map(|(_, _, value)| value.clone()).ok_or("no such value")
    })
}

/// A parser for a number of seconds above zero.
pub fn seconds(text: &str) -> Result<std::time::Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "expected a number of seconds".to_string())?;
    match std::time::Duration::try_from_secs_f64(seconds) {
        Ok(duration) if !duration.is_zero() => Ok(duration),
        _ => Err("expected a number of seconds above 0".to_string()),
    }
}

/// How results are shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// For people.
    Text,
    /// For programs.
    Json,
}

/// The values of `--format`.
pub const FORMATS: &[Choice<Format>] = &[("text", "for people", Format::Text), ("json", "for programs", Format::Json)];
