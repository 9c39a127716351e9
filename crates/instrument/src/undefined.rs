//! Undefined values. LLVM may choose another value at each use, and then a hook records another value than the program uses. This module
//! fixes the value once.

use crate::llvm::{Builder, Context, Opcode, Type, TypeKind, Value, ValueKind};

/// Puts zeros in the places of all undefined constants that instructions use.
pub fn decide_constants(context: &Context, functions: &[Value]) {
    let builder = Builder::new(context);
    for instruction in functions.iter().flat_map(|f| f.blocks()).flat_map(|block| block.instructions()) {
        if instruction.opcode() == Opcode::ShuffleVector {
            continue; // there it marks what is left out
        }
        builder.before(instruction);
        for index in 0..instruction.operand_count() {
            let decided = instruction.operand_if_any(index).and_then(|operand| decided(&builder, operand));
            if let Some(decided) = decided {
                instruction.set_operand(index, decided);
            }
        }
    }
}

/// The constant without what is undefined in it, if anything is.
fn decided(builder: &Builder, constant: Value) -> Option<Value> {
    let ty = constant.ty();
    match constant.kind() {
        ValueKind::Undef | ValueKind::Poison => has_zero(ty).then(|| ty.zero()),
        ValueKind::Struct | ValueKind::Array => {
            let count = if ty.kind() == TypeKind::Struct { ty.fields().len() as u64 } else { ty.array_length() };
            let elements: Vec<Value> = (0..u32::try_from(count).ok()?).map_while(|at| constant.element(at)).collect();
            let changed: Vec<Option<Value>> = elements.iter().map(|element| decided(builder, *element)).collect();
            changed.iter().any(Option::is_some).then(|| {
                let all = elements.iter().zip(changed).zip(0..);
                all.fold(ty.zero(), |whole, ((old, new), at)| builder.insert(whole, new.unwrap_or(*old), at))
            })
        }
        _ => None,
    }
}

fn has_zero(ty: Type) -> bool {
    use TypeKind::{Array, Double, Float, Integer, Pointer, Struct};
    matches!(ty.kind(), Integer | Pointer | Float | Double | Struct | Array)
}

/// Decides what is read from memory of the frame that has no hooks, and may never have been written.
pub fn decide_load(builder: &Builder, load: Value) {
    let Some(next) = load.next() else { return };
    builder.before(next);
    let decided = builder.freeze(load);
    load.replace_with(decided);
    decided.set_operand(0, load);
}
