//! Real traces survive every change of format.

use foretrace_trace::{
    Data, Format, Layout, Trace, TraceBuilder, lower, observe, read, read_from, validate, write, write_to,
};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The traces of the repository, and the whole collection where it is at hand.
fn corpus() -> Vec<PathBuf> {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus/traces");
    let collection = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/traces");
    let mut files = Vec::new();
    for folder in [repository, collection] {
        let Ok(entries) = std::fs::read_dir(folder) else { continue };
        files.extend(entries.flatten().map(|entry| entry.path()).filter(|path| Format::of_path(path).is_some()));
    }
    files.sort();
    assert!(files.len() >= 8, "the repository has its own traces");
    files
}

fn bytes(trace: &Trace, layout: Layout) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_to(&mut bytes, trace, Format { layout, compressed: false }).expect("memory takes everything");
    bytes
}

fn reread(bytes: &[u8]) -> Trace {
    read_from(bytes, "written").unwrap_or_else(|error| panic!("{error}"))
}

/// The JSON of the file, line by line, without what its writer was free to choose.
fn normalised(line: &str) -> serde_json::Value {
    serde_json::from_str(line).expect("a line of JSON")
}

#[test]
fn every_format_says_which_updates_are_external() {
    let mut builder = TraceBuilder::new(Data::Symbolic);
    builder.int_var("count", 1);
    builder.rmw(1, "count", "a", "(+ a 1)").external();
    builder.rmw(1, "count", "b", "(- b 1)");
    let trace = builder.build().expect("a trace");
    for layout in [Layout::Jsonl, Layout::Binary] {
        let external: Vec<bool> =
            reread(&bytes(&trace, layout)).events.iter().map(|event| event.op.is_external()).collect();
        assert_eq!(external, [true, false]);
    }
}

#[test]
fn every_format_holds_the_whole_trace() {
    for path in corpus() {
        let trace = read(&path).unwrap_or_else(|error| panic!("{error}"));
        let json = bytes(&trace, Layout::Jsonl);
        let binary = bytes(&trace, Layout::Binary);
        let back = reread(&binary);
        assert_eq!(json, bytes(&back, Layout::Jsonl), "{}: JSON Lines after the binary form", path.display());
        assert_eq!(binary, bytes(&reread(&json), Layout::Binary), "{}: binary after JSON Lines", path.display());
        assert!(binary.len() * 3 < json.len(), "{}: {} of {} bytes", path.display(), binary.len(), json.len());
    }
}

#[test]
fn json_is_written_as_it_was_read() {
    for path in corpus().into_iter().filter(|path| path.extension().is_some_and(|ending| ending == "jsonl")) {
        let original = std::fs::read_to_string(&path).expect("a text file");
        let written = String::from_utf8(bytes(&read(&path).expect("a valid trace"), Layout::Jsonl)).expect("UTF-8");
        assert_eq!(original.lines().count(), written.lines().count());
        for (before, after) in original.lines().zip(written.lines()) {
            assert_eq!(normalised(before), normalised(after), "{}", path.display());
        }
    }
}

#[test]
fn traces_with_less_data_are_valid_traces() {
    for path in corpus() {
        let trace = read(&path).unwrap_or_else(|error| panic!("{error}"));
        let observed = observe(&trace).expect("a read trace was observed");
        let concrete = lower(&trace, Data::Concrete).expect("symbolic traces have values");
        validate(&concrete).unwrap_or_else(|invalid| panic!("{}: {invalid}", path.display()));
        let none = lower(&concrete, Data::None).expect("concrete traces have names");
        validate(&none).unwrap_or_else(|invalid| panic!("{}: {invalid}", path.display()));
        assert_eq!(bytes(&none, Layout::Jsonl), bytes(&lower(&trace, Data::None).expect("as well"), Layout::Jsonl));

        let accesses = trace.iter().filter(|(_, event)| event.op.var().is_some()).map(|(id, _)| id);
        let lowered = concrete.iter().filter(|(_, event)| event.op.var().is_some()).map(|(id, _)| id);
        let seen = observe(&concrete).expect("valid");
        for (before, after) in accesses.zip(lowered) {
            assert_eq!(observed.read(before), seen.read(after), "{}: event {before}", path.display());
            assert_eq!(observed.written(before), seen.written(after), "{}: event {before}", path.display());
        }
        for lowered in [concrete, none] {
            let json = bytes(&lowered, Layout::Jsonl);
            assert_eq!(json, bytes(&reread(&bytes(&lowered, Layout::Binary)), Layout::Jsonl));
            assert_eq!(json, bytes(&reread(&json), Layout::Jsonl));
        }
    }
}

#[test]
fn std_keeps_accesses_locks_and_threads() {
    for path in corpus() {
        let trace = read(&path).unwrap_or_else(|error| panic!("{error}"));
        let text = bytes(&trace, Layout::Std);
        let imported = reread(&text);
        assert_eq!(imported.data, Data::None);
        let accesses = |trace: &Trace| -> Vec<(u64, String)> {
            let mut accesses = Vec::new();
            for event in &trace.events {
                let Some(var) = event.op.var() else { continue };
                let thread = trace.threads[event.thread.index()].number;
                let copies = usize::from(event.op.reads()) + usize::from(event.op.writes());
                accesses.extend(std::iter::repeat_n((thread, trace.vars[var.index()].key.to_string()), copies));
            }
            accesses
        };
        let numbers = |accesses: Vec<(u64, String)>| {
            let mut seen: Vec<u64> = Vec::new();
            let mut number = |thread: u64| match seen.iter().position(|known| *known == thread) {
                Some(position) => position,
                None => {
                    seen.push(thread);
                    seen.len() - 1
                }
            };
            accesses.into_iter().map(|(thread, var)| (number(thread), var)).collect::<Vec<_>>()
        };
        assert_eq!(numbers(accesses(&trace)), numbers(accesses(&imported)), "{}", path.display());
    }
}

/// RAPID reads integers there; what they stand for comes back by the table beside the file.
#[test]
fn std_has_numbers_for_places() {
    let folder = tempfile::tempdir().expect("a folder for files");
    let path = folder.path().join("a.std");
    let mut checked = 0;
    for original in corpus() {
        let trace = read(&original).unwrap_or_else(|error| panic!("{error}"));
        write(&path, &trace, Format::of_path(&path).expect("a known ending")).expect("written");
        let text = std::fs::read_to_string(&path).expect("read");
        let last = |line: &str| line.rsplit('|').next().is_some_and(|loc| loc.parse::<u32>().is_ok());
        assert!(text.lines().all(last), "{}", original.display());
        let places = |trace: &Trace| -> BTreeSet<String> {
            let accesses = trace.iter().filter(|(_, event)| event.op.var().is_some());
            accesses.filter_map(|(id, _)| trace.loc(id).map(String::from)).collect()
        };
        let back = read(&path).unwrap_or_else(|error| panic!("{error}"));
        let wanted = places(&trace);
        checked += wanted.len();
        assert!(wanted.is_subset(&places(&back)), "{}", original.display());
    }
    assert!(checked > 0, "no trace of the corpus has places");
    std::fs::write(folder.path().join("a.std.locations"), "1\ta.c:1\nx\n").expect("written");
    let message = read(&path).expect_err("no table").to_string();
    assert!(message.contains("a.std.locations:2:") && message.contains("a number, a tab and a place"), "{message}");
}

#[test]
fn files_are_written_whole_in_every_format() {
    let folder = tempfile::tempdir().expect("a folder for files");
    let trace = read(&corpus()[0]).expect("a valid trace");
    for name in ["a.jsonl", "a.jsonl.zst", "a.ftb", "a.ftb.zst"] {
        let path = folder.path().join(name);
        let format = Format::of_path(&path).expect("a known ending");
        write(&path, &trace, format).expect("the folder takes files");
        assert_eq!(bytes(&read(&path).expect("just written"), Layout::Jsonl), bytes(&trace, Layout::Jsonl), "{name}");
        write(&path, &trace, format).expect("an old file is replaced");
    }
    let mut left: Vec<_> =
        std::fs::read_dir(folder.path()).expect("a folder").flatten().map(|e| e.file_name()).collect();
    left.sort();
    assert_eq!(left, ["a.ftb", "a.ftb.zst", "a.jsonl", "a.jsonl.zst"], "nothing but the files themselves");
}

#[test]
fn a_failed_write_leaves_nothing() {
    let folder = tempfile::tempdir().expect("a folder for files");
    let target = folder.path().join("taken");
    std::fs::create_dir_all(target.join("inside")).expect("a folder in the way");
    let trace = read(&corpus()[0]).expect("a valid trace");
    write(&target, &trace, Format::JSONL).expect_err("a folder is no file");
    write(&folder.path().join("missing/a.jsonl"), &trace, Format::JSONL).expect_err("no such folder");
    let left: Vec<_> = std::fs::read_dir(folder.path()).expect("a folder").flatten().map(|e| e.file_name()).collect();
    assert_eq!(left, ["taken"]);
}

#[cfg(unix)]
#[test]
fn what_a_link_leads_to_is_replaced() {
    let folder = tempfile::tempdir().expect("a folder for files");
    let (file, link) = (folder.path().join("file"), folder.path().join("link"));
    std::fs::write(&file, "old").expect("a file");
    std::os::unix::fs::symlink(&file, &link).expect("a link");
    let trace = read(&corpus()[0]).expect("a valid trace");
    write(&link, &trace, Format::JSONL).expect("a writable file");
    assert!(std::fs::symlink_metadata(&link).expect("still there").is_symlink());
    assert_eq!(std::fs::read(&file).expect("a file"), bytes(&trace, Layout::Jsonl));
}
