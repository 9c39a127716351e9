//! The compiler's command line, taken apart: what is compiled and how far, and which words matter to which step.

use std::ffi::{OsStr, OsString};
use std::path::Path;

/// How far the compiler is to go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Goal {
    /// Something that is none of our business: the compiler does it.
    Straight,
    /// Object files.
    Objects,
    /// A program or library.
    Link,
}

/// What a file that is compiled holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Content {
    /// Code that becomes bitcode.
    Source,
    /// Assembly.
    Assembly,
    /// A header to be precompiled.
    Header,
}

/// A word of the command line with its value, by what it is for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Argument {
    /// A file to compile, and the language that was said for it.
    Compiled {
        /// The file.
        file: OsString,
        /// What it holds.
        content: Content,
        /// What `-x` said of it.
        language: Option<OsString>,
    },
    /// For the linker alone: files, libraries, options.
    Linked(Vec<OsString>),
    /// The level of optimisation.
    Level(OsString),
    /// Which dependency file to write.
    Dependencies(Vec<OsString>),
    /// For every step.
    Shared(Vec<OsString>),
}

/// A command line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Arguments {
    /// Its parts in order.
    pub parts: Vec<Argument>,
    /// How far to go.
    pub goal: Goal,
    /// What `-o` says.
    pub output: Option<OsString>,
    /// Whether the program's own optimisation is kept.
    pub as_shipped: bool,
    /// Whether gcc is asked for.
    pub gcc: bool,
    /// What `--lock` says, once for each time.
    pub locks: Vec<String>,
    /// Whether the folder with `foretrace.h` is asked for.
    pub print_include: bool,
    /// What to tell the user.
    pub notes: Vec<String>,
    /// All words but our own.
    pub words: Vec<OsString>,
}

/// Options of clang whose value is the next word; those for the linker come last.
const WITH_VALUE: [&str; 39] = [
    "-I",
    "-D",
    "-U",
    "-include",
    "-imacros",
    "-include-pch",
    "-isystem",
    "-iquote",
    "-idirafter",
    "-isysroot",
    "-iprefix",
    "-iwithprefix",
    "-iwithprefixbefore",
    "-cxx-isystem",
    "-stdlib++-isystem",
    "-ivfsoverlay",
    "-Xclang",
    "-Xassembler",
    "-Xpreprocessor",
    "-mllvm",
    "-arch",
    "-target",
    "--target",
    "--sysroot",
    "--param",
    "-A",
    "-B",
    "-G",
    "-aux-info",
    "-working-directory",
    "-resource-dir",
    "-gcc-toolchain",
    "--config",
    "-Xanalyzer",
    "-dependency-file",
    "-MJ",
    "-fmodule-name",
    "-serialize-diagnostics",
    "--serialize-diagnostics",
];
const LINKER_WITH_VALUE: [&str; 9] = ["-L", "-l", "-Xlinker", "-T", "-u", "-z", "-e", "-rpath", "-framework"];
/// Options that only the linker wants.
const LINKER: [&str; 20] = [
    "-shared",
    "--shared",
    "-static",
    "--static",
    "-static-pie",
    "-static-libgcc",
    "-static-libstdc++",
    "-shared-libgcc",
    "-rdynamic",
    "-export-dynamic",
    "-nostdlib",
    "--no-standard-libraries",
    "-nostartfiles",
    "-nodefaultlibs",
    "-nolibc",
    "-nostdlib++",
    "-pie",
    "-no-pie",
    "-s",
    "-r",
];
/// What makes clang stop before an object.
const STRAIGHT: [&str; 18] = [
    "-E",
    "--preprocess",
    "-S",
    "--assemble",
    "-M",
    "-MM",
    "--dependencies",
    "--user-dependencies",
    "-fsyntax-only",
    "-###",
    "--version",
    "--help",
    "-help",
    "-emit-llvm",
    "-emit-ast",
    "--analyze",
    "--precompile",
    "-cc1",
];
/// Suffixes of sources.
const SOURCES: [&str; 19] = [
    "c", "i", "C", "cc", "cp", "cpp", "CPP", "cxx", "c++", "ii", "m", "mi", "mm", "mii", "M", "ll", "bc", "cppm", "ixx",
];
const ASSEMBLY: [&str; 4] = ["s", "S", "sx", "asm"];
const HEADERS: [&str; 7] = ["h", "H", "hh", "hp", "hpp", "hxx", "h++"];

impl Arguments {
    /// Takes a command line apart; response files are expanded already.
    pub fn parse(words: Vec<OsString>) -> Arguments {
        let mut parser = Parser {
            found: Arguments {
                parts: Vec::new(),
                goal: Goal::Link,
                output: None,
                as_shipped: false,
                gcc: false,
                locks: Vec::new(),
                print_include: false,
                notes: Vec::new(),
                words: Vec::new(),
            },
            language: None,
            inputs: 0,
        };
        let mut words = words.into_iter();
        while let Some(word) = words.next() {
            parser.word(word, &mut words);
        }
        if parser.inputs == 0 {
            parser.found.goal = Goal::Straight;
        }
        parser.found
    }

    /// The files to compile.
    pub fn compiled(&self) -> impl Iterator<Item = &OsString> {
        self.parts.iter().filter_map(|part| match part {
            Argument::Compiled { file, .. } => Some(file),
            _ => None,
        })
    }

    /// The files to compile, with what they hold and what `-x` said of it.
    pub fn sources(&self) -> impl Iterator<Item = (&OsStr, &Content, Option<&OsStr>)> {
        self.parts.iter().filter_map(|part| match part {
            Argument::Compiled { file, content, language } => Some((file.as_os_str(), content, language.as_deref())),
            _ => None,
        })
    }

    /// Whether the linker makes something other than a program.
    pub fn makes_library(&self) -> bool {
        const LIBRARY: [&str; 6] = ["-shared", "--shared", "-r", "-Wl,-shared", "-Wl,-r", "-Wl,--relocatable"];
        let linked = self.parts.iter().filter_map(|part| match part {
            Argument::Linked(words) => Some(words),
            _ => None,
        });
        linked.flatten().any(|word| LIBRARY.iter().any(|option| word == option))
    }
}

struct Parser {
    found: Arguments,
    language: Option<OsString>,
    inputs: usize,
}

impl Parser {
    /// One word, and its value if it has one.
    fn word(&mut self, word: OsString, rest: &mut impl Iterator<Item = OsString>) {
        match word.to_str() {
            Some("--as-shipped") => self.found.as_shipped = true,
            Some("--gcc") => self.found.gcc = true,
            Some("--lock") => self.found.locks.push(rest.next().unwrap_or_default().to_string_lossy().into_owned()),
            Some(text) if text.starts_with("--lock=") => self.found.locks.push(text["--lock=".len()..].to_owned()),
            Some("--print-include") => self.found.print_include = true,
            _ => {
                let value = if takes_value(&word) { rest.next() } else { None };
                self.found.words.push(word.clone());
                self.found.words.extend(value.clone());
                self.classify(word, value);
            }
        }
    }

    fn classify(&mut self, word: OsString, value: Option<OsString>) {
        if !is_option(&word) {
            return self.input(word);
        }
        let text = word.to_string_lossy().into_owned();
        if self.steer(&text, value.as_ref()) || self.left_out(&text, value.as_ref()) {
            return;
        }
        let part = if is_dependency_option(&text) {
            Argument::Dependencies
        } else if LINKER.contains(&text.as_str())
            || LINKER_WITH_VALUE.contains(&text.as_str())
            || ["-l", "-L", "-Wl,", "-fuse-ld", "--ld-path"].iter().any(|start| text.starts_with(start))
        {
            Argument::Linked
        } else {
            Argument::Shared
        };
        self.inputs += usize::from(text.starts_with("-l") && !text.starts_with("-lto"));
        self.found.parts.push(part([word].into_iter().chain(value).collect()));
    }

    fn input(&mut self, file: OsString) {
        self.inputs += 1;
        let content = match &self.language {
            Some(language) => Some(content_of_language(language)),
            None => content_of_file(&file),
        };
        self.found.parts.push(match content {
            Some(content) => Argument::Compiled { file, content, language: self.language.clone() },
            None => Argument::Linked(vec![file]),
        });
    }

    /// Options that say what to do.
    fn steer(&mut self, text: &str, value: Option<&OsString>) -> bool {
        match text {
            "-c" | "--compile" if self.found.goal == Goal::Link => self.found.goal = Goal::Objects,
            "-c" | "--compile" => {}
            "-o" | "--output" => self.found.output = value.cloned(),
            "-x" | "--language" => self.say_language(value.cloned()),
            _ if STRAIGHT.contains(&text) || is_question(text) => self.found.goal = Goal::Straight,
            _ => match (text.strip_prefix("-o"), text.strip_prefix("--output="), text.strip_prefix("-x")) {
                (_, Some(file), _) => self.found.output = Some(file.into()),
                (Some(file), ..) if !text.starts_with("-object") => self.found.output = Some(file.into()),
                (_, _, Some(language)) => self.say_language(Some(language.into())),
                _ => return false,
            },
        }
        true
    }

    fn say_language(&mut self, language: Option<OsString>) {
        self.language = language.filter(|language| language != "none");
    }

    /// Options that make no sense here.
    fn left_out(&mut self, text: &str, value: Option<&OsString>) -> bool {
        let fortify = |definition: &str| definition.starts_with("_FORTIFY_SOURCE");
        if text.starts_with("-O") && !text.starts_with("-ObjC") {
            self.found.parts.push(Argument::Level(text.into()));
            return true;
        }
        if text == "-D" || text == "-U" {
            return value.and_then(|value| value.to_str()).is_some_and(fortify);
        }
        if let Some(list) = text.strip_prefix("-fsanitize=") {
            return self.sanitizers(list);
        }
        let defined = ["-D", "-U", "-Wp,-D", "-Wp,-U"].iter().filter_map(|start| text.strip_prefix(start));
        let starts = [
            "-flto",
            "-fno-lto",
            "-ffat-lto-objects",
            "-fno-fat-lto-objects",
            "-gsplit-dwarf",
            "-fwhole-program-vtables",
        ];
        defined.into_iter().any(fortify) || starts.iter().any(|start| text.starts_with(start))
    }

    /// ThreadSanitizer wants to be told of the same accesses. The runtimes of others take the functions by which foretrace sees threads and
    /// memory, or cannot run at the addresses that it fixes. Those that only check values can stay.
    fn sanitizers(&mut self, list: &str) -> bool {
        const IN_THE_WAY: [&str; 7] =
            ["address", "kernel-address", "hwaddress", "kernel-hwaddress", "leak", "memory", "kernel-memory"];
        let of = |is_wanted: &dyn Fn(&str) -> bool| list.split(',').filter(|name| is_wanted(name)).collect::<Vec<_>>();
        let in_the_way = of(&|name| IN_THE_WAY.contains(&name));
        let kept = of(&|name| name != "thread" && !IN_THE_WAY.contains(&name));
        if kept.len() == list.split(',').count() {
            return false;
        }
        if kept.len() + in_the_way.len() < list.split(',').count() {
            self.found.notes.push("-fsanitize=thread is left out: foretrace records the accesses itself".to_owned());
        }
        if !in_the_way.is_empty() {
            let list = in_the_way.join(",");
            self.found.notes.push(format!("-fsanitize={list} is left out: foretrace would not see threads and memory"));
        }
        if !kept.is_empty() {
            self.found.parts.push(Argument::Shared(vec![format!("-fsanitize={}", kept.join(",")).into()]));
        }
        true
    }
}

/// Whether a word is an option; `-` alone is the standard input.
fn is_option(word: &OsStr) -> bool {
    word.as_encoded_bytes().starts_with(b"-") && word != "-"
}

fn takes_value(word: &OsStr) -> bool {
    word.to_str().is_some_and(|text| {
        WITH_VALUE.contains(&text)
            || LINKER_WITH_VALUE.contains(&text)
            || matches!(text, "-o" | "--output" | "-x" | "--language" | "-MF" | "-MT" | "-MQ")
    })
}

/// Whether an option asks clang about itself.
fn is_question(text: &str) -> bool {
    ["-print-", "--print-", "-dump"].iter().any(|start| text.starts_with(start))
}

fn is_dependency_option(text: &str) -> bool {
    ["-MD", "-MMD", "-MF", "-MT", "-MQ", "-MP", "-MG", "-MV", "-Wp,-M"].iter().any(|start| text.starts_with(start))
}

fn content_of_language(language: &OsStr) -> Content {
    match language.to_str() {
        Some(text) if text.starts_with("assembler") => Content::Assembly,
        Some(text) if text.contains("header") => Content::Header,
        _ => Content::Source,
    }
}

/// By its suffix, what a file holds; what we do not know the linker may.
fn content_of_file(file: &OsStr) -> Option<Content> {
    if file == "-" {
        return Some(Content::Source);
    }
    let suffix = Path::new(file).extension()?.to_str()?;
    if SOURCES.contains(&suffix) {
        Some(Content::Source)
    } else if ASSEMBLY.contains(&suffix) {
        Some(Content::Assembly)
    } else {
        HEADERS.contains(&suffix).then_some(Content::Header)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Arguments {
        Arguments::parse(line.split(' ').filter(|word| !word.is_empty()).map(OsString::from).collect())
    }

    fn shared(arguments: &Arguments) -> Vec<String> {
        let words = arguments.parts.iter().filter_map(|part| match part {
            Argument::Shared(words) => Some(words),
            _ => None,
        });
        words.flatten().map(|word| word.to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn goals_are_those_of_a_compiler() {
        for (line, goal) in [
            ("a.c -o a", Goal::Link),
            ("-c a.c", Goal::Objects),
            ("a.o -lm", Goal::Link),
            ("-E a.c", Goal::Straight),
            ("-c -S a.c", Goal::Straight),
            ("-M a.c", Goal::Straight),
            ("-MD -c a.c", Goal::Objects),
            ("--version", Goal::Straight),
            ("-print-file-name=libc.a", Goal::Straight),
            ("-v", Goal::Straight),
            ("-v a.c", Goal::Link),
            ("-### a.c", Goal::Straight),
            ("-Wl,--version", Goal::Straight),
            ("-c -emit-llvm a.c", Goal::Straight),
            ("", Goal::Straight),
        ] {
            assert_eq!(parse(line).goal, goal, "{line}");
        }
    }

    #[test]
    fn files_are_told_from_values() {
        let arguments =
            parse("-I inc.c -D x.c -include y.c -MF z.c -o out.c -Xlinker q.c real.c -x c - -x none b.o s.S");
        assert_eq!(arguments.compiled().collect::<Vec<_>>(), ["real.c", "-", "s.S"]);
        assert_eq!(arguments.output.as_deref(), Some(OsStr::new("out.c")));
        assert!(arguments.parts.contains(&Argument::Linked(vec!["b.o".into()])));
        let languages = arguments.parts.iter().filter_map(|part| match part {
            Argument::Compiled { content, language, .. } => Some((content.clone(), language.clone())),
            _ => None,
        });
        let languages: Vec<_> = languages.collect();
        let expected = [(Content::Source, None), (Content::Source, Some("c".into())), (Content::Assembly, None)];
        assert_eq!(languages, expected);
    }

    #[test]
    fn languages_last_until_the_next() {
        let arguments = parse("-xassembler-with-cpp a -x c++ b -xnone c.c -x c-header d");
        let found = arguments.parts.iter().map(|part| match part {
            Argument::Compiled { content, .. } => content.clone(),
            other => panic!("{other:?}"),
        });
        let expected = [Content::Assembly, Content::Source, Content::Source, Content::Header];
        assert_eq!(found.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn what_makes_no_sense_is_left_out() {
        let line = "-O2 -D_FORTIFY_SOURCE=2 -Wp,-D_FORTIFY_SOURCE=3 -U_FORTIFY_SOURCE -flto=thin -fsanitize=thread,undefined \
                    -fsanitize=address,leak,bounds -DX -fPIC -D _FORTIFY_SOURCE=1 -D Y -c a.c";
        let arguments = parse(line);
        assert_eq!(shared(&arguments), ["-fsanitize=undefined", "-fsanitize=bounds", "-DX", "-fPIC", "-D", "Y"]);
        assert_eq!(arguments.notes.len(), 2, "{:?}", arguments.notes);
        assert!(arguments.notes[1].starts_with("-fsanitize=address,leak is left out"), "{:?}", arguments.notes);
        assert!(arguments.parts.contains(&Argument::Level("-O2".into())));
    }

    #[test]
    fn libraries_are_told_from_programs() {
        for (line, library) in [
            ("a.c -shared", true),
            ("-r a.o b.o", true),
            ("a.c -Wl,-r", true),
            ("a.c -rdynamic", false),
            ("a.c -static", false),
            ("-I -shared a.c", false),
        ] {
            assert_eq!(parse(line).makes_library(), library, "{line}");
        }
    }

    #[test]
    fn our_own_options_are_not_for_clang() {
        let arguments = parse("--as-shipped -c a.c --print-include");
        assert!(arguments.as_shipped && arguments.print_include);
        assert_eq!(arguments.words, ["-c", "a.c"]);
    }
}
