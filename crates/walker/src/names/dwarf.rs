//! Reads variables and types out of the debugging information of a module.

use super::types::{Holds, Member, Shape, Type, TypeRef, Types, Variable};
use crate::program::demangle;
use gimli::constants as c;
use gimli::{AttributeValue, DebuggingInformationEntry, Dwarf, EndianArcSlice, Operation, RunTimeEndian, Unit};
use object::{Object, ObjectSection};
use rustc_hash::FxHashMap;
use std::sync::Arc;

type Reader = EndianArcSlice<RunTimeEndian>;
type Entry = DebuggingInformationEntry<Reader>;

/// Adds what a module has.
pub(super) fn read(types: &mut Types, module: usize, bias: u64, object: &object::File<'_>) -> gimli::Result<()> {
    let section = |id: gimli::SectionId| -> gimli::Result<Reader> {
        let data = object.section_by_name(id.name()).and_then(|section| section.uncompressed_data().ok());
        let bytes: Arc<[u8]> = data.unwrap_or_default().into_owned().into();
        Ok(EndianArcSlice::new(bytes, RunTimeEndian::Little))
    };
    let dwarf = Dwarf::load(section)?;
    let mut units = dwarf.units();
    let (mut seen, mut records) = (FxHashMap::default(), Records::default());
    while let Some(header) = units.next()? {
        let unit = dwarf.unit(header)?;
        let mut reading = Reading {
            types,
            module,
            bias,
            dwarf: &dwarf,
            unit: &unit,
            is_rust: false,
            open: Vec::new(),
            seen: &mut seen,
            records: &mut records,
        };
        let mut entries = unit.entries();
        while let Some(entry) = entries.next_dfs()? {
            reading.entry(entry)?;
        }
    }
    records.complete(types);
    Ok(())
}

/// Structs, classes and unions that have a name outside of their unit. Compilers describe a class only where its constructors are; other
/// units declare it.
#[derive(Default)]
struct Records {
    defined: FxHashMap<String, Vec<TypeRef>>,
    declared: Vec<(String, TypeRef)>,
}

impl Records {
    /// What is only declared is the record that has this name elsewhere, unless records of different sizes have it.
    fn complete(&self, types: &mut Types) {
        for (name, declared) in &self.declared {
            let Some([first, others @ ..]) = self.defined.get(name).map(Vec::as_slice) else { continue };
            let size = |ty: &TypeRef| types.types.get(ty).and_then(|ty| ty.size);
            if others.iter().all(|other| size(other) == size(first))
                && let Some(ty) = types.types.get_mut(declared)
            {
                ty.shape = Shape::Alias(Some(*first));
            }
        }
    }
}

/// An entry that the current one lies in.
enum Around {
    Type(TypeRef),
    Function(String),
    /// Code of another function that the compiler put in.
    Inlined,
    Namespace {
        name: String,
        is_library: bool,
    },
    Other,
}

struct Reading<'a> {
    types: &'a mut Types,
    module: usize,
    bias: u64,
    dwarf: &'a Dwarf<Reader>,
    unit: &'a Unit<Reader>,
    is_rust: bool,
    open: Vec<Around>,
    /// Names and types of declarations, which definitions refer to.
    seen: &'a mut FxHashMap<usize, (String, Option<TypeRef>)>,
    records: &'a mut Records,
}

impl Reading<'_> {
    fn entry(&mut self, entry: &Entry) -> gimli::Result<()> {
        self.open.truncate(entry.depth().max(0) as usize);
        let around = match entry.tag() {
            c::DW_TAG_variable | c::DW_TAG_formal_parameter => self.variable(entry)?,
            c::DW_TAG_subprogram => Around::Function(self.symbol(entry)?),
            c::DW_TAG_inlined_subroutine => Around::Inlined,
            c::DW_TAG_namespace => self.namespace(entry)?,
            c::DW_TAG_compile_unit => self.language(entry),
            c::DW_TAG_member | c::DW_TAG_inheritance => self.member(entry)?,
            c::DW_TAG_subrange_type => self.dimension(entry),
            tag => self.described_type(entry, tag)?,
        };
        self.open.push(around);
        Ok(())
    }

    fn language(&mut self, entry: &Entry) -> Around {
        let language = entry.attr_value(c::DW_AT_language);
        self.is_rust = matches!(language, Some(AttributeValue::Language(c::DW_LANG_Rust)));
        Around::Other
    }

    fn namespace(&self, entry: &Entry) -> gimli::Result<Around> {
        let name = self.name(entry)?;
        Ok(Around::Namespace { is_library: self.is_library(&name), name })
    }

    /// A name with those of the namespaces and types around it, if other units can know it.
    fn path(&self, name: &str) -> Option<String> {
        let outer = self.open.iter().filter_map(|around| match around {
            Around::Namespace { name, .. } => Some(name.as_str()),
            Around::Type(ty) => Some(self.types.types.get(ty).map_or("", |ty| &ty.name)),
            Around::Function(_) | Around::Inlined => Some(""),
            Around::Other => None,
        });
        let all: Vec<&str> = outer.chain([name]).collect();
        (!self.is_rust && all.iter().all(|name| !name.is_empty())).then(|| all.join("::"))
    }

    /// Whether a namespace here is one of the standard library's.
    fn is_library(&self, name: &str) -> bool {
        let outermost = !self.open.iter().any(|around| matches!(around, Around::Namespace { .. }));
        ["std", "__gnu_cxx"].contains(&name)
            || self.in_library()
            || self.is_rust && outermost && ["core", "alloc"].contains(&name)
    }

    fn in_library(&self) -> bool {
        self.open.iter().any(|around| matches!(around, Around::Namespace { is_library: true, .. }))
    }

    fn here(&self, entry: &Entry) -> usize {
        entry.offset().to_debug_info_offset(&self.unit.header).map_or(usize::MAX, |offset| offset.0)
    }

    fn reference(&self, entry: &Entry, attribute: gimli::DwAt) -> Option<usize> {
        match entry.attr_value(attribute)? {
            AttributeValue::UnitRef(offset) => Some(offset.to_debug_info_offset(&self.unit.header)?.0),
            AttributeValue::DebugInfoRef(offset) => Some(offset.0),
            _ => None,
        }
    }

    fn type_of(&self, entry: &Entry) -> Option<TypeRef> {
        let offset = self.reference(entry, c::DW_AT_type)?;
        Some(TypeRef { module: self.module, offset })
    }

    fn text(&self, entry: &Entry, attribute: gimli::DwAt) -> gimli::Result<Option<String>> {
        let Some(value) = entry.attr_value(attribute) else { return Ok(None) };
        let text = self.dwarf.attr_string(self.unit, value)?;
        Ok(Some(String::from_utf8_lossy(&text).into_owned()))
    }

    fn name(&self, entry: &Entry) -> gimli::Result<String> {
        Ok(self.text(entry, c::DW_AT_name)?.unwrap_or_default())
    }

    /// The declaration that an entry completes.
    fn declared(&self, entry: &Entry) -> Option<&(String, Option<TypeRef>)> {
        let offset = self
            .reference(entry, c::DW_AT_specification)
            .or_else(|| self.reference(entry, c::DW_AT_abstract_origin))?;
        self.seen.get(&offset)
    }

    /// The symbol of a function.
    fn symbol(&mut self, entry: &Entry) -> gimli::Result<String> {
        let linkage = self.text(entry, c::DW_AT_linkage_name)?;
        let own = match linkage {
            Some(name) => Some(name),
            None => self.text(entry, c::DW_AT_name)?,
        };
        let declared = self.declared(entry).cloned();
        let ty = self.type_of(entry).or(declared.as_ref().and_then(|(_, ty)| *ty));
        let symbol = own.or(declared.map(|(name, _)| name)).unwrap_or_default();
        self.seen.insert(self.here(entry), (symbol.clone(), ty));
        let returns = self.types.returns.entry(symbol.clone()).or_default();
        *returns = returns.or(ty);
        Ok(symbol)
    }

    fn variable(&mut self, entry: &Entry) -> gimli::Result<Around> {
        let declared = self.declared(entry).cloned();
        let (declared_name, declared_type) = declared.unwrap_or_default();
        let ty = self.type_of(entry).or(declared_type);
        let linkage = self.text(entry, c::DW_AT_linkage_name)?.map(|symbol| demangle(&symbol));
        let plain = self.name(entry)?;
        let name = linkage.or(Some(plain).filter(|name| !name.is_empty())).unwrap_or(declared_name);
        self.seen.insert(self.here(entry), (name.clone(), ty));
        if let Some(address) = self.static_address(entry)? {
            self.types.variables.insert(address.wrapping_add(self.bias), Variable { name, ty });
            return Ok(Around::Other);
        }
        let function = self.open.iter().rev().find_map(|around| match around {
            Around::Function(symbol) => Some(symbol.clone()),
            _ => None,
        });
        if let (Some(function), Some(ty)) = (function, ty) {
            let types = self.types.locals.entry((function, name)).or_default();
            let is_own = !self.open.iter().any(|around| matches!(around, Around::Inlined));
            if types.is_empty() || is_own && !types.contains(&ty) {
                types.push(ty);
            }
        }
        Ok(Around::Other)
    }

    /// The address of a variable that has one all the time.
    fn static_address(&self, entry: &Entry) -> gimli::Result<Option<u64>> {
        let Some(AttributeValue::Exprloc(expression)) = entry.attr_value(c::DW_AT_location) else { return Ok(None) };
        let mut operations = expression.operations(self.unit.encoding());
        let mut address = match operations.next()? {
            Some(Operation::Address { address }) => address,
            Some(Operation::AddressIndex { index }) => self.dwarf.address(self.unit, index)?,
            _ => return Ok(None),
        };
        match operations.next()? {
            None => {}
            Some(Operation::PlusConstant { value }) => address = address.wrapping_add(value),
            Some(_) => return Ok(None),
        }
        Ok(Some(address))
    }

    fn described_type(&mut self, entry: &Entry, tag: gimli::DwTag) -> gimli::Result<Around> {
        let inner = self.type_of(entry);
        let shape = match tag {
            c::DW_TAG_structure_type | c::DW_TAG_class_type | c::DW_TAG_union_type => Shape::Record(Vec::new()),
            c::DW_TAG_array_type => Shape::Array(inner, Vec::new()),
            c::DW_TAG_typedef
            | c::DW_TAG_const_type
            | c::DW_TAG_volatile_type
            | c::DW_TAG_atomic_type
            | c::DW_TAG_restrict_type => Shape::Alias(inner),
            c::DW_TAG_pointer_type | c::DW_TAG_reference_type | c::DW_TAG_rvalue_reference_type => {
                Shape::Pointer(inner)
            }
            c::DW_TAG_base_type | c::DW_TAG_ptr_to_member_type | c::DW_TAG_enumeration_type => Shape::Scalar,
            _ => return Ok(Around::Other),
        };
        let is_pointer = matches!(shape, Shape::Pointer(_));
        let size = number(entry, c::DW_AT_byte_size).or(is_pointer.then_some(8));
        let is_library = self.in_library() && matches!(shape, Shape::Record(_));
        let ty = TypeRef { module: self.module, offset: self.here(entry) };
        let name = self.name(entry)?;
        if matches!(shape, Shape::Record(_))
            && let Some(path) = self.path(&name)
        {
            match entry.attr(c::DW_AT_declaration) {
                Some(_) => self.records.declared.push((path, ty)),
                None => self.records.defined.entry(path).or_default().push(ty),
            }
        }
        self.types.types.insert(ty, Type { name, size, shape, is_library, holds: holds(entry, tag) });
        Ok(Around::Type(ty))
    }

    fn member(&mut self, entry: &Entry) -> gimli::Result<Around> {
        let offset = number(entry, c::DW_AT_data_member_location)
            .or_else(|| number(entry, c::DW_AT_data_bit_offset).map(|bits| bits / 8))
            .unwrap_or(0);
        let is_static = entry.attr(c::DW_AT_external).is_some();
        let base = entry.tag() == c::DW_TAG_inheritance;
        let mut name = if base { String::new() } else { self.name(entry)? };
        if let Some(field) = name.strip_prefix("__").filter(|_| self.is_rust) {
            name = field.to_string(); // `.0` of a tuple
        }
        let ty = self.type_of(entry);
        self.seen.insert(self.here(entry), (name.clone(), ty));
        if let Some(Around::Type(outer)) = self.open.last()
            && let Some(Type { shape: Shape::Record(members), .. }) = self.types.types.get_mut(outer)
            && !is_static
        {
            members.push(Member { name, offset, ty });
        }
        Ok(Around::Other)
    }

    fn dimension(&mut self, entry: &Entry) -> Around {
        let upper = number(entry, c::DW_AT_upper_bound).map(|bound| bound.wrapping_add(1));
        let count = number(entry, c::DW_AT_count).or(upper).unwrap_or(0);
        if let Some(Around::Type(array)) = self.open.last()
            && let Some(Type { shape: Shape::Array(_, counts), .. }) = self.types.types.get_mut(array)
        {
            counts.push(count);
        }
        Around::Other
    }
}

/// What a type holds, by its encoding or by the kind of its entry.
fn holds(entry: &Entry, tag: gimli::DwTag) -> Holds {
    match (tag, entry.attr_value(c::DW_AT_encoding)) {
        (c::DW_TAG_const_type, _) => Holds::Constant,
        (c::DW_TAG_reference_type, _) => Holds::Reference,
        (c::DW_TAG_rvalue_reference_type, _) => Holds::RvalueReference,
        (c::DW_TAG_enumeration_type, _) => Holds::Signed,
        (_, Some(AttributeValue::Encoding(encoding))) => match encoding {
            c::DW_ATE_boolean => Holds::Truth,
            c::DW_ATE_signed | c::DW_ATE_signed_char => Holds::Signed,
            c::DW_ATE_unsigned | c::DW_ATE_unsigned_char | c::DW_ATE_UTF => Holds::Unsigned,
            _ => Holds::Other,
        },
        _ => Holds::Other,
    }
}

fn number(entry: &Entry, attribute: gimli::DwAt) -> Option<u64> {
    entry.attr_value(attribute)?.udata_value()
}
