//! Schedules that nothing proves, each made when its turn comes. A recording may have thousands of cut-points, and a schedule is as long as
//! its trace.

use super::{Asked, schedules_of};
use crate::attempt::{Attempt, Kind, ToMake};
use crate::settings::{Settings, TestError};
use foretrace_analysis::verdict::{Decider, Decision, Limit, Verdict};
use foretrace_cutpoints::synthesize;
use foretrace_report::{Subject, WitnessDir};
use foretrace_trace::Transaction;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Traces of so many events together stay in memory.
const MOST_EVENTS: usize = 300_000;

/// Makes schedules of recordings, whose traces it keeps as long as they are few.
#[derive(Default)]
pub struct Deferred {
    /// The recordings, the one that was asked for last in the end.
    recordings: Vec<Recording>,
}

/// A recording whose schedules are made.
struct Recording {
    path: PathBuf,
    asked: Asked,
    transactions: Vec<Transaction>,
    schedules: WitnessDir,
}

impl Deferred {
    /// Writes the schedule of an attempt that is still to be made. Says whether there is anything to try: locks may let a thread stand at a
    /// cut-point, and other orders keep each schedule from it.
    ///
    /// # Errors
    /// The recording's trace cannot be read, or the file cannot be written.
    pub fn make(&mut self, attempt: &mut Attempt, settings: &Settings) -> Result<bool, TestError> {
        let Some(to_make) = attempt.to_make.take() else { return Ok(true) };
        let Recording { asked, transactions, schedules, .. } = self.recording(&attempt.recording, settings)?;
        let (triple, events) = match *to_make {
            ToMake::ToCutPoint(point) => match synthesize(&asked.trace, &asked.observed, &point) {
                Ok(schedule) => (point.triple, schedule.events),
                Err(_) if attempt.kind == Kind::Undecided => (point.triple, Vec::new()), // not refuted: the replay steers
                Err(_) => return Ok(false),
            },
            ToMake::UpToFirst { triple, other, from } => {
                let events = asked.trace.iter().take_while(|(id, _)| *id <= triple.first);
                let events = events.filter(|(id, event)| event.thread != other || *id < from);
                (triple, events.map(|(id, _)| id).collect())
            }
        };
        let unknown = Verdict::Unknown(Limit::Budget);
        let decision = Decision::without_witness(&asked.trace, triple, unknown, Decider::CutPoints);
        let subject = Subject { file: &asked.file, trace: &asked.trace, transactions, options: &asked.options };
        attempt.witness = schedules.save_untried(subject, &decision, &events)?;
        Ok(true)
    }

    fn recording(&mut self, path: &Path, settings: &Settings) -> Result<&mut Recording, TestError> {
        match self.recordings.iter().position(|known| known.path == path) {
            Some(at) => self.recordings[at..].rotate_left(1),
            None => {
                let asked = Asked::read(path, settings, Duration::ZERO)?;
                let transactions = asked.options.atomic.transactions(&asked.trace);
                let schedules = schedules_of(path, &asked.file)?;
                self.recordings.push(Recording { path: path.to_path_buf(), asked, transactions, schedules });
                while self.recordings.len() > 1 && self.events() > MOST_EVENTS {
                    self.recordings.remove(0);
                }
            }
        }
        Ok(self.recordings.last_mut().expect("it was put there"))
    }

    fn events(&self) -> usize {
        self.recordings.iter().map(|recording| recording.asked.trace.events.len()).sum()
    }
}
