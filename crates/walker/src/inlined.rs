//! What the walk keeps of calls of the program's own functions, inlined ones too.

use crate::program::{Inlined, Program};
use foretrace_instrument::sidecar::{BlockId, LocationId};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The calls that a frame stands for, as far as they have led to an event.
#[derive(Default)]
pub(crate) struct FrameCalls {
    /// The call of its function.
    pub call: Option<u32>,
    /// The inlined ones that it is in, outermost first: where they were inlined, and their calls.
    pub inlined: Vec<(LocationId, u32)>,
}

/// What is known of inlined functions, by where it was asked for.
#[derive(Default)]
pub(crate) struct InlinedAt {
    /// By unit and location.
    of_location: FxHashMap<(usize, LocationId), Arc<[Inlined]>>,
    /// By function and header of a loop how many inlined functions the loop is in.
    of_loop: FxHashMap<(usize, BlockId), usize>,
}

impl InlinedAt {
    /// The functions that were inlined around a location, outermost first.
    pub fn around(&mut self, program: &Program, unit: usize, location: LocationId) -> Arc<[Inlined]> {
        let known = self.of_location.entry((unit, location));
        known.or_insert_with(|| program.inlined(unit, location).into()).clone()
    }

    /// How many inlined functions a loop is in: those that all of its instructions are in.
    pub fn depth_of_loop(&mut self, program: &Program, (function, header): (usize, BlockId)) -> usize {
        if let Some(known) = self.of_loop.get(&(function, header)) {
            return *known;
        }
        let depth = self.common_depth(program, (function, header));
        self.of_loop.insert((function, header), depth);
        depth
    }

    fn common_depth(&mut self, program: &Program, (function, header): (usize, BlockId)) -> usize {
        let function = &program.functions[function];
        let blocks = 0..function.blocks.len() as BlockId;
        let of_loop = blocks.filter(|block| function.loops().around(*block).contains(&header));
        let mut common: Option<Vec<LocationId>> = None;
        for instruction in of_loop.flat_map(|block| function.instructions_of(block)) {
            if program.location(function.unit, instruction.location).is_none() {
                continue;
            }
            let around = self.around(program, function.unit, instruction.location);
            let around = around.iter().map(|inlined| inlined.at);
            match &mut common {
                None => common = Some(around.collect()),
                Some(common) => {
                    let same = common.iter().zip(around).take_while(|(one, other)| **one == *other).count();
                    common.truncate(same);
                }
            }
        }
        common.map_or(0, |common| common.len())
    }
}
