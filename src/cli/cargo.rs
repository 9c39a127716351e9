//! `foretrace cargo`, and what cargo and rustc call in turn: the compiler and the linker.

use super::native::{self, TARGET};
use anyhow::{Context, bail};
use foretrace_instrument::driver::rust;
use serde_json::Value;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

/// Build, test or run a Rust program for `foretrace record`, in place of cargo
///
/// Takes the options of `cargo build`, `test`, `run` and `bench`, on the stable toolchain. Builds the crate and all that it
/// depends on for recording, but not build scripts and procedural macros. The results go to the folder target/foretrace, and
/// behave as before. Optimisation (--release) comes after accesses were marked.
#[derive(clap::Args)]
#[command(disable_help_flag = true, disable_version_flag = true)]
pub struct Args {
    /// Options of cargo; `cargo build --help` lists them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENT")]
    arguments: Vec<OsString>,
}

impl Args {
    /// Whether the help that is asked for is ours; after `build` or `test` it is cargo's.
    pub fn asks_for_help(&self) -> bool {
        matches!(self.arguments.first().and_then(|word| word.to_str()), None | Some("--help" | "-h"))
    }
}

/// The names by which cargo calls us as compiler, and rustc as linker.
const COMPILER: &str = "foretrace-rustc";
const LINKER: &str = "foretrace-ld";
/// What builds programs.
const BUILDING: [&str; 9] = ["build", "b", "test", "t", "run", "r", "bench", "rustc", "nextest"];

/// Runs cargo.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let mut words = args.arguments;
    let Some(at) = words.iter().position(|word| BUILDING.iter().any(|command| word == command)) else {
        bail!("foretrace cargo builds programs: expected build, test, run or bench");
    };
    let (ours, _) = split_at_programs_words(&words);
    let target = value_of(ours, "--target");
    if let Some(target) = target.filter(|target| target != TARGET) {
        bail!("--target {}: only programs for {TARGET} can be recorded", target.to_string_lossy());
    }
    let toolchain: Vec<&OsString> =
        words[..at].iter().filter(|word| word.as_encoded_bytes().starts_with(b"+")).collect();
    let metadata = metadata(&toolchain, value_of(ours, "--manifest-path").as_deref())?;
    let folder = target_folder(ours, &metadata)?;
    let tools = tools(&folder)?;
    let mut added: Vec<OsString> = Vec::new();
    if value_of(ours, "--target").is_none() {
        added.extend(["--target", TARGET].map(OsString::from));
    }
    if value_of(ours, "--target-dir").is_none() {
        added.extend(["--target-dir".into(), folder.clone().into()]);
    }
    let after = at + if words[at] == "nextest" { 2 } else { 1 };
    let rest = words.split_off(after.min(words.len()));
    let status = Command::new(cargo())
        .args(words)
        .args(added)
        .args(rest)
        .envs(native::compilers(&tools))
        .env("RUSTC_WRAPPER", tools.join(COMPILER))
        .env("RUSTDOCFLAGS", doctest_flags(&tools))
        .env("CARGO_INCREMENTAL", "0")
        .env(rust::UNITS, tools.join("units"))
        .env(rust::UNDER_TEST, std::env::join_paths(packages(&metadata)).unwrap_or_default())
        .status()
        .context("cannot run cargo")?;
    Ok(ExitCode::from(foretrace_instrument::driver::exit_code(status)))
}

/// The cargo that builds.
pub(super) fn cargo() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// The words for cargo, and those for the program that it runs.
fn split_at_programs_words(words: &[OsString]) -> (&[OsString], &[OsString]) {
    words.split_at(words.iter().position(|word| word == "--").unwrap_or(words.len()))
}

/// What an option says, as a word of its own or after `=`.
fn value_of(words: &[OsString], option: &str) -> Option<OsString> {
    let inside = |word: &OsString| Some(OsString::from(word.to_str()?.strip_prefix(option)?.strip_prefix('=')?));
    let beside = |at: usize| words.get(at).filter(|word| *word == option).and_then(|_| words.get(at + 1)).cloned();
    (0..words.len()).find_map(|at| beside(at).or_else(|| inside(&words[at])))
}

/// Where the results go: what the user says, else beside those of cargo.
fn target_folder(ours: &[OsString], metadata: &Value) -> anyhow::Result<PathBuf> {
    if let Some(folder) = value_of(ours, "--target-dir") {
        return Ok(std::path::absolute(folder)?);
    }
    let folder = metadata["target_directory"].as_str().context("cargo does not say where it builds")?;
    Ok(Path::new(folder).join("foretrace"))
}

/// The folders of a project's members.
fn packages(metadata: &Value) -> impl Iterator<Item = &Path> {
    let packages = metadata["packages"].as_array().into_iter().flatten();
    packages.filter_map(|package| Path::new(package["manifest_path"].as_str()?).parent())
}

/// What cargo says of a project and its members.
pub(super) fn metadata(toolchain: &[&OsString], manifest: Option<&OsStr>) -> anyhow::Result<Value> {
    let mut command = Command::new(cargo());
    command.args(toolchain).args(["metadata", "--no-deps", "--format-version", "1", "--quiet"]);
    if let Some(manifest) = manifest {
        command.arg("--manifest-path").arg(manifest);
    }
    let answer = command.stderr(Stdio::inherit()).output().context("cannot run cargo")?;
    if !answer.status.success() {
        bail!("`cargo metadata` failed");
    }
    serde_json::from_slice(&answer.stdout).context("the output of `cargo metadata`")
}

/// The folder with the names by which we are called. What another build of foretrace has made is not mixed with ours.
fn tools(folder: &Path) -> anyhow::Result<PathBuf> {
    let own = std::env::current_exe().context("cannot find the path of foretrace itself")?;
    let tools = folder.join(".foretrace");
    let failed = || format!("cannot write {}", tools.display());
    std::fs::create_dir_all(folder).with_context(failed)?;
    let alone = File::create(folder.join(LOCK)).with_context(failed)?;
    alone.lock().with_context(failed)?; // until this returns
    let (stamp, version) = (tools.join("version"), rust::version().to_string());
    if std::fs::read_to_string(&stamp).is_ok_and(|found| found != version) {
        clear(folder).with_context(failed)?;
    }
    std::fs::create_dir_all(&tools).with_context(failed)?;
    for name in [COMPILER, LINKER].into_iter().chain(native::names()) {
        link(&own, &tools.join(name)).with_context(failed)?;
    }
    std::fs::write(stamp, version).with_context(failed)?;
    Ok(tools)
}

/// Held while the folder is made ours.
const LOCK: &str = ".foretrace-lock";

/// Removes all but the lock.
fn clear(folder: &Path) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        match entry.file_type()?.is_dir() {
            true => std::fs::remove_dir_all(entry.path())?,
            false if entry.file_name() == LOCK => {}
            false => std::fs::remove_file(entry.path())?,
        }
    }
    Ok(())
}

fn link(own: &Path, name: &Path) -> io::Result<()> {
    if std::fs::read_link(name).is_ok_and(|found| found == own) {
        return Ok(());
    }
    match std::fs::remove_file(name) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => std::os::unix::fs::symlink(own, name),
    }
}

/// Examples in documentation are programs, too.
fn doctest_flags(tools: &Path) -> OsString {
    let mut flags = std::env::var_os("RUSTDOCFLAGS").unwrap_or_default();
    flags.push(" -C linker-flavor=gcc -C linker=");
    flags.push(tools.join(LINKER));
    flags
}

/// If the command was called as a compiler or linker, does its work.
pub fn run_by_name(mut words: impl Iterator<Item = OsString>) -> Option<anyhow::Result<ExitCode>> {
    let name = PathBuf::from(words.next()?);
    let arguments: Vec<OsString> = words.collect();
    let code = match name.file_name().and_then(OsStr::to_str)? {
        COMPILER => rust::compile(&name.with_file_name(LINKER), arguments),
        LINKER => rust::link(arguments),
        _ => return native::compile(&name, arguments),
    };
    Some(code.map(ExitCode::from).map_err(Into::into))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_another_build_has_made_goes_whoever_comes_first() {
        let folder = tempfile::tempdir().expect("a folder");
        let (stamp, old) = (folder.path().join(".foretrace/version"), folder.path().join("debug/deps"));
        std::fs::create_dir_all(&old).expect("made");
        std::fs::create_dir_all(stamp.parent().expect("a folder")).expect("made");
        (0..200).for_each(|number| std::fs::write(old.join(number.to_string()), "").expect("written"));
        std::fs::write(&stamp, "another").expect("written");
        std::thread::scope(|scope| {
            let all: Vec<_> = (0..8).map(|_| scope.spawn(|| tools(folder.path()).map(|_| ()))).collect();
            all.into_iter().for_each(|one| one.join().expect("no panic").expect("made ours"));
        });
        assert!(!old.exists());
        assert_eq!(std::fs::read_to_string(stamp).expect("read"), rust::version().to_string());
    }

    #[test]
    fn values_stand_beside_their_options_or_in_them() {
        let words = ["test", "--target-dir=a", "--manifest-path", "b", "--", "--target", "c"].map(OsString::from);
        let (ours, programs) = split_at_programs_words(&words);
        assert_eq!(value_of(ours, "--target-dir"), Some("a".into()));
        assert_eq!(value_of(ours, "--manifest-path"), Some("b".into()));
        assert_eq!((value_of(ours, "--target"), programs.len()), (None, 3));
    }
}
