//! A small walker: follows a thread's records through the side-car, and holds what the side-car lets it compute against
//! what the hooks were told.

use foretrace_instrument::sidecar::{
    BinaryOp, BlockId, Callee, CastOp, Function, Instruction, Op, Operand, Predicate, Type, Unit, UpdateOp,
};
use std::collections::HashMap;

/// A line of the log.
#[derive(Clone, Debug)]
pub struct Record {
    kind: String,
    site: u32,
    words: Vec<u64>,
}

/// The records of each thread.
pub fn threads(log: &str) -> Vec<Vec<Record>> {
    let mut threads: Vec<(&str, Vec<Record>)> = Vec::new();
    for line in log.lines() {
        let mut fields = line.split(' ');
        let thread = fields.next().expect("a thread");
        let kind = fields.next().expect("a kind").to_owned();
        let site = fields.next().and_then(|field| field.parse().ok()).expect("a site");
        let words = fields.map(|field| u64::from_str_radix(field, 16).expect("a word")).collect();
        let record = Record { kind, site, words };
        match threads.iter_mut().find(|(name, _)| *name == thread) {
            Some((_, records)) => records.push(record),
            None => threads.push((thread, vec![record])),
        }
    }
    threads.into_iter().map(|(_, records)| records).collect()
}

/// What is known of a value.
#[derive(Clone, Debug)]
enum Known {
    Word(u64),
    Parts(Vec<Known>),
    Nothing,
}

impl Known {
    fn word(&self) -> Option<u64> {
        if let Known::Word(word) = self { Some(*word) } else { None }
    }
}

/// Why a function is left before its end.
enum Left {
    /// The next record is of a frame further out.
    Unwound,
    /// The log is over.
    Over,
}

/// Walks one thread.
pub struct Walk<'a> {
    unit: &'a Unit,
    symbols: &'a HashMap<String, u64>,
    records: &'a [Record],
    next: usize,
    /// Words that were computed and found right.
    pub checked: usize,
    /// Words that could not be computed.
    pub unknown: usize,
}

struct Frame<'a> {
    function: &'a Function,
    symbols: &'a HashMap<String, u64>,
    parameters: Vec<Known>,
    values: HashMap<u32, Known>,
}

enum Step {
    Next,
    Go(BlockId),
    Return(Known),
}

impl<'a> Walk<'a> {
    pub fn new(unit: &'a Unit, symbols: &'a HashMap<String, u64>, records: &'a [Record]) -> Walk<'a> {
        Walk { unit, symbols, records, next: 0, checked: 0, unknown: 0 }
    }

    /// Follows every record to the last.
    pub fn run(&mut self) {
        while self.peek().is_some() {
            match self.function(None) {
                Ok(_) | Err(Left::Over) => {}
                Err(Left::Unwound) => panic!("record {} fits no frame: {:?}", self.next, self.peek()),
            }
        }
    }

    fn peek(&self) -> Option<&'a Record> {
        self.records.get(self.next)
    }

    fn take(&mut self, kind: &str, site: u32) -> Result<&'a [u64], Left> {
        let record = self.peek().ok_or(Left::Over)?;
        assert!(record.kind == kind && record.site == site, "record {}: {record:?}, not {kind} of {site}", self.next);
        self.next += 1;
        Ok(&record.words)
    }

    fn check(&mut self, what: &str, site: u32, known: &Known, told: u64) {
        match known.word() {
            Some(word) => {
                assert_eq!(word, told, "{what} of site {site}, record {}", self.next);
                self.checked += 1;
            }
            None => self.unknown += 1,
        }
    }

    /// A function from its entry to its return.
    fn function(&mut self, arguments: Option<&[Known]>) -> Result<Known, Left> {
        let record = self.peek().ok_or(Left::Over)?;
        let found = self.unit.functions.iter().find(|function| function.site == record.site);
        let function = found.filter(|_| record.kind == "enter");
        let function = function.unwrap_or_else(|| panic!("record {} enters nothing: {record:?}", self.next));
        let mut words = self.take("enter", function.site)?.to_vec();
        while self.peek().is_some_and(|record| record.kind == "argument" && record.site == function.site) {
            words.extend(self.take("argument", function.site)?);
        }
        let scalars = function.parameters.iter().filter(|parameter| parameter.ty.bits() > 0).count();
        assert_eq!(words.len(), scalars, "{}", function.symbol);
        let mut words = words.into_iter();
        let mut parameters = Vec::new();
        for (index, parameter) in function.parameters.iter().enumerate() {
            let word = if parameter.ty.bits() > 0 { words.next() } else { None };
            let passed = arguments.and_then(|arguments| arguments.get(index));
            if let (Some(word), Some(passed), None) = (word, passed, parameter.by_value) {
                self.check("argument", function.site, passed, word);
            }
            let known = word.map(Known::Word).or_else(|| passed.cloned());
            parameters.push(known.unwrap_or(Known::Nothing));
        }
        self.body(Frame { function, symbols: self.symbols, parameters, values: HashMap::new() })
    }

    fn body(&mut self, mut frame: Frame<'a>) -> Result<Known, Left> {
        let (mut block, mut from, mut start) = (0, 0, 0);
        loop {
            let code = &frame.function.blocks[block as usize];
            let mut went = None;
            self.phis(&mut frame, block, from);
            for (instruction, site) in code.instructions.iter().zip(code.first..).skip(start) {
                match self.instruction(&mut frame, instruction, site) {
                    Ok(Step::Next) => {}
                    Ok(Step::Go(to)) => went = Some((to, 0)),
                    Ok(Step::Return(value)) => return Ok(value),
                    Err(Left::Over) => return Err(Left::Over),
                    Err(Left::Unwound) => {
                        went = Some(self.caught(&mut frame, instruction).ok_or(Left::Unwound)?);
                        break;
                    }
                }
            }
            from = block;
            (block, start) = went.unwrap_or_else(|| panic!("block {block} of {} has no end", frame.function.symbol));
        }
    }

    /// Where this frame goes on after an exception or longjmp in the call that it is in, if the next record is its own.
    fn caught(&mut self, frame: &mut Frame, call: &Instruction) -> Option<(BlockId, usize)> {
        let record = self.peek()?;
        if record.kind == "landing" {
            let Op::Call { unwinds: Some((_, landing)), .. } = call.op else { return None };
            let block = &frame.function.blocks[landing as usize];
            let position = block.instructions.iter().position(|instruction| instruction.op == Op::Landing)?;
            return (block.first + u32::try_from(position).ok()? == record.site).then_some((landing, 0));
        }
        let index = frame
            .function
            .blocks
            .iter()
            .position(|block| (block.first..).take(block.instructions.len()).any(|site| site == record.site))?;
        let block = &frame.function.blocks[index];
        let at = (record.site - block.first) as usize;
        assert!(
            record.kind == "result"
                && matches!(block.instructions[at].op, Op::Call { result: true, unwinds: None, .. })
        );
        frame.values.insert(record.site, Known::Word(record.words[0]));
        self.next += 1;
        Some((BlockId::try_from(index).ok()?, at + 1))
    }

    fn phis(&mut self, frame: &mut Frame, block: BlockId, from: BlockId) {
        let code = &frame.function.blocks[block as usize];
        let mut new = Vec::new();
        for (instruction, site) in code.instructions.iter().zip(code.first..) {
            let Op::Phi(incoming) = &instruction.op else { break };
            if let Some((_, value)) = incoming.iter().find(|(block, _)| *block == from) {
                new.push((site, frame.operand(value)));
            }
        }
        frame.values.extend(new);
    }

    fn instruction(&mut self, frame: &mut Frame, instruction: &Instruction, site: u32) -> Result<Step, Left> {
        let bits = instruction.ty.bits();
        let value = match &instruction.op {
            Op::Branch { .. } | Op::Jump(_) | Op::Switch { .. } | Op::Indirect { .. } => {
                return self.control(frame, &instruction.op, site).map(Step::Go);
            }
            Op::Return(value) => {
                return Ok(Step::Return(value.as_ref().map_or(Known::Nothing, |value| frame.operand(value))));
            }
            Op::Resume | Op::Unreachable => {
                return Err(if self.peek().is_some() { Left::Unwound } else { Left::Over });
            }
            Op::Phi(_) => return Ok(Step::Next),
            Op::Call { callee, arguments, result, unwinds } => {
                let value = self.call(frame, instruction, site, (callee, arguments, *result))?;
                frame.values.insert(site, value);
                return Ok(unwinds.map_or(Step::Next, |(normal, _)| Step::Go(normal)));
            }
            Op::Library { name, arguments, unwinds } => {
                let callee = Callee::Symbol(name.clone());
                let value = self.call(frame, instruction, site, (&callee, arguments, true))?;
                frame.values.insert(site, value);
                return Ok(unwinds.map_or(Step::Next, |(normal, _)| Step::Go(normal)));
            }
            Op::Intrinsic { name, .. } if name.starts_with("llvm.va_start") => {
                self.take("value", site)?;
                Known::Nothing
            }
            Op::Intrinsic { .. } if bits == 0 => Known::Nothing,
            Op::Intrinsic { .. } | Op::Opaque { recorded: true, .. } => Known::Word(self.take("value", site)?[0]),
            Op::Landing => {
                self.take("landing", site)?;
                Known::Nothing
            }
            op => match self.memory(frame, op, site)? {
                Some(value) => value,
                None => frame.compute(op, bits),
            },
        };
        frame.values.insert(site, masked(value, bits));
        Ok(Step::Next)
    }

    /// The parts of a call's value, with a record for each scalar in it.
    fn recorded(&mut self, ty: &Type, site: u32) -> Result<Known, Left> {
        match ty {
            Type::Aggregate(parts) => {
                let parts: Result<Vec<Known>, Left> = parts.iter().map(|part| self.recorded(part, site)).collect();
                Ok(Known::Parts(parts?))
            }
            scalar if scalar.bits() > 0 => Ok(Known::Word(self.take("value", site)?[0])),
            _ => Ok(Known::Nothing),
        }
    }

    fn control(&mut self, frame: &Frame, op: &Op, site: u32) -> Result<BlockId, Left> {
        match op {
            Op::Jump(to) => Ok(*to),
            Op::Branch { condition, yes, no, recorded } => {
                let told = self.choice("branch", site, &frame.operand(condition), *recorded)?;
                Ok(if told == 1 { *yes } else { *no })
            }
            Op::Switch { value, cases, otherwise, recorded, .. } => {
                let told = self.choice("switch", site, &frame.operand(value), *recorded)?;
                Ok(cases.iter().find(|(case, _)| *case == told).map_or(*otherwise, |(_, to)| *to))
            }
            Op::Indirect { to, .. } => Ok(to[self.take("switch", site)?[0] as usize]),
            _ => panic!("no control in {op:?}"),
        }
    }

    /// What a branch went by; what has no record must be known.
    fn choice(&mut self, kind: &str, site: u32, known: &Known, recorded: bool) -> Result<u64, Left> {
        if !recorded {
            self.peek().ok_or(Left::Over)?;
            return Ok(known.word().unwrap_or_else(|| panic!("the {kind} of site {site} is not known")));
        }
        let told = self.take(kind, site)?[0];
        self.check(kind, site, known, told);
        Ok(told)
    }

    fn call(
        &mut self,
        frame: &Frame,
        instruction: &Instruction,
        site: u32,
        (callee, arguments, result): (&Callee, &[Operand], bool),
    ) -> Result<Known, Left> {
        let arguments: Vec<Known> = arguments.iter().map(|argument| frame.operand(argument)).collect();
        if !result {
            return self.function(Some(&arguments));
        }
        loop {
            let record = self.peek().ok_or(Left::Over)?;
            match record.kind.as_str() {
                "enter" => {
                    let entered = self.unit.functions.iter().find(|function| function.site == record.site);
                    let is_callee = matches!(callee, Callee::Symbol(name) if entered.is_some_and(|entered| entered.symbol == *name));
                    self.function(is_callee.then_some(arguments.as_slice()))?;
                }
                "result" if record.site == site => break,
                "result" | "landing" => return Err(Left::Unwound),
                _ => panic!("record {} in a call: {record:?}", self.next),
            }
        }
        let value = self.take("result", site)?[0];
        match &instruction.ty {
            ty @ Type::Aggregate(_) => self.recorded(ty, site),
            _ => Ok(Known::Word(value)),
        }
    }

    /// Accesses; none for what is computed.
    fn memory(&mut self, frame: &Frame, op: &Op, site: u32) -> Result<Option<Known>, Left> {
        let value = match op {
            Op::Alloca { escapes: true, size, count } => {
                let told = self.take("alloca", site)?;
                let bytes = frame.operand(count).word().map_or(Known::Nothing, |count| Known::Word(count * size));
                self.check("size", site, &bytes, told[1]);
                Known::Word(told[0])
            }
            Op::Load { hooked: true, address, size, .. } => {
                let told = self.take(&format!("load{size}"), site)?;
                self.check("address", site, &frame.operand(address), told[0]);
                Known::Word(told[1])
            }
            Op::Store { hooked: true, address, value, size, .. } => {
                let told = self.take(&format!("store{size}"), site)?;
                self.check("address", site, &frame.operand(address), told[0]);
                self.check("value", site, &frame.operand(value), told[1]);
                Known::Nothing
            }
            Op::Wide { address, value, pieces } => {
                for (offset, size) in pieces {
                    let kind = if value.is_some() { "store" } else { "load" };
                    let told = self.take(&format!("{kind}{size}"), site)?;
                    let base = frame.operand(address).word();
                    let address = base.map_or(Known::Nothing, |base| Known::Word(base + offset));
                    self.check("address", site, &address, told[0]);
                }
                Known::Nothing
            }
            Op::Update { address, operand, size, by } => {
                let told = self.take(&format!("update{size}"), site)?;
                self.check("address", site, &frame.operand(address), told[0]);
                let new = frame.word(operand).map(|operand| updated(*by, told[1], operand, *size as u32 * 8));
                self.check("update", site, &new.map_or(Known::Nothing, Known::Word), told[2]);
                Known::Word(told[1])
            }
            Op::CompareAndSwap { address, expected, desired, size } => {
                let told = self.take(&format!("cas{size}"), site)?;
                for (operand, told) in [(address, told[0]), (expected, told[2]), (desired, told[3])] {
                    self.check("compare-and-swap", site, &frame.operand(operand), told);
                }
                Known::Parts(vec![Known::Word(told[1]), Known::Word(u64::from(told[1] == told[2]))])
            }
            Op::Pair { by, address, words } => {
                let told = self.take("pair", site)?;
                assert_eq!(by.code(), told[0]);
                for (operand, told) in std::iter::once(address).chain(words).zip(&told[1..]) {
                    self.check("access of 16 bytes", site, &frame.operand(operand), *told);
                }
                Known::Parts(told[6..8].iter().map(|half| Known::Word(*half)).collect())
            }
            Op::Copy { to, from, length, hooked: true } => {
                let told = self.take("copy", site)?;
                for (operand, told) in [to, from, length].into_iter().zip(told) {
                    self.check("copy", site, &frame.operand(operand), *told);
                }
                Known::Nothing
            }
            Op::Set { to, byte, length, hooked: true } => {
                let told = self.take("set", site)?;
                for (operand, told) in [to, byte, length].into_iter().zip(told) {
                    self.check("set", site, &frame.operand(operand), *told);
                }
                Known::Nothing
            }
            _ => return Ok(None),
        };
        Ok(Some(value))
    }
}

impl Frame<'_> {
    fn operand(&self, operand: &Operand) -> Known {
        match operand {
            Operand::Local(site) => self.values.get(site).cloned().unwrap_or(Known::Nothing),
            Operand::Parameter(index) => self.parameters[*index as usize].clone(),
            Operand::Constant(bits, value) | Operand::Float(bits, value) => {
                assert_eq!(*value, value & mask(*bits), "a constant of {bits} bits");
                Known::Word(*value)
            }
            Operand::Aggregate(parts) => Known::Parts(parts.iter().map(|part| self.operand(part)).collect()),
            Operand::Address(symbol, offset) => {
                self.symbols.get(symbol).map_or(Known::Nothing, |at| Known::Word(at.wrapping_add_signed(*offset)))
            }
            Operand::Undefined | Operand::Opaque => Known::Nothing,
        }
    }

    fn word(&self, operand: &Operand) -> Option<u64> {
        self.operand(operand).word()
    }

    fn compute(&self, op: &Op, bits: u32) -> Known {
        match op {
            Op::Extract { from, path } => {
                let whole = self.operand(from);
                path.iter().fold(whole, |whole, index| match whole {
                    Known::Parts(parts) => parts.get(*index as usize).cloned().unwrap_or(Known::Nothing),
                    _ => Known::Nothing,
                })
            }
            Op::Insert { into, value, path } => inserted(self.operand(into), self.operand(value), path),
            _ => self.computed_word(op, bits).map_or(Known::Nothing, Known::Word),
        }
    }

    fn computed_word(&self, op: &Op, bits: u32) -> Option<u64> {
        match op {
            Op::Binary { by, left, right } => binary(*by, bits, self.word(left)?, self.word(right)?),
            Op::Compare { by, bits, left, right } => {
                let (left, right) = (self.word(left)?, self.word(right)?);
                Some(u64::from(compare(*by, left, right, signed(left, *bits), signed(right, *bits))))
            }
            Op::Cast { by, bits: before, value } => {
                let value = self.word(value)?;
                Some(if *by == CastOp::SExt { signed(value, *before).cast_unsigned() } else { value })
            }
            Op::Select { condition, yes, no } => self.word(if self.word(condition)? == 1 { yes } else { no }),
            Op::Offset { base, offset, indices } => {
                let mut address = self.word(base)?.wrapping_add_signed(*offset);
                for (index, bits, scale) in indices {
                    address = address.wrapping_add_signed(signed(self.word(index)?, *bits).wrapping_mul(*scale));
                }
                Some(address)
            }
            _ => None,
        }
    }
}

/// An aggregate with a part replaced; what was poison before has other parts that nobody knows.
fn inserted(into: Known, value: Known, path: &[u32]) -> Known {
    let [index, rest @ ..] = path else { return value };
    let index = *index as usize;
    let mut parts = if let Known::Parts(parts) = into { parts } else { Vec::new() };
    if parts.len() <= index {
        parts.resize(index + 1, Known::Nothing);
    }
    parts[index] = inserted(parts[index].clone(), value, rest);
    Known::Parts(parts)
}

fn binary(by: BinaryOp, bits: u32, left: u64, right: u64) -> Option<u64> {
    let (signed_left, signed_right) = (signed(left, bits), signed(right, bits));
    Some(match by {
        BinaryOp::Add => left.wrapping_add(right),
        BinaryOp::Sub => left.wrapping_sub(right),
        BinaryOp::Mul => left.wrapping_mul(right),
        BinaryOp::UDiv => left.checked_div(right)?,
        BinaryOp::URem => left.checked_rem(right)?,
        BinaryOp::SDiv => signed_left.checked_div(signed_right)?.cast_unsigned(),
        BinaryOp::SRem => signed_left.checked_rem(signed_right)?.cast_unsigned(),
        BinaryOp::Shl => left.checked_shl(u32::try_from(right).ok()?)?,
        BinaryOp::LShr => left.checked_shr(u32::try_from(right).ok()?)?,
        BinaryOp::AShr => signed_left.checked_shr(u32::try_from(right).ok()?)?.cast_unsigned(),
        BinaryOp::And => left & right,
        BinaryOp::Or => left | right,
        BinaryOp::Xor => left ^ right,
    })
}

fn updated(by: UpdateOp, old: u64, operand: u64, bits: u32) -> u64 {
    let (signed_old, signed_operand) = (signed(old, bits), signed(operand, bits));
    let new = match by {
        UpdateOp::Xchg => operand,
        UpdateOp::Add => old.wrapping_add(operand),
        UpdateOp::Sub => old.wrapping_sub(operand),
        UpdateOp::And => old & operand,
        UpdateOp::Nand => !(old & operand),
        UpdateOp::Or => old | operand,
        UpdateOp::Xor => old ^ operand,
        UpdateOp::Max => {
            if signed_old > signed_operand {
                old
            } else {
                operand
            }
        }
        UpdateOp::Min => {
            if signed_old < signed_operand {
                old
            } else {
                operand
            }
        }
        UpdateOp::UMax => old.max(operand),
        UpdateOp::UMin => old.min(operand),
        UpdateOp::Other => panic!("never passed to a hook"),
    };
    new & mask(bits)
}

fn compare(by: Predicate, left: u64, right: u64, signed_left: i64, signed_right: i64) -> bool {
    match by {
        Predicate::Eq => left == right,
        Predicate::Ne => left != right,
        Predicate::Ugt => left > right,
        Predicate::Uge => left >= right,
        Predicate::Ult => left < right,
        Predicate::Ule => left <= right,
        Predicate::Sgt => signed_left > signed_right,
        Predicate::Sge => signed_left >= signed_right,
        Predicate::Slt => signed_left < signed_right,
        Predicate::Sle => signed_left <= signed_right,
    }
}

fn mask(bits: u32) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

fn masked(value: Known, bits: u32) -> Known {
    match value {
        Known::Word(word) if bits > 0 => Known::Word(word & mask(bits)),
        other => other,
    }
}

fn signed(value: u64, bits: u32) -> i64 {
    let shift = 64 - bits.clamp(1, 64);
    (value << shift).cast_signed() >> shift
}
