//! Names of memory that is allocated: by the place in the program that did it.

use super::types::{Types, Wanted};
use super::with_offset;
use crate::program::Program;
use crate::regions::RegionId;
use rustc_hash::FxHashMap;

/// Who allocated a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// An allocator that was called by this instruction of a function of the program.
    Heap { function: u32, instruction: u32 },
    /// An `alloca` of a function of the program.
    Frame { function: u32, instruction: u32 },
    /// The copy of an argument that a function of the program got.
    Parameter { function: u32, parameter: u32 },
    /// An allocator that code without side-car called; the address that the call returns to.
    Place(u64),
    /// The stack of a thread of which not each variable is recorded.
    Stack { thread: u64 },
    /// Code that was not recorded.
    Unknown,
}

/// The origins of all regions.
#[derive(Default)]
pub(super) struct Origins {
    origins: Vec<Origin>,
    /// How many regions of each name have been named.
    counts: FxHashMap<String, u32>,
    /// The name of a region and which of those of that name it is.
    named: FxHashMap<RegionId, (String, u32)>,
}

impl Origins {
    pub fn set(&mut self, region: RegionId, origin: Origin) {
        let index = region as usize;
        if self.origins.len() <= index {
            self.origins.resize(index + 1, Origin::Unknown);
        }
        self.origins[index] = origin;
    }

    /// The name of the memory at an offset of a region.
    pub fn name(&mut self, program: &Program, types: &Types, region: RegionId, offset: u64, wanted: Wanted) -> String {
        let origin = self.origins.get(region as usize).copied().unwrap_or(Origin::Unknown);
        if !self.named.contains_key(&region) {
            let base = base(program, origin);
            let count = self.counts.entry(base.clone()).or_default();
            *count += 1;
            self.named.insert(region, (base, *count));
        }
        let (base, count) = &self.named[&region];
        let member = variable(program, origin)
            .and_then(|(symbol, variable)| types.member_of_local(symbol, variable, offset, wanted));
        let name = member.map_or_else(|| with_offset(base, offset), |member| format!("{base}{member}"));
        if *count > 1 { format!("{name}#{count}") } else { name }
    }
}

/// The symbol of the function and the name of the local variable that a region is.
fn variable(program: &Program, origin: Origin) -> Option<(&str, &str)> {
    let (function, name) = match origin {
        Origin::Frame { function, instruction } => {
            let function = &program.functions[function as usize];
            (function, &function.instructions[instruction as usize].name)
        }
        Origin::Parameter { function, parameter } => {
            let function = &program.functions[function as usize];
            (function, &function.parameters[parameter as usize].name)
        }
        Origin::Heap { .. } | Origin::Place(_) | Origin::Stack { .. } | Origin::Unknown => return None,
    };
    Some((&function.symbol, name))
}

fn base(program: &Program, origin: Origin) -> String {
    match origin {
        Origin::Heap { function, instruction } => {
            let function = &program.functions[function as usize];
            let location = function.instructions[instruction as usize].location;
            match program.location(function.unit, location) {
                Some(position) => format!("heap@{}:{}", position.file, position.line),
                None => format!("heap@{}", function.name),
            }
        }
        Origin::Frame { function, .. } | Origin::Parameter { function, .. } => {
            let name = variable(program, origin).map_or("", |(_, name)| name);
            let function = &program.functions[function as usize].name;
            format!("{function}:{}", if name.is_empty() { "local" } else { name })
        }
        Origin::Place(place) => {
            let positions = program.positions(place);
            let own = positions.iter().find(|position| !position.is_library()).or(positions.first());
            own.map_or("heap".to_string(), |position| format!("heap@{}:{}", position.file, position.line))
        }
        Origin::Stack { thread } => format!("stack of thread {thread}"),
        Origin::Unknown => "heap".to_string(),
    }
}
