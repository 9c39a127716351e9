//! The driver in place of a compiler.

use crate::build::clang;
use foretrace_instrument::driver::{Language, run};
use foretrace_instrument::sidecar::{FRAME_MAGIC, SECTION};
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

/// Calls the driver; words with a `/` at the start lie in the folder.
fn call(folder: &Path, language: Language, words: &[&str]) -> u8 {
    let place = |word: &&str| match word.strip_prefix('/') {
        Some(name) => folder.join(name).into(),
        None => OsString::from(word),
    };
    run(language, words.iter().map(place).collect()).expect("it can do its work")
}

/// A folder with these files.
fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).expect("written");
    }
    folder
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("a folder").flatten();
    let mut names: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Whether a file has a side-car.
fn describes_itself(file: &Path) -> bool {
    let bytes = std::fs::read(file).expect("a file");
    let holds = |what: &[u8]| bytes.windows(what.len()).any(|window| window == what);
    holds(SECTION.as_bytes()) && holds(&FRAME_MAGIC)
}

const F: (&str, &str) = ("f.c", "#include \"x.h\"\nint f(int *p) { return *p + X; }\n");
const X: (&str, &str) = ("x.h", "#define X 2\n");

#[test]
fn objects_describe_themselves_and_nothing_else_is_left() {
    if clang(false).is_none() {
        return;
    }
    let folder = folder(&[F, X]);
    assert_eq!(call(folder.path(), Language::C, &["-O2", "-c", "/f.c", "-o", "/f.o"]), 0);
    assert!(describes_itself(&folder.path().join("f.o")));
    assert_eq!(names(folder.path()), ["f.c", "f.o", "x.h"]);
}

#[test]
fn dependency_files_name_the_object() {
    if clang(false).is_none() {
        return;
    }
    let folder = folder(&[F, X]);
    assert_eq!(call(folder.path(), Language::C, &["-MMD", "-c", "/f.c", "-o", "/f.o"]), 0);
    let dependencies = std::fs::read_to_string(folder.path().join("f.d")).expect("a dependency file");
    let object = folder.path().join("f.o");
    assert!(
        dependencies.starts_with(&format!("{}:", object.display())) && dependencies.contains("x.h"),
        "{dependencies}"
    );
    let words = ["-MD", "-MF", "/other.d", "-MT", "mine", "-c", "/f.c", "-o", "/f.o"];
    assert_eq!(call(folder.path(), Language::C, &words), 0);
    let dependencies = std::fs::read_to_string(folder.path().join("other.d")).expect("a dependency file");
    assert!(dependencies.starts_with("mine:"), "{dependencies}");
}

#[test]
fn errors_keep_clangs_exit_code_and_old_objects() {
    if clang(false).is_none() {
        return;
    }
    let folder = folder(&[("bad.c", "int x = ;\n"), ("bad.o", "old")]);
    assert_eq!(call(folder.path(), Language::C, &["-w", "-c", "/bad.c", "-o", "/bad.o"]), 1);
    assert_eq!(std::fs::read(folder.path().join("bad.o")).expect("the old one"), b"old");
    assert_eq!(names(folder.path()), ["bad.c", "bad.o"]);
}

#[test]
fn shared_libraries_of_several_sources_link_without_the_runtime() {
    if clang(true).is_none() {
        return;
    }
    let folder = folder(&[F, X, ("g.cpp", "extern \"C\" int f(int *);\nint g(int n) { return f(&n); }\n")]);
    assert_eq!(call(folder.path(), Language::C, &["-c", "-fPIC", "/f.c", "-o", "/f.o"]), 0);
    let words = ["-shared", "-fPIC", "-Wl,-z,defs", "/g.cpp", "/f.o", "-o", "/lib.so"];
    assert_eq!(call(folder.path(), Language::Cxx, &words), 0);
    assert!(describes_itself(&folder.path().join("lib.so")));
}

#[test]
fn response_files_are_read() {
    if clang(false).is_none() {
        return;
    }
    let folder = folder(&[F, ("x.h", "")]);
    let text =
        format!("-c -DX=4 \"{}\"\n-o '{}'", folder.path().join("f.c").display(), folder.path().join("f.o").display());
    std::fs::write(folder.path().join("words"), text).expect("written");
    let word = format!("@{}", folder.path().join("words").display());
    assert_eq!(call(folder.path(), Language::C, &[&word]), 0);
    assert!(describes_itself(&folder.path().join("f.o")));
}

#[test]
fn what_is_for_clang_alone_stays_so() {
    if clang(false).is_none() {
        return;
    }
    let folder =
        folder(&[("m.c", "#include <foretrace.h>\n#ifdef __FORETRACE__\nint traced;\n#endif\n"), ("s.s", "nop\n")]);
    assert_eq!(call(folder.path(), Language::C, &["-E", "/m.c", "-o", "/m.i"]), 0);
    let text = std::fs::read_to_string(folder.path().join("m.i")).expect("preprocessed");
    assert!(text.contains("int traced;") && text.contains("foretrace_atomic_begin"));
    assert_eq!(call(folder.path(), Language::C, &["-c", "/s.s", "-o", "/s.o"]), 0);
    assert!(!describes_itself(&folder.path().join("s.o")));
}

/// The linker keeps one of the functions that both objects have, with or without a plain one.
#[test]
fn objects_of_other_compilers_share_merged_functions() {
    let Some(compiler) = clang(true) else { return };
    let header = "#include <string>\n#include <vector>\n\
        template <class T> T &one() { static T one = 1; return one; }\n\
        inline size_t total(int n) {\n  std::vector<std::string> all;\n\
        for (int i = 0; i < n; i++) all.push_back(std::to_string(i * one<int>()++));\n\
        size_t sum = 0;\n  for (auto &text : all) sum += text.size();\n  return sum;\n}\nsize_t other(int n);\n";
    let theirs = "#include \"x.h\"\nsize_t other(int n) { return total(n) + one<int>(); }\n";
    let ours = "#include \"x.h\"\n#include <cstdio>\n\
        int main() { size_t a = other(9), b = total(30); std::printf(\"%zu %zu %d\\n\", a, b, one<int>()); }\n";
    let folder = folder(&[("x.h", header), ("theirs.cpp", theirs), ("ours.cpp", ours)]);
    let at = |name: &str| folder.path().join(name);
    let plainly = |words: &[&str]| {
        let status = Command::new(&compiler).current_dir(folder.path()).args(words).status();
        assert!(status.expect("it starts").success(), "{words:?}");
    };
    let says = |program: &str| Command::new(at(program)).output().expect("it runs").stdout;
    plainly(&["ours.cpp", "theirs.cpp", "-o", "plain"]);
    plainly(&["-c", "theirs.cpp"]);
    assert_eq!(call(folder.path(), Language::Cxx, &["-O0", "-c", "/ours.cpp", "-o", "/ours.o"]), 0);
    for (first, second) in [("/ours.o", "/theirs.o"), ("/theirs.o", "/ours.o")] {
        assert_eq!(call(folder.path(), Language::Cxx, &[first, second, "-o", "/mixed"]), 0);
        assert_eq!(says("mixed"), says("plain"), "{first} before {second}");
    }
}
