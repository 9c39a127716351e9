//! Which file of a crate imports which: read off the text, as far as `use` lines and paths say it. A method that a file adds to a type of
//! another file is not seen where it is called.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// A module's path below its crate: empty for the root.
type ModulePath = Vec<String>;

/// The files of one crate, by their modules.
pub struct Files {
    modules: BTreeMap<ModulePath, Module>,
}

struct Module {
    file: String,
    imports: Vec<ModulePath>,
    reexports: BTreeMap<String, ModulePath>,
}

impl Files {
    /// Reads the files below a crate's `src`; tests in files of their own are left out.
    pub fn read(src: &Path) -> Files {
        let mut texts = BTreeMap::new();
        collect(src, &mut Vec::new(), &mut texts);
        let known: BTreeSet<ModulePath> = texts.keys().cloned().collect();
        let modules = texts.into_iter().map(|(path, (file, text))| {
            let (imports, reexports) = read_imports(&known, &path, &code_of(&text));
            (path, Module { file, imports, reexports })
        });
        Files { modules: modules.collect() }
    }

    /// The circles: sets of files of which each reaches each other over imports.
    pub fn circles(&self) -> BTreeSet<BTreeSet<String>> {
        let edges: BTreeMap<&str, BTreeSet<&str>> =
            self.modules.values().map(|m| (m.file.as_str(), self.edges(m))).collect();
        let reached: BTreeMap<&str, BTreeSet<&str>> = edges.keys().map(|file| (*file, reach(&edges, file))).collect();
        let circle = |file: &str| -> BTreeSet<String> {
            reached[file].iter().filter(|other| reached[*other].contains(file)).map(ToString::to_string).collect()
        };
        edges.keys().map(|file| circle(file)).filter(|circle| circle.len() > 1).collect()
    }

    fn edges<'s>(&'s self, module: &Module) -> BTreeSet<&'s str> {
        let files = module.imports.iter().map(|path| self.home(path, 0));
        files.filter(|file| *file != module.file).collect()
    }

    /// The file that a path leads to: through modules, then through what they re-export.
    fn home(&self, path: &[String], depth: usize) -> &str {
        let longest = (0..=path.len()).rev().find(|&length| self.modules.contains_key(&path[..length])).unwrap_or(0);
        let module = &self.modules[&path[..longest]];
        match path.get(longest).and_then(|name| module.reexports.get(name)) {
            Some(further) if depth < 8 => self.home(further, depth + 1),
            _ => &module.file,
        }
    }
}

/// All files that `from` leads to.
fn reach<'s>(edges: &BTreeMap<&'s str, BTreeSet<&'s str>>, from: &str) -> BTreeSet<&'s str> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<&str> = edges[from].iter().copied().collect();
    while let Some(file) = open.pop() {
        if reached.insert(file) {
            open.extend(&edges[file]);
        }
    }
    reached
}

fn collect(folder: &Path, path: &mut ModulePath, texts: &mut BTreeMap<ModulePath, (String, String)>) {
    for entry in std::fs::read_dir(folder).expect("a folder of sources") {
        let entry = entry.expect("an entry").path();
        let name = entry.file_stem().and_then(|stem| stem.to_str()).expect("a name").to_owned();
        if name == "tests" {
            continue;
        }
        path.push(name.clone());
        if entry.is_dir() {
            collect(&entry, path, texts);
        } else if entry.extension().is_some_and(|extension| extension == "rs") {
            let text = std::fs::read_to_string(&entry).expect("a readable file");
            let is_parent = matches!(name.as_str(), "mod" | "lib" | "main");
            let module = if is_parent { path[..path.len() - 1].to_vec() } else { path.clone() };
            let folders = path[..path.len() - 1].join("/");
            let file = if folders.is_empty() { format!("{name}.rs") } else { format!("{folders}/{name}.rs") };
            texts.insert(module, (file, text));
        }
        path.pop();
    }
}

/// The text without comments and without the unit tests at its end.
fn code_of(text: &str) -> String {
    let end = text.find("#[cfg(test)]\nmod tests {").unwrap_or(text.len());
    text[..end].lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

fn read_imports(
    known: &BTreeSet<ModulePath>,
    module: &[String],
    code: &str,
) -> (Vec<ModulePath>, BTreeMap<String, ModulePath>) {
    let (mut imports, mut reexports, mut rest) = (Vec::new(), BTreeMap::new(), String::new());
    for statement in code.split_inclusive(';') {
        let Some((before, tree)) = use_of(statement) else {
            rest.push_str(statement);
            continue;
        };
        rest.push_str(before);
        let is_public = before.lines().last().is_some_and(|line| line.trim_start().starts_with("pub"));
        let mut leaves = Vec::new();
        expand("", tree, &mut leaves);
        for leaf in leaves {
            let (path, alias) =
                leaf.split_once(" as ").map_or((leaf.as_str(), None), |(path, alias)| (path, Some(alias)));
            let Some(path) = absolute(known, module, path) else { continue };
            match path.last() {
                Some(last) if is_public => reexports.insert(alias.unwrap_or(last).trim().to_owned(), path.clone()),
                _ => {
                    imports.push(path);
                    None
                }
            };
        }
    }
    for start in ["crate::", "super::"] {
        for (at, _) in rest.match_indices(start) {
            if rest[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':' || c == '$') {
                continue;
            }
            let path: String =
                rest[at..].chars().take_while(|c| c.is_alphanumeric() || matches!(c, '_' | ':')).collect();
            imports.extend(absolute(known, module, path.trim_end_matches(':')));
        }
    }
    let modules = modules_by_name(known, module, imports.iter().chain(reexports.values()));
    imports.extend(paths_through(&modules, &rest));
    (imports, reexports)
}

/// The modules that this one may name without `crate` or `super`: those below it, and those that it imports.
fn modules_by_name<'i>(
    known: &'i BTreeSet<ModulePath>,
    module: &[String],
    imports: impl Iterator<Item = &'i ModulePath>,
) -> BTreeMap<String, ModulePath> {
    let below = known.iter().filter(|path| path.split_last().is_some_and(|(_, parent)| parent == module));
    let imported = imports.filter(|path| known.contains(*path));
    below.chain(imported).filter_map(|path| Some((path.last()?.clone(), path.clone()))).collect()
}

/// Where the paths lead that begin with one of these names.
fn paths_through(modules: &BTreeMap<String, ModulePath>, code: &str) -> Vec<ModulePath> {
    let is_of_name = |c: char| c.is_alphanumeric() || c == '_';
    let mut paths = Vec::new();
    for (at, _) in code.match_indices("::") {
        let start = code[..at].rfind(|c| !is_of_name(c)).map_or(0, |before| before + 1);
        let is_first = !code[..start].ends_with([':', '$', '.']);
        let Some(module) = modules.get(&code[start..at]).filter(|_| is_first) else { continue };
        let rest: String = code[at..].chars().take_while(|&c| is_of_name(c) || c == ':').collect();
        let names = rest.split("::").filter(|name| !name.is_empty()).map(str::to_owned);
        paths.push(module.iter().cloned().chain(names).collect());
    }
    paths
}

/// The tree of a `use` statement at the start of a line, and what comes before it.
fn use_of(statement: &str) -> Option<(&str, &str)> {
    let at = statement.rfind("use ")?;
    let line = statement[..at].lines().last().unwrap_or_default().trim();
    let is_use =
        line.is_empty() || statement[..at].ends_with('\n') || (line.starts_with("pub") && !line.contains("fn "));
    is_use.then(|| (&statement[..at], statement[at + 4..].trim_end_matches(';')))
}

/// The paths of a `use` tree.
fn expand(prefix: &str, tree: &str, leaves: &mut Vec<String>) {
    let tree = tree.trim();
    let Some(open) = tree.find('{') else {
        leaves.push(format!("{prefix}{tree}"));
        return;
    };
    let prefix = format!("{prefix}{}", tree[..open].trim());
    let inside = &tree[open + 1..];
    let inside = inside.strip_suffix('}').unwrap_or(inside);
    let (mut depth, mut start) = (0, 0);
    for (at, c) in inside.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                expand(&prefix, &inside[start..at], leaves);
                start = at + 1;
            }
            _ => {}
        }
    }
    if !inside[start..].trim().is_empty() {
        expand(&prefix, &inside[start..], leaves);
    }
}

/// A path from the crate's root; `None` for what is of another crate.
fn absolute(known: &BTreeSet<ModulePath>, module: &[String], path: &str) -> Option<ModulePath> {
    let mut segments = path.split("::").map(str::trim).filter(|segment| !segment.is_empty()).peekable();
    let mut base = match *segments.peek()? {
        "crate" => {
            segments.next();
            Vec::new()
        }
        "self" => {
            segments.next();
            module.to_vec()
        }
        "super" => {
            let mut base = module.to_vec();
            while segments.next_if(|segment| *segment == "super").is_some() {
                base.pop();
            }
            base
        }
        first => {
            let mut child = module.to_vec();
            child.push(first.to_owned());
            known.contains(&child).then(|| module.to_vec())?
        }
    };
    base.extend(segments.filter(|segment| !matches!(*segment, "self" | "*")).map(str::to_owned));
    Some(base)
}
