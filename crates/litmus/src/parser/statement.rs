//! Reads blocks and statements.

use super::super::lexer::TokenKind;
use super::super::syntax::{Block, Expression, Name, Statement, StatementKind};
use super::{Parsed, Parser};

const STATEMENTS: &str =
    "a statement (an assignment, a call, `let`, `atomic`, `if`, `while`, `assert`, `spawn`, `join`, `return`) or `}`";

impl Parser<'_> {
    pub(super) fn block(&mut self) -> Parsed<Block> {
        self.nested(|parser| {
            parser.expect("{")?;
            let mut statements = Vec::new();
            loop {
                if let Some(end) = parser.accept("}") {
                    return Ok(Block { statements, end });
                }
                statements.push(parser.statement()?);
            }
        })
    }

    fn statement(&mut self) -> Parsed<Statement> {
        let token = self.peek().clone();
        let kind = match token.kind {
            TokenKind::Name => return self.assignment_or_call(),
            TokenKind::Fixed("let") => Parser::local,
            TokenKind::Fixed("atomic") => Parser::atomic,
            TokenKind::Fixed("if") => Parser::branch,
            TokenKind::Fixed("while") => Parser::repeat,
            TokenKind::Fixed("assert") => Parser::assertion,
            TokenKind::Fixed("spawn") => |parser: &mut Self| Ok(StatementKind::Spawn(parser.thread_name()?)),
            TokenKind::Fixed("join") => |parser: &mut Self| Ok(StatementKind::Join(parser.thread_name()?)),
            TokenKind::Fixed("return") => Parser::give_back,
            _ => return Err(self.unexpected(STATEMENTS)),
        };
        self.advance();
        Ok(Statement { kind: kind(self)?, span: token.span })
    }

    fn assignment_or_call(&mut self) -> Parsed<Statement> {
        let name = self.name("a name")?;
        let span = name.span;
        if self.accept("(").is_some() {
            let call = self.call(name)?;
            self.expect(";")?;
            return Ok(Statement { span: call.span, kind: StatementKind::Call(call) });
        }
        let (place, _) = self.place(name)?;
        if self.accept("=").is_none() {
            let expected = if place.index.is_some() { "`=`" } else { "`=`, `[` or `(`" };
            return Err(self.unexpected(expected));
        }
        let value = self.value()?;
        Ok(Statement { kind: StatementKind::Assign { place, value }, span })
    }

    /// An expression up to the end of its statement.
    fn value(&mut self) -> Parsed<Expression> {
        let value = self.expression()?;
        self.expect_after_expression(";")?;
        Ok(value)
    }

    fn local(&mut self) -> Parsed<StatementKind> {
        let name = self.name("a name for the local variable")?;
        let sort = if self.accept(":").is_some() { Some(self.sort()?) } else { None };
        self.expect("=")?;
        Ok(StatementKind::Let { name, sort, value: self.value()? })
    }

    fn atomic(&mut self) -> Parsed<StatementKind> {
        let label = self.text();
        Ok(StatementKind::Atomic { label, body: self.block()? })
    }

    fn condition(&mut self) -> Parsed<Expression> {
        self.expect("(")?;
        let condition = self.expression()?;
        self.expect_after_expression(")")?;
        Ok(condition)
    }

    fn branch(&mut self) -> Parsed<StatementKind> {
        let mut arms = vec![(self.condition()?, self.block()?)];
        let mut otherwise = None;
        while otherwise.is_none() && self.accept("else").is_some() {
            if self.accept("if").is_some() {
                arms.push((self.condition()?, self.block()?));
            } else {
                otherwise = Some(self.block()?);
            }
        }
        Ok(StatementKind::If { arms, otherwise })
    }

    fn repeat(&mut self) -> Parsed<StatementKind> {
        Ok(StatementKind::While { condition: self.condition()?, body: self.block()? })
    }

    fn assertion(&mut self) -> Parsed<StatementKind> {
        self.expect("(")?;
        let condition = self.expression()?;
        let mut message = None;
        if self.accept(",").is_some() {
            message = Some(self.text().ok_or_else(|| self.unexpected("a text in quotation marks"))?);
            self.expect(")")?;
        } else {
            self.accept(")").ok_or_else(|| self.unexpected("an operator, `,` or `)`"))?;
        }
        self.expect(";")?;
        Ok(StatementKind::Assert { condition, message })
    }

    fn thread_name(&mut self) -> Parsed<Name> {
        let name = self.name("the name of a thread")?;
        self.expect(";")?;
        Ok(name)
    }

    fn give_back(&mut self) -> Parsed<StatementKind> {
        if self.accept(";").is_some() {
            return Ok(StatementKind::Return(None));
        }
        Ok(StatementKind::Return(Some(self.value()?)))
    }
}
