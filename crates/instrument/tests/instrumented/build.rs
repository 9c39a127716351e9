//! Builds the programs of `tests/programs` plainly and instrumented, with hooks that write down their arguments.

use foretrace_instrument::{Options, instrument, sidecar::Unit};
use foretrace_runtime::library::Function;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// How a program is compiled before it is instrumented.
#[derive(Clone, Copy, Debug)]
pub enum Mode {
    /// As the source says.
    Faithful,
    /// As it ships, with this option.
    AsShipped(&'static str),
}

/// What both builds of a program did.
pub struct Runs {
    pub plain: Output,
    pub instrumented: Output,
    /// The instrumented one with recording off.
    pub off: Output,
    /// The same, switching recording on and off as it likes.
    pub switching: Output,
    pub unit: Unit,
    /// What the hooks were told, a line each.
    pub log: String,
    /// The addresses of the instrumented program's symbols.
    pub symbols: HashMap<String, u64>,
}

/// The newest clang, or none with a word about it.
pub fn clang(cxx: bool) -> Option<PathBuf> {
    let program = if cxx { "clang++" } else { "clang" };
    let named = std::env::var(if cxx { "FORETRACE_CLANGXX" } else { "FORETRACE_CLANG" }).ok();
    let versions = (14..=22).rev().map(|version| format!("{program}-{version}"));
    let names = named.into_iter().chain([program.to_owned()]).chain(versions);
    let works =
        |name: &String| Command::new(name).arg("--version").output().is_ok_and(|output| output.status.success());
    let found = names.into_iter().find(works).map(PathBuf::from);
    if found.is_none() {
        assert!(std::env::var_os("CI").is_none(), "no {program} on this machine");
        eprintln!("skipped: no {program} on this machine");
    }
    found
}

/// Builds and runs a program of the folder both ways; none without a clang.
pub fn both(program: &str, mode: Mode) -> Option<Runs> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(program);
    let clang = clang(program.ends_with(".cpp"))?;
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let plain = at("plain");
    call(
        &clang,
        ["-w".as_ref(), source.as_os_str(), "-o".as_ref(), plain.as_os_str(), "-lm".as_ref(), "-pthread".as_ref()],
    );
    let unit = build(&clang, &source, mode, &at("instrumented.o"));
    let stub = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stub.c");
    let stub_object = at("stub.o");
    let names =
        (0..).map_while(Function::at).map(|function| format!("-DLIBRARY_{}={}", function.name(), function as u64));
    let names: Vec<String> = names.collect();
    call(
        &clang,
        names
            .iter()
            .map(OsStr::new)
            .chain(["-xc", "-c", "-O1", "-o"].map(OsStr::new))
            .chain([stub_object.as_os_str(), stub.as_os_str()]),
    );
    let (object, instrumented) = (at("instrumented.o"), at("instrumented"));
    let files = [object.as_os_str(), stub_object.as_os_str(), "-o".as_ref(), instrumented.as_os_str()];
    call(&clang, files.into_iter().chain(["-no-pie", "-lm", "-pthread"].map(OsStr::new)));
    let symbols = symbols(&instrumented);
    let log = at("log");
    Some(Runs {
        plain: Command::new(plain).output().expect("it runs"),
        off: run(&instrumented, if SINGLE.contains(&program) { &[] } else { &[("STUB_STRICT", "1")] }),
        switching: run(&instrumented, &[("STUB_MODES", "1")]),
        instrumented: Command::new(instrumented).env("STUB_LOG", &log).output().expect("it runs"),
        unit,
        log: std::fs::read_to_string(log).expect("a log"),
        symbols,
    })
}

/// Programs with functions that cannot be there twice, which call hooks with recording off.
const SINGLE: [&str; 2] = ["control.c", "left.c"];

fn run(program: &Path, variables: &[(&str, &str)]) -> Output {
    Command::new(program).envs(variables.iter().copied()).output().expect("it runs")
}

/// The symbols of a program that stand for one address each.
fn symbols(program: &Path) -> HashMap<String, u64> {
    let output = Command::new("nm").arg(program).output().expect("nm is there, as the linker is");
    let mut found: HashMap<String, Vec<u64>> = HashMap::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        if let [address, kind, name] = line.split_whitespace().collect::<Vec<_>>()[..]
            && !kind.eq_ignore_ascii_case("u")
        {
            found.entry(name.to_owned()).or_default().extend(u64::from_str_radix(address, 16));
        }
    }
    found
        .into_iter()
        .filter_map(|(name, addresses)| Some((name, *addresses.first()?)).filter(|_| addresses.len() == 1))
        .collect()
}

/// Instruments a source file.
pub fn build(clang: &Path, source: &Path, mode: Mode, object: &Path) -> Unit {
    let bitcode = object.with_extension("bc");
    let level: &[&str] = match mode {
        Mode::Faithful => &["-O1", "-Xclang", "-disable-llvm-passes", "-Xclang", "-disable-lifetime-markers"],
        Mode::AsShipped(level) => &[level, "-fno-vectorize", "-fno-slp-vectorize", "-fno-unroll-loops"],
    };
    let options = ["-w", "-g", "-fno-discard-value-names", "-emit-llvm", "-c", "-o"];
    let words = level.iter().chain(&options).map(OsStr::new);
    call(clang, words.chain([bitcode.as_os_str(), source.as_os_str()]));
    let bitcode = std::fs::read(bitcode).expect("bitcode");
    let options = Options { as_shipped: matches!(mode, Mode::AsShipped(_)), ..Options::default() };
    let made = instrument(&bitcode, "test", options).expect("it can be instrumented");
    std::fs::write(object, &made.object).expect("written");
    made.unit
}

fn call<'a>(program: &Path, arguments: impl IntoIterator<Item = &'a OsStr>) {
    let output = Command::new(program).args(arguments).output().expect("it starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
