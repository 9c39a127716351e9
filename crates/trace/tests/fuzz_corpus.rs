//! The fuzz targets' corpus, and damaged copies of it, through the targets' own entry points.

#[path = "../../../fuzz/entry.rs"]
mod entry;

use proptest::prelude::*;
use std::path::Path;

type Target = (&'static str, fn(&[u8]));

const TARGETS: [Target; 4] =
    [("jsonl", entry::jsonl), ("binary", entry::binary), ("std", entry::std), ("term", entry::term)];

fn seeds(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let mut files: Vec<_> = std::fs::read_dir(folder).expect("a corpus").flatten().map(|entry| entry.path()).collect();
    files.sort();
    files.into_iter().map(|file| std::fs::read(file).expect("a seed")).collect()
}

#[test]
fn every_seed_is_taken_or_refused() {
    for (name, run) in TARGETS {
        let seeds = seeds(name);
        assert!(seeds.len() >= 4, "{name} has seeds");
        seeds.iter().for_each(|seed| run(seed));
    }
}

/// One edit: where (as a share of the length), how many bytes go, what comes instead.
type Edit = (u16, u8, Vec<u8>);

fn damaged(seed: &[u8], other: &[u8], edits: &[Edit]) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for (place, gone, new) in edits {
        let start = bytes.len() * usize::from(*place) / (usize::from(u16::MAX) + 1);
        let end = (start + usize::from(*gone % 8)).min(bytes.len());
        // Now and then a stretch of another seed comes in.
        let stretch = if new.len() > 3 && other.len() > 64 { &other[..usize::from(*gone) % other.len()] } else { new };
        bytes.splice(start..end, stretch.iter().copied());
    }
    bytes
}

fn edits() -> impl Strategy<Value = Vec<Edit>> {
    let byte = prop_oneof![
        3 => any::<u8>(),
        2 => prop::sample::select(br#"0123456789{}[]":,()_ -|.bw"#.to_vec()),
    ];
    prop::collection::vec((any::<u16>(), any::<u8>(), prop::collection::vec(byte, 0..5)), 1..4)
}

fn cases() -> u32 {
    std::env::var("FUZZ_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(300)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_seeds_are_taken_or_refused(
        target in 0..TARGETS.len(),
        seed in any::<prop::sample::Index>(),
        other in any::<prop::sample::Index>(),
        edits in edits(),
    ) {
        let (name, run) = TARGETS[target];
        let seeds = seeds(name);
        run(&damaged(&seeds[seed.index(seeds.len())], &seeds[other.index(seeds.len())], &edits));
    }
}
