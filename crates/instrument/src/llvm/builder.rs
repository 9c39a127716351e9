//! Building instructions.

use super::api::{Block, BuilderRef, Type, Value};
use super::{Context, Opcode, api};

/// Sequentially consistent.
const SEQUENTIAL: u32 = 7;

/// Inserts new instructions, with the source position of what it stands before.
pub struct Builder(BuilderRef);

impl Builder {
    /// A new one, which has to be positioned first.
    pub fn new(context: &Context) -> Builder {
        Builder(unsafe { (api().LLVMCreateBuilderInContext)(context.handle()) })
    }

    /// Goes before an instruction.
    pub fn before(&self, instruction: Value) {
        unsafe { (api().LLVMPositionBuilderBefore)(self.0, instruction) }
    }

    /// Goes to the end of a block.
    pub fn at_end(&self, block: Block) {
        unsafe { (api().LLVMPositionBuilderAtEnd)(self.0, block) }
    }

    /// Calls a function of this type.
    pub fn call(&self, ty: Type, function: Value, arguments: &[Value]) -> Value {
        let count = u32::try_from(arguments.len()).expect("few arguments");
        unsafe { (api().LLVMBuildCall2)(self.0, ty, function, arguments.as_ptr(), count, NO_NAME) }
    }

    /// The same where exceptions may leave the call: they lead to `unwind`.
    pub fn invoke(&self, ty: Type, function: Value, arguments: &[Value], next: Block, unwind: Block) -> Value {
        let count = u32::try_from(arguments.len()).expect("few arguments");
        unsafe { (api().LLVMBuildInvoke2)(self.0, ty, function, arguments.as_ptr(), count, next, unwind, NO_NAME) }
    }

    /// Loads.
    pub fn load(&self, ty: Type, address: Value) -> Value {
        unsafe { (api().LLVMBuildLoad2)(self.0, ty, address, NO_NAME) }
    }

    /// Stores.
    pub fn store(&self, value: Value, address: Value) -> Value {
        unsafe { (api().LLVMBuildStore)(self.0, value, address) }
    }

    /// A load that is atomic, in one order with all others.
    pub fn atomic_load(&self, ty: Type, address: Value) -> Value {
        let load = self.load(ty, address);
        unsafe { (api().LLVMSetOrdering)(load, SEQUENTIAL) };
        load
    }

    /// A store of this kind.
    pub fn atomic_store(&self, value: Value, address: Value) {
        let store = self.store(value, address);
        unsafe { (api().LLVMSetOrdering)(store, SEQUENTIAL) };
    }

    /// Memory of the frame.
    pub fn alloca(&self, ty: Type) -> Value {
        unsafe { (api().LLVMBuildAlloca)(self.0, ty, NO_NAME) }
    }

    /// An address so many bytes further; `byte` is the type of one.
    pub fn offset(&self, byte: Type, address: Value, bytes: Value) -> Value {
        unsafe { (api().LLVMBuildGEP2)(self.0, byte, address, &raw const bytes, 1, NO_NAME) }
    }

    /// A cast: of pointers, integers to wider or narrower ones, bits.
    pub fn cast(&self, by: Opcode, value: Value, to: Type) -> Value {
        let build = match by {
            Opcode::PtrToInt => api().LLVMBuildPtrToInt,
            Opcode::IntToPtr => api().LLVMBuildIntToPtr,
            Opcode::ZExt => api().LLVMBuildZExt,
            Opcode::Trunc => api().LLVMBuildTrunc,
            _ => api().LLVMBuildBitCast,
        };
        unsafe { build(self.0, value, to, NO_NAME) }
    }

    /// An operation on two numbers.
    pub fn binary(&self, by: Opcode, left: Value, right: Value) -> Value {
        unsafe { (api().LLVMBuildBinOp)(self.0, by as u32, left, right, NO_NAME) }
    }

    /// A comparison of integers, by LLVM's number.
    pub fn compare(&self, predicate: u32, left: Value, right: Value) -> Value {
        unsafe { (api().LLVMBuildICmp)(self.0, predicate, left, right, NO_NAME) }
    }

    /// One of two.
    pub fn select(&self, condition: Value, yes: Value, no: Value) -> Value {
        unsafe { (api().LLVMBuildSelect)(self.0, condition, yes, no, NO_NAME) }
    }

    /// A part of an aggregate.
    pub fn extract(&self, aggregate: Value, index: u32) -> Value {
        unsafe { (api().LLVMBuildExtractValue)(self.0, aggregate, index, NO_NAME) }
    }

    /// An aggregate with one part replaced.
    pub fn insert(&self, aggregate: Value, value: Value, index: u32) -> Value {
        unsafe { (api().LLVMBuildInsertValue)(self.0, aggregate, value, index, NO_NAME) }
    }

    /// A compare-and-swap.
    pub fn compare_and_swap(&self, address: Value, expected: Value, desired: Value) -> Value {
        unsafe { (api().LLVMBuildAtomicCmpXchg)(self.0, address, expected, desired, SEQUENTIAL, SEQUENTIAL, 0) }
    }

    /// An atomic read-modify-write of this number of LLVM's.
    pub fn update(&self, by: u32, address: Value, operand: Value) -> Value {
        unsafe { (api().LLVMBuildAtomicRMW)(self.0, by, address, operand, SEQUENTIAL, 0) }
    }

    /// The value, which may be undefined, decided.
    pub fn freeze(&self, value: Value) -> Value {
        unsafe { (api().LLVMBuildFreeze)(self.0, value, NO_NAME) }
    }

    /// A phi without values yet.
    pub fn phi(&self, ty: Type) -> Value {
        unsafe { (api().LLVMBuildPhi)(self.0, ty, NO_NAME) }
    }

    /// A jump.
    pub fn jump(&self, to: Block) {
        unsafe { (api().LLVMBuildBr)(self.0, to) };
    }

    /// A conditional branch.
    pub fn branch(&self, condition: Value, yes: Block, no: Block) {
        unsafe { (api().LLVMBuildCondBr)(self.0, condition, yes, no) };
    }

    /// A return.
    pub fn ret(&self, value: Value) {
        unsafe { (api().LLVMBuildRet)(self.0, value) };
    }

    /// A return of nothing.
    pub fn ret_nothing(&self) {
        unsafe { (api().LLVMBuildRetVoid)(self.0) };
    }
}

/// New instructions have no names.
const NO_NAME: super::api::Text = c"".as_ptr();

impl Drop for Builder {
    fn drop(&mut self) {
        // SAFETY: it is ours.
        unsafe { (api().LLVMDisposeBuilder)(self.0) }
    }
}
