//! The recorded program: its modules, what their side-cars say of its functions, its symbols.

mod code;
mod foreign;
mod function;
mod graph;
mod lines;
mod loops;
mod meets;
mod module;
mod position;
mod prepared;
mod symbols;
mod unit;
mod unseen_writes;

pub use code::is_of_library;
pub(crate) use code::{Code, holds_atomics};
use foreign::Foreign;
pub(crate) use function::Function;
use function::{flatten, for_each_operand};
pub(crate) use module::{Mapping, Module, read_mappings};
pub use position::Position;
pub(crate) use position::demangle;
pub(crate) use prepared::{By, FrameSlot, Prepared, Scalar, constant};
use unit::UnitInfo;

use crate::error::WalkError;
use foretrace_instrument::sidecar::{self, Callee, Instruction, LocationId, Op, Operand, Parameter, Unit};
use foretrace_runtime::record::{ATOMIC_PLACE, Site};
use lines::Lines;
use rustc_hash::{FxHashMap, FxHashSet};
use std::path::{Path, PathBuf};

/// A recorded program, with all that its files say about it.
pub struct Program {
    pub(crate) modules: Vec<Module>,
    units: Vec<UnitInfo>,
    by_id: FxHashMap<u32, usize>,
    pub(crate) functions: Vec<Function>,
    by_address: FxHashMap<u64, usize>,
    by_value: FxHashMap<Site, Vec<Copied>>,
    lines: Lines,
    foreign: Foreign,
    /// All that was loaded, with where it begins and ends.
    loaded: Vec<(std::ops::Range<u64>, PathBuf)>,
}

/// A parameter of which the callee has a copy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Copied {
    /// Which of the parameters that are recorded it is.
    pub scalar: usize,
    /// In bytes.
    pub size: u64,
}

/// Who has written code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Writer {
    /// Who wrote the program.
    Program,
    /// Others: in a crate that cargo has fetched, or in code of a library that has no side-car.
    Others,
}

/// A function that the compiler inlined.
pub(crate) struct Inlined {
    /// The location at which it was: each call that was inlined has another one.
    pub at: LocationId,
    pub function: String,
    /// Where the program's own code called it, as events' places are written.
    pub called_at: Option<String>,
}

impl Program {
    /// The program of a recording: reads what it was made of and checks that it was not changed since.
    pub fn open(recording: &Path) -> Result<Program, WalkError> {
        let mappings = read_mappings(&recording.join("modules"))?;
        let mut program = Program {
            modules: Vec::new(),
            units: Vec::new(),
            by_id: FxHashMap::default(),
            functions: Vec::new(),
            by_address: FxHashMap::default(),
            by_value: FxHashMap::default(),
            lines: Lines::default(),
            foreign: Foreign::default(),
            loaded: mappings.iter().map(|mapping| (mapping.bias..mapping.end, mapping.path.clone())).collect(),
        };
        for mapping in &mappings {
            if let Some(module) = Module::open(mapping)? {
                program.add(module, mapping.end)?;
            }
        }
        program.lines = Lines::new(program.modules.len());
        if program.modules.is_empty() {
            let path = mappings.first().map_or_else(|| recording.join("modules"), |mapping| mapping.path.clone());
            return Err(WalkError::NoSidecar { path });
        }
        program.resolve();
        program.find_foreign();
        Ok(program)
    }

    /// Keeps a module if it has side-cars or code with gcc's hooks; of the others, which lie below `end`, what may order threads.
    fn add(&mut self, mut module: Module, end: u64) -> Result<(), WalkError> {
        let units = match module.section(sidecar::SECTION)? {
            Some(section) => {
                sidecar::decode(&section).map_err(|error| WalkError::Sidecar { path: module.path.clone(), error })?
            }
            None if module.is_concrete()? => Vec::new(),
            None => return self.foreign.add(&module, end),
        };
        module.read_symbols()?;
        self.modules.push(module);
        units.into_iter().try_for_each(|unit| self.add_unit(unit, self.modules.len() - 1))
    }

    fn add_unit(&mut self, mut unit: Unit, module: usize) -> Result<(), WalkError> {
        if let Some(earlier) = self.by_id.insert(unit.id, self.units.len()) {
            let (first, second) = (self.units[earlier].source.clone(), unit.source);
            return Err(WalkError::SameUnit { id: unit.id, first, second });
        }
        unit.functions.sort_by_key(|function| function.site);
        let first = self.functions.len();
        let (index, id) = (self.units.len(), unit.id);
        let functions = std::mem::take(&mut unit.functions).into_iter();
        self.functions.extend(functions.map(|function| flatten(function, index, id)));
        let entries = self.functions[first..].iter().map(|function| function.site).collect();
        self.units.push(UnitInfo::new(unit, first..self.functions.len(), entries, module));
        Ok(())
    }

    /// Finds functions that are called, are no one's whom foretrace built, and may order threads.
    fn find_foreign(&mut self) {
        let calls = self.functions.iter().flat_map(|function| &function.instructions);
        let symbols = calls.filter_map(|one| match &one.op {
            Op::Call { callee: Callee::Symbol(symbol), .. } => Some(symbol.as_str()),
            _ => None,
        });
        let mut symbols: Vec<&str> = symbols.collect::<FxHashSet<&str>>().into_iter().collect();
        symbols.sort_unstable();
        for module in &self.modules {
            self.foreign.add_called(&symbols, module, |address| self.by_address.contains_key(&address));
        }
        let is_elsewhere = |symbol: &&str| self.modules.iter().all(|module| module.symbols.global(symbol).is_none());
        self.foreign.add_unseen_writes(symbols.into_iter().filter(is_elsewhere));
    }

    /// The code which foretrace did not build, and which may order threads, that a call leads to.
    pub(crate) fn foreign(&self, symbol: &str, unit: usize) -> Option<&str> {
        let name = self.foreign.of_symbol(symbol)?;
        let described = self.address(symbol, unit).is_some_and(|address| self.by_address.contains_key(&address));
        (!described).then_some(name)
    }

    /// By what name the C library's function of this symbol writes what no trace has, if it does.
    pub(crate) fn writes_unseen(&self, symbol: &str) -> Option<&str> {
        self.foreign.writes_unseen(symbol)
    }

    /// The same of a call by a pointer.
    pub(crate) fn foreign_at(&self, address: u64) -> Option<&str> {
        self.foreign.of_address(address)
    }

    /// Replaces symbols in operands by their addresses.
    fn resolve(&mut self) {
        let mut functions = std::mem::take(&mut self.functions);
        for (index, function) in functions.iter_mut().enumerate() {
            function.address = self.address(&function.symbol, function.unit);
            if let Some(address) = function.address {
                self.by_address.entry(address).or_insert(index);
            }
            let copied = copied(&function.parameters);
            if !copied.is_empty() {
                let site = Site::new(function.unit_id, function.site);
                self.by_value.insert(site, copied);
            }
            let unit = function.unit;
            let made_by_rustc = function.name.starts_with("__rust"); // the ways to the allocator, and to panics
            let code = self.units[unit].code(function.location);
            function.is_library = made_by_rustc || code.is_some_and(|code| code != Code::Own);
            let of_library = || self.library_position(unit, function.location);
            function.is_atomic = function.is_library && of_library().is_some_and(|at| holds_atomics(&at.file));
            function.is_derived = self.units[unit].is_derived(function);
            let unknown = code.unwrap_or(if function.is_library { Code::Library } else { Code::Own });
            let code_of = |one: &Instruction| self.units[unit].code(one.location).unwrap_or(unknown);
            function.codes = function.instructions.iter().map(code_of).collect();
            for instruction in &mut function.instructions {
                for_each_operand(&mut instruction.op, &mut |operand| self.resolve_operand(operand, unit));
            }
        }
        self.functions = functions;
    }

    fn resolve_operand(&self, operand: &mut Operand, unit: usize) {
        match operand {
            Operand::Address(symbol, offset) => {
                if let Some(address) = self.address(symbol, unit) {
                    *operand = Operand::Constant(64, address.wrapping_add_signed(*offset));
                }
            }
            Operand::Aggregate(parts) => parts.iter_mut().for_each(|part| self.resolve_operand(part, unit)),
            _ => {}
        }
    }

    /// The address of a symbol as a unit sees it; nothing for thread-local ones and those of modules without side-car.
    pub(crate) fn address(&self, symbol: &str, unit: usize) -> Option<u64> {
        let unit = &self.units[unit];
        let own = &self.modules[unit.module].symbols;
        if own.is_thread_local(symbol) {
            return None;
        }
        own.address(symbol, &unit.source)
            .or_else(|| self.modules.iter().find_map(|module| module.symbols.global(symbol)))
    }

    /// The function that a site lies in, and which of its instructions it is (`None` for its entry).
    pub(crate) fn find(&self, site: Site) -> Option<(usize, Option<usize>)> {
        let unit = &self.units[*self.by_id.get(&site.unit())?];
        let (function, into) = unit.around(site.local())?;
        let inside = into <= self.functions[function].instructions.len();
        inside.then(|| (function, into.checked_sub(1)))
    }

    /// Of the function whose entry this is: parameters of which it has copies.
    pub(crate) fn copied(&self, entry: Site) -> &[Copied] {
        if self.by_value.is_empty() {
            return &[];
        }
        self.by_value.get(&entry).map_or(&[], Vec::as_slice)
    }

    /// The function that starts at this address.
    pub(crate) fn function_at(&self, address: u64) -> Option<&Function> {
        self.by_address.get(&address).map(|index| &self.functions[*index])
    }

    /// Whether no part of the program has a side-car: then there are values, but no expressions.
    pub fn is_concrete(&self) -> bool {
        self.units.is_empty()
    }

    /// Where a record comes from: of a site its position; else where the call is that returns to this address, and the calls
    /// that were inlined around it.
    pub(crate) fn positions(&self, place: u64) -> std::sync::Arc<[Position]> {
        match self.find(Site(place)) {
            Some(_) => self.position(Site(place)).into_iter().collect(),
            None => self.lines.before(&self.modules, place & !ATOMIC_PLACE),
        }
    }

    /// The name of the function that an address of its code lies in.
    pub(crate) fn function_around(&self, place: u64) -> String {
        self.symbol_at(place).map_or_else(|| format!("{place:#x}"), |(name, _)| name)
    }

    /// Where the function starts that an address of its code lies in.
    pub(crate) fn symbol_start(&self, place: u64) -> Option<u64> {
        self.symbol_at(place).map(|(_, offset)| place - offset)
    }

    /// Where in the source a record's place is.
    pub fn position(&self, site: Site) -> Option<Position> {
        let Some((function, instruction)) = self.find(site) else { return self.positions(site.0).first().cloned() };
        let function = &self.functions[function];
        let location = instruction.map_or(function.location, |index| function.instructions[index].location);
        self.location(function.unit, location)
    }

    /// Every instruction of the code that has a side-car, with its position where that is known.
    pub fn places(&self) -> impl Iterator<Item = (Site, Position)> {
        self.functions.iter().flat_map(|function| {
            let sites = (function.site + 1..).map(|local| Site::new(function.unit_id, local));
            let locations = function.instructions.iter().map(|one| self.location(function.unit, one.location));
            sites.zip(locations).filter_map(|(site, position)| Some((site, position?)))
        })
    }

    /// The source file of a site in code of the program's own, as the compiler found it.
    pub fn source_file(&self, site: Site) -> Option<PathBuf> {
        let (function, _) = self.find(site)?;
        let position = self.position(site).filter(|position| !position.is_library())?;
        Some(Path::new(&self.units[self.functions[function].unit].directory).join(position.file))
    }

    /// The file of the program itself, and of each library with a side-car.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.modules.iter().map(|module| module.path.as_path())
    }

    /// Whether a site lies in a function of a library that was compiled with the program, such as a template of C++'s, or in one that was
    /// derived. Events from there have the position of the call that led to it.
    pub fn is_in_library(&self, site: Site) -> bool {
        match self.find(site) {
            Some((function, _)) => {
                let function = &self.functions[function];
                self.is_library(function) || function.is_derived
            }
            None => self.positions(site.0).first().is_none_or(Position::is_library),
        }
    }

    /// Whether a site lies in a unit that was compiled from some of the program's own code. Functions of libraries that were compiled with it
    /// count, as far as that made them: Rust's generic ones, and templates.
    pub fn is_in_own_unit(&self, site: Site) -> bool {
        match self.by_id.get(&site.unit()) {
            Some(unit) => self.functions[self.units[*unit].functions.clone()].iter().any(|own| !self.is_library(own)),
            None => !self.is_in_library(site),
        }
    }

    /// Who wrote the function that a site lies in; nothing for the standard library, which acts for its caller. Of code without a side-car the
    /// file counts.
    pub fn writer(&self, site: Site) -> Option<Writer> {
        let Some((function, _)) = self.find(site) else {
            return Some(if self.is_in_library(site) { Writer::Others } else { Writer::Program });
        };
        let function = &self.functions[function];
        let unit = &self.units[function.unit];
        match unit.outwards(function.location).next() {
            Some((_, _, Code::Own)) => Some(Writer::Program),
            Some((_, file, _)) => code::is_of_registry(&unit.directory, file).then_some(Writer::Others),
            None => (!function.is_library).then_some(Writer::Program),
        }
    }

    /// Where in the source a location of a unit is: of a function of a library that was inlined, where it was; nothing where it
    /// is not known.
    pub(crate) fn location(&self, unit: usize, location: LocationId) -> Option<Position> {
        let unit = &self.units[unit];
        let own = unit.outwards(location).find(|(_, _, code)| *code == Code::Own);
        let (location, file, code) = own.or_else(|| unit.outwards(location).next())?;
        let file = code.shown_file(&unit.directory, file);
        Some(Position { file, line: location.line, column: location.column, function: location.function.clone() })
    }

    /// The functions of the program's own that the compiler inlined around a location, outermost first.
    pub(crate) fn inlined(&self, unit: usize, location: LocationId) -> Vec<Inlined> {
        let unit = &self.units[unit];
        let ids = std::iter::successors(Some(location), |location| unit.inlined_at(*location));
        let mut inlined: Vec<Inlined> = Vec::new();
        for ((location, file, code), id) in
            unit.outwards(location).zip(ids).filter(|((.., code), _)| *code == Code::Own)
        {
            if let Some(inner) = inlined.last_mut() {
                let file = code.shown_file(&unit.directory, file);
                inner.called_at = Some(format!("{file}:{}:{}", location.line, location.column));
            }
            if let Some(at) = unit.inlined_at(id) {
                inlined.push(Inlined { at, function: location.function.clone(), called_at: None });
            }
        }
        inlined.reverse();
        inlined
    }

    /// Where in a library's code a location is; nothing where it is in the program's own, or not known.
    pub(crate) fn library_position(&self, unit: usize, location: LocationId) -> Option<Position> {
        let (location, file, code) = self.units[unit].outwards(location).next()?;
        let (file, function) = (code.shown_file(&self.units[unit].directory, file), location.function.clone());
        (code != Code::Own).then_some(Position { file, line: location.line, column: location.column, function })
    }

    /// Whether a function is of a library whose templates or inline functions the program has compiled.
    pub(crate) fn is_library(&self, function: &Function) -> bool {
        function.is_library
    }

    /// The bytes of a thread-local variable.
    pub(crate) fn thread_local_size(&self, symbol: &str) -> Option<u64> {
        self.modules.iter().find_map(|module| module.symbols.thread_local_size(symbol))
    }

    /// The name of the function that starts at this address, demangled.
    pub fn function_name(&self, address: u64) -> Option<String> {
        let symbol = self.function_at(address).map(|function| function.name.clone()).filter(|name| !name.is_empty());
        symbol.or_else(|| self.symbol_at(address).map(|(name, _)| name))
    }

    /// The symbol that an address lies in, demangled, and how far into it.
    pub fn symbol_at(&self, address: u64) -> Option<(String, u64)> {
        let symbol = self.modules.iter().find_map(|module| module.symbols.at(address))?;
        Some((demangle(&symbol.name), address - symbol.address))
    }

    /// The name of the file whose memory an address lies in, and how far into it.
    pub fn file_at(&self, address: u64) -> Option<(String, u64)> {
        let (range, path) = self.loaded.iter().find(|(range, _)| range.contains(&address))?;
        Some((path.file_name()?.to_string_lossy().into_owned(), address - range.start))
    }

    /// The addresses of all symbols of this name.
    pub fn addresses_of(&self, symbol: &str) -> Vec<u64> {
        self.modules.iter().filter_map(|module| module.symbols.global(symbol)).collect()
    }

    /// What the program's files have at an address: memory as it was at the start.
    pub(crate) fn image(&self, address: u64) -> Option<&[u8]> {
        self.modules.iter().find_map(|module| module.image(address))
    }

    /// The C string at an address of the program's own data.
    pub fn text_at(&self, address: u64) -> Option<String> {
        let bytes = self.image(address)?;
        let end = bytes.iter().position(|byte| *byte == 0)?;
        Some(String::from_utf8_lossy(&bytes[..end]).into_owned())
    }
}

fn copied(parameters: &[Parameter]) -> Vec<Copied> {
    let recorded = parameters.iter().filter(|parameter| parameter.ty.bits() > 0);
    let copy = |(scalar, parameter): (usize, &Parameter)| Some(Copied { scalar, size: parameter.by_value? });
    recorded.enumerate().filter_map(copy).collect()
}
