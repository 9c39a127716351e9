//! What operations take and give.

use std::fmt;

/// An argument or a result.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Value {
    /// Nothing: a result that an operation does not have, an empty container, a key that is not there.
    Nil,
    /// A truth value.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// Text; also a keyword of EDN, and a number that is no 64-bit integer.
    Text(String),
    /// Several values.
    List(Vec<Value>),
    /// A result that was not recorded: the operation returned, and may have given anything.
    Unknown,
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Nil => f.write_str("nil"),
            Value::Unknown => f.write_str("?"),
            Value::Bool(value) => value.fmt(f),
            Value::Int(value) => value.fmt(f),
            Value::Text(text) => f.write_str(text),
            Value::List(values) => {
                f.write_str("[")?;
                for (number, value) in values.iter().enumerate() {
                    write!(f, "{}{value}", if number == 0 { "" } else { " " })?;
                }
                f.write_str("]")
            }
        }
    }
}
