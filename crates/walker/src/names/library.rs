//! Names for people of memory that C++'s library keeps for the program: what the library calls its own members tells them nothing.

/// What the library calls the pieces that its containers allocate, and what it is for the program.
const PIECES: [(&str, &str); 6] = [
    ("_Rb_tree_node", "std::map node"),
    ("_Hash_node", "std::unordered_map node"),
    ("_List_node", "std::list node"),
    ("_Fwd_list_node", "std::forward_list node"),
    ("_Sp_counted", "std::shared_ptr count"),
    ("_State_base", "std::future state"),
];

/// How the library begins the names of members that a program does not use.
const MEMBER: &str = "._M_";

/// Members of the library whose elements are what the program put there.
const ELEMENTS: [&str; 2] = ["._M_elems", "._M_local_buf"];

/// A name for people where the library's own members are in the name of a variable: `cache.index_` of `cache.index_._M_h._M_element_count`.
/// Several variables may have one such name.
pub(crate) fn shown(key: &str) -> Option<String> {
    let mut name = String::new();
    let mut rest = key;
    while let Some(start) = rest.find(MEMBER) {
        let (before, member) = rest.split_at(start);
        name.push_str(before);
        let end =
            member[1..].find(|c: char| !c.is_ascii_alphanumeric() && c != '_').map_or(member.len(), |end| end + 1);
        rest = &member[end..];
        if !ELEMENTS.contains(&&member[..end]) {
            rest = without_offset(rest);
        }
    }
    name.push_str(rest);
    if let Some((piece, what)) = PIECES.iter().find(|(piece, _)| name.starts_with(piece)) {
        let end = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(name.len()).max(piece.len());
        name.replace_range(..end, what);
    }
    (name != key).then_some(name)
}

/// Without the element `[40]` and the bytes `+8` into something.
fn without_offset(text: &str) -> &str {
    let digits = |text: &str| text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let text = match text.strip_prefix('[') {
        Some(inner) => inner[digits(inner)..].strip_prefix(']').unwrap_or(text),
        None => text,
    };
    text.strip_prefix('+').map_or(text, |offset| &offset[digits(offset)..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn containers_are_named_without_their_insides() {
        for (key, name) in [
            ("main:r.sessions_._M_t._M_impl._M_header._M_parent", "main:r.sessions_"),
            ("main:c.jobs_._M_impl._M_finish._M_cur#2", "main:c.jobs_#2"),
            ("table._M_elems[3].open", "table[3].open"),
            ("who._M_local_buf[3]", "who[3]"),
            ("_Rb_tree_node<pair<const int, Session> >._M_right#3", "std::map node<pair<const int, Session> >#3"),
            ("_List_node<..>._M_storage._M_storage[16]+4", "std::list node<..>"),
            ("_Sp_counted_ptr_inplace<..>._M_use_count", "std::shared_ptr count<..>"),
        ] {
            assert_eq!(shown(key).as_deref(), Some(name), "{key}");
        }
        for own in ["Account.balance", "a._Mine", "list._m_head", "heap@a.c:3+8"] {
            assert_eq!(shown(own), None, "{own}");
        }
    }
}
