//! What a program gets from outside, kept with its recording and given again in a replay.
//!
//! The runtime keeps random bytes and clocks (`outside-<path>`, see `docs/recording.md`). Here is the environment, and what makes
//! the program's stack begin at the same address in every run.

use super::folder::{Folder, FolderError};
use super::program::Program;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Write;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// The environment that a program was recorded with: `NAME=VALUE`, each with a zero byte at its end.
const ENVIRONMENT: &str = "environment";
/// What the runtime notes in a replay that it could not give.
const NOTES: &str = "outside";

/// Variables by name and value.
pub type Variables = Vec<(OsString, OsString)>;

/// The variable by which Rust is asked for the backtrace of a panic.
pub const BACKTRACE: &str = "RUST_BACKTRACE";

/// Bytes that the variables for the runtime take on the program's stack, whatever they say.
const ROOM: usize = 24 << 10;
/// The variable that fills this room.
const FILL: &str = "FORETRACE_FILL";
/// One more variable, where without it there would be an odd number of them.
const EVEN: &str = "FORETRACE_EVEN";

/// Keeps the environment in a recording's folder. It may hold secrets, so only the user can read it.
pub fn keep_environment(folder: &Folder, variables: &[(OsString, OsString)]) -> Result<(), FolderError> {
    let path = folder.path().join(ENVIRONMENT);
    let bytes: Vec<u8> = variables
        .iter()
        .flat_map(|(name, value)| [name.as_bytes(), b"=", value.as_bytes(), b"\0"])
        .flatten()
        .copied()
        .collect();
    let only_the_user = || fs::set_permissions(&path, fs::Permissions::from_mode(0o600));
    let written = fs::write(&path, b"")
        .and_then(|()| only_the_user())
        .and_then(|()| fs::OpenOptions::new().write(true).open(&path).and_then(|mut file| file.write_all(&bytes)));
    written.map_err(|error| FolderError::Io(path.clone(), error))
}

/// The environment of a recording; nothing where an older version recorded.
pub fn environment_of(recording: &Path) -> Option<Variables> {
    let bytes = fs::read(recording.join(ENVIRONMENT)).ok()?;
    let variable = |text: &[u8]| {
        let equals = text.iter().skip(1).position(|byte| *byte == b'=')? + 1;
        let (name, value) = (&text[..equals], &text[equals + 1..]);
        Some((OsString::from_vec(name.to_vec()), OsString::from_vec(value.to_vec())))
    };
    Some(bytes.split(|byte| *byte == 0).filter_map(variable).collect())
}

/// The names of the variables whose values differ now, in order.
pub fn changed(recorded: &[(OsString, OsString)], now: &[(OsString, OsString)]) -> Vec<OsString> {
    // The first three differ from command to command; backtraces come when all is over, and tests do without them.
    const OF_NO_RUN: [&str; 4] = ["_", "SHLVL", "OLDPWD", BACKTRACE];
    let only_in = |some: &[(OsString, OsString)], others: &[(OsString, OsString)]| -> Vec<OsString> {
        some.iter().filter(|variable| !others.contains(variable)).map(|(name, _)| name.clone()).collect()
    };
    let mut names = only_in(recorded, now);
    names.extend(only_in(now, recorded));
    names.retain(|name| !OF_NO_RUN.iter().any(|other| name == other));
    names.sort();
    names.dedup();
    names
}

/// Adds the variables that make these take as much room as any others do. The kernel aligns the stack to two pointers between the texts
/// and the pointers to them, so the pointers are of an even number.
pub fn fill(variables: &mut Vec<(&'static str, OsString)>) {
    const POINTER: usize = size_of::<usize>();
    let bytes = |name: &str, value: &OsStr| name.len() + value.len() + "=\0".len() + POINTER;
    if variables.len().is_multiple_of(2) {
        variables.push((EVEN, OsString::new()));
    }
    let used: usize = variables.iter().map(|(name, value)| bytes(name, value)).sum();
    let left = ROOM.saturating_sub(used + bytes(FILL, OsStr::new("")));
    variables.push((FILL, OsString::from("-".repeat(left))));
}

/// What a replay could not give, a line each.
pub fn notes(replay: &Path) -> Vec<String> {
    let text = fs::read_to_string(replay.join(NOTES)).unwrap_or_default();
    text.lines().map(str::to_string).collect()
}

/// Whether a note is about the number of a process or thread, which differs in every run.
pub fn is_of_number(note: &str) -> bool {
    ["getpid", "getppid", "gettid"].iter().any(|call| note.contains(&format!(": {call} gave ")))
}

/// What differs between a recorded program's surroundings and those of its replay, as lines for people.
pub fn differences(recording: &Path, program: &Program) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(recorded) = Folder::arguments_of(recording) {
        let given: Vec<String> = program.arguments.iter().map(|text| text.to_string_lossy().into_owned()).collect();
        if recorded != given {
            lines.push(format!("the program was recorded with the arguments {recorded:?}, found {given:?}"));
        }
    }
    if let Some(recorded) = environment_of(recording) {
        let now: Variables = std::env::vars_os().collect();
        let names: Vec<_> = changed(&recorded, &now).iter().map(|name| name.to_string_lossy().into_owned()).collect();
        if !names.is_empty() {
            let names = names.join(", ");
            lines.push(format!("the program gets the environment of its recording; it differs now in {names}"));
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(text: &[(&str, &str)]) -> Variables {
        text.iter().map(|(name, value)| (name.into(), value.into())).collect()
    }

    #[test]
    fn an_environment_comes_back_as_it_was() {
        let place = tempfile::tempdir().unwrap();
        let folder = Folder::create(&place.path().join("recording")).unwrap();
        let kept = variables(&[("A", "1"), ("EMPTY", ""), ("LINES", "a\nb=c")]);
        keep_environment(&folder, &kept).unwrap();
        assert_eq!(environment_of(folder.path()), Some(kept));
        let mode = fs::metadata(folder.path().join(ENVIRONMENT)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn variables_that_differ_are_named_once() {
        let before = variables(&[("A", "1"), ("B", "2"), ("GONE", ""), ("_", "x")]);
        let now = variables(&[("A", "1"), ("B", "3"), ("NEW", ""), ("_", "y")]);
        assert_eq!(changed(&before, &now), ["B", "GONE", "NEW"]);
    }

    #[test]
    fn all_variables_take_the_same_room() {
        for variables in [
            vec![("FORETRACE_MODE", "serial".into())],
            vec![("FORETRACE_MODE", "replay".into()), ("FORETRACE_DIR", "/some/where".into())],
        ] {
            let mut all = variables;
            fill(&mut all);
            let room: usize = all.iter().map(|(name, value)| name.len() + value.len() + 2 + 8).sum();
            assert_eq!((room, all.len() % 2), (ROOM, 0));
        }
    }
}
