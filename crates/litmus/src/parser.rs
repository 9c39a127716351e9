//! Reads tokens and declarations; statements and expressions have files of their own.
//!
//! A recursive-descent parser by hand: it always knows what it expects, so its messages can say it. It stops at
//! the first mistake. Nesting is limited, which bounds its recursion and that of every later pass.

mod expression;
mod statement;

use super::diagnostic::{Diagnostic, Span};
use super::lexer::{Token, TokenKind, tokens};
use super::syntax::{Block, Expression, Init, Item, Name, Operation};
use foretrace_trace::{Sort, SyncKind};

/// Blocks, parentheses and operators nest at most this deep.
pub(super) const DEEPEST: u32 = 200;

/// A program has at most this many bytes.
pub(super) const LONGEST_SOURCE: usize = 1 << 20;

/// An array has at most this many elements.
pub(super) const LONGEST_ARRAY: u32 = 1 << 16;

type Parsed<T> = Result<T, Box<Diagnostic>>;

/// The declarations of a program.
pub(super) fn items(source: &str) -> Parsed<Vec<Item>> {
    if source.len() > LONGEST_SOURCE {
        let message = format!("a program of {} bytes", source.len());
        let start = Span { start: 0, end: 0 };
        return Err(Box::new(Diagnostic::new(start, message, format!("expected at most {LONGEST_SOURCE} bytes"))));
    }
    let mut parser = Parser { source, tokens: tokens(source).map_err(Box::new)?, at: 0, depth: 0 };
    let mut items = Vec::new();
    while parser.peek().kind != TokenKind::End {
        items.push(parser.item()?);
    }
    Ok(items)
}

struct Parser<'s> {
    source: &'s str,
    tokens: Vec<Token>,
    at: usize,
    depth: u32,
}

const ITEMS: &str =
    "`shared`, `mutex`, `rwlock`, `condvar`, `semaphore`, `barrier`, `once`, `thread`, `fn` or `operation`";

impl Parser<'_> {
    fn peek(&self) -> &Token {
        &self.tokens[self.at]
    }

    fn advance(&mut self) -> Token {
        let token = self.tokens[self.at].clone();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    /// Takes the next token if it is this keyword or symbol.
    fn accept(&mut self, text: &str) -> Option<Span> {
        let token = self.peek();
        match token.kind {
            TokenKind::Fixed(found) if found == text => Some(self.advance().span),
            _ => None,
        }
    }

    /// Takes the next token if it is this word, which is a keyword only here.
    fn accept_word(&mut self, word: &str) -> bool {
        let token = self.peek();
        let found = token.kind == TokenKind::Name && &self.source[token.span.range()] == word;
        if found {
            self.advance();
        }
        found
    }

    fn expect(&mut self, text: &str) -> Parsed<Span> {
        self.accept(text).ok_or_else(|| self.unexpected(&format!("`{text}`")))
    }

    /// The symbol that ends an expression.
    fn expect_after_expression(&mut self, text: &str) -> Parsed<Span> {
        self.accept(text).ok_or_else(|| self.unexpected(&format!("an operator or `{text}`")))
    }

    /// An error at the next token.
    fn unexpected(&self, expected: &str) -> Box<Diagnostic> {
        let token = self.peek();
        let found = match &token.kind {
            TokenKind::End => "the end of the program".to_string(),
            TokenKind::Text(_) => "a text".to_string(),
            TokenKind::Number(number) if number > &u64::MAX.into() => "a number".to_string(),
            TokenKind::Fixed(text) => format!("`{text}`"),
            TokenKind::Name | TokenKind::Number(_) => format!("`{}`", &self.source[token.span.range()]),
        };
        Box::new(Diagnostic::new(
            token.span,
            format!("expected {expected}, found {found}"),
            format!("expected {expected}"),
        ))
    }

    /// Parses with one more level of nesting.
    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth == DEEPEST {
            return Err(too_deep(self.peek().span));
        }
        self.depth += 1;
        let parsed = parse(self);
        self.depth -= 1;
        parsed
    }

    fn name(&mut self, what: &str) -> Parsed<Name> {
        match self.peek().kind {
            TokenKind::Name => {
                let span = self.advance().span;
                Ok(Name { text: self.source[span.range()].into(), span })
            }
            TokenKind::Fixed(text) if text.starts_with(|c: char| c.is_ascii_alphabetic()) => {
                let mut error = self.unexpected(what);
                error.help = Some(format!("`{text}` is a keyword"));
                Err(error)
            }
            _ => Err(self.unexpected(what)),
        }
    }

    /// A number from `least` to `most`.
    fn number(&mut self, what: &str, least: u32, most: u32) -> Parsed<u32> {
        let token = self.peek().clone();
        let TokenKind::Number(number) = &token.kind else { return Err(self.unexpected(what)) };
        match u32::try_from(number).ok().filter(|number| (least..=most).contains(number)) {
            Some(number) => {
                self.advance();
                Ok(number)
            }
            None => Err(self.unexpected(&format!("{what} from {least} to {most}"))),
        }
    }

    fn text(&mut self) -> Option<Box<str>> {
        let TokenKind::Text(text) = self.peek().kind.clone() else { return None };
        self.advance();
        Some(text)
    }

    fn sort(&mut self) -> Parsed<Sort> {
        if self.accept("int").is_some() {
            return Ok(Sort::Int);
        }
        if self.accept("bool").is_some() {
            return Ok(Sort::Bool);
        }
        let token = self.peek().clone();
        let width = self.source[token.span.range()].strip_prefix("bv").filter(|_| token.kind == TokenKind::Name);
        match width.and_then(|width| width.parse().ok()).filter(|width| (1..=64).contains(width)) {
            Some(width) => {
                self.advance();
                Ok(Sort::BitVec(width))
            }
            None => Err(self.unexpected("a type: `int`, `bool`, or `bv1` to `bv64`")),
        }
    }

    fn item(&mut self) -> Parsed<Item> {
        if self.accept("shared").is_some() {
            return self.shared();
        }
        if self.accept("thread").is_some() {
            let name = self.name("a name for the thread")?;
            return Ok(Item::Thread { name, body: self.block()? });
        }
        if self.accept("fn").is_some() {
            return self.function(None);
        }
        if self.accept_word("operation") {
            let object = self.text();
            self.expect("fn")?;
            return self.function(Some(Operation { object, empty: None }));
        }
        self.sync()
    }

    fn shared(&mut self) -> Parsed<Item> {
        let name = self.name("a name for the variable")?;
        self.expect(":")?;
        let sort = self.sort()?;
        let mut length = None;
        if self.accept("[").is_some() {
            length = Some(self.number("the number of elements", 1, LONGEST_ARRAY)?);
            self.expect("]")?;
        }
        let init = if self.accept("=").is_some() { Some(self.init()?) } else { None };
        self.expect(";")?;
        Ok(Item::Shared { name, sort, length, init })
    }

    fn init(&mut self) -> Parsed<Init> {
        let Some(open) = self.accept("[") else { return Ok(Init::One(self.literal()?)) };
        let mut values = vec![self.literal()?];
        while self.accept(",").is_some() {
            values.push(self.literal()?);
        }
        let close = self.accept("]").ok_or_else(|| self.unexpected("`,` or `]`"))?;
        Ok(Init::Each(values, open.to(close)))
    }

    fn literal(&mut self) -> Parsed<Expression> {
        match self.peek().kind {
            TokenKind::Number(_) | TokenKind::Fixed("true" | "false" | "-") => self.unary(),
            _ => Err(self.unexpected("a number, `true` or `false`")),
        }
    }

    fn sync(&mut self) -> Parsed<Item> {
        let recursive = self.accept("recursive").is_some();
        let (name, kind) = if self.accept("mutex").is_some() {
            (self.name("a name for the mutex")?, SyncKind::Mutex { recursive })
        } else if recursive {
            return Err(self.unexpected("`mutex`"));
        } else if self.accept("rwlock").is_some() {
            (self.name("a name for the lock")?, SyncKind::Rwlock)
        } else if self.accept("condvar").is_some() {
            (self.name("a name for the condition variable")?, SyncKind::Condvar)
        } else if self.accept("semaphore").is_some() {
            let name = self.name("a name for the semaphore")?;
            self.expect("=")?;
            let init = u64::from(self.number("its count at the start", 0, u32::MAX)?);
            (name, SyncKind::Semaphore { init })
        } else if self.accept("once").is_some() {
            (self.name("a name for what happens once")?, SyncKind::Once)
        } else if self.accept("barrier").is_some() {
            let name = self.name("a name for the barrier")?;
            self.expect("(")?;
            let parties = u64::from(self.number("the number of threads that meet", 1, u32::MAX)?);
            self.expect(")")?;
            (name, SyncKind::Barrier { parties: Some(parties) })
        } else {
            return Err(self.unexpected(ITEMS));
        };
        self.expect(";")?;
        Ok(Item::Sync { name, kind })
    }

    fn function(&mut self, mut operation: Option<Operation>) -> Parsed<Item> {
        let name = self.name("a name for the function")?;
        self.expect("(")?;
        let mut parameters = Vec::new();
        if self.accept(")").is_none() {
            parameters.push(self.parameter()?);
            while self.accept(",").is_some() {
                parameters.push(self.parameter()?);
            }
            self.accept(")").ok_or_else(|| self.unexpected("`,` or `)`"))?;
        }
        let result = if self.accept("->").is_some() { Some(self.sort()?) } else { None };
        if let Some(operation) = operation.as_mut().filter(|_| result.is_some())
            && self.accept_word("empty")
        {
            operation.empty = Some(self.literal()?);
        }
        let body: Block = self.block()?;
        Ok(Item::Function { name, parameters, result, body, operation })
    }

    fn parameter(&mut self) -> Parsed<(Name, Sort)> {
        let name = self.name("a name for the parameter")?;
        self.expect(":")?;
        Ok((name, self.sort()?))
    }
}

fn too_deep(span: Span) -> Box<Diagnostic> {
    let note = format!("expected at most {DEEPEST} levels of nesting");
    Box::new(Diagnostic::new(span, "the program nests too deep here", note))
}
