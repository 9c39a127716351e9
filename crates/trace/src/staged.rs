//! Files that are written whole or not at all.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// A file next to its target, which it replaces once it is whole. Until then it is removed when it is dropped.
#[derive(Debug)]
pub struct Staged {
    file: NamedTempFile,
    target: PathBuf,
}

impl Staged {
    /// An empty one, with the permissions of a new file.
    ///
    /// # Errors
    /// Where the path names no file, or its folder takes none.
    pub fn create(target: &Path) -> io::Result<Staged> {
        if target.file_name().is_none() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "the path names no file"));
        }
        let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut builder = tempfile::Builder::new();
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666)); // less the umask
        Ok(Staged { file: builder.tempfile_in(folder)?, target: target.to_path_buf() })
    }

    /// Takes the place of its target.
    ///
    /// # Errors
    /// Where the folder does not let it: then the target is as it was.
    pub fn put_in_place(self) -> io::Result<()> {
        self.file.persist(self.target)?;
        Ok(())
    }
}

impl Write for Staged {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Writes a file so that no reader sees half of it, nor any of it where writing fails.
///
/// # Errors
/// Where `write` fails, or the folder does not take the file.
pub fn write_whole(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut out = BufWriter::new(Staged::create(path)?);
    write(&mut out)?;
    out.into_inner().map_err(io::IntoInnerError::into_error)?.put_in_place()
}
