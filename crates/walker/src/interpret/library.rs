//! Functions of the C library whose accesses are in the log. Bytes keep their terms when they are moved, and a result is fixed by assumes
//! over the bytes that it depended on.

use super::Walk;
use super::accesses::Access;
use super::thread::{LibraryCall, State, Step};
use crate::log::Record;
use crate::looks::looks;
use crate::memory::Bytes;
use crate::program::{Function, demangle};
use crate::value::{Value, Word};
use foretrace_instrument::sidecar::Operand;
use foretrace_runtime::library::{self, Reading};
use foretrace_runtime::record::Kind;
use foretrace_trace::{Func, Why};

/// Its argument is fixed where its block is one that threads share.
pub(super) const FREE: &str = "free";

/// Whether a function's arguments only leave the program, or it only takes time: if nobody looks at what it gives back, nothing
/// that comes later depends on its arguments.
#[rustfmt::skip]
pub(super) fn is_output(name: &str) -> bool {
    matches!(
        name,
        "printf" | "fprintf" | "dprintf" | "vprintf" | "vfprintf" | "vdprintf" | "vsyslog" | "puts" | "fputs" | "putchar" | "putc" | "fputc" | "fwrite"
            | "perror" | "fflush" | FREE | "syslog" | "usleep" | "sleep" | "sched_yield" | "nanosleep" | "__assert_fail"
    )
}

/// The call of a symbol as a reason, put into words only where somebody asks.
#[derive(Clone, Copy)]
pub(super) struct CallOf<'a>(pub &'a str);

impl std::fmt::Display for CallOf<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "call of {}", demangle(self.0))
    }
}

impl Walk<'_, '_> {
    /// A call begins. Nothing that comes later depends on the arguments of a function that prints, if nobody looks at what it gives back.
    pub(super) fn library(&mut self, name: &str, arguments: &[Operand], is_used: bool) -> Step<()> {
        let function = library::Function::named(name).ok_or_else(|| super::Pause::Lost(format!("unknown {name}")))?;
        if looks(name) {
            self.look();
        }
        let finds = matches!(function.reading(), Reading::Finds | Reading::FindsInString);
        let mut wanted = Word::unknown(8);
        let by = CallOf(name);
        let arguments = if !is_used && is_output(name) { &[] } else { arguments };
        for (index, argument) in arguments.iter().enumerate() {
            let value = self.operand(argument);
            match value {
                Value::Word(word) if finds && index == 1 => wanted = self.world.expressions.truncate(word, 8),
                _ => self.pin_value(&value, by),
            }
        }
        let frame = self.frame()?;
        frame.state = State::Outside;
        frame.library = Some(Box::new(LibraryCall { function, wanted, held: None, first: None, difference: None }));
        Ok(())
    }

    /// Whether a record is of the call of a library function that the innermost frame makes.
    pub(super) fn is_of_library(&self, record: Record) -> bool {
        let calls = self.thread.frames.last().filter(|frame| frame.library.is_some());
        let site = calls.and_then(|frame| Some(self.program.functions[frame.function?].site_of(frame.next)));
        site == Some(record.site())
    }

    /// An access by such a function.
    pub(super) fn library_access(&mut self, record: Record) -> Step<()> {
        if record.kind.is_load() {
            let bytes = self.read(Access::of_record(&record), "");
            return self.library_read(bytes);
        }
        let size = record.kind.size() as u32;
        let call = self.library_call()?;
        let mut bytes = Bytes::constant(size, record.words[1]);
        if let Some(held) = call.held.take() {
            if held.size > size {
                call.held = Some(held.part(size, held.size - size));
            }
            if held.size >= size && held.is_known() && held.part(0, size).bits == bytes.bits {
                bytes = held.part(0, size);
            }
        }
        self.write(Access::of_record(&record), bytes, record.replaced());
        Ok(())
    }

    fn library_call(&mut self) -> Step<&mut LibraryCall> {
        let call = self.thread.frames.last_mut().and_then(|frame| frame.library.as_deref_mut());
        call.ok_or_else(|| super::Pause::Lost("no call of a library function is active".into()))
    }

    fn library_read(&mut self, bytes: Bytes) -> Step<()> {
        let call = self.library_call()?;
        call.held = Some(bytes);
        let (wanted, name) = (call.wanted, call.function.name());
        match call.function.reading() {
            Reading::Passes => {}
            Reading::Depends => {
                for at in 0..bytes.size {
                    let byte = self.byte(&bytes, at);
                    self.pin(byte, CallOf(name));
                }
            }
            Reading::Ends => self.look_for(&bytes, &[Word::constant(8, 0)]),
            Reading::Finds => self.look_for(&bytes, &[wanted]),
            Reading::FindsInString if name == "strrchr" => {
                self.look_for(&bytes, &[Word::constant(8, 0)]);
                self.tell_apart(&bytes, wanted);
            }
            Reading::FindsInString => self.look_for(&bytes, &[wanted, Word::constant(8, 0)]),
            Reading::Compares => return self.compared(bytes, false),
            Reading::ComparesStrings => return self.compared(bytes, true),
        }
        Ok(())
    }

    /// Bytes are none of these up to the first that is.
    fn look_for(&mut self, bytes: &Bytes, wanted: &[Word]) {
        for at in 0..bytes.size {
            let byte = self.byte(bytes, at);
            for one in wanted {
                self.equal_or_not(byte, *one);
            }
            if wanted.iter().any(|one| one.is(byte.bits)) {
                return;
            }
        }
    }

    /// Which bytes of a text are this one.
    fn tell_apart(&mut self, bytes: &Bytes, wanted: Word) {
        for at in 0..bytes.size {
            let byte = self.byte(bytes, at);
            self.equal_or_not(byte, wanted);
            if byte.is(0) {
                return;
            }
        }
    }

    /// One more piece of those that are compared.
    fn compared(&mut self, bytes: Bytes, texts: bool) -> Step<()> {
        let call = self.library_call()?;
        let Some(first) = call.first.take() else {
            call.first = Some(bytes);
            return Ok(());
        };
        for at in 0..bytes.size.min(first.size) {
            let (a, b) = (self.byte(&first, at), self.byte(&bytes, at));
            self.equal_or_not(a, b);
            let ends = texts && a.is(0);
            if texts && a.is(b.bits) {
                self.equal_or_not(a, Word::constant(8, 0));
            }
            if ends || !a.is(b.bits) {
                let (a, b) = (self.world.expressions.zero_extend(a, 32), self.world.expressions.zero_extend(b, 32));
                let difference = self.world.expressions.binary(Func::BvSub, a, b);
                self.library_call()?.difference = Some(difference);
                return Ok(());
            }
        }
        Ok(())
    }

    fn byte(&mut self, bytes: &Bytes, at: u32) -> Word {
        let byte = bytes.part(at, 1);
        self.world.expressions.join(&byte)
    }

    /// What depends on whether two words are equal goes on as it did.
    fn equal_or_not(&mut self, a: Word, b: Word) {
        if !(a.is_known() && b.is_known()) {
            return;
        }
        let func = if a.bits == b.bits { Func::Eq } else { Func::Distinct };
        if let Some(condition) = self.world.expressions.compare(func, a, b).term {
            self.assume(condition, Why::Branch);
        }
    }

    /// The value of the call, if it is more than what the log says.
    pub(super) fn library_result(&mut self, function: &Function, index: usize) -> Option<Value> {
        let call = self.thread.frames.last_mut()?.library.take()?;
        let width = function.instructions[index].ty.bits();
        let difference = call.difference.filter(|word| word.is_known() && word.width() == width)?;
        let ends = call.function.reading() == Reading::ComparesStrings && difference.is(0);
        // Of two texts that are equal the last bytes are held to be zero.
        Some(Value::Word(if ends { Word::constant(width, 0) } else { difference }))
    }

    /// Whether what a function gives back goes to one that looks at its sign alone; then that is fixed.
    pub(super) fn is_comparison(&mut self, value: &Value) -> bool {
        let compares = |call: &LibraryCall| {
            matches!(call.function, library::Function::Qsort | library::Function::QsortR | library::Function::Bsearch)
        };
        let is_comparison = self.thread.frames.last().and_then(|frame| frame.library.as_deref()).is_some_and(compares);
        if let (true, Value::Word(word)) = (is_comparison, value)
            && word.is_known()
        {
            let zero = Word::constant(word.width(), 0);
            let func = match crate::value::signed(word.width(), word.bits) {
                0 => Func::Eq,
                negative if negative < 0 => Func::BvSlt,
                _ => Func::BvSgt,
            };
            if let Some(condition) = self.world.expressions.compare(func, *word, zero).term {
                self.assume(condition, Why::Branch);
            }
        }
        is_comparison
    }
}

/// Whether a kind is one that library calls write.
pub(super) fn is_access(kind: Kind) -> bool {
    kind.is_load() || kind.is_store()
}
