//! System calls that the program makes by an instruction of its own, as the crate `rustix` does: assembly that is `syscall` and no more. The
//! runtime makes them in its place, so that they are recorded and replayed like those of the C library.

use crate::llvm::{Builder, Module, Opcode, Type, TypeKind, Value, ValueKind};

/// The runtime's function: `(number, six arguments) -> result`.
const HOOK: &str = "__foretrace_system_call";
const TEXT: &str = "syscall";

/// The register of the number and the result, and those of the arguments, as LLVM calls them.
const RESULT: &str = "ax";
const ARGUMENTS: [&str; 6] = ["di", "si", "dx", "r10", "r8", "r9"];
/// Calls after which code goes on twice, on another stack or elsewhere: `rt_sigreturn`, `clone`, `fork`, `vfork` and `clone3`. They stay.
const STAY: [u64; 5] = [15, 56, 57, 58, 435];
const WORD_BITS: u32 = 64;

/// Has the runtime make such calls of the functions.
pub fn give_to_runtime(module: &Module, functions: &[Value]) {
    let builder = Builder::new(module.context());
    for call in functions.iter().flat_map(|function| function.blocks()).flat_map(|block| block.instructions()) {
        if call.opcode() == Opcode::Call
            && call.callee().kind() == ValueKind::InlineAsm
            && call.callee().assembly().trim() == TEXT
            && let Some(registers) = Registers::of_constraints(&call.callee().constraints())
        {
            replace(module, &builder, call, &registers);
        }
    }
}

/// The registers of some assembly's results and of its operands, in their order.
#[derive(Debug, PartialEq)]
struct Registers {
    results: Vec<String>,
    operands: Vec<String>,
}

impl Registers {
    /// Nothing if some of them are not named.
    fn of_constraints(constraints: &str) -> Option<Registers> {
        let mut registers = Registers { results: Vec::new(), operands: Vec::new() };
        let named = |text: &str| Some(text.strip_prefix('{')?.strip_suffix('}')?.to_string());
        for constraint in constraints.split(',').filter(|constraint| !constraint.starts_with('~')) {
            if let Some(result) = constraint.strip_prefix('=') {
                registers.results.push(named(result.trim_start_matches('&'))?);
            } else if let Ok(result) = constraint.parse::<usize>() {
                registers.operands.push(registers.results.get(result)?.clone());
            } else {
                registers.operands.push(named(constraint)?);
            }
        }
        Some(registers)
    }

    fn operand(&self, register: &str) -> Option<usize> {
        self.operands.iter().position(|own| own == register)
    }
}

/// Does nothing if the operands are not a number and its arguments.
fn replace(module: &Module, builder: &Builder, call: Value, registers: &Registers) -> Option<()> {
    let word = module.context().int(WORD_BITS);
    let given = call.arguments();
    let number = *given.get(registers.operand(RESULT)?)?;
    let is_known = |register: &String| register == RESULT || ARGUMENTS.contains(&register.as_str());
    let fits = |value: &Value| matches!(value.ty().kind(), TypeKind::Integer | TypeKind::Pointer);
    let stays = number.kind() == ValueKind::Int && STAY.contains(&number.unsigned());
    let result = registers.results.iter().position(|register| register == RESULT)?;
    let slots = match call.ty().kind() {
        TypeKind::Struct => call.ty().fields(),
        _ => vec![call.ty()],
    };
    let slot = *slots.get(result)?;
    let is_whole = matches!(slot.kind(), TypeKind::Integer | TypeKind::Pointer);
    if stays || !is_whole || !registers.operands.iter().all(is_known) || !given.iter().all(fits) {
        return None;
    }
    builder.before(call);
    let argument = |register: &&str| match registers.operand(register).and_then(|at| given.get(at)) {
        Some(value) => as_word(builder, *value, word),
        None => word.zero(),
    };
    let mut arguments = vec![as_word(builder, number, word)];
    arguments.extend(ARGUMENTS.iter().map(argument));
    let ty = module.context().function(&[word; 7], word);
    let hook = module.function(HOOK).unwrap_or_else(|| module.declare(HOOK, ty));
    let found = builder.call(ty, hook, &arguments);
    let found = match slot.kind() {
        TypeKind::Pointer => builder.cast(Opcode::IntToPtr, found, slot),
        _ if slot.int_bits() < WORD_BITS => builder.cast(Opcode::Trunc, found, slot),
        _ => found,
    };
    call.replace_with(match call.ty().kind() {
        TypeKind::Struct => builder.insert(call.ty().poison(), found, u32::try_from(result).ok()?),
        _ => found,
    });
    call.erase();
    Some(())
}

fn as_word(builder: &Builder, value: Value, word: Type) -> Value {
    match value.ty().kind() {
        TypeKind::Pointer => builder.cast(Opcode::PtrToInt, value, word),
        // The kernel looks at the low part of what is narrower, and at the sign of none.
        _ if value.ty().int_bits() < WORD_BITS => builder.cast(Opcode::ZExt, value, word),
        _ => value,
    }
}

#[cfg(test)]
mod tests {
    use super::Registers;

    fn told(constraints: &str) -> Option<(String, String)> {
        let registers = Registers::of_constraints(constraints)?;
        Some((registers.results.join(" "), registers.operands.join(" ")))
    }

    #[test]
    fn constraints_say_which_registers_hold_what() {
        let both = |results: &str, operands: &str| Some((results.to_string(), operands.to_string()));
        assert_eq!(told("={ax},={cx},=&{r11},0,{di},{si},~{memory}"), both("ax cx r11", "ax di si"));
        assert_eq!(told("={ax},{ax},{r10},~{rcx},~{dirflag}"), both("ax", "ax r10"));
        for unknown in ["=r,{ax}", "={ax},*m,0", "={ax},1"] {
            assert_eq!(told(unknown), None, "{unknown}");
        }
    }
}
