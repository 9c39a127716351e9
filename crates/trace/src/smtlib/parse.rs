//! From SMT-LIB 2 text to terms.

use super::lexer::{Lexer, Token};
use super::{NESTING_LIMIT, RESERVED, TermError, function};
use crate::error::quoted;
use crate::function::{Func, MAX_WIDTH, SortError};
use crate::term::{Leaf, Node, TermId, Terms};
use crate::value::Value;
use dashu_int::{IBig, UBig};
use rustc_hash::{FxHashMap, FxHashSet};

/// Reads the term that `text` is, into `terms`; `resolve` says what a name that no `let` binds stands for.
///
/// A numeral right under a minus is one literal: `(- 5)` is the integer −5.
pub fn parse<L: Leaf>(
    text: &str,
    terms: &mut Terms<L>,
    resolve: &mut dyn FnMut(&str) -> Option<L>,
) -> Result<TermId, TermError> {
    parse_over(text, terms, &mut |name| resolve(name).map(Node::Leaf))
}

/// As [`parse`], where a name may also stand for a value.
pub(crate) fn parse_over<L: Leaf>(
    text: &str,
    terms: &mut Terms<L>,
    resolve: &mut dyn FnMut(&str) -> Option<Node<L>>,
) -> Result<TermId, TermError> {
    let mut parser = Parser {
        lexer: Lexer::new(text),
        terms,
        resolve,
        frames: Vec::new(),
        depth: 0,
        args: Vec::new(),
        bound: Vec::new(),
        scope: FxHashMap::default(),
    };
    parser.run()
}

/// What is open around the place where the parser is.
enum Frame<'a> {
    /// An application; its arguments so far are those from `first` on.
    App { func: Func, position: usize, first: usize, negated_numeral: bool },
    /// The value of a `let`'s binding; the bindings before it are those from `first` on.
    Binding { name: &'a str, first: usize, names: FxHashSet<&'a str> },
    /// The body of a `let` that binds these names.
    Body { names: FxHashSet<&'a str> },
}

/// A term just read, and whether it was written as a numeral.
struct Read {
    term: TermId,
    numeral: bool,
}

struct Parser<'a, 'b, L> {
    lexer: Lexer<'a>,
    terms: &'b mut Terms<L>,
    resolve: &'b mut dyn FnMut(&str) -> Option<Node<L>>,
    frames: Vec<Frame<'a>>,
    depth: usize,
    args: Vec<TermId>,
    bound: Vec<(&'a str, TermId)>,
    scope: FxHashMap<&'a str, Vec<TermId>>,
}

impl<'a, L: Leaf> Parser<'a, '_, L> {
    fn run(&mut self) -> Result<TermId, TermError> {
        let (position, token) = self.lexer.next()?;
        let mut read = self.term(position, token)?;
        loop {
            // Either a term is complete and goes to what is around it, or the next one starts.
            read = match (read, self.frames.pop()) {
                (Some(Read { term, .. }), None) => return self.end().map(|()| term),
                (Some(read), Some(frame)) => self.deliver(read, frame)?,
                (None, frame) => {
                    self.frames.extend(frame);
                    let (position, token) = self.lexer.next()?;
                    self.term_or_close(position, token)?
                }
            };
        }
    }

    fn end(&mut self) -> Result<(), TermError> {
        match self.lexer.next()? {
            (_, Token::End) => Ok(()),
            (position, token) => Err(TermError::new(position, token.to_string(), "the end of the expression")),
        }
    }

    /// The start of a term, or the end of the application around.
    fn term_or_close(&mut self, position: usize, token: Token<'a>) -> Result<Option<Read>, TermError> {
        match (token, self.frames.last()) {
            (Token::Close, Some(Frame::App { .. })) => self.close().map(Some),
            _ => self.term(position, token),
        }
    }

    /// The start of a term: the whole of it where it is an atom.
    fn term(&mut self, position: usize, token: Token<'a>) -> Result<Option<Read>, TermError> {
        let value = match token {
            Token::Open => return self.open(position),
            Token::Symbol("true") => Value::Bool(true),
            Token::Symbol("false") => Value::Bool(false),
            Token::Symbol(name) if RESERVED.contains(&name) => return Err(reserved(position, name)),
            Token::Symbol(name) | Token::Quoted(name) => return self.name(position, name).map(Some),
            Token::Numeral(digits) => Value::Int(integer(position, digits)?.into()),
            Token::Hex(digits) => word(position, 4 * digits.len(), UBig::from_str_radix(digits, 16).ok())?,
            Token::Binary(digits) => word(position, digits.len(), UBig::from_str_radix(digits, 2).ok())?,
            Token::Close | Token::End => return Err(TermError::new(position, token.to_string(), "a term")),
        };
        let numeral = matches!(token, Token::Numeral(_));
        Ok(Some(Read { term: self.terms.constant(value), numeral }))
    }

    fn name(&mut self, position: usize, name: &'a str) -> Result<Read, TermError> {
        let bound = self.scope.get(name).and_then(|terms| terms.last().copied());
        let term = match bound {
            Some(term) => term,
            None => match (self.resolve)(name) {
                Some(Node::Leaf(leaf)) => self.terms.leaf(leaf),
                Some(Node::Const(value)) => self.terms.constant(value),
                Some(Node::App(..)) | None => {
                    let found = format!("unknown name {}", quoted(name));
                    return Err(TermError::new(position, found, "a name that the thread has defined before"));
                }
            },
        };
        Ok(Read { term, numeral: false })
    }

    /// After `(`.
    fn open(&mut self, position: usize) -> Result<Option<Read>, TermError> {
        let (head_position, head) = self.lexer.next()?;
        match head {
            Token::Symbol("let") => self.open_let(position).map(|()| None),
            Token::Symbol("_") => self.indexed_word(head_position).map(Some),
            Token::Open => self.indexed_function().and_then(|func| self.open_app(func, position)).map(|()| None),
            Token::Symbol(name) | Token::Quoted(name) => match function(name, &[]) {
                Some(func) => self.open_app(func, position).map(|()| None),
                None => Err(unknown_function(head_position, quoted(name))),
            },
            other => Err(TermError::new(head_position, other.to_string(), "a function")),
        }
    }

    fn open_app(&mut self, func: Func, position: usize) -> Result<(), TermError> {
        let frame = Frame::App { func, position, first: self.args.len(), negated_numeral: false };
        self.push(frame, position)
    }

    fn push(&mut self, frame: Frame<'a>, position: usize) -> Result<(), TermError> {
        if self.depth == NESTING_LIMIT {
            let found = format!("terms nested deeper than {NESTING_LIMIT}");
            return Err(TermError::new(position, found, "less nesting (name parts by `let`)"));
        }
        self.depth += 1;
        self.frames.push(frame);
        Ok(())
    }

    /// A complete term reaches the innermost open frame.
    fn deliver(&mut self, read: Read, frame: Frame<'a>) -> Result<Option<Read>, TermError> {
        match frame {
            Frame::App { func, position, first, .. } => {
                self.args.push(read.term);
                let negated_numeral = func == Func::Sub && read.numeral && self.args.len() == first + 1;
                self.frames.push(Frame::App { func, position, first, negated_numeral });
                Ok(None)
            }
            Frame::Binding { name, first, names } => {
                self.depth -= 1;
                self.bound.push((name, read.term));
                self.expect(Token::Close)?;
                self.next_binding(first, names).map(|()| None)
            }
            Frame::Body { names } => {
                self.expect(Token::Close)?;
                for name in names {
                    self.scope.get_mut(name).and_then(Vec::pop);
                }
                Ok(Some(Read { term: read.term, numeral: false }))
            }
        }
    }

    /// After the `)` of an application.
    fn close(&mut self) -> Result<Read, TermError> {
        let Some(Frame::App { func, position, first, negated_numeral }) = self.frames.pop() else {
            return Err(TermError::new(0, "`)`", "a term"));
        };
        self.depth -= 1;
        let args = &self.args[first..];
        let negated = match args {
            [only] if negated_numeral => self.terms.as_const(*only).map(|numeral| Value::Int(-numeral.to_integer())),
            _ => None,
        };
        let term = match negated {
            Some(literal) => self.terms.constant(literal),
            None => {
                let func = if func == Func::Sub && args.len() == 1 { Func::Neg } else { func };
                self.terms.app(func, args).map_err(|error| ill_sorted(position, error))?
            }
        };
        self.args.truncate(first);
        Ok(Read { term, numeral: false })
    }

    fn open_let(&mut self, position: usize) -> Result<(), TermError> {
        self.expect(Token::Open)?;
        let (first, names) = (self.bound.len(), FxHashSet::default());
        match self.lexer.next()? {
            (_, Token::Open) => self.binding(first, names),
            (_, other) => Err(TermError::new(position, format!("`let` with {other}"), "a binding `(name term)`")),
        }
    }

    /// After the `(` of a binding.
    fn binding(&mut self, first: usize, mut names: FxHashSet<&'a str>) -> Result<(), TermError> {
        let (position, token) = self.lexer.next()?;
        let name = match token {
            Token::Symbol(name) if RESERVED.contains(&name) => return Err(reserved(position, name)),
            Token::Symbol(name) | Token::Quoted(name) => name,
            other => return Err(TermError::new(position, other.to_string(), "a name to bind")),
        };
        if !names.insert(name) {
            let found = format!("{} bound twice in one `let`", quoted(name));
            return Err(TermError::new(position, found, "different names"));
        }
        self.push(Frame::Binding { name, first, names }, position)
    }

    /// After a binding: the next one, or the body.
    fn next_binding(&mut self, first: usize, names: FxHashSet<&'a str>) -> Result<(), TermError> {
        match self.lexer.next()? {
            (_, Token::Open) => self.binding(first, names),
            (_, Token::Close) => {
                for (name, term) in self.bound.drain(first..) {
                    self.scope.entry(name).or_default().push(term);
                }
                self.frames.push(Frame::Body { names });
                Ok(())
            }
            (position, token) => Err(TermError::new(position, token.to_string(), "`(` or `)`")),
        }
    }

    /// After `(_`: the word that `bvN` and a width make.
    fn indexed_word(&mut self, head: usize) -> Result<Read, TermError> {
        let (position, name, indices) = self.indexed()?;
        let digits = name.strip_prefix("bv").filter(|d| !d.is_empty() && d.bytes().all(|b| b.is_ascii_digit()));
        let (Some(digits), [width]) = (digits, indices.as_slice()) else {
            let found = indexed_text(name, &indices);
            return Err(TermError::new(head, found, "a literal `(_ bvN width)`"));
        };
        let bits = integer(position, digits)?;
        let value = word(position, *width as usize, Some(bits))?;
        Ok(Read { term: self.terms.constant(value), numeral: false })
    }

    /// After `((`: a function with indices.
    fn indexed_function(&mut self) -> Result<Func, TermError> {
        let (position, token) = self.lexer.next()?;
        if token != Token::Symbol("_") {
            return Err(TermError::new(position, token.to_string(), "`_`"));
        }
        let (position, name, indices) = self.indexed()?;
        let func = if indices.is_empty() { None } else { function(name, &indices) };
        func.ok_or_else(|| unknown_function(position, indexed_text(name, &indices)))
    }

    /// A name and its indices, up to `)`.
    fn indexed(&mut self) -> Result<(usize, &'a str, Vec<u32>), TermError> {
        let (position, token) = self.lexer.next()?;
        let Token::Symbol(name) = token else {
            return Err(TermError::new(position, token.to_string(), "a name with indices"));
        };
        let mut indices = Vec::new();
        loop {
            match self.lexer.next()? {
                (_, Token::Close) => return Ok((position, name, indices)),
                (at, Token::Numeral(digits)) if indices.len() < 2 => match digits.parse() {
                    Ok(index) => indices.push(index),
                    Err(_) => return Err(TermError::new(at, quoted(digits), "an index below 4294967296")),
                },
                (at, token) => return Err(TermError::new(at, token.to_string(), "`)`")),
            }
        }
    }

    fn expect(&mut self, wanted: Token<'a>) -> Result<(), TermError> {
        match self.lexer.next()? {
            (_, token) if token == wanted => Ok(()),
            (position, token) => Err(TermError::new(position, token.to_string(), wanted.to_string())),
        }
    }
}

fn integer(position: usize, digits: &str) -> Result<UBig, TermError> {
    UBig::from_str_radix(digits, 10).map_err(|_| TermError::new(position, quoted(digits), "an integer"))
}

/// The word of these bits; an error where they do not fit.
fn word(position: usize, width: usize, bits: Option<UBig>) -> Result<Value, TermError> {
    let width = match u32::try_from(width) {
        Ok(width) if (1..=MAX_WIDTH).contains(&width) => width,
        _ => {
            let expected = format!("1 to {MAX_WIDTH} bits");
            return Err(TermError::new(position, format!("a word of {width} bits"), expected));
        }
    };
    match bits {
        Some(bits) if IBig::from(bits.clone()) < IBig::ONE << width as usize => Ok(Value::BitVec { width, bits }),
        Some(bits) => {
            let found = quoted(&bits.to_string());
            Err(TermError::new(position, found, format!("a number below 2^{width}")))
        }
        None => Err(TermError::new(position, "a bad literal", "digits")),
    }
}

fn reserved(position: usize, name: &str) -> TermError {
    TermError::new(position, format!("the reserved word {}", quoted(name)), "a term")
}

fn unknown_function(position: usize, shown: String) -> TermError {
    TermError::new(position, format!("unknown function {shown}"), "a function of Core, Ints or FixedSizeBitVectors")
}

fn indexed_text(name: &str, indices: &[u32]) -> String {
    let indices: String = indices.iter().map(|index| format!(" {index}")).collect();
    quoted(&format!("(_ {name}{indices})"))
}

fn ill_sorted(position: usize, error: SortError) -> TermError {
    let (found, expected) = match error {
        SortError::Arity { func, expected, found } => (format!("`{func}` of {found} arguments"), expected.to_string()),
        SortError::Argument { func, position, expected, found } => {
            (format!("argument {position} of `{func}` of sort {found}"), format!("sort {expected}"))
        }
        SortError::Index { func, width } => {
            (format!("`{func}` of a word of {width} bits"), "indices that fit the word".to_string())
        }
        SortError::TooWide { func, width } => {
            (format!("`{func}` that makes a word of {width} bits"), format!("at most {MAX_WIDTH} bits"))
        }
    };
    TermError::new(position, found, expected)
}
