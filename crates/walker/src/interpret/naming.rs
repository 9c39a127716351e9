//! What the frames of an access of allocated memory say of its type.

use super::Walk;
use crate::value::Value;

/// Callers that are looked at: library code stands between an object's own functions and its memory.
const MOST_FRAMES: usize = 8;

impl Walk<'_, '_> {
    /// The innermost instruction accesses a cell: the types of the pointers that led to it name the memory.
    pub(super) fn see_types(&mut self, cell: u32) {
        let mut frames = self.thread.frames.iter().rev();
        let Some(innermost) = frames.next() else { return };
        let Some(function) = innermost.function else { return };
        let caller = frames.next().and_then(|frame| frame.function).unwrap_or(usize::MAX);
        let cell = self.world.cells.all[cell as usize];
        let offset = cell.piece.address - cell.base;
        let names = &mut self.world.names;
        let at = (function as u32, innermost.next as u32, caller as u32);
        if !names.is_first_sight(at, (cell.region, offset)) {
            return;
        }
        names.see_access((at.0, &self.program.functions[function]), at.1, (cell.region, offset));
        for frame in self.thread.frames.iter().rev().take(MOST_FRAMES) {
            let Some(number) = frame.function else { continue };
            let function = &self.program.functions[number];
            for parameter in 0..function.parameters.len() {
                let value = self.thread.registers.get(frame.parameters + parameter);
                let Some(Value::Word(word)) = value else { continue };
                if word.width() == 64 && word.is_known() && (cell.base..=cell.piece.address).contains(&word.bits) {
                    let place = (cell.region, word.bits - cell.base);
                    names.see_parameter((number as u32, function), parameter as u32, place);
                }
            }
        }
    }
}
