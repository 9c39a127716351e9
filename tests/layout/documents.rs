//! The pages: their links lead somewhere, the book holds them all, and the answers of ARCHITECTURE are files.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The pages at the root and in `docs/`.
fn pages() -> Vec<PathBuf> {
    let mut pages: Vec<PathBuf> = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"]
        .iter()
        .map(|name| crate::root().join(name))
        .collect();
    pages.push(crate::root().join("examples/programs/README.md"));
    pages.extend(files_of_book());
    pages
}

fn files_of_book() -> Vec<PathBuf> {
    let entries =
        std::fs::read_dir(crate::root().join("docs")).expect("docs/").map(|entry| entry.expect("an entry").path());
    entries.filter(|path| path.extension().is_some_and(|extension| extension == "md")).collect()
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A page's text without what stands between fences.
fn prose(text: &str) -> String {
    let mut is_code = false;
    let lines = text.lines().filter(|line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Where the links of a page lead.
fn links(text: &str) -> Vec<String> {
    let after = prose(text);
    let targets = after.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    targets.map(str::to_owned).collect()
}

/// The anchors of a page's headings, as GitHub and mdBook make them.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings = prose(text);
    let headings =
        headings.lines().filter(|line| line.starts_with('#')).map(|line| line.trim_start_matches('#').trim());
    let anchor = |heading: &str| -> String {
        let kept = heading
            .to_lowercase()
            .chars()
            .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
            .collect::<String>();
        kept.replace(' ', "-")
    };
    headings.map(anchor).collect()
}

#[test]
fn links_lead_somewhere() {
    let mut seen = 0;
    for page in pages() {
        for link in links(&read(&page)) {
            if link.starts_with("http://") || link.starts_with("https://") {
                continue;
            }
            seen += 1;
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target = if file.is_empty() { page.clone() } else { page.with_file_name("").join(file) };
            assert!(target.exists(), "{}: there is no {link}", page.display());
            let has_anchor = anchor.is_empty() || anchors(&read(&target)).contains(anchor);
            assert!(has_anchor, "{}: {} has no heading for #{anchor}", page.display(), target.display());
        }
    }
    assert!(seen > 40, "{seen} links");
}

#[test]
fn the_book_holds_every_page() {
    let docs = crate::root().join("docs");
    let chapters: BTreeSet<PathBuf> =
        links(&read(&docs.join("SUMMARY.md"))).iter().map(|link| docs.join(link)).collect();
    for page in files_of_book() {
        assert!(page.ends_with("SUMMARY.md") || chapters.contains(&page), "docs/SUMMARY.md lacks {}", page.display());
    }
}

/// In the book a link to a file beside the book leads nowhere.
#[test]
fn the_book_links_to_its_own_pages_alone() {
    for page in files_of_book() {
        for link in links(&read(&page)) {
            let is_elsewhere = link.starts_with("http://") || link.starts_with("https://");
            let file = link.split('#').next().unwrap_or_default();
            let is_page = file.is_empty() || file.ends_with(".md") && !file.contains('/');
            assert!(is_elsewhere || is_page, "{}: {link} is no page of the book", page.display());
        }
    }
}

/// The paths between backticks in a text: what has a slash, or is the name of a file at the root.
fn paths(text: &str) -> Vec<String> {
    let text = prose(text);
    let spans = text.split('`').skip(1).step_by(2);
    spans
        .filter(|span| span.contains('/') && !span.starts_with("//") && !span.contains([' ', '*', '<']))
        .map(str::to_owned)
        .collect()
}

/// A line of the code map that names the folder of a crate begins the text about that crate.
#[test]
fn the_code_map_of_architecture_names_files_that_exist() {
    let text = read(&crate::root().join("ARCHITECTURE.md"));
    let section = text.split("## Code map").nth(1).expect("a code map").split("\n## ").next().expect("it ends");
    let mut source = crate::root().to_owned();
    let mut seen = 0;
    for line in section.lines() {
        if line.contains("` (`foretrace") {
            source = crate::root().join(line.split('`').nth(1).expect("a folder")).join("src");
        }
        for file in line.split('`').skip(1).step_by(2).filter(|span| span.ends_with(".rs")) {
            seen += 1;
            let is_there = source.join(file).exists() || crate::root().join(file).exists();
            assert!(is_there, "there is no {file} in {}: {line}", source.display());
        }
    }
    assert!(seen > 50, "{seen} files");
}

/// The answers of a row: each file with the definitions to look for in it.
fn answers(row: &str) -> Vec<(String, Vec<String>)> {
    let mut answers: Vec<(String, Vec<String>)> = Vec::new();
    for span in row.rsplit(" | ").next().expect("an answer").split('`').skip(1).step_by(2) {
        match answers.last_mut().filter(|_| is_definition(span)) {
            Some((_, definitions)) => definitions.push(span.to_owned()),
            None => answers.push((span.to_owned(), Vec::new())),
        }
    }
    answers
}

fn is_definition(span: &str) -> bool {
    ["fn ", "struct ", "enum ", "trait ", "impl ", "impl<", "macro_rules! "].iter().any(|word| span.starts_with(word))
}

/// Whether a line of a text defines this.
fn defines(text: &str, definition: &str) -> bool {
    text.lines().any(|line| {
        let line = line.trim_start();
        let after = line.strip_prefix("pub").map_or(line, |rest| {
            let rest = rest.strip_prefix('(').and_then(|rest| rest.split_once(')')).map_or(rest, |(_, rest)| rest);
            rest.trim_start()
        });
        let rest = after.strip_prefix(definition);
        rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
    })
}

/// The sources of a crate, by their paths from the root.
fn sources_of_crate(file: &str) -> Vec<(String, String)> {
    let folder = file.split_once("/src/").map_or("src".to_owned(), |(folder, _)| format!("{folder}/src"));
    let mut open = vec![crate::root().join(folder)];
    let mut sources = Vec::new();
    while let Some(folder) = open.pop() {
        for path in std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let name = path.strip_prefix(crate::root()).expect("below the root").to_string_lossy().into_owned();
                sources.push((name, read(&path)));
            }
        }
    }
    sources
}

#[test]
fn the_answers_of_architecture_lead_to_what_is_asked() {
    let text = read(&crate::root().join("ARCHITECTURE.md"));
    let section = text.split("## Where is …?").nth(1).expect("a section of questions");
    let section = section.split("\n## ").next().expect("it ends");
    let rows: Vec<&str> = section.lines().filter(|line| line.starts_with("| ") && line.contains("? |")).collect();
    assert!(rows.len() >= 20, "{} questions", rows.len());
    for row in rows {
        let answers = answers(row);
        assert!(!answers.is_empty(), "no file answers: {row}");
        for (file, definitions) in answers {
            assert!(crate::root().join(&file).is_file(), "there is no {file}: {row}");
            assert_eq!(definitions.is_empty(), !file.ends_with(".rs"), "what to look for in {file}? {row}");
            // Each must be in this file, and one in no other file of the crate: so the answer names the one place.
            let sources = if definitions.is_empty() { Vec::new() } else { sources_of_crate(&file) };
            let places = |definition: &String| {
                let found = sources.iter().filter(|(_, text)| defines(text, definition)).map(|(name, _)| name.clone());
                found.collect::<Vec<String>>()
            };
            let places: Vec<Vec<String>> = definitions.iter().map(places).collect();
            for (definition, found) in definitions.iter().zip(&places) {
                assert!(found.contains(&file), "{file} does not define `{definition}`; {found:?} do: {row}");
            }
            let is_the_place = definitions.is_empty() || places.iter().any(|found| found.len() == 1);
            assert!(is_the_place, "{definitions:?} are in several files: {places:?}");
        }
    }
}

#[test]
fn an_answer_that_is_wrong_is_found() {
    let text = "pub(crate) struct Session<'a> {\nfn simplify_with() {}\n    pub fn schedule(&self) {}\n";
    for (definition, expected) in [
        ("struct Session", true),
        ("fn simplify", false),
        ("fn simplify_with", true),
        ("fn schedule", true),
        ("enum Op", false),
    ] {
        assert_eq!(defines(text, definition), expected, "{definition}");
    }
    let row = "| Where? | `a/b.rs` (`fn x`, `enum Y`), `c/d.json` |";
    let expected = [("a/b.rs", vec!["fn x", "enum Y"]), ("c/d.json", vec![])];
    let expected = expected.map(|(file, all)| (file.to_owned(), all.into_iter().map(str::to_owned).collect()));
    assert_eq!(answers(row), expected);
}

/// The crates of ours that a crate's code is built on, by the section `[dependencies]` of its manifest.
fn built_on(folder: &Path) -> BTreeSet<String> {
    let manifest = read(&folder.join("Cargo.toml"));
    let section =
        manifest.split("\n[dependencies]\n").nth(1).map_or("", |rest| rest.split("\n[").next().unwrap_or(rest));
    let names = section.lines().filter_map(|line| line.strip_prefix("foretrace-")?.split(['.', ' ', '=']).next());
    names.map(str::to_owned).collect()
}

#[test]
fn the_table_of_crates_in_architecture_is_that_of_the_manifests() {
    let text = read(&crate::root().join("ARCHITECTURE.md"));
    let table =
        text.split("| crate | built on (of ours) |").nth(1).expect("a table").split("\n\n").next().expect("it ends");
    let mut above = BTreeSet::new();
    for row in table.lines().filter(|line| line.starts_with("| `")) {
        let mut names = row.split('`').skip(1).step_by(2).map(str::to_owned);
        let name = names.next().expect("a crate");
        let listed: BTreeSet<String> = names.collect();
        let folder = crate::crates().into_iter().find(|(known, _)| *known == name);
        let (_, folder) = folder.unwrap_or_else(|| panic!("ARCHITECTURE.md names {name}, which is no crate"));
        assert_eq!(listed, built_on(&folder), "ARCHITECTURE.md is not right about {name}");
        assert!(listed.is_subset(&above), "{name} is built on crates below it in the table");
        above.insert(name);
    }
    for (name, _) in crate::crates() {
        assert!(above.contains(&name), "ARCHITECTURE.md lacks {name}");
    }
}

#[test]
fn the_recipes_of_contributing_name_files_that_exist() {
    let paths = paths(&read(&crate::root().join("CONTRIBUTING.md")));
    assert!(paths.len() > 30, "{} paths", paths.len());
    for path in paths {
        assert!(crate::root().join(&path).exists(), "CONTRIBUTING.md names {path}, which does not exist");
    }
}

#[test]
fn the_page_of_commands_has_a_row_for_each_command() {
    let help = read(&crate::root().join("tests/cli/snapshots/cli__messages__help-all.snap"));
    let listed = help.split("Commands:\n").nth(1).expect("a list of commands").split("\n\n").next().expect("it ends");
    let names =
        listed.lines().filter(|line| !line.starts_with("   ")).filter_map(|line| line.split_whitespace().next());
    let names: Vec<&str> = names.filter(|name| *name != "help").collect();
    assert!(names.len() > 15, "{names:?}");
    let page = read(&crate::root().join("docs/cli.md"));
    let table = page.split("\n## ").next().expect("a table before the first section");
    let rows = table.lines().filter_map(|line| line.strip_prefix("| ")?.split(" | ").next());
    let spans: Vec<&str> = rows.flat_map(|row| row.split('`').skip(1).step_by(2)).collect();
    for name in names {
        let is_there = spans.iter().any(|span| span.split(' ').next() == Some(name));
        assert!(is_there, "docs/cli.md has no row for {name}");
    }
}

#[test]
fn switches_of_tests_are_read_somewhere() {
    let text = read(&crate::root().join("CONTRIBUTING.md"));
    let section =
        text.split("## Switches of tests").nth(1).expect("a list of switches").split("\n## ").next().expect("it ends");
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    let names: Vec<&str> = rows.map(|row| row.split('=').next().expect("a name")).collect();
    assert!(names.len() >= 5, "{names:?}");
    let sources = sources();
    for name in names.into_iter().filter(|name| !["INSTA_UPDATE", "PROPTEST_CASES"].contains(name)) {
        assert!(sources.iter().any(|text| text.contains(name)), "nothing reads {name}");
    }
}

#[test]
fn what_tests_read_of_the_environment_is_in_the_list() {
    let listed = read(&crate::root().join("CONTRIBUTING.md"));
    let mut seen = 0;
    for (path, text) in texts_below(&["tests", "crates"]) {
        if !path.components().any(|part| part.as_os_str() == "tests") {
            continue;
        }
        for (at, _) in text.match_indices("FORETRACE_") {
            let before = text[..at].trim_end_matches('"');
            let reads = ["env::var(", "env::var_os(", "number("].iter().any(|call| before.ends_with(call));
            let name = text[at..].split(|c: char| !c.is_ascii_uppercase() && c != '_').next().expect("a name");
            if reads {
                seen += 1;
                assert!(listed.contains(name), "CONTRIBUTING.md lacks {name}, which {} reads", path.display());
            }
        }
    }
    assert!(seen > 10, "{seen} places");
}

/// The texts of all tests and scripts.
fn sources() -> Vec<String> {
    texts_below(&["tests", "scripts", "crates"]).into_iter().map(|(_, text)| text).collect()
}

/// All texts below some folders of the root.
fn texts_below(folders: &[&str]) -> Vec<(PathBuf, String)> {
    let mut open: Vec<PathBuf> = folders.iter().map(|name| crate::root().join(name)).collect();
    let mut texts = Vec::new();
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
            if entry.is_dir() {
                open.push(entry);
            } else if let Ok(text) = std::fs::read_to_string(&entry) {
                texts.push((entry, text));
            }
        }
    }
    texts
}
