//! `foretrace cc` alone, without the rest of foretrace: `cc [--cxx] ARGUMENT...`.

use foretrace_instrument::driver::{Language, run};

fn main() -> std::process::ExitCode {
    let mut words: Vec<_> = std::env::args_os().skip(1).collect();
    let language = if words.first().is_some_and(|word| word == "--cxx") { Language::Cxx } else { Language::C };
    if language == Language::Cxx {
        words.remove(0);
    }
    match run(language, words) {
        Ok(code) => code.into(),
        Err(error) => {
            eprintln!("error: {error}");
            2.into()
        }
    }
}
