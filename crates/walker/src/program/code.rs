//! Whose code a source file holds, or a function of a library.

/// Whose code it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Code {
    /// The program's.
    Own,
    /// A library's that the program has compiled. It acts for its caller.
    Library,
    /// That of Rust's or C++'s standard library which threads meet in. It acts for itself: of what it keeps to do so users know nothing.
    Meeting,
}

/// Where Rust's standard library has what threads meet in, and threads. Atomics are not there: they are their users'.
const MEETING: [&str; 5] =
    ["alloc/src/sync.rs", "std/src/sync/", "std/src/sys/sync/", "std/src/sys/thread/", "std/src/thread/"];
/// Cells of one thread, in which its program keeps what it likes.
const THREAD_LOCAL: &str = "std/src/thread/local.rs";

/// Functions of libstdc++ (10 to 15) in which threads meet have names that start like this. They belong to counts of owners, the states of
/// `std::stop_token`, of futures and their promises, latches, semaphores, barriers, and the tables of threads that wait for an atomic.
/// `std::shared_ptr` itself, also in `std::atomic`, and `std::future` are not here: they are their users', like atomics.
/// A `std::shared_ptr` in `std::atomic` consists of its pointer and of its count, whose lowest bit is a lock for both (`LOCKED_COUNT_OF_CXX`).
const MEETING_OF_CXX: [&str; 11] = [
    "std::_Sp_counted_base<",
    "std::stop_token::_Stop_state_t::",
    "std::stop_token::_Stop_cb::",
    "std::stop_token::_Stop_state_ref::_Stop_state_ref",
    "std::__future_base::_State_baseV2::",
    "std::latch::",
    "std::counting_semaphore<",
    "std::__atomic_semaphore::",
    "std::barrier<",
    "std::__tree_barrier<",
    "std::__detail::__waiter",
];
/// How the names of such a count's functions start, and what they have further on. Each operation also accesses the pointer, which is the users'.
const LOCKED_COUNT_OF_CXX: [&str; 2] = ["std::_Sp_atomic<", "::_Atomic_count::"];
/// Those that ask how many owners there are without their users: at their ends they look whether a future is left that waits for them.
const ENDS_OF_CXX: [(&str, &str); 2] = [("std::promise<", "::~promise"), ("std::packaged_task<", "::~packaged_task")];
/// What tells users how many owners there are: they may decide by it.
const COUNT_OF_OWNERS: &str = "::_M_get_use_count";
/// The same of Rust's `Arc` and `Weak`, generic arguments left out.
const COUNTS_OF_RUST: [&str; 2] = ["::strong_count", "::weak_count"];

/// Where libraries have the operations of atomics.
const ATOMICS: [&str; 4] = ["/bits/atomic_base.h", "/bits/atomic_wait.h", "/atomic", "core/src/sync/atomic.rs"];

/// Where cargo keeps the crates that others have written.
const REGISTRIES: [&str; 2] = ["/registry/src/", "/.cargo/git/checkouts/"];
/// Where compilers' own code is: files of the system, and the crates that Rust's standard library is built on (hashbrown).
const OF_SYSTEM: [&str; 2] = ["/usr/", "/rust/deps/"];

impl Code {
    /// Of a file as a unit knows it that was compiled in this folder.
    pub fn of_file(directory: &str, file: &str) -> Code {
        let relative = !file.starts_with('/');
        let in_rust = match relative {
            true => of_rust(&format!("{directory}/{file}")).map(str::to_owned),
            false => of_rust(file).map(str::to_owned),
        };
        match in_rust {
            Some(file) if file != THREAD_LOCAL && MEETING.iter().any(|part| file.starts_with(part)) => Code::Meeting,
            Some(_) => Code::Library,
            None if OF_SYSTEM.iter().any(|start| file.starts_with(start)) => Code::Library,
            None if is_of_registry(directory, file) => Code::Library,
            None => Code::Own,
        }
    }

    /// Of a function in a file with this code, by its name with its scopes.
    pub fn of_function(self, name: &str) -> Code {
        let locks = || name.starts_with(LOCKED_COUNT_OF_CXX[0]) && name.contains(LOCKED_COUNT_OF_CXX[1]);
        let ends = || ENDS_OF_CXX.iter().any(|(start, end)| name.starts_with(start) && name.ends_with(end));
        let meets = || {
            let is_there = MEETING_OF_CXX.iter().any(|start| name.starts_with(start));
            is_there && !name.ends_with(COUNT_OF_OWNERS) || ends() || locks()
        };
        let is_count =
            |count: &&str| name.split_once(*count).is_some_and(|(_, rest)| rest.is_empty() || rest.starts_with('<'));
        let counts = || name.starts_with("alloc::sync::") && COUNTS_OF_RUST.iter().any(is_count);
        match self {
            Code::Library if meets() => Code::Meeting,
            Code::Meeting if counts() => Code::Library,
            _ => self,
        }
    }

    /// A file of such code as it is shown: the program's own below the folder in which its unit was compiled, others with all folders.
    /// So a dependency's `src/lib.rs` is never taken for the program's.
    pub fn shown_file(self, directory: &str, file: &str) -> String {
        let below = || file.strip_prefix(directory).and_then(|rest| rest.strip_prefix('/'));
        match self {
            Code::Own => below().unwrap_or(file).to_string(),
            _ if file.starts_with('/') || directory.is_empty() => file.to_string(),
            _ => format!("{directory}/{file}"),
        }
    }
}

/// Whether a place, as traces show it, is in a library's file. A file of the program's own that was compiled from a folder elsewhere, as by
/// CMake, is shown with all folders, too.
pub fn is_of_library(place: &str) -> bool {
    place.starts_with('/') && Code::of_file("", place) != Code::Own
}

/// Whether a library's file holds the operations of atomics: they act for who calls them.
pub(crate) fn holds_atomics(file: &str) -> bool {
    ATOMICS.iter().any(|end| file.ends_with(end))
}

/// Whether a file, as a unit knows it that was compiled in this folder, is of a crate that others have written.
pub(crate) fn is_of_registry(directory: &str, file: &str) -> bool {
    let is_relative = !file.starts_with('/');
    REGISTRIES.iter().any(|part| file.contains(part) || is_relative && directory.contains(part))
}

/// The file in Rust's library that a path leads to: one says where the library was built, or where the toolchain keeps its sources.
fn of_rust(path: &str) -> Option<&str> {
    let built = path.strip_prefix("/rustc/").and_then(|rest| rest.split_once('/')).map(|(_, file)| file);
    let kept = || path.split_once("/lib/rustlib/src/rust/").map(|(_, file)| file);
    let file = built.or_else(kept)?;
    Some(file.strip_prefix("library/").unwrap_or(file))
}

#[cfg(test)]
mod tests {
    use super::Code::{self, Library, Meeting, Own};

    #[test]
    fn files_say_whose_code_they_hold() {
        for (directory, file, code) in [
            ("/home/me/bank", "src/main.rs", Own),
            ("/home/me/bank", "src/std/src/sync/mod.rs", Own),
            ("/usr/src/bank", "bank.c", Own),
            ("/home/me/bank", "/usr/include/c++/12/bits/stl_vector.h", Library),
            ("/home/me/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/dashmap-6.1.0", "src/lib.rs", Library),
            ("/home/me/bank", "/home/me/.cargo/git/checkouts/dashmap-0123/4567/src/lib.rs", Library),
            ("/home/me/bank", "/rustc/0123abcd/library/alloc/src/vec/mod.rs", Library),
            ("/home/me/bank", "/rust/deps/hashbrown-0.16.1/src/raw/mod.rs", Library),
            ("/home/me/bank", "rust/deps/bank.rs", Own),
            ("/home/me/bank", "/rustc/0123abcd/library/core/src/sync/atomic.rs", Library),
            ("/home/me/bank", "/rustc/0123abcd/library/std/src/thread/local.rs", Library),
            ("/home/me/bank", "/rustc/0123abcd/library/alloc/src/sync.rs", Meeting),
            ("/rustc/0123abcd", "library/std/src/sync/barrier.rs", Meeting),
            ("/rustc/0123abcd", "library/std/src/io/stdio.rs", Library),
            ("/", "/home/me/.rustup/toolchains/stable/lib/rustlib/src/rust/library/std/src/thread/scoped.rs", Meeting),
            ("/", "/usr/lib/rustlib/src/rust/library/std/src/sys/sync/once/futex.rs", Meeting),
        ] {
            assert_eq!(Code::of_file(directory, file), code, "{file} in {directory}");
        }
    }

    #[test]
    fn places_say_whether_they_are_in_a_library() {
        for (place, expected) in [
            ("src/bank.c:12:5", false),
            ("../src/bank.c:12:5", false),
            ("/home/me/bank/src/bank.c:12:5", false),
            ("/usr/include/c++/12/bits/stl_vector.h:1126:9", true),
            ("/usr/lib/gcc/x86_64-linux-gnu/12/../../../../include/c++/12/list:9:1", true),
            ("/home/me/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/tokio-1.54.1/src/lib.rs:7:1", true),
            ("/rustc/0123abcd/library/std/src/sync/mpsc.rs:3:4", true),
        ] {
            assert_eq!(super::is_of_library(place), expected, "{place}");
        }
    }

    #[test]
    fn crates_from_a_registry_are_told_from_the_standard_library() {
        let fetched = "/home/me/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/tokio-1.54.1";
        for (directory, file, is_fetched) in [
            (fetched, "src/sync/notify.rs", true),
            ("/home/me/bank", "/home/me/.cargo/git/checkouts/dashmap-0123/4567/src/lib.rs", true),
            (fetched, "/rustc/0123abcd/library/core/src/sync/atomic.rs", false),
            ("/home/me/bank", "src/main.rs", false),
        ] {
            assert_eq!(super::is_of_registry(directory, file), is_fetched, "{file} in {directory}");
        }
    }

    #[test]
    fn functions_of_the_cxx_library_say_whether_threads_meet_in_them() {
        for (file, function, code) in [
            (Library, "std::_Sp_counted_base<(__gnu_cxx::_Lock_policy)2>::_M_release", Meeting),
            (Library, "std::_Sp_counted_base<(__gnu_cxx::_Lock_policy)2>::_M_get_use_count", Library),
            (Library, "std::__shared_ptr<const Conf, (__gnu_cxx::_Lock_policy)2>::get", Library),
            (Library, "std::stop_token::_Stop_state_t::_M_request_stop", Meeting),
            (Library, "std::stop_token::_Stop_state_ref::operator=", Library),
            (Library, "std::__atomic_base<int>::load", Library),
            (Library, "std::_Sp_atomic<std::shared_ptr<Conf> >::_Atomic_count::lock", Meeting),
            (Library, "std::_Sp_atomic<std::shared_ptr<Conf> >::load", Library),
            (Library, "std::__future_base::_State_baseV2::wait", Meeting),
            (Library, "std::__basic_future<int>::valid", Library),
            (Library, "std::packaged_task<long ()>::~packaged_task", Meeting),
            (Library, "std::packaged_task<long ()>::operator()", Library),
            (Own, "std::latch::wait", Own),
            (Meeting, "alloc::sync::Weak<app::Blob, alloc::alloc::Global>::strong_count<app::Blob>", Library),
            (Meeting, "alloc::sync::{impl#25}::weak_count", Library),
            (Meeting, "alloc::sync::{impl#25}::upgrade<app::Blob, alloc::alloc::Global>", Meeting),
        ] {
            assert_eq!(file.of_function(function), code, "{function}");
        }
    }

    #[test]
    fn files_of_dependencies_keep_their_folder() {
        let crate_folder = "/home/me/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/dashmap-6.1.0";
        for (directory, file, shown) in [
            ("/home/me/bank", "/home/me/bank/src/main.rs", "src/main.rs".to_string()),
            ("/home/me/bank", "src/main.rs", "src/main.rs".to_string()),
            (crate_folder, "src/lib.rs", format!("{crate_folder}/src/lib.rs")),
            ("/home/me/bank", "/usr/include/stdio.h", "/usr/include/stdio.h".to_string()),
        ] {
            assert_eq!(Code::of_file(directory, file).shown_file(directory, file), shown);
        }
    }
}
