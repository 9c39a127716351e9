//! The linker of `foretrace cargo`: rustc hands it bitcode, which is instrumented, and programs get the runtime.

use super::error::DriverError;
use super::tools::exit_code;
use super::{output, response};
use crate::instrument::{Options, Source, instrument, translate};
use crate::locks::names::LockNames;
use crate::runtime::{folder, runtime_archive};
use object::read::archive::ArchiveFile;
use object::{Object, ObjectSection};
use std::ffi::{OsStr, OsString};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Names the folder for instrumented objects.
pub const UNITS: &str = "FORETRACE_UNITS";
/// Names the folders of the packages under test, as `PATH` does.
pub const UNDER_TEST: &str = "FORETRACE_UNDER_TEST";
/// What bitcode starts with.
const MAGIC: &[u8] = b"BC\xc0\xde";

/// Links as `cc` would, with these words; the exit code.
pub fn link(words: Vec<OsString>) -> Result<u8, DriverError> {
    let words = response::expand(words);
    let units = match std::env::var_os(UNITS).filter(|value| !value.is_empty()) {
        Some(folder) => PathBuf::from(folder),
        None => folder().map_err(DriverError::Runtime)?.join("units"),
    };
    std::fs::create_dir_all(&units).map_err(|error| DriverError::Write(units.clone(), error))?;
    let mut locks = LockNames::default();
    locks.add_file_for(Path::new("")).map_err(DriverError::Lock)?;
    let under_test = std::env::var_os(UNDER_TEST).unwrap_or_default();
    locks.test_packages(std::env::split_paths(&under_test));
    let program = !words.iter().any(|word| word == "-shared");
    let linker = Linker { units, program, locks, version: version() };
    let mut linked = Vec::new();
    for word in words {
        linker.word(word, &mut linked)?;
    }
    if linker.program {
        linked.extend(runtime_words()?);
    }
    let path = PathBuf::from("cc");
    let status = Command::new(&path).args(linked).status();
    Ok(exit_code(status.map_err(|error| DriverError::Run(path, error))?))
}

/// The whole runtime, and what keeps what records and replays need.
fn runtime_words() -> Result<Vec<OsString>, DriverError> {
    let archive = runtime_archive().map_err(DriverError::Runtime)?;
    let words = ["-Wl,--whole-archive".into(), archive.into(), "-Wl,--no-whole-archive".into()];
    let options = ["-rdynamic", "-Wl,--build-id", "-pthread", "-ldl", "-lc"].map(OsString::from);
    Ok(words.into_iter().chain(options).collect())
}

/// Stands for this build of foretrace: objects of another are not used.
pub fn version() -> u64 {
    let mut hasher = DefaultHasher::new();
    if let Ok(own) = std::env::current_exe().and_then(|path| path.metadata()) {
        (own.len(), own.modified().ok()).hash(&mut hasher);
    }
    hasher.finish()
}

struct Linker {
    units: PathBuf,
    /// Whether it makes a program. Shared libraries are left alone.
    program: bool,
    /// Functions that the project says are those of locks.
    locks: LockNames,
    version: u64,
}

impl Linker {
    fn word(&self, word: OsString, linked: &mut Vec<OsString>) -> Result<(), DriverError> {
        let text = word.to_string_lossy();
        if text.starts_with("-Wl,-plugin-opt") || text.starts_with("-Wl,--strip") || text == "-s" {
            return Ok(());
        }
        let path = Path::new(&word);
        match path.extension().and_then(OsStr::to_str) {
            Some("o") if !text.starts_with('-') => {
                let object = self.object(path)?;
                linked.push(object.map_or(word, OsString::from));
            }
            Some("rlib") if !text.starts_with('-') => self.archive(word, linked)?,
            _ => linked.push(word),
        }
        Ok(())
    }

    /// An object in place of a file, if that holds bitcode.
    fn object(&self, file: &Path) -> Result<Option<PathBuf>, DriverError> {
        let bytes = read(file)?;
        bytes.starts_with(MAGIC).then(|| self.unit(&bytes, Source::Rust, &file.to_string_lossy())).transpose()
    }

    /// The objects of a crate, if they are bitcode, and of the standard library. What else an archive holds is linked from it.
    fn archive(&self, word: OsString, linked: &mut Vec<OsString>) -> Result<(), DriverError> {
        let path = Path::new(&word);
        let bytes = read(path)?;
        let failed = |error| DriverError::Archive(path.to_owned(), error);
        let is_std = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("libstd-"));
        let mut others = false;
        for member in ArchiveFile::parse(&*bytes).map_err(failed)?.members() {
            let member = member.map_err(failed)?;
            let content = member.data(&*bytes).map_err(failed)?;
            let name = || format!("{}({})", path.display(), String::from_utf8_lossy(member.name()));
            if content.starts_with(MAGIC) {
                linked.push(self.unit(content, Source::Rust, &name())?.into());
            } else if let Some(bitcode) = embedded(content).filter(|_| is_std && self.program) {
                linked.push(self.unit(bitcode, Source::RustStd, &name())?.into());
            } else {
                others |= member.name() != b"lib.rmeta";
            }
        }
        if others {
            linked.push(word);
        }
        Ok(())
    }

    /// The object of bitcode, made now or before.
    fn unit(&self, bitcode: &[u8], source: Source, name: &str) -> Result<PathBuf, DriverError> {
        let mut hasher = DefaultHasher::new();
        (bitcode, self.version, self.program, &self.locks).hash(&mut hasher);
        let shared = || folder().map_err(DriverError::Runtime); // the standard library is every program's
        let units = if source == Source::RustStd { shared()? } else { self.units.clone() };
        let made = units.join(format!("{:016x}.o", hasher.finish()));
        if made.exists() {
            return Ok(made);
        }
        let failed = |source| DriverError::Instrument { file: name.to_owned(), source };
        let object = match self.program {
            true => {
                instrument(bitcode, name, Options { source, locks: self.locks.clone(), ..Options::default() })
                    .map_err(failed)?
                    .object
            }
            false => translate(bitcode, name).map_err(failed)?,
        };
        output::write(&made, &object)?;
        Ok(made)
    }
}

fn read(file: &Path) -> Result<Vec<u8>, DriverError> {
    std::fs::read(file).map_err(|error| DriverError::Read(file.to_owned(), error))
}

/// The bitcode that an object carries beside its code.
fn embedded(object: &[u8]) -> Option<&[u8]> {
    let object = object::File::parse(object).ok()?;
    let bitcode = object.section_by_name(".llvmbc")?.data().ok()?;
    bitcode.starts_with(MAGIC).then_some(bitcode)
}

/// Compiles as rustc would, with these words (the compiler first); the exit code. What is for the program becomes bitcode that is not
/// optimised; what runs in the build itself is left as it is.
pub fn compile(linker: &Path, words: Vec<OsString>) -> Result<u8, DriverError> {
    let mut words = words.into_iter();
    let compiler = PathBuf::from(words.next().unwrap_or_else(|| "rustc".into()));
    let mut words: Vec<OsString> = words.collect();
    let is_for_program = |word: &OsString| word == "--target" || word.to_string_lossy().starts_with("--target=");
    if words.iter().any(is_for_program) {
        words = to_bitcode(words, linker);
    }
    let status = Command::new(&compiler).args(words).status();
    Ok(exit_code(status.map_err(|error| DriverError::Run(compiler, error))?))
}

/// The words of a compilation, such that it leaves bitcode to the linker.
fn to_bitcode(words: Vec<OsString>, linker: &Path) -> Vec<OsString> {
    let mut kept: Vec<OsString> = Vec::new();
    let mut optimised = false;
    let mut says_assertions = false;
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        let (flag, value) = match word.to_str() {
            Some("-C" | "--codegen") => (true, words.next()),
            Some("-O") => {
                optimised = true;
                continue;
            }
            _ => (false, word.to_str().and_then(|word| word.strip_prefix("-C")).map(OsString::from)),
        };
        let option = value.as_ref().map(|value| value.to_string_lossy().into_owned()).unwrap_or_default();
        let name = option.split('=').next().unwrap_or_default();
        match name {
            "opt-level" => optimised = option != "opt-level=0",
            "debug-assertions" => says_assertions = true,
            _ => {}
        }
        if !REPLACED.contains(&name) {
            kept.push(word);
            kept.extend(value.filter(|_| flag));
        }
    }
    let mut path = OsString::from("linker=");
    path.push(linker);
    let assertions = (optimised && !says_assertions).then_some("debug-assertions=off");
    for option in BITCODE.into_iter().chain(assertions).map(OsString::from).chain([path]) {
        kept.extend(["-C".into(), option]);
    }
    kept.extend(["--cfg", "foretrace", "--check-cfg", "cfg(foretrace)"].map(OsString::from));
    kept
}

/// Options that would contradict ours.
const REPLACED: [&str; 11] = [
    "opt-level",
    "lto",
    "embed-bitcode",
    "codegen-units",
    "debuginfo",
    "incremental",
    "linker",
    "linker-flavor",
    "strip",
    "split-debuginfo",
    "linker-plugin-lto",
];
/// What makes rustc's bitcode say what the source says, and leave it to the linker.
const BITCODE: [&str; 8] = [
    "opt-level=0",
    "no-prepopulate-passes", // functions that are always inlined are still there
    "linker-plugin-lto",
    "codegen-units=1",
    "debuginfo=2",
    "linker-flavor=gcc",
    "strip=none",
    "split-debuginfo=off",
];
