//! A function as it is executed: operands are places of its frame, and what only computes scalars says how in few words.
//!
//! A frame holds the values of the function's instructions, then those of its parameters, then the constants that operands are.

use crate::value::{Value, Word};
use foretrace_instrument::sidecar::{BinaryOp, BlockId, CastOp, Instruction, Op, Operand, Predicate};
use foretrace_trace::Func;
use rustc_hash::FxHashMap;

/// Where in a frame a value is.
pub(crate) type FrameSlot = u32;

/// How an instruction computes a scalar.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scalar {
    pub by: By,
    pub first: FrameSlot,
    pub second: FrameSlot,
    /// Bits of each operand; of an address of its index.
    pub width: u32,
    /// Bits of the result.
    pub bits: u32,
}

impl Scalar {
    /// Whether the instruction gives a scalar that is computed from its operands alone.
    #[inline]
    pub fn is_computed(&self) -> bool {
        !matches!(self.by, By::Other)
    }
}

/// What is done with the operands of a [`Scalar`].
#[derive(Clone, Copy, Debug)]
pub(crate) enum By {
    /// It is no such instruction.
    Other,
    Binary(Func),
    Compare(Func),
    Truncate,
    ZeroExtend,
    SignExtend,
    /// The first and a constant.
    Offset(i64),
    /// The first, the sign-extended second times a constant, and a constant.
    Index(i64, i64),
    /// The first, so many of [`Prepared::indices`] from there on, and a constant.
    Indices(u32, u32, i64),
}

/// What a block starts with: values that depend on the block before.
#[derive(Debug)]
pub(crate) struct Phis {
    /// The block's first instruction.
    pub start: usize,
    /// How many of them there are.
    pub count: usize,
    /// Per block before where they come from.
    from: Vec<(BlockId, Box<[FrameSlot]>)>,
}

impl Phis {
    /// Where they come from after a block.
    pub fn after(&self, block: BlockId) -> Option<&[FrameSlot]> {
        self.from.iter().find(|(from, _)| *from == block).map(|(_, places)| &**places)
    }
}

/// A function as it is executed.
#[derive(Debug)]
pub(crate) struct Prepared {
    /// Per instruction.
    pub scalars: Vec<Scalar>,
    pub blocks: Vec<Phis>,
    pub constants: Vec<Value>,
    /// Place, bits and factor.
    pub indices: Vec<(FrameSlot, u32, i64)>,
}

impl Prepared {
    /// Where an instruction that only computes has its operands.
    pub fn operands_of(&self, scalar: &Scalar) -> impl Iterator<Item = FrameSlot> {
        let (first, second, several) = match scalar.by {
            By::Other => (None, None, 0..0),
            By::Binary(_) | By::Compare(_) | By::Index(..) => (Some(scalar.first), Some(scalar.second), 0..0),
            By::Truncate | By::ZeroExtend | By::SignExtend | By::Offset(_) => (Some(scalar.first), None, 0..0),
            By::Indices(start, count, _) => (Some(scalar.first), None, start as usize..(start + count) as usize),
        };
        let several = self.indices[several].iter().map(|(place, _, _)| *place);
        first.into_iter().chain(second).chain(several)
    }

    /// `blocks` says where each block starts among the instructions.
    pub fn new(instructions: &[Instruction], parameters: usize, blocks: &[u32]) -> Prepared {
        let mut places = Places::new(instructions.len(), parameters);
        let mut indices = Vec::new();
        let scalars = instructions.iter().map(|one| scalar(one, &mut places, &mut indices)).collect();
        let blocks = blocks.iter().map(|start| phis(instructions, *start as usize, &mut places)).collect();
        Prepared { scalars, blocks, constants: places.constants, indices }
    }
}

/// Finds operands their places, constants new ones.
struct Places {
    instructions: FrameSlot,
    /// Where constants start.
    variables: FrameSlot,
    constants: Vec<Value>,
    words: FxHashMap<(u32, u64), FrameSlot>,
}

impl Places {
    fn new(instructions: usize, parameters: usize) -> Places {
        let instructions = instructions as FrameSlot;
        let variables = instructions + parameters as FrameSlot;
        Places { instructions, variables, constants: Vec::new(), words: FxHashMap::default() }
    }

    fn slot_of(&mut self, operand: &Operand) -> FrameSlot {
        match operand {
            Operand::Local(index) if *index < self.instructions => *index,
            Operand::Parameter(index) if *index < self.variables - self.instructions => self.instructions + index,
            Operand::Constant(width, bits) | Operand::Float(width, bits) => match self.words.get(&(*width, *bits)) {
                Some(place) => *place,
                None => {
                    let place = self.constant(operand);
                    self.words.insert((*width, *bits), place);
                    place
                }
            },
            _ => self.constant(operand),
        }
    }

    fn constant(&mut self, operand: &Operand) -> FrameSlot {
        self.constants.push(constant(operand));
        self.variables + self.constants.len() as FrameSlot - 1
    }
}

/// The value of an operand that is no instruction's and no parameter's.
pub(crate) fn constant(operand: &Operand) -> Value {
    match operand {
        Operand::Constant(width @ 1..=64, bits) | Operand::Float(width @ 1..=64, bits) => {
            Value::Word(Word::constant(*width, *bits))
        }
        Operand::Aggregate(parts) => Value::Aggregate(parts.iter().map(constant).collect()),
        _ => Value::Untracked,
    }
}

fn scalar(instruction: &Instruction, places: &mut Places, indices: &mut Vec<(FrameSlot, u32, i64)>) -> Scalar {
    let bits = match &instruction.op {
        Op::Compare { .. } => 1,
        Op::Offset { .. } => 64,
        _ => instruction.ty.bits(),
    };
    let (by, first, second, width) = match &instruction.op {
        Op::Binary { by, left, right } if bits > 0 => {
            (By::Binary(binary_func(*by)), places.slot_of(left), places.slot_of(right), bits)
        }
        Op::Compare { by, bits, left, right } => {
            (By::Compare(predicate_func(*by)), places.slot_of(left), places.slot_of(right), *bits)
        }
        Op::Cast { by, bits: width, value } if bits > 0 => (cast(*by), places.slot_of(value), 0, *width),
        Op::Offset { base, offset, indices: by } => match &by[..] {
            [] => (By::Offset(*offset), places.slot_of(base), 0, 64),
            [(index, width, scale)] => {
                (By::Index(*scale, *offset), places.slot_of(base), places.slot_of(index), *width)
            }
            several => {
                let start = indices.len() as u32;
                indices.extend(several.iter().map(|(index, width, scale)| (places.slot_of(index), *width, *scale)));
                (By::Indices(start, several.len() as u32, *offset), places.slot_of(base), 0, 64)
            }
        },
        _ => (By::Other, 0, 0, 0),
    };
    Scalar { by, first, second, width, bits }
}

fn phis(instructions: &[Instruction], start: usize, places: &mut Places) -> Phis {
    let sources = |one: &Instruction| match &one.op {
        Op::Phi(from) => Some(from.clone()),
        _ => None,
    };
    let of_block: Vec<_> = instructions[start..].iter().map_while(sources).collect();
    let blocks = of_block.first().into_iter().flatten().map(|(block, _)| *block);
    let after = |block: BlockId, places: &mut Places| -> Box<[FrameSlot]> {
        let source =
            |phi: &Vec<(BlockId, Operand)>| phi.iter().find(|(from, _)| *from == block).map(|(_, it)| it.clone());
        of_block.iter().map(|phi| places.slot_of(&source(phi).unwrap_or(Operand::Undefined))).collect()
    };
    let from = blocks.map(|block| (block, after(block, places))).collect();
    Phis { start, count: of_block.len(), from }
}

fn cast(by: CastOp) -> By {
    match by {
        CastOp::Trunc => By::Truncate,
        CastOp::SExt => By::SignExtend,
        // Between pointers and integers of other widths a move cuts or extends by zeros.
        CastOp::ZExt | CastOp::Move => By::ZeroExtend,
    }
}

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
