//! Instructions that only compute.

use super::Walk;
use super::registers::Scope;
use crate::expression::Expressions;
use crate::value::{Value, Word, signed};
use foretrace_instrument::sidecar::{BinaryOp, CastOp, Op, Operand, Predicate, Type};
use foretrace_trace::Func;

/// The function of terms that an operation is.
fn binary_func(by: BinaryOp) -> Func {
    match by {
        BinaryOp::Add => Func::BvAdd,
        BinaryOp::Sub => Func::BvSub,
        BinaryOp::Mul => Func::BvMul,
        BinaryOp::UDiv => Func::BvUdiv,
        BinaryOp::SDiv => Func::BvSdiv,
        BinaryOp::URem => Func::BvUrem,
        BinaryOp::SRem => Func::BvSrem,
        BinaryOp::Shl => Func::BvShl,
        BinaryOp::LShr => Func::BvLshr,
        BinaryOp::AShr => Func::BvAshr,
        BinaryOp::And => Func::BvAnd,
        BinaryOp::Or => Func::BvOr,
        BinaryOp::Xor => Func::BvXor,
    }
}

fn predicate_func(by: Predicate) -> Func {
    match by {
        Predicate::Eq => Func::Eq,
        Predicate::Ne => Func::Distinct,
        Predicate::Ugt => Func::BvUgt,
        Predicate::Uge => Func::BvUge,
        Predicate::Ult => Func::BvUlt,
        Predicate::Ule => Func::BvUle,
        Predicate::Sgt => Func::BvSgt,
        Predicate::Sge => Func::BvSge,
        Predicate::Slt => Func::BvSlt,
        Predicate::Sle => Func::BvSle,
    }
}

impl Walk<'_, '_> {
    pub(super) fn select(&mut self, condition: &Operand, yes: &Operand, no: &Operand, width: u32) -> Value {
        let condition = self.word(condition, 1);
        if width > 0 {
            let (yes, no) = (self.word(yes, width), self.word(no, width));
            return Value::Word(self.world.expressions.select(condition, yes, no));
        }
        if !condition.known {
            return Value::Untracked;
        }
        self.pin(condition, "choice of an aggregate");
        self.operand(if condition.bits != 0 { yes } else { no })
    }
}

impl Expressions {
    /// The scalar that an instruction without records and effects gives, if it gives one.
    #[inline(always)]
    pub(super) fn compute(&mut self, scope: Scope<'_>, op: &Op, ty: &Type) -> Option<Word> {
        Some(match op {
            Op::Binary { by, left, right } if ty.bits() > 0 => {
                let (left, right) = (scope.word(left, ty.bits()), scope.word(right, ty.bits()));
                self.binary(binary_func(*by), left, right)
            }
            Op::Compare { by, bits, left, right } => {
                let (left, right) = (scope.word(left, *bits), scope.word(right, *bits));
                self.compare(predicate_func(*by), left, right)
            }
            Op::Cast { by, bits, value } if ty.bits() > 0 => self.cast(*by, scope.word(value, *bits), ty.bits()),
            Op::Offset { base, offset, indices } => self.offset(scope, base, *offset, indices),
            _ => return None,
        })
    }

    #[inline(always)]
    fn cast(&mut self, by: CastOp, value: Word, width: u32) -> Word {
        match by {
            CastOp::Trunc => self.truncate(value, width),
            CastOp::ZExt => self.zero_extend(value, width),
            CastOp::SExt => self.sign_extend(value, width),
            // Between pointers and integers of other widths a move cuts or extends by zeros.
            CastOp::Move => self.zero_extend(value, width),
        }
    }

    #[inline(always)]
    fn offset(&mut self, scope: Scope<'_>, base: &Operand, offset: i64, indices: &[(Operand, u32, i64)]) -> Word {
        let mut sum = scope.word(base, 64);
        for (index, bits, scale) in indices {
            let index = scope.word(index, *bits);
            if sum.is_constant() && index.is_constant() {
                sum.bits = sum.bits.wrapping_add(signed(*bits, index.bits).wrapping_mul(*scale) as u64);
                continue;
            }
            let wide = self.sign_extend(index, 64);
            let scaled = self.binary(Func::BvMul, wide, Word::constant(64, *scale as u64));
            sum = self.binary(Func::BvAdd, sum, scaled);
        }
        if sum.is_constant() {
            return Word::constant(64, sum.bits.wrapping_add(offset as u64));
        }
        self.binary(Func::BvAdd, sum, Word::constant(64, offset as u64))
    }
}
