//! The instrumenter: bitcode in, instrumented object out.

use crate::assembly;
use crate::by_value;
use crate::calls::Calls;
use crate::canonical::canonicalise;
use crate::computable::computable;
use crate::coroutines;
use crate::describe::{Describer, cannot_describe};
use crate::fortified;
use crate::hooks::Hooks;
use crate::inline;
use crate::llvm::{Context, LlvmError, Machine, Module, Value};
use crate::locks::{self, BadLock, names::LockNames};
use crate::multiversion::join::{hold, join};
use crate::multiversion::plain::Plain;
use crate::openmp;
use crate::outside;
use crate::rust::{self, UnknownLock};
use crate::sidecar::{self, Function, SECTION, Unit};
use crate::simple_assembly;
use crate::source::Sources;
use crate::system_calls;
use crate::undefined::decide_constants;
use foretrace_runtime::record::Site;
use std::collections::HashSet;
use std::fmt::Write;

/// How to instrument.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The bitcode was optimised as the program ships; its accesses are kept as they are.
    pub as_shipped: bool,
    /// What the bitcode was made from.
    pub source: Source,
    /// How the code is optimised that runs with recording off.
    pub level: Level,
    /// Functions that the user says are those of locks.
    pub locks: LockNames,
}

/// A level of optimisation, as compilers have them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Level {
    /// `-O1`.
    One,
    /// `-O2`.
    #[default]
    Two,
    /// `-O3`.
    Three,
    /// `-Os`.
    Small,
    /// `-Oz`.
    Smallest,
}

impl Level {
    /// The passes of a level.
    fn passes(self) -> &'static str {
        match self {
            Level::One => "default<O1>",
            Level::Two => "default<O2>",
            Level::Three => "default<O3>",
            Level::Small => "default<Os>",
            Level::Smallest => "default<Oz>",
        }
    }

    /// How hard code generation tries, LLVM's number.
    fn code(self) -> u32 {
        match self {
            Level::One => 1,
            Level::Two | Level::Small | Level::Smallest => 2,
            Level::Three => 3,
        }
    }
}

/// What bitcode was made from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Source {
    /// C or C++.
    #[default]
    C,
    /// A crate of a Rust program.
    Rust,
    /// Rust's standard library: what threads meet in is instrumented, the rest is left as it is.
    RustStd,
}

/// What comes out.
pub struct Instrumented {
    /// The object file, with the side-car in it.
    pub object: Vec<u8>,
    /// What its side-car says.
    pub unit: Unit,
    /// Functions that were left as they were, with why.
    pub left: Vec<(String, &'static str)>,
    /// Functions with assembly that may order threads in a way that is not seen.
    pub assembly: Vec<String>,
}

/// Why bitcode cannot be instrumented.
#[derive(Debug, thiserror::Error)]
pub enum InstrumentError {
    /// LLVM cannot be used, or says no.
    #[error(transparent)]
    Llvm(#[from] LlvmError),
    /// Rust's standard library is not as expected.
    #[error(transparent)]
    Rust(#[from] UnknownLock),
    /// What is said to be a lock cannot be one.
    #[error(transparent)]
    Lock(#[from] BadLock),
    /// It has more instructions than sites.
    #[error("{instructions} instructions are too many for one source file, at most {} can be instrumented", MOST_SITES)]
    TooLarge {
        /// How many.
        instructions: u64,
    },
}

const MOST_SITES: u64 = 1 << Site::LOCAL_BITS;

/// Instruments the bitcode of one source file, which `name` stands for in messages.
pub fn instrument(bitcode: &[u8], name: &str, options: Options) -> Result<Instrumented, InstrumentError> {
    let context = Context::new()?;
    let module = context.parse(&coroutines::renamed(bitcode), name)?;
    let machine = Machine::for_module(&module, options.level.code())?;
    for function in module.functions() {
        module.forget_features(function);
    }
    coroutines::bring_up_to_date(&module);
    // Without recording, too: which files and ports a run uses is asked of every run.
    system_calls::give_to_runtime(&module, &module.functions());
    let plain = Plain::from_module(&module, options.level.passes(), &machine, |name| stays(name, options.source))?;
    if options.source == Source::Rust {
        rust::give_to_runtime(&module)?;
    }
    let locks = locks_to_runtime(&module, &options)?;
    if !options.as_shipped && options.source == Source::C {
        keep_calls(&module);
    }
    module.run(preparation(&options), &machine)?;
    fortified::call_unchecked(&module);
    let (functions, left) = functions_to_instrument(&module, options.source, &locks);
    by_value::copy_before_calls(&module, &functions);
    outside::give_to_runtime(&module, &functions);
    simple_assembly::replace(&module, &functions);
    let assembly = assembly::tell_runtime(&module, &functions)?;
    openmp::tell_runtime(&module);
    canonicalise(&module, &functions);
    let functions = with_made_ones(&module, functions, &left);
    decide_constants(&context, &functions);
    let mut unit = describe(&module, &functions, unit_id(&module, bitcode), &options)?;
    let computable = computable(&mut unit, &|symbol| is_definite(&module, symbol));
    let mut hooks = Hooks::new(&module, unit.id, computable);
    for (function, described) in functions.iter().zip(&unit.functions) {
        hooks.insert(*function, described);
    }
    drop(hooks);
    inline::add(&module)?; // only what is called comes in
    module.append_assembly(&section(&sidecar::encode(&unit)));
    module.verify()?;
    let left = left.into_iter().map(|(function, why)| (function.name(), why)).collect(); // as long as it is there
    let held = hold(&module, &plain.needed());
    module.run("default<O1>", &machine)?;
    let kept = |called: &str, by: &str| stays(by, options.source) && rust::is_inner_lock(called);
    join(&module, plain, &held, kept)?;
    module.run("globaldce", &machine)?;
    module.verify()?;
    Ok(Instrumented { object: module.emit(&machine)?, unit, left, assembly })
}

/// Makes an object of bitcode as it is, optimised.
pub fn translate(bitcode: &[u8], name: &str) -> Result<Vec<u8>, InstrumentError> {
    let context = Context::new()?;
    let module = context.parse(&coroutines::renamed(bitcode), name)?;
    let machine = Machine::for_module(&module, Level::One.code())?;
    coroutines::bring_up_to_date(&module);
    module.run("default<O1>", &machine)?;
    Ok(module.emit(&machine)?)
}

/// Gives recognised locks to the runtime; the functions that are not to be instrumented therefore.
fn locks_to_runtime(module: &Module, options: &Options) -> Result<HashSet<String>, BadLock> {
    if options.source == Source::RustStd {
        return Ok(HashSet::new());
    }
    let is_rust = options.source == Source::Rust;
    let mut left = locks::give_to_runtime(module, &options.locks, is_rust)?;
    if is_rust {
        left.extend(rust::give_condvars_to_runtime(module));
    }
    Ok(left)
}

/// Calls of the source stay calls where the program is recorded.
fn keep_calls(module: &Module) {
    for function in module.functions() {
        if !function.is_declaration() && !function.has_attribute("alwaysinline") {
            module.add_attribute(function, "noinline");
        }
    }
}

/// Whether a symbol is in the linked program, at the address that this module uses: it is defined here, and no constant,
/// of which equal ones become one.
fn is_definite(module: &Module, symbol: &str) -> bool {
    let variable = module.variable(symbol).filter(|variable| !variable.is_constant_global());
    variable.or_else(|| module.function(symbol)).is_some_and(|value| !value.is_declaration())
}

/// Passes before instrumentation: what no code can do without (coroutines are taken apart); bodies that other units have
/// too are theirs; variables whose address is not taken become values; no edge leaves a branching block for a joining one.
fn preparation(options: &Options) -> &'static str {
    if options.as_shipped || options.source == Source::RustStd {
        "elim-avail-extern,function(break-crit-edges)"
    } else {
        "default<O0>,elim-avail-extern,function(mem2reg,break-crit-edges)"
    }
}

type Left = Vec<(Value, &'static str)>;

/// Whether a function of this name is left as it is for what it belongs to.
fn stays(name: &str, source: Source) -> bool {
    source == Source::RustStd && !rust::is_meeting_point(name)
}

/// The functions with bodies, and those among them that have to be left as they are.
fn functions_to_instrument(module: &Module, source: Source, locks: &HashSet<String>) -> (Vec<Value>, Left) {
    let resolvers = module.resolvers();
    let (mut wanted, mut left) = (Vec::new(), Vec::new());
    for function in module.functions().into_iter().filter(|function| !function.is_declaration()) {
        let why = if resolvers.contains(&function) {
            Some("it runs before the program is relocated")
        } else if locks.contains(&function.name()) {
            Some("it is a lock's")
        } else if stays(&function.name(), source) {
            Some("it is a part of the standard library that does not synchronise threads")
        } else {
            cannot_describe(function)
        };
        match why {
            Some(why) => left.push((function, why)),
            None => wanted.push(function),
        }
    }
    (wanted, left)
}

/// Those, and the functions that canonicalising made.
fn with_made_ones(module: &Module, functions: Vec<Value>, left: &Left) -> Vec<Value> {
    let is_new = |function: &Value| {
        !function.is_declaration() && !functions.contains(function) && left.iter().all(|(other, _)| other != function)
    };
    let made: Vec<Value> = module.functions().into_iter().filter(is_new).collect();
    [functions, made].concat()
}

/// Numbers the sites and describes every function.
fn describe(module: &Module, functions: &[Value], id: u32, options: &Options) -> Result<Unit, InstrumentError> {
    let mut describer = Describer {
        sources: Sources::of_module(module),
        calls: Calls::in_module(module, functions),
        layout: module.layout(),
    };
    let mut described: Vec<Function> = Vec::with_capacity(functions.len());
    let mut site = 0u64;
    for function in functions {
        let local = u32::try_from(site).unwrap_or(u32::MAX);
        let next = describer.function(module.context(), *function, local);
        site += 1 + next.blocks.iter().map(|block| block.instructions.len() as u64).sum::<u64>();
        if site > MOST_SITES {
            return Err(InstrumentError::TooLarge { instructions: site });
        }
        described.push(next);
    }
    let sources = describer.sources;
    Ok(Unit {
        id,
        source: module.source(),
        directory: sources.directory,
        as_shipped: options.as_shipped,
        files: sources.files,
        locations: sources.locations,
        functions: described,
    })
}

/// A hash of the source's name and the bitcode (FNV-1a, folded to 32 bits): the same file compiled with other flags is
/// another unit.
fn unit_id(module: &Module, bitcode: &[u8]) -> u32 {
    let source = module.source();
    let bytes = source.bytes().chain([0]).chain(bitcode.iter().copied());
    let hash =
        bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    (hash >> 32) as u32 ^ hash as u32
}

/// Assembly for a section with these bytes, which is not loaded.
fn section(bytes: &[u8]) -> String {
    let mut text = format!(".pushsection {SECTION},\"\",@progbits\n");
    for line in bytes.chunks(64) {
        text.push_str(".ascii \"");
        for byte in line {
            match byte {
                b' ' | b'!' | b'#'..=b'[' | b']'..=b'~' => text.push(char::from(*byte)),
                _ => _ = write!(text, "\\{byte:03o}"),
            }
        }
        text.push_str("\"\n");
    }
    text.push_str(".popsection\n");
    text
}
