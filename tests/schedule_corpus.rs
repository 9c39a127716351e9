//! The seed corpus of the fuzz target for schedules, and damaged copies of it, through the target's own entry point.

#[path = "../fuzz/schedule.rs"]
mod entry;

use foretrace::report::SavedSchedule;
use proptest::prelude::*;
use std::path::Path;

fn seeds() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus/schedule");
    let mut files: Vec<_> = std::fs::read_dir(folder).expect("a corpus").flatten().map(|entry| entry.path()).collect();
    files.sort();
    files.into_iter().map(|file| std::fs::read(file).expect("a seed")).collect()
}

#[test]
fn every_seed_is_taken_or_refused() {
    let seeds = seeds();
    seeds.iter().for_each(|seed| entry::schedule(seed));
    let read: Vec<_> = seeds.iter().filter_map(|seed| SavedSchedule::read(seed.as_slice()).ok()).collect();
    let witnesses = read.iter().filter(|saved| matches!(saved, SavedSchedule::Witness(_))).count();
    assert_eq!((seeds.len(), read.len(), witnesses), (7, 6, 2));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_seeds_are_taken_or_refused(
        seed in any::<prop::sample::Index>(),
        place in any::<prop::sample::Index>(),
        gone in 0..4usize,
        new in prop::sample::select(vec!["", "0", "9", "-", ",", "[", "]", "{", "}", "\"", "e", "null", "\u{e9}"]),
    ) {
        let seeds = seeds();
        let mut bytes = seeds[seed.index(seeds.len())].clone();
        let start = place.index(bytes.len() + 1);
        let end = (start + gone).min(bytes.len());
        bytes.splice(start..end, new.bytes());
        entry::schedule(&bytes);
    }
}
