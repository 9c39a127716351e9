//! What the driver knows beside its command line.

use super::error::DriverError;
use crate::locks::names::LockNames;
use crate::runtime::include_folder;
use std::ffi::OsString;
use std::path::PathBuf;

/// What the driver knows beside its command line.
pub struct Environment {
    /// Where to keep bitcode.
    pub(super) keep: Option<PathBuf>,
    /// The folder with `foretrace.h`.
    pub(super) include: PathBuf,
    /// Functions of locks, by `--lock`.
    pub(super) locks: LockNames,
}

impl Environment {
    pub(super) fn read() -> Result<Environment, DriverError> {
        let keep = std::env::var_os("FORETRACE_KEEP").filter(|value| !value.is_empty()).map(PathBuf::from);
        let include = include_folder().map_err(DriverError::Runtime)?;
        Ok(Environment { keep, include, locks: LockNames::default() })
    }

    /// What the preprocessor is told.
    pub(super) fn definitions(&self) -> [OsString; 3] {
        ["-D__FORETRACE__=1".into(), "-idirafter".into(), self.include.clone().into()]
    }
}
