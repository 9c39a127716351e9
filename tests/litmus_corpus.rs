//! The seed corpus of the fuzz target, and the examples: nothing panics, every trace is accepted.

use foretrace::litmus::{Options, parse, run};
use foretrace_trace::validate;
use std::path::Path;

/// Does with every file of a folder what the fuzz target does; gives how many were programs, and how many were not.
fn check_all(folder: &str) -> (usize, usize) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let (mut programs, mut others) = (0, 0);
    for entry in std::fs::read_dir(folder).expect("the folder is in the repository") {
        let path = entry.expect("a readable folder").path();
        let bytes = std::fs::read(&path).expect("a readable file");
        let Ok(source) = std::str::from_utf8(&bytes) else { continue };
        let Ok(program) = parse(source).inspect_err(|errors| assert!(!errors.render("it", source, false).is_empty()))
        else {
            others += 1;
            continue;
        };
        programs += 1;
        for seed in 0..20 {
            let trace = run(&program, &Options { max_steps: 500, ..Options::seed(seed) }).trace;
            validate(&trace).unwrap_or_else(|invalid| panic!("{} with seed {seed}: {invalid}", path.display()));
        }
    }
    (programs, others)
}

#[test]
fn corpus() {
    let (programs, others) = check_all("fuzz/corpus/litmus");
    assert!(programs >= 5 && others >= 5, "{programs} programs, {others} others");
}

#[test]
fn examples() {
    let (programs, others) = check_all("examples/litmus");
    assert!(programs >= 13 && others == 0, "{programs} programs, {others} others");
}
