//! SMT-LIB 2 tokens.

use super::{DIGIT_LIMIT, TermError, is_symbol_byte};
use crate::error::quoted;

/// A token; literals without their `#x`, quoted symbols without their bars.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    Open,
    Close,
    Symbol(&'a str),
    Quoted(&'a str),
    Numeral(&'a str),
    Hex(&'a str),
    Binary(&'a str),
    End,
}

impl std::fmt::Display for Token<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Token::Open => f.write_str("`(`"),
            Token::Close => f.write_str("`)`"),
            Token::Symbol(text) | Token::Numeral(text) => f.write_str(&quoted(text)),
            Token::Quoted(text) => f.write_str(&quoted(&format!("|{text}|"))),
            Token::Hex(digits) => f.write_str(&quoted(&format!("#x{digits}"))),
            Token::Binary(digits) => f.write_str(&quoted(&format!("#b{digits}"))),
            Token::End => f.write_str("the end of the expression"),
        }
    }
}

/// Cuts a text into tokens.
pub(super) struct Lexer<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a str) -> Lexer<'a> {
        Lexer { text, at: 0 }
    }

    /// The next token and where it starts.
    pub(super) fn next(&mut self) -> Result<(usize, Token<'a>), TermError> {
        self.skip_blanks();
        let start = self.at;
        let Some(&byte) = self.text.as_bytes().get(start) else { return Ok((start, Token::End)) };
        let token = match byte {
            b'(' => self.single(Token::Open),
            b')' => self.single(Token::Close),
            b'|' => self.quoted_symbol()?,
            b'#' => self.literal()?,
            b'0'..=b'9' => self.numeral()?,
            _ if is_symbol_byte(byte) => Token::Symbol(self.word()),
            _ => return Err(self.unexpected("a term")),
        };
        Ok((start, token))
    }

    fn skip_blanks(&mut self) {
        let bytes = self.text.as_bytes();
        while let Some(byte) = bytes.get(self.at) {
            match byte {
                b' ' | b'\t' | b'\r' | b'\n' => self.at += 1,
                b';' => {
                    let rest = &bytes[self.at..];
                    self.at += memchr::memchr(b'\n', rest).unwrap_or(rest.len());
                }
                _ => return,
            }
        }
    }

    fn single(&mut self, token: Token<'a>) -> Token<'a> {
        self.at += 1;
        token
    }

    /// The longest run of symbol characters from here.
    fn word(&mut self) -> &'a str {
        let rest = &self.text[self.at..];
        let length = rest.bytes().position(|byte| !is_symbol_byte(byte)).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    fn quoted_symbol(&mut self) -> Result<Token<'a>, TermError> {
        let start = self.at + 1;
        let rest = &self.text[start..];
        match rest.find(['|', '\\']) {
            Some(length) if rest.as_bytes()[length] == b'|' => {
                self.at = start + length + 1;
                Ok(Token::Quoted(&rest[..length]))
            }
            Some(length) => {
                Err(TermError::new(start + length, "`\\` in a quoted symbol", "a character but `|` and `\\`"))
            }
            None => Err(TermError::new(self.at, "a quoted symbol without its end", "`|`")),
        }
    }

    fn literal(&mut self) -> Result<Token<'a>, TermError> {
        let start = self.at;
        self.at += 1;
        let word = self.word();
        let found = || quoted(&self.text[start..start + 1 + word.len()]);
        let (digits, radix) = match word.as_bytes().first() {
            Some(b'x') => (&word[1..], 16),
            Some(b'b') => (&word[1..], 2),
            _ => return Err(TermError::new(start, found(), "`#x…` or `#b…`")),
        };
        if digits.is_empty() || !digits.chars().all(|c| c.is_digit(radix)) {
            return Err(TermError::new(start, found(), format!("digits of base {radix}")));
        }
        Ok(if radix == 16 { Token::Hex(digits) } else { Token::Binary(digits) })
    }

    fn numeral(&mut self) -> Result<Token<'a>, TermError> {
        let start = self.at;
        let word = self.word();
        if !word.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(TermError::new(start, quoted(word), "an integer or a name"));
        }
        if word.len() > DIGIT_LIMIT {
            let expected = format!("at most {DIGIT_LIMIT} digits");
            return Err(TermError::new(start, format!("a numeral of {} digits", word.len()), expected));
        }
        Ok(Token::Numeral(word))
    }

    fn unexpected(&self, expected: &str) -> TermError {
        let character = self.text[self.at..].chars().next().unwrap_or(' ');
        TermError::new(self.at, quoted(character.encode_utf8(&mut [0; 4])), expected)
    }
}
