//! Wrappers of lock functions: each calls the runtime, the function itself, and the runtime again.

use super::function::{BadLock, LockFunction, Success, Time, WhichLock};
use crate::llvm::{Block, Builder, Module, Opcode, Type, TypeKind, Value, ValueKind};
use crate::shape::scalar_bits;

/// What a lock's own code is called more than the program calls it.
const SUFFIX: &str = ".lock";
/// Defined by every file in which locks may be upgraded or downgraded.
const CHANGES: &str = "__foretrace_lock_changes";
/// LLVM's number of the predicate for inequality.
const NOT_EQUAL: u32 = 33;

/// Puts functions in the places of others.
pub(crate) struct Glue<'a> {
    pub module: &'a Module<'a>,
    pub builder: Builder,
}

impl Glue<'_> {
    /// The names of both.
    pub fn put_around(&self, function: Value, lock: &LockFunction) -> Result<[String; 2], BadLock> {
        let ty = function.function_type();
        let object = object(function, lock)?;
        let any_answer = matches!(lock.success, Success::Always | Success::First);
        if ty.is_variadic() || !any_answer && !is_answer(ty.returned()) {
            let expected = "no variable arguments, and an integer, a pointer or nothing as its result";
            return Err(BadLock::Parameters { function: function.name(), expected });
        }
        let place = self.take_place_of(function);
        self.body(place, function, lock, &object);
        Ok([place.name(), function.name()])
    }

    /// A function without a body that everybody calls in place of another, which only it may call from now on.
    pub fn take_place_of(&self, function: Value) -> Value {
        let name = function.name();
        function.set_name(&format!("{name}{SUFFIX}"));
        let place = self.module.declare(&name, function.function_type());
        place.take_looks_of(function);
        function.replace_with(place);
        function.leave_group();
        function.make_internal();
        let is_call = |user: &Value| {
            user.kind() == ValueKind::Instruction && matches!(user.opcode(), Opcode::Call | Opcode::Invoke)
        };
        for call in place.users().into_iter().filter(is_call) {
            self.module.remove_call_attribute(call, "alwaysinline");
        }
        for function in [place, function] {
            self.module.remove_attribute(function, "alwaysinline");
            self.module.add_attribute(function, "noinline");
        }
        place
    }

    fn body(&self, place: Value, function: Value, lock: &LockFunction, object: &Object) {
        let context = self.module.context();
        let word = context.int(64);
        let ty = function.function_type();
        let [start, go_on, failed] = ["start", "go_on", "failed"].map(|name| context.block(place, name));
        self.builder.at_end(start);
        let what = word.constant(lock.call.code());
        let object = match object {
            Object::Parameter(index) => self.builder.cast(Opcode::PtrToInt, place.parameters()[*index], word),
            Object::Number(number) => word.constant(*number),
            Object::Word(path) => self.word_at(place.parameters()[0], path),
        };
        let going = match lock.time {
            None => {
                let frame = self.frame_address();
                self.call("__foretrace_lock_enter", &[what, object, frame], word)
            }
            Some(time) => {
                let absolute = word.constant(u64::from(time == Time::Moment));
                let [seconds, nanoseconds] = [1, 2].map(|index| place.parameters()[index]);
                self.call("__foretrace_lock_enter_until", &[what, object, seconds, nanoseconds, absolute], word)
            }
        };
        let goes_on = self.builder.compare(NOT_EQUAL, going, word.constant(0));
        self.builder.branch(goes_on, go_on, failed);
        self.builder.at_end(go_on);
        let answer = self.builder.call(ty, function, &place.parameters());
        answer.pass_on(place);
        let succeeded = self.succeeded(answer, ty.returned(), lock.success);
        self.call("__foretrace_lock_leave", &[what, object, succeeded], context.void());
        self.ret(ty.returned(), answer);
        self.end_failed(failed, ty.returned());
    }

    fn end_failed(&self, block: Block, returned: Type) {
        self.builder.at_end(block);
        match returned.kind() {
            TypeKind::Void => self.builder.ret_nothing(),
            _ => self.builder.ret(returned.zero()),
        }
    }

    pub fn ret(&self, returned: Type, value: Value) {
        match returned.kind() {
            TypeKind::Void => self.builder.ret_nothing(),
            _ => self.builder.ret(value),
        }
    }

    fn succeeded(&self, answer: Value, returned: Type, success: Success) -> Value {
        let word = self.module.context().int(64);
        if returned.kind() == TypeKind::Void || success == Success::Always {
            return word.constant(1);
        }
        let (answer, returned) = match success {
            Success::First => (self.builder.extract(answer, 0), returned.field(0)),
            _ => (answer, returned),
        };
        let not_zero = self.builder.compare(NOT_EQUAL, answer, returned.zero());
        let (yes, no) = (word.constant(1), word.constant(0));
        match success {
            Success::NotZero | Success::Always | Success::First => self.builder.select(not_zero, yes, no),
            Success::Zero => self.builder.select(not_zero, no, yes),
        }
    }

    /// The address at the end of a path.
    fn word_at(&self, start: Value, path: &[u64]) -> Value {
        let (byte, word) = (self.module.context().int(8), self.module.context().int(64));
        let steps = path.iter().zip(0..).fold(start, |address, (offset, step)| {
            let from = if step == 0 { address } else { self.builder.load(self.module.context().pointer(), address) };
            self.builder.offset(byte, from, word.constant(*offset))
        });
        self.builder.cast(Opcode::PtrToInt, steps, word)
    }

    fn frame_address(&self) -> Value {
        let (int, pointer, word) =
            (self.module.context().int(32), self.module.context().pointer(), self.module.context().int(64));
        let ty = self.module.context().function(&[int], pointer);
        let name = "llvm.frameaddress.p0";
        let intrinsic = self.module.function(name).unwrap_or_else(|| self.module.declare(name, ty));
        let address = self.builder.call(ty, intrinsic, &[int.constant(0)]);
        self.builder.cast(Opcode::PtrToInt, address, word)
    }

    /// Calls a function of the runtime.
    pub fn call(&self, name: &str, arguments: &[Value], returned: Type) -> Value {
        let types: Vec<Type> = arguments.iter().map(|argument| argument.ty()).collect();
        let ty = self.module.context().function(&types, returned);
        let function = self.module.function(name).unwrap_or_else(|| self.module.declare(name, ty));
        self.builder.call(ty, function, arguments)
    }

    pub fn say_that_locks_change(&self) {
        self.module.define_flag(CHANGES);
    }
}

/// Where a function's lock comes from.
enum Object {
    Parameter(usize),
    Number(u64),
    Word(Vec<u64>),
}

fn object(function: Value, lock: &LockFunction) -> Result<Object, BadLock> {
    let bad = |expected| BadLock::Parameters { function: function.name(), expected };
    let parameters = function.parameters();
    let is_pointer = |index: usize| parameters.get(index).is_some_and(|parameter| parameter.ty().is_plain_pointer());
    if lock.time.is_some()
        && !(parameters.len() == 3 && scalar_bits(parameters[1].ty()) == 64 && scalar_bits(parameters[2].ty()) == 32)
    {
        return Err(bad("seconds of 64 bits and nanoseconds of 32 bits after the lock"));
    }
    match &lock.lock {
        WhichLock::Parameter(index) if is_pointer(*index) => Ok(Object::Parameter(*index)),
        WhichLock::Parameter(_) => Err(bad("a pointer as this parameter")),
        WhichLock::Word(path) if is_pointer(0) => Ok(Object::Word(path.clone())),
        WhichLock::Word(_) => Err(bad("a pointer as its first parameter")),
        WhichLock::FirstPointer(number) => {
            let pointer = (0..parameters.len()).find(|index| is_pointer(*index));
            Ok(pointer.map_or(Object::Number(*number), Object::Parameter))
        }
    }
}

fn is_answer(ty: Type) -> bool {
    matches!(ty.kind(), TypeKind::Void | TypeKind::Integer | TypeKind::Pointer)
}
