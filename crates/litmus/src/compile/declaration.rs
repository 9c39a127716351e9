//! Declarations: what the names at the top of a program stand for, and the bodies of threads and functions.

use super::super::diagnostic::{Diagnostic, Span};
use super::super::parser::LONGEST_ARRAY;
use super::super::program::{Array, FunctionCode, Instruction, OperationCode, ThreadCode};
use super::super::syntax::{Block, Expression, Init, Item, Name, Operation, Statement, StatementKind, shown};
use super::builtin::Builtin;
use super::{Body, Compiler, Global, Local, Signature};
use foretrace_trace::{Sort, SyncId, SyncObject, Value, VarId, Variable};

impl<'s> Compiler<'s> {
    /// Gives every declared name its meaning.
    pub(super) fn declare(&mut self, items: &'s [Item]) {
        for item in items {
            let name = item.name();
            if Builtin::find(&name.text).is_some() {
                let message = format!("`{}` is a function of the language", name.text);
                self.errors.push(Diagnostic::new(name.span, message, "expected another name"));
            }
            if let Some((_, first)) = self.globals.get(&*name.text).copied() {
                let error =
                    Diagnostic::new(name.span, format!("`{}` is defined twice", name.text), "defined again here");
                self.errors.push(error.related(first, "first defined here"));
                continue;
            }
            let global = self.global(item);
            self.globals.insert(&name.text, (global, name.span));
        }
    }

    fn global(&mut self, item: &'s Item) -> Global {
        match item {
            Item::Shared { name, sort, length, init } => self.shared(name, *sort, *length, init.as_ref()),
            Item::Sync { name, kind } => {
                self.syncs.push(SyncObject { key: name.text.clone(), kind: *kind });
                Global::Sync(SyncId::from_index(self.syncs.len() - 1), *kind)
            }
            Item::Thread { name, .. } => {
                self.threads.push(ThreadCode { name: name.text.clone(), entry: 0, spawned: false });
                Global::Thread(self.threads.len() - 1)
            }
            Item::Function { name, parameters, result, operation, .. } => {
                let count = parameters.len();
                let operation = operation.as_ref().map(|operation| self.operation(name, count, *result, operation));
                let code = FunctionCode { name: name.text.clone(), entry: 0, parameters: count };
                let parameters = parameters.iter().map(|(name, sort)| (self.text(&name.text), *sort)).collect();
                self.functions.push(code);
                self.signatures.push(Signature { parameters, result: *result, operation });
                Global::Function(self.functions.len() - 1)
            }
        }
    }

    /// Notes that a function is an operation; gives its number.
    fn operation(&mut self, name: &Name, parameters: usize, result: Option<Sort>, operation: &Operation) -> usize {
        let object = operation.object.as_deref().map(|object| self.text(object));
        let (number, _) = self.objects.insert_full(object);
        let empty = operation.empty.as_ref().zip(result).map(|(empty, sort)| self.constant(sort, empty));
        let method = self.text(&name.text);
        let code = OperationCode { object, number, method, parameters, has_result: result.is_some(), empty };
        self.operations.push(code);
        self.operations.len() - 1
    }

    fn shared(&mut self, name: &Name, sort: Sort, length: Option<u32>, init: Option<&Init>) -> Global {
        let first = VarId::from_index(self.variables.len());
        let count = length.unwrap_or(1);
        if self.variables.len() + count as usize > LONGEST_ARRAY as usize {
            let expected = format!("expected at most {LONGEST_ARRAY} variables and elements in all");
            self.errors.push(Diagnostic::new(name.span, "too many shared variables", expected));
            return Global::Variable(VarId(0), sort);
        }
        let values = self.initial_values(sort, length, init);
        for (position, value) in values.into_iter().enumerate() {
            let key = if length.is_some() { format!("{}[{position}]", name.text).into() } else { name.text.clone() };
            self.variables.push(Variable { key, name: None, sort: Some(sort), init: Some(value) });
        }
        if length.is_none() {
            return Global::Variable(first, sort);
        }
        self.arrays.push(Array { name: name.text.clone(), first, length: count });
        Global::Array(self.arrays.len() - 1, sort)
    }

    /// One value per variable, also where the program is wrong.
    fn initial_values(&mut self, sort: Sort, length: Option<u32>, init: Option<&Init>) -> Vec<Value> {
        let count = length.unwrap_or(1) as usize;
        match init {
            None => vec![Value::zero(sort); count],
            Some(Init::One(value)) => vec![self.constant(sort, value); count],
            Some(Init::Each(values, span)) => {
                if length.is_none() || values.len() != count {
                    let message = format!("{} initial values", values.len());
                    let expected =
                        if length.is_some() { format!("expected {count}") } else { "expected one value".into() };
                    self.errors.push(Diagnostic::new(*span, message, expected));
                }
                let mut given: Vec<Value> = values.iter().map(|value| self.constant(sort, value)).collect();
                given.resize(count, Value::zero(sort));
                given
            }
        }
    }

    fn constant(&mut self, sort: Sort, value: &Expression) -> Value {
        self.literal(value, Some(sort))
            .and_then(|literal| match literal {
                Some(literal) if literal.sort() == sort => Ok(literal),
                Some(literal) => self.mismatch(value.span, sort, literal.sort()),
                None => {
                    self.wrong(value.span, "an initial value must be a constant", format!("expected {}", shown(sort)))
                }
            })
            .unwrap_or(Value::zero(sort))
    }

    /// Makes the code of all threads and functions.
    pub(super) fn define(&mut self, items: &'s [Item]) {
        for item in items {
            // A name that is defined twice has the meaning of its first definition.
            let defined = self.globals.get(&*item.name().text).filter(|(_, span)| *span == item.name().span);
            match (item, defined) {
                (Item::Thread { body, .. }, Some((Global::Thread(thread), _))) => {
                    let thread = *thread;
                    self.threads[thread].entry = self.code.len();
                    self.whole_body(Body::default(), &[], body, item.name().span);
                }
                (Item::Function { name, parameters, result, body, .. }, Some((Global::Function(function), _))) => {
                    let function = *function;
                    self.functions[function].entry = self.code.len();
                    let operation = self.signatures[function].operation;
                    let around = Body { function: Some((name, *result)), operation, ..Body::default() };
                    self.whole_body(around, parameters, body, name.span);
                    if result.is_some() && !always_returns(body) {
                        let message = format!("`{}` can end without a value", name.text);
                        let error = Diagnostic::new(body.end, message, "expected `return` before this");
                        self.errors.push(error.related(name.span, "gives a value"));
                    }
                }
                _ => {}
            }
        }
        self.check_start();
    }

    fn whole_body(&mut self, body: Body<'s>, parameters: &'s [(Name, Sort)], block: &'s Block, start: Span) {
        self.body = body;
        for (name, sort) in parameters {
            self.define_local(name, Some(*sort));
        }
        if let Some(operation) = self.body.operation {
            self.emit(Instruction::CallOperation(operation), start);
        }
        self.block(block);
        self.leave(block.end);
    }

    fn check_start(&mut self) {
        let text = self.source.trim_end();
        let last = text.char_indices().next_back().map_or(0, |(at, _)| at);
        let span = Span { start: last as u32, end: text.len() as u32 };
        if self.threads.is_empty() {
            self.errors.push(Diagnostic::new(
                span,
                "a program without a thread",
                "expected `thread` and a name after this",
            ));
        } else if self.threads.iter().all(|thread| thread.spawned) {
            let note = "expected a thread that no `spawn` names";
            self.errors.push(Diagnostic::new(span, "no thread starts: each waits for a `spawn`", note));
        }
    }

    /// Gives the next slot to a local variable.
    pub(super) fn define_local(&mut self, name: &'s Name, sort: Option<Sort>) {
        let local = Local { slot: self.body.slots.len(), sort, span: name.span };
        let earlier = self.body.locals.get(&*name.text).map(|local| (local.span, "first defined here"));
        let global = self.globals.get(&*name.text).map(|(_, span)| (*span, "defined here for the whole program"));
        if let Some((first, note)) = earlier.or(global) {
            let error = Diagnostic::new(name.span, format!("`{}` is defined twice", name.text), "defined again here");
            self.errors.push(error.related(first, note));
        }
        self.body.locals.insert(&name.text, local);
        self.body.slots.push(&name.text);
    }
}

/// Whether control cannot reach the end of a block.
fn always_returns(block: &Block) -> bool {
    block.statements.iter().any(|Statement { kind, .. }| match kind {
        StatementKind::Return(_) => true,
        StatementKind::Atomic { body, .. } => always_returns(body),
        StatementKind::If { arms, otherwise } => {
            otherwise.as_ref().is_some_and(always_returns) && arms.iter().all(|(_, body)| always_returns(body))
        }
        StatementKind::While { condition, .. } => {
            matches!(condition.kind, super::super::syntax::ExpressionKind::Bool(true))
        }
        _ => false,
    })
}
