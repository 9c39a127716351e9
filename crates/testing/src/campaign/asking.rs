//! Asks about checks again that no run has failed and that the analysis of a recorded run did not decide, with the time that is left.

use super::{Campaign, TRIED_IN_ROUND};
use crate::predicting::{ask_again, class_of};
use crate::settings::TestError;
use crate::state::OpenCheck;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long one recorded run is asked about where the test has no limit.
const LONGEST: Duration = Duration::from_secs(600);
/// How many times the work of the first time is spent, round after round.
const EFFORTS: [u32; 3] = [4, 32, 256];

impl Campaign<'_> {
    /// Notes checks that the analysis of a recorded run leaves open, with the shortest run of each.
    pub(super) fn note_open(&mut self, (recording, seed): (&Path, u64), events: usize, open: Vec<String>) {
        for place in open {
            let check = OpenCheck { events, seed, recording: recording.to_path_buf() };
            let known = self.state.open_checks.entry(place).or_insert_with(|| check.clone());
            if check.events < known.events {
                *known = check;
            }
        }
    }

    /// Asks about them until all are decided, one of them fails, or time is over.
    pub(super) fn ask_again(&mut self) -> Result<(), TestError> {
        if self.state.report.has_all_interleavings() {
            self.state.open_checks.clear();
        }
        let plan = &self.state.plan;
        self.state.open_checks.retain(|place, _| !plan.has(&class_of(place)));
        for effort in EFFORTS {
            for ((recording, seed), places) in self.open_by_recording() {
                if self.is_over() || !self.state.found.is_empty() {
                    return Ok(());
                }
                let start = Instant::now();
                let deadline = start + self.time_to_search().min(LONGEST);
                let asked = ask_again((&recording, seed), &places, effort, deadline, self.settings);
                self.state.report.times.predicting += start.elapsed();
                let (attempts, open) = asked?;
                self.state.open_checks.retain(|place, _| !places.contains(place) || open.contains(place));
                self.state.plan.add(attempts);
                while !self.is_over() && self.attempts(TRIED_IN_ROUND)? > 0 {}
            }
        }
        Ok(())
    }

    fn open_by_recording(&self) -> BTreeMap<(PathBuf, u64), BTreeSet<String>> {
        let mut all: BTreeMap<(PathBuf, u64), BTreeSet<String>> = BTreeMap::new();
        for (place, OpenCheck { seed, recording, .. }) in &self.state.open_checks {
            all.entry((recording.clone(), *seed)).or_default().insert(place.clone());
        }
        all
    }
}
