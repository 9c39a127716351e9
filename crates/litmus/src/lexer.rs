//! Cuts a program's text into tokens.

use super::diagnostic::{Diagnostic, Span};
use dashu_int::UBig;

/// Words that are no names.
pub(super) const KEYWORDS: &[&str] = &[
    "shared",
    "mutex",
    "recursive",
    "rwlock",
    "condvar",
    "semaphore",
    "once",
    "barrier",
    "thread",
    "fn",
    "let",
    "atomic",
    "if",
    "else",
    "while",
    "assert",
    "spawn",
    "join",
    "return",
    "true",
    "false",
    "int",
    "bool",
];

/// Longer ones first, so that the first that fits is the longest.
const SYMBOLS: &[&str] = &[
    "->", "&&", "||", "==", "!=", "<=", ">=", "<<", ">>", "{", "}", "(", ")", "[", "]", ":", ";", ",", "=", "<", ">",
    "+", "-", "*", "/", "%", "&", "|", "^", "~", "!",
];

/// A number has at most this many digits.
const MOST_DIGITS: usize = 1000;

/// What a token is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    Name,
    Number(UBig),
    Text(Box<str>),
    /// A keyword or a symbol.
    Fixed(&'static str),
    /// The end of the program.
    End,
}

/// A token where it stands.
#[derive(Clone, Debug)]
pub(super) struct Token {
    pub kind: TokenKind,
    pub span: Span,
}

/// The tokens of a program, the last of which is `End`; the text must be shorter than 2^32 bytes.
pub(super) fn tokens(source: &str) -> Result<Vec<Token>, Diagnostic> {
    let mut lexer = Lexer { source, at: 0 };
    let mut tokens = Vec::new();
    loop {
        lexer.skip_blanks()?;
        let token = lexer.token()?;
        let end = token.kind == TokenKind::End;
        tokens.push(token);
        if end {
            return Ok(tokens);
        }
    }
}

struct Lexer<'s> {
    source: &'s str,
    at: usize,
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        &self.source[self.at..]
    }

    fn span(&self, start: usize) -> Span {
        Span { start: start as u32, end: self.at as u32 }
    }

    fn take_while(&mut self, accept: impl Fn(char) -> bool) -> usize {
        let rest = self.rest();
        let length = rest.find(|c| !accept(c)).unwrap_or(rest.len());
        self.at += length;
        length
    }

    fn skip_blanks(&mut self) -> Result<(), Diagnostic> {
        loop {
            self.take_while(char::is_whitespace);
            if self.rest().starts_with("//") {
                self.take_while(|c| c != '\n');
            } else if self.rest().starts_with("/*") {
                self.skip_comment()?;
            } else {
                return Ok(());
            }
        }
    }

    fn skip_comment(&mut self) -> Result<(), Diagnostic> {
        let start = self.at;
        match self.rest()[2..].find("*/") {
            Some(length) => {
                self.at += length + 4;
                Ok(())
            }
            None => {
                self.at += 2;
                Err(Diagnostic::new(self.span(start), "a comment without an end", "expected `*/` after this"))
            }
        }
    }

    fn token(&mut self) -> Result<Token, Diagnostic> {
        let start = self.at;
        let kind = match self.rest().chars().next() {
            None => TokenKind::End,
            Some(c) if is_name_start(c) => self.word(),
            Some(c) if c.is_ascii_digit() => self.number()?,
            Some('"') => self.text()?,
            Some(c) => match SYMBOLS.iter().find(|symbol| self.rest().starts_with(**symbol)) {
                Some(symbol) => {
                    self.at += symbol.len();
                    TokenKind::Fixed(symbol)
                }
                None => {
                    self.at += c.len_utf8();
                    let message = format!("unexpected character `{}`", c.escape_debug());
                    return Err(Diagnostic::new(self.span(start), message, "no part of the language starts so"));
                }
            },
        };
        Ok(Token { kind, span: self.span(start) })
    }

    fn word(&mut self) -> TokenKind {
        let start = self.at;
        self.take_while(is_name_part);
        let word = &self.source[start..self.at];
        KEYWORDS.iter().find(|keyword| **keyword == word).map_or(TokenKind::Name, |keyword| TokenKind::Fixed(keyword))
    }

    fn number(&mut self) -> Result<TokenKind, Diagnostic> {
        let start = self.at;
        self.take_while(is_name_part);
        let text = self.source[start..self.at].replace('_', "");
        let (digits, radix) = match text.get(..2) {
            Some("0x") => (&text[2..], 16),
            Some("0b") => (&text[2..], 2),
            _ => (&text[..], 10),
        };
        if digits.len() > MOST_DIGITS {
            let message = format!("a number of {} digits", digits.len());
            return Err(Diagnostic::new(self.span(start), message, format!("expected at most {MOST_DIGITS} digits")));
        }
        UBig::from_str_radix(digits, radix).map(TokenKind::Number).map_err(|_| {
            let message = format!("`{}` is not a number", &self.source[start..self.at]);
            Diagnostic::new(
                self.span(start),
                message,
                "expected decimal digits, `0x` with hexadecimal or `0b` with binary ones",
            )
        })
    }

    fn text(&mut self) -> Result<TokenKind, Diagnostic> {
        let start = self.at;
        self.at += 1;
        let length = self.take_while(|c| c != '"' && c != '\n');
        if !self.rest().starts_with('"') {
            return Err(Diagnostic::new(self.span(start), "a text without an end", "expected `\"` on the same line"));
        }
        let text = self.source[self.at - length..self.at].into();
        self.at += 1;
        Ok(TokenKind::Text(text))
    }
}

fn is_name_start(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_'
}

fn is_name_part(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}
