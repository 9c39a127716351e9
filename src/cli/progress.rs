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
