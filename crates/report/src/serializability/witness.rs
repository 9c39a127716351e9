//! A file for each violation of a block that is shown.

use super::json::{NameJson, PathStepJson};
use super::{BlockReport, shape};
use crate::json::write_open_object;
use crate::witness::{PrefixHead, WitnessDir, WitnessFileError, write_schedule};
use foretrace_analysis::verdict::RestsOn;
use foretrace_serializability::Violation;
use foretrace_trace::{EventId, Model, write_whole};
use serde::Serialize;
use std::io::{self, Write};
use std::path::PathBuf;

/// A violation with its file.
pub struct WrittenBlock<'r> {
    /// The block's position among all.
    pub block: usize,
    /// Its violation.
    pub violation: &'r Violation,
    /// The witness.
    pub file: PathBuf,
    /// Whether the recorded order itself shows it.
    pub observed: bool,
    /// Whether only another path of the program may hold it.
    pub off_path: bool,
}

/// What stands before the schedule of a witness file.
#[derive(Serialize)]
struct Head<'t> {
    #[serde(flatten)]
    shown: PrefixHead<'t>,
    #[serde(skip_serializing_if = "Option::is_none")]
    off_path: Option<&'static str>,
    block: BlockPlaceJson<'t>,
    shape: &'static str,
    path: Vec<PathStepJson<'t>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rests_on: Option<RestsOn>,
    observed: bool,
}

#[derive(Serialize)]
struct BlockPlaceJson<'t> {
    #[serde(flatten)]
    name: NameJson<'t>,
    first: EventId,
    last: EventId,
}

impl BlockReport<'_> {
    /// The violations that are shown, one of each kind, with the position of the block; those off the path of the run last, and marked.
    pub fn shown(&self) -> Vec<(usize, &Violation, bool)> {
        let violated = self.groups().into_iter().map(|group| (group, false));
        let off_path = self.paths_off_path().into_iter().map(|group| (group, true));
        violated.chain(off_path).map(|(group, off_path)| (group[0].0, group[0].1, off_path)).collect()
    }

    /// Writes the file of each violation that is shown, those of other paths of the program last; says which.
    ///
    /// # Errors
    /// Where a file cannot be written.
    pub fn write_witnesses(&self, folder: &WitnessDir) -> Result<Vec<WrittenBlock<'_>>, WitnessFileError> {
        let mut written = Vec::new();
        for (block, violation, off_path) in self.shown() {
            let file = folder.file(&file_name(violation, off_path));
            write_whole(&file, |out| self.write_witness((block, off_path), violation, out))
                .map_err(|source| WitnessFileError { path: file.clone(), source })?;
            let observed = self.judged_of(block).observed;
            written.push(WrittenBlock { block, violation, file, observed, off_path });
        }
        Ok(written)
    }

    fn write_witness(
        &self,
        (position, off_path): (usize, bool),
        violation: &Violation,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let block = &self.blocks.all()[position];
        let (verdict, model) = if off_path { ("off-path", Model::Cam) } else { ("violated", self.model) };
        let head = Head {
            shown: PrefixHead::new(("block", verdict), self.file, ends(violation), model, self.atomic),
            off_path: off_path.then_some("before-remote"),
            block: BlockPlaceJson { name: self.name_json(self.name(block)), first: block.first, last: block.last },
            shape: shape(violation.claim().kind()),
            path: self.path_json(violation.claim()),
            rests_on: RestsOn::of_run(violation.run()),
            observed: self.judged_of(position).observed,
        };
        write_open_object(&head, out)?;
        write_schedule(self.trace, &violation.run().steps(self.trace), out)
    }
}

/// First and last access, and the first one of another thread.
fn ends(violation: &Violation) -> [EventId; 3] {
    let events = &violation.claim().events;
    let (first, last) = (events.first().copied().unwrap_or(EventId(0)), events.last().copied().unwrap_or(EventId(0)));
    [first, events.get(1).copied().unwrap_or(first), last]
}

fn file_name(violation: &Violation, off_path: bool) -> String {
    let [first, remote, second] = ends(violation);
    let kind = if off_path { "off-path-block" } else { "block" };
    format!("{kind}-{first}-{remote}-{second}.json")
}
