//! Reads expressions.

use super::super::diagnostic::{Diagnostic, Span};
use super::super::lexer::TokenKind;
use super::super::syntax::{
    BINARY_OPERATORS, BinaryOperator, COMPARISON, Expression, ExpressionKind, Name, UnaryOperator, VariableRef,
};
use super::{DEEPEST, Parsed, Parser, too_deep};
use dashu_int::IBig;

impl Parser<'_> {
    pub(super) fn expression(&mut self) -> Parsed<Expression> {
        self.nested(|parser| parser.binary(1))
    }

    /// Operators that bind at least as tightly as `least`.
    fn binary(&mut self, least: u8) -> Parsed<Expression> {
        let mut left = self.unary()?;
        let mut after_comparison = false;
        while let Some((operator, power)) = self.peek_operator().filter(|(_, power)| *power >= least) {
            if power == COMPARISON && after_comparison {
                return Err(self.two_comparisons());
            }
            after_comparison = power == COMPARISON;
            let at = self.advance().span;
            let right = self.nested(|parser| parser.binary(power + 1))?;
            left = join(operator, at, left, right)?;
        }
        Ok(left)
    }

    fn peek_operator(&self) -> Option<(BinaryOperator, u8)> {
        let TokenKind::Fixed(found) = self.peek().kind else { return None };
        let (_, operator, power) = BINARY_OPERATORS.iter().find(|(text, ..)| *text == found)?;
        Some((*operator, *power))
    }

    fn two_comparisons(&self) -> Box<Diagnostic> {
        let note = "expected `&&`, `||` or parentheses before this";
        Box::new(Diagnostic::new(self.peek().span, "a comparison of a comparison", note))
    }

    pub(super) fn unary(&mut self) -> Parsed<Expression> {
        let operator = match self.peek().kind {
            TokenKind::Fixed("!") => UnaryOperator::Not,
            TokenKind::Fixed("-") => UnaryOperator::Negate,
            TokenKind::Fixed("~") => UnaryOperator::Complement,
            _ => return self.primary(),
        };
        let at = self.advance().span;
        let operand = self.nested(Parser::unary)?;
        let span = at.to(operand.span);
        if let (UnaryOperator::Negate, ExpressionKind::Number(number)) = (operator, &operand.kind) {
            return Ok(Expression { kind: ExpressionKind::Number(-number.clone()), span, height: 1 });
        }
        let height = higher(operand.height, span)?;
        Ok(Expression { kind: ExpressionKind::Unary(operator, Box::new(operand)), span, height })
    }

    fn primary(&mut self) -> Parsed<Expression> {
        let token = self.peek().clone();
        let kind = match token.kind {
            TokenKind::Number(number) => ExpressionKind::Number(IBig::from(number)),
            TokenKind::Fixed("true") => ExpressionKind::Bool(true),
            TokenKind::Fixed("false") => ExpressionKind::Bool(false),
            TokenKind::Fixed("(") => return self.parenthesised(),
            TokenKind::Name => return self.named(),
            _ => return Err(self.unexpected("an expression")),
        };
        self.advance();
        Ok(Expression { kind, span: token.span, height: 1 })
    }

    fn parenthesised(&mut self) -> Parsed<Expression> {
        let open = self.advance().span;
        let mut inner = self.expression()?;
        let close = self.expect_after_expression(")")?;
        inner.span = open.to(close);
        Ok(inner)
    }

    /// A variable, an element, or a call.
    fn named(&mut self) -> Parsed<Expression> {
        let name = self.name("a name")?;
        if self.accept("(").is_some() {
            return self.call(name);
        }
        let start = name.span;
        let (place, end) = self.place(name)?;
        let height = higher(place.index.as_ref().map_or(0, |index| index.height), start)?;
        Ok(Expression { kind: ExpressionKind::VariableRef(place), span: start.to(end), height })
    }

    /// What follows a variable's name, and where it ends.
    pub(super) fn place(&mut self, name: Name) -> Parsed<(VariableRef, Span)> {
        let end = name.span;
        if self.accept("[").is_none() {
            return Ok((VariableRef { name, index: None }, end));
        }
        let index = Some(Box::new(self.expression()?));
        Ok((VariableRef { name, index }, self.expect_after_expression("]")?))
    }

    /// The arguments of a call whose opening parenthesis was read.
    pub(super) fn call(&mut self, name: Name) -> Parsed<Expression> {
        let mut arguments = Vec::new();
        let close = match self.accept(")") {
            Some(close) => close,
            None => loop {
                arguments.push(self.expression()?);
                if self.accept(",").is_none() {
                    break self.accept(")").ok_or_else(|| self.unexpected("an operator, `,` or `)`"))?;
                }
            },
        };
        let span = name.span.to(close);
        let height = higher(arguments.iter().map(|argument| argument.height).max().unwrap_or(0), name.span)?;
        Ok(Expression { kind: ExpressionKind::Call { name, arguments }, span, height })
    }
}

fn join(operator: BinaryOperator, at: Span, left: Expression, right: Expression) -> Parsed<Expression> {
    let height = higher(left.height.max(right.height), at)?;
    let span = left.span.to(right.span);
    let (left, right) = (Box::new(left), Box::new(right));
    Ok(Expression { kind: ExpressionKind::Binary { operator, at, left, right }, span, height })
}

/// The height of what is built on something of this height.
fn higher(height: u32, span: Span) -> Parsed<u32> {
    if height < DEEPEST { Ok(height + 1) } else { Err(too_deep(span)) }
}
