//! Histories: when each operation began and ended, and its result.

use crate::value::Value;
use std::fmt;

/// An operation on an object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Operation {
    /// Who called it.
    pub process: String,
    /// The object, where there are several.
    pub object: Option<String>,
    /// The method.
    pub method: String,
    /// Its arguments.
    pub args: Vec<Value>,
    /// What it gave; `None` where it never returned.
    pub result: Option<Value>,
    /// When it was called. Times only say what comes first; no two events of a history share one.
    pub call: u64,
    /// When it returned; `u64::MAX` where it never did.
    pub ret: u64,
}

impl Operation {
    /// Whether it returned.
    pub fn is_complete(&self) -> bool {
        self.result.is_some()
    }

    /// Whether some argument is not known, so that nothing can be said of its object.
    pub fn has_unknown_argument(&self) -> bool {
        self.args.contains(&Value::Unknown)
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(object) = &self.object {
            write!(f, "{object}.")?;
        }
        write!(f, "{}(", self.method)?;
        for (number, value) in self.args.iter().enumerate() {
            write!(f, "{}{value}", if number == 0 { "" } else { ", " })?;
        }
        f.write_str(")")?;
        match &self.result {
            None => f.write_str(" …"),
            Some(Value::Nil) => Ok(()),
            Some(value) => write!(f, " → {value}"),
        }
    }
}

/// Operations, by when they were called.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct History {
    /// The operations.
    pub operations: Vec<Operation>,
}

impl History {
    /// Puts operations in order.
    pub fn new(mut operations: Vec<Operation>) -> History {
        operations.sort_by_key(|operation| operation.call);
        History { operations }
    }

    /// The operations at these positions.
    #[must_use]
    pub fn part(&self, positions: &[usize]) -> History {
        History { operations: positions.iter().map(|position| self.operations[*position].clone()).collect() }
    }

    /// What had happened at a moment: later calls are not there, operations that were open have not returned.
    #[must_use]
    pub fn until(&self, moment: u64) -> History {
        let begun = self.operations.iter().filter(|operation| operation.call <= moment).cloned();
        let cut = |mut operation: Operation| {
            if operation.ret > moment {
                operation.ret = u64::MAX;
                operation.result = None;
            }
            operation
        };
        History { operations: begun.map(cut).collect() }
    }
}
