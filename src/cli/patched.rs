//! `--patch`: a repair as a change of the source, for the simple cases.

use super::say;
use anyhow::Context;
use foretrace::recorder::Sources;
use foretrace::report::{LockChoice, PredictedRepair, Proof, Subject, write_whole};
use foretrace_repair::{Patch, file_of, patch, stretches_of};
use foretrace_trace::printable;
use std::path::Path;

/// What was proposed for a repair, or why nothing.
pub type Proposed = Result<Patch, String>;

/// Proposes a change of the source for a repair.
pub fn proposed(subject: Subject<'_>, repair: &PredictedRepair) -> Proposed {
    let file = file_of(&repair.sections).map_err(|why| why.to_string())?;
    let text = std::fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
    let sources = Sources::of_trace(Path::new(subject.file));
    if sources.is_some_and(|sources| sources.text(file).is_some_and(|then| then != text)) {
        return Err(format!("{file}: the file is not as it was when the program was recorded"));
    }
    let stretches = stretches_of(subject.trace, Some(subject.options.atomic), &repair.sections);
    let would_do = |choice: &&LockChoice| {
        matches!(choice.proof, Proof::Proved | Proof::ForbidsRun) && choice.circle.is_empty() && choice.lock.is_some()
    };
    let lock = repair.locks.iter().find(would_do).and_then(|choice| choice.lock);
    let name = name_in_diff(Path::new(file));
    patch(subject.trace, (&repair.sections, &stretches), lock, (&name, &text)).map_err(|why| why.to_string())
}

/// A file as diffs name it: from the current folder, where it lies below; else from the root.
fn name_in_diff(file: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let name = file.strip_prefix(&here).or_else(|_| file.strip_prefix("/")).unwrap_or(file);
    name.display().to_string()
}

/// Writes the first patch that there is to a file, and says what it does; else why there is none.
pub fn write_first(all: impl Iterator<Item = Proposed>, file: &Path) -> anyhow::Result<()> {
    let mut reason = "no repair was found".to_string();
    for (number, proposed) in all.enumerate() {
        match proposed {
            Ok(Patch { what, diff }) => {
                let note = format!(
                    "foretrace proposes: {what}.\nNeither compiled nor tested: review it before you apply it.\n"
                );
                write_whole(file, |out| out.write_all(format!("{note}\n{diff}").as_bytes()))
                    .with_context(|| file.display().to_string())?;
                say(format_args!("foretrace: {}: a proposal for repair {}: {what}", file.display(), number + 1));
                return Ok(());
            }
            Err(why) if number == 0 => reason = why,
            Err(_) => {}
        }
    }
    say(format_args!("foretrace: no patch: {}", printable(&reason)));
    Ok(())
}
