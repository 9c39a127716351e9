//! Everything that builds programs, and everything that programs use for threads: recorded in every mode, they do what
//! they do without foretrace.

use crate::support::{Workshop, expect, is_installed, ran, source};
use serde_json::Value;
use std::path::Path;

/// Runs the program of a workshop as it is and recorded in several ways; the header of the last trace.
fn records(workshop: &Workshop, program: &str) -> Value {
    let native = ran(&mut workshop.shell(&format!("./{program}")));
    let mut header = Value::Null;
    for mode in ["--seed 0", "--seed 1", "--seed 2", "--seed 3", "--parallel"] {
        let recorded = ran(&mut workshop.shell(&format!("foretrace record -o run {mode} -- ./{program}")));
        assert_eq!((recorded.status, &recorded.out), (native.status, &native.out), "{mode}: {}", recorded.err);
        header = workshop.trace("run").swap_remove(0);
    }
    header
}

/// Builds one file and records it.
fn records_file(name: &str, flags: &[&str]) -> Value {
    records(&Workshop::build(&source(name), flags), "program")
}

/// Names in a table of the header, sorted.
fn names<'h>(header: &'h Value, of: &str) -> Vec<&'h str> {
    header[of].as_object().expect("a table").keys().map(String::as_str).collect()
}

/// Names in a table of the header of a program in one file, recorded without any choice.
fn names_of_objects(file: &str, of: &str) -> Vec<String> {
    let header = records_file(file, &["-pthread"]);
    names(&header, of).into_iter().map(str::to_string).collect()
}

#[test]
fn allocated_memory_is_named_by_its_types() {
    let line = std::fs::read_to_string(source("objects.c")).expect("read");
    let plain = line.lines().position(|line| line.contains("@plain")).expect("a mark") + 1;
    let vars = names_of_objects("objects.c", "vars");
    let [.., place] = &*vars.iter().filter(|name| name.starts_with("heap@")).collect::<Vec<_>>() else {
        panic!("{vars:?}")
    };
    assert!(place.ends_with(&format!("objects.c:{plain}")), "{place}");
    let typed: Vec<&str> = vars.iter().map(String::as_str).filter(|name| *name != place.as_str()).collect();
    let wanted = [
        "first",
        "list.length",
        "list.length#2",
        "list.next",
        "list.shapes",
        "shape_t.sizes[1].height",
        "shape_t[1].sizes[1].height",
    ];
    assert!(typed.iter().all(|name| wanted.contains(name)) && typed.contains(&"list.length#2"), "{typed:?}");
    assert_eq!(names_of_objects("objects.c", "sync"), ["list.lock"]);
}

#[test]
fn what_containers_hold_is_named_by_the_types_of_the_program() {
    let vars = names_of_objects("objects.cpp", "vars");
    for name in ["Item[1].stock", "Item.stock#2", "Store.sales_"] {
        assert!(vars.iter().any(|var| var == name), "{name}: {vars:?}");
    }
    assert_eq!(names_of_objects("objects.cpp", "sync"), ["Store.guard_"]);
}

#[test]
fn a_class_has_its_members_wherever_its_constructor_is() {
    let workshop = Workshop::empty();
    let source = source("two-units.cpp");
    let source = source.display();
    workshop.make(&format!("foretrace c++ -g -DDEPOT -c -o depot.o {source}"));
    workshop.make(&format!("foretrace c++ -g -o program {source} depot.o -pthread"));
    let header = records(&workshop, "program");
    assert!(names(&header, "vars").contains(&"main:depot.stock_"), "{header:#}");
    assert_eq!(names(&header, "sync"), ["main:depot.guard_"]);
}

/// What is inside of the pool is recorded and has its names, wherever the pool is.
fn is_the_pool(header: &Value) {
    assert_eq!(names(header, "vars"), ["last_taken", "the_pool.sizes[1]", "the_pool.used"]);
    assert_eq!(names(header, "sync"), ["the_pool.lock"]);
}

#[test]
fn objects_that_are_linked_later() {
    let workshop = Workshop::of_project("pool");
    workshop
        .make("foretrace cc -c pool.c && foretrace cc -c -o m.o main.c && foretrace cc -o prog m.o pool.o -pthread");
    is_the_pool(&records(&workshop, "prog"));
}

#[test]
fn several_units_at_once() {
    let workshop = Workshop::of_project("pool");
    workshop.make("foretrace cc -O2 -o prog main.c pool.c -pthread");
    is_the_pool(&records(&workshop, "prog"));
}

#[test]
fn a_static_archive() {
    let workshop = Workshop::of_project("pool");
    workshop.make("foretrace cc -c pool.c && ar rcs libpool.a pool.o && foretrace cc -o prog main.c -L. -lpool");
    is_the_pool(&records(&workshop, "prog"));
}

#[test]
fn a_shared_library_of_the_program() {
    let workshop = Workshop::of_project("pool");
    workshop.make("foretrace cc -shared -fPIC -o libpool.so pool.c");
    workshop.make("foretrace cc -o prog main.c -L. -lpool -Wl,-rpath,'$ORIGIN'");
    is_the_pool(&records(&workshop, "prog"));
}

#[test]
fn configure_and_make() {
    let workshop = Workshop::of_project("pool");
    workshop.make("chmod +x configure && CC='foretrace cc' ./configure && make");
    is_the_pool(&records(&workshop, "prog"));
}

#[test]
fn cmake() {
    if !is_installed("cmake") {
        return;
    }
    let workshop = Workshop::of_project("pool");
    workshop.make("ln -s \"$(command -v foretrace)\" foretrace-cc");
    workshop.make("PATH=\"$PWD:$PATH\" cmake -DCMAKE_C_COMPILER=foretrace-cc . && cmake --build .");
    is_the_pool(&records(&workshop, "prog"));
}

#[test]
fn a_static_program_is_refused() {
    let workshop = Workshop::of_project("pool");
    let refused = ran(&mut workshop.shell("foretrace cc -static -o prog main.c pool.c"));
    assert_eq!(refused.status, Some(2));
    assert!(refused.err.contains("-static") && refused.err.lines().count() == 1, "{}", refused.err);
    assert!(!workshop.path("prog").exists());
}

/// Trees, lists and strings do what they should, by a program that compares them with simple models: linked in every way, and by gcc.
#[test]
fn containers_of_cpp() {
    let workshop = Workshop::empty();
    let source = source("containers-model.cpp");
    for flags in ["-O1", "-O2 --as-shipped -static-libstdc++", "--gcc"] {
        workshop.make(&format!("foretrace c++ -std=c++17 -g {flags} -o model {} -pthread", source.display()));
        let run = ran(&mut workshop.shell("./model 1 20000"));
        assert_eq!((run.status, &*run.out), (Some(0), "20000 operations, 541 checks\n"), "{flags}: {}", run.err);
    }
    workshop.make(&format!("foretrace c++ -std=c++17 -g -o model {} -pthread", source.display()));
    let recorded = ran(&mut workshop.shell("foretrace record -o run -- ./model 2 300"));
    assert_eq!(recorded.status, Some(0), "{}", recorded.err);
    assert!(!recorded.err.contains("disagree"), "{}", recorded.err);
}

#[test]
fn threads_of_cpp() {
    let header = records_file("threads.cpp", &["-std=c++17"]);
    let sync = names(&header, "sync");
    ["mutex", "shared", "changed", "once"].iter().for_each(|name| assert!(sync.contains(name), "{sync:?}"));
    let vars = names(&header, "vars");
    ["counter", "table", "ready", "one.value"].iter().for_each(|name| assert!(vars.contains(name), "{vars:?}"));
    records_file("threads.cpp", &["-std=c++17", "--as-shipped", "-O2"]);
}

/// Lambdas have the name of the function that they stand in, atomics that of their variable. What a future and its promise share is the
/// library's.
/// The initialiser of the first thread throws: the next one makes what is made once, recorded or not.
#[test]
fn an_exception_leaves_to_others_what_happens_once() {
    let program = r#"
        #include <mutex>
        #include <thread>
        static std::once_flag once;
        static int tries, value;
        static void use() {
            try {
                std::call_once(once, [] { if (tries++ == 0) throw 1; value = 7; });
            } catch (int) {
                std::call_once(once, [] { value = 7; });
            }
        }
        int main() {
            std::thread one(use), other(use);
            one.join();
            other.join();
            return value;
        }
    "#;
    let workshop = Workshop::build_text(program, "throws.cpp");
    for recorded in ["", "foretrace record -o serial --", "foretrace record -o parallel --parallel --"] {
        let run = ran(&mut workshop.shell(&format!("timeout 60 {recorded} ./program")));
        assert_eq!(run.status, Some(7), "{recorded}: {}", run.err);
    }
}

#[test]
fn lambdas_and_futures_of_cpp() {
    let header = records_file("lambdas.cpp", &["-std=c++20", "-pthread"]);
    let threads = header["threads"].as_object().expect("a table").values();
    let mut threads: Vec<&str> = threads.map(|thread| thread["name"].as_str().expect("a name")).collect();
    threads.sort_unstable();
    assert_eq!(threads, ["Server::Server::lambda", "main", "main::lambda"]);
    let vars = names(&header, "vars");
    assert!(vars.contains(&"hits"), "{vars:?}");
    let shared = |var: &&&str| var.contains("_Sp_counted") && !var.starts_with("(std) ");
    let mut shown: Vec<&&str> = vars.iter().filter(shared).collect();
    shown.retain(|var| var.contains("_use_count"));
    assert!(shown.is_empty(), "{shown:?}");
}

/// A variable gives its type to what it points to, unless another of its name in the same function has another type.
#[test]
fn variables_of_one_name_give_no_wrong_names() {
    let header = records_file("shadowed.c", &["-pthread"]);
    let vars = names(&header, "vars");
    assert!(!vars.iter().any(|var| var.starts_with("point.")), "{vars:?}");
    let header = records_file("shadowed.c", &["-pthread", "-DSAME"]);
    let vars = names(&header, "vars");
    assert_eq!(vars.iter().filter(|var| var.starts_with("point.y")).count(), 2, "{vars:?}");
}

#[test]
fn a_static_guard() {
    records_file("static-guard.cpp", &[]);
}

#[test]
fn pairs_in_registers() {
    records_file("overflow.cpp", &[]);
    records_file("overflow.cpp", &["--as-shipped", "-O2"]);
}

/// The programs that the instrumenter is tested with: every construct of C and C++ that it knows. The walker computes
/// all values again and fails where one is not as recorded.
#[test]
fn every_construct() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/instrument/tests/programs");
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let file = entry.expect("an entry").path();
        records(&Workshop::build(&file, &["-w", "-lm"]), "program");
        records(&Workshop::build(&file, &["-w", "-lm", "--as-shipped", "-O2"]), "program");
    }
}

#[test]
fn threads_of_c11() {
    let header = records_file("c11.c", &[]);
    assert_eq!(names(&header, "sync"), ["changed", "mutex", "once"]);
    records_file("c11.c", &["--as-shipped", "-O2"]);
}

#[test]
fn threads_of_posix() {
    let header = records_file("posix.c", &[]);
    let sync = &header["sync"];
    let kinds = ["permits", "done", "barrier", "rwlock", "spin"].map(|name| sync[name]["kind"].as_str());
    assert_eq!(kinds.map(Option::unwrap), ["semaphore", "semaphore", "barrier", "rwlock", "mutex"]);
    assert_eq!(sync["recursive"]["recursive"], true);
    records_file("posix.c", &["--as-shipped", "-O2"]);
}

#[test]
fn threads_that_outlive_main() {
    records_file("outlived.c", &[]);
    records_file("after-main.c", &[]);
}

#[test]
fn other_processes_are_not_recorded_which_is_said_once() {
    let workshop = Workshop::build(&source("processes.c"), &[]);
    records(&workshop, "program");
    let run = ran(&mut workshop.shell("foretrace record -o run -- ./program"));
    let said: Vec<&str> = run.err.lines().filter(|line| line.contains("not recorded")).collect();
    let expected =
        ["processes that this one forks are not recorded", "the program that this one becomes is not recorded"];
    assert_eq!(said, expected.map(|text| format!("foretrace: {text}")));
    expect(0, &mut workshop.shell("foretrace predict --atomic threads run"));
}

/// Rather than that two threads write into one log.
#[test]
fn a_thread_with_the_locals_of_another_is_refused() {
    let workshop = Workshop::build(&source("shared-locals.c"), &[]);
    assert_eq!(ran(&mut workshop.shell("./program")).out, "1\n");
    let run = ran(&mut workshop.shell("foretrace record -o run -- ./program"));
    let said = "clone: a thread in the thread-local storage of its creator cannot be recorded";
    assert!(run.status == Some(134) && run.err.contains(said), "{}", run.err);
}
