//! The option `--atomic` of all commands, and the trace of a recording that has the chosen blocks.

use super::files;
use super::outcome::say;
use super::walk::{Or, Walking, walk_to};
use anyhow::bail;
use clap::builder::{PossibleValue, TypedValueParser};
use foretrace::recorder::{Folder, WalkedBy};
use foretrace_trace::{Atomic, Observed, Op, Trace, count_of_several_accesses};
use foretrace_walker::{OperationNames, Options, Pattern, Programs};
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

/// What is meant to be atomic.
#[derive(clap::Args, Clone)]
pub struct AtomicArgs {
    /// What is meant to be atomic
    ///
    /// Functions, loops and `auto` need a recording, or a trace of a recording that was made with the same choice.
    #[arg(long, value_name = "WHAT", default_value = "auto", value_parser = ChosenParser)]
    atomic: Chosen,

    /// Treat library functions whose names fit this pattern as the program's own: they become blocks, too
    #[arg(long, value_name = "PATTERN")]
    include: Option<String>,

    #[command(flatten)]
    operations: OperationArgs,
}

/// Which functions are operations on concurrent objects.
#[derive(clap::Args, Clone, Default)]
pub struct OperationArgs {
    /// Treat each call of a function whose name fits as an operation on a concurrent object, such as 'Queue::*'; several patterns
    /// with commas. The object is its first pointer: `this`, `self`. A trace alone is not enough: give
    /// its recording
    #[arg(long, value_name = "PATTERN")]
    operations: Option<String>,
}

impl OperationArgs {
    /// The functions that a recording was walked for.
    pub fn walked_for(recording: &Path) -> OperationArgs {
        OperationArgs { operations: WalkedBy::read(recording).and_then(|by| by.operations) }
    }

    /// Whether none are asked for by name.
    pub fn is_empty(&self) -> bool {
        self.operations.is_none()
    }

    /// The same as words of a command line, each after a blank.
    pub fn words(&self) -> String {
        self.operations.as_ref().map_or_else(String::new, |pattern| format!(" --operations '{pattern}'"))
    }

    /// The file with the trace of a recording that has these operations, which is made if need be.
    ///
    /// # Errors
    /// Where operations are asked for and there is no recording, or no call of such a function in it.
    pub fn file(&self, path: &Path) -> anyhow::Result<PathBuf> {
        AtomicArgs::of_operations(self).file(path)
    }
}

/// A choice, with the pattern that functions' names must fit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Chosen {
    atomic: Atomic,
    pattern: Option<String>,
}

impl fmt::Display for Chosen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.pattern {
            Some(pattern) => write!(f, "{}={pattern}", self.atomic),
            None => write!(f, "{}", self.atomic),
        }
    }
}

/// The values of `--atomic`, with what they mean.
const CHOICES: &[(&str, &str)] = &[
    (
        "auto",
        "marks, if there are any; else all of the program's functions, turns of loops, critical sections and threads",
    ),
    ("marked", "what FORETRACE_ATOMIC_BEGIN and _END enclose, or what stands between begin and end"),
    ("sections", "each outermost critical section; a wait ends one"),
    ("functions", "each outermost call of a function below the thread's own; functions=PATTERN: with a matching name"),
    ("inner-functions", "each innermost call of a function; inner-functions=PATTERN: with a matching name"),
    ("loops", "each turn of a loop"),
    ("operations", "each operation on a concurrent object, from call to return"),
    ("threads", "each thread as a whole"),
];

#[derive(Clone)]
struct ChosenParser;

impl TypedValueParser for ChosenParser {
    type Value = Chosen;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &std::ffi::OsStr,
    ) -> Result<Chosen, clap::Error> {
        let text = value.to_string_lossy();
        Chosen::parse(&text).ok_or_else(|| {
            let names = clap::builder::PossibleValuesParser::new(CHOICES.iter().map(|(name, _)| *name));
            names.parse_ref(command, argument, value).err().unwrap_or_else(|| {
                let message =
                    format!("found --atomic {text}, expected a pattern with functions or inner-functions only\n");
                clap::Error::raw(clap::error::ErrorKind::InvalidValue, message)
            })
        })
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(CHOICES.iter().map(|(name, help)| PossibleValue::new(*name).help(*help))))
    }
}

impl Chosen {
    /// Reads `loops`, `functions=deposit*` and the like; `lock-regions` is an old name of `sections`.
    fn parse(text: &str) -> Option<Chosen> {
        let (name, pattern) = match text.split_once('=') {
            Some((name, pattern)) => (name, Some(pattern.to_string())),
            None => (text, None),
        };
        let name = if name == "lock-regions" { "sections" } else { name };
        let atomic = Atomic::ALL.into_iter().find(|atomic| atomic.name() == name)?;
        let takes_pattern = matches!(atomic, Atomic::Functions | Atomic::InnerFunctions);
        (pattern.is_none() || takes_pattern).then_some(Chosen { atomic, pattern })
    }
}

/// A trace, what is asked of it, and where it is.
pub struct Asked {
    /// The trace.
    pub trace: Trace,
    /// Its recorded order, run.
    pub observed: Observed,
    /// What is meant to be atomic in it; nothing where nothing of the recording is.
    pub atomic: Atomic,
    /// Its file, as reports name it.
    pub file: String,
    /// Whether the run failed.
    pub failed: bool,
    /// By place of the program's own code, where inside of a library its accesses happen.
    pub inside: BTreeMap<String, String>,
}

impl AtomicArgs {
    /// Nothing but operations is chosen.
    pub fn of_operations(operations: &OperationArgs) -> AtomicArgs {
        let atomic = Chosen { atomic: Atomic::Auto, pattern: None };
        AtomicArgs { atomic, include: None, operations: operations.clone() }
    }

    /// Whether only functions of some names are wanted, as blocks or as operations.
    pub fn has_pattern(&self) -> bool {
        self.atomic.pattern.is_some() || self.operations.operations.is_some()
    }

    /// What is meant to be atomic, for a trace that is not read whole.
    ///
    /// # Errors
    /// Where functions of some names alone are wanted: a walk of a recording finds those.
    pub fn plain(&self) -> anyhow::Result<Atomic> {
        if self.has_pattern() || self.include.is_some() {
            bail!(
                "--stream, --window: found a pattern for functions, expected none: only a recording knows names of functions"
            );
        }
        Ok(self.atomic.atomic)
    }

    /// Whether nothing was chosen.
    pub fn is_auto(&self) -> bool {
        self.atomic.atomic == Atomic::Auto
    }

    /// What a walk is asked for.
    pub fn walking(&self, focus: Option<&str>) -> anyhow::Result<Walking> {
        if self.atomic.atomic == Atomic::Operations && self.operations.operations.is_none() {
            bail!(
                "--atomic operations: found a recording, expected its trace: its marked operations are in it with any choice"
            );
        }
        let pattern = |text: Option<&str>| text.map(Pattern::new);
        let options = Options {
            atomic: self.atomic.atomic,
            functions: pattern(self.atomic.pattern.as_deref()),
            include: pattern(self.include.as_deref()),
            focus: pattern(focus),
            operations: self.operations.operations.as_deref().map(OperationNames::new),
            programs: Programs::default(),
        };
        Ok(Walking { options, by: self.walked_by(focus) })
    }

    fn walked_by(&self, focus: Option<&str>) -> WalkedBy {
        WalkedBy {
            atomic: self.atomic.to_string(),
            include: self.include.clone(),
            focus: focus.map(str::to_string),
            operations: self.operations.operations.clone(),
            inside: BTreeMap::new(),
        }
    }

    /// Reads a trace, or that of a recording, which is walked again where its trace was made with another choice.
    /// As long as a command may go on; `None` where it may not.
    pub fn read_within(&self, path: &Path, go_on: &dyn Fn() -> bool) -> anyhow::Result<Option<Asked>> {
        let file = self.file(path)?;
        let Some((trace, observed)) = files::read_trace_within(&file, go_on)? else { return Ok(None) };
        let recording = Folder::around(path);
        let by = recording.as_deref().and_then(WalkedBy::read);
        let atomic = match by {
            Some(_) => in_recording(self.atomic.atomic, &trace),
            None => self.atomic.atomic.resolved(&trace),
        };
        let has_failure = trace.events.iter().any(|event| matches!(event.op, Op::Fail { .. }));
        let failed = has_failure || recording.is_some_and(|folder| Folder::failed(&folder));
        let inside = by.map_or_else(BTreeMap::new, |by| by.inside);
        Ok(Some(Asked { trace, observed, atomic, file: file.display().to_string(), failed, inside }))
    }

    /// The file with the trace that was asked for.
    fn file(&self, path: &Path) -> anyhow::Result<PathBuf> {
        let trace = Folder::trace_of(path);
        if let Some(operations) = &self.operations.operations
            && trace == path
        {
            bail!("{}: --operations {operations}: found a trace, expected a recording", path.display());
        }
        if trace != path && !trace.exists() {
            return self.first_trace(path, trace);
        }
        let Some(by) = WalkedBy::read(path).filter(|_| trace != path) else { return Ok(trace) };
        let mut wanted = self.walked_by(by.focus.as_deref());
        let same_operations = wanted.operations.is_none() || wanted.operations == by.operations;
        if same_operations {
            wanted.operations.clone_from(&by.operations);
        }
        let is_plain = self.include.is_none() && matches!(self.atomic.atomic, Atomic::Auto);
        let in_any = self.include.is_none()
            && matches!(self.atomic.atomic, Atomic::Threads | Atomic::Sections | Atomic::Operations);
        let marks = wanted.atomic == "marked" && by.atomic == "auto" && wanted.include == by.include;
        if same_operations && (is_plain || in_any || marks) || wanted.is_same_choice(&by) {
            return Ok(trace);
        }
        let name = wanted.file_name();
        let output = path.join(name);
        let told = walk_to(path, &output, &self.walking(by.focus.as_deref())?, Or::Fail)?.told;
        let operations = self.operations.operations.as_ref().map(|names| format!(" --operations {names}"));
        let operations = operations.unwrap_or_default();
        say(format_args!(
            "foretrace: walked again, --atomic {}{operations}; {told}: {}",
            self.atomic,
            output.display()
        ));
        Ok(output)
    }

    /// Makes the trace of a recording that has none yet, as `foretrace test` keeps them.
    fn first_trace(&self, recording: &Path, trace: PathBuf) -> anyhow::Result<PathBuf> {
        let told = self.walk_first(recording, &trace)?;
        say(format_args!("foretrace: {told}: {}", trace.display()));
        Ok(trace)
    }

    /// The same without a word, for a recording in a folder that no user knows.
    pub fn first_trace_unsaid(&self, recording: &Path) -> anyhow::Result<()> {
        let trace = Folder::trace_of(recording);
        if trace != recording && !trace.exists() {
            self.walk_first(recording, &trace)?;
        }
        Ok(())
    }

    /// Makes the first trace of a recording; what is in it, in words.
    fn walk_first(&self, recording: &Path, trace: &Path) -> anyhow::Result<String> {
        let walking = self.walking(None)?;
        let made = walk_to(recording, trace, &walking, Or::Write)?;
        WalkedBy { inside: made.inside, ..walking.by }.save(recording)?;
        Ok(made.told)
    }

    /// Fails where a trace has no block at all. Where each block gets a verdict of its own, one without accesses does, too.
    pub fn some_block(&self, asked: &Asked, path: &Path) -> anyhow::Result<()> {
        match asked.atomic.transactions(&asked.trace).is_empty() {
            true => self.something_to_judge(asked, path),
            false => Ok(()),
        }
    }

    /// Fails where no block of a trace can be broken, since none accesses shared memory twice; says what to do.
    pub fn something_to_judge(&self, asked: &Asked, path: &Path) -> anyhow::Result<()> {
        let of = |atomic: Atomic| count_of_several_accesses(&asked.trace, &atomic.transactions(&asked.trace));
        if asked.trace.events.is_empty() {
            bail!(
                "{}: found no transactions, since the trace has no events: threads shared no memory in this run",
                asked.file
            );
        }
        // What the user marked is judged, though it be one access: a repair by one atomic operation leaves such a block.
        let is_marked = matches!(asked.atomic, Atomic::Marked | Atomic::Operations);
        if of(asked.atomic) > 0 || is_marked && !asked.atomic.transactions(&asked.trace).is_empty() {
            return Ok(());
        }
        let focus = WalkedBy::read(path).and_then(|by| by.focus);
        let mut advice: Vec<String> = [Atomic::Marked, Atomic::Sections, Atomic::Operations, Atomic::Threads]
            .into_iter()
            .map(|atomic| (atomic, of(atomic)))
            .filter(|(atomic, count)| *atomic != asked.atomic && *count > 0)
            .map(|(atomic, count)| format!("--atomic {atomic} ({count})"))
            .collect();
        if advice.is_empty() {
            advice.push("marks in the program, or another run".to_string());
        }
        let by = match focus {
            Some(focus) => format!("the recording was walked with --focus {focus}"),
            None => format!("--atomic {}", self.atomic),
        };
        bail!(
            "{}: found no transactions that access shared memory twice ({by}), expected one at least: try {}",
            asked.file,
            advice.join(" or ")
        )
    }
}

/// What a choice stands for in the trace of a recording: a walk for blocks that found none leaves nothing to ask about.
pub fn in_recording(atomic: Atomic, trace: &Trace) -> Atomic {
    let has_blocks = || trace.events.iter().any(|event| matches!(event.op, Op::Begin { .. }));
    match atomic.resolved(trace) {
        Atomic::Auto if !has_blocks() => Atomic::Marked,
        atomic => atomic,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_read() {
        for (text, atomic, pattern) in [
            ("auto", Atomic::Auto, None),
            ("lock-regions", Atomic::Sections, None),
            ("functions", Atomic::Functions, None),
            ("inner-functions=get*", Atomic::InnerFunctions, Some("get*")),
        ] {
            let expected = Chosen { atomic, pattern: pattern.map(str::to_string) };
            assert_eq!(Chosen::parse(text), Some(expected), "{text}");
        }
        assert!(["", "loop", "loops=x", "marked="].iter().all(|text| Chosen::parse(text).is_none()));
        assert!(CHOICES.iter().map(|(name, _)| *name).eq(Atomic::ALL.map(Atomic::name)));
    }
}
