//! Statements: their checks and their code.

use super::super::diagnostic::Span;
use super::super::program::Instruction;
use super::super::syntax::{Block, Expression, ExpressionKind, Name, Statement, StatementKind, VariableRef, shown};
use super::{Checked, Compiler, Global};
use foretrace_trace::Sort;

/// A text in a failure's reason is cut at this length.
const LONGEST_REASON: usize = 80;

impl<'s> Compiler<'s> {
    /// A block's statements; its locals end with it.
    pub(super) fn block(&mut self, block: &'s Block) {
        let before = self.body.slots.len();
        for statement in &block.statements {
            // What is wrong was noted; the next statement is checked all the same.
            let _ = self.statement(statement);
        }
        if self.body.slots.len() > before {
            for name in self.body.slots.drain(before..) {
                self.body.locals.remove(name);
            }
            self.emit(Instruction::Forget(before), block.end);
        }
    }

    fn statement(&mut self, statement: &'s Statement) -> Checked<()> {
        let span = statement.span;
        match &statement.kind {
            StatementKind::Let { name, sort, value } => self.local(name, *sort, value),
            StatementKind::Assign { place, value } => self.assign(place, value, span),
            StatementKind::Atomic { label, body } => {
                self.atomic(label.as_deref(), body, span);
                Ok(())
            }
            StatementKind::If { arms, otherwise } => self.branch(arms, otherwise.as_ref()),
            StatementKind::While { condition, body } => self.repeat(condition, body),
            StatementKind::Assert { condition, message } => self.assertion(condition, message.as_deref(), span),
            StatementKind::Spawn(name) => {
                let thread = self.thread(name)?;
                self.threads[thread].spawned = true;
                self.emit(Instruction::Spawn(thread), span);
                Ok(())
            }
            StatementKind::Join(name) => {
                let thread = self.thread(name)?;
                self.emit(Instruction::Join(thread), span);
                Ok(())
            }
            StatementKind::Return(value) => self.give_back(value.as_ref(), span),
            StatementKind::Call(call) => {
                if self.call_of(call, None)?.is_some() {
                    self.emit(Instruction::Pop, span);
                }
                Ok(())
            }
        }
    }

    fn thread(&mut self, name: &Name) -> Checked<usize> {
        match self.globals.get(&*name.text) {
            Some((Global::Thread(thread), _)) => Ok(*thread),
            _ => self.unknown(name, "a thread", |global| matches!(global, Global::Thread(_))),
        }
    }

    fn local(&mut self, name: &'s Name, sort: Option<Sort>, value: &Expression) -> Checked<()> {
        let found = match sort {
            Some(sort) => self.expect(value, sort).map(|()| sort),
            None => self.expression(value, None),
        };
        self.name_operand(value, name);
        self.emit(Instruction::Store(self.body.slots.len()), name.span);
        self.define_local(name, found.ok().or(sort));
        found.map(|_| ())
    }

    /// Names the value on top after the local variable that is about to take it.
    fn name_operand(&mut self, value: &Expression, local: &Name) {
        let name = self.text(&local.text);
        let direct = matches!(value.kind, ExpressionKind::VariableRef(_) | ExpressionKind::Call { .. });
        if let Some(Instruction::Read { dst, .. } | Instruction::Update { dst, .. }) =
            self.code.last_mut().filter(|_| direct)
        {
            *dst = name;
        }
        self.emit(Instruction::Name(name), local.span);
    }

    fn assign(&mut self, place: &VariableRef, value: &Expression, span: Span) -> Checked<()> {
        if let Some(local) = self.body.locals.get(&*place.name.text).copied() {
            self.no_index(place)?;
            match local.sort {
                Some(sort) => self.expect(value, sort)?,
                None => self.expression(value, None).map(|_| ())?,
            }
            self.name_operand(value, &place.name);
            self.emit(Instruction::Store(local.slot), span);
            return Ok(());
        }
        let (target, sort) = self.target(place)?;
        self.expect(value, sort)?;
        self.emit(Instruction::Write { target }, span);
        Ok(())
    }

    fn atomic(&mut self, label: Option<&str>, body: &'s Block, span: Span) {
        let label = label.map(|label| self.text(label));
        self.emit(Instruction::Begin(label), span);
        self.body.atomic.push(label);
        self.block(body);
        self.body.atomic.pop();
        self.emit(Instruction::End(label), body.end);
    }

    /// A condition and the decision on it; gives the jump that is taken when it is false.
    fn decide(&mut self, condition: &Expression) -> Checked<usize> {
        self.expect(condition, Sort::Bool)?;
        self.emit(Instruction::Decide, condition.span);
        Ok(self.emit(Instruction::JumpUnless(0), condition.span))
    }

    fn branch(&mut self, arms: &'s [(Expression, Block)], otherwise: Option<&'s Block>) -> Checked<()> {
        let mut exits = Vec::new();
        let mut checked = Ok(());
        for (condition, body) in arms {
            let skip = self.decide(condition);
            self.block(body);
            exits.push(self.emit(Instruction::Jump(0), body.end));
            match skip {
                Ok(skip) => self.land(skip),
                Err(noted) => checked = Err(noted),
            }
        }
        if let Some(body) = otherwise {
            self.block(body);
        }
        for exit in exits {
            self.land(exit);
        }
        checked
    }

    fn repeat(&mut self, condition: &Expression, body: &'s Block) -> Checked<()> {
        let start = self.code.len();
        let exit = self.decide(condition);
        self.block(body);
        self.emit(Instruction::Jump(start), body.end);
        self.land(exit?);
        Ok(())
    }

    fn assertion(&mut self, condition: &Expression, message: Option<&str>, span: Span) -> Checked<()> {
        let failure = self.decide(condition)?;
        let success = self.emit(Instruction::Jump(0), span);
        let reason = match message {
            Some(message) => message.to_string(),
            None => format!("assertion failed: {}", self.excerpt(condition.span)),
        };
        self.land(failure);
        let reason = self.text(&reason);
        self.emit(Instruction::Fail(reason), span);
        self.land(success);
        Ok(())
    }

    /// A part of the program on one line.
    fn excerpt(&self, span: Span) -> String {
        let words = self.source[span.range()].split_whitespace().collect::<Vec<_>>().join(" ");
        match words.char_indices().nth(LONGEST_REASON) {
            Some((end, _)) => format!("{}…", &words[..end]),
            None => words,
        }
    }

    fn give_back(&mut self, value: Option<&Expression>, span: Span) -> Checked<()> {
        match (self.body.function, value) {
            (Some((name, Some(sort))), Some(value)) => {
                self.expect(value, sort)?;
                let name = self.text(&name.text);
                self.emit(Instruction::Name(name), value.span);
            }
            (Some((_, Some(sort))), None) => {
                return self.wrong(span, "a `return` without a value", format!("expected {} after this", shown(sort)));
            }
            (Some((_, None)), Some(value)) => {
                return self.wrong(value.span, "a value from a function that gives none", "expected `;`");
            }
            (None, Some(value)) => return self.wrong(value.span, "a value from a thread", "expected `;`"),
            (_, None) => {}
        }
        for label in self.body.atomic.clone().into_iter().rev() {
            self.emit(Instruction::End(label), span);
        }
        self.leave(span);
        Ok(())
    }

    /// Leaves the function; an operation ends.
    pub(super) fn leave(&mut self, span: Span) {
        if let Some(operation) = self.body.operation {
            self.emit(Instruction::ReturnOperation(operation), span);
        }
        self.emit(Instruction::Return, span);
    }
}
