//! Confirms what was found: shortens each schedule, replays it and tells its story.

use super::{CERTAIN, Campaign, Progress, Told, parallel, plan_of, sources};
use crate::attempt::{Attempt, Kind};
use crate::baseline::Unsteady;
use crate::judge::{Failure, judge};
use crate::minimise::{Shortened, fewest};
use crate::predicting::{is_of_library, own_lines};
use crate::report::{Find, Report};
use crate::runner::{SLEPT, cut_of, is_stopped};
use crate::settings::TestError;
use crate::state::{Found, Shown, State};
use crate::story;
use crate::unseen::{NOT_MODELLED, hide_orders};
use crate::workplace::bytes_of;
use foretrace_harness::{self as recorder, Death, Event, Outcome};
use foretrace_report::below_project;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Schedules of a failure of which the one is looked for that needs no other orders but its own.
const MOST_COMPARED: usize = 6;
/// A failure that comes within so many steps of the program comes at once.
const AT_ONCE: usize = 8;
/// Failures that are shortened and replayed.
const MOST_SHORTENED: usize = 8;
/// Shorter schedules of a recorded run that are tried.
const MOST_SHORTER: usize = 60;
/// Turns of a recorded run that the story of a failure has.
const MOST_TURNS_TOLD: usize = 8;
/// How long a schedule is made shorter: a run that goes astray waits for others that do not come.
const LONGEST_SHORTENING: Duration = Duration::from_secs(5);
/// The title of a failure of which no triple is known.
const EXPLORED: &str = "an interleaving that exploring came to";
/// The title of a deadlock after a branch that went another way.
const ALL_WAIT: &str = "a schedule after which all threads wait";
/// What came to its time limit once, and in so many replays not at all, does not hang by the program's doing.
const CERTAIN_END: u32 = 2;
const HUNG_ONCE: &str = "a run came to its time limit, and its replays came to their ends";
const HUNG_AND_NO_TIME: &str = "a run came to its time limit, and no time was left to run it again";
/// What is told where a run that fails has slept.
const SLEEPS: &str = "threads sleep in runs that fail: a sleep lets others run and orders nothing, so what waits for others by sleeping may fail";
/// Bytes of the logs of a run of which replays are planned in a second.
const PLANNED_BYTES_A_SECOND: f64 = 32e6;
/// Replays of a run that hangs.
const REPLAYS_OF_HANG: u32 = 3;

/// Names of unseen calls, or places, that a note tells.
const MOST_TOLD: usize = 4;

/// That traces do not show all of the orders or accesses that there are.
fn note_of_unseen(unseen: &BTreeSet<String>) -> Option<String> {
    first_of(unseen).map(|named| format!("code ran that may order threads or share memory unseen: {named}"))
}

/// That threads give back locks that they do not hold.
fn note_of_not_held(places: &BTreeSet<String>) -> Option<String> {
    first_of(places).map(|named| format!("{NOT_HELD} {named}"))
}

/// The first names, and how many more there are.
fn first_of(all: &BTreeSet<String>) -> Option<String> {
    let names: Vec<&str> = all.iter().take(MOST_TOLD).map(String::as_str).collect();
    let more = match all.len().saturating_sub(MOST_TOLD) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    (!names.is_empty()).then(|| format!("{}{more}", names.join(", ")))
}

/// A note begins with this; the places follow, where threads unlock what they do not hold.
const NOT_HELD: &str =
    "a thread unlocks what it does not hold, which is an error with most locks and which no trace shows:";

/// That many runs without recording wrote a line, and that another run passed which wrote another one.
fn note_of_unsteady(unsteady: &Unsteady) -> String {
    let Unsteady { runs: (with, all), line, other, .. } = unsteady;
    let changed = other.as_ref().map_or("did not".to_string(), |other| format!("wrote {other:?}"));
    let wrong = "if one of these is wrong, say so by --fail-when";
    format!("{with} of {all} runs without recording wrote {line:?}, and another run that passed {changed}: {wrong}")
}

impl Campaign<'_> {
    /// Confirms, shortens and counts what was found. Gives the report and what a test needs to go on from here.
    pub(super) fn finish(mut self) -> Result<(Report, State), TestError> {
        if self.state.found.is_empty() && self.state.baseline.unsteady().is_some() && !self.is_over() {
            self.widen_baseline()?;
        }
        self.state.report.ended_early |= self.state.report.left > 0;
        self.state.report.ended_early |= self.state.report.recorded.passed == 0 && self.state.found.is_empty();
        let recorded = self.state.report.recorded.passed + self.state.report.recorded.failed;
        if recorded == 0 && self.state.baseline.runs() == 0 && self.is_stopped() && !self.user_wants_no_more() {
            return Err(TestError::Endless(self.elapsed(), Vec::new()));
        }
        let counts = self.state.report.clone();
        if self.state.report.recorded.passed == 0 && self.state.report.recorded.failed > 0 {
            let failed = self.state.report.recorded.failed;
            self.note(format!("all {failed} recorded runs failed: no passing run was there to predict from"));
        }
        for number in 0..self.state.found.len() {
            let found = self.state.found[number].clone();
            let ways = found.ways();
            self.share_time(number);
            if let Some(find) = self.find(number, found)? {
                self.state.found[number].reported = Some((find.clone(), ways));
                self.state.report.finds.push(find);
            }
            let finds = self.state.report.finds.len();
            (self.progress)(Progress { finds, tried: self.state.report.all_tried(), ..Progress::default() });
        }
        self.average();
        let elapsed = self.elapsed();
        let Campaign { runner, settings, mut state, .. } = self;
        let mut report = std::mem::replace(&mut state.report, counts);
        let one_way = state.branches.iter().filter(|(_, (ways, _))| !ways.are_both());
        report.one_way = one_way.map(|(place, (_, text))| (place.clone(), text.clone())).collect();
        if let Some(explored) = report.explored.as_mut().filter(|explored| explored.complete && !explored.fails)
            && hide_orders(&state.unseen)
        {
            explored.doubt(NOT_MODELLED); // other runs than those that were explored make such calls
        }
        report.notes.extend(note_of_unseen(&state.unseen));
        report.notes.extend(note_of_not_held(&state.not_held));
        if report.finds.is_empty() {
            let unsteady = state.baseline.unsteady();
            let is_told_by_user = !settings.compare_output || settings.fail_when.is_some();
            report.output_is_open = unsteady.as_ref().is_some_and(|one| one.hardly_varies) && !is_told_by_user;
            report.notes.extend(unsteady.as_ref().map(note_of_unsteady));
        }
        report.one_way.sort_by_key(|(place, _)| is_of_library(place)); // the program's own come first
        report.times.all = elapsed;
        report.baseline = state.baseline.clone();
        state.steps = runner.steps().to_vec();
        state.earlier = elapsed;
        state.is_done = report.is_complete();
        state.report.times.running = report.times.running;
        (state.report.left, state.report.ended_early) = (0, false);
        Ok((report, state))
    }

    /// Shares the time that is left among this failure and those after it.
    fn share_time(&mut self, number: usize) {
        let others = self.state.found.len().min(MOST_SHORTENED).saturating_sub(number);
        let share = self.time_left() / u32::try_from(others.max(1)).unwrap_or(u32::MAX);
        self.find_until = Instant::now().checked_add(share);
    }

    /// Until when the schedule of the failure at hand is made shorter: half of its share of the time is for replays.
    fn shorten_until(&self) -> Instant {
        self.within_share(2, LONGEST_SHORTENING)
    }

    /// The end of a part of what is left of the share of the failure at hand, and of so much time at most.
    pub(super) fn within_share(&self, part: u32, most: Duration) -> Instant {
        Instant::now() + (self.time_of_share() / part).min(most)
    }

    /// How long the failure at hand may still be replayed.
    pub(super) fn time_of_share(&self) -> Duration {
        self.find_until.map_or(Duration::MAX, |until| until.saturating_duration_since(Instant::now()))
    }

    pub(super) fn is_share_over(&self) -> bool {
        self.is_stopped() || self.time_of_share().is_zero()
    }

    pub(super) fn average(&mut self) {
        let times = &mut self.state.report.times;
        let per = |all: Duration, count: u64| all.checked_div(u32::try_from(count).unwrap_or(u32::MAX));
        times.recorded = per(times.recorded, self.state.report.recorded.passed).unwrap_or_default();
        times.schedule = per(times.schedule, self.state.report.tried.values().sum()).unwrap_or_default();
        if self.state.switches.1 > 0 {
            self.state.report.switches = self.state.switches.0 as f64 / self.state.switches.1 as f64;
        }
    }

    /// A find as it is reported; nothing where no run shows it any more.
    pub(super) fn find(&mut self, number: usize, mut found: Found) -> Result<Option<Find>, TestError> {
        if let Some(find) = found.known_find() {
            return Ok(Some(find));
        }
        let by_itself = |shown: &Shown| shown.attempt.kind == Kind::Observed;
        let recordings: Vec<PathBuf> = found.recordings.iter().map(|(_, folder)| folder.clone()).collect();
        let branch = |shown: &&Shown| shown.reached && shown.attempt.kind == Kind::OtherWay;
        let asked = |Attempt { accesses, variable, .. }: &Attempt| (accesses[0].thread.clone(), variable.clone());
        let branches: Vec<_> = found.shown.iter().filter(branch).map(|shown| asked(&shown.attempt)).collect();
        found.shown.sort_by_key(|shown| {
            let Attempt { rank, kind, .. } = shown.attempt;
            // What several calls and turns of a thread make of others' work is mostly an effect of what happens within one of them.
            let is_wide = shown.attempt.is_whole_thread();
            // What passing runs show, too, is no cause by itself.
            let is_usual = self.state.plan.is_shown(&shown.attempt.class);
            // Three accesses say more than the branch that follows from them. Of those that only the run along the branch's schedule shows,
            // these are the ones that interrupt what leads to the branch: any other may be one of many that make it together.
            let is_of_schedule = by_itself(shown)
                && !branches.is_empty()
                && !branches.contains(&asked(&shown.attempt))
                && !recordings.contains(&shown.attempt.recording);
            let is_effect = if is_of_schedule { 2 } else { u8::from(kind == Kind::OtherWay) };
            let is_other = found.failure.is_use_after_free() && !shown.attempt.is_use_after_free();
            let (is_internal, in_libraries) = (shown.attempt.is_internal(), shown.attempt.in_libraries());
            let by_itself = by_itself(shown);
            (!shown.reached, is_other, is_effect, is_internal, is_wide, by_itself, is_usual, in_libraries, rank, kind)
        });
        self.prefer_the_cause(number, &mut found)?;
        let needed = if number < MOST_SHORTENED { self.needed(&found)? } else { None };
        let found_by_exploring = found.is_explored;
        let Found { failure, shown, recordings, deadlock, late, after_runs, after, .. } = found;
        let hung_again = self.were_seen_apart(&shown, &recordings) && !self.may_be_slow(&shown);
        let mut find = Find::new(failure, 0, after_runs, after);
        let mut is_told = needed.is_none(); // by the first schedule, where there is one
        // Of a schedule that nothing came to, the name of its accesses tells less than the turns of a recorded run that fails by itself.
        let has_recording = recordings.first().is_some_and(|(_, folder)| folder.is_dir());
        match shown.first().filter(|best| best.reached || !has_recording) {
            Some(best) => {
                find.seed = best.attempt.seed;
                let title = story::title(&best.attempt);
                find.schedule = best.attempt.witness.clone();
                if best.reached && best.attempt.kind == Kind::OtherWay && !deadlock.is_empty() {
                    find.title = Some(ALL_WAIT.to_string()); // who waits for what tells more than the branch before
                    find.story = deadlock;
                } else if best.reached || needed.is_some() {
                    let told = needed.as_ref().map_or(&best.story, |needed| &needed.story);
                    find.title = Some(needed.as_ref().map_or(title, |needed| story::title(&needed.attempt)));
                    find.story = told.clone();
                    find.story.extend(deadlock);
                } else {
                    find.title = Some(format!("before it came to: {title}"));
                    find.story = deadlock;
                }
                let wanted = if best.reached { Wanted::FailsThere } else { Wanted::Fails };
                self.shorten(number, &best.attempt, wanted, &mut find)?;
                if find.story.is_empty() || best.attempt.kind == Kind::OtherWay {
                    let turns = self.turns_of(&find, &best.attempt.recording)?;
                    find.story.extend(turns);
                }
                find.story.extend(late);
                let title = find.title.clone();
                self.retell(&mut find, Told::By(best), needed.as_ref())?;
                is_told &= find.title == title;
            }
            None => {
                let Some((seed, folder)) = recordings.first() else { return Ok(None) };
                find.seed = *seed;
                find.title = found_by_exploring.then(|| EXPLORED.to_string());
                find.schedule = folder.clone();
                find.story = deadlock;
                // The logs of a run that hangs are long: without time for replays all that is told is where it hangs.
                let is_told = !find.failure.is_hang() || self.time_of_share() > time_to_plan(folder);
                let plan = if is_told { recorder::Plan::of_recording(folder)? } else { recorder::Plan::default() };
                let mut short = plan.clone();
                if number < MOST_SHORTENED && is_told {
                    find.replays = self.count_replays(&find.failure, Wanted::Fails, &plan)?;
                    short.turns = self.turns_that_matter(&plan, &find.failure, self.shorten_until())?;
                }
                if self.hung_once(&find, hung_again) {
                    return Ok(None);
                }
                find.turns = (plan.turns.len(), short.turns.len());
                if find.story.is_empty() {
                    find.story = self.turns_in_words(folder, &short.turns)?;
                    if find.failure.is_hang() {
                        find.story.extend(self.last_places(folder)?);
                    }
                }
                find.story.extend(late);
                self.retell(&mut find, Told::ByTurns(&short), needed.as_ref())?;
            }
        }
        if self.hung_once(&find, hung_again) {
            return Ok(None);
        }
        let is_replayed = find.replays.is_some_and(|(_, made)| made > 0);
        if !is_replayed && recordings.iter().any(|(_, folder)| folder.join(SLEPT).is_file()) {
            self.note(SLEEPS.to_string());
        }
        // Of a run that failed before its three accesses happened, these tell nothing.
        let others = shown.iter().skip(usize::from(is_told)).filter(|shown| shown.reached);
        let mut others: Vec<String> = others.map(|shown| other_line(&shown.attempt)).collect();
        others.sort();
        others.dedup();
        find.others = others;
        find.attempts = shown.into_iter().map(|shown| shown.attempt).collect();
        Ok(Some(find))
    }

    /// Whether some of the runs that showed a failure were not made at the same time, so that no pause of the machine made all of them late:
    /// recorded runs and those along schedules, or recorded ones of which one ended before the other began.
    fn were_seen_apart(&self, shown: &[Shown], recordings: &[(u64, PathBuf)]) -> bool {
        let seeds = || recordings.iter().map(|(seed, _)| *seed);
        let apart = seeds().max().zip(seeds().min()).map_or(0, |(last, first)| last - first);
        !shown.is_empty() && !recordings.is_empty() || apart >= self.jobs() as u64
    }

    /// Whether runs may come to their limit by foretrace's doing: the limit is short for the program, or no recorded run has come to its end,
    /// and runs without recording have.
    fn may_be_slow(&self, shown: &[Shown]) -> bool {
        let (recorded, unrecorded) = (self.state.report.recorded.passed, self.state.baseline.runs());
        !self.runner.lets_end() || shown.is_empty() && recorded == 0 && unrecorded > 0
    }

    /// Whether one run came to its limit, and nothing says that it would not have come to its end: then a note tells so.
    fn hung_once(&mut self, find: &Find, hung_again: bool) -> bool {
        let told = match find.replays {
            Some((0, made)) if made >= CERTAIN_END => HUNG_ONCE,
            None | Some((0, 0)) if self.settings.replays > 0 && !hung_again => HUNG_AND_NO_TIME,
            _ => return false,
        };
        let hangs_unrecorded = self.state.report.fails_unrecorded() || self.state.report.is_endless_unrecorded();
        let hung_once = find.failure.is_hang() && !hangs_unrecorded;
        if hung_once {
            let seed = find.seed;
            self.note(format!("{told} (seed {seed}): a loop that asks again and again is slow under some schedulers"));
            self.state.report.ended_early = true;
        }
        hung_once
    }

    /// The last turns of the schedule of a find: where a run fails before its three accesses come about, they are all that is known.
    fn turns_of(&self, find: &Find, recording: &Path) -> Result<Vec<String>, TestError> {
        let plan = plan_of(&find.schedule, recording)?;
        match recording.is_dir() {
            true => self.turns_in_words(recording, &plan.turns),
            false => Ok(Vec::new()),
        }
    }

    /// The last of these turns of a recording.
    fn turns_in_words(&self, recording: &Path, turns: &[recorder::Turn]) -> Result<Vec<String>, TestError> {
        if turns.is_empty() {
            return Ok(Vec::new());
        }
        let stretches = recorder::last_stretches(recording, &self.positions, turns, MOST_TURNS_TOLD)?;
        let sources = sources(recording, &self.settings.walk.programs);
        Ok(stretches.iter().map(|stretch| story::turn(stretch, sources.as_ref())).collect())
    }

    /// Where the threads of a recording came last.
    pub(super) fn last_places(&self, recording: &Path) -> Result<Vec<String>, TestError> {
        let lines = own_lines(recording, &self.settings.walk);
        let places = recorder::last_places(recording, (&self.positions, &lines))?;
        let sources = sources(recording, &self.settings.walk.programs);
        Ok(places.iter().map(|(thread, place)| story::last_place(thread, place, sources.as_ref())).collect())
    }

    /// Which thread a recording died of, and where, unless the story ends there anyway.
    pub(super) fn death(&self, recording: &Path, story: &[String]) -> Result<Option<String>, TestError> {
        let sources = sources(recording, &self.settings.walk.programs);
        let dying = recorder::dying_thread(recording, &self.positions)?;
        let is_new = |death: &Death| {
            let place = format!(" {} ", below_project(&death.place));
            !story.iter().any(|line| line.starts_with(&death.thread) && format!("{line} ").contains(&place))
        };
        Ok(dying.filter(is_new).map(|death| story::death(&death, sources.as_ref())))
    }

    /// Turns of a recorded run that failed, without those that it fails without.
    pub(super) fn turns_that_matter(
        &mut self,
        plan: &recorder::Plan,
        failure: &Failure,
        until: Instant,
    ) -> Result<Vec<recorder::Turn>, TestError> {
        if failure.is_hang() {
            return Ok(plan.turns.clone());
        }
        fewest(plan.turns.clone(), MOST_SHORTER, |turns| {
            if Instant::now() >= until || self.is_share_over() {
                return Ok(None);
            }
            let next = recorder::Plan { turns: turns.to_vec(), ..plan.clone() };
            Ok(Some(self.fails_again(&next, failure, Wanted::Fails)?))
        })
    }

    /// Puts first a schedule that fails by the order of its three accesses alone, where there is one: then these are the cause. Others may
    /// fail by what their schedules do besides. Of several it is one within a function or a turn of a loop, and of these one after which the
    /// program fails soonest: after others, what fails may come of what happens later. Three accesses of a whole thread come after the
    /// violation of a block and after three of one function or turn that no passing run shows, and all come after a use after free where that
    /// is the failure.
    pub(super) fn prefer_the_cause(&mut self, number: usize, found: &mut Found) -> Result<(), TestError> {
        let [best, _, ..] = &found.shown[..] else { return Ok(()) };
        if found.failure.is_hang() || number >= MOST_SHORTENED || best.reached && best.attempt.is_use_after_free() {
            return Ok(());
        }
        let is_usual = self.state.plan.is_shown(&best.attempt.class);
        let is_effect = best.attempt.kind == Kind::OtherWay;
        let says_much = best.attempt.is_block() || !is_usual && !is_effect && !best.attempt.is_internal();
        let is_narrow = best.reached && says_much && !best.attempt.is_whole_thread();
        let file = self.work.place(format!("cause-{number}.json"));
        // Without its schedule a block has no order to keep. What a failing run shows itself counts here: it is tried by itself.
        let mut compared: Vec<usize> = (0..found.shown.len()).collect();
        compared.retain(|at| {
            let attempt = &found.shown[*at].attempt;
            attempt.cycle.is_none() && !(is_narrow && attempt.is_whole_thread())
        });
        compared.sort_by_key(|at| {
            let Shown { reached, after, attempt, .. } = &found.shown[*at];
            let is_usual = self.state.plan.is_shown(&attempt.class);
            let distance = (*after).max(AT_ONCE).ilog2();
            let is_wide = attempt.is_whole_thread();
            (!reached, attempt.is_internal(), is_wide, is_usual, attempt.in_libraries(), distance, attempt.rank)
        });
        for at in compared.into_iter().take(MOST_COMPARED) {
            if self.is_share_over() {
                break;
            }
            let attempt = &found.shown[at].attempt;
            Shortened::read(&attempt.witness)?.without_schedule().write(&file)?;
            let plan = plan_of(&file, &attempt.recording)?;
            let again = self.replays(&plan, CERTAIN as u32, &found.failure, Wanted::FailsThere)?;
            if again.failed as usize == CERTAIN {
                let shown = &mut found.shown[at];
                if !shown.reached {
                    shown.reached = true; // its whole schedule led elsewhere
                    shown.story = story::lines(&shown.attempt, again.triple.as_ref());
                }
                found.shown[..=at].rotate_right(1);
                break;
            }
        }
        Ok(())
    }

    /// Makes the schedule of a find shorter, and replays it.
    pub(super) fn shorten(
        &mut self,
        number: usize,
        attempt: &Attempt,
        wanted: Wanted,
        find: &mut Find,
    ) -> Result<(), TestError> {
        let long = Shortened::read(&attempt.witness)?;
        find.turns = (long.turns(), long.turns());
        if number >= MOST_SHORTENED || self.is_stopped() {
            return Ok(());
        }
        let file = self.work.place(format!("find-{number}.json"));
        let mut short = long;
        if !find.failure.is_hang() && attempt.recording.is_dir() {
            let (failure, until) = (find.failure.clone(), self.shorten_until());
            short = short.minimise(|next| {
                if Instant::now() >= until || self.is_share_over() {
                    return Ok(None);
                }
                next.write(&file)?;
                let plan = plan_of(&file, &attempt.recording)?;
                Ok(Some(self.fails_again(&plan, &failure, wanted)?))
            })?;
        }
        short.write(&file)?;
        find.turns.1 = short.turns();
        find.schedule = file.clone();
        let plan = plan_of(&file, &attempt.recording)?;
        find.replays = self.count_replays(&find.failure, wanted, &plan)?;
        Ok(())
    }

    pub(super) fn count_replays(
        &mut self,
        failure: &Failure,
        wanted: Wanted,
        plan: &recorder::Plan,
    ) -> Result<Option<(u32, u32)>, TestError> {
        let times = if failure.is_hang() { REPLAYS_OF_HANG.min(self.settings.replays) } else { self.settings.replays };
        let limit = self.runner.limit();
        if failure.is_hang() {
            self.runner.limit_replays(self.time_of_share());
        }
        let replays = self.replays(plan, times, failure, wanted);
        self.runner.limit_to(limit);
        let Replays { failed, made, .. } = replays?;
        Ok(Some((failed, made)).filter(|_| made > 0))
    }

    /// Whether as many replays in a row fail in this way as make it certain.
    fn fails_again(&mut self, plan: &recorder::Plan, failure: &Failure, wanted: Wanted) -> Result<bool, TestError> {
        let Replays { failed, .. } = self.replays(plan, CERTAIN as u32, failure, wanted)?;
        Ok(failed as usize == CERTAIN)
    }

    /// Replays so many times, as long as there is time.
    pub(super) fn replays(
        &mut self,
        plan: &recorder::Plan,
        times: u32,
        failure: &Failure,
        wanted: Wanted,
    ) -> Result<Replays, TestError> {
        let numbers: Vec<u32> = (0..times).collect();
        let mut all = Replays::default();
        for batch in numbers.chunks(self.jobs()) {
            if self.is_share_over() {
                break;
            }
            let (runner, work) = (&self.runner, self.work);
            let made = parallel(batch, |number| runner.replay(plan, &work.place(format!("again-{number}"))));
            for ran in made {
                all.made += u32::from(!ran.as_ref().err().is_some_and(is_stopped));
                let ran = match ran {
                    Ok(ran) => ran,
                    Err(error) if is_stopped(&error) || cut_of(&error).is_some() => continue,
                    Err(error) => return Err(error),
                };
                self.state.report.times.running += ran.took;
                let effect = judge(&ran.seen, &self.state.baseline, self.settings);
                if !effect.is_failure(failure) {
                    continue;
                }
                if wanted == Wanted::FailsThere {
                    let replayed = self.replayed(plan, &ran)?;
                    if matches!(replayed.outcome, Outcome::NotReached(_)) {
                        continue;
                    }
                    all.triple = replayed.triple;
                }
                all.failed += 1;
                if ran.has_slept {
                    self.note(SLEEPS.to_string());
                }
            }
        }
        Ok(all)
    }
}

/// How long it takes about to plan replays of a recording.
fn time_to_plan(recording: &Path) -> Duration {
    Duration::from_secs_f64(bytes_of(recording).unwrap_or(0) as f64 / PLANNED_BYTES_A_SECOND)
}

/// What replays came to.
#[derive(Default)]
pub(super) struct Replays {
    /// Those that failed as they should.
    pub failed: u32,
    /// Those that were made in time.
    made: u32,
    /// The three accesses in the last one that reached them.
    triple: Option<[Option<Event>; 3]>,
}

/// What a run along a schedule must show.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    /// The failure.
    Fails,
    /// The failure, after the accesses that the schedule is for.
    FailsThere,
}

/// Another schedule that leads to a known failure.
fn other_line(attempt: &Attempt) -> String {
    let places = attempt.accesses.each_ref().map(|access| access.place.as_str()).join(", ");
    format!("{} ({places})", story::title(attempt))
}
