//! Calls and returns; what comes from code that was not recorded.

use super::Walk;
use super::library::{self, CallOf, FREE, is_output};
use super::operations::is_operation_mark;
use super::thread::{Frame, Pause, State, Step};
use super::variadic::Argument;
use crate::inlined::FrameCalls;
use crate::log::Record;
use crate::memory::Bytes;
use crate::names::Origin;
use crate::program::Function;
use crate::regions::Birth;
use crate::value::{Value, Word};
use foretrace_instrument::sidecar::{Callee, Op, Operand};
use foretrace_runtime::record::Kind;
use foretrace_trace::BlockKind;

/// Whether a function comes back a second time when someone jumps there.
fn is_setjmp(name: &str) -> bool {
    matches!(name, "setjmp" | "_setjmp" | "sigsetjmp" | "__sigsetjmp" | "__sigsetjmp_cancel" | "getcontext")
}

impl<'a> Walk<'_, 'a> {
    pub(super) fn call(
        &mut self,
        function: &'a Function,
        index: usize,
        callee: &'a Callee,
        arguments: &'a [Operand],
        result: bool,
    ) -> Step<()> {
        let next = self.thread.records.peek().ok_or(Pause::End)?;
        if next.kind == Kind::HandlerBegin {
            self.record()?;
        }
        if let Callee::Pointer(pointer) = callee {
            let pointer = self.operand(pointer);
            self.pin_value(&pointer, "called pointer");
        }
        if entered(next.kind).is_some()
            && let Some(entered) = self.entered_function(next)
            && self.is_callee(function, callee, entered, arguments.len())
        {
            let arguments = self.given(function, arguments);
            self.take(next);
            return self.enter(next, Some(arguments));
        }
        if !result {
            return match next.kind {
                Kind::Stop => Err(Pause::End),
                _ => Err(self.lost(next, "the start of the called function")),
            };
        }
        self.leave(function, index, callee, arguments)
    }

    /// Control leaves instrumented code: what goes with it is fixed.
    fn leave(&mut self, function: &Function, index: usize, callee: &Callee, arguments: &[Operand]) -> Step<()> {
        let name = match callee {
            Callee::Symbol(name) => name.as_str(),
            Callee::Pointer(_) => "a function pointer",
            Callee::Assembly => "assembly",
        };
        let only_output = !function.used[index] && is_output(name);
        if !only_output && !is_operation_mark(name) {
            for argument in arguments {
                let argument = self.operand(argument);
                self.pin_value(&argument, CallOf(name));
            }
        }
        if name == "foretrace_value"
            && let Some(passed) = arguments.first()
        {
            self.thread.passed = Some(self.word(passed, 64));
        }
        self.thread.freed = arguments.first().filter(|_| name == FREE).map(|freed| self.word(freed, 64));
        let is_setjmp = is_setjmp(name);
        let frame = self.frame()?;
        if is_setjmp && !frame.setjmps.contains(&index) {
            frame.setjmps.push(index);
        }
        frame.state = State::Outside;
        self.enter_foreign(function, callee);
        Ok(())
    }

    fn entered_function(&self, record: Record) -> Option<&'a Function> {
        let (function, _) = self.program.find(record.site())?;
        Some(&self.program.functions[function])
    }

    fn is_callee(&self, caller: &Function, callee: &Callee, entered: &Function, arguments: usize) -> bool {
        match callee {
            Callee::Symbol(name) if *name == entered.symbol => true,
            Callee::Symbol(name) => {
                entered.address.is_some() && self.program.address(name, caller.unit) == entered.address
            }
            Callee::Pointer(pointer) => {
                let pointer = self.word(pointer, 64);
                match entered.address {
                    Some(address) if pointer.is_known() => pointer.bits == address,
                    _ => entered.parameters.len() == arguments,
                }
            }
            Callee::Assembly => false,
        }
    }

    /// A function starts; `arguments` where an instruction of the innermost frame called it.
    fn enter(&mut self, record: Record, arguments: Option<Vec<Argument>>) -> Step<()> {
        let found = self.program.find(record.site());
        let (number, _) = found.ok_or_else(|| self.lost(record, "a function of the program"))?;
        let function = &self.program.functions[number];
        self.operation(1 + function.parameters.len() as u64);
        let called = arguments.is_some();
        let arguments = arguments.unwrap_or_default();
        let parameters = self.parameters(number, record, &arguments)?;
        let variadic = self.variadic(function, arguments);
        let registers = self.thread.registers.len();
        self.thread.registers.resize(registers + function.instructions.len(), Value::Untracked);
        self.thread.registers.extend(parameters);
        self.thread.registers.extend_from_slice(&function.prepared().constants);
        self.thread.frames.push(Frame {
            function: Some(number),
            next: 0,
            block: 0,
            previous: 0,
            registers,
            parameters: registers + function.instructions.len(),
            state: State::Running,
            held: None,
            crashed: None,
            called,
            returned: None,
            library: None,
            variadic,
            setjmps: Vec::new(),
            foreign: None,
            nest: self.thread.nest.depth(),
            loops: Vec::new(),
            has_blocks: !self.program.is_library(function),
            private: self.thread.private,
            operation: None,
            calls: FrameCalls::default(),
        });
        self.begin_function(function);
        self.begin_operation(number, function);
        if self.world.options.wants(BlockKind::Loop) {
            self.enter_block(function, 0);
        }
        Ok(())
    }

    /// What the parameters are: terms from the caller, values from the log.
    fn parameters(&mut self, number: usize, record: Record, arguments: &[Argument]) -> Step<Vec<Value>> {
        let function = &self.program.functions[number];
        let recorded = entered(record.kind).unwrap_or(0);
        let mut values = Vec::with_capacity(function.parameters.len());
        let mut scalars = 0;
        for (index, parameter) in function.parameters.iter().enumerate() {
            let given = arguments.get(index).map_or(Value::Untracked, |argument| argument.value.clone());
            let width = parameter.ty.bits();
            if width == 0 {
                values.push(given);
                continue;
            }
            let bits = if scalars < recorded {
                record.words[scalars]
            } else {
                let record = self.thread.records.peek().ok_or(Pause::End)?;
                if record.kind != Kind::Argument {
                    return Err(self.lost(record, "an argument"));
                }
                self.take(record);
                record.words[0]
            };
            scalars += 1;
            let given = given.word(width);
            let given = if given.width() == width { given } else { Word::unknown(width) };
            values.push(Value::Word(match parameter.by_value {
                Some(size) => {
                    let origin = Origin::Parameter { function: number as u32, parameter: index as u32 };
                    self.by_value(given, bits, size, origin)
                }
                None => self.checked(given, bits, "an argument"),
            }));
        }
        Ok(values)
    }

    /// The callee has a copy of its own.
    fn by_value(&mut self, given: Word, copy: u64, size: u64, origin: Origin) -> Word {
        self.pin(given, "address");
        self.world.born(copy, size, (Birth::Frame, origin));
        if given.is_known() && given.bits != copy {
            for at in 0..size {
                let from = given.bits.wrapping_add(at);
                if self.world.cells.at(from).is_none() {
                    let byte = self.own_byte(from);
                    self.world.memory.store(copy.wrapping_add(at), &byte);
                }
            }
        }
        Word::constant(64, copy)
    }

    /// A byte as it is in memory. No record says that the thread reads it, so it may be another one's: then its term
    /// means nothing here.
    fn own_byte(&mut self, address: u64) -> Bytes {
        let byte = self.world.memory.load(address, 1);
        let is_own = byte.slices[0].is_none_or(|slice| {
            let leaf = self.world.expressions.any_leaf(slice.term);
            leaf.is_none_or(|event| self.world.draft.events[event.index()].thread == self.thread.id)
        });
        if is_own { byte } else { Bytes { slices: [None; 8], symbolic: false, ..byte } }
    }

    /// The innermost function returns.
    pub(super) fn return_from(&mut self, function: &Function, value: Value) -> Step<()> {
        self.operation_returns(&value);
        let Some(frame) = self.thread.frames.pop() else { return Err(Pause::Lost("a return from nowhere".into())) };
        self.drop_frame(&frame);
        if !frame.called {
            if function.symbol != "main" && !self.is_comparison(&value) {
                self.pin_value(&value, "value returned to code that was not recorded");
            }
            return Ok(());
        }
        let (caller, index) = self.active()?;
        match &caller.instructions[index].op {
            Op::Call { result: false, .. } => self.complete(caller, index, value),
            _ => {
                let frame = self.frame()?;
                frame.state = State::Outside;
                frame.returned = Some(value);
                Ok(())
            }
        }
    }

    /// The innermost frame's function and instruction.
    pub(super) fn active(&mut self) -> Step<(&'a Function, usize)> {
        let frame = self.thread.frames.last().filter(|frame| frame.function.is_some());
        let frame = frame.ok_or_else(Pause::no_frame)?;
        Ok((&self.program.functions[frame.function.unwrap_or_default()], frame.next))
    }

    pub(crate) fn drop_frame(&mut self, frame: &Frame) {
        self.leave_calls_above(self.thread.frames.len());
        if let Some(first) = self.thread.decisions.left(self.thread.frames.len()) {
            self.end_decisions(first);
        }
        while self.thread.nest.depth() > frame.nest {
            self.end_stretch(Some(self.world.draft.next().0));
        }
        self.thread.registers.truncate(frame.registers);
        self.thread.private = frame.private;
    }

    /// A call is over.
    pub(super) fn complete(&mut self, function: &'a Function, index: usize, value: Value) -> Step<()> {
        self.set(index, value)?;
        match &function.instructions[index].op {
            Op::Call { unwinds: Some((normal, _)), .. } | Op::Library { unwinds: Some((normal, _)), .. } => {
                self.jump(function, *normal)
            }
            _ => Ok(()),
        }
    }

    /// What comes while no instruction of the innermost frame executes.
    pub(super) fn outside(&mut self) -> Step<()> {
        let record = self.record()?;
        let Some(record) = self.unknown_record(record)? else { return Ok(()) };
        match record.kind {
            Kind::Result => self.result(record),
            Kind::Landing => self.landing(record),
            Kind::HandlerEnd => self.end_handler(record),
            Kind::Context => self.switch_context(record),
            kind if entered(kind).is_some() => {
                self.take(record);
                self.enter(record, None)
            }
            Kind::Called | Kind::Returned => {
                self.take(record);
                match record.kind {
                    Kind::Called => self.called(record),
                    _ => self.returned(record),
                }
                Ok(())
            }
            kind if kind.ordered() && kind.size() == 0 => {
                self.take(record);
                self.synchronise(record)
            }
            kind if library::is_access(kind) && self.is_of_library(record) => {
                self.take(record);
                self.library_access(record)
            }
            // An interposed function that changes memory of the program says so.
            kind if kind.size() > 0 && self.program.find(record.site()).is_none() => {
                self.take(record);
                self.access_from_outside(record);
                Ok(())
            }
            _ => Err(self.lost(record, "what code does that was not recorded")),
        }
    }
}

/// How many parameters an `Enter` record holds.
fn entered(kind: Kind) -> Option<usize> {
    match kind {
        Kind::Enter0 => Some(0),
        Kind::Enter1 => Some(1),
        Kind::Enter2 => Some(2),
        Kind::Enter3 => Some(3),
        Kind::Enter4 => Some(4),
        _ => None,
    }
}
