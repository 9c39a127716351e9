//! Blocks whose addresses are taken, for jumps that are computed.

use crate::llvm::{Block, Opcode, Value, ValueKind};

/// The tables that hold the addresses of a function's blocks. There are none if such an address is anywhere else, or if code does more with
/// it than jump there. With such tables, a copy of the function can have copies of its tables.
pub fn own_tables(function: Value) -> Option<Vec<Value>> {
    let blocks = function.blocks().into_iter().flat_map(Block::users);
    let addresses: Vec<Value> = blocks.filter(|user| user.kind() == ValueKind::BlockAddress).collect();
    let tables = holders(addresses)?;
    tables.iter().all(|table| table.linkage().is_local() && only_jumped_by(*table, function)).then_some(tables)
}

/// The variables that start with these constants in them; none if anything else has them.
fn holders(mut constants: Vec<Value>) -> Option<Vec<Value>> {
    let mut found = Vec::new();
    while let Some(constant) = constants.pop() {
        for user in constant.users() {
            match user.kind() {
                ValueKind::Global if found.contains(&user) => {}
                ValueKind::Global => found.push(user),
                ValueKind::Array | ValueKind::Struct => constants.push(user),
                _ => return None,
            }
        }
    }
    Some(found)
}

/// Whether all that is done with a table is that this function loads from it and jumps there.
fn only_jumped_by(table: Value, function: Value) -> bool {
    let mut addresses = vec![table];
    while let Some(address) = addresses.pop() {
        for user in address.users() {
            match user.kind() {
                ValueKind::Expression => addresses.push(user),
                ValueKind::Instruction if user.function() != function => return false,
                ValueKind::Instruction if user.opcode() == Opcode::GetElementPtr => addresses.push(user),
                ValueKind::Instruction if user.opcode() == Opcode::Load && is_only_jumped(user) => {}
                _ => return false,
            }
        }
    }
    true
}

/// Whether a value is where jumps go, and nothing else.
fn is_only_jumped(value: Value) -> bool {
    let mut targets = vec![value];
    let mut next = 0;
    while let Some(target) = targets.get(next) {
        next += 1;
        for user in target.users() {
            match user.opcode() {
                Opcode::IndirectBr => {}
                Opcode::Phi if targets.contains(&user) => {}
                Opcode::Phi => targets.push(user),
                _ => return false,
            }
        }
    }
    true
}
