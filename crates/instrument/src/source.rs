//! Source positions and names, out of debug information.

use crate::llvm::{Context, Metadata, Module, Value};
use crate::sidecar::{Location, LocationId};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// The files and positions of a unit, each once.
pub struct Sources<'a> {
    context: &'a Context,
    /// The directory in which the unit was compiled.
    pub directory: String,
    /// Names of files.
    pub files: Vec<String>,
    /// Positions; the first stands for none.
    pub locations: Vec<Location>,
    known_files: HashMap<String, u32>,
    known_locations: HashMap<Location, LocationId>,
    known_positions: HashMap<Metadata, LocationId>,
    known_functions: HashMap<Metadata, String>,
}

impl<'a> Sources<'a> {
    /// Those of a module, none so far.
    pub fn of_module(module: &'a Module) -> Sources<'a> {
        let context = module.context();
        let unit = module.named_metadata("llvm.dbg.cu").first().and_then(|unit| unit.as_metadata());
        let mut sources = Sources {
            context,
            directory: unit.and_then(|unit| context.directory_of_unit(unit)).unwrap_or_default(),
            files: Vec::new(),
            locations: vec![Location::default()],
            known_files: HashMap::new(),
            known_locations: HashMap::new(),
            known_positions: HashMap::new(),
            known_functions: HashMap::new(),
        };
        sources.file(module.source(), String::new());
        sources
    }

    /// The position of an instruction.
    pub fn position(&mut self, instruction: Value) -> LocationId {
        instruction.position().map_or(0, |position| self.position_of(position))
    }

    /// Where a function is declared, and its name in the source.
    pub fn function(&mut self, function: Value) -> (LocationId, String) {
        let Some(node) = function.subprogram() else { return (0, String::new()) };
        let name = self.name_of_function(node);
        let file = self.file_of(node);
        let line = node.line_of_function();
        (self.location(Location { file, line, column: 0, function: name.clone(), inlined_at: 0 }), name)
    }

    /// The whole path of the file that a function is in.
    pub fn path_of(&self, function: Value) -> PathBuf {
        let file = function.subprogram().and_then(|node| node.file_of_scope());
        file.map_or_else(PathBuf::new, |(name, folder)| Path::new(&self.directory).join(folder).join(name))
    }

    fn position_of(&mut self, position: Metadata) -> LocationId {
        if let Some(known) = self.known_positions.get(&position) {
            return *known;
        }
        let scope = position.scope_of_position();
        let location = Location {
            file: self.file_of(scope),
            line: position.line(),
            column: position.column(),
            function: self
                .context
                .function_of_scope(scope)
                .map_or_else(String::new, |node| self.name_of_function(node)),
            inlined_at: position.inlined_at().map_or(0, |outer| self.position_of(outer)),
        };
        let id = self.location(location);
        self.known_positions.insert(position, id);
        id
    }

    fn location(&mut self, location: Location) -> LocationId {
        let next = LocationId::try_from(self.locations.len()).unwrap_or(0);
        *self.known_locations.entry(location).or_insert_with_key(|location| {
            self.locations.push(location.clone());
            next
        })
    }

    fn name_of_function(&mut self, node: Metadata) -> String {
        let name = || {
            let rust = crate::rust::rust_name(&self.context.symbol_of_function(node));
            rust.unwrap_or_else(|| self.context.qualified_name(node))
        };
        self.known_functions.entry(node).or_insert_with(name).clone()
    }

    fn file_of(&mut self, scope: Metadata) -> u32 {
        scope.file_of_scope().map_or(0, |(name, folder)| self.file(name, folder))
    }

    /// A file by its name, with its folder where that is not the unit's.
    fn file(&mut self, name: String, folder: String) -> u32 {
        let elsewhere = !name.starts_with('/') && !folder.is_empty() && folder != self.directory;
        let name = if elsewhere { format!("{folder}/{name}") } else { name };
        let next = u32::try_from(self.files.len()).unwrap_or(0);
        *self.known_files.entry(name).or_insert_with_key(|name| {
            self.files.push(name.clone());
            next
        })
    }
}

/// The variables of the source that the values of a function belong to.
pub fn names_of_values(context: &Context, function: Value) -> HashMap<Value, String> {
    let mut names = HashMap::new();
    for instruction in function.blocks().into_iter().flat_map(|block| block.instructions()) {
        for (value, variable) in instruction.named_values() {
            names.entry(value).or_insert_with(|| context.variable_name(variable));
        }
    }
    names
}
