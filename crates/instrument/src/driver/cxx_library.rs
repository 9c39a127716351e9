//! What libstdc++ has compiled of containers and strings, compiled once more as a part of the program, so that hooks see what it does.

use super::arguments::Arguments;
use super::compile::Job;
use super::environment::Environment;
use super::error::DriverError;
use super::tools::{Compiler, Language};
use crate::locks::names::LockNames;
use crate::runtime;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// The sources, by name.
const SOURCES: [(&str, &str); 2] =
    [("containers", include_str!("cxx/containers.cpp")), ("strings", include_str!("cxx/strings.cpp"))];
/// Where debug information says that they are: with the libraries, whose code acts for its caller.
const PLACE: &str = "/usr/lib/foretrace";
/// Words with which a program has no libstdc++, or says itself what to link.
const WITHOUT: [&str; 4] = ["-nostdlib++", "-nostdlib", "-nodefaultlibs", "-stdlib=libc++"];

/// Whether a program is linked with libstdc++.
fn has_library(arguments: &Arguments, language: Language) -> bool {
    let has =
        |wanted: &[&str]| arguments.words.iter().any(|word| wanted.iter().any(|wanted| word == OsStr::new(wanted)));
    (language == Language::Cxx || has(&["-lstdc++"])) && !has(&WITHOUT)
}

/// The objects with these functions; none for programs that do not need them.
pub fn objects(
    arguments: &Arguments,
    language: Language,
    compiler: &Compiler,
    environment: &Environment,
    scratch: &Path,
) -> Result<Vec<PathBuf>, DriverError> {
    if arguments.makes_library() || !has_library(arguments, language) {
        return Ok(Vec::new());
    }
    let environment = Environment { keep: None, include: environment.include.clone(), locks: LockNames::default() };
    let make = |(name, text): &(&str, &str)| {
        let cached = cached(name, text, arguments, compiler);
        if let Some(cached) = cached.as_ref().filter(|cached| cached.is_file()) {
            return Ok(cached.clone());
        }
        let object = object(name, text, arguments, compiler, &environment, scratch)?;
        // Where there is no place for it, it is made again the next time.
        let kept = cached.filter(|cached| keep(&object, cached).is_ok());
        Ok(kept.unwrap_or(object))
    };
    SOURCES.iter().map(make).collect()
}

/// Compiles one of the sources in a folder of ours.
fn object(
    name: &str,
    text: &str,
    arguments: &Arguments,
    compiler: &Compiler,
    environment: &Environment,
    scratch: &Path,
) -> Result<PathBuf, DriverError> {
    let (source, object) = (scratch.join(format!("{name}.cpp")), scratch.join(format!("library-{name}.o")));
    let text = format!("#line 1 \"{PLACE}/{name}.cpp\"\n{text}");
    std::fs::write(&source, text).map_err(|error| DriverError::Write(source.clone(), error))?;
    let words = ["-c", "-fPIC", "-w", "-std=c++17", "-x", "c++"].map(OsString::from);
    let own = Arguments::parse(words.into_iter().chain([source.into_os_string()]).collect());
    let own = Arguments { as_shipped: arguments.as_shipped, ..own };
    for (file, content, language) in own.sources() {
        let job = Job { arguments: &own, file, content, language, object: &object, target: object.as_os_str() };
        if job.run(compiler, environment)? != 0 {
            return Err(DriverError::Library);
        }
    }
    Ok(object)
}

/// Where the object is kept that this compiler and this build of foretrace make of a source; nothing where that cannot be told.
fn cached(name: &str, text: &str, arguments: &Arguments, compiler: &Compiler) -> Option<PathBuf> {
    let stamp = |path: &Path| {
        let about = path.metadata().ok()?;
        let changed = about.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
        Some(format!("{} {} {changed:?}", path.display(), about.len()))
    };
    let own = std::env::current_exe().ok()?;
    let key =
        [stamp(&own)?, stamp(compiler.path())?, format!("{:?} {}", compiler.make, arguments.as_shipped), text.into()];
    let hash = runtime::hash(key.join("\n").as_bytes().iter());
    Some(runtime::folder().ok()?.join(format!("{name}-{hash:016x}.o")))
}

fn keep(object: &Path, cached: &Path) -> std::io::Result<()> {
    let folder = cached.parent().unwrap_or(Path::new("."));
    let mut partial = tempfile::NamedTempFile::new_in(folder)?;
    std::io::copy(&mut std::fs::File::open(object)?, &mut partial)?;
    partial.persist(cached)?;
    Ok(())
}
