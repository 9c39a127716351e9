//! Coroutines of older compilers, in the form that LLVM 22 takes apart.
//!
//! Up to LLVM 21 `llvm.coro.end` returned whether the code around it runs after the coroutine was resumed; unwinding needs that. From LLVM
//! 22 on it returns nothing, and `llvm.coro.is_in_ramp` returns the opposite. LLVM 22 does not update the older form: it ends the process
//! when it reads one. So the function has another name while bitcode is read.

use crate::llvm::{Builder, Module, Opcode, TypeKind, Value};
use std::borrow::Cow;

const END: &str = "llvm.coro.end";
const IN_RAMP: &str = "llvm.coro.is_in_ramp";
/// The name meanwhile: as long, and an intrinsic's, since those alone may take tokens.
const MEANWHILE: &str = "llvm.coro.old";

/// How a file of bitcode begins.
const MAGIC: [u8; 4] = *b"BC\xC0\xDE";
/// The block that holds the names of symbols.
const NAMES: u32 = 23;
/// An abbreviation's number that says that a block follows.
const BLOCK: u32 = 1;

/// Bitcode in which the ends of coroutines have the other name.
pub fn renamed(bitcode: &[u8]) -> Cow<'_, [u8]> {
    let mut renamed = Cow::Borrowed(bitcode);
    for names in blocks_of_names(bitcode) {
        let found = bitcode[names.clone()].windows(END.len()).enumerate().filter(|(_, name)| *name == END.as_bytes());
        for at in found.map(|(at, _)| names.start + at) {
            renamed.to_mut()[at..at + END.len()].copy_from_slice(MEANWHILE.as_bytes());
        }
    }
    renamed
}

/// Where the names of symbols are: the outermost blocks of a file begin at whole words and say how many words they have.
fn blocks_of_names(bitcode: &[u8]) -> Vec<std::ops::Range<usize>> {
    let word = |at: usize| Some(u32::from_le_bytes(*bitcode.get(at..)?.first_chunk()?));
    let (mut found, mut at) = (Vec::new(), MAGIC.len());
    while bitcode.starts_with(&MAGIC)
        && let (Some(head), Some(words)) = (word(at), word(at + 4))
        && head & 3 == BLOCK
    {
        let content = at + 8..(at + 8 + words as usize * 4).min(bitcode.len());
        at = content.end;
        if head >> 2 & 0xFF == NAMES {
            found.push(content);
        }
    }
    found
}

/// Gives the ends of coroutines their name and today's form.
pub fn bring_up_to_date(module: &Module) {
    let Some(old) = module.function(MEANWHILE) else { return };
    if old.function_type().returned().kind() == TypeKind::Void {
        return old.set_name(END);
    }
    let context = module.context();
    let bit = context.int(1);
    let parameters: Vec<_> = old.parameters().into_iter().map(Value::ty).collect();
    let (ty, asks) = (context.function(&parameters, context.void()), context.function(&[], bit));
    let (new, in_ramp) = (module.declare(END, ty), module.declare(IN_RAMP, asks));
    let builder = Builder::new(context);
    for call in old.users() {
        builder.before(call);
        builder.call(ty, new, &call.arguments());
        if !call.users().is_empty() {
            let ramp = builder.call(asks, in_ramp, &[]);
            call.replace_with(builder.binary(Opcode::Xor, ramp, bit.constant(1)));
        }
        call.erase();
    }
    old.delete_function();
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file of these blocks: number and content, in whole words.
    fn file(blocks: &[(u32, &[u8])]) -> Vec<u8> {
        let mut file = MAGIC.to_vec();
        for (number, content) in blocks {
            file.extend((number << 2 | BLOCK).to_le_bytes());
            file.extend((content.len() as u32 / 4).to_le_bytes());
            file.extend_from_slice(content);
        }
        file
    }

    #[test]
    fn only_names_of_symbols_are_renamed() {
        let text: &[u8] = b"a llvm.coro.end."; // 16 bytes
        let before = file(&[(8, text), (NAMES, text), (NAMES, b"main")]);
        let after = file(&[(8, text), (NAMES, b"a llvm.coro.old."), (NAMES, b"main")]);
        assert_eq!(renamed(&before).as_ref(), after);
        assert!(matches!(renamed(&file(&[(8, text), (NAMES, b"main")])), Cow::Borrowed(_)));
    }

    #[test]
    fn what_is_cut_off_or_text_stays_as_it_is() {
        let whole = file(&[(NAMES, b"a llvm.coro.end.")]);
        for length in 0..whole.len() - 2 {
            assert!(matches!(renamed(&whole[..length]), Cow::Borrowed(_)), "{length}");
        }
        assert!(matches!(renamed(b"declare i1 @llvm.coro.end(ptr, i1, token)"), Cow::Borrowed(_)));
    }
}
