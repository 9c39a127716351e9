//! `foretrace test` on a litmus program.

use super::choices::Format;
use super::files;
use super::outcome::Outcome;
use super::tested::{Tested, write_json, write_text};
use anyhow::{Context, bail};
use foretrace::litmus::{FileError, parse_file};
use foretrace::testing::test_litmus;
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Tests a litmus program.
pub fn run(file: &Path, time: Duration, format: Format, stop: &AtomicBool) -> anyhow::Result<Outcome> {
    let program = match parse_file(file, files::colour_on_stderr()) {
        Ok(program) => program,
        Err(FileError::Invalid(shown)) => {
            bail!("not a litmus program; expected one, or `--` before the program to test\n{}", shown.trim_end())
        }
        Err(error) => return Err(error.into()),
    };
    let source = std::fs::read_to_string(file).with_context(|| file.display().to_string())?;
    let mut tested = test_litmus(&program, &source, time, stop)?;
    let truth = match tested.is_whole {
        true => format!("the program has {} schedules, of which {} fail", tested.schedules, tested.failing),
        false => format!(
            "of the program's schedules {} were run, not all; {} of them fail",
            tested.schedules, tested.failing
        ),
    };
    tested.report.notes.push(truth);
    tested.report.ended_early = !tested.is_whole;
    let failed = !tested.report.finds.is_empty();
    let one = [Tested {
        name: file.display().to_string(),
        command: String::new(),
        directory: None,
        report: tested.report,
        repairs: Vec::new(),
    }];
    let mut out = io::BufWriter::new(anstream::stdout().lock());
    match format {
        Format::Text => write_text(0, false, &one[0], &mut out)?,
        Format::Json => write_json(&one, &mut out)?,
    }
    out.flush()?;
    Ok(match (failed, tested.is_whole) {
        (true, _) => Outcome::Found,
        (false, true) => Outcome::Fine,
        (false, false) => Outcome::Undecided,
    })
}
