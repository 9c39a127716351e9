//! The runtime archive and `foretrace.h`, which lie in this binary, as files for compilers and linkers.

use std::io;
use std::path::{Path, PathBuf};

/// The static archive that is linked into programs.
pub static RUNTIME: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/libforetrace_runtime.a"));
/// The header for marked transactions.
pub const HEADER: &str = include_str!("../include/foretrace.h");

/// Names another archive to link instead.
const VARIABLE: &str = "FORETRACE_RUNTIME";

/// The archive as a file.
pub fn runtime_archive() -> io::Result<PathBuf> {
    match std::env::var_os(VARIABLE).filter(|value| !value.is_empty()) {
        Some(named) => Ok(named.into()),
        None => Ok(folder()?.join("libforetrace_runtime.a")),
    }
}

/// The folder in which `foretrace.h` lies.
pub fn include_folder() -> io::Result<PathBuf> {
    folder()
}

/// A folder with both files, of this very version: in the user's cache, else among the temporary files.
pub(crate) fn folder() -> io::Result<PathBuf> {
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache = variable("XDG_CACHE_HOME").or_else(|| Some(variable("HOME")?.join(".cache")));
    let name = format!("{:016x}", hash(RUNTIME.iter().chain(HEADER.as_bytes())));
    let cached = cache.map(|cache| fill(&cache.join("foretrace").join(&name)));
    match cached {
        Some(Ok(folder)) => Ok(folder),
        _ => {
            let user = std::env::var("USER").unwrap_or_default().replace('/', "_");
            fill(&std::env::temp_dir().join(format!("foretrace-{user}")).join(&name))
        }
    }
}

/// Makes the folder and its files unless they are there.
fn fill(folder: &Path) -> io::Result<PathBuf> {
    std::fs::create_dir_all(folder)?;
    for (name, bytes) in [("libforetrace_runtime.a", RUNTIME), ("foretrace.h", HEADER.as_bytes())] {
        let file = folder.join(name);
        if !std::fs::read(&file).is_ok_and(|found| found == bytes) {
            let mut partial = tempfile::NamedTempFile::new_in(folder)?;
            io::Write::write_all(&mut partial, bytes)?;
            partial.persist(&file)?;
        }
    }
    Ok(folder.to_owned())
}

/// FNV-1a.
pub(crate) fn hash<'a>(bytes: impl Iterator<Item = &'a u8>) -> u64 {
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}
