//! Functions that the source itself marks as a lock's: `FORETRACE_LOCK("take")` of `foretrace.h`.

use super::function::{BadLock, LockFunction, Success, WhichLock};
use crate::llvm::{Module, Value, ValueKind};
use foretrace_runtime::lock_calls::{Action, Hold, LockCall};

/// What marks start with, in clang's bitcode.
const START: &str = "foretrace lock ";
/// The list of marks.
const LIST: &str = "llvm.global.annotations";

/// The marked functions of a module.
pub(super) fn in_module(module: &Module) -> Result<Vec<(Value, LockFunction)>, BadLock> {
    let Some(list) = module.variable(LIST).and_then(|list| list.operand_if_any(0)) else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    for entry in (0..).map_while(|index| list.element(index)) {
        let (Some(function), Some(text)) = (entry.element(0), entry.element(1)) else { continue };
        let Some(mark) = text_of(text).and_then(|text| text.strip_prefix(START).map(str::to_owned)) else { continue };
        if function.kind() != ValueKind::Function || function.is_declaration() {
            continue;
        }
        let bad = || BadLock::Mark { function: function.name(), found: mark.clone() };
        found.push((function, parse(&mark).ok_or_else(bad)?));
    }
    Ok(found)
}

fn parse(mark: &str) -> Option<LockFunction> {
    let mut words = mark.split_whitespace();
    let (action, success) = match words.next()? {
        "take" => (Action::Take, Success::NotZero),
        "try" => (Action::Try, Success::NotZero),
        "try=0" => (Action::Try, Success::Zero),
        "give" => (Action::Give, Success::NotZero),
        _ => return None,
    };
    let hold = match words.next() {
        None => Hold::Mutex,
        Some("alone") => Hold::Alone,
        Some("shared") => Hold::Shared,
        Some("either") if action == Action::Give => Hold::Either,
        Some(_) => return None,
    };
    let call = LockCall::new(action, hold, true);
    words.next().is_none().then_some(LockFunction { call, lock: WhichLock::Parameter(0), success, time: None })
}

/// A constant string.
fn text_of(variable: Value) -> Option<String> {
    let content = (variable.kind() == ValueKind::Global).then(|| variable.operand_if_any(0)).flatten()?;
    let bytes: Vec<u8> = (0..).map_while(|index| content.element(index)).map(|byte| byte.unsigned() as u8).collect();
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    String::from_utf8(bytes[..end].to_vec()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_say_what_functions_do() {
        for (mark, action, hold) in [
            ("take", Action::Take, Hold::Mutex),
            ("try=0 shared", Action::Try, Hold::Shared),
            ("give either", Action::Give, Hold::Either),
        ] {
            let call = parse(mark).expect("a mark").call;
            assert_eq!((call.action, call.hold), (action, hold), "{mark}");
        }
        for mark in ["", "grab", "take either", "take alone now"] {
            assert_eq!(parse(mark), None, "{mark}");
        }
    }
}
