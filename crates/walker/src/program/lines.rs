//! From addresses of machine code to positions in the source, by the debugging information.

use super::code::Code;
use super::module::Module;
use super::position::{Position, demangle};
use addr2line::{Context, LookupContinuation, LookupResult};
use gimli::{Dwarf, EndianArcSlice, RunTimeEndian};
use object::{Object, ObjectSection};
use rustc_hash::FxHashMap;
use std::sync::{Arc, Mutex, PoisonError};

type Reader = EndianArcSlice<RunTimeEndian>;

/// The line table of a module: nothing before it was read, and nothing in it where it cannot be.
type Table = Option<Option<Context<Reader>>>;

/// The line tables of the modules, each read when it is first asked.
#[derive(Default)]
pub(crate) struct Lines {
    tables: Vec<Mutex<Table>>,
    found: Mutex<FxHashMap<u64, Arc<[Position]>>>,
}

impl Lines {
    /// Of so many modules.
    pub fn new(modules: usize) -> Lines {
        let tables = std::iter::repeat_with(Mutex::default).take(modules).collect();
        Lines { tables, found: Mutex::default() }
    }

    /// Where the call is that returns to this address: the position, then those of the calls that were inlined around it, the
    /// function itself last. Empty where nothing is known.
    pub fn before(&self, modules: &[Module], address: u64) -> Arc<[Position]> {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = found.get(&address) {
            return known.clone();
        }
        let positions: Arc<[Position]> = self.look_up(modules, address).unwrap_or_default().into();
        found.insert(address, positions.clone());
        positions
    }

    fn look_up(&self, modules: &[Module], address: u64) -> Option<Vec<Position>> {
        let inside = address.checked_sub(1)?; // the next line may start where the call returns to
        let index = modules.iter().position(|module| module.holds(inside))?;
        let mut table = self.tables.get(index)?.lock().unwrap_or_else(PoisonError::into_inner);
        let table = table.get_or_insert_with(|| read(&modules[index])).as_ref()?;
        let probe = inside.wrapping_sub(modules[index].bias);
        let directory = finished(table.find_dwarf_and_unit(probe))
            .and_then(|unit| unit.comp_dir.as_ref().map(|text| String::from_utf8_lossy(text).into_owned()));
        let mut frames = finished(table.find_frames(probe)).ok()?;
        let mut positions = Vec::new();
        while let Ok(Some(frame)) = frames.next() {
            let function = frame.function.and_then(|name| name.raw_name().map(|name| demangle(&name)).ok());
            let Some(location) = frame.location else { continue };
            let Some(file) = location.file else { continue };
            let directory = directory.as_deref().unwrap_or_default();
            positions.push(Position {
                file: Code::of_file(directory, file).shown_file(directory, file),
                line: location.line.unwrap_or(0),
                column: location.column.unwrap_or(0),
                function: function.unwrap_or_default(),
            });
        }
        Some(positions)
    }
}

/// The debugging information of a module; nothing where it is missing or damaged.
fn read(module: &Module) -> Option<Context<Reader>> {
    let object = module.object().ok()?;
    let section = |id: gimli::SectionId| -> gimli::Result<Reader> {
        let data = object.section_by_name(id.name()).and_then(|section| section.uncompressed_data().ok());
        let bytes: Arc<[u8]> = data.unwrap_or_default().into_owned().into();
        Ok(EndianArcSlice::new(bytes, RunTimeEndian::Little))
    };
    Context::from_dwarf(Dwarf::load(section).ok()?).ok()
}

/// What a search found, without debugging information in files of its own.
fn finished<L: LookupContinuation>(result: LookupResult<L>) -> L::Output {
    result.skip_all_loads()
}
