//! Instrumented programs do what plain ones do, and their records are what their side-cars say.

use crate::build::{Mode, both};
use crate::walk::{Walk, threads};

/// Runs a program plainly and instrumented in every mode, and walks the records.
fn behaves(program: &str) {
    for mode in [Mode::Faithful, Mode::AsShipped("-O2")] {
        let Some(runs) = both(program, mode) else { return };
        assert_eq!(runs.plain, runs.instrumented, "{program} {mode:?}");
        assert_eq!(runs.plain, runs.off, "{program} {mode:?}, recording off");
        assert_eq!(runs.plain, runs.switching, "{program} {mode:?}, recording on and off");
        assert!(!runs.plain.stdout.is_empty());
        let (mut checked, mut unknown) = (0, 0);
        for records in threads(&runs.log) {
            let mut walk = Walk::new(&runs.unit, &runs.symbols, &records);
            walk.run();
            checked += walk.checked;
            unknown += walk.unknown;
        }
        println!("{program} {mode:?}: {checked} words checked, {unknown} unknown");
        assert!(checked >= 10 && checked > unknown, "{program} {mode:?}: {checked} words checked, {unknown} unknown");
    }
}

#[test]
fn memory() {
    behaves("memory.c");
}

#[test]
fn control() {
    behaves("control.c");
}

#[test]
fn atomics() {
    behaves("atomics.c");
}

#[test]
fn numbers() {
    behaves("numbers.c");
}

#[test]
fn classes() {
    behaves("classes.cpp");
}

#[test]
fn twins() {
    behaves("twins.c");
    behaves("twins.cpp");
}

#[test]
fn left_as_it_is() {
    behaves("left.c");
}
