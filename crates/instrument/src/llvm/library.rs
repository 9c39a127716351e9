//! Finding and opening libLLVM.

use super::api::Api;
use std::ffi::{CStr, CString, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The oldest libLLVM with the functions that are used.
const OLDEST: u32 = 22;
/// Names the library to use.
const VARIABLE: &str = "FORETRACE_LLVM";

static OPENED: OnceLock<Result<Api, LlvmError>> = OnceLock::new();

/// Why LLVM cannot be used.
#[derive(Clone, Debug, thiserror::Error)]
pub enum LlvmError {
    /// None was found.
    #[error(
        "no libLLVM {OLDEST} or newer was found: install a Rust toolchain with rustup (it brings one) or LLVM {OLDEST}, \
         or name a library in {VARIABLE}"
    )]
    Missing,
    /// It cannot be opened.
    #[error("cannot open {path}: {why}")]
    Open {
        /// Which.
        path: String,
        /// What the dynamic linker says.
        why: String,
    },
    /// It is older.
    #[error("{path} is too old ({found}), LLVM {OLDEST} or newer is needed")]
    TooOld {
        /// Which.
        path: String,
        /// What it is.
        found: String,
    },
    /// It lacks something.
    #[error("{path} lacks {symbol}: is it a libLLVM with the C interface and the X86 target?")]
    Lacks {
        /// Which.
        path: String,
        /// What it lacks.
        symbol: &'static str,
    },
    /// LLVM itself says no.
    #[error("{doing}: {message}")]
    Said {
        /// What was being done.
        doing: &'static str,
        /// What it says.
        message: String,
    },
    /// Code for another machine.
    #[error("foretrace instruments x86-64 code only, found target {0}")]
    Target(String),
}

/// Opens LLVM, once in a process.
pub fn load() -> Result<(), LlvmError> {
    OPENED.get_or_init(open_any).as_ref().map(|_| ()).map_err(Clone::clone)
}

/// The library, if it was opened.
pub(super) fn opened() -> Option<&'static Api> {
    OPENED.get()?.as_ref().ok()
}

/// The first of the candidates that can be used, or what is wrong with the first.
fn open_any() -> Result<Api, LlvmError> {
    let mut first = None;
    for path in candidates() {
        match open(&path) {
            Ok(api) => return Ok(api),
            Err(error) => _ = first.get_or_insert(error),
        }
    }
    Err(first.unwrap_or(LlvmError::Missing))
}

/// Libraries to try: the one that the user names alone, else that of the Rust toolchain, else those of the system.
fn candidates() -> Vec<PathBuf> {
    if let Some(named) = std::env::var_os(VARIABLE).filter(|value| !value.is_empty()) {
        return vec![named.into()];
    }
    let mut found = Vec::new();
    for folder in active_toolchain().into_iter().chain(installed_toolchains()) {
        found.extend(libraries_in(&folder));
    }
    for folder in ["/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/local/lib"] {
        found.extend(libraries_in(Path::new(folder)));
    }
    for version in (OLDEST..OLDEST + 10).rev() {
        found.extend(libraries_in(Path::new(&format!("/usr/lib/llvm-{version}/lib"))));
    }
    found
}

/// The folder with the libraries of the active Rust toolchain.
fn active_toolchain() -> Option<PathBuf> {
    let output = Command::new("rustc").args(["--print", "sysroot"]).output().ok()?;
    let sysroot = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| Path::new(sysroot.trim()).join("lib"))
}

/// The same of those that rustup has installed.
fn installed_toolchains() -> Vec<PathBuf> {
    let home = std::env::var_os("HOME").map(|home| Path::new(&home).join(".rustup"));
    let Some(rustup) = std::env::var_os("RUSTUP_HOME").map(PathBuf::from).or(home) else { return Vec::new() };
    let Ok(toolchains) = std::fs::read_dir(rustup.join("toolchains")) else { return Vec::new() };
    let mut folders: Vec<PathBuf> = toolchains.flatten().map(|entry| entry.path().join("lib")).collect();
    folders.sort();
    folders.reverse();
    folders
}

/// The files in a folder that are by their names a libLLVM which is new enough.
fn libraries_in(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut found: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(|path| is_library(path)).collect();
    found.sort();
    found.reverse();
    found
}

/// `libLLVM.so.22.1`, `libLLVM-22.so`, with whatever a distribution adds to it.
fn is_library(path: &Path) -> bool {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return false };
    let version =
        name.strip_prefix("libLLVM.so.").or_else(|| name.strip_prefix("libLLVM-").filter(|_| name.contains(".so")));
    let digits: String = version.unwrap_or("").chars().take_while(char::is_ascii_digit).collect();
    digits.parse::<u32>().is_ok_and(|version| version >= OLDEST)
}

/// Opens one library and looks whether it will do.
fn open(path: &Path) -> Result<Api, LlvmError> {
    let shown = path.display().to_string();
    let name = CString::new(path.as_os_str().as_bytes()).unwrap_or_default();
    // SAFETY: libLLVM is made to be opened in any process.
    let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    if handle.is_null() {
        return Err(LlvmError::Open { path: shown, why: linker_message() });
    }
    let find = |symbol: &CStr| {
        // SAFETY: the handle is open and stays so.
        unsafe { libc::dlsym(handle, symbol.as_ptr()) }
    };
    match version(find(c"LLVMGetVersion")) {
        Some(found) if found >= OLDEST => {}
        Some(found) => return Err(LlvmError::TooOld { path: shown, found: format!("version {found}") }),
        None => return Err(LlvmError::TooOld { path: shown, found: "it does not tell its version".into() }),
    }
    // SAFETY: it is a libLLVM of at least that version, or `find` fails.
    unsafe { Api::find(find) }.map_err(|symbol| LlvmError::Lacks { path: shown, symbol })
}

/// Asks `LLVMGetVersion`, if there is one.
fn version(get_version: *mut c_void) -> Option<u32> {
    if get_version.is_null() {
        return None;
    }
    let (mut major, mut minor, mut patch) = (0, 0, 0);
    // SAFETY: LLVM-C declares this function so.
    unsafe {
        let get: unsafe extern "C" fn(*mut u32, *mut u32, *mut u32) = std::mem::transmute(get_version);
        get(&raw mut major, &raw mut minor, &raw mut patch);
    }
    Some(major)
}

/// What the dynamic linker says went wrong.
fn linker_message() -> String {
    // SAFETY: dlerror answers with a C string or null.
    unsafe {
        let message = libc::dlerror();
        if message.is_null() { "unknown reason".into() } else { CStr::from_ptr(message).to_string_lossy().into_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_libraries_tell_the_version() {
        for (name, usable) in [
            ("libLLVM.so.22.1-rust-1.95.0-stable", true),
            ("libLLVM-22.so", true),
            ("libLLVM-22-rust-1.95.0-stable.so", true),
            ("libLLVM.so.19.1", false),
            ("libLLVM-14.so.1", false),
            ("libLLVM.so", false),
            ("libLLVMCore.a", false),
        ] {
            assert_eq!(is_library(Path::new(name)), usable, "{name}");
        }
    }
}
