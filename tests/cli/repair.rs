//! `foretrace repair` as people and programs see it.

use crate::support::{Folder, LOCKED, LOST_UPDATE, Run, foretrace_in, repository};
use serde_json::Value;

/// The lost update as it happened: thread 2 read and wrote between the two accesses of thread 1.
fn failing() -> String {
    let lines: Vec<&str> = LOST_UPDATE.lines().collect();
    let order = [0, 1, 2, 5, 6, 7, 8, 3, 4];
    let text: Vec<String> = order.iter().map(|line| lines[*line].to_string()).collect();
    text.join("\n")
        .replace(r#""dst": "b", "value": 1"#, r#""dst": "b", "value": 0"#)
        .replace(r#""(+ b 1)", "value": 2"#, r#""(+ b 1)", "value": 1"#)
        + "\n"
}

fn folder() -> Folder {
    let folder = Folder::with("failing.jsonl", &failing());
    folder.add("passing.jsonl", LOST_UPDATE);
    folder
}

fn json(run: &Run) -> Value {
    let value: Value = serde_json::from_str(&run.stdout).expect("the report is JSON");
    let schema =
        std::fs::read_to_string(repository().join("schemas/repair.schema.json")).expect("the schema is shipped");
    let validator = jsonschema::draft202012::new(&serde_json::from_str(&schema).expect("JSON")).expect("a schema");
    let errors: Vec<String> = validator.iter_errors(&value).map(|e| format!("{}: {e}", e.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:#?}");
    value
}

#[test]
fn the_lines_of_a_lost_update_are_named() {
    let run = folder().foretrace("repair failing.jsonl --passing passing.jsonl");
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    insta::assert_snapshot!(run.stdout);
}

#[test]
fn the_json_report_fits_its_schema() {
    let run = folder().foretrace("repair failing.jsonl failing.jsonl --passing passing.jsonl --format json");
    let report = json(&run);
    let section = &report["repairs"][0]["sections"][0];
    assert_eq!(
        (run.code, section["lines"][0]["first"].as_u64(), section["lines"][0]["last"].as_u64()),
        (Some(1), Some(3), Some(4))
    );
    assert_eq!(report["repairs"].as_array().map(Vec::len), Some(1));
}

#[test]
fn a_run_in_turn_needs_no_repair() {
    for trace in [LOST_UPDATE, LOCKED] {
        let run = Folder::with("trace.jsonl", trace).foretrace("repair trace.jsonl");
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        assert!(run.stdout.contains("needs no repair"), "{}", run.stdout);
        let report = json(&Folder::with("trace.jsonl", trace).foretrace("repair trace.jsonl --format json"));
        assert_eq!(report["serializable"][0], "trace.jsonl");
    }
}

#[test]
fn repairs_need_a_trace_that_can_be_read() {
    let folder = folder();
    for arguments in ["repair", "repair none.jsonl", "repair failing.jsonl --passing none.jsonl"] {
        let run = folder.foretrace(arguments);
        assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{arguments}: {}", run.stderr);
    }
}

fn program_repair(run: &Run) -> Value {
    let value: Value = serde_json::from_str(&run.stdout).expect("the report is JSON");
    let path = repository().join("schemas/program-repair.schema.json");
    let schema = std::fs::read_to_string(path).expect("the schema is shipped");
    let validator = jsonschema::draft202012::new(&serde_json::from_str(&schema).expect("JSON")).expect("a schema");
    let errors: Vec<String> = validator.iter_errors(&value).map(|e| format!("{}: {e}", e.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:#?}");
    value
}

/// The last sections of a report, as `function first-last`.
fn sections(report: &Value) -> Vec<String> {
    let all = report["sections"].as_array().expect("a list");
    let shown = |one: &Value| {
        let lines = &one["lines"][0];
        format!("{} {}-{}", one["function"].as_str().unwrap_or_default(), lines["first"], lines["last"])
    };
    all.iter().map(shown).collect()
}

/// A counter is repaired by what reads and writes it; one that a lock protects needs nothing.
#[test]
fn a_litmus_program_is_repaired_until_nothing_fails() {
    let wrong = "shared x: int = 0;\nshared done: int = 0;\nfn add() {\n    let a = x;\n    x = a + 1;\n    let d = fetch_add(done, 1);\n    if (d == 1) {\n        assert(x == 2);\n    }\n}\nthread A {\n    atomic \"add\" { add(); }\n}\nthread B {\n    atomic \"add\" { add(); }\n}\n";
    let folder = Folder::with("wrong.lit", wrong);
    let run = folder.foretrace("repair wrong.lit --format json");
    assert_eq!(run.code, Some(1), "{}{}", run.stderr, run.stdout);
    let report = program_repair(&run);
    assert_eq!(report["end"], "repaired");
    assert_eq!(sections(&report), ["add 4-5"]);
    assert!(
        report["text"].as_str().is_some_and(|text| text.contains("\n>  4      let a = x;\n>  5      x = a + 1;\n"))
    );
    let rounds = report["rounds"].as_array().expect("a list");
    assert!(rounds[0]["failed"].as_u64() > Some(0) && rounds[rounds.len() - 1]["failed"] == 0);

    let right =
        wrong.replace("    let a = x;", "    lock(m);\n    let a = x;").replace("a + 1;", "a + 1;\n    unlock(m);");
    folder.add("right.lit", &format!("mutex m;\n{right}"));
    let run = folder.foretrace("repair right.lit");
    assert_eq!(run.code, Some(0), "{}", run.stdout);
    assert!(run.stdout.contains("no repair is needed"), "{}", run.stdout);
}

/// A failure without any interleaving has no repair.
#[test]
fn what_fails_by_itself_has_no_section() {
    let folder =
        Folder::with("alone.lit", "shared x: int = 0;\nthread A { x = 1; assert(x == 2); }\nthread B { let b = x; }\n");
    let run = folder.foretrace("repair alone.lit --format json");
    assert_eq!(run.code, Some(3), "{}", run.stdout);
    assert_eq!(program_repair(&run)["end"], "no-section");
    let run = folder.foretrace("repair alone.lit --passing alone.lit");
    assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""));
    folder.add("failing.jsonl", &failing());
    assert_eq!(folder.foretrace("repair failing.jsonl --spec set").code, Some(2));
    assert_eq!(folder.foretrace("repair alone.lit failing.jsonl").code, Some(2));
}

/// A register in two copies: a reader of the first sees a write that a later reader of the second does not. Its conflicts alone are those of
/// operations that run one after the other, the later reader first: only that order makes it fail.
#[test]
fn the_order_of_operations_makes_a_cycle() {
    let wrong = "shared x: int = 0;\nshared y: int = 0;\n\
        operation fn write(v: int) {\n    x = v;\n    y = v;\n}\n\
        operation fn read() -> int {\n    return x;\n}\n\
        operation fn load() -> int {\n    return y;\n}\n\
        thread A { write(1); }\nthread B { let b = read(); }\nthread C { let c = load(); }\n";
    let folder = Folder::with("copies.lit", wrong);
    let run = folder.foretrace("repair copies.lit --spec register --format json");
    assert_eq!(run.code, Some(1), "{}{}", run.stdout, run.stderr);
    let report = program_repair(&run);
    assert_eq!((&report["end"], sections(&report)), (&"repaired".into(), vec!["write 4-5".to_string()]));
    // A failing run by itself: the cycle goes from the return of one reader to the call of the other.
    let explored = folder.foretrace("explore copies.lit --spec register --save runs");
    assert_eq!(explored.code, Some(1), "{}", explored.stdout);
    let repair = folder.foretrace("repair runs/failing-1.jsonl --format json");
    assert_eq!(repair.code, Some(1), "{}", repair.stdout);
    assert!(repair.stdout.contains("\"real-time\""), "{}", repair.stdout);
    let right =
        wrong.replace("    x = v;", "    lock(m);\n    x = v;").replace("    y = v;", "    y = v;\n    unlock(m);");
    let right = right.replace("return x;", "lock(m);\n    let r = x;\n    unlock(m);\n    return r;");
    let right = right.replace("return y;", "lock(m);\n    let r = y;\n    unlock(m);\n    return r;");
    folder.add("right.lit", &format!("mutex m;\n{right}"));
    let run = folder.foretrace("repair right.lit --spec register");
    assert_eq!(run.code, Some(0), "{}", run.stdout);
}

/// The lines that a comment of an example says must be atomic, by method.
fn shrunk(source: &str) -> Vec<(String, u64, u64)> {
    let comment =
        source.lines().find_map(|line| line.strip_prefix("// What must be atomic: lines ")).expect("a comment");
    let part = |part: &str| {
        let (lines, method) = part.split_once(" of ").expect("a method");
        let (first, last) = lines.split_once('-').expect("lines");
        (method.to_string(), first.parse().expect("a line"), last.parse().expect("a line"))
    };
    comment.trim_end_matches('.').split(" and ").map(part).collect()
}

/// Sets and maps in which an atomic section was shrunk: the repair of all failing interleavings lies in what was shrunk, in each
/// method, and spans the place where the lock is taken now. Nothing fails with it, and nothing fails of the originals.
#[test]
fn the_section_that_was_shrunk_is_the_repair() {
    let mut exact = 0;
    for (name, spec) in [("coarse-list", "set"), ("optimistic-list", "set"), ("tree-map", "map")] {
        let run = |file: &str| {
            let command = format!("repair examples/objects/{file}.lit --spec {spec} --max-steps 1000 --format json");
            foretrace_in(repository(), &command)
        };
        let original = run(name);
        assert_eq!(original.code, Some(0), "{name}: {}", original.stdout);
        for variant in ["add", "remove", "both"] {
            let file = format!("{name}-{variant}");
            let source =
                std::fs::read_to_string(repository().join(format!("examples/objects/{file}.lit"))).expect("the file");
            let text: Vec<&str> = source.lines().collect();
            let repaired = run(&file);
            assert_eq!(repaired.code, Some(1), "{file}: {}{}", repaired.stderr, repaired.stdout);
            let report = program_repair(&repaired);
            assert_eq!(report["end"], "repaired", "{file}");
            let wanted = shrunk(&source);
            let found = report["sections"].as_array().expect("a list");
            assert_eq!(found.len(), wanted.len(), "{file}: {found:?}");
            let mut all_exact = true;
            for (method, from, to) in wanted {
                let section = found.iter().find(|section| section["function"] == method.as_str()).expect("the method");
                let line = |end: &str| section["lines"][0][end].as_u64().expect("a line");
                let (first, last) = (line("first"), line("last"));
                let takes = |line: &u64| {
                    text[*line as usize - 1].contains("lock_node(") || text[*line as usize - 1].contains("write_lock(")
                };
                let lock = (from..=to).find(takes).expect("the lock is taken inside");
                assert!(
                    from <= first && first < lock && lock < last && last <= to,
                    "{file}: {first}-{last} of {from}-{to}"
                );
                all_exact &= (first, last) == (from, to);
            }
            exact += u32::from(all_exact);
        }
    }
    assert!(exact >= 6, "{exact} of 9");
}
