//! `--patch`: a repair as a change of the source, for the simple cases.

use super::outcome::say;
use anyhow::Context;
use foretrace::recorder::Sources;
use foretrace::report::{LockChoice, PredictedRepair, Proof, ProposedPatch, Subject, write_whole};
use foretrace_repair::{NewLock, Patch, PatchLock, Section, Whole, file_of, patch, stretches_of};
use foretrace_trace::{Atomic, Trace, printable};
use std::path::Path;

/// Sections in the one file that a patch would change.
pub struct Patchable<'a> {
    trace: &'a Trace,
    sections: &'a [Section],
    stretches: Vec<Vec<Whole>>,
    name: String,
    text: String,
}

impl<'a> Patchable<'a> {
    /// Sections of a trace with this name; or why no patch can change their source.
    pub fn new(
        (name, trace): (&Path, &'a Trace),
        atomic: Option<Atomic>,
        sections: &'a [Section],
    ) -> Result<Patchable<'a>, String> {
        let file = file_of(sections).map_err(|why| why.to_string())?;
        let sources = Sources::of_trace(name);
        let then = sources.as_ref().and_then(|sources| sources.text(file));
        let text = match (std::fs::read_to_string(file), then) {
            (Ok(text), Some(then)) if then != text => {
                return Err(format!("{file}: the file is not as it was when the program was recorded"));
            }
            (Ok(text), _) => text,
            // The program was compiled in another folder than this one.
            (Err(_), Some(then)) => then.to_string(),
            (Err(error), None) => return Err(format!("{file}: {error}")),
        };
        let of_section = |section: &Section| stretches_of(trace, atomic, &vec![section.clone()]);
        let stretches = sections.iter().map(of_section).collect();
        Ok(Patchable { trace, sections, stretches, name: name_in_diff(Path::new(file)), text })
    }

    /// The patch that takes this lock.
    pub fn with(&self, lock: PatchLock<'_>) -> ProposedPatch {
        let Patchable { trace, sections, stretches, name, text } = self;
        patch(trace, (sections, stretches), lock, (name, text)).map_err(|why| why.to_string())
    }
}

/// Proposes a change of the source for a repair.
pub fn proposed(subject: Subject<'_>, repair: &PredictedRepair) -> ProposedPatch {
    let traced = (Path::new(subject.file), subject.trace);
    let patchable = Patchable::new(traced, Some(subject.options.atomic), &repair.sections)?;
    let var = repair.target.classes.first().and_then(|triple| subject.trace.event(triple.first).op.var());
    let would_do =
        |choice: &&LockChoice| matches!(choice.proof, Proof::Proved | Proof::ForbidsRun) && choice.circle.is_empty();
    let mut refused = None;
    for choice in repair.locks.iter().filter(would_do) {
        let proposed = match (choice.lock, var) {
            (Some(lock), _) => patchable.with(PatchLock::Existing(lock)),
            // What is off the path may never come about: a new lock for it has to be worth it.
            (None, _) if repair.target.off_path && !repair.came_about() => {
                Err("what it is for is off the path, and no run came to it".to_string())
            }
            (None, Some(var)) => patchable.with(PatchLock::New(NewLock { var, elsewhere: &choice.elsewhere })),
            (None, None) => patchable.with(PatchLock::None),
        };
        match proposed {
            Ok(patch) => return Ok(patch),
            Err(why) => refused = refused.or(Some(why)),
        }
    }
    refused.map_or_else(|| patchable.with(PatchLock::None), Err)
}

/// A file as diffs name it: from the current folder, where it lies below; else from the root.
fn name_in_diff(file: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let name = file.strip_prefix(&here).or_else(|_| file.strip_prefix("/")).unwrap_or(file);
    name.display().to_string()
}

/// Writes the first patch that there is to a file, and says what it does; else why there is none. One without a new lock comes before
/// one that declares a lock.
pub fn write_first<'p>(all: impl Iterator<Item = &'p ProposedPatch>, file: &Path) -> anyhow::Result<()> {
    let mut reason = "no repair was found".to_string();
    let mut patches: Vec<(usize, &Patch)> = Vec::new();
    for (number, proposed) in all.enumerate() {
        match proposed {
            Ok(patch) => patches.push((number, patch)),
            Err(why) if number == 0 => reason.clone_from(why),
            Err(_) => {}
        }
    }
    let Some((number, Patch { what, diff, .. })) = patches.into_iter().min_by_key(|(_, patch)| patch.declares) else {
        say(format_args!("foretrace: no patch: {}", printable(&reason)));
        return Ok(());
    };
    let note = format!("foretrace proposes: {what}.\nNeither compiled nor tested: review it before you apply it.\n");
    write_whole(file, |out| out.write_all(format!("{note}\n{diff}").as_bytes()))
        .with_context(|| file.display().to_string())?;
    say(format_args!("foretrace: {}: a proposal for repair {}: {what}", file.display(), number + 1));
    Ok(())
}
