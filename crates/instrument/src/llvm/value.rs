//! Values, types and blocks: what can be asked of them.
//!
//! Each method is one call of LLVM-C that answers for any handle of the kind; where an instruction has to be of a
//! certain kind the method's text says which.

use super::api::{Attribute, Block, Layout, Type, Value};
use super::{Opcode, TypeKind, ValueKind, api, text};

/// Where attributes of the function itself are kept.
const FUNCTION: u32 = u32::MAX;

/// How a symbol is seen by the linker, as far as we care.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum Linkage {
    /// Strong and global.
    External = 0,
    /// A body for other passes to look at; the symbol is another module's.
    Elsewhere = 1,
    /// As `Weak`, and not there if it has no uses.
    WeakIfUsed = 2,
    /// As `Merged`, and not there if it has no uses.
    MergedIfUsed = 3,
    /// May be replaced by something else.
    Weak = 5,
    /// Merged with others of the same meaning.
    Merged = 6,
    /// A list that is joined with those of other modules.
    Appended = 7,
    /// Known to this module alone, with a symbol.
    Internal = 8,
    /// Known to this module alone, without a symbol.
    Private = 9,
}

impl Linkage {
    /// Whether it is known to this module alone.
    pub fn is_local(self) -> bool {
        matches!(self, Linkage::Internal | Linkage::Private)
    }

    /// Whether another symbol, which may mean something else, may take its place.
    pub fn is_replaceable(self) -> bool {
        matches!(self, Linkage::Weak | Linkage::WeakIfUsed)
    }
}

/// Whether a call may reuse the frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TailCall {
    /// It need not.
    Not,
    /// It has to.
    Must,
}

impl Value {
    /// Its type.
    pub fn ty(self) -> Type {
        unsafe { (api().LLVMTypeOf)(self) }
    }

    /// What it is.
    pub fn kind(self) -> ValueKind {
        ValueKind::from_code(unsafe { (api().LLVMGetValueKind)(self) })
    }

    /// Its name, empty for most.
    pub fn name(self) -> String {
        let mut length = 0;
        unsafe {
            let start = (api().LLVMGetValueName2)(self, &raw mut length);
            text(start, length)
        }
    }

    /// Names it.
    pub fn set_name(self, name: &str) {
        unsafe { (api().LLVMSetValueName2)(self, name.as_ptr().cast(), name.len()) }
    }

    /// What the instruction does.
    pub fn opcode(self) -> Opcode {
        Opcode::from_code(unsafe { (api().LLVMGetInstructionOpcode)(self) })
    }

    /// What the constant expression does.
    pub fn constant_opcode(self) -> Opcode {
        Opcode::from_code(unsafe { (api().LLVMGetConstOpcode)(self) })
    }

    /// How many operands it has.
    pub fn operand_count(self) -> u32 {
        unsafe { (api().LLVMGetNumOperands)(self) }.try_into().unwrap_or(0)
    }

    /// An operand that an instruction of this kind has.
    pub fn operand(self, index: u32) -> Value {
        unsafe { (api().LLVMGetOperand)(self, index) }.expect("an operand below the number of operands")
    }

    /// An operand, unless it has been dropped.
    pub fn operand_if_any(self, index: u32) -> Option<Value> {
        unsafe { (api().LLVMGetOperand)(self, index) }
    }

    /// Changes an operand.
    pub fn set_operand(self, index: u32, operand: Value) {
        unsafe { (api().LLVMSetOperand)(self, index, operand) }
    }

    /// All operands that are values.
    pub fn operands(self) -> Vec<Value> {
        (0..self.operand_count()).filter_map(|index| unsafe { (api().LLVMGetOperand)(self, index) }).collect()
    }

    /// Whoever uses it.
    pub fn users(self) -> Vec<Value> {
        let mut found = Vec::new();
        let mut next = unsafe { (api().LLVMGetFirstUse)(self) };
        while let Some(this) = next {
            found.push(unsafe { (api().LLVMGetUser)(this) });
            next = unsafe { (api().LLVMGetNextUse)(this) };
        }
        found
    }

    /// Puts another value in its place everywhere.
    pub fn replace_with(self, other: Value) {
        unsafe { (api().LLVMReplaceAllUsesWith)(self, other) }
    }

    /// Removes the instruction; this handle must not be used any more.
    pub fn erase(self) {
        unsafe { (api().LLVMInstructionEraseFromParent)(self) }
    }

    /// Calls another function of the same type.
    pub fn set_callee(self, function: Value) {
        self.set_operand(self.operand_count() - 1, function); // LLVM keeps it last
    }

    /// The instruction after it in its block.
    pub fn next(self) -> Option<Value> {
        unsafe { (api().LLVMGetNextInstruction)(self) }
    }

    /// The first instruction of the function that an instruction is in.
    pub fn function_entry(self) -> Value {
        let block = unsafe { (api().LLVMGetInstructionParent)(self) };
        let entry = block.function().blocks().into_iter().next();
        entry.and_then(Block::first).expect("a function with an instruction has a first one")
    }

    /// The function that an instruction is in.
    pub fn function(self) -> Value {
        unsafe { (api().LLVMGetInstructionParent)(self) }.function()
    }

    /// The blocks that a terminator leads to.
    pub fn successors(self) -> Vec<Block> {
        let count = unsafe { (api().LLVMGetNumSuccessors)(self) };
        (0..count).map(|index| unsafe { (api().LLVMGetSuccessor)(self, index) }).collect()
    }

    /// The value for which a switch goes to its successor of this index, from 1.
    pub fn case(self, successor: u32) -> Value {
        unsafe { (api().LLVMGetSwitchCaseValue)(self, successor) }
    }

    /// The blocks and values of a phi.
    pub fn incoming(self) -> Vec<(Block, Value)> {
        let count = unsafe { (api().LLVMCountIncoming)(self) };
        let one =
            |index| unsafe { ((api().LLVMGetIncomingBlock)(self, index), (api().LLVMGetIncomingValue)(self, index)) };
        (0..count).map(one).collect()
    }

    /// Adds one to a phi.
    pub fn add_incoming(self, block: Block, value: Value) {
        unsafe { (api().LLVMAddIncoming)(self, &raw const value, &raw const block, 1) }
    }

    /// The predicate of an integer comparison, LLVM's number.
    pub fn predicate(self) -> u32 {
        unsafe { (api().LLVMGetICmpPredicate)(self) }
    }

    /// What an alloca allocates.
    pub fn allocated_type(self) -> Type {
        unsafe { (api().LLVMGetAllocatedType)(self) }
    }

    /// Alignment in bytes of an access or alloca.
    pub fn alignment(self) -> u32 {
        unsafe { (api().LLVMGetAlignment)(self) }
    }

    /// Sets it.
    pub fn set_alignment(self, bytes: u32) {
        unsafe { (api().LLVMSetAlignment)(self, bytes) }
    }

    /// Whether an access is volatile.
    pub fn is_volatile(self) -> bool {
        unsafe { (api().LLVMGetVolatile)(self) != 0 }
    }

    /// Makes a load or store volatile, or not.
    pub fn set_volatile(self, volatile: bool) {
        unsafe { (api().LLVMSetVolatile)(self, volatile.into()) }
    }

    /// Whether an access is atomic.
    pub fn is_atomic(self) -> bool {
        unsafe { (api().LLVMIsAtomic)(self) != 0 }
    }

    /// The operation of an atomicrmw, LLVM's number.
    pub fn update_operation(self) -> u32 {
        unsafe { (api().LLVMGetAtomicRMWBinOp)(self) }
    }

    /// What a getelementptr starts from.
    pub fn element_type(self) -> Type {
        unsafe { (api().LLVMGetGEPSourceElementType)(self) }
    }

    /// The path of an extractvalue or insertvalue.
    pub fn path(self) -> Vec<u32> {
        let count = unsafe { (api().LLVMGetNumIndices)(self) } as usize;
        if count == 0 {
            return Vec::new();
        }
        // SAFETY: LLVM answers with that many indices, which live as long as the instruction.
        unsafe { std::slice::from_raw_parts((api().LLVMGetIndices)(self), count) }.to_vec()
    }

    /// Whom a call calls.
    pub fn callee(self) -> Value {
        unsafe { (api().LLVMGetCalledValue)(self) }
    }

    /// Whether it is a call that exceptions may leave.
    pub fn is_invoke(self) -> bool {
        self.opcode() == Opcode::Invoke
    }

    /// What a call passes.
    pub fn arguments(self) -> Vec<Value> {
        let count = unsafe { (api().LLVMGetNumArgOperands)(self) };
        (0..count).map(|index| self.operand(index)).collect()
    }

    /// Whether a call has to reuse the frame.
    pub fn tail_call(self) -> TailCall {
        if unsafe { (api().LLVMGetTailCallKind)(self) } == 2 { TailCall::Must } else { TailCall::Not }
    }

    /// Lets a call reuse the frame: where it can, or always.
    pub fn set_tail_call(self, always: bool) {
        unsafe { (api().LLVMSetTailCallKind)(self, if always { 2 } else { 1 }) }
    }

    /// Keeps the frame of the caller during a call, for debuggers and stack traces.
    pub fn keep_frame(self) {
        unsafe { (api().LLVMSetTailCallKind)(self, 3) }
    }

    /// Makes a call as its caller was called: the arguments are passed on the way they came.
    pub fn pass_on(self, caller: Value) {
        unsafe { (api().LLVMSetInstructionCallConv)(self, (api().LLVMGetFunctionCallConv)(caller)) };
        for (index, attribute) in caller.attributes().filter(|(index, _)| *index != FUNCTION) {
            unsafe { (api().LLVMAddCallSiteAttribute)(self, index, attribute) };
        }
    }

    /// The text of inline assembly.
    pub fn assembly(self) -> String {
        let mut length = 0;
        unsafe {
            let start = (api().LLVMGetInlineAsmAsmString)(self, &raw mut length);
            text(start, length)
        }
    }

    /// Whether inline assembly is in the syntax of Intel, not of AT&T.
    pub fn is_intel_assembly(self) -> bool {
        const INTEL: u32 = 1;
        unsafe { (api().LLVMGetInlineAsmDialect)(self) == INTEL }
    }

    /// What inline assembly takes and gives, and what it changes.
    pub fn constraints(self) -> String {
        let mut length = 0;
        unsafe {
            let start = (api().LLVMGetInlineAsmConstraintString)(self, &raw mut length);
            text(start, length)
        }
    }

    /// The value of an integer constant of up to 64 bits, zero-extended.
    pub fn unsigned(self) -> u64 {
        unsafe { (api().LLVMConstIntGetZExtValue)(self) }
    }

    /// The same, sign-extended.
    pub fn signed(self) -> i64 {
        unsafe { (api().LLVMConstIntGetSExtValue)(self) }
    }

    /// The constant's bits as another type of the same size.
    pub fn constant_as(self, ty: Type) -> Value {
        unsafe { (api().LLVMConstBitCast)(self, ty) }
    }

    /// An element of a constant aggregate.
    pub fn element(self, index: u32) -> Option<Value> {
        unsafe { (api().LLVMGetAggregateElement)(self, index) }
    }

    /// Whether a global has a copy for each thread.
    pub fn is_thread_local(self) -> bool {
        self.kind() == ValueKind::Global && unsafe { (api().LLVMIsThreadLocal)(self) != 0 }
    }

    /// Whether a variable never changes.
    pub fn is_constant_global(self) -> bool {
        unsafe { (api().LLVMIsGlobalConstant)(self) != 0 }
    }
}

/// Functions.
impl Value {
    /// What an alias stands for.
    pub fn aliasee(self) -> Value {
        unsafe { (api().LLVMAliasGetAliasee)(self) }
    }

    /// Removes a function without uses; this handle must not be used any more.
    pub fn delete_function(self) {
        unsafe { (api().LLVMDeleteFunction)(self) }
    }

    /// Removes a variable without uses; this handle must not be used any more.
    pub fn delete_global(self) {
        unsafe { (api().LLVMDeleteGlobal)(self) }
    }

    /// Removes an ifunc without uses; this handle must not be used any more.
    pub fn delete_ifunc(self) {
        unsafe { (api().LLVMEraseGlobalIFunc)(self) }
    }

    /// Whether a function has no body, or a variable no value here.
    pub fn is_declaration(self) -> bool {
        unsafe { (api().LLVMIsDeclaration)(self) != 0 }
    }

    /// How the linker sees it.
    pub fn linkage(self) -> Linkage {
        match unsafe { (api().LLVMGetLinkage)(self) } {
            0 => Linkage::External,
            1 => Linkage::Elsewhere,
            2 => Linkage::WeakIfUsed,
            3 | 4 => Linkage::MergedIfUsed,
            6 => Linkage::Merged,
            7 => Linkage::Appended,
            8 => Linkage::Internal,
            9 => Linkage::Private,
            _ => Linkage::Weak,
        }
    }

    /// Says how the linker sees it.
    pub fn set_linkage(self, linkage: Linkage) {
        unsafe { (api().LLVMSetLinkage)(self, linkage as u32) }
    }

    /// Makes it known to this module alone.
    pub fn make_internal(self) {
        unsafe { (api().LLVMSetVisibility)(self, 0) };
        self.set_linkage(Linkage::Internal);
    }

    /// Lets it be seen in this program or library alone.
    pub fn hide(self) {
        unsafe { (api().LLVMSetVisibility)(self, 1) }
    }

    /// Makes a function that was only declared look to the linker and to callers like another of its type.
    pub fn take_looks_of(self, other: Value) {
        unsafe {
            (api().LLVMSetLinkage)(self, (api().LLVMGetLinkage)(other));
            (api().LLVMSetVisibility)(self, (api().LLVMGetVisibility)(other));
            (api().LLVMSetUnnamedAddress)(self, (api().LLVMGetUnnamedAddress)(other));
            (api().LLVMSetComdat)(self, (api().LLVMGetComdat)(other));
            (api().LLVMSetFunctionCallConv)(self, (api().LLVMGetFunctionCallConv)(other));
            (api().LLVMSetSection)(self, (api().LLVMGetSection)(other));
            for (index, attribute) in other.attributes() {
                (api().LLVMAddAttributeAtIndex)(self, index, attribute);
            }
        }
    }

    /// The attributes of a function, of what it returns and of its parameters, with their places.
    fn attributes(self) -> impl Iterator<Item = (u32, Attribute)> {
        let count = unsafe { (api().LLVMCountParams)(self) };
        [FUNCTION].into_iter().chain(0..=count).flat_map(move |index| {
            let found = unsafe { (api().LLVMGetAttributeCountAtIndex)(self, index) } as usize;
            let mut attributes = vec![None; found];
            unsafe { (api().LLVMGetAttributesAtIndex)(self, index, attributes.as_mut_ptr()) };
            attributes.into_iter().flatten().map(move |attribute| (index, attribute))
        })
    }

    /// Takes it out of its group of symbols.
    pub fn leave_group(self) {
        unsafe { (api().LLVMSetComdat)(self, None) }
    }

    /// Whether it can be seen from other modules of the process.
    pub fn is_default_visible(self) -> bool {
        unsafe { (api().LLVMGetVisibility)(self) == 0 }
    }

    /// The section it was put into, empty for the usual one.
    pub fn section(self) -> String {
        // SAFETY: LLVM answers with a C string or null.
        unsafe {
            let start = (api().LLVMGetSection)(self);
            if start.is_null() { String::new() } else { std::ffi::CStr::from_ptr(start).to_string_lossy().into_owned() }
        }
    }

    /// The type of a function: what it takes and returns.
    pub fn function_type(self) -> Type {
        unsafe { (api().LLVMGlobalGetValueType)(self) }
    }

    /// A function's parameters.
    pub fn parameters(self) -> Vec<Value> {
        let count = unsafe { (api().LLVMCountParams)(self) };
        (0..count).map(|index| unsafe { (api().LLVMGetParam)(self, index) }).collect()
    }

    /// Whether a function has this attribute.
    pub fn has_attribute(self, name: &str) -> bool {
        unsafe { (api().LLVMGetEnumAttributeAtIndex)(self, FUNCTION, attribute(name)).is_some() }
    }

    /// Whether a call has this attribute, not asking its callee.
    pub fn call_has_attribute(self, name: &str) -> bool {
        unsafe { (api().LLVMGetCallSiteEnumAttribute)(self, FUNCTION, attribute(name)).is_some() }
    }

    /// The type that goes with an attribute of a parameter, such as `byval`.
    pub fn parameter_type_attribute(self, index: u32, name: &str) -> Option<Type> {
        unsafe {
            let found = (api().LLVMGetEnumAttributeAtIndex)(self, index + 1, attribute(name))?;
            Some((api().LLVMGetTypeAttributeValue)(found))
        }
    }

    /// The same of an argument of a call, not asking its callee.
    pub fn call_parameter_type_attribute(self, index: u32, name: &str) -> Option<Type> {
        unsafe {
            let found = (api().LLVMGetCallSiteEnumAttribute)(self, index + 1, attribute(name))?;
            Some((api().LLVMGetTypeAttributeValue)(found))
        }
    }

    /// A function's blocks, entry first.
    pub fn blocks(self) -> Vec<Block> {
        let first = unsafe { (api().LLVMGetFirstBasicBlock)(self) };
        std::iter::successors(first, |block| unsafe { (api().LLVMGetNextBasicBlock)(*block) }).collect()
    }
}

/// The number of an attribute.
pub(super) fn attribute(name: &str) -> u32 {
    unsafe { (api().LLVMGetEnumAttributeKindForName)(name.as_ptr().cast(), name.len()) }
}

impl Block {
    /// Its instructions.
    pub fn instructions(self) -> Vec<Value> {
        std::iter::successors(self.first(), |instruction| instruction.next()).collect()
    }

    /// The function that it is in.
    pub fn function(self) -> Value {
        unsafe { (api().LLVMGetBasicBlockParent)(self) }
    }

    /// Its address as a constant.
    pub fn address(self) -> Value {
        unsafe { (api().LLVMBlockAddress)(self.function(), self) }
    }

    /// Whoever uses it: those who jump there, and its address.
    pub fn users(self) -> Vec<Value> {
        unsafe { (api().LLVMBasicBlockAsValue)(self) }.users()
    }

    /// Its first instruction.
    pub fn first(self) -> Option<Value> {
        unsafe { (api().LLVMGetFirstInstruction)(self) }
    }
}

impl Type {
    /// What kind of type.
    pub fn kind(self) -> TypeKind {
        TypeKind::from_code(unsafe { (api().LLVMGetTypeKind)(self) })
    }

    /// Bits of an integer type.
    pub fn int_bits(self) -> u32 {
        unsafe { (api().LLVMGetIntTypeWidth)(self) }
    }

    /// Whether it is a pointer into the usual address space.
    pub fn is_plain_pointer(self) -> bool {
        self.kind() == TypeKind::Pointer && unsafe { (api().LLVMGetPointerAddressSpace)(self) == 0 }
    }

    /// The types of a struct's fields.
    pub fn fields(self) -> Vec<Type> {
        let count = unsafe { (api().LLVMCountStructElementTypes)(self) };
        (0..count).map(|index| self.field(index)).collect()
    }

    /// The type of one field.
    pub fn field(self, index: u32) -> Type {
        unsafe { (api().LLVMStructGetTypeAtIndex)(self, index) }
    }

    /// The type of an array's or vector's elements.
    pub fn element(self) -> Type {
        unsafe { (api().LLVMGetElementType)(self) }
    }

    /// The length of an array.
    pub fn array_length(self) -> u64 {
        unsafe { (api().LLVMGetArrayLength2)(self) }
    }

    /// What a function returns.
    pub fn returned(self) -> Type {
        unsafe { (api().LLVMGetReturnType)(self) }
    }

    /// Whether a function takes more arguments than it says.
    pub fn is_variadic(self) -> bool {
        unsafe { (api().LLVMIsFunctionVarArg)(self) != 0 }
    }

    /// A value of this type that may be anything.
    pub fn poison(self) -> Value {
        unsafe { (api().LLVMGetPoison)(self) }
    }

    /// The constant of which all bits are zero.
    pub fn zero(self) -> Value {
        unsafe { (api().LLVMConstNull)(self) }
    }

    /// A constant of this integer type.
    pub fn constant(self, value: u64) -> Value {
        unsafe { (api().LLVMConstInt)(self, value, 0) }
    }
}

impl Layout {
    /// Bytes from one element of an array to the next.
    pub fn size(self, ty: Type) -> u64 {
        unsafe { (api().LLVMABISizeOfType)(self, ty) }
    }

    /// Bytes that a load or store touches.
    pub fn stored_size(self, ty: Type) -> u64 {
        unsafe { (api().LLVMStoreSizeOfType)(self, ty) }
    }

    /// Where a field of a struct lies.
    pub fn offset(self, ty: Type, field: u32) -> u64 {
        unsafe { (api().LLVMOffsetOfElement)(self, ty, field) }
    }
}
