//! Places in the source as traces name them.

/// `file:line` or `file:line:column` in its parts.
pub(crate) fn parts_of_loc(loc: &str) -> Option<(&str, u32, u32)> {
    let (rest, last) = loc.rsplit_once(':')?;
    let last: u32 = last.parse().ok()?;
    let with_column = rest.rsplit_once(':').and_then(|(file, line)| Some((file, line.parse().ok()?, last)));
    Some(with_column.unwrap_or((rest, last, 0)))
}

/// Folders of code that no program owns, where a path starts with them.
const SYSTEM: [&str; 3] = ["/usr/", "/rustc/", "/rust/deps/"];
/// Folders of code that others wrote, anywhere in a path.
const OF_OTHERS: [&str; 3] = ["/lib/rustlib/src/rust/", "/registry/src/", "/.cargo/git/checkouts/"];

/// Whether a file is of a library, as far as its path says.
pub(crate) fn is_of_library(file: &str) -> bool {
    SYSTEM.iter().any(|start| file.starts_with(start)) || OF_OTHERS.iter().any(|folder| file.contains(folder))
}

#[cfg(test)]
mod tests {
    use super::is_of_library;

    #[test]
    fn paths_say_whether_a_file_is_of_a_library() {
        for (file, expected) in [
            ("src/main.rs", false),
            ("/home/me/bank/registry/table.h", false),
            ("/usr/include/c++/12/bits/stl_tree.h", true),
            ("/rustc/0123/library/std/src/sync/mpmc/list.rs", true),
            ("/rust/deps/hashbrown-0.16.1/src/raw/mod.rs", true),
            ("/home/me/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/dashmap-6.1.0/src/lib.rs", true),
        ] {
            assert_eq!(is_of_library(file), expected, "{file}");
        }
    }
}
