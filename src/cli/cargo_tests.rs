//! The tests of a Rust project, built for recording: each by itself, where and with the variables that cargo would run it.

use super::cargo;
use super::outcome::say;
use anyhow::{Context, bail};
use foretrace::recorder::{Program, Variables};
use serde_json::Value;
use std::collections::{BTreeSet, HashMap};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A test of a project.
pub struct CargoTest {
    /// Its name, with that of its crate.
    pub name: String,
    /// The program that runs it alone.
    pub program: Program,
    /// The folder that cargo would run it in.
    pub directory: PathBuf,
    /// What cargo adds to its environment.
    pub variables: Variables,
}

/// Builds the tests with `foretrace cargo test` and these words, and lists those whose names contain one of `wanted`; all if that is
/// empty. Ignored tests are left out.
pub fn build(words: &[OsString], wanted: &[String]) -> anyhow::Result<Vec<CargoTest>> {
    let own = std::env::current_exe().context("cannot find the path of foretrace itself")?;
    let mut command = Command::new(own);
    command.args(["cargo", "test", "--no-run", "--message-format", "json-render-diagnostics"]).args(words);
    let built = command.stderr(Stdio::inherit()).output().context("cannot run `foretrace cargo`")?;
    if !built.status.success() {
        bail!("the tests cannot be built");
    }
    let text = String::from_utf8_lossy(&built.stdout);
    let messages: Vec<Value> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let mut surroundings = Surroundings::new(&messages);
    let mut tests = Vec::new();
    for message in &messages {
        let is_test = message["profile"]["test"].as_bool() == Some(true);
        let (Some(file), true) = (message["executable"].as_str(), is_test) else { continue };
        let file = Path::new(file);
        let binary = Binary {
            target: message["target"]["name"].as_str().unwrap_or_default(),
            directory: manifest(message).and_then(Path::parent).unwrap_or(Path::new(".")),
            variables: surroundings.variables_of(message, file)?,
            file,
        };
        if message["target"]["kind"].as_array().is_some_and(|kinds| kinds.iter().any(|kind| kind == "proc-macro")) {
            let target = binary.target;
            say(format_args!(
                "foretrace: {target}: left out: procedural macros run in the compiler and are not recorded"
            ));
            continue;
        }
        tests.extend(binary.tests(wanted)?);
    }
    Ok(tests)
}

fn manifest(message: &Value) -> Option<&Path> {
    message["manifest_path"].as_str().map(Path::new)
}

/// What runs the tests of a target.
struct Binary<'m> {
    target: &'m str,
    file: &'m Path,
    directory: &'m Path,
    variables: Variables,
}

impl Binary<'_> {
    fn tests(&self, wanted: &[String]) -> anyhow::Result<Vec<CargoTest>> {
        let is_wanted = |name: &str| wanted.is_empty() || wanted.iter().any(|part| name.contains(part.as_str()));
        let Some(all) = self.list(&[])? else {
            let whole = is_wanted(self.target).then(|| self.test(self.target.to_string(), Vec::new()));
            return Ok(whole.into_iter().collect());
        };
        let ignored = self.list(&["--ignored"])?.unwrap_or_default();
        let (ignored, tests): (Vec<&String>, Vec<&String>) =
            all.iter().filter(|name| is_wanted(name)).partition(|name| ignored.contains(*name));
        if !ignored.is_empty() {
            let names = ignored.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(", ");
            say(format_args!("foretrace: {}: left out, since they are ignored: {names}", self.target));
        }
        let arguments = |name: &str| [name, "--exact", "--test-threads=1"].map(OsString::from).to_vec();
        Ok(tests.into_iter().map(|name| self.test(format!("{}::{name}", self.target), arguments(name))).collect())
    }

    fn test(&self, name: String, arguments: Vec<OsString>) -> CargoTest {
        CargoTest {
            name,
            program: Program { path: self.file.to_path_buf(), arguments },
            directory: self.directory.to_path_buf(),
            variables: self.variables.clone(),
        }
    }

    /// The names of its tests; nothing if it has a harness of its own that does not list them as libtest does. It is one test then.
    fn list(&self, more: &[&str]) -> anyhow::Result<Option<BTreeSet<String>>> {
        let listed = Command::new(self.file)
            .args(["--list", "--format", "terse"])
            .args(more)
            .current_dir(self.directory)
            .envs(self.variables.iter().cloned())
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .output()
            .with_context(|| self.file.display().to_string())?;
        if !listed.status.success() {
            return Ok(None);
        }
        let mut names = BTreeSet::new();
        for line in String::from_utf8_lossy(&listed.stdout).lines() {
            match line.rsplit_once(": ") {
                Some((name, "test")) => drop(names.insert(name.to_string())),
                Some((_, "benchmark")) => {}
                _ => return Ok(None),
            }
        }
        Ok(Some(names))
    }
}

/// What cargo adds to the environment of tests.
struct Surroundings<'m> {
    messages: &'m [Value],
    /// Variables of packages, by the package's id.
    packages: HashMap<String, Variables>,
}

impl<'m> Surroundings<'m> {
    fn new(messages: &'m [Value]) -> Surroundings<'m> {
        Surroundings { messages, packages: HashMap::new() }
    }

    /// For a test binary that a message of cargo tells of.
    fn variables_of(&mut self, message: &Value, file: &Path) -> anyhow::Result<Variables> {
        let id = message["package_id"].as_str().unwrap_or_default();
        if !self.packages.contains_key(id)
            && let Some(manifest) = manifest(message)
        {
            let metadata = cargo::metadata(&[], Some(manifest.as_os_str()))?;
            let packages = metadata["packages"].as_array().into_iter().flatten();
            self.packages
                .extend(packages.filter_map(|package| Some((package["id"].as_str()?.to_string(), about(package)))));
        }
        let mut variables = self.packages.get(id).cloned().unwrap_or_default();
        let mut libraries: Vec<PathBuf> = file.ancestors().skip(1).take(2).map(Path::to_path_buf).collect();
        for script in self.messages.iter().filter(|other| other["reason"] == "build-script-executed") {
            let paths = script["linked_paths"].as_array().into_iter().flatten().filter_map(Value::as_str);
            libraries.extend(paths.map(|path| PathBuf::from(path.split_once('=').map_or(path, |(_, path)| path))));
            if script["package_id"].as_str() == Some(id) {
                variables.extend(script["out_dir"].as_str().map(|folder| ("OUT_DIR".into(), folder.into())));
                let pairs = script["env"].as_array().into_iter().flatten();
                variables.extend(pairs.filter_map(|pair| Some((pair[0].as_str()?.into(), pair[1].as_str()?.into()))));
            }
        }
        let before = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
        libraries.extend(std::env::split_paths(&before).filter(|path| !path.as_os_str().is_empty()));
        variables.push(("LD_LIBRARY_PATH".into(), std::env::join_paths(libraries)?));
        Ok(variables)
    }
}

/// What cargo says of a package in variables; an empty text of what the manifest does not have.
fn about(package: &Value) -> Variables {
    let field = |name: &str| package[name].as_str().unwrap_or_default().to_string();
    let (version, manifest) = (field("version"), field("manifest_path"));
    let (numbers, before_release) = version.split_once('-').unwrap_or((&version, ""));
    let mut parts = numbers.split(['.', '+']).map(str::to_string);
    let mut part = || parts.next().unwrap_or_default();
    let authors = package["authors"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let folder = Path::new(&manifest).parent().unwrap_or(Path::new("")).to_path_buf();
    let texts = [
        ("CARGO_PKG_NAME", field("name")),
        ("CARGO_PKG_VERSION", version.clone()),
        ("CARGO_PKG_VERSION_MAJOR", part()),
        ("CARGO_PKG_VERSION_MINOR", part()),
        ("CARGO_PKG_VERSION_PATCH", part()),
        ("CARGO_PKG_VERSION_PRE", before_release.to_string()),
        ("CARGO_PKG_AUTHORS", authors.collect::<Vec<_>>().join(":")),
        ("CARGO_PKG_DESCRIPTION", field("description")),
        ("CARGO_PKG_HOMEPAGE", field("homepage")),
        ("CARGO_PKG_REPOSITORY", field("repository")),
        ("CARGO_PKG_LICENSE", field("license")),
        ("CARGO_PKG_LICENSE_FILE", field("license_file")),
        ("CARGO_PKG_RUST_VERSION", field("rust_version")),
        ("CARGO_PKG_README", field("readme")),
        ("CARGO_MANIFEST_PATH", manifest.clone()),
    ];
    let mut variables: Variables =
        texts.into_iter().map(|(name, text)| (OsString::from(name), OsString::from(text))).collect();
    variables.push(("CARGO_MANIFEST_DIR".into(), folder.into_os_string()));
    variables.push(("CARGO".into(), cargo::cargo()));
    variables
}
