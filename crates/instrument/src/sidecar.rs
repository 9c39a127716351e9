//! The side-car: a description of the instrumented code for the walker, as compact data in a section of the object.
//!
//! A linked program holds the side-cars of all its units one after the other, each in a frame: [`FRAME_MAGIC`], the length of the payload
//! (u32, little-endian), the payload (postcard, compressed with Zstandard).

use foretrace_runtime::record::atomic16;
use serde::{Deserialize, Serialize};

/// The section of objects and linked programs, not loaded.
pub const SECTION: &str = ".foretrace";

/// What a frame starts with; its last byte is the version.
pub const FRAME_MAGIC: [u8; 8] = *b"ftside\0\x03";

/// An index into [`Unit::locations`], 0 for none.
pub type LocationId = u32;
/// A block of a function, in the order of the side-car.
pub type BlockId = u32;

/// A compilation unit.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Unit {
    /// Upper part of all its sites.
    pub id: u32,
    /// Its source file as given to the compiler.
    pub source: String,
    /// The directory in which it was compiled.
    pub directory: String,
    /// Whether the program's own optimisations came before instrumentation.
    pub as_shipped: bool,
    /// Names of source files.
    pub files: Vec<String>,
    /// Source positions; the first stands for none.
    pub locations: Vec<Location>,
    /// The functions defined here.
    pub functions: Vec<Function>,
}

/// A source position.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub struct Location {
    /// Index into [`Unit::files`].
    pub file: u32,
    /// From 1; 0 where not known.
    pub line: u32,
    /// From 1; 0 where not known.
    pub column: u32,
    /// The function in the source that it lies in (of an inlined position, the inlined one).
    pub function: String,
    /// Where that function was inlined.
    pub inlined_at: LocationId,
}

/// A function.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Function {
    /// Lower part of the site of its entry. Its instructions have the numbers that follow, in order.
    pub site: u32,
    /// Its symbol.
    pub symbol: String,
    /// Its name in the source, qualified where the source has that (`Account::deposit`).
    pub name: String,
    /// Where it is declared.
    pub location: LocationId,
    /// Its parameters; those of scalar type are recorded at entry.
    pub parameters: Vec<Parameter>,
    /// What it returns.
    pub returns: Type,
    /// Whether it takes more arguments.
    pub variadic: bool,
    /// Its blocks, entry first.
    pub blocks: Vec<Block>,
}

/// A parameter.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Parameter {
    /// Its type.
    #[serde(rename = "type")]
    pub ty: Type,
    /// Its name in the source, if any.
    pub name: String,
    /// Bytes of the copy that the callee gets, where the parameter is a pointer to one.
    pub by_value: Option<u64>,
}

/// A basic block.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Block {
    /// Site of the first instruction, lower part; the others follow one by one.
    pub first: u32,
    /// What it does; the last one ends it.
    pub instructions: Vec<Instruction>,
}

/// The type of a value, as far as the walker cares.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Type {
    /// No value.
    Void,
    /// An integer of 1 to 64 bits.
    Int(u32),
    /// A pointer, 64 bits.
    Pointer,
    /// A float or double: 32 or 64 bits. Its bits are moved about, never computed.
    Float(u32),
    /// A struct or array of values in registers.
    Aggregate(Vec<Type>),
    /// Anything else, not tracked (vectors, wider numbers).
    Other,
}

impl Type {
    /// Bits of a scalar, what hooks record; 0 for anything else.
    pub fn bits(&self) -> u32 {
        match self {
            Type::Int(bits) | Type::Float(bits) => *bits,
            Type::Pointer => 64,
            Type::Void | Type::Aggregate(_) | Type::Other => 0,
        }
    }
}

/// An instruction.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Instruction {
    /// Where in the source it comes from.
    pub location: LocationId,
    /// The variable of the source that it gives a value to, empty if none.
    pub name: String,
    /// The type of its value.
    #[serde(rename = "type")]
    pub ty: Type,
    /// What it does.
    pub op: Op,
}

/// A value that an instruction uses.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Operand {
    /// The value of an instruction of the function: its site, lower part.
    Local(u32),
    /// A parameter.
    Parameter(u32),
    /// A constant of so many bits (a null pointer is 0 of 64).
    Constant(u32, u64),
    /// The address of a symbol of the program, and bytes beyond it.
    Address(String, i64),
    /// A constant aggregate.
    Aggregate(Vec<Operand>),
    /// Anything may stand here (undef, poison).
    Undefined,
    /// A constant that is not described: a vector, a wide number, an expression over addresses.
    Opaque,
    /// A constant float or double, of so many bits.
    Float(u32, u64),
}

/// What an instruction does. `hooked` accesses have a record of their own; others touch memory of the frame that is
/// never seen outside of it.
#[allow(missing_docs, reason = "fields are what the text before each names")]
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Op {
    /// Memory of the frame, `size` bytes for each of `count`. With `escapes` an `Alloca` record tells where.
    Alloca { size: u64, count: Operand, escapes: bool },
    /// A read of `size` bytes (1, 2, 4, 8 if hooked).
    Load { address: Operand, size: u64, hooked: bool, atomic: bool },
    /// A write of `size` bytes.
    Store { address: Operand, value: Operand, size: u64, hooked: bool, atomic: bool },
    /// A read or write of memory in one of the sizes that no single record can hold: as many `Load` or `Store`
    /// records as `pieces`, in order, each at the address plus its offset with its size. Its value is not tracked.
    /// One that is atomic is not split: without `value`, its records read what it left behind.
    Wide { address: Operand, value: Option<Operand>, pieces: Vec<(u64, u8)> },
    /// An atomic read-modify-write: an `Update` record.
    Update { address: Operand, operand: Operand, size: u64, by: UpdateOp },
    /// A compare-and-swap: an `Update` or `Failed` record. Its value is the old value and whether it succeeded.
    CompareAndSwap { address: Operand, expected: Operand, desired: Operand, size: u64 },
    /// An atomic access of 16 bytes: two records of the same kind, of the lower half and of the upper, with orders one after the other
    /// (`Load`, `Store`, `Update`, or `Failed` of a compare-and-swap). `words` are the halves of what is stored; of a
    /// compare-and-swap first those of what is expected. Its value is an aggregate of the halves of what was there.
    Pair { by: Atomic16Op, address: Operand, words: Vec<Operand> },
    /// memcpy or memmove: alternating `Load` and `Store` records of this site until `length` bytes are copied, not
    /// necessarily from low to high addresses.
    Copy { to: Operand, from: Operand, length: Operand, hooked: bool },
    /// memset: `Store` records of this site until `length` bytes are set.
    Set { to: Operand, byte: Operand, length: Operand, hooked: bool },
    /// Two integers to one.
    Binary { by: BinaryOp, left: Operand, right: Operand },
    /// Two scalars to a bit, of so many bits each.
    Compare { by: Predicate, bits: u32, left: Operand, right: Operand },
    /// One scalar to another: of so many bits before. `Move` keeps the bits (also freeze, bit and pointer casts).
    Cast { by: CastOp, bits: u32, value: Operand },
    /// One of two.
    Select { condition: Operand, yes: Operand, no: Operand },
    /// An address: `base + offset + Σ index·scale`, each index (of so many bits) sign-extended.
    Offset { base: Operand, offset: i64, indices: Vec<(Operand, u32, i64)> },
    /// One of several by the block that came before.
    Phi(Vec<(BlockId, Operand)>),
    /// A part of an aggregate.
    Extract { from: Operand, path: Vec<u32> },
    /// An aggregate with one part replaced.
    Insert { into: Operand, value: Operand, path: Vec<u32> },
    /// A conditional branch; a `BranchTrue` or `BranchFalse` record unless the condition can be computed.
    Branch { condition: Operand, yes: BlockId, no: BlockId, recorded: bool },
    /// An unconditional branch.
    Jump(BlockId),
    /// A choice among several; a `Switch` record unless the value can be computed.
    Switch { value: Operand, bits: u32, cases: Vec<(u64, BlockId)>, otherwise: BlockId, recorded: bool },
    /// A computed goto, a `Switch` record with the position in `to` of the block that it goes to.
    Indirect { address: Operand, to: Vec<BlockId> },
    /// A call. With `result` a `Result` record of this site follows when it comes back (of an aggregate, one `Value`
    /// record for each scalar in it comes after).
    Call { callee: Callee, arguments: Vec<Operand>, result: bool, unwinds: Option<(BlockId, BlockId)> },
    /// A call of one of LLVM's intrinsics that is kept as it is: if the value is scalar a `Value` record. Of
    /// `llvm.va_start` one with the address where arguments from registers are.
    Intrinsic { name: String, arguments: Vec<Operand> },
    /// A `Landing` record. Its value is not tracked.
    Landing,
    /// Unwinding goes on.
    Resume,
    /// Back to the caller.
    Return(Option<Operand>),
    /// Never comes here.
    Unreachable,
    /// Not described; `operands` left what is tracked. With `recorded` a `Value` record.
    Opaque { what: String, operands: Vec<Operand>, recorded: bool },
    /// No effect.
    Nothing,
    /// A call of a function of the C library whose accesses are recorded ([`foretrace_runtime::library`]): what it reads and
    /// writes as `Load` and `Store` records of this site, what functions that it calls back do, then a `Result` record.
    Library { name: String, arguments: Vec<Operand>, unwinds: Option<(BlockId, BlockId)> },
}

/// Whom a call calls.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Callee {
    /// A function by its symbol.
    Symbol(String),
    /// Through a pointer.
    Pointer(Operand),
    /// Assembly in the source.
    Assembly,
}

/// Operations on two integers, as LLVM has them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the names are LLVM's")]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    UDiv,
    SDiv,
    URem,
    SRem,
    Shl,
    LShr,
    AShr,
    And,
    Or,
    Xor,
}

/// Comparisons of integers and addresses.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the names are LLVM's")]
pub enum Predicate {
    Eq,
    Ne,
    Ugt,
    Uge,
    Ult,
    Ule,
    Sgt,
    Sge,
    Slt,
    Sle,
}

/// Casts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the names are LLVM's")]
pub enum CastOp {
    Trunc,
    ZExt,
    SExt,
    Move,
}

/// Atomic read-modify-writes; `Other` for those on floats and the like.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the names are LLVM's")]
pub enum UpdateOp {
    Xchg,
    Add,
    Sub,
    And,
    Nand,
    Or,
    Xor,
    Max,
    Min,
    UMax,
    UMin,
    Other,
}

/// Atomic accesses of 16 bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Atomic16Op {
    Load,
    Store,
    CompareAndSwap,
    Update(UpdateOp),
}

/// Those that hooks perform, by the numbers of LLVM and of hooks.
pub(crate) const UPDATES: [UpdateOp; 11] = {
    use UpdateOp::{Add, And, Max, Min, Nand, Or, Sub, UMax, UMin, Xchg, Xor};
    [Xchg, Add, Sub, And, Nand, Or, Xor, Max, Min, UMax, UMin]
};

impl Atomic16Op {
    /// The update of this number of LLVM's.
    pub fn update(number: u32) -> Option<Atomic16Op> {
        UPDATES.get(number as usize).copied().map(Atomic16Op::Update)
    }

    /// Its number, as the hook gets it.
    pub fn code(self) -> u64 {
        match self {
            Atomic16Op::Load => atomic16::LOAD,
            Atomic16Op::Store => atomic16::STORE,
            Atomic16Op::CompareAndSwap => atomic16::COMPARE_AND_SWAP,
            Atomic16Op::Update(by) => atomic16::UPDATE + by as u64,
        }
    }

    /// The one of this number.
    pub fn from_code(code: u64) -> Option<Atomic16Op> {
        Some(match code {
            atomic16::LOAD => Atomic16Op::Load,
            atomic16::STORE => Atomic16Op::Store,
            atomic16::COMPARE_AND_SWAP => Atomic16Op::CompareAndSwap,
            update => Atomic16Op::update(u32::try_from(update - atomic16::UPDATE).ok()?)?,
        })
    }
}

/// Why a section cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum SidecarError {
    /// Not one of ours, or cut off.
    #[error("at byte {0} of section {SECTION}: found no side-car of this version, expected one")]
    Frame(usize),
    /// Its payload makes no sense.
    #[error("at byte {at} of section {SECTION}: {what}")]
    Payload {
        /// Where.
        at: usize,
        /// What is wrong.
        what: String,
    },
}

/// A unit as a frame of the section.
pub fn encode(unit: &Unit) -> Vec<u8> {
    let plain = postcard::to_stdvec(unit).expect("plain data");
    let packed = zstd::encode_all(plain.as_slice(), 3).expect("memory to memory");
    let length = u32::try_from(packed.len()).expect("a side-car below 4 GiB");
    [FRAME_MAGIC.as_slice(), &length.to_le_bytes(), &packed].concat()
}

/// All units of a section.
pub fn decode(section: &[u8]) -> Result<Vec<Unit>, SidecarError> {
    let mut units = Vec::new();
    let mut at = 0;
    while at < section.len() {
        if section[at] == 0 {
            at += 1; // padding of the linker
            continue;
        }
        let (payload, end) = frame(&section[at..]).ok_or(SidecarError::Frame(at))?;
        let bad = |what: String| SidecarError::Payload { at, what };
        let plain = zstd::decode_all(payload).map_err(|error| bad(error.to_string()))?;
        units.push(postcard::from_bytes(&plain).map_err(|error| bad(error.to_string()))?);
        at += end;
    }
    Ok(units)
}

/// The payload of the frame that `bytes` start with, and where it ends.
fn frame(bytes: &[u8]) -> Option<(&[u8], usize)> {
    let rest = bytes.strip_prefix(&FRAME_MAGIC)?;
    let (length, rest) = rest.split_first_chunk()?;
    let length = u32::from_le_bytes(*length) as usize;
    Some((rest.get(..length)?, FRAME_MAGIC.len() + 4 + length))
}
