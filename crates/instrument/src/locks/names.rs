//! Functions that the user says are those of locks: `--lock`, or a file `foretrace.locks` of a project.

use super::function::{LockFunction, Success, WhichLock};
use foretrace_runtime::lock_calls::{Action, Hold, LockCall};
use foretrace_runtime::record::LOCKS;
use std::path::{Path, PathBuf};

/// The file's name. It is looked for beside a source and in the folders above.
pub const FILE: &str = "foretrace.locks";
/// Comes before the path of a type.
const TRUST: &str = "trust:";
/// What a rule looks like.
pub const SYNTAX: &str = "TAKE[,TAKE…]/GIVE[,GIVE…], before it `shared:` or `alone:` for a lock that can be shared, of each function \
     its name, `?` before one that tries, `=0` after one that answers 0 when it has the lock, `@N` after one whose N-th parameter is the lock; or \
     trust:TYPE, the path of a type of Rust that implements the traits of `lock_api`";

/// Why a rule cannot be used.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum BadRule {
    /// It does not say what it should.
    #[error("found {found:?}, expected {SYNTAX}")]
    Syntax {
        /// The rule.
        found: String,
    },
    /// A file cannot be read.
    #[error("cannot read {}: {reason}", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// Why.
        reason: String,
    },
    /// A line of a file.
    #[error("{}, line {line}: {rule}", file.display())]
    Line {
        /// The file.
        file: PathBuf,
        /// From 1.
        line: usize,
        /// What is wrong with it.
        rule: Box<BadRule>,
    },
}

/// The functions that are locks' by their names.
#[derive(Clone, Default, Debug, PartialEq, Eq, Hash)]
pub struct LockNames {
    rules: Vec<Rule>,
    /// Folders of the packages under test: locks of crates whose source lies there are recorded like all other code, so that their
    /// mistakes are found.
    under_test: Vec<PathBuf>,
    /// Types of them that are taken for locks that work.
    trusted: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Rule {
    name: String,
    call: u64,
    parameter: Option<usize>,
    zero: bool,
    /// Stands for the lock of functions without a parameter.
    number: u64,
}

impl LockNames {
    /// Whether nothing is named.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Says in which folders the packages under test lie.
    pub fn test_packages(&mut self, folders: impl Iterator<Item = PathBuf>) {
        self.under_test.extend(folders);
    }

    /// Whether a type with the functions of a lock, by its path and a source file of it, is taken for a lock that works.
    pub(crate) fn trusts(&self, path: &str, file: &Path) -> bool {
        if self.under_test.is_empty() || self.trusted.contains(&without_types(path)) {
            return true;
        }
        let package = file.ancestors().skip(1).find(|folder| folder.join("Cargo.toml").is_file());
        package.is_none_or(|package| !self.under_test.iter().any(|tested| tested == package))
    }

    /// Adds a rule.
    pub fn add(&mut self, rule: &str) -> Result<(), BadRule> {
        let bad = || BadRule::Syntax { found: rule.to_owned() };
        let text = rule.trim();
        if let Some(path) = text.strip_prefix(TRUST).map(str::trim) {
            let is_path = !path.is_empty() && path.chars().all(|c| c.is_alphanumeric() || "_:".contains(c));
            return is_path.then(|| self.trusted.push(path.to_owned())).ok_or_else(bad);
        }
        let (hold, functions) = match text.split_once(':') {
            Some(("shared", rest)) => (Hold::Shared, rest),
            Some(("alone", rest)) => (Hold::Alone, rest),
            _ => (Hold::Mutex, text),
        };
        let (takes, gives) = functions.split_once('/').ok_or_else(bad)?;
        let number = LOCKS | u64::from(hash(gives.trim()));
        for (list, action) in [(takes, Action::Take), (gives, Action::Give)] {
            for function in list.split(',') {
                let new = Rule::parse(function.trim(), action, hold, number).ok_or_else(bad)?;
                self.insert(new);
            }
        }
        Ok(())
    }

    /// A function that gives back what is held alone as well as what is shared is named twice.
    fn insert(&mut self, rule: Rule) {
        let twin = self.rules.iter_mut().find(|known| known.name == rule.name);
        match twin {
            Some(known) if known.call != rule.call => {
                let hold = Hold::Either;
                known.call = LockCall::new(Action::Give, hold, true).code();
            }
            Some(_) => {}
            None => self.rules.push(rule),
        }
    }

    /// Adds the rules of the file beside a source or above it, if there is one.
    pub fn add_file_for(&mut self, source: &Path) -> Result<(), BadRule> {
        let folder = source.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let Ok(folder) = folder.canonicalize() else { return Ok(()) };
        let Some(file) = folder.ancestors().map(|folder| folder.join(FILE)).find(|file| file.is_file()) else {
            return Ok(());
        };
        let read = std::fs::read_to_string(&file);
        let text = read.map_err(|error| BadRule::Read { file: file.clone(), reason: error.to_string() })?;
        for (line, number) in text.lines().zip(1..) {
            let rule = line.split('#').next().unwrap_or_default();
            if !rule.trim().is_empty() {
                self.add(rule).map_err(|bad| BadRule::Line {
                    file: file.clone(),
                    line: number,
                    rule: Box::new(bad),
                })?;
            }
        }
        Ok(())
    }

    /// What a function does that the source calls so.
    pub(crate) fn function(&self, name: &str) -> Option<LockFunction> {
        let plain = without_types(name);
        let rule = self.rules.iter().find(|rule| rule.name == name || rule.name == plain)?;
        let lock = rule.parameter.map_or(WhichLock::FirstPointer(rule.number), WhichLock::Parameter);
        let success = if rule.zero { Success::Zero } else { Success::NotZero };
        Some(LockFunction { call: LockCall::from_code(rule.call)?, lock, success, time: None })
    }
}

impl Rule {
    fn parse(text: &str, action: Action, hold: Hold, number: u64) -> Option<Rule> {
        let (tries, rest) = text.strip_prefix('?').map_or((false, text), |rest| (true, rest));
        let (zero, rest) = rest.strip_suffix("=0").map_or((false, rest), |rest| (true, rest));
        let (name, parameter) = match rest.split_once('@') {
            Some((name, at)) => (name, Some(at.parse::<usize>().ok()?.checked_sub(1)?)),
            None => (rest, None),
        };
        let is_name =
            |name: &str| !name.is_empty() && !name.contains(|c: char| c.is_whitespace() || "?@=/,".contains(c));
        if !is_name(name) || zero && !tries || tries && action == Action::Give {
            return None;
        }
        let action = if tries { Action::Try } else { action };
        let call = LockCall::new(action, hold, true);
        Some(Rule { name: name.to_owned(), call: call.code(), parameter, zero, number })
    }
}

/// A name without the arguments of templates.
fn without_types(name: &str) -> String {
    let mut depth = 0u32;
    let mut plain = String::new();
    for character in name.chars() {
        match character {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            _ if depth == 0 => plain.push(character),
            _ => {}
        }
    }
    plain
}

/// FNV-1a.
fn hash(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)) & !0xf
}

#[cfg(test)]
mod tests {
    use super::*;

    fn action(names: &LockNames, function: &str) -> Option<(Action, Hold)> {
        names.function(function).map(|function| (function.call.action, function.call.hold))
    }

    #[test]
    fn rules_name_functions() {
        let mut names = LockNames::default();
        names.add("spin_lock,?spin_trylock=0/spin_unlock").expect("a rule");
        names.add("shared: Gate::enter@2 / Gate::leave").expect("a rule");
        names.add("alone: Gate::shut / Gate::leave").expect("a rule");
        assert_eq!(action(&names, "spin_lock"), Some((Action::Take, Hold::Mutex)));
        assert_eq!(action(&names, "spin_unlock"), Some((Action::Give, Hold::Mutex)));
        assert_eq!(names.function("spin_trylock").map(|function| function.success), Some(Success::Zero));
        assert_eq!(action(&names, "Gate<int>::enter"), Some((Action::Take, Hold::Shared)));
        assert_eq!(names.function("Gate::enter").map(|function| function.lock), Some(WhichLock::Parameter(1)));
        assert_eq!(action(&names, "Gate::leave"), Some((Action::Give, Hold::Either)));
        assert_eq!(action(&names, "spin"), None);
    }

    #[test]
    fn lock_and_unlock_without_a_parameter_mean_the_same_lock() {
        let mut names = LockNames::default();
        names.add("lk/ul").expect("a rule");
        names.add("other_lk/other_ul").expect("a rule");
        let lock = |name: &str| names.function(name).expect("named").lock;
        assert_eq!(lock("lk"), lock("ul"));
        assert_ne!(lock("lk"), lock("other_lk"));
    }

    #[test]
    fn locks_of_packages_under_test_are_not_trusted_unless_it_is_said() {
        let folder = tempfile::tempdir().expect("a folder");
        let [own, theirs] = ["own", "own/vendor/theirs"].map(|package| folder.path().join(package));
        for package in [&own, &theirs] {
            std::fs::create_dir_all(package).expect("made");
            std::fs::write(package.join("Cargo.toml"), "").expect("written");
        }
        let [own_file, their_file] = [&own, &theirs].map(|package| package.join("src/lib.rs"));
        let mut names = LockNames::default();
        assert!(names.trusts("own::Other", &own_file));
        names.test_packages([own].into_iter());
        names.add("trust: own::Spin").expect("a rule");
        assert!(names.trusts("own::Spin", &own_file) && names.trusts("own::Spin<u8>", &own_file));
        assert!(!names.trusts("own::Spinning", &own_file) && !names.trusts("own::Other<theirs::Raw>", &own_file));
        assert!(names.trusts("own::Other", &their_file));
    }

    #[test]
    fn bad_rules_say_so() {
        for rule in [
            "",
            "lock",
            "lock/",
            "/unlock",
            "a b/c",
            "lock/?unlock",
            "lock=0/unlock",
            "lock@0/unlock",
            "lock@x/y",
            "trust:",
            "trust:a/b",
        ] {
            assert_eq!(LockNames::default().add(rule), Err(BadRule::Syntax { found: rule.to_owned() }), "{rule}");
        }
    }
}
