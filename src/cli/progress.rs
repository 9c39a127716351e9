//! How far a run is, on a terminal only.

use foretrace::predict::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;

/// A line on stderr that goes away when the run ends.
pub struct Bar(ProgressBar);

impl Bar {
    /// A bar if stderr is a terminal.
    pub fn on_terminal() -> Option<Bar> {
        if !std::io::stderr().is_terminal() {
            return None;
        }
        let template = "{elapsed} {wide_bar} {pos} of {len} candidates, {msg}, {eta} left";
        let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(5)).with_style(style);
        Some(Bar(bar))
    }

    /// Shows how far it is.
    pub fn show(&self, progress: &Progress) {
        self.0.set_length(progress.candidates);
        self.0.set_position(progress.done);
        self.0.set_message(format!("{} feasible", progress.feasible));
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// A line on stderr about a test, which goes away when it ends.
pub struct Spinner(Option<ProgressBar>);

impl Spinner {
    /// Shows a line.
    pub fn say(&self, line: String) {
        if let Some(bar) = &self.0 {
            bar.set_message(line);
            bar.tick();
        }
    }

    /// A line if stderr is a terminal.
    pub fn on_terminal() -> Spinner {
        if !std::io::stderr().is_terminal() {
            return Spinner(None);
        }
        let style = ProgressStyle::with_template("{elapsed} {wide_msg}");
        let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
        Spinner(Some(ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(5)).with_style(style)))
    }

    /// Writes something while the line is away.
    pub fn aside<T>(&self, write: impl FnOnce() -> T) -> T {
        match &self.0 {
            Some(bar) => bar.suspend(write),
            None => write(),
        }
    }

    /// Shows how far a test is.
    pub fn show(&self, name: &str, progress: &foretrace::testing::Progress) {
        if let Some(bar) = &self.0 {
            let foretrace::testing::Progress { recorded, tried, explored, waiting, finds } = progress;
            let all = tried + *waiting as u64;
            let explored = if *explored > 0 { format!(", {explored} interleavings explored") } else { String::new() };
            bar.set_message(format!(
                "{name}: {recorded} runs recorded, {tried} of {all} schedules{explored}, {finds} failures"
            ));
            bar.tick();
        }
    }
}

impl Drop for Spinner {
    fn drop(&mut self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}
