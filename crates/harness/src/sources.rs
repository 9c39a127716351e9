//! What a recording keeps of the program's source: the text of its files, and which function and line each access is in. So that a
//! witness can be tried on the next build, when the program that was recorded is gone.

use super::folder::FolderError;
use super::unlogged_places::UnloggedPlaces;
use foretrace_report::write_whole;
use foretrace_runtime::record::Site;
use foretrace_walker::Programs;
use foretrace_walker::log::open_logs;
use foretrace_walker::program::Program;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The file in a recording's folder.
const SOURCES: &str = "sources.json.zst";
/// Longest text that is kept of one file, in bytes.
const LONGEST: u64 = 4 << 20;
/// Longest text of all that is read again.
const LONGEST_KEPT: u64 = 1 << 30;

/// The source of a recorded program, as far as its run was there.
#[derive(Default, Debug, Serialize, Deserialize)]
pub struct Sources {
    foretrace: u32,
    /// Text of files, by their names in positions.
    files: BTreeMap<String, String>,
    /// Where accesses are, by the places of their records in hexadecimal.
    places: BTreeMap<String, SourcePlace>,
}

/// Where an access is in the source.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SourcePlace {
    /// The function.
    pub function: String,
    /// `file:line:column`.
    pub loc: String,
}

impl Sources {
    /// Keeps what the logs of a folder have been at, and gives it. A file that was changed after the program was linked is left out.
    pub fn keep(recording: &Path, programs: &Programs) -> Result<Sources, Box<dyn std::error::Error>> {
        let loaded = programs.open(recording)?;
        let program = &loaded.program;
        let mut places: BTreeSet<u64> = UnloggedPlaces::read(recording)?.all().collect();
        // Code whose accesses are all in functions of libraries, which it calls, has other records.
        let mut others: BTreeSet<u64> = BTreeSet::new();
        for log in open_logs(recording)? {
            for record in log.records() {
                let known = if record.kind.size() > 0 { &mut places } else { &mut others };
                known.insert(record.place);
            }
        }
        let built = program.files().filter_map(changed).min();
        let mut sources = Sources { foretrace: 1, ..Sources::default() };
        places.into_iter().for_each(|place| sources.add(program, place, built));
        others.into_iter().for_each(|place| sources.add_text(program, place, built));
        sources.write(recording)?;
        Ok(sources)
    }

    fn add(&mut self, program: &Program, place: u64, built: Option<SystemTime>) {
        let Some(position) = program.position(Site(place)) else { return };
        let loc = format!("{}:{}:{}", position.file, position.line, position.column);
        self.places.insert(format!("{place:x}"), SourcePlace { function: position.function, loc });
        self.add_text(program, place, built);
    }

    /// Keeps the text of the file that a place lies in, if the program's own code does.
    fn add_text(&mut self, program: &Program, place: u64, built: Option<SystemTime>) {
        let Some(position) = program.position(Site(place)).filter(|position| !self.files.contains_key(&position.file))
        else {
            return;
        };
        let text =
            program.source_file(Site(place)).filter(|path| changed(path) <= built).and_then(|path| text_of(&path));
        if let Some(text) = text {
            self.files.insert(position.file, text);
        }
    }

    fn write(&self, recording: &Path) -> Result<(), FolderError> {
        let path = recording.join(SOURCES);
        let write = |out: &mut dyn Write| {
            let mut packed = zstd::Encoder::new(out, 0)?;
            serde_json::to_writer(&mut packed, self)?;
            packed.finish().map(|_| ())
        };
        write_whole(&path, write).map_err(|error| FolderError::Io(path, error))
    }

    /// What a recording keeps; nothing where it keeps nothing.
    pub fn read(recording: &Path) -> Result<Option<Sources>, FolderError> {
        let path = recording.join(SOURCES);
        let failed = |error| FolderError::Io(path.clone(), error);
        let file = match std::fs::File::open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => opened.map_err(failed)?,
        };
        let mut text = Vec::new();
        zstd::Decoder::new(file)
            .and_then(|unpacked| unpacked.take(LONGEST_KEPT).read_to_end(&mut text))
            .map_err(failed)?;
        serde_json::from_slice(&text).map(Some).map_err(|error| failed(error.into()))
    }

    /// Of the recording that a trace lies in; nothing where it keeps no source.
    pub fn of_trace(trace: &Path) -> Option<Sources> {
        Sources::read(trace.parent()?).ok()?
    }

    /// The text of the line at `file:line:column`.
    pub fn line(&self, loc: &str) -> Option<&str> {
        let (rest, _column) = loc.rsplit_once(':')?;
        let (file, line) = rest.rsplit_once(':')?;
        self.text(file)?.lines().nth(line.parse::<usize>().ok()?.checked_sub(1)?)
    }

    /// The text of a file, by its name in positions.
    pub fn text(&self, file: &str) -> Option<&str> {
        self.files.get(file).map(String::as_str)
    }

    /// Where an access is whose record has this place.
    pub fn place(&self, place: u64) -> Option<&SourcePlace> {
        self.places.get(&format!("{place:x}"))
    }
}

fn changed(path: impl AsRef<Path>) -> Option<SystemTime> {
    std::fs::metadata(path).ok()?.modified().ok()
}

/// The text of a source file.
pub(super) fn text_of(path: &PathBuf) -> Option<String> {
    let short = std::fs::metadata(path).ok()?.len() <= LONGEST;
    short.then(|| std::fs::read_to_string(path).ok()).flatten()
}
