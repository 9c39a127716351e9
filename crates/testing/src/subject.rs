//! What is tested and judged by what: by this a test that was stopped knows whether it may go on.

use super::settings::{Settings, TestError};
use foretrace_harness::Program;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What a test is of.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Tested {
    /// The version of foretrace.
    foretrace: String,
    program: Contents,
    arguments: Vec<String>,
    /// What the program reads, and the command that starts it.
    files: BTreeMap<String, Option<Contents>>,
    /// Options by which runs differ or are judged, as the command line has them.
    options: BTreeMap<String, String>,
}

/// A file, as far as it must stay the same.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Contents {
    path: PathBuf,
    bytes: u64,
    checksum: u32,
}

impl Contents {
    fn of_file(path: &Path) -> Result<Contents, TestError> {
        let bytes = std::fs::read(path).map_err(|error| TestError::Io(path.to_path_buf(), error))?;
        Ok(Contents { path: path.to_path_buf(), bytes: bytes.len() as u64, checksum: crc32fast::hash(&bytes) })
    }
}

impl Tested {
    /// Of the settings of a test.
    ///
    /// # Errors
    /// The program or its input cannot be read.
    pub fn by(settings: &Settings) -> Result<Tested, TestError> {
        let of_file = |path: Option<&PathBuf>| path.map(|path| Contents::of_file(path)).transpose();
        let harness = settings.harness.as_ref().map(|harness: &Program| &harness.path);
        let files = [("the input", of_file(settings.input.as_ref())?), ("--harness", of_file(harness)?)];
        let shown = |text: Option<String>| text.unwrap_or_else(|| "nothing".to_string());
        let watched: Vec<String> = settings.watch.iter().map(|file| file.display().to_string()).collect();
        let by = &settings.walked_by;
        let options = [
            ("the folder", shown(settings.directory.as_ref().map(|folder| folder.display().to_string()))),
            ("--seed", settings.seed.to_string()),
            ("--predict", format!("{:?}", settings.predict).to_lowercase()),
            ("--atomic", by.atomic.clone()),
            ("--include", shown(by.include.clone())),
            ("--focus", shown(by.focus.clone())),
            ("--watch", watched.join(" ")),
            ("--fail-when", shown(settings.fail_when.as_ref().map(ToString::to_string))),
            ("--ignore-output", (!settings.compare_output).to_string()),
            ("--pass-status", settings.pass_status.to_string()),
            ("--sandbox", settings.sandbox.to_string()),
        ];
        Ok(Tested {
            foretrace: env!("CARGO_PKG_VERSION").to_string(),
            program: Contents::of_file(&settings.program.path)?,
            arguments: settings.program.arguments.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
            files: files.map(|(name, contents)| (name.to_string(), contents)).into(),
            options: options.map(|(name, value)| (name.to_string(), value)).into(),
        })
    }

    /// Why a test of `self` that was stopped cannot go on as one of `now`; nothing where it can.
    pub fn difference(&self, now: &Tested) -> Option<String> {
        if self.foretrace != now.foretrace {
            return Some(format!("was kept by foretrace {}, this is {}", self.foretrace, now.foretrace));
        }
        let (was, is) = (&self.program, &now.program);
        if was.path != is.path {
            return Some(format!("keeps a test of {}, found {}", was.path.display(), is.path.display()));
        }
        if was != is {
            return Some(format!(
                "keeps a test of another build of {}: test this one from its start, without --resume",
                is.path.display()
            ));
        }
        if self.arguments != now.arguments {
            let (was, is) = (self.arguments.join(" "), now.arguments.join(" "));
            return Some(format!("keeps a test with the arguments `{was}`, found `{is}`"));
        }
        let same = |name: &&String| self.files.get(*name) == now.files.get(*name);
        if let Some(name) = now.files.keys().find(|name| !same(name)) {
            return Some(format!(
                "keeps a test of the same program in which {name} was another file, or had other contents"
            ));
        }
        let (name, is) = now.options.iter().find(|(name, value)| self.options.get(*name) != Some(value))?;
        let was = self.options.get(name).map_or("nothing", String::as_str);
        Some(format!("keeps a test in which {name} was {was}, found {is}"))
    }
}
