//! The functions of LLVM-C that are used, in one table that is filled from the library when it is opened.
//!
//! Handles are pointers into LLVM, with one type for each kind. Where LLVM may answer null, the signature says `Option`.

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::ptr::NonNull;

macro_rules! handles {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[repr(transparent)]
        pub struct $name(pub(super) NonNull<c_void>);
    )*};
}

handles! {
    /// Anything that an instruction can use, and instructions and functions themselves.
    Value;
    /// The type of a value.
    Type;
    /// A basic block.
    Block;
    /// A node of debug information.
    Metadata;
    /// One use of a value.
    Use;
    /// What a debugger would be told at an instruction.
    DebugRecord;
    /// An attribute of a function or parameter.
    Attribute;
    /// A group of symbols of which the linker keeps one.
    Group;
    /// Sizes and offsets of types.
    Layout;
    /// Owns everything of a module.
    ContextRef;
    /// A module.
    ModuleRef;
    /// Where new instructions go.
    BuilderRef;
    /// Bytes in LLVM's hands.
    BufferRef;
    /// A kind of machine.
    TargetRef;
    /// A machine with its options.
    MachineRef;
    /// Options of passes.
    PassOptionsRef;
    /// Why passes failed.
    ErrorRef;
    /// A message to the user.
    DiagnosticRef;
}

/// Names as LLVM takes them.
pub type Text = *const c_char;
/// Messages that LLVM gives.
pub type Message = *mut c_char;
/// What is called with each message of a context.
pub type DiagnosticHandler = unsafe extern "C" fn(DiagnosticRef, *mut c_void);

macro_rules! table {
    ($($name:ident($($argument:ty),*) $(-> $result:ty)?;)*) => {
        /// The functions of the opened library.
        #[allow(non_snake_case, missing_docs, reason = "the names are LLVM's")]
        pub struct Api {
            $(pub $name: unsafe extern "C" fn($($argument),*) $(-> $result)?,)*
        }

        impl Api {
            /// Finds every function; the name of the first that is missing is the error.
            ///
            /// # Safety
            ///
            /// `find` answers with addresses in a library with LLVM-C of version 22 or newer, or null.
            pub unsafe fn find(find: impl Fn(&std::ffi::CStr) -> *mut c_void) -> Result<Api, &'static str> {
                Ok(Api {$(
                    $name: {
                        let name = concat!(stringify!($name), "\0");
                        let name = std::ffi::CStr::from_bytes_with_nul(name.as_bytes()).unwrap_or_default();
                        let address = NonNull::new(find(name)).ok_or(stringify!($name))?;
                        // SAFETY: LLVM-C declares this function with this signature.
                        unsafe {
                            std::mem::transmute::<NonNull<c_void>, unsafe extern "C" fn($($argument),*) $(-> $result)?>(address)
                        }
                    },
                )*})
            }
        }
    };
}

table! {
    // Library, context, module
    LLVMDisposeMessage(Message);
    LLVMContextCreate() -> ContextRef;
    LLVMContextDispose(ContextRef);
    LLVMContextSetDiagnosticHandler(ContextRef, Option<DiagnosticHandler>, *mut c_void);
    LLVMGetDiagInfoDescription(DiagnosticRef) -> Message;
    LLVMGetDiagInfoSeverity(DiagnosticRef) -> c_uint;
    LLVMCreateMemoryBufferWithMemoryRangeCopy(Text, usize, Text) -> BufferRef;
    LLVMParseIRInContext(ContextRef, BufferRef, *mut Option<ModuleRef>, *mut Message) -> c_int;
    LLVMDisposeModule(ModuleRef);
    LLVMVerifyModule(ModuleRef, c_uint, *mut Message) -> c_int;
    LLVMGetTarget(ModuleRef) -> Text;
    LLVMGetSourceFileName(ModuleRef, *mut usize) -> Text;
    LLVMGetModuleDataLayout(ModuleRef) -> Layout;
    LLVMAppendModuleInlineAsm(ModuleRef, Text, usize);
    LLVMSetModuleInlineAsm2(ModuleRef, Text, usize);
    LLVMCloneModule(ModuleRef) -> ModuleRef;
    LLVMLinkModules2(ModuleRef, ModuleRef) -> c_int;
    LLVMGetModuleFlag(ModuleRef, Text, usize) -> Option<Metadata>;
    LLVMGetNamedMetadataNumOperands(ModuleRef, Text) -> c_uint;
    LLVMGetNamedMetadataOperands(ModuleRef, Text, *mut Value);
    LLVMGetFirstFunction(ModuleRef) -> Option<Value>;
    LLVMGetNextFunction(Value) -> Option<Value>;
    LLVMGetNamedFunction(ModuleRef, Text) -> Option<Value>;
    LLVMAddFunction(ModuleRef, Text, Type) -> Value;
    LLVMGetFirstGlobal(ModuleRef) -> Option<Value>;
    LLVMGetNextGlobal(Value) -> Option<Value>;
    LLVMAddGlobal(ModuleRef, Type, Text) -> Value;
    LLVMDeleteFunction(Value);
    LLVMDeleteGlobal(Value);
    LLVMGetFirstGlobalAlias(ModuleRef) -> Option<Value>;
    LLVMGetNextGlobalAlias(Value) -> Option<Value>;
    LLVMAliasGetAliasee(Value) -> Value;
    LLVMEraseGlobalIFunc(Value);
    LLVMGetNamedGlobal(ModuleRef, Text) -> Option<Value>;
    LLVMGetFirstGlobalIFunc(ModuleRef) -> Option<Value>;
    LLVMGetNextGlobalIFunc(Value) -> Option<Value>;
    LLVMGetGlobalIFuncResolver(Value) -> Option<Value>;

    // Passes and code
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeX86AsmParser();
    LLVMGetTargetFromTriple(Text, *mut Option<TargetRef>, *mut Message) -> c_int;
    LLVMCreateTargetMachine(TargetRef, Text, Text, Text, c_uint, c_uint, c_uint) -> Option<MachineRef>;
    LLVMDisposeTargetMachine(MachineRef);
    LLVMTargetMachineEmitToMemoryBuffer(MachineRef, ModuleRef, c_uint, *mut Message, *mut Option<BufferRef>) -> c_int;
    LLVMGetBufferStart(BufferRef) -> Text;
    LLVMGetBufferSize(BufferRef) -> usize;
    LLVMDisposeMemoryBuffer(BufferRef);
    LLVMCreatePassBuilderOptions() -> PassOptionsRef;
    LLVMPassBuilderOptionsSetSLPVectorization(PassOptionsRef, c_int);
    LLVMDisposePassBuilderOptions(PassOptionsRef);
    LLVMRunPasses(ModuleRef, Text, MachineRef, PassOptionsRef) -> Option<ErrorRef>;
    LLVMGetErrorMessage(ErrorRef) -> Message;
    LLVMDisposeErrorMessage(Message);

    // Types
    LLVMTypeOf(Value) -> Type;
    LLVMGetTypeKind(Type) -> c_uint;
    LLVMGetIntTypeWidth(Type) -> c_uint;
    LLVMGetPointerAddressSpace(Type) -> c_uint;
    LLVMCountStructElementTypes(Type) -> c_uint;
    LLVMStructGetTypeAtIndex(Type, c_uint) -> Type;
    LLVMGetElementType(Type) -> Type;
    LLVMGetArrayLength2(Type) -> u64;
    LLVMABISizeOfType(Layout, Type) -> u64;
    LLVMStoreSizeOfType(Layout, Type) -> u64;
    LLVMOffsetOfElement(Layout, Type, c_uint) -> u64;
    LLVMIntTypeInContext(ContextRef, c_uint) -> Type;
    LLVMVoidTypeInContext(ContextRef) -> Type;
    LLVMPointerTypeInContext(ContextRef, c_uint) -> Type;
    LLVMFunctionType(Type, *const Type, c_uint, c_int) -> Type;
    LLVMStructTypeInContext(ContextRef, *const Type, c_uint, c_int) -> Type;
    LLVMGetReturnType(Type) -> Type;
    LLVMIsFunctionVarArg(Type) -> c_int;

    // Functions and globals
    LLVMGlobalGetValueType(Value) -> Type;
    LLVMIsDeclaration(Value) -> c_int;
    LLVMGetLinkage(Value) -> c_uint;
    LLVMSetLinkage(Value, c_uint);
    LLVMGetVisibility(Value) -> c_uint;
    LLVMSetVisibility(Value, c_uint);
    LLVMGetOrInsertComdat(ModuleRef, Text) -> Group;
    LLVMGetComdat(Value) -> Option<Group>;
    LLVMSetComdat(Value, Option<Group>);
    LLVMGetUnnamedAddress(Value) -> c_uint;
    LLVMSetUnnamedAddress(Value, c_uint);
    LLVMSetSection(Value, Text);
    LLVMGetSection(Value) -> Text;
    LLVMIsThreadLocal(Value) -> c_int;
    LLVMIsGlobalConstant(Value) -> c_int;
    LLVMCountParams(Value) -> c_uint;
    LLVMGetParam(Value, c_uint) -> Value;
    LLVMGetEnumAttributeKindForName(Text, usize) -> c_uint;
    LLVMCreateEnumAttribute(ContextRef, c_uint, u64) -> Attribute;
    LLVMGetEnumAttributeAtIndex(Value, c_uint, c_uint) -> Option<Attribute>;
    LLVMGetTypeAttributeValue(Attribute) -> Type;
    LLVMAddAttributeAtIndex(Value, c_uint, Attribute);
    LLVMRemoveEnumAttributeAtIndex(Value, c_uint, c_uint);
    LLVMRemoveCallSiteEnumAttribute(Value, c_uint, c_uint);
    LLVMGetStringAttributeAtIndex(Value, c_uint, Text, c_uint) -> Option<Attribute>;
    LLVMGetStringAttributeValue(Attribute, *mut c_uint) -> Text;
    LLVMCreateStringAttribute(ContextRef, Text, c_uint, Text, c_uint) -> Attribute;
    LLVMGetCallSiteEnumAttribute(Value, c_uint, c_uint) -> Option<Attribute>;
    LLVMGetAttributeCountAtIndex(Value, c_uint) -> c_uint;
    LLVMGetAttributesAtIndex(Value, c_uint, *mut Option<Attribute>);
    LLVMAddCallSiteAttribute(Value, c_uint, Attribute);
    LLVMGetFunctionCallConv(Value) -> c_uint;
    LLVMSetFunctionCallConv(Value, c_uint);
    LLVMSetInstructionCallConv(Value, c_uint);
    LLVMGetSubprogram(Value) -> Option<Metadata>;

    // Blocks
    LLVMBasicBlockAsValue(Block) -> Value;
    LLVMGetFirstBasicBlock(Value) -> Option<Block>;
    LLVMGetNextBasicBlock(Block) -> Option<Block>;
    LLVMAppendBasicBlockInContext(ContextRef, Value, Text) -> Block;
    LLVMGetBasicBlockParent(Block) -> Value;
    LLVMGetInstructionParent(Value) -> Block;
    LLVMGetFirstInstruction(Block) -> Option<Value>;

    // Instructions and constants
    LLVMGetNextInstruction(Value) -> Option<Value>;
    LLVMGetInstructionOpcode(Value) -> c_uint;
    LLVMGetNumOperands(Value) -> c_int;
    LLVMGetOperand(Value, c_uint) -> Option<Value>;
    LLVMSetOperand(Value, c_uint, Value);
    LLVMGetValueKind(Value) -> c_uint;
    LLVMGetValueName2(Value, *mut usize) -> Text;
    LLVMSetValueName2(Value, Text, usize);
    LLVMGetFirstUse(Value) -> Option<Use>;
    LLVMGetNextUse(Use) -> Option<Use>;
    LLVMGetUser(Use) -> Value;
    LLVMReplaceAllUsesWith(Value, Value);
    LLVMInstructionEraseFromParent(Value);
    LLVMGetNumSuccessors(Value) -> c_uint;
    LLVMGetSuccessor(Value, c_uint) -> Block;
    LLVMGetSwitchCaseValue(Value, c_uint) -> Value;
    LLVMCountIncoming(Value) -> c_uint;
    LLVMGetIncomingBlock(Value, c_uint) -> Block;
    LLVMGetIncomingValue(Value, c_uint) -> Value;
    LLVMAddIncoming(Value, *const Value, *const Block, c_uint);
    LLVMGetICmpPredicate(Value) -> c_uint;
    LLVMGetAllocatedType(Value) -> Type;
    LLVMGetAlignment(Value) -> c_uint;
    LLVMSetAlignment(Value, c_uint);
    LLVMGetVolatile(Value) -> c_int;
    LLVMSetVolatile(Value, c_int);
    LLVMSetOrdering(Value, c_uint);
    LLVMIsAtomic(Value) -> c_int;
    LLVMGetAtomicRMWBinOp(Value) -> c_uint;
    LLVMGetGEPSourceElementType(Value) -> Type;
    LLVMGetNumIndices(Value) -> c_uint;
    LLVMGetIndices(Value) -> *const c_uint;
    LLVMGetCalledValue(Value) -> Value;
    LLVMGetNumArgOperands(Value) -> c_uint;
    LLVMGetTailCallKind(Value) -> c_uint;
    LLVMSetTailCallKind(Value, c_uint);
    LLVMGetInlineAsmAsmString(Value, *mut usize) -> Text;
    LLVMGetInlineAsmDialect(Value) -> u32;
    LLVMGetInlineAsmConstraintString(Value, *mut usize) -> Text;
    LLVMGetConstOpcode(Value) -> c_uint;
    LLVMGetAggregateElement(Value, c_uint) -> Option<Value>;
    LLVMConstInt(Type, u64, c_int) -> Value;
    LLVMConstIntGetZExtValue(Value) -> u64;
    LLVMConstIntGetSExtValue(Value) -> i64;
    LLVMConstBitCast(Value, Type) -> Value;
    LLVMBlockAddress(Value, Block) -> Value;
    LLVMGetPoison(Type) -> Value;
    LLVMConstNull(Type) -> Value;

    // New instructions
    LLVMCreateBuilderInContext(ContextRef) -> BuilderRef;
    LLVMDisposeBuilder(BuilderRef);
    LLVMPositionBuilderBefore(BuilderRef, Value);
    LLVMPositionBuilderAtEnd(BuilderRef, Block);
    LLVMBuildCall2(BuilderRef, Type, Value, *const Value, c_uint, Text) -> Value;
    LLVMBuildInvoke2(BuilderRef, Type, Value, *const Value, c_uint, Block, Block, Text) -> Value;
    LLVMBuildLoad2(BuilderRef, Type, Value, Text) -> Value;
    LLVMBuildStore(BuilderRef, Value, Value) -> Value;
    LLVMBuildAlloca(BuilderRef, Type, Text) -> Value;
    LLVMBuildGEP2(BuilderRef, Type, Value, *const Value, c_uint, Text) -> Value;
    LLVMBuildPtrToInt(BuilderRef, Value, Type, Text) -> Value;
    LLVMBuildIntToPtr(BuilderRef, Value, Type, Text) -> Value;
    LLVMBuildZExt(BuilderRef, Value, Type, Text) -> Value;
    LLVMBuildTrunc(BuilderRef, Value, Type, Text) -> Value;
    LLVMBuildBitCast(BuilderRef, Value, Type, Text) -> Value;
    LLVMBuildBinOp(BuilderRef, c_uint, Value, Value, Text) -> Value;
    LLVMBuildICmp(BuilderRef, c_uint, Value, Value, Text) -> Value;
    LLVMBuildSelect(BuilderRef, Value, Value, Value, Text) -> Value;
    LLVMBuildExtractValue(BuilderRef, Value, c_uint, Text) -> Value;
    LLVMBuildInsertValue(BuilderRef, Value, Value, c_uint, Text) -> Value;
    LLVMBuildAtomicCmpXchg(BuilderRef, Value, Value, Value, c_uint, c_uint, c_int) -> Value;
    LLVMBuildAtomicRMW(BuilderRef, c_uint, Value, Value, c_uint, c_int) -> Value;
    LLVMBuildFreeze(BuilderRef, Value, Text) -> Value;
    LLVMBuildPhi(BuilderRef, Type, Text) -> Value;
    LLVMBuildBr(BuilderRef, Block) -> Value;
    LLVMBuildCondBr(BuilderRef, Value, Block, Block) -> Value;
    LLVMBuildRet(BuilderRef, Value) -> Value;
    LLVMBuildRetVoid(BuilderRef) -> Value;

    // Debug information
    LLVMMetadataAsValue(ContextRef, Metadata) -> Value;
    LLVMValueAsMetadata(Value) -> Option<Metadata>;
    LLVMGetMetadataKind(Metadata) -> c_uint;
    LLVMGetMDNodeNumOperands(Value) -> c_uint;
    LLVMGetMDNodeOperands(Value, *mut Option<Value>);
    LLVMGetMDString(Value, *mut c_uint) -> Text;
    LLVMInstructionGetDebugLoc(Value) -> Option<Metadata>;
    LLVMDILocationGetLine(Metadata) -> c_uint;
    LLVMDILocationGetColumn(Metadata) -> c_uint;
    LLVMDILocationGetScope(Metadata) -> Metadata;
    LLVMDILocationGetInlinedAt(Metadata) -> Option<Metadata>;
    LLVMDIScopeGetFile(Metadata) -> Option<Metadata>;
    LLVMDIFileGetFilename(Metadata, *mut c_uint) -> Text;
    LLVMDIFileGetDirectory(Metadata, *mut c_uint) -> Text;
    LLVMDISubprogramGetLine(Metadata) -> c_uint;
    LLVMGetFirstDbgRecord(Value) -> Option<DebugRecord>;
    LLVMGetNextDbgRecord(DebugRecord) -> Option<DebugRecord>;
    LLVMDbgRecordGetKind(DebugRecord) -> c_uint;
    LLVMDbgVariableRecordGetValue(DebugRecord, c_uint) -> Option<Value>;
    LLVMDbgVariableRecordGetVariable(DebugRecord) -> Metadata;
}
