//! Expressions: their types and their code, which leaves one operand on the stack.

use super::super::diagnostic::{Diagnostic, Span};
use super::super::program::{Instruction, Target, function_of};
use super::super::syntax::{BinaryOperator, Expression, ExpressionKind, Name, UnaryOperator, VariableRef, shown};
use super::builtin::{Builtin, arguments};
use super::{Checked, Compiler, Global, nearest};
use dashu_int::IBig;
use foretrace_trace::{Func, Sort, Value};

impl Compiler<'_> {
    /// Code of an expression that must have this sort.
    pub(super) fn expect(&mut self, expression: &Expression, sort: Sort) -> Checked<()> {
        let found = self.expression(expression, Some(sort))?;
        if found == sort { Ok(()) } else { self.mismatch(expression.span, sort, found) }
    }

    pub(super) fn mismatch<T>(&mut self, span: Span, expected: Sort, found: Sort) -> Checked<T> {
        let message = format!("expected {}, found {}", shown(expected), shown(found));
        self.wrong(span, message, format!("has type {}", shown(found)))
    }

    /// Code of an expression; `wanted` is the type that numbers in it take.
    pub(super) fn expression(&mut self, expression: &Expression, wanted: Option<Sort>) -> Checked<Sort> {
        let span = expression.span;
        match &expression.kind {
            ExpressionKind::Bool(_) | ExpressionKind::Number(_) => {
                let value = self.literal(expression, wanted)?.unwrap_or(Value::Bool(false));
                let sort = value.sort();
                self.emit(Instruction::Constant(value), span);
                Ok(sort)
            }
            ExpressionKind::VariableRef(place) => self.place(place, span),
            ExpressionKind::Unary(operator, operand) => self.unary(*operator, operand, span, wanted),
            ExpressionKind::Binary { operator: BinaryOperator::AndThen, left, right, .. } if self.has_effect(right) => {
                self.lazy(left, right, false)
            }
            ExpressionKind::Binary { operator: BinaryOperator::OrElse, left, right, .. } if self.has_effect(right) => {
                self.lazy(left, right, true)
            }
            ExpressionKind::Binary { operator, at, left, right } => self.binary(*operator, *at, left, right, wanted),
            ExpressionKind::Call { name, .. } => match self.call_of(expression, wanted)? {
                Some(sort) => Ok(sort),
                None => self.wrong(span, format!("`{}` gives no value", name.text), "expected an expression"),
            },
        }
    }

    /// The value of an expression that is a literal, nothing if it is none.
    pub(super) fn literal(&mut self, expression: &Expression, wanted: Option<Sort>) -> Checked<Option<Value>> {
        match (&expression.kind, wanted) {
            (ExpressionKind::Bool(value), _) => Ok(Some(Value::Bool(*value))),
            (ExpressionKind::Number(number), Some(Sort::BitVec(width))) => {
                let size = width as usize;
                if *number >= (IBig::ONE << size) || *number < -(IBig::ONE << (size - 1)) {
                    let expected = format!("expected -2^{} to 2^{size} - 1", size - 1);
                    return self.wrong(expression.span, format!("a number that does not fit bv{width}"), expected);
                }
                Ok(Some(Value::word_from_int(width, number)))
            }
            (ExpressionKind::Number(number), _) => Ok(Some(Value::Int(number.clone()))),
            _ => Ok(None),
        }
    }

    fn place(&mut self, place: &VariableRef, span: Span) -> Checked<Sort> {
        if let Some(local) = self.body.locals.get(&*place.name.text).copied() {
            self.no_index(place)?;
            self.emit(Instruction::Load(local.slot), span);
            return local.sort.ok_or(super::Noted);
        }
        let (target, sort) = self.target(place)?;
        let dst = self.text(&place.name.text);
        self.emit(Instruction::Read { target, dst }, span);
        Ok(sort)
    }

    pub(super) fn no_index(&mut self, place: &VariableRef) -> Checked<()> {
        match &place.index {
            Some(index) => {
                let message = format!("`{}` is no array", place.name.text);
                self.wrong(index.span, message, "only a shared array has elements")
            }
            None => Ok(()),
        }
    }

    /// The shared variable that a place names, and its sort; the index of an element is left on the stack, pinned.
    pub(super) fn target(&mut self, place: &VariableRef) -> Checked<(Target, Sort)> {
        let name = &place.name;
        match self.globals.get(&*name.text).map(|(global, _)| *global) {
            Some(Global::Variable(variable, sort)) => {
                self.no_index(place)?;
                Ok((Target::Variable(variable), sort))
            }
            Some(Global::Array(array, sort)) => {
                let Some(index) = &place.index else {
                    return self.wrong(
                        name.span,
                        format!("`{}` is an array", name.text),
                        "expected `[` and an index after this",
                    );
                };
                if self.expression(index, None)? == Sort::Bool {
                    return self.mismatch(index.span, Sort::Int, Sort::Bool);
                }
                self.emit(Instruction::Pin(array), index.span);
                Ok((Target::Element(array), sort))
            }
            _ => self.unknown_variable(name),
        }
    }

    fn unknown_variable<T>(&mut self, name: &Name) -> Checked<T> {
        let local = nearest(&name.text, self.body.slots.iter().copied());
        let global = self.globals.contains_key(&*name.text);
        let known = self.errors.len();
        let checked =
            self.unknown(name, "a variable", |global| matches!(global, Global::Variable(..) | Global::Array(..)));
        if let (false, Some(error)) = (global, self.errors.get_mut(known)) {
            error.help = error.help.take().or(local);
        }
        checked
    }

    fn unary(
        &mut self,
        operator: UnaryOperator,
        operand: &Expression,
        span: Span,
        wanted: Option<Sort>,
    ) -> Checked<Sort> {
        let wanted = if operator == UnaryOperator::Not { Some(Sort::Bool) } else { wanted };
        let sort = self.expression(operand, wanted)?;
        let (function, text, expected) = match (operator, sort) {
            (UnaryOperator::Not, Sort::Bool) => (Some(Func::Not), "!", "bool"),
            (UnaryOperator::Not, _) => (None, "!", "bool"),
            (UnaryOperator::Negate, Sort::Int) => (Some(Func::Neg), "-", "int or a word"),
            (UnaryOperator::Negate, Sort::BitVec(_)) => (Some(Func::BvNeg), "-", "int or a word"),
            (UnaryOperator::Negate, Sort::Bool) => (None, "-", "int or a word"),
            (UnaryOperator::Complement, Sort::BitVec(_)) => (Some(Func::BvNot), "~", "a word (bv1 to bv64)"),
            (UnaryOperator::Complement, _) => (None, "~", "a word (bv1 to bv64)"),
        };
        let Some(function) = function else {
            let message = format!("`{text}` of {}", shown(sort));
            return self.wrong(operand.span, message, format!("expected {expected}"));
        };
        self.emit(Instruction::Apply(function, 1), span);
        Ok(sort)
    }

    /// Whether evaluating it can make an event, fail, or take long: then `&&` and `||` must not do it in vain.
    fn has_effect(&self, expression: &Expression) -> bool {
        match &expression.kind {
            ExpressionKind::Bool(_) | ExpressionKind::Number(_) => false,
            ExpressionKind::VariableRef(place) => !self.body.locals.contains_key(&*place.name.text),
            ExpressionKind::Unary(_, operand) => self.has_effect(operand),
            ExpressionKind::Binary { left, right, .. } => self.has_effect(left) || self.has_effect(right),
            ExpressionKind::Call { name, arguments } => {
                let pure = Builtin::find(&name.text).is_some_and(Builtin::is_pure);
                !pure || arguments.iter().any(|argument| self.has_effect(argument))
            }
        }
    }

    /// Left side, then the right side only if the left one does not decide.
    fn lazy(&mut self, left: &Expression, right: &Expression, decided: bool) -> Checked<Sort> {
        self.expect(left, Sort::Bool)?;
        self.emit(Instruction::Decide, left.span);
        let otherwise = self.emit(Instruction::JumpUnless(0), left.span);
        if decided {
            self.emit(Instruction::Constant(Value::Bool(true)), left.span);
        } else {
            self.expect(right, Sort::Bool)?;
        }
        let exit = self.emit(Instruction::Jump(0), right.span);
        self.land(otherwise);
        if decided {
            self.expect(right, Sort::Bool)?;
        } else {
            self.emit(Instruction::Constant(Value::Bool(false)), left.span);
        }
        self.land(exit);
        Ok(Sort::Bool)
    }

    fn binary(
        &mut self,
        operator: BinaryOperator,
        at: Span,
        left: &Expression,
        right: &Expression,
        wanted: Option<Sort>,
    ) -> Checked<Sort> {
        let truth = function_of(operator, Sort::Int).is_some_and(is_comparison);
        let wanted = if truth { None } else { wanted };
        let sort = self.same_sort(operator.text(), left, right, wanted)?;
        let Some(function) = function_of(operator, sort) else {
            let message = format!("`{}` of {}", operator.text(), shown(sort));
            return self.wrong(at, message, format!("expected {}", operands_of(operator)));
        };
        self.emit(Instruction::Apply(function, 2), at);
        Ok(if truth { Sort::Bool } else { sort })
    }

    /// Code of two expressions that must have the same sort.
    pub(super) fn same_sort(
        &mut self,
        what: &str,
        left: &Expression,
        right: &Expression,
        wanted: Option<Sort>,
    ) -> Checked<Sort> {
        let wanted = self.sort_of(left).or_else(|| self.sort_of(right)).or(wanted);
        let first = self.expression(left, wanted)?;
        let second = self.expression(right, Some(first))?;
        if first == second {
            return Ok(first);
        }
        let message = format!("`{what}` of {} and {}", shown(first), shown(second));
        let error =
            Diagnostic::new(right.span, message, format!("has type {}, expected {}", shown(second), shown(first)));
        Err(self.note(error.related(left.span, format!("has type {}", shown(first)))))
    }

    /// The sort of an expression where it does not depend on what is wanted of it.
    fn sort_of(&self, expression: &Expression) -> Option<Sort> {
        match &expression.kind {
            ExpressionKind::Bool(_) => Some(Sort::Bool),
            ExpressionKind::Number(_) => None,
            ExpressionKind::VariableRef(place) => self.sort_of_variable(&place.name.text),
            ExpressionKind::Unary(_, operand) => self.sort_of(operand),
            ExpressionKind::Binary { operator, .. } if function_of(*operator, Sort::Int).is_some_and(is_comparison) => {
                Some(Sort::Bool)
            }
            ExpressionKind::Binary { left, right, .. } => self.sort_of(left).or_else(|| self.sort_of(right)),
            ExpressionKind::Call { name, arguments } => match self.globals.get(&*name.text) {
                Some((Global::Function(function), _)) => self.signatures[*function].result,
                Some(_) => None,
                None => Builtin::find(&name.text)?.result_from(arguments, &|argument| self.sort_of(argument)),
            },
        }
    }

    fn sort_of_variable(&self, name: &str) -> Option<Sort> {
        if let Some(local) = self.body.locals.get(name) {
            return local.sort;
        }
        match self.globals.get(name)?.0 {
            Global::Variable(_, sort) | Global::Array(_, sort) => Some(sort),
            _ => None,
        }
    }

    /// Code of a call; `wanted` as in [`Compiler::expression`]. Gives the sort of its value if it has one.
    pub(super) fn call_of(&mut self, call: &Expression, wanted: Option<Sort>) -> Checked<Option<Sort>> {
        let ExpressionKind::Call { name, arguments } = &call.kind else {
            return self.expression(call, wanted).map(Some);
        };
        match self.globals.get(&*name.text) {
            Some((Global::Function(function), _)) => self.call_function(*function, name, arguments, call.span),
            None if Builtin::find(&name.text).is_some() => self.call_builtin(name, arguments, wanted, call.span),
            None => self.unknown_function(name),
            Some(_) => self.unknown(name, "a function", |_| false),
        }
    }

    fn unknown_function<T>(&mut self, name: &Name) -> Checked<T> {
        let builtin = nearest(&name.text, Builtin::names());
        let known = self.errors.len();
        let checked = self.unknown(name, "a function", |global| matches!(global, Global::Function(_)));
        if let Some(error) = self.errors.get_mut(known) {
            error.help = error.help.take().or(builtin);
        }
        checked
    }

    fn call_function(
        &mut self,
        function: usize,
        name: &Name,
        given: &[Expression],
        span: Span,
    ) -> Checked<Option<Sort>> {
        let Some((_, defined)) = self.globals.get(&*name.text).copied() else { return Err(super::Noted) };
        let wanted = self.signatures[function].parameters.len();
        if given.len() != wanted {
            let message = format!("`{}` takes {}, found {}", name.text, arguments(wanted), given.len());
            let error = Diagnostic::new(span, message, format!("expected {}", arguments(wanted)));
            return Err(self.note(error.related(defined, "defined here")));
        }
        for (position, argument) in given.iter().enumerate() {
            let (parameter, sort) = self.signatures[function].parameters[position];
            self.expect(argument, sort)?;
            self.emit(Instruction::Name(parameter), argument.span);
        }
        self.emit(Instruction::Call(function), span);
        Ok(self.signatures[function].result)
    }
}

fn is_comparison(function: Func) -> bool {
    matches!(function, Func::Eq | Func::Distinct | Func::Lt | Func::Le | Func::Gt | Func::Ge)
}

/// What an operator takes, in words.
fn operands_of(operator: BinaryOperator) -> &'static str {
    use BinaryOperator::*;
    match operator {
        OrElse | AndThen => "bool",
        Or | Xor | And => "bool or words (bv1 to bv64)",
        ShiftLeft | ShiftRight => "words (bv1 to bv64)",
        _ => "int or words (bv1 to bv64)",
    }
}
