//! Programs with OpenMP whose tasks or loops no recording shows as they are.

use super::{Workshop, source, test};

fn built(name: &str, macros: &str) -> Workshop {
    let workshop = Workshop::empty();
    std::fs::copy(source(name), workshop.path(name)).expect("copied");
    workshop.make(&format!("foretrace cc -w -g -O1 -fopenmp {macros} {name} -o program"));
    workshop
}

/// The runtime ends the program. That is no failure of it.
#[test]
fn what_cannot_be_recorded_is_no_failure() {
    let run = test(&built("doacross.c", ""), "");
    assert_eq!(run.status, Some(2), "{}{}", run.out, run.err);
    assert!(run.err.contains("the program does what cannot be recorded"), "{}{}", run.out, run.err);
}
