//! `walk.json`: the choice of blocks with which a recording's trace was made.

use super::folder::FolderError;
use foretrace_report::write_whole;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// The file beside the trace.
const FILE: &str = "walk.json";

/// What a trace was made with.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct WalkedBy {
    /// The choice, as `--atomic` has it.
    pub atomic: String,
    /// The pattern of `--include`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub include: Option<String>,
    /// The pattern of `--focus`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub focus: Option<String>,
    /// The patterns of `--operations`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operations: Option<String>,
    /// By place of the program's own code, where inside of a library its accesses happen.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub inside: BTreeMap<String, String>,
}

impl WalkedBy {
    /// What the trace in a recording's folder was made with; nothing where that is not known.
    pub fn read(folder: &Path) -> Option<WalkedBy> {
        serde_json::from_str(&std::fs::read_to_string(folder.join(FILE)).ok()?).ok()
    }

    /// Says it beside the trace.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn save(&self, folder: &Path) -> Result<(), FolderError> {
        let path = folder.join(FILE);
        let write = |out: &mut dyn std::io::Write| {
            serde_json::to_writer(&mut *out, self)?;
            out.write_all(b"\n")
        };
        write_whole(&path, write).map_err(|error| FolderError::Io(path, error))
    }

    /// Whether both were made with the same choice.
    pub fn is_same_choice(&self, other: &WalkedBy) -> bool {
        let choice = |by: &WalkedBy| (by.atomic.clone(), by.include.clone(), by.focus.clone(), by.operations.clone());
        choice(self) == choice(other)
    }

    /// The file for a trace that is made with this beside the recording's own.
    pub fn file_name(&self) -> String {
        let parts = [Some(&self.atomic), self.include.as_ref(), self.focus.as_ref(), self.operations.as_ref()];
        let plain = |text: &String| text.replace(|c: char| !c.is_ascii_alphanumeric() && c != '-', "_");
        let parts: Vec<String> = parts.into_iter().flatten().map(plain).collect();
        format!("trace-{}.jsonl.zst", parts.join("-"))
    }
}
