//! Litmus programs: the parser never panics, and whatever it accepts runs to a trace that obeys the format.

#![no_main]

use foretrace::litmus::{Options, parse, run};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|source: &str| {
    match parse(source) {
        Ok(program) => {
            let seed = source.len() as u64;
            let trace = run(&program, &Options { max_steps: 200, ..Options::seed(seed) }).trace;
            if let Err(invalid) = foretrace_trace::validate(&trace) {
                panic!("{invalid}");
            }
        }
        Err(errors) => {
            errors.render("fuzz.lit", source, false);
        }
    }
});
