//! Whether a write that gcc announced has happened when it announces a read.
//!
//! For the copy of a struct gcc calls the hook of the write, then that of the read, and then copies. For `*p = 1; q = *r`
//! the calls are the same, but there is an instruction between them that writes memory. So the instructions between the
//! calls are looked at: loads, moves between registers and address arithmetic, as they set up arguments, write nothing. Whatever
//! else there is counts as a write.

/// Bytes that the set-up of a call may take.
const LONGEST: usize = 64;
/// Bytes of a near call.
const CALL: usize = 5;

/// Whether nothing is written between two calls that return to these addresses, the second right after the first.
pub fn nothing_is_written(first: u64, second: u64) -> bool {
    let Some(length) = second.checked_sub(first).map(|bytes| bytes as usize) else { return false };
    if !(CALL..=LONGEST).contains(&length) {
        return false;
    }
    // SAFETY: code of the program, which has just been executed.
    let code = unsafe { core::slice::from_raw_parts(first as *const u8, length) };
    only_sets_up(code)
}

/// Whether the code is such instructions and one call at its end.
fn only_sets_up(mut code: &[u8]) -> bool {
    while code.len() > CALL {
        match harmless(code) {
            Some(length) if length <= code.len() => code = &code[length..],
            _ => return false,
        }
    }
    code.len() == CALL && code[0] == 0xe8
}

/// The length of an instruction that writes no memory; nothing for any other.
fn harmless(code: &[u8]) -> Option<usize> {
    let prefix = usize::from(code[0] & 0xf0 == 0x40);
    let is_wide = prefix == 1 && code[0] & 8 != 0;
    let (opcode, rest) = (*code.get(prefix)?, code.get(prefix + 1..)?);
    let immediate = match opcode {
        0xb8..=0xbf => return Some(prefix + 1 + if is_wide { 8 } else { 4 }), // mov register, immediate
        0x05 => return Some(prefix + 5),                                      // add rax, immediate
        0x90 => return Some(prefix + 1),                                      // nop
        0x98 => return Some(prefix + 1),                                      // sign extension of rax
        0x8b | 0x8d | 0x63 | 0x03 => 0,                                       // mov, lea, movsxd, add: to a register
        0x89 | 0x01 | 0x29 | 0x31 => return is_register(rest).then_some(prefix + 2),
        0x83 if is_register(rest) => 1,
        0xc1 if is_register(rest) => 1,
        0x81 if is_register(rest) => 4,
        _ => return None,
    };
    Some(prefix + 1 + operand(rest)? + immediate)
}

/// Whether the operand that could be memory is a register.
fn is_register(rest: &[u8]) -> bool {
    rest.first().is_some_and(|byte| byte >> 6 == 3)
}

/// The bytes of the operand description that starts here.
fn operand(rest: &[u8]) -> Option<usize> {
    let byte = *rest.first()?;
    let (mode, base) = (byte >> 6, byte & 7);
    let indexed = usize::from(mode != 3 && base == 4);
    let displacement = match (mode, base) {
        (0, 5) | (2, _) => 4,
        (0, 4) if rest.get(1)? & 7 == 5 => 4,
        (1, _) => 1,
        _ => 0,
    };
    Some(1 + indexed + displacement)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CALL_SOMEWHERE: [u8; 5] = [0xe8, 1, 2, 3, 4];

    fn sets_up(code: &[u8]) -> bool {
        only_sets_up(&[code, &CALL_SOMEWHERE].concat())
    }

    #[test]
    fn arguments_are_set_up_without_writing() {
        assert!(sets_up(&[]));
        // mov esi, 28; lea rax, [rip + 0]; mov rdi, rax
        assert!(sets_up(&[0xbe, 0x1c, 0, 0, 0, 0x48, 0x8d, 0x05, 0, 0, 0, 0, 0x48, 0x89, 0xc7]));
        // lea rax, [rbp - 128]; mov rax, [rsp + 8]; add rax, 16; mov rdi, [rax]
        assert!(sets_up(&[0x48, 0x8d, 0x45, 0x80, 0x48, 0x8b, 0x44, 0x24, 8, 0x48, 0x83, 0xc0, 16, 0x48, 0x8b, 0x38]));
        // mov rdi, [rax * 8 + 0x601040]; movsxd rdx, edx; shl rdx, 4
        assert!(sets_up(&[0x48, 0x8b, 0x3c, 0xc5, 0x40, 0x10, 0x60, 0, 0x48, 0x63, 0xd2, 0x48, 0xc1, 0xe2, 4]));
    }

    #[test]
    fn whatever_writes_is_seen() {
        for write in [
            &[0x89, 0x1d, 0, 0, 0, 0][..],         // mov [rip + 0], ebx
            &[0xc7, 0x00, 1, 0, 0, 0],             // mov dword ptr [rax], 1
            &[0x48, 0x89, 0x45, 0xf8],             // mov [rbp - 8], rax
            &[0xc6, 0x00, 1],                      // mov byte ptr [rax], 1
            &[0x83, 0x00, 1],                      // add dword ptr [rax], 1
            &[0x66, 0x89, 0x03],                   // mov [rbx], ax
            &[0xf3, 0x0f, 0x11, 0x05, 0, 0, 0, 0], // movss [rip + 0], xmm0
            &[0x48, 0xab],                         // stosq
            &[0xe8, 0, 0, 0, 0],                   // a call of something else
        ] {
            assert!(!sets_up(write), "{write:x?}");
            assert!(!sets_up(&[&[0x48, 0x89, 0xc7], write].concat()), "{write:x?}");
        }
        assert!(!only_sets_up(&[0x48, 0x89, 0xc7]), "no call");
    }
}
