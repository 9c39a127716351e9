//! Names of memory that is allocated: by the type that accesses show, else by the place in the program that allocated it.

use super::objects::Objects;
use super::types::{Types, Wanted, with_offset};
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
    /// Which of those of its name a region is.
    named: FxHashMap<(RegionId, String), u32>,
    /// Which memory, and which synchronisation object, has a name that is made of a type.
    taken: FxHashMap<(String, bool), (RegionId, u64)>,
}

impl Origins {
    pub fn set(&mut self, region: RegionId, origin: Origin) {
        let index = region as usize;
        if self.origins.len() <= index {
            self.origins.resize(index + 1, Origin::Unknown);
        }
        self.origins[index] = origin;
    }

    /// Whether an allocator gave out a region.
    pub fn is_heap(&self, region: RegionId) -> bool {
        matches!(self.origin_of(region), Origin::Heap { .. } | Origin::Place(_) | Origin::Unknown)
    }

    fn origin_of(&self, region: RegionId) -> Origin {
        self.origins.get(region as usize).copied().unwrap_or(Origin::Unknown)
    }

    /// The name of the memory at an offset of a region.
    pub fn name(
        &mut self,
        (program, types, objects): (&Program, &Types, &Objects),
        region: RegionId,
        offset: u64,
        wanted: Wanted,
    ) -> String {
        if self.is_heap(region)
            && let Some((object, member)) = objects.name(types, region, offset, wanted)
        {
            let name = self.numbered(region, object, &member);
            let here = (region, offset);
            let is_object = wanted == Wanted::Object;
            if *self.taken.entry((name.clone(), is_object)).or_insert(here) == here {
                return name;
            }
        }
        let origin = self.origin_of(region);
        let member = variable(program, origin)
            .and_then(|(symbol, variable)| types.member_of_local(symbol, variable, offset, wanted));
        let member = member.unwrap_or_else(|| with_offset("", offset));
        self.numbered(region, base(program, origin), &member)
    }

    /// The name of a part of a region, of several regions with their number.
    fn numbered(&mut self, region: RegionId, base: String, member: &str) -> String {
        let (counts, name) = (&mut self.counts, format!("{base}{member}"));
        let number = *self.named.entry((region, base)).or_insert_with_key(|(_, base)| {
            let count = counts.entry(base.clone()).or_default();
            *count += 1;
            *count
        });
        if number > 1 { format!("{name}#{number}") } else { name }
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
