//! `docs/tutorial.md`: its commands as they stand there, its table, and each of its programs with each verdict. The verdicts are those of the
//! paper (sections 1 and 5), and for the other models what the definitions in `docs/trace-format.md` say.

use crate::support::{Folder, repository};

const FEASIBLE: &str = "feasible";
const INFEASIBLE: &str = "infeasible";
const MODELS: [&str; 4] = ["cam", "ctp", "mcm", "avp"];

/// Runs a program, and asks of its one candidate in each model; `None` where the question cannot be asked.
fn check(program: &str, run: &str, options: &str, expected: [Option<&str>; 4]) {
    let source = std::fs::read_to_string(repository().join("examples/litmus").join(program));
    let folder = Folder::with("program.lit", &source.expect("the program is shipped"));
    let recorded = folder.foretrace(&format!("run program.lit {run} -o trace.jsonl"));
    assert_eq!(recorded.code, Some(0), "{program}: {}", recorded.stderr);
    for (model, expected) in MODELS.into_iter().zip(expected) {
        let answer = folder.foretrace(&format!("predict trace.jsonl --format json --model {model} {options}"));
        let Some(expected) = expected else {
            assert_eq!(answer.code, Some(2), "{program} {model} {options}");
            continue;
        };
        let report: serde_json::Value = serde_json::from_str(&answer.stdout).expect("the report is JSON");
        let candidates = report["candidates"].as_array().expect("candidates are listed");
        let verdicts: Vec<&str> = candidates.iter().filter_map(|candidate| candidate["verdict"].as_str()).collect();
        assert_eq!(verdicts, [expected], "{program} {model} {options}");
        assert_eq!(answer.code, Some(i32::from(expected == FEASIBLE)), "{program} {model} {options}");
    }
}

#[test]
fn figure_1_a() {
    let verdicts = [FEASIBLE, INFEASIBLE, INFEASIBLE, INFEASIBLE].map(Some);
    check("fig1a.lit", "--schedule serial", "", verdicts);
    check("fig1a.lit", "--schedule serial", "--feasibility complete", verdicts);
}

#[test]
fn figure_1_a_modified() {
    let verdicts = [FEASIBLE, FEASIBLE, INFEASIBLE, INFEASIBLE].map(Some);
    check("fig1a-modified.lit", "--schedule serial", "", verdicts);
    check("fig1a-modified.lit", "--schedule serial", "--feasibility complete", verdicts);
}

#[test]
fn figure_1_b() {
    check("fig1b.lit", "--seed 1", "", [Some(INFEASIBLE); 4]);
    check("fig1b.lit", "--seed 1", "--feasibility complete", [Some(INFEASIBLE); 4]);
}

#[test]
fn figure_1_b_modified_and_figure_2() {
    check("fig1b-modified.lit", "--schedule serial", "", [Some(FEASIBLE); 4]);
    let complete = [FEASIBLE, FEASIBLE, INFEASIBLE, INFEASIBLE].map(Some);
    check("fig1b-modified.lit", "--schedule serial", "--feasibility complete", complete);
}

#[test]
fn figure_6() {
    check("fig6.lit", "--schedule serial", "", [Some(FEASIBLE); 4]);
    let complete = [FEASIBLE, INFEASIBLE, INFEASIBLE, INFEASIBLE].map(Some);
    check("fig6.lit", "--schedule serial", "--feasibility complete", complete);
}

#[test]
fn guarded_independence() {
    let conflict = [FEASIBLE, FEASIBLE, INFEASIBLE, INFEASIBLE].map(Some);
    check("guarded.lit", "--schedule serial", "", conflict);
    let guarded = [None, Some(INFEASIBLE), Some(INFEASIBLE), None];
    check("guarded.lit", "--schedule serial", "--independence guarded", guarded);
}

fn page() -> String {
    std::fs::read_to_string(repository().join("docs/tutorial.md")).expect("the page")
}

/// The code of each fence of this language.
fn fences<'p>(page: &'p str, language: &str) -> Vec<&'p str> {
    let open = format!("```{language}\n");
    page.split(&open).skip(1).map(|rest| rest.split("```").next().expect("it ends")).collect()
}

/// A folder with what the commands of the page name.
fn folder_of_page() -> Folder {
    // A trace of two threads without values.
    let folder = Folder::with("run.std", "T1|acq(m)|1\nT1|r(x)|2\nT1|w(x)|3\nT1|rel(m)|4\nT2|w(x)|5\n");
    let examples = repository().join("examples/litmus");
    std::fs::create_dir_all(folder.path("examples/litmus")).expect("a folder");
    for entry in std::fs::read_dir(examples).expect("examples") {
        let entry = entry.expect("an entry");
        let to = folder.path("examples/litmus").join(entry.file_name());
        std::fs::copy(entry.path(), to).expect("copied");
    }
    folder
}

#[test]
fn the_commands_of_the_page_end_as_it_says() {
    let folder = folder_of_page();
    let page = page();
    let mut written = String::new();
    let mut with_code = 0;
    for line in fences(&page, "sh").into_iter().flat_map(str::lines) {
        let (command, comment) = line.split_once('#').unwrap_or((line, ""));
        let arguments =
            command.trim().strip_prefix("foretrace ").unwrap_or_else(|| panic!("no command of ours: {line}"));
        let ran = folder.foretrace(arguments);
        let said = comment.split("exit code ").nth(1).map(|code| code.trim().parse::<i32>().expect("a number"));
        with_code += u32::from(said.is_some());
        // Where the page says no code, the command does not decide anything that the page tells.
        let fits = said.map_or(matches!(ran.code, Some(0 | 1)), |said| ran.code == Some(said));
        assert!(fits, "{line}: {:?}\n{}", ran.code, ran.stderr);
        written += &ran.stdout;
    }
    assert!(with_code >= 6, "{with_code} commands with an exit code");
    let table = fences(&page, "text").into_iter().find(|text| text.contains("event  thread 1")).expect("a table");
    assert!(written.contains(table), "no command writes\n{table}");
}

#[test]
fn the_table_of_the_page_has_the_verdicts() {
    let page = page();
    let table = page.split("## All verdicts").nth(1).expect("a table").split("\n## ").next().expect("it ends");
    let rows = table
        .lines()
        .filter(|line| line.starts_with("| ") && !line.starts_with("| program") && !line.starts_with("| ---"));
    let (mut program, mut cells) = (String::new(), 0);
    for row in rows {
        let row: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let name = row[0].split('`').nth(1).expect("a name");
        let options = match row[0].starts_with("the same") {
            true if name == "complete" => "--feasibility complete",
            true => "--independence guarded",
            false => {
                program = name.to_owned();
                ""
            }
        };
        let run = if program == "fig1b.lit" { "--seed 1" } else { "--schedule serial" };
        let expected = [2, 3, 4, 5].map(|column| Some(row[column]).filter(|cell| *cell != "–"));
        check(&program, run, options, expected);
        cells += 4;
    }
    assert_eq!(cells, 36);
}
