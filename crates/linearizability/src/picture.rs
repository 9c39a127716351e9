//! A history as a picture in text: a line per operation, from its call to its return.

use crate::history::History;
use crate::value::Value;
use std::fmt::Write;

/// What may be meant where one operation fails by itself: its result may say that it found nothing.
pub fn hint(history: &History) -> Option<String> {
    let [operation] = history.operations.as_slice() else { return None };
    let result = operation.result.as_ref().filter(|result| matches!(result, Value::Int(_) | Value::Text(_)))?;
    let method = &operation.method;
    operation.args.is_empty().then(|| format!("if {method} gives {result} where it finds nothing: --empty {result}"))
}

/// Draws the operations, process by process. Time goes to the right; its distances mean nothing, only its order.
pub fn picture(history: &History) -> String {
    let mut moments: Vec<u64> = history.operations.iter().flat_map(|op| [op.call, op.ret]).collect();
    moments.retain(|moment| *moment != u64::MAX);
    moments.sort_unstable();
    moments.dedup();
    let column = |moment: u64| 2 * moments.partition_point(|other| *other < moment);
    let width = 2 * moments.len();
    let mut operations: Vec<_> = history.operations.iter().collect();
    let mut processes: Vec<&str> = Vec::new();
    for operation in &operations {
        if !processes.contains(&operation.process.as_str()) {
            processes.push(&operation.process);
        }
    }
    let place = |process: &str| processes.iter().position(|other| *other == process);
    operations.sort_by_key(|operation| (place(&operation.process), operation.call));
    let wide = |text: &dyn Fn(&&crate::Operation) -> String| {
        operations.iter().map(|operation| text(operation).chars().count()).max().unwrap_or(0)
    };
    let process = |operation: &&crate::Operation| operation.process.clone();
    let shown = |operation: &&crate::Operation| operation.to_string();
    let (first, second) = (wide(&process), wide(&shown));
    let mut text = String::new();
    for operation in &operations {
        let from = column(operation.call);
        let bar = match operation.ret {
            u64::MAX => format!("├{}", "┄".repeat(width.saturating_sub(from + 1).max(1))),
            ret => format!("├{}┤", "─".repeat(column(ret).saturating_sub(from + 1))),
        };
        let line = format!("{:<first$}  {:<second$}  {}{bar}", operation.process, shown(operation), " ".repeat(from));
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}
