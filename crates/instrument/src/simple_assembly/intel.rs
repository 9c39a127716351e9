//! Assembly in Intel's syntax, which Rust's `asm!` has by default, in the syntax of AT&T.

/// An instruction without `lock`: its operands the other way round, and the size in its name.
pub(super) fn to_att(instruction: &str) -> String {
    let Some((name, operands)) = instruction.split_once([' ', '\t']) else { return instruction.to_string() };
    let operands: Vec<(Option<char>, String)> = operands.split(',').map(|text| operand(text.trim())).collect();
    let is_set = name.starts_with("set"); // its size is in no name
    let of_memory = || operands.iter().find(|(size, text)| size.is_some() && text.starts_with('('));
    let sized = if is_set { None } else { of_memory().or_else(|| operands.iter().find(|(size, _)| size.is_some())) };
    let suffix = sized.and_then(|(size, _)| *size).map(String::from).unwrap_or_default();
    let reversed: Vec<&str> = operands.iter().rev().map(|(_, text)| text.as_str()).collect();
    format!("{name}{suffix} {}", reversed.join(","))
}

/// The size of an operand as a suffix, if it says one, and its text.
fn operand(text: &str) -> (Option<char>, String) {
    const SIZES: [(&str, char); 4] = [("byte", 'b'), ("word", 'w'), ("dword", 'l'), ("qword", 'q')];
    let sized = SIZES.iter().find_map(|(name, suffix)| Some((text.strip_prefix(name)?.trim_start(), *suffix)));
    let pointer = sized.and_then(|(rest, suffix)| Some((rest.strip_prefix("ptr")?.trim_start(), suffix)));
    let (size, text) = pointer.map_or((None, text), |(rest, suffix)| (Some(suffix), rest));
    if let Some(address) = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')) {
        return (size, format!("({})", address.trim()));
    }
    if text.starts_with(|first: char| first.is_ascii_digit() || first == '-') {
        return (size, format!("$${text}"));
    }
    (size.or_else(|| of_register(text)), text.to_string())
}

/// The size of a register of which a modifier names a part.
fn of_register(text: &str) -> Option<char> {
    match text.strip_suffix('}')?.rsplit_once(':')?.1 {
        "b" => Some('b'),
        "w" => Some('w'),
        "k" => Some('l'),
        "q" => Some('q'),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operands_change_places() {
        for (intel, att) in [
            ("not qword ptr [${0:q}]", "notq (${0:q})"),
            ("xadd dword ptr [${0:q}], ${1:k}", "xaddl ${1:k},(${0:q})"),
            ("xchg [${0:q}], ${1:k}", "xchgl ${1:k},(${0:q})"),
            ("mov ${0:q}, qword ptr [${1:q}]", "movq (${1:q}),${0:q}"),
            ("or dword ptr [$0], 1", "orl $$1,($0)"),
            ("xadd $0, $1", "xadd $1,$0"),
            ("sete ${1:b}", "sete ${1:b}"),
            ("pause", "pause"),
        ] {
            assert_eq!(to_att(intel), att);
        }
    }
}
