//! What reports call the threads of a recording, for texts that know threads by their paths.

use super::replay::Plan;
use foretrace_report::thread_called;
use foretrace_walker::program::Program;
use foretrace_walker::{RecordedThread, WalkError, recorded_threads, threads_of};
use rustc_hash::FxHashMap;
use std::path::Path;

/// The names of a recording's threads.
#[derive(Default)]
pub struct ThreadNames {
    /// The names by path: `thread 2 (worker)`.
    names: FxHashMap<String, String>,
}

impl ThreadNames {
    /// The names that the trace of a recording gives to threads.
    ///
    /// # Errors
    /// The logs or the program cannot be read.
    pub fn of_recording(recording: &Path) -> Result<ThreadNames, WalkError> {
        Ok(ThreadNames::of_threads(recorded_threads(recording)?))
    }

    /// The same where the recording's program is open already.
    ///
    /// # Errors
    /// The logs cannot be read.
    pub fn of_opened(program: &Program, recording: &Path) -> Result<ThreadNames, WalkError> {
        Ok(ThreadNames::of_threads(threads_of(program, recording)?))
    }

    fn of_threads(threads: Vec<RecordedThread>) -> ThreadNames {
        let name = |thread: &RecordedThread| thread_called(thread.number, thread.name.as_deref());
        ThreadNames { names: threads.into_iter().map(|thread| (thread.path.clone(), name(&thread))).collect() }
    }

    /// The names that reports of a plan's recording give to threads. Where it is gone, or its program was built again, those of the replay; if
    /// that has no whole log either, none.
    pub fn of_replay(plan: &Plan, replay: &Path) -> ThreadNames {
        let recorded = plan.recording.as_deref().and_then(|recording| ThreadNames::of_recording(recording).ok());
        recorded.or_else(|| ThreadNames::of_recording(replay).ok()).unwrap_or_default()
    }

    /// The name of the thread with this path; a thread that the recording does not have is called by its path.
    pub fn full(&self, path: &str) -> String {
        self.names.get(path).cloned().unwrap_or_else(|| format!("thread {path}"))
    }

    /// The name without the function, for lines that would be too long: `thread 2`.
    pub fn short(&self, path: &str) -> String {
        let name = self.full(path);
        name.split_once(" (").map_or(name.as_str(), |(number, _)| number).to_string()
    }

    /// A line of the runtime, with names in place of paths. A path is `0` or has a dot; the numbers of threads do not.
    pub fn in_line(&self, line: &str) -> String {
        const WORD: &str = "thread ";
        let (mut named, mut rest) = (String::new(), line);
        while let Some(at) = rest.find(WORD) {
            let (before, after) = (&rest[..at], &rest[at + WORD.len()..]);
            let end = after.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(after.len());
            let path = after[..end].trim_end_matches('.');
            named.push_str(before);
            match path == "0" || path.contains('.') {
                true => named.push_str(&self.full(path)),
                false => named.push_str(&rest[at..at + WORD.len() + path.len()]),
            }
            rest = &after[path.len()..];
        }
        named + rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> ThreadNames {
        let names = [("0", "thread 1 (main)"), ("0.1", "thread 2 (robot)"), ("0.1.1", "thread 3")];
        ThreadNames { names: names.into_iter().map(|(path, name)| (path.to_string(), name.to_string())).collect() }
    }

    #[test]
    fn lines_of_the_runtime_call_threads_by_their_names() {
        let named = |line: &str| names().in_line(line);
        assert_eq!(
            named("thread 0.1 ended before it came to second"),
            "thread 2 (robot) ended before it came to second"
        );
        assert_eq!(named("it waits for thread 0."), "it waits for thread 1 (main).");
        assert_eq!(named("thread 0.1.1: read; thread 0.2: write"), "thread 3: read; thread 0.2: write");
    }

    #[test]
    fn numbers_and_other_words_stay() {
        for line in ["thread 1 (main) writes 0  main.c:3", "each thread waits", "a thread", ""] {
            assert_eq!(names().in_line(line), line);
        }
    }

    #[test]
    fn the_short_name_is_the_number() {
        assert_eq!((names().short("0.1"), names().short("0.1.1")), ("thread 2".into(), "thread 3".into()));
        assert_eq!(names().short("0.7"), "thread 0.7");
    }
}
