//! Long names of C++ and Rust in a short form, and texts cut to a width.

use std::borrow::Cow;

/// Longer names lose their arguments and the path in front of their last two segments.
const LONGEST_NAME: usize = 32;

/// What Rust calls a closure, and what reports call one, or one in another one.
const RUSTS_CLOSURE: &str = "::{{closure}}";
const CLOSURE: &str = "closure";

/// What stands for left-out text.
const LEFT_OUT: char = '…';

/// A long name without template arguments, arguments and the path in front of its last two segments: `ReadThroughCache<…>::get`. Of closures
/// within closures one is left.
pub fn short_name(name: &str) -> Cow<'_, str> {
    let plain = with_one_closure(name);
    if plain.chars().count() <= LONGEST_NAME {
        return plain;
    }
    match qualified(&plain) {
        Some((of, by, rest)) => {
            let by = by.map_or(String::new(), |by| format!(" as {}", last_segments(&without_arguments(by), 1)));
            Cow::Owned(format!("<{}{by}>{rest}", last_segments(&without_arguments(of), 1)))
        }
        None => Cow::Owned(last_segments(&without_arguments(&plain), 2).to_string()),
    }
}

/// The name of what a thread runs, in short form: a closure is named by the function that it is written in.
pub fn short_name_of_thread(name: &str) -> Cow<'_, str> {
    short_name(name.trim_end_matches(RUSTS_CLOSURE))
}

/// A name with `::closure` for each closure of Rust's, and for several in a row.
fn with_one_closure(name: &str) -> Cow<'_, str> {
    if !name.contains(RUSTS_CLOSURE) {
        return Cow::Borrowed(name);
    }
    let mut parts = name.split(RUSTS_CLOSURE);
    let mut plain = parts.next().unwrap_or_default().to_string();
    for part in parts {
        if !plain.ends_with("::closure") {
            plain.push_str("::closure");
        }
        plain.push_str(part);
    }
    Cow::Owned(plain)
}

/// Places inside of libraries, with `; ` between them, as reports show them. Reports show the first place, with its function's name in
/// short form and its header without the folders of the system. They give the number of the others.
pub fn in_library(places: &str) -> String {
    let mut places = places.split("; ");
    let first = places.next().unwrap_or_default();
    let first = match first.rsplit_once(", ") {
        Some((name, file)) => {
            let file = file.rsplit_once("/include/").map_or(file, |(_, file)| file);
            format!("{}, {file}", short_name(name))
        }
        None => first.to_string(),
    };
    match places.count() {
        0 => first,
        1 => format!("{first}, or 1 other place there"),
        more => format!("{first}, or {more} other places there"),
    }
}

/// The parts of `<Type as Trait>::function` and `<Type>::function`, as Rust writes them.
fn qualified(name: &str) -> Option<(&str, Option<&str>, &str)> {
    let inner = name.strip_prefix('<')?;
    let mut depth = 1;
    let end = inner.char_indices().find_map(|(at, c)| {
        match c {
            '<' => depth += 1,
            '>' if !inner[..at].ends_with('-') => depth -= 1,
            _ => {}
        }
        (depth == 0).then_some(at)
    })?;
    let (inside, rest) = (&inner[..end], &inner[end + 1..]);
    Some(match inside.split_once(" as ") {
        Some((of, by)) => (of, Some(by), rest),
        None => (inside, None, rest),
    })
}

/// A name with `<…>` for each list of template arguments and nothing for each list of arguments. `(anonymous namespace)` and operators
/// stay; a name whose brackets do not match stays as it is.
fn without_arguments(name: &str) -> String {
    let mut short = String::new();
    let mut open = Vec::new();
    for (at, c) in name.char_indices() {
        let stays = name[..at].trim_end_matches(['<', '>', '(', '-', '=']).ends_with("operator");
        match c {
            '<' | '(' if !stays && !name[at..].starts_with("(anonymous") => {
                if open.is_empty() && c == '<' {
                    short.extend(['<', LEFT_OUT, '>']);
                }
                open.push(c);
            }
            '>' | ')' if open.last() == Some(if c == '>' { &'<' } else { &'(' }) => {
                open.pop();
            }
            c if open.is_empty() => short.push(c),
            _ => {}
        }
    }
    if open.is_empty() { short } else { name.to_string() }
}

/// The last segments of a path, and those before as long as all are closures, which have no name.
fn last_segments(path: &str, most: usize) -> &str {
    let has_name = |segments: &&str| segments.split("::").any(|segment| segment != CLOSURE);
    let ends = path.rmatch_indices("::").map(|(at, separator)| &path[at + separator.len()..]);
    ends.skip(most - 1).find(has_name).unwrap_or(path)
}

/// Cuts a text to at most this many characters; the last one then says that some are left out.
pub fn cut(text: &str, most: usize) -> Cow<'_, str> {
    if text.chars().count() <= most {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().take(most.saturating_sub(1)).chain([LEFT_OUT]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_in_libraries_are_told_in_short() {
        for (places, told) in [
            ("alloc::vec::Vec<T>::push, alloc/src/vec/mod.rs:12", "alloc::vec::Vec<T>::push, alloc/src/vec/mod.rs:12"),
            (
                "std::_Rb_tree<int, std::pair<const int, int> >::_M_mbegin, /usr/lib/gcc/x/12/../../../../include/c++/12/bits/stl_tree.h:735",
                "_Rb_tree<…>::_M_mbegin, c++/12/bits/stl_tree.h:735",
            ),
            ("f, a.h:1; g, a.h:2", "f, a.h:1, or 1 other place there"),
            ("f, a.h:1; g, a.h:2; …", "f, a.h:1, or 2 other places there"),
        ] {
            assert_eq!(in_library(places), told);
        }
    }

    #[test]
    fn long_names_keep_their_last_two_segments() {
        let cases = [
            ("parking_lot::mutex::tests::lots_and_lots::{{closure}}", "lots_and_lots::closure"),
            ("client_main", "client_main"),
            ("cases::tests::keeps_the_total::{{closure}}::{{closure}}", "keeps_the_total::closure"),
            ("<a::very::long::Type<of::things> as core::ops::Drop>::drop", "<Type<…> as Drop>::drop"),
            ("<alloc::collections::vec_deque::VecDeque<T>>::push", "<VecDeque<…>>::push"),
            ("acme::storage::Cache<int, std::basic_string<char> >::get(int const&)", "Cache<…>::get"),
            (
                "(anonymous namespace)::worker_of_the_pool(std::vector<int>&)",
                "(anonymous namespace)::worker_of_the_pool",
            ),
            ("std::operator<< <std::char_traits<char> >(std::ostream&)", "std::operator<< <…>"),
            ("a_name_with_a_bracket_that_never_closes<int", "a_name_with_a_bracket_that_never_closes<int"),
        ];
        for (name, short) in cases {
            assert_eq!(short_name(name), short);
        }
    }

    #[test]
    fn texts_are_cut() {
        assert_eq!(cut("abcdef", 4), "abc…");
        assert_eq!(cut("abcd", 4), "abcd");
    }
}
