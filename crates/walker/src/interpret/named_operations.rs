//! Operations on concurrent objects by the names of functions: `call` and `return` events where the program has no marks.
//!
//! A `call` comes as late as possible, and a `return` as early as possible: other threads cannot observe a thread between two accesses of
//! shared memory, so that is a run of the program, too.

use super::Walk;
use super::thread::OpenOperation;
use crate::memory::Bytes;
use crate::names::{Given, Scalar};
use crate::program::{Function, demangle};
use crate::value::{Value, Word, signed};
use foretrace_instrument::rust::rust_name;
use foretrace_instrument::sidecar::{Op as SideOp, Operand, Type};
use foretrace_trace::{Event, Op};

/// How JSON has a value that is not known.
const UNKNOWN: &str = r#"{"unknown":true}"#;

/// What an operation gives: as text, and as a word where the program computes it from what it read.
struct Result {
    text: Option<String>,
    word: Option<(Word, Scalar)>,
}

impl Result {
    const UNKNOWN: Result = Result { text: None, word: None };

    fn nothing() -> Result {
        Result { text: Some("null".to_string()), word: None }
    }
}

/// Whether a method of this name takes a value out or looks at one, which it may put where a parameter points.
fn is_taker(method: &str) -> bool {
    let name = method.to_lowercase().replace('_', "");
    let name = name.strip_prefix("try").unwrap_or(&name);
    let takes = [
        "pop", "deq", "take", "poll", "recv", "receive", "remove", "delete", "extract", "get", "peek", "front", "back",
        "top", "steal", "lookup", "find", "read", "load", "min",
    ];
    takes.iter().any(|start| name.starts_with(start))
}

impl Walk<'_, '_> {
    /// A function starts that the innermost frame is of: an operation, unless it is part of one.
    pub(super) fn begin_operation(&mut self, number: usize, function: &Function) {
        let options = self.world.options;
        let Some(names) = &options.operations else { return };
        let is_own = !self.program.is_library(function)
            || options.include.as_ref().is_some_and(|include| include.fits(&function.name));
        if !is_own || self.thread.frames.iter().any(|frame| frame.operation.is_some()) {
            return;
        }
        let find = || names.operation(&function.name).or_else(|| names.operation(&demangle(&function.symbol)));
        let Some(method) = self.world.operations.entry(number).or_insert_with(find).clone() else { return };
        let Some(first) = self.object_parameter(function) else { return };
        let object = self.parameter_word(first, 64);
        if !object.is_known() {
            self.world.statistics.unknown_of_operations.insert(format!("object of {}", function.name));
            return;
        }
        self.pin(object, "object of an operation");
        let object = self.marked_object(object.bits);
        let mut args = Vec::new();
        let (mut place, mut has_pointer) = (None, false);
        for index in first + 1..function.parameters.len() {
            let text = match self.world.names.parameter(function, index) {
                Given::Place(scalar) | Given::Target(scalar) if is_taker(&method) && place.is_none() => {
                    place = Some((self.parameter_word(index, 64), scalar));
                    continue;
                }
                Given::Scalar(scalar) => {
                    has_pointer |= scalar == Scalar::Pointer;
                    let word = self.parameter_word(index, function.parameters[index].ty.bits());
                    self.fixed_text(word, scalar)
                }
                Given::Reference(scalar) => {
                    let word = self.pointee(self.parameter_word(index, 64), scalar);
                    self.fixed_text(word, scalar)
                }
                _ => {
                    has_pointer = true;
                    None
                }
            };
            if text.is_none() {
                let what = format!("argument {} of {}", index - first, function.name);
                self.world.statistics.unknown_of_operations.insert(what);
            }
            args.push(text.unwrap_or_else(|| UNKNOWN.to_string()));
        }
        let is_removal = ["remove", "delete"].iter().any(|start| method.starts_with(start)) && !args.is_empty();
        let is_taker = is_taker(&method) && !is_removal;
        let assembler = &mut self.world.draft.assembler;
        let args = (!args.is_empty()).then(|| assembler.name(&format!("[{}]", args.join(","))));
        let method = assembler.name(&method);
        self.world.statistics.named_operations += 1;
        if let Some(frame) = self.thread.frames.last_mut() {
            frame.operation = Some(Box::new(OpenOperation { object, method, place, is_taker, has_pointer }));
        }
        let source = self.source_beside(self.thread.now);
        let at = (!self.world.begins_later).then_some(source.at);
        let op = Op::Call { object, method, args };
        self.world.draft.hold_call(Event { thread: source.thread, op, loc: source.loc, at, part: None, tried: false });
    }

    /// The parameter that an operation's object is: the first but for where a result goes; in Rust, `self`.
    fn object_parameter(&mut self, function: &Function) -> Option<usize> {
        let is_pointer = |index: usize| function.parameters.get(index).is_some_and(|one| one.ty == Type::Pointer);
        let names = &self.world.names;
        let is_result = names.parameter(function, 0) == Given::Unknown && names.result(function) == Given::Unknown;
        let first = usize::from(is_result && is_pointer(0) && is_pointer(1));
        if rust_name(&function.symbol).is_some() && names.parameter_name(function, first) != Some("self") {
            return None;
        }
        let is_known = names.parameter(function, first) != Given::Unknown;
        if !is_pointer(first) || !is_known {
            self.world.statistics.unknown_of_operations.insert(format!("object of {}", function.name));
            return None;
        }
        Some(first)
    }

    fn parameter_word(&self, parameter: usize, width: u32) -> Word {
        let first = self.thread.frames.last().map_or(0, |frame| frame.parameters);
        self.thread.registers.get(first + parameter).map_or(Word::unknown(width), |value| value.word(width))
    }

    /// What lies where a pointer points, if no other thread has to do with it.
    fn pointee(&mut self, pointer: Word, scalar: Scalar) -> Word {
        let size = scalar.bytes();
        if !pointer.is_known() || !self.world.cells.are_none(pointer.bits, size) {
            return Word::unknown(size * 8);
        }
        self.pin(pointer, "address");
        let bytes = self.private(pointer.bits, size);
        self.world.expressions.join(&bytes)
    }

    /// A value as JSON, the same in every schedule from here on.
    fn fixed_text(&mut self, word: Word, scalar: Scalar) -> Option<String> {
        self.pin(word, "argument of an operation");
        self.value_text(word, scalar)
    }

    fn value_text(&mut self, word: Word, scalar: Scalar) -> Option<String> {
        let bits = word.bits;
        if !word.is_known() {
            return None;
        }
        Some(match scalar {
            Scalar::Truth => (bits & 1 != 0).to_string(),
            Scalar::Pointer if bits == 0 => "null".to_string(),
            Scalar::Pointer => {
                let object = self.marked_object(bits)?;
                format!("\"{}\"", self.world.draft.assembler.trace().names.text(object))
            }
            Scalar::Integer { signed: true, .. } => signed(word.width(), bits).to_string(),
            Scalar::Integer { .. } => (bits as i64).to_string(),
        })
    }

    /// The innermost function gives this back.
    pub(super) fn operation_returns(&mut self, value: &Value) {
        let Some(frame) = self.thread.frames.last_mut() else { return };
        let Some(open) = frame.operation.take() else { return };
        let (Some(number), next) = (frame.function, frame.next) else { return };
        let function = &self.program.functions[number];
        let result = self.result_of(&open, function, value, next);
        if result.text.is_none() {
            self.world.statistics.unknown_of_operations.insert(format!("result of {}", function.name));
        }
        if let Some((word, scalar)) = result.word {
            self.note_result(word, scalar);
        }
        self.end_operation(&open, result.text);
    }

    fn result_of(&mut self, open: &OpenOperation, function: &Function, value: &Value, next: usize) -> Result {
        let whole = value.word(function.returns.bits());
        let given = self.world.names.result(function);
        if let Some((pointer, scalar)) = open.place {
            return match given {
                Given::Scalar(Scalar::Truth) if whole.is_known() => {
                    self.pin(whole, "whether an operation gives a value");
                    if whole.bits & 1 == 0 {
                        return Result::nothing();
                    }
                    let word = self.pointee(pointer, scalar);
                    self.scalar_result(word, scalar)
                }
                Given::Nothing => {
                    let word = self.pointee(pointer, scalar);
                    self.scalar_result(word, scalar)
                }
                _ => Result::UNKNOWN,
            };
        }
        match given {
            Given::Nothing => Result::nothing(),
            Given::Scalar(Scalar::Truth) if open.is_taker => Result::UNKNOWN,
            Given::Scalar(Scalar::Integer { .. }) if open.is_taker && open.has_pointer => Result::UNKNOWN,
            Given::Scalar(scalar) => self.scalar_result(whole, scalar),
            Given::RustOption(scalar) => {
                let (has, inner) = (value.part(&[0]), value.part(&[1]));
                self.option_result(&has, &inner, scalar)
            }
            Given::CppOptional(scalar) if scalar.bytes() == 8 => {
                let (inner, has) = (value.part(&[0]), value.part(&[1]));
                self.option_result(&has, &inner, scalar)
            }
            Given::CppOptional(scalar) => {
                let Some(bytes) = self.returned_bytes(function, whole, next) else { return Result::UNKNOWN };
                let size = scalar.bytes();
                let inner = self.world.expressions.join(&bytes.part(0, size));
                let has = self.world.expressions.join(&bytes.part(size, 1));
                self.option_result(&Value::Word(has), &Value::Word(inner), scalar)
            }
            Given::Place(_) => self.scalar_result(whole, Scalar::Pointer),
            Given::Reference(scalar) | Given::Target(scalar) => {
                let word = self.pointee(whole, scalar);
                self.scalar_result(word, scalar)
            }
            Given::Object | Given::Unknown => Result::UNKNOWN,
        }
    }

    fn option_result(&mut self, has: &Value, inner: &Value, scalar: Scalar) -> Result {
        let (Value::Word(has), inner) = (has, inner) else { return Result::UNKNOWN };
        if !has.is_known() {
            return Result::UNKNOWN;
        }
        self.pin(*has, "whether an operation gives a value");
        if has.bits == 0 {
            return Result::nothing();
        }
        self.scalar_result(inner.word(scalar.bytes() * 8), scalar)
    }

    fn scalar_result(&mut self, word: Word, scalar: Scalar) -> Result {
        if scalar == Scalar::Pointer {
            self.pin(word, "pointer that an operation gives");
        }
        Result { text: self.value_text(word, scalar), word: word.term.map(|_| (word, scalar)) }
    }

    /// The bytes of a small struct that a function gives back as a word: of some of them, it may be, nothing is known.
    fn returned_bytes(&mut self, function: &Function, word: Word, next: usize) -> Option<Bytes> {
        if word.is_known() {
            return Some(self.world.expressions.split(word, word.width() / 8));
        }
        let SideOp::Return(Some(Operand::Local(loaded))) = function.instructions.get(next)?.op else { return None };
        let SideOp::Load { address, size: 8, hooked: false, .. } = &function.instructions.get(loaded as usize)?.op
        else {
            return None;
        };
        let address = self.word(address, 64);
        address.is_known().then(|| self.private(address.bits, 8))
    }

    /// What the operation that returns next gives, for schedules other than the recorded one.
    pub(super) fn note_result(&mut self, word: Word, scalar: Scalar) {
        let expressions = &mut self.world.expressions;
        let word = match scalar {
            Scalar::Pointer => return,
            Scalar::Truth => expressions.truncate(word, 1),
            Scalar::Integer { signed: true, .. } => expressions.sign_extend(word, 64),
            Scalar::Integer { .. } => expressions.zero_extend(word, 64),
        };
        let word = expressions.whole(word);
        let Some(expr) = word.term else { return };
        let dst = self.world.fresh_name(&mut self.thread.names, "result");
        let source = self.source_beside(self.thread.now);
        self.world.push(source, Op::Let { dst, expr });
    }

    fn end_operation(&mut self, open: &OpenOperation, text: Option<String>) {
        let value = text.map(|text| self.world.draft.assembler.name(&text));
        let source = self.source_beside(self.thread.now);
        self.world.push(source, Op::Return { object: open.object, method: open.method, value });
    }

    /// An exception or a jump leaves the innermost function.
    pub(super) fn operation_is_left(&mut self) {
        if let Some(open) = self.thread.frames.last_mut().and_then(|frame| frame.operation.take()) {
            self.end_operation(&open, None);
        }
    }
}
