//! Calls and intrinsics as the side-car describes them.

use crate::calls::{is_barrier, recorded_library};
use crate::describe::Scope;
use crate::intrinsics::{self, Intrinsic};
use crate::legalize_i128::{ATOMIC16_HOOK, ATOMIC16_SITE};
use crate::llvm::{Opcode, TailCall, Value, ValueKind};
use crate::operand::symbol_name;
use crate::shape::scalar_bits;
use crate::sidecar::{Atomic16Op, Callee, CastOp, Op};

impl Scope<'_> {
    /// A call or invoke.
    pub(crate) fn call(&self, call: Value) -> Op {
        match intrinsics::name_of_call(call) {
            Some(name) if call.opcode() == Opcode::Call => self.intrinsic(call, name),
            _ => self.real_call(call),
        }
    }

    fn real_call(&self, call: Value) -> Op {
        let target = call.callee();
        if let Some(pair) = self.pair(call) {
            return pair;
        }
        let callee = match target.kind() {
            ValueKind::Function | ValueKind::Alias | ValueKind::IFunc => Callee::Symbol(symbol_name(target)),
            ValueKind::InlineAsm if is_barrier(call) => return Op::Nothing,
            ValueKind::InlineAsm => Callee::Assembly,
            _ => Callee::Pointer(self.operands.describe(target)),
        };
        let unwinds = (call.opcode() == Opcode::Invoke).then(|| {
            let successors = call.successors();
            (self.block(successors[0]), self.block(successors[1]))
        });
        if let (Callee::Symbol(name), Some(_)) = (&callee, recorded_library(call)) {
            return Op::Library { name: name.clone(), arguments: self.operands.all(&call.arguments()), unwinds };
        }
        let silent = call.tail_call() == TailCall::Must
            || self.calls.surely_comes_back(target) && !call.call_has_attribute("returns_twice");
        Op::Call { callee, arguments: self.operands.all(&call.arguments()), result: !silent, unwinds }
    }

    /// An atomic access of 16 bytes.
    fn pair(&self, call: Value) -> Option<Op> {
        let is_pair = call.callee().kind() == ValueKind::Function && symbol_name(call.callee()) == ATOMIC16_HOOK;
        let arguments = is_pair.then(|| call.arguments())?;
        let by = Atomic16Op::from_code(arguments[0].unsigned())?;
        let words = self.operands.all(&arguments[2..ATOMIC16_SITE as usize]);
        Some(Op::Pair { by, address: self.operands.describe(arguments[1]), words })
    }

    fn intrinsic(&self, call: Value, name: String) -> Op {
        let argument = |index| self.operands.describe(call.operand(index));
        let is_private = |index| self.is_private(call.operand(index));
        match intrinsics::classify(&name) {
            Intrinsic::Nothing => Op::Nothing,
            Intrinsic::Copy => {
                let hooked = !(is_private(0) && is_private(1));
                Op::Copy { to: argument(0), from: argument(1), length: argument(2), hooked }
            }
            Intrinsic::Set => {
                Op::Set { to: argument(0), byte: argument(1), length: argument(2), hooked: !is_private(0) }
            }
            Intrinsic::First if scalar_bits(call.ty()) > 0 => {
                Op::Cast { by: CastOp::Move, bits: scalar_bits(call.ty()), value: argument(0) }
            }
            _ => Op::Intrinsic { name, arguments: self.operands.all(&call.arguments()) },
        }
    }
}
