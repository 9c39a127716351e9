//! Contexts, modules and the machine: from bitcode to an object.

use super::api::{BufferRef, ContextRef, DiagnosticRef, Layout, MachineRef, ModuleRef, TargetRef, Type, Value};
use super::{LlvmError, api, c_text, take_message, text};
use std::cell::RefCell;
use std::ffi::c_void;

/// Verification that answers with a message.
const RETURN_STATUS: u32 = 2;
/// Position-independent code.
const PIC: u32 = 2;
/// The default code model.
const MODEL: u32 = 0;
/// An object file, not assembly.
const OBJECT: u32 = 1;
/// Where attributes of the function itself are kept.
const FUNCTION: u32 = u32::MAX;
/// Features of x86 processors that older versions of clang rule out by name and LLVM 22 does not know.
const FORGOTTEN: [&str; 9] = [
    "-avx10.1-256",
    "-avx10.1-512",
    "-avx10.2-256",
    "-avx10.2-512",
    "-3dnow",
    "-3dnowa",
    "-avx512er",
    "-avx512pf",
    "-prefetchwt1",
];
/// Severity of messages that are errors.
const ERROR: u32 = 0;

/// Owns what modules consist of, and collects the errors that LLVM reports about them.
pub struct Context {
    handle: ContextRef,
    errors: Box<RefCell<Vec<String>>>,
}

impl Context {
    /// A new one; LLVM has to be open.
    pub fn new() -> Result<Context, LlvmError> {
        super::load()?;
        let handle = unsafe { (api().LLVMContextCreate)() };
        let errors = Box::new(RefCell::new(Vec::new()));
        let place = (&raw const *errors).cast_mut().cast::<c_void>();
        // SAFETY: the box lives as long as the context.
        unsafe { (api().LLVMContextSetDiagnosticHandler)(handle, Some(collect), place) };
        Ok(Context { handle, errors })
    }

    /// Reads bitcode (or textual IR).
    pub fn parse(&self, bitcode: &[u8], name: &str) -> Result<Module<'_>, LlvmError> {
        let (mut module, mut message) = (None, std::ptr::null_mut());
        // SAFETY: LLVM copies the bytes and takes the copy over.
        let failed = unsafe {
            let start = bitcode.as_ptr().cast();
            let buffer = (api().LLVMCreateMemoryBufferWithMemoryRangeCopy)(start, bitcode.len(), c_text(name).as_ptr());
            (api().LLVMParseIRInContext)(self.handle, buffer, &raw mut module, &raw mut message) != 0
        };
        let message = take_message(message);
        match module {
            Some(handle) if !failed => Ok(Module { handle, context: self }),
            _ => Err(self.said("reading bitcode", message)),
        }
    }

    /// An error with what LLVM says and what it reported before.
    fn said(&self, doing: &'static str, message: String) -> LlvmError {
        let mut all = self.errors.take();
        all.extend(Some(message.trim().to_owned()).filter(|message| !message.is_empty()));
        LlvmError::Said { doing, message: all.join("; ") }
    }

    pub(super) fn handle(&self) -> ContextRef {
        self.handle
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: its modules borrow it, so none is left.
        unsafe { (api().LLVMContextDispose)(self.handle) }
    }
}

/// Keeps the errors that LLVM reports instead of ending the process with them.
unsafe extern "C" fn collect(diagnostic: DiagnosticRef, errors: *mut c_void) {
    // SAFETY: LLVM passes the pointer that it was given, to a live box.
    unsafe {
        if (api().LLVMGetDiagInfoSeverity)(diagnostic) == ERROR {
            let message = take_message((api().LLVMGetDiagInfoDescription)(diagnostic));
            (*errors.cast::<RefCell<Vec<String>>>()).borrow_mut().push(message);
        }
    }
}

/// A compilation unit.
pub struct Module<'a> {
    handle: ModuleRef,
    context: &'a Context,
}

impl Module<'_> {
    /// The machine it is for.
    pub fn target(&self) -> String {
        // SAFETY: LLVM answers with a C string.
        unsafe { std::ffi::CStr::from_ptr((api().LLVMGetTarget)(self.handle)) }.to_string_lossy().into_owned()
    }

    /// Its source file as given to the compiler.
    pub fn source(&self) -> String {
        let mut length = 0;
        unsafe {
            let start = (api().LLVMGetSourceFileName)(self.handle, &raw mut length);
            text(start, length)
        }
    }

    /// Sizes and offsets of its types.
    pub fn layout(&self) -> Layout {
        unsafe { (api().LLVMGetModuleDataLayout)(self.handle) }
    }

    /// Whether it has a flag of this name.
    pub fn has_flag(&self, name: &str) -> bool {
        unsafe { (api().LLVMGetModuleFlag)(self.handle, name.as_ptr().cast(), name.len()).is_some() }
    }

    /// The nodes of a named list of metadata.
    pub fn named_metadata(&self, name: &str) -> Vec<Value> {
        let name = c_text(name);
        let count = unsafe { (api().LLVMGetNamedMetadataNumOperands)(self.handle, name.as_ptr()) } as usize;
        let mut nodes = Vec::with_capacity(count);
        // SAFETY: LLVM writes that many handles.
        unsafe {
            (api().LLVMGetNamedMetadataOperands)(self.handle, name.as_ptr(), nodes.as_mut_ptr());
            nodes.set_len(count);
        }
        nodes
    }

    /// Its functions, with and without body.
    pub fn functions(&self) -> Vec<Value> {
        let first = unsafe { (api().LLVMGetFirstFunction)(self.handle) };
        std::iter::successors(first, |function| unsafe { (api().LLVMGetNextFunction)(*function) }).collect()
    }

    /// Its variables, its own and others'.
    pub fn variables(&self) -> Vec<Value> {
        let first = unsafe { (api().LLVMGetFirstGlobal)(self.handle) };
        std::iter::successors(first, |variable| unsafe { (api().LLVMGetNextGlobal)(*variable) }).collect()
    }

    /// Its other names for things.
    pub fn aliases(&self) -> Vec<Value> {
        let first = unsafe { (api().LLVMGetFirstGlobalAlias)(self.handle) };
        std::iter::successors(first, |alias| unsafe { (api().LLVMGetNextGlobalAlias)(*alias) }).collect()
    }

    /// Its functions whose implementation is chosen at load time.
    pub fn ifuncs(&self) -> Vec<Value> {
        let first = unsafe { (api().LLVMGetFirstGlobalIFunc)(self.handle) };
        std::iter::successors(first, |ifunc| unsafe { (api().LLVMGetNextGlobalIFunc)(*ifunc) }).collect()
    }

    /// All that has a name in it.
    pub fn symbols(&self) -> Vec<Value> {
        [self.functions(), self.variables(), self.aliases(), self.ifuncs()].concat()
    }

    /// The functions that answer at load time which implementation to use.
    pub fn resolvers(&self) -> Vec<Value> {
        let resolver = |ifunc| unsafe { (api().LLVMGetGlobalIFuncResolver)(ifunc) };
        self.ifuncs().into_iter().filter_map(resolver).collect()
    }

    /// The function of this name.
    pub fn function(&self, name: &str) -> Option<Value> {
        unsafe { (api().LLVMGetNamedFunction)(self.handle, c_text(name).as_ptr()) }
    }

    /// The variable of this name.
    pub fn variable(&self, name: &str) -> Option<Value> {
        unsafe { (api().LLVMGetNamedGlobal)(self.handle, c_text(name).as_ptr()) }
    }

    /// Adds what a piece of textual IR defines.
    pub fn link(&self, text: &str) -> Result<(), LlvmError> {
        let other = self.context.parse(text.as_bytes(), "hooks")?;
        let handle = other.handle;
        std::mem::forget(other); // linking takes it over
        match unsafe { (api().LLVMLinkModules2)(self.handle, handle) } {
            0 => Ok(()),
            _ => Err(self.context.said("linking hooks", String::new())),
        }
    }

    /// Declares a function.
    pub fn declare(&self, name: &str, ty: Type) -> Value {
        unsafe { (api().LLVMAddFunction)(self.handle, c_text(name).as_ptr(), ty) }
    }

    /// Declares a variable.
    pub fn declare_variable(&self, name: &str, ty: Type) -> Value {
        unsafe { (api().LLVMAddGlobal)(self.handle, ty, c_text(name).as_ptr()) }
    }

    /// Makes a symbol one of a group of its own name, of which the linker keeps one.
    pub fn group_alone(&self, symbol: Value) {
        unsafe {
            let group = (api().LLVMGetOrInsertComdat)(self.handle, c_text(&symbol.name()).as_ptr());
            (api().LLVMSetComdat)(symbol, Some(group));
        }
    }

    /// Gives a function an attribute without a value.
    pub fn add_attribute(&self, function: Value, name: &str) {
        unsafe {
            let made = (api().LLVMCreateEnumAttribute)(self.context.handle, super::value::attribute(name), 0);
            (api().LLVMAddAttributeAtIndex)(function, FUNCTION, made);
        }
    }

    /// Takes an attribute from a call, if it has it.
    pub fn remove_call_attribute(&self, call: Value, name: &str) {
        unsafe { (api().LLVMRemoveCallSiteEnumAttribute)(call, FUNCTION, super::value::attribute(name)) }
    }

    /// Takes an attribute from a function, if it has it.
    pub fn remove_attribute(&self, function: Value, name: &str) {
        unsafe { (api().LLVMRemoveEnumAttributeAtIndex)(function, FUNCTION, super::value::attribute(name)) }
    }

    /// Takes processor features out of a function that it must not use and that this LLVM has forgotten: it would
    /// complain of each.
    pub fn forget_features(&self, function: Value) {
        let name = "target-features";
        let length = u32::try_from(name.len()).unwrap_or(0);
        unsafe {
            let Some(found) = (api().LLVMGetStringAttributeAtIndex)(function, FUNCTION, name.as_ptr().cast(), length)
            else {
                return;
            };
            let mut size = 0;
            let start = (api().LLVMGetStringAttributeValue)(found, &raw mut size);
            let features = text(start, size as usize);
            let kept: Vec<&str> = features.split(',').filter(|feature| !FORGOTTEN.contains(feature)).collect();
            let kept = kept.join(",");
            let size = u32::try_from(kept.len()).unwrap_or(0);
            let made = (api().LLVMCreateStringAttribute)(
                self.context.handle,
                name.as_ptr().cast(),
                length,
                kept.as_ptr().cast(),
                size,
            );
            (api().LLVMAddAttributeAtIndex)(function, FUNCTION, made);
        }
    }

    /// Adds assembly beside its functions.
    pub fn append_assembly(&self, assembly: &str) {
        unsafe { (api().LLVMAppendModuleInlineAsm)(self.handle, assembly.as_ptr().cast(), assembly.len()) }
    }

    /// Defines a byte that is there in the program once, if any of its files defines it.
    pub fn define_flag(&self, name: &str) {
        let section = format!(".pushsection .rodata.{name},\"a\",@progbits");
        self.append_assembly(&format!("{section}\n.weak {name}\n{name}: .byte 1\n.popsection\n"));
    }

    /// Forgets the assembly beside its functions.
    pub fn clear_assembly(&self) {
        unsafe { (api().LLVMSetModuleInlineAsm2)(self.handle, c"".as_ptr(), 0) }
    }

    /// Whether it is well-formed.
    pub fn verify(&self) -> Result<(), LlvmError> {
        let mut message = std::ptr::null_mut();
        let broken = unsafe { (api().LLVMVerifyModule)(self.handle, RETURN_STATUS, &raw mut message) != 0 };
        let message = take_message(message);
        if broken { Err(self.context.said("verifying the module", message)) } else { Ok(()) }
    }

    /// Runs passes, as `opt -passes` names them.
    pub fn run(&self, passes: &str, machine: &Machine) -> Result<(), LlvmError> {
        // SAFETY: the options live during the call; an error is taken over by asking for its message.
        let failure = unsafe {
            let options = (api().LLVMCreatePassBuilderOptions)();
            (api().LLVMPassBuilderOptionsSetSLPVectorization)(options, 1); // as compilers have it, from -O2 on
            let error = (api().LLVMRunPasses)(self.handle, c_text(passes).as_ptr(), machine.0, options);
            (api().LLVMDisposePassBuilderOptions)(options);
            error.map(|error| {
                let message = (api().LLVMGetErrorMessage)(error);
                let copy = std::ffi::CStr::from_ptr(message).to_string_lossy().into_owned();
                (api().LLVMDisposeErrorMessage)(message);
                copy
            })
        };
        failure.map_or(Ok(()), |message| Err(self.context.said("running passes", message)))
    }

    /// The module as an object file.
    pub fn emit(&self, machine: &Machine) -> Result<Vec<u8>, LlvmError> {
        let (mut buffer, mut message): (Option<BufferRef>, _) = (None, std::ptr::null_mut());
        let failed = unsafe {
            let emit = api().LLVMTargetMachineEmitToMemoryBuffer;
            emit(machine.0, self.handle, OBJECT, &raw mut message, &raw mut buffer) != 0
        };
        let object = buffer.map(take_bytes);
        let message = take_message(message);
        match object {
            Some(bytes) if !failed && self.context.errors.borrow().is_empty() => Ok(bytes),
            _ => Err(self.context.said("generating code", message)),
        }
    }

    /// What owns it.
    pub fn context(&self) -> &Context {
        self.context
    }
}

impl<'a> Module<'a> {
    /// The same once more.
    pub fn copy(&self) -> Module<'a> {
        Module { handle: unsafe { (api().LLVMCloneModule)(self.handle) }, context: self.context }
    }

    /// Takes in all that another module has; what has the same name becomes one.
    pub fn take_in(&self, other: Module<'a>) -> Result<(), LlvmError> {
        let other = std::mem::ManuallyDrop::new(other);
        // SAFETY: LLVM takes over the other module, whatever comes of it.
        let failed = unsafe { (api().LLVMLinkModules2)(self.handle, other.handle) != 0 };
        if failed { Err(self.context.said("joining both halves", String::new())) } else { Ok(()) }
    }
}

impl Drop for Module<'_> {
    fn drop(&mut self) {
        // SAFETY: it is ours and its context lives.
        unsafe { (api().LLVMDisposeModule)(self.handle) }
    }
}

/// Takes over a buffer of LLVM.
fn take_bytes(buffer: BufferRef) -> Vec<u8> {
    // SAFETY: the buffer has that many bytes at its start and is ours.
    unsafe {
        let (start, length) = ((api().LLVMGetBufferStart)(buffer), (api().LLVMGetBufferSize)(buffer));
        let bytes = std::slice::from_raw_parts(start.cast::<u8>(), length).to_vec();
        (api().LLVMDisposeMemoryBuffer)(buffer);
        bytes
    }
}

/// Types.
impl Context {
    /// An integer type.
    pub fn int(&self, bits: u32) -> Type {
        unsafe { (api().LLVMIntTypeInContext)(self.handle, bits) }
    }

    /// No value.
    pub fn void(&self) -> Type {
        unsafe { (api().LLVMVoidTypeInContext)(self.handle) }
    }

    /// A pointer.
    pub fn pointer(&self) -> Type {
        unsafe { (api().LLVMPointerTypeInContext)(self.handle, 0) }
    }

    /// The type of a function.
    pub fn function(&self, parameters: &[Type], returned: Type) -> Type {
        let count = u32::try_from(parameters.len()).expect("few parameters");
        unsafe { (api().LLVMFunctionType)(returned, parameters.as_ptr(), count, 0) }
    }

    /// The type of a function that takes more arguments than it says.
    pub fn variadic_function(&self, parameters: &[Type], returned: Type) -> Type {
        let count = u32::try_from(parameters.len()).expect("few parameters");
        unsafe { (api().LLVMFunctionType)(returned, parameters.as_ptr(), count, 1) }
    }

    /// Two of a type.
    pub fn pair(&self, of: Type) -> Type {
        unsafe { (api().LLVMStructTypeInContext)(self.handle, [of, of].as_ptr(), 2, 0) }
    }

    /// A new block at the end of a function.
    pub fn block(&self, function: Value, name: &str) -> super::Block {
        unsafe { (api().LLVMAppendBasicBlockInContext)(self.handle, function, c_text(name).as_ptr()) }
    }
}

/// The machine that code is generated for.
pub struct Machine(MachineRef);

impl Machine {
    /// The one that a module says, x86-64 of any kind; `level` is how hard code generation tries, 0 to 3.
    pub fn for_module(module: &Module, level: u32) -> Result<Machine, LlvmError> {
        let triple = module.target();
        if !triple.starts_with("x86_64") || !triple.contains("linux") {
            return Err(LlvmError::Target(triple));
        }
        let (mut target, mut message): (Option<TargetRef>, _) = (None, std::ptr::null_mut());
        // SAFETY: plain calls; initialising twice is fine.
        let machine = unsafe {
            initialise();
            let triple = c_text(&triple);
            (api().LLVMGetTargetFromTriple)(triple.as_ptr(), &raw mut target, &raw mut message);
            target.and_then(|target| {
                let (cpu, features) = (c"x86-64".as_ptr(), c"".as_ptr());
                (api().LLVMCreateTargetMachine)(target, triple.as_ptr(), cpu, features, level, PIC, MODEL)
            })
        };
        let message = take_message(message);
        machine.map(Machine).ok_or(LlvmError::Said { doing: "looking for the X86 target", message })
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        // SAFETY: it is ours.
        unsafe { (api().LLVMDisposeTargetMachine)(self.0) }
    }
}

/// Tells LLVM of the one target that is used.
///
/// # Safety
///
/// None but that of calling C.
unsafe fn initialise() {
    unsafe {
        (api().LLVMInitializeX86TargetInfo)();
        (api().LLVMInitializeX86Target)();
        (api().LLVMInitializeX86TargetMC)();
        (api().LLVMInitializeX86AsmPrinter)();
        (api().LLVMInitializeX86AsmParser)();
    }
}
