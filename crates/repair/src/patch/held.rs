//! Lines of C or C++ that are to hold a lock from the first to the last: what becomes of the statements within that take the lock, give it
//! back, or leave the lines.

use super::diff::Edit;
use super::refusal::{NoPatch, no};
use super::source::{Form, LEAVES, LEAVES_FAR, LockCall, LockStep, Source};
use std::collections::BTreeSet;

/// Lines that hold a lock.
pub(super) struct Holding {
    /// Whether the lock is held already where they begin, and where they end.
    pub(super) held: (bool, bool),
    /// The lines at which the source takes the lock or gives it back.
    pub(super) steps: BTreeSet<usize>,
    /// The changes within.
    pub(super) edits: Vec<Edit>,
}

/// A block within the lines.
struct Block {
    /// Whether the lock was held where it began.
    was_held: bool,
    /// Whether `break` and `continue` in it stay within the lines.
    catches: (bool, bool),
    /// Whether a guard that is declared in it holds the lock.
    has_guard: bool,
}

struct Walk<'a> {
    source: &'a Source<'a>,
    call: &'a LockCall,
    /// Whether the lock is held here.
    is_held: bool,
    /// Whether control cannot come here.
    has_left: bool,
    /// Whether the block that begins next catches `break` and `continue`.
    catches: (bool, bool),
    blocks: Vec<Block>,
    /// Where the last statement ends that gave the lock back.
    gave: Option<(usize, usize)>,
    has_lambda: bool,
    holding: Holding,
}

/// Goes through these lines. `is_held` says how they begin where no statement in them tells.
///
/// # Errors
/// Where it is not known how the lock stands at a place.
pub(super) fn holding(
    source: &Source<'_>,
    (from, to): (usize, usize),
    call: &LockCall,
    is_held: bool,
) -> Result<Holding, NoPatch> {
    let first = (from..=to).find_map(|line| source.step_of_lock(line).filter(|step| step.call.is_of(call)));
    let is_held = first.map_or(is_held, |step| !step.takes);
    let mut walk = Walk {
        source,
        call,
        is_held,
        has_left: false,
        catches: (false, false),
        blocks: Vec::new(),
        gave: None,
        has_lambda: source.may_have_lambda(from, to),
        holding: Holding { held: (is_held, is_held), steps: BTreeSet::new(), edits: Vec::new() },
    };
    for line in from..=to {
        walk.line(line)?;
    }
    walk.holding.held.1 = walk.is_held;
    Ok(walk.holding)
}

impl Walk<'_> {
    fn line(&mut self, line: usize) -> Result<(), NoPatch> {
        let source = self.source;
        let code = source.code(line);
        let step = source.step_of_lock(line).filter(|step| step.call.is_of(self.call));
        let rest =
            step.as_ref().map_or(code.to_string(), |step| [&code[..step.code.start], &code[step.code.end..]].concat());
        if self.call.is_named_in(&rest) {
            let object = self.call.expression();
            return no(format!(
                "line {}: expected a statement that takes or gives back {object} and nothing else",
                line + 1
            ));
        }
        let starts = code.trim_start();
        if starts.starts_with("case ") || starts.starts_with("default:") {
            self.meet(line)?;
        } else if code.trim_end().ends_with(':') {
            return no(format!("line {}: control may come here from elsewhere", line + 1));
        }
        for (at, word) in source.tokens(line) {
            if let Some(step) = step.as_ref().filter(|step| step.code.contains(&at)) {
                if !self.holding.steps.contains(&line) {
                    self.step(line, step)?;
                }
                continue;
            }
            match word {
                "{" => {
                    let catches = std::mem::take(&mut self.catches);
                    self.blocks.push(Block { was_held: self.is_held, catches, has_guard: false });
                }
                "}" => self.close(line)?,
                "for" | "while" | "do" => self.catches = (true, true),
                "switch" => self.catches = (true, false),
                word if LEAVES_FAR.contains(&word) => return no(leaves(line)),
                word if LEAVES.contains(&word) => self.leave(line, at, word)?,
                _ => {}
            }
        }
        if source.ends_statement(line) {
            self.catches = (false, false);
        }
        Ok(())
    }

    /// A statement that takes the lock or gives it back: it goes.
    fn step(&mut self, line: usize, step: &LockStep) -> Result<(), NoPatch> {
        let object = self.call.expression();
        if !self.source.begins_statement(line, step.code.start) {
            return no(self.on_some_ways(line));
        }
        if step.takes == self.is_held {
            return no(format!("line {}: {object} is taken twice or given back twice", line + 1));
        }
        if let Form::Guard { name, .. } = &step.call.form {
            let end = self.source.end_of_block(line, step.code.end);
            if line < end && self.source.words_between(line + 1, end).any(|word| word == name) {
                return no(format!("line {}: {name} is used", line + 1));
            }
            if let Some(block) = self.blocks.last_mut() {
                block.has_guard = true;
            }
        }
        self.is_held = step.takes;
        self.gave = (!step.takes).then_some((line, step.code.end));
        self.holding.steps.insert(line);
        self.holding.edits.push(match self.source.without(line, step.code.clone())? {
            None => Edit::Delete(line),
            Some(rest) => Edit::Replace(line, vec![rest]),
        });
        Ok(())
    }

    /// A block ends: however it went, the lock is held as where the block began.
    fn close(&mut self, line: usize) -> Result<(), NoPatch> {
        let Some(mut block) = self.blocks.pop() else { return Ok(()) };
        if std::mem::take(&mut block.has_guard) {
            self.is_held = block.was_held;
            self.holding.steps.insert(line);
        }
        self.blocks.push(block);
        self.meet(line)?;
        self.blocks.pop();
        Ok(())
    }

    /// Ways meet, on all of which the lock is held as where the block began.
    fn meet(&mut self, line: usize) -> Result<(), NoPatch> {
        match self.blocks.last() {
            Some(block) if self.has_left || self.is_held == block.was_held => {
                self.is_held = block.was_held;
                self.has_left = false;
                Ok(())
            }
            _ => no(self.on_some_ways(line)),
        }
    }

    /// A statement that leaves the lines, or a block within. If it leaves them without the lock, that is given back before.
    fn leave(&mut self, line: usize, at: usize, word: &str) -> Result<(), NoPatch> {
        let stays = |catches: (bool, bool)| (word == "break" && catches.0) || (word == "continue" && catches.1);
        if stays(self.catches) || (self.has_lambda && word == "return") {
            return no(leaves(line));
        }
        let is_alone = self.source.begins_statement(line, at);
        if let Some(block) = self.blocks.iter().rev().find(|block| stays(block.catches)) {
            if self.is_held != block.was_held {
                return no(self.on_some_ways(line));
            }
        } else if !self.is_held && !self.call.is_guard() {
            if word == "throw" {
                return no(leaves(line));
            }
            match self.gave.filter(|gave| is_alone && self.source.is_blank_between(*gave, (line, at))) {
                // What gives the lock back right before stays.
                Some((gave, _)) => {
                    self.holding
                        .edits
                        .retain(|edit| !matches!(edit, Edit::Delete(line) | Edit::Replace(line, _) if *line == gave));
                }
                None => {
                    let is_changed = self.holding.steps.contains(&line);
                    let starts = self.source.code(line)[..at].trim().is_empty();
                    let giving = self.call.giving();
                    self.holding.edits.push(match self.source.with_before(line, at, &giving).filter(|_| !is_changed) {
                        Some(_) if is_alone && starts => Edit::Before(line, self.source.line_like(line, &giving)),
                        Some(text) => Edit::Replace(line, vec![text]),
                        None => return no(leaves(line)),
                    });
                }
            }
        }
        self.has_left |= is_alone;
        Ok(())
    }

    fn on_some_ways(&self, line: usize) -> String {
        format!("line {}: {} is held on some ways only", line + 1, self.call.expression())
    }
}

fn leaves(line: usize) -> String {
    format!("line {} may leave the code before its end", line + 1)
}
