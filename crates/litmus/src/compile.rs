//! Checks names and types and makes the code of a program.

mod builtin;
mod declaration;
mod expression;
mod statement;

use super::diagnostic::{Diagnostic, Diagnostics, Span, places};
use super::program::{Array, FunctionCode, Instruction, OperationCode, Program, TextId, ThreadCode};
use super::syntax::{Item, Name};
use foretrace_trace::{Sort, SyncId, SyncKind, SyncObject, VarId, Variable};
use rustc_hash::FxHashMap;

/// The program that these declarations make.
pub(super) fn program(source: &str, items: &[Item]) -> Result<Program, Diagnostics> {
    let mut compiler = Compiler { source, ..Compiler::default() };
    compiler.declare(items);
    compiler.define(items);
    compiler.finish()
}

/// A mistake that was found and noted; what depends on it is not checked further.
#[derive(Clone, Copy, Debug)]
struct Noted;

type Checked<T> = Result<T, Noted>;

/// What a name at the top of a program stands for.
#[derive(Clone, Copy, Debug)]
enum Global {
    Variable(VarId, Sort),
    Array(usize, Sort),
    Sync(SyncId, SyncKind),
    Thread(usize),
    Function(usize),
}

impl Global {
    fn kind(self) -> &'static str {
        match self {
            Global::Variable(..) => "a shared variable",
            Global::Array(..) => "a shared array",
            Global::Sync(_, kind) => kind_of_sync(kind),
            Global::Thread(_) => "a thread",
            Global::Function(_) => "a function",
        }
    }
}

fn kind_of_sync(kind: SyncKind) -> &'static str {
    match kind {
        SyncKind::Mutex { .. } => "a mutex",
        SyncKind::Rwlock => "a rwlock",
        SyncKind::Semaphore { .. } => "a semaphore",
        SyncKind::Condvar => "a condvar",
        SyncKind::Barrier { .. } => "a barrier",
        SyncKind::Once => "a once",
    }
}

/// What calls of a function must fit.
struct Signature {
    parameters: Vec<(TextId, Sort)>,
    result: Option<Sort>,
    /// The operation that it is, by its number.
    operation: Option<usize>,
}

/// A local variable; its sort is unknown where its definition was wrong.
#[derive(Clone, Copy)]
struct Local {
    slot: usize,
    sort: Option<Sort>,
    span: Span,
}

/// The thread or function whose code is being made.
#[derive(Default)]
struct Body<'s> {
    /// Nothing in a thread; a function's name, and what it gives.
    function: Option<(&'s Name, Option<Sort>)>,
    locals: FxHashMap<&'s str, Local>,
    /// Names of the locals, by slot.
    slots: Vec<&'s str>,
    /// Labels of the atomic blocks that are open.
    atomic: Vec<Option<TextId>>,
    /// The operation that the function is, by its number.
    operation: Option<usize>,
}

#[derive(Default)]
struct Compiler<'s> {
    source: &'s str,
    globals: FxHashMap<&'s str, (Global, Span)>,
    signatures: Vec<Signature>,
    variables: Vec<Variable>,
    arrays: Vec<Array>,
    syncs: Vec<SyncObject>,
    threads: Vec<ThreadCode>,
    functions: Vec<FunctionCode>,
    operations: Vec<OperationCode>,
    /// The objects of operations.
    objects: indexmap::IndexSet<Option<TextId>>,
    texts: indexmap::IndexSet<Box<str>>,
    code: Vec<Instruction>,
    spans: Vec<Span>,
    body: Body<'s>,
    errors: Vec<Diagnostic>,
}

/// Suggestions are looked for up to this many errors.
const MOST_SUGGESTIONS: usize = 20;

impl<'s> Compiler<'s> {
    fn finish(mut self) -> Result<Program, Diagnostics> {
        if !self.errors.is_empty() {
            self.errors.sort_by_key(|error| error.place.0);
            return Err(Diagnostics(self.errors));
        }
        Ok(Program {
            file: "program.lit".into(),
            variables: self.variables,
            arrays: self.arrays,
            syncs: self.syncs,
            threads: self.threads,
            functions: self.functions,
            operations: self.operations,
            texts: self.texts.into_iter().collect(),
            code: self.code,
            places: places(self.source, &self.spans),
        })
    }

    fn note(&mut self, error: Diagnostic) -> Noted {
        self.errors.push(error);
        Noted
    }

    /// Notes a mistake with what was expected at its place.
    fn wrong<T>(&mut self, span: Span, message: impl Into<String>, expected: impl Into<String>) -> Checked<T> {
        Err(self.note(Diagnostic::new(span, message, expected)))
    }

    fn text(&mut self, text: &str) -> TextId {
        match self.texts.get_index_of(text) {
            Some(position) => TextId(position),
            None => TextId(self.texts.insert_full(text.into()).0),
        }
    }

    /// Adds an instruction; gives its position.
    fn emit(&mut self, instruction: Instruction, span: Span) -> usize {
        self.code.push(instruction);
        self.spans.push(span);
        self.code.len() - 1
    }

    /// Makes the jump at a position lead to the next instruction.
    fn land(&mut self, jump: usize) {
        let here = self.code.len();
        if let Instruction::Jump(target) | Instruction::JumpUnless(target) = &mut self.code[jump] {
            *target = here;
        }
    }

    /// The mistake of a name that stands for nothing, or for something else than is wanted.
    fn unknown<T>(&mut self, name: &Name, wanted: &str, fits: impl Fn(Global) -> bool) -> Checked<T> {
        if let Some((global, defined)) = self.globals.get(&*name.text).copied() {
            let message = format!("`{}` is {}, not {wanted}", name.text, global.kind());
            let error = Diagnostic::new(name.span, message, format!("expected {wanted}"));
            return Err(self.note(error.related(defined, "defined here")));
        }
        let mut error =
            Diagnostic::new(name.span, format!("unknown name `{}`", name.text), format!("expected {wanted}"));
        if self.errors.len() < MOST_SUGGESTIONS {
            let globals = self.globals.iter().filter(|(_, (global, _))| fits(*global)).map(|(name, _)| *name);
            error.help = nearest(&name.text, globals);
        }
        Err(self.note(error))
    }
}

/// A name that was probably meant, as a hint.
fn nearest<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> Option<String> {
    let close = known.filter(|other| other.len().abs_diff(name.len()) <= 2 && name.len() < 40);
    let (distance, other) = close.map(|other| (strsim::damerau_levenshtein(name, other), other)).min()?;
    (distance <= 2 && distance < name.len()).then(|| format!("did you mean `{other}`?"))
}
