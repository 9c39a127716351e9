//! Arguments that are passed as a copy in memory (`byval`): the call makes that copy, and no instruction of the function reads what is
//! copied. An explicit copy before the call does, so that the reads are recorded like any others.

use crate::llvm::{Builder, Module, Opcode, TailCall, Type, Value};

/// The copy.
const COPY: &str = "llvm.memcpy.p0.p0.i64";
/// No argument that is passed so needs more, but for what says so itself.
const ALIGNMENT: u32 = 16;

/// Makes the copies of the functions' calls explicit.
pub fn copy_before_calls(module: &Module, functions: &[Value]) {
    let builder = Builder::new(module.context());
    for function in functions {
        for call in function.blocks().iter().flat_map(|block| block.instructions()).filter(|one| is_call(*one)) {
            for (index, argument) in (0..).zip(call.arguments()) {
                if let Some(ty) = call.call_parameter_type_attribute(index, "byval") {
                    call.set_operand(index, copy(module, &builder, call, argument, ty));
                }
            }
        }
    }
}

fn is_call(instruction: Value) -> bool {
    match instruction.opcode() {
        Opcode::Invoke => true,
        Opcode::Call => instruction.tail_call() != TailCall::Must, // it has no frame to copy to
        _ => false,
    }
}

/// A copy of what the argument points to, in the caller's frame.
fn copy(module: &Module, builder: &Builder, call: Value, argument: Value, ty: Type) -> Value {
    let context = module.context();
    let (pointer, word, bit) = (context.pointer(), context.int(64), context.int(1));
    builder.before(call.function_entry());
    let room = builder.alloca(ty);
    room.set_alignment(room.alignment().max(ALIGNMENT));
    let copying = context.function(&[pointer, pointer, word, bit], context.void());
    let function = module.function(COPY).unwrap_or_else(|| module.declare(COPY, copying));
    builder.before(call);
    let bytes = word.constant(module.layout().stored_size(ty));
    builder.call(copying, function, &[room, argument, bytes, bit.constant(0)]);
    room
}
