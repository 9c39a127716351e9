//! Values as reports and stories show them.

use foretrace_trace::Value;

/// A word of 64 bits that is this far from zero is an address rather than a number.
const LARGEST: u64 = 1_000_000_000_000;

/// A value: words of 64 bits that look like addresses in hexadecimal, others as a trace's JSON shows them.
pub fn shown_value(value: &Value) -> String {
    let Value::BitVec { width: 64, bits } = value else { return value.to_string() };
    u64::try_from(bits).map_or_else(|_| value.to_string(), |word| shown_word(word, 8))
}

/// A word of so many bytes as the program would print it: small ones in decimal, with a sign; those that look like addresses in
/// hexadecimal.
pub fn shown_word(value: u64, bytes: u64) -> String {
    let signed = match bytes {
        1 => i64::from(value as u8),
        2 => i64::from(value as u16 as i16),
        4 => i64::from(value as u32 as i32),
        _ => value as i64,
    };
    if signed.unsigned_abs() < LARGEST { signed.to_string() } else { format!("{value:#x}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_shown_as_programs_print_them() {
        assert_eq!(shown_word(u64::from(u32::MAX), 4), "-1");
        assert_eq!(shown_word(110, 8), "110");
        assert_eq!(shown_word(0x5555_5555_92e0, 8), "0x5555555592e0");
    }

    #[test]
    fn an_address_of_a_trace_is_hexadecimal() {
        let word = |width: u32, value: i64| shown_value(&Value::word_from_int(width, &value.into()));
        assert_eq!(word(64, 0x5555_5555_92e0), "0x5555555592e0");
        assert_eq!(word(64, -1), "-1");
        assert_eq!(word(32, -1), "4294967295", "whether it has a sign is not known");
        assert_eq!(shown_value(&Value::Bool(true)), "true");
    }
}
