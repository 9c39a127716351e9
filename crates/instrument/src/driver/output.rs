//! Output files: written whole or not at all.

use super::error::DriverError;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Writes a file under its final name once it is whole. What is no regular file (`/dev/null`) is written to, and `-`
/// is the standard output.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), DriverError> {
    let failed = |error| DriverError::Write(path.to_owned(), error);
    if path == Path::new("-") {
        return std::io::stdout().write_all(bytes).map_err(failed);
    }
    if path.symlink_metadata().is_ok_and(|found| !found.is_file()) {
        return std::fs::write(path, bytes).map_err(failed);
    }
    let partial = beside(path);
    let written = std::fs::write(&partial, bytes).and_then(|()| std::fs::rename(&partial, path));
    written.map_err(|error| {
        let _ = std::fs::remove_file(&partial);
        failed(error)
    })
}

/// A name that no other process uses in the same folder.
fn beside(path: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}", std::process::id()));
    path.with_file_name(name)
}
