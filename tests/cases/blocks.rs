//! Programs in the shape of known bugs that no triple shows: two fields that must change together. Each is found in a passing run,
//! and its witness makes the program fail; its twin, made with `-DRIGHT`, has nothing to find.

use super::support::{Workshop, ran};
use serde_json::Value;
use std::path::Path;

macro_rules! blocks {
    ($($name:ident: $file:literal;)*) => {
        $(#[test]
        fn $name() {
            found_and_shown($file);
            nothing_in_the_twin($file);
        })*
    };
}

blocks! {
    block_two_stage: "two-stage.c";
    block_flags: "flags.c";
    block_list: "list.c";
    block_cache: "cache.c";
    block_property: "property.c";
    block_key: "key.c";
    block_frame: "frame.c";
    block_log: "log.cpp";
    block_audit: "audit.cpp";
    block_config: "config.c";
    block_ring: "ring.c";
}

/// Builds the program and records it until a run passes; the workshop, with the recording `run`.
fn recorded(file: &str, flags: &str) -> Workshop {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/blocks").join(file);
    let workshop = Workshop::empty();
    let driver = if file.ends_with(".cpp") { "c++" } else { "cc" };
    workshop.make(&format!("foretrace {driver} -w -O1 -g -pthread {flags} {} -o program", source.display()));
    let passes = (0..20).any(|seed| {
        let script = format!("rm -rf run; foretrace record -o run --seed {seed} -- ./program");
        ran(&mut workshop.shell(&script)).status == Some(0)
    });
    assert!(passes, "{file}: no run passes");
    workshop
}

fn report(workshop: &Workshop, arguments: &str) -> Value {
    let run = ran(&mut workshop.shell(&format!("foretrace {arguments} --atomic marked --format json")));
    serde_json::from_str(&run.out).unwrap_or_else(|error| panic!("{error}: {} {}", run.out, run.err))
}

fn found_and_shown(file: &str) {
    let workshop = recorded(file, "");
    let triples = report(&workshop, "predict run --candidates all --property triples");
    let feasible = |candidate: &&Value| candidate["verdict"] == "feasible";
    let candidates = triples["candidates"].as_array().expect("a list");
    assert_eq!(candidates.iter().find(feasible), None, "{file}: a triple shows it");

    let blocks = report(&workshop, "serializability run --witness-dir witnesses");
    let blocks = blocks["blocks"].as_array().expect("a list");
    let violated =
        blocks.iter().find(|block| block["verdict"] == "violated").unwrap_or_else(|| panic!("{file}: {blocks:?}"));
    assert_eq!(violated["violation"]["shape"], "several-variables", "{file}");
    assert_eq!(violated["observed"], false, "{file}: the passing run does not show it");

    let checked = ran(&mut workshop.shell("foretrace check run witnesses/block-*.json --quiet"));
    assert_eq!(checked.status, Some(0), "{file}: {}{}", checked.out, checked.err);
    let replayed =
        ran(&mut workshop.shell("foretrace replay witnesses/block-*.json --exactly --time-limit 20 -- ./program"));
    assert_eq!(replayed.status, Some(0), "{file}: {}{}", replayed.out, replayed.err);
    assert!(replayed.out.contains("failed: exit status 1"), "{file}: {}", replayed.out);

    let tested = ran(&mut workshop.shell("foretrace test --time 60 -- ./program"));
    assert_eq!(tested.status, Some(1), "{file}: {}{}", tested.out, tested.err);
}

fn nothing_in_the_twin(file: &str) {
    let workshop = recorded(file, "-DRIGHT");
    let run = ran(&mut workshop.shell("foretrace serializability run --atomic marked"));
    assert_eq!(run.status, Some(0), "{file}: {}{}", run.out, run.err);
    let tested = ran(&mut workshop.shell("foretrace test --time 20 -- ./program"));
    assert_eq!(tested.status, Some(0), "{file}: {}{}", tested.out, tested.err);
}
