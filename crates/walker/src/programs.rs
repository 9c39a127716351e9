//! Programs that were read already: walks of several recordings of one program read its files once.

use crate::error::WalkError;
use crate::names::Types;
use crate::program::{Mapping, Program, read_mappings};
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::SystemTime;

/// So many programs stay: one, as it is at its start and with what it loads later.
const MOST_KEPT: usize = 3;

/// A program that was read, with the types of its debugging information once these are asked for.
pub struct Loaded {
    /// The program.
    pub program: Program,
    types: OnceLock<Arc<Types>>,
}

impl Loaded {
    /// The types of all its modules.
    pub(crate) fn types(&self) -> Arc<Types> {
        self.types.get_or_init(|| Arc::new(Types::of(&self.program))).clone()
    }
}

/// What a recording says was loaded, and how long and how old each file is.
#[derive(PartialEq, Eq)]
struct Key {
    mappings: Vec<Mapping>,
    files: Vec<Option<(u64, SystemTime)>>,
}

impl Key {
    /// Nothing where the list cannot be read.
    fn of(recording: &Path) -> Option<Key> {
        let mappings = read_mappings(&recording.join("modules")).ok()?;
        let stamp = |mapping: &Mapping| {
            let file = std::fs::metadata(&mapping.path).ok()?;
            Some((file.len(), file.modified().ok()?))
        };
        Some(Key { files: mappings.iter().map(stamp).collect(), mappings })
    }
}

/// Programs with what they are known by, the last one used last.
type Known = Vec<(Key, Arc<Loaded>)>;

/// Programs that were read. Clones share them.
#[derive(Clone, Default)]
pub struct Programs(Arc<Mutex<Known>>);

impl Programs {
    /// The program of a recording, which is read if it is not known as it is now.
    ///
    /// # Errors
    /// It cannot be read, or was changed since.
    pub fn open(&self, recording: &Path) -> Result<Arc<Loaded>, WalkError> {
        let key = Key::of(recording);
        let known = |all: &mut Known| {
            let at = all.iter().position(|(other, _)| Some(other) == key.as_ref())?;
            all[at..].rotate_left(1); // the last one was used last
            all.last().map(|(_, loaded)| loaded.clone())
        };
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(loaded) = known(&mut all) {
            return Ok(loaded);
        }
        drop(all); // others need not wait for ours
        let loaded = Arc::new(Loaded { program: Program::open(recording)?, types: OnceLock::new() });
        if let Some(key) = key {
            let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            all.push((key, loaded.clone()));
            let spare = all.len().saturating_sub(MOST_KEPT);
            all.drain(..spare);
        }
        Ok(loaded)
    }
}

impl fmt::Debug for Programs {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Programs")
    }
}
