//! Names of memory: variables of the source with their members, heap by where it was allocated, frames by function.

mod dwarf;
mod given;
mod heap;
mod library;
mod objects;
mod pointed;
mod types;

pub(crate) use given::{Given, Scalar};
pub(crate) use heap::Origin;
pub(crate) use library::shown;

use crate::program::{Function, Program};
use crate::regions::{OUTSIDE, RegionId};
use crate::shared::Piece;
use crate::signals::signal_name;
use foretrace_runtime::record::{self, CHANNELS, FILE_LOCKS, MESSAGES, NOTICES, SEMAPHORES};
use foretrace_trace::OTHER_PROGRAMS;
use heap::Origins;
use objects::Objects;
use std::collections::BTreeMap;
use std::sync::Arc;
pub(crate) use types::Types;
use types::{Wanted, with_offset};

/// All that names are made of.
pub(crate) struct Names {
    types: Arc<Types>,
    origins: Origins,
    objects: Objects,
    /// Thread-local variables by region and address: size, name.
    thread_local: BTreeMap<(RegionId, u64), (u64, String)>,
}

impl Names {
    pub fn of(types: Arc<Types>) -> Names {
        Names { types, ..Names::none() }
    }

    /// No names, for a walk that names nothing.
    pub fn none() -> Names {
        let (types, origins, objects) = Default::default();
        Names { types, origins, objects, thread_local: BTreeMap::new() }
    }

    /// Where a region was allocated.
    pub fn set_origin(&mut self, region: RegionId, origin: Origin) {
        self.origins.set(region, origin);
    }

    /// Whether an access of allocated memory, by this instruction in a function that was called by that one, is the first there.
    pub fn is_first_sight(&mut self, at: (u32, u32, u32), (region, offset): (RegionId, u64)) -> bool {
        let (function, instruction, caller) = at;
        region != OUTSIDE
            && self.origins.is_heap(region)
            && self.objects.is_new((function, instruction, caller, region, offset))
    }

    /// An instruction of a function accesses a region at an offset.
    pub fn see_access(&mut self, function: (u32, &Function), instruction: u32, place: (RegionId, u64)) {
        self.objects.learn_access(&self.types, function, instruction, place);
    }

    /// A parameter of a function points into a region.
    pub fn see_parameter(&mut self, function: (u32, &Function), parameter: u32, place: (RegionId, u64)) {
        self.objects.learn_parameter(&self.types, function, parameter, place);
    }

    /// A thread's own copy of a variable was seen here.
    pub fn see_thread_local(&mut self, (region, address): (RegionId, u64), size: u64, name: String) {
        self.thread_local.insert((region, address), (size, name));
    }

    /// The name of a piece of memory, in a region that starts at `base`.
    pub fn variable(&mut self, program: &Program, piece: Piece, region: RegionId, base: u64) -> String {
        self.name(program, piece.address, region, base, Wanted::Bytes(u64::from(piece.size)))
    }

    /// The name of the synchronisation object at an address: members of the library's own types are not named.
    pub fn object(&mut self, program: &Program, address: u64, region: RegionId, base: u64) -> String {
        self.name(program, address, region, base, Wanted::Object)
    }

    fn name(&mut self, program: &Program, address: u64, region: RegionId, base: u64, wanted: Wanted) -> String {
        if (CHANNELS..CHANNELS + (1 << 48)).contains(&address) {
            return format!("channel {}", (address - CHANNELS) / 16 + 1);
        }
        if (MESSAGES..MESSAGES + (1 << 48)).contains(&address) {
            return format!("messages of channel {}", (address - MESSAGES) / 16 + 1);
        }
        if (NOTICES..NOTICES + (1 << 48)).contains(&address) {
            return notice((address - NOTICES) / 16);
        }
        if (SEMAPHORES..SEMAPHORES + (1 << 56)).contains(&address) {
            return format!("semaphore {}", (address / 16) & 0xffff);
        }
        if (FILE_LOCKS..FILE_LOCKS + (1 << 56)).contains(&address) {
            return "lock of a file".to_string(); // numbers of files differ from run to run
        }
        if (record::TEAMS..record::TEAMS + (1 << 48)).contains(&address) {
            let what = ["barrier", "turns", "ordered", "single", "reduction"];
            let what = what.get((address % 16) as usize).copied().unwrap_or("object");
            return format!("OpenMP team {} {what}", (address - record::TEAMS) / 16);
        }
        if (record::LOCKS..record::LOCKS + (1 << 48)).contains(&address) {
            return format!("lock {:x}", (address - record::LOCKS) >> 4);
        }
        if address == record::OUTSIDE {
            return OTHER_PROGRAMS.to_string();
        }
        let copies = self.thread_local.range((region, 0)..=(region, address)).next_back();
        if let Some(((_, start), (_, name))) = copies.filter(|((_, start), (size, _))| address - start < *size) {
            return with_offset(name, address - start);
        }
        if region != OUTSIDE {
            let known = (program, &*self.types, &self.objects);
            return self.origins.name(known, region, address - base, wanted);
        }
        if let Some(name) = self.types.variable(address, wanted) {
            return name;
        }
        if let Some((name, offset)) = program.symbol_at(address) {
            return with_offset(&name, offset);
        }
        match program.file_at(address) {
            Some((file, offset)) => format!("{file}+{offset:#x}"),
            None => format!("{address:#x}"),
        }
    }
}

impl Types {
    /// The types of all modules; what cannot be read has no names.
    pub fn of(program: &Program) -> Types {
        let mut types = Types::default();
        for (index, module) in program.modules.iter().enumerate() {
            if let Ok(object) = module.object() {
                // Damaged debugging information costs names, nothing else.
                let _ = dwarf::read(&mut types, index, module.bias, &object);
            }
        }
        types
    }
}

/// The name of a signal or cancellation, by its place among all.
fn notice(place: u64) -> String {
    let (thread, number) = (place >> 7, place & 0x7f);
    match (number, thread) {
        (0, thread) => format!("cancellation of thread {thread}"),
        (number, 0) => format!("{} to the process", signal_name(number)),
        (number, thread) => format!("{} to thread {thread}", signal_name(number)),
    }
}
