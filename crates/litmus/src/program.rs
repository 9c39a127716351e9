//! A checked program: declarations and flat code, ready to run.
//!
//! The code is that of a stack machine, since a run must be able to leave a thread in the middle of an expression: every access is a
//! separate step, and any thread may take the next one.

use foretrace_trace::{Func, Sort, SyncId, SyncObject, Value, VarId, Variable};

/// A litmus program that is free of mistakes in names and types.
#[derive(Clone, Debug)]
pub struct Program {
    pub(super) file: Box<str>,
    pub(super) variables: Vec<Variable>,
    pub(super) arrays: Vec<Array>,
    pub(super) syncs: Vec<SyncObject>,
    pub(super) threads: Vec<ThreadCode>,
    pub(super) functions: Vec<FunctionCode>,
    pub(super) operations: Vec<OperationCode>,
    /// Names and messages that instructions mention.
    pub(super) texts: Vec<Box<str>>,
    pub(super) code: Vec<Instruction>,
    /// Line and column of each instruction.
    pub(super) places: Vec<(u32, u32)>,
}

impl Program {
    /// The same program, with `file` as the name that events' locations and errors mention.
    pub fn named(mut self, file: &str) -> Program {
        self.file = file.into();
        self
    }

    /// The names of its threads, in the order of their numbers in the trace, from 1.
    pub fn threads(&self) -> impl Iterator<Item = &str> {
        self.threads.iter().map(|thread| &*thread.name)
    }

    /// Its operations on concurrent objects: object, method, and how many arguments each takes.
    pub fn operations(&self) -> impl Iterator<Item = (Option<&str>, &str, usize)> {
        self.operations.iter().map(|operation| {
            let object = operation.object.map(|object| self.text(object));
            (object, self.text(operation.method), operation.parameters)
        })
    }

    pub(super) fn text(&self, text: TextId) -> &str {
        &self.texts[text.0]
    }

    pub(super) fn sync_name(&self, sync: SyncId) -> &str {
        &self.syncs[sync.index()].key
    }
}

/// A shared array; its elements are consecutive variables.
#[derive(Clone, Debug)]
pub(super) struct Array {
    pub name: Box<str>,
    pub first: VarId,
    pub length: u32,
}

/// A thread's name and where its code starts.
#[derive(Clone, Debug)]
pub(super) struct ThreadCode {
    pub name: Box<str>,
    pub entry: usize,
    /// Whether some `spawn` names it: then it starts there, else at once.
    pub spawned: bool,
}

/// A function's name and where its code starts.
#[derive(Clone, Debug)]
pub(super) struct FunctionCode {
    pub name: Box<str>,
    pub entry: usize,
    pub parameters: usize,
}

/// A function whose calls are operations on a concurrent object.
#[derive(Clone, Debug)]
pub(super) struct OperationCode {
    pub object: Option<TextId>,
    /// The object's number among all objects.
    pub number: usize,
    pub method: TextId,
    pub parameters: usize,
    pub has_result: bool,
    /// The result by which it says that there was nothing to give.
    pub empty: Option<Value>,
}

/// A text of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct TextId(pub usize);

/// What an access names: a variable, or an element of an array, whose index lies on the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    Variable(VarId),
    Element(usize),
}

/// How a read-modify-write makes the new value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Update {
    /// The operand replaces the old value.
    Exchange,
    /// This function, applied to the old value and the operand.
    Apply(Func),
}

/// One instruction; "pops" and "pushes" speak of the thread's stack of operands. Those of the first group never
/// make an event, the others make one at most.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Instruction {
    /// Pushes a constant.
    Constant(Value),
    /// Pushes a local variable.
    Load(usize),
    /// Pops into a local variable; the slot after the last one is a new variable.
    Store(usize),
    /// Forgets the local variables from this slot on.
    Forget(usize),
    /// Pops and forgets.
    Pop,
    /// Pops arguments, pushes the function of them.
    Apply(Func, usize),
    Jump(usize),
    /// Pops a constant truth value; jumps if it is false.
    JumpUnless(usize),
    /// Pops the arguments of a function and enters it.
    Call(usize),
    /// Leaves the function, or ends the thread.
    Return,

    /// Names the operand on top with a `let` if it is large.
    Name(TextId),
    /// Assumes that the truth value on top is as it is, and makes it a constant.
    Decide,
    /// Pins the index on top and checks it against this array.
    Pin(usize),
    /// Pops an index if the target is an element; pushes the value read.
    Read {
        target: Target,
        dst: TextId,
    },
    /// Pops the value, and an index if the target is an element.
    Write {
        target: Target,
    },
    /// Pops the operand, and an index if the target is an element; pushes the old value.
    Update {
        target: Target,
        update: Update,
        dst: TextId,
    },
    /// Pops new value, expected value, and an index if the target is an element; pushes whether it was stored.
    CompareAndSwap {
        target: Target,
        dst: TextId,
    },
    Begin(Option<TextId>),
    End(Option<TextId>),
    Acquire(SyncId),
    Release(SyncId),
    AcquireShared(SyncId),
    ReleaseShared(SyncId),
    /// Pushes whether the lock was taken.
    TryAcquire(SyncId),
    Wait {
        cond: SyncId,
        lock: SyncId,
    },
    Wake {
        cond: SyncId,
        lock: SyncId,
    },
    /// As `Wake`, or for no reason; pushes whether there was a signal.
    WakeOrTimeout {
        cond: SyncId,
        lock: SyncId,
    },
    Signal(SyncId),
    Broadcast(SyncId),
    Post(SyncId),
    Down(SyncId),
    /// Pushes whether the thread is to initialise.
    OnceBegin(SyncId),
    OnceEnd(SyncId),
    OnceFail(SyncId),
    Arrive(SyncId),
    Depart(SyncId),
    /// An operation begins; its arguments are the local variables.
    CallOperation(usize),
    /// It ends; its result lies on top where it has one.
    ReturnOperation(usize),
    Spawn(usize),
    Join(usize),
    /// The memory of these variables, from the first one on, is given back.
    Free(VarId, u32),
    /// Ends the run.
    Fail(TextId),
}

/// The function that an operator stands for on operands of a sort, if there is one.
pub(super) fn function_of(operator: super::syntax::BinaryOperator, sort: Sort) -> Option<Func> {
    use super::syntax::BinaryOperator::*;
    Some(match (operator, sort) {
        (Equal, _) => Func::Eq,
        (Unequal, _) => Func::Distinct,
        (OrElse | Or, Sort::Bool) => Func::Or,
        (AndThen | And, Sort::Bool) => Func::And,
        (Xor, Sort::Bool) => Func::Xor,
        (Add, Sort::Int) => Func::Add,
        (Subtract, Sort::Int) => Func::Sub,
        (Multiply, Sort::Int) => Func::Mul,
        (Divide, Sort::Int) => Func::Div,
        (Remainder, Sort::Int) => Func::Mod,
        (Less, Sort::Int) => Func::Lt,
        (LessEqual, Sort::Int) => Func::Le,
        (Greater, Sort::Int) => Func::Gt,
        (GreaterEqual, Sort::Int) => Func::Ge,
        (Or, Sort::BitVec(_)) => Func::BvOr,
        (Xor, Sort::BitVec(_)) => Func::BvXor,
        (And, Sort::BitVec(_)) => Func::BvAnd,
        (ShiftLeft, Sort::BitVec(_)) => Func::BvShl,
        (ShiftRight, Sort::BitVec(_)) => Func::BvLshr,
        (Add, Sort::BitVec(_)) => Func::BvAdd,
        (Subtract, Sort::BitVec(_)) => Func::BvSub,
        (Multiply, Sort::BitVec(_)) => Func::BvMul,
        (Divide, Sort::BitVec(_)) => Func::BvUdiv,
        (Remainder, Sort::BitVec(_)) => Func::BvUrem,
        (Less, Sort::BitVec(_)) => Func::BvUlt,
        (LessEqual, Sort::BitVec(_)) => Func::BvUle,
        (Greater, Sort::BitVec(_)) => Func::BvUgt,
        (GreaterEqual, Sort::BitVec(_)) => Func::BvUge,
        _ => return None,
    })
}
