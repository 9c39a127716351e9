//! The files that a recorded process was made of, as it had them loaded, and checks that they are still the same.

use super::symbols::Symbols;
use crate::error::WalkError;
use memmap2::Mmap;
use object::{Object, ObjectSection, ObjectSegment, ObjectSymbol};
use std::borrow::Cow;
use std::fs::File;
use std::path::{Path, PathBuf};

/// A line of `modules`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mapping {
    pub bias: u64,
    pub end: u64,
    pub build_id: Option<String>,
    pub path: PathBuf,
}

/// Reads the list of what was loaded; of several lines about one file at one place the last counts.
pub(crate) fn read_mappings(list: &Path) -> Result<Vec<Mapping>, WalkError> {
    let text = std::fs::read_to_string(list).map_err(|error| WalkError::io(list, error))?;
    let mut mappings: Vec<Mapping> = Vec::new();
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let mapping = parse_mapping(line).ok_or_else(|| WalkError::Description {
            path: list.to_path_buf(),
            what: format!("line {number}: found `{line}`, expected a load bias, an end, a build id and a path"),
        })?;
        mappings.retain(|other| (other.bias, &other.path) != (mapping.bias, &mapping.path));
        mappings.push(mapping);
    }
    Ok(mappings)
}

fn parse_mapping(line: &str) -> Option<Mapping> {
    let mut fields = line.splitn(4, ' ');
    let mut number = || {
        let field = fields.next()?;
        u64::from_str_radix(field.trim_start_matches("0x"), 16).ok()
    };
    let (bias, end) = (number()?, number()?);
    let build_id = Some(fields.next()?).filter(|id| *id != "-").map(str::to_string);
    Some(Mapping { bias, end, build_id, path: fields.next()?.into() })
}

/// A loaded file that we can read.
pub(crate) struct Module {
    pub path: PathBuf,
    /// What is added to the file's addresses.
    pub bias: u64,
    bytes: Mmap,
    /// Loaded parts: address in memory, offset in the file, bytes.
    segments: Vec<(u64, usize, usize)>,
    pub symbols: Symbols,
}

impl Module {
    /// Opens what was mapped; nothing if there is no such file (the kernel's own).
    pub fn open(mapping: &Mapping) -> Result<Option<Module>, WalkError> {
        let Ok(file) = File::open(&mapping.path) else { return Ok(None) };
        #[allow(unsafe_code, reason = "the only way to map a file")]
        let bytes = unsafe { Mmap::map(&file) }.map_err(|error| WalkError::io(&mapping.path, error))?;
        let mut module = Module {
            path: mapping.path.clone(),
            bias: mapping.bias,
            bytes,
            segments: Vec::new(),
            symbols: Symbols::default(),
        };
        let (segments, found) = {
            let object = module.object()?;
            (segments(&object, mapping.bias), object.build_id().ok().flatten().map(hex))
        };
        module.segments = segments;
        match (&mapping.build_id, found) {
            (Some(expected), found) if Some(expected) != found.as_ref() => Err(WalkError::Changed {
                path: mapping.path.clone(),
                found: found.unwrap_or_else(|| "none".into()),
                expected: expected.clone(),
            }),
            _ => Ok(Some(module)),
        }
    }

    /// The file as an object.
    pub fn object(&self) -> Result<object::File<'_>, WalkError> {
        let failed = |error| WalkError::Object { path: self.path.clone(), error };
        object::File::parse(&*self.bytes).map_err(failed)
    }

    /// A section's content.
    pub fn section(&self, name: &str) -> Result<Option<Cow<'_, [u8]>>, WalkError> {
        let failed = |error| WalkError::Object { path: self.path.clone(), error };
        match self.object()?.section_by_name(name) {
            Some(section) => section.uncompressed_data().map(Some).map_err(failed),
            None => Ok(None),
        }
    }

    /// Whether it may hold code with gcc's hooks.
    pub fn is_concrete(&self) -> Result<bool, WalkError> {
        let mark = |symbol: object::Symbol<'_, '_>| symbol.name() == Ok(foretrace_instrument::CONCRETE);
        Ok(self.object()?.dynamic_symbols().any(mark))
    }

    /// Whether this address of the process is in its file.
    pub fn holds(&self, address: u64) -> bool {
        self.image(address).is_some()
    }

    pub fn read_symbols(&mut self) -> Result<(), WalkError> {
        let symbols = Symbols::read(&self.object()?, self.bias);
        self.symbols = symbols;
        Ok(())
    }

    /// What the file has at this address of the process: memory as it was at the start.
    pub fn image(&self, address: u64) -> Option<&[u8]> {
        let (start, offset, size) = self
            .segments
            .iter()
            .find(|(start, _, size)| address.checked_sub(*start).is_some_and(|into| (into as usize) < *size))?;
        let into = (address - start) as usize;
        self.bytes.get(offset + into..offset + size)
    }
}

fn segments(object: &object::File<'_>, bias: u64) -> Vec<(u64, usize, usize)> {
    let part = |segment: object::Segment<'_, '_>| {
        let (offset, size) = segment.file_range();
        (segment.address().wrapping_add(bias), offset as usize, size as usize)
    };
    object.segments().map(part).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapping_may_have_blanks_in_its_path() {
        let mapping = parse_mapping("555555554000 555555560000 0a1b /tmp/a b").unwrap();
        let expected = Mapping {
            bias: 0x5555_5555_4000,
            end: 0x5555_5556_0000,
            build_id: Some("0a1b".into()),
            path: "/tmp/a b".into(),
        };
        assert_eq!(mapping, expected);
        assert_eq!(parse_mapping("0 0 - x").unwrap().build_id, None);
        assert_eq!(parse_mapping("zz 0 - x"), None);
    }
}
