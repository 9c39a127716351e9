//! What each fuzz target does with its bytes; a test of the trace crate does the same with the corpus.
//!
//! No input may panic, and what is read must survive being written and read again.
#![allow(dead_code)] // each target uses one of these

use foretrace_trace::{Format, Layout, Sort, Terms, Trace, binary as binary_form, jsonl as json_lines, smtlib};
use foretrace_trace::{Leaf, std_format, write_to};

/// JSON Lines.
pub fn jsonl(bytes: &[u8]) {
    if let Ok((trace, _)) = json_lines::read(bytes) {
        survives(&trace);
    }
}

/// The binary form, but for its checksum, which is made to fit.
pub fn binary(bytes: &[u8]) {
    if let Ok((trace, _)) = binary_form::read(binary_form::with_checksum(bytes).as_slice()) {
        survives(&trace);
    }
}

/// STD.
pub fn std(bytes: &[u8]) {
    if let Ok((trace, _)) = std_format::read(bytes) {
        survives(&trace);
    }
}

/// A term over names whose sorts their first letters say.
pub fn term(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    let mut terms = Terms::default();
    let Ok(term) = smtlib::parse(text, &mut terms, &mut Name::resolve) else { return };
    let names: Vec<Name> = terms.leaves(term).into_iter().cloned().collect();
    let mut printed = String::new();
    smtlib::print(&mut printed, &terms, term, &|name: &Name| {
        names.iter().find(|known| *known == name).map_or("", |known| known.0.as_str())
    });
    assert_eq!(smtlib::parse(&printed, &mut terms, &mut Name::resolve), Ok(term), "{printed}");
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Name(String, Sort);

impl Leaf for Name {
    fn sort(&self) -> Sort {
        self.1
    }
}

impl Name {
    fn resolve(name: &str) -> Option<Name> {
        let sort = match name.bytes().next() {
            Some(b'b') => Sort::Bool,
            Some(b'w') => Sort::BitVec(8),
            _ => Sort::Int,
        };
        Some(Name(name.to_string(), sort))
    }
}

fn survives(trace: &Trace) {
    let json = written(trace, Layout::Jsonl);
    let (from_json, _) = json_lines::read(json.as_slice()).unwrap_or_else(|error| panic!("{error}"));
    let binary = written(&from_json, Layout::Binary);
    let (from_binary, _) = binary_form::read(binary.as_slice()).unwrap_or_else(|error| panic!("{error}"));
    let again = written(&from_binary, Layout::Jsonl);
    assert!(again == json, "{}\nbecame\n{}", String::from_utf8_lossy(&json), String::from_utf8_lossy(&again));
    std_format::read(written(trace, Layout::Std).as_slice()).ok();
}

fn written(trace: &Trace, layout: Layout) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_to(&mut bytes, trace, Format { layout, compressed: false }).unwrap_or_else(|error| panic!("{error}"));
    bytes
}
