//! The witness file of a branch that goes the other way.

use super::Subject;
use super::json::write_open_object;
use super::witness::{PrefixHead, WitnessDir, WitnessFileError, write_schedule};
use foretrace_analysis::other_ways::FoundOtherWay;
use foretrace_analysis::verdict::RestsOn;
use foretrace_checker::OtherWay;
use foretrace_trace::{EventId, Model, write_whole};
use serde::Serialize;
use std::io::{self, Write};
use std::path::PathBuf;

/// What stands before the schedule.
#[derive(Serialize)]
struct Head<'t> {
    #[serde(flatten)]
    shown: PrefixHead<'t>,
    branch: EventId,
    #[serde(skip_serializing_if = "Option::is_none")]
    rests_on: Option<RestsOn>,
}

/// Writes it; says where.
///
/// # Errors
/// Where the file cannot be written.
pub fn write_other_way(
    subject: Subject<'_>,
    found: &FoundOtherWay,
    folder: &WitnessDir,
) -> Result<PathBuf, WitnessFileError> {
    let file = folder.file(&format!("other-way-{}.json", found.witness.claim().branch));
    write_whole(&file, |out| write_witness(subject, found, out))
        .map_err(|source| WitnessFileError { path: file.clone(), source })?;
    Ok(file)
}

fn write_witness(subject: Subject<'_>, found: &FoundOtherWay, out: &mut dyn Write) -> io::Result<()> {
    let Subject { file, trace, options, .. } = subject;
    let OtherWay { branch } = *found.witness.claim();
    let last = found.witness.schedule().last().copied().unwrap_or(branch);
    let path = found.decisive(trace);
    let [write, read] = [path.first(), path.last()].map(|event| event.copied().unwrap_or(last));
    let ends = [write, write, read];
    let shown = PrefixHead::new(("other-way", "feasible"), file, ends, Model::Ctp, options.atomic);
    write_open_object(&Head { shown, branch, rests_on: found.rests_on }, out)?;
    write_schedule(trace, &found.witness.run().steps(trace), out)
}
