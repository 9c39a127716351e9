//! Variables and types of the source as DWARF has them: which member of a variable lies at an address.

use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// A type, by its place in the debugging information of all modules.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct TypeRef {
    pub module: usize,
    pub offset: usize,
}

/// A part of a struct, class or union.
#[derive(Clone, Debug)]
pub(super) struct Member {
    /// Empty for a base class and what has no name.
    pub name: String,
    pub offset: u64,
    pub ty: Option<TypeRef>,
}

/// What names need of a type.
#[derive(Clone, Debug)]
pub(super) enum Shape {
    /// A number.
    Scalar,
    /// A pointer or reference to this.
    Pointer(Option<TypeRef>),
    /// A struct, class or union.
    Record(Vec<Member>),
    /// So many elements in each dimension, 0 where that is not known.
    Array(Option<TypeRef>, Vec<u64>),
    /// Another name, or a qualifier.
    Alias(Option<TypeRef>),
}

/// A type.
#[derive(Clone, Debug)]
pub(super) struct Type {
    pub name: String,
    /// In bytes, where DWARF says it.
    pub size: Option<u64>,
    pub shape: Shape,
    /// Whether it is declared in namespace `std`.
    pub is_library: bool,
    pub holds: Holds,
}

/// What more is known of a type: of a number what it stands for, of a pointer or another name what it allows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Holds {
    #[default]
    Other,
    Signed,
    Unsigned,
    Truth,
    Constant,
    Reference,
    RvalueReference,
}

/// A static variable.
#[derive(Clone, Debug)]
pub(super) struct Variable {
    pub name: String,
    pub ty: Option<TypeRef>,
}

/// What DWARF says of all modules.
#[derive(Default)]
pub(crate) struct Types {
    pub(super) types: FxHashMap<TypeRef, Type>,
    /// By address in the process.
    pub(super) variables: BTreeMap<u64, Variable>,
    /// By symbol of the function and name, the types of its variables of that name: each block of a function has its own. Of the code of
    /// functions that the compiler put in only a name counts that the function has not.
    pub(super) locals: FxHashMap<(String, String), Vec<TypeRef>>,
    /// By symbol of the function, what it gives back; nothing inside where it gives nothing back.
    pub(super) returns: FxHashMap<String, Option<TypeRef>>,
}

/// What is to be named.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Wanted {
    /// So many bytes of memory.
    Bytes(u64),
    /// A synchronisation object: not what is inside of the library's own types.
    Object,
}

/// The way to a member.
struct Path {
    text: String,
    /// How far the offset is into it.
    rest: u64,
    /// Its size.
    size: u64,
}

/// How deep types may be inside each other; damaged debugging information could go on for ever.
pub(super) const DEEPEST: u32 = 64;

impl Types {
    /// The name of the static memory at an address.
    pub(super) fn variable(&self, address: u64, wanted: Wanted) -> Option<String> {
        let (start, variable) = self.variables.range(..=address).next_back()?;
        let offset = address - start;
        let size = variable.ty.map_or(1, |ty| self.size(ty, DEEPEST).max(1));
        (offset < size).then(|| {
            let member = variable.ty.map_or(String::new(), |ty| self.member(ty, offset, wanted));
            format!("{}{member}", variable.name)
        })
    }

    /// `.member[3]` of a local variable.
    pub(super) fn member_of_local(
        &self,
        function: &str,
        variable: &str,
        offset: u64,
        wanted: Wanted,
    ) -> Option<String> {
        let ty = self.local(function, variable)?;
        Some(self.member(ty, offset, wanted))
    }

    /// The type of a local variable or parameter; none where the function has several variables of that name with other types.
    pub(super) fn local(&self, function: &str, variable: &str) -> Option<TypeRef> {
        if variable.is_empty() {
            return None;
        }
        let all = self.locals.get(&(function.to_string(), variable.to_string()))?;
        let (first, others) = all.split_first()?;
        others.iter().all(|other| self.is_same(Some(*first), Some(*other), DEEPEST)).then_some(*first)
    }

    /// Whether two types are one in the source, by whatever name: each unit of a program describes a type again.
    fn is_same(&self, one: Option<TypeRef>, other: Option<TypeRef>, depth: u32) -> bool {
        let (Some(one), Some(other)) = (one, other) else { return one == other };
        let (Some(a), Some(b)) = (self.types.get(&one), self.types.get(&other)) else { return one == other };
        if one == other || depth == 0 {
            return true;
        }
        match (&a.shape, &b.shape) {
            (Shape::Alias(a), _) => self.is_same(*a, Some(other), depth - 1),
            (_, Shape::Alias(b)) => self.is_same(Some(one), *b, depth - 1),
            (Shape::Pointer(a), Shape::Pointer(b)) => self.is_same(*a, *b, depth - 1),
            (Shape::Array(a, counts), Shape::Array(b, others)) => counts == others && self.is_same(*a, *b, depth - 1),
            (Shape::Scalar, Shape::Scalar) | (Shape::Record(_), Shape::Record(_)) => {
                (&a.name, a.size) == (&b.name, b.size)
            }
            _ => false,
        }
    }

    /// `.member[3]` of a type.
    pub(super) fn member(&self, ty: TypeRef, offset: u64, wanted: Wanted) -> String {
        let Path { text, rest, .. } = self.path(ty, offset, wanted, DEEPEST);
        if rest == 0 || wanted == Wanted::Object && !text.is_empty() { text } else { format!("{text}+{rest}") }
    }

    /// The path to the innermost member at an offset.
    fn path(&self, ty: TypeRef, offset: u64, wanted: Wanted, depth: u32) -> Path {
        let here = Path { text: String::new(), rest: offset, size: self.size(ty, depth) };
        let Some(described) = self.types.get(&ty).filter(|_| depth > 0) else { return here };
        if wanted == Wanted::Object && is_synchronisation(described) {
            return Path { rest: 0, ..here };
        }
        match &described.shape {
            Shape::Scalar | Shape::Pointer(_) | Shape::Alias(None) | Shape::Array(None, _) => here,
            Shape::Alias(Some(inner)) => self.path(*inner, offset, wanted, depth - 1),
            Shape::Record(members) => {
                let path = self.member_path(members, offset, wanted, depth);
                path.map(|path| without_wrapper(described, path)).unwrap_or(here)
            }
            Shape::Array(Some(element), counts) => self.element_path(*element, counts, offset, wanted, depth),
        }
    }

    /// Of several members in one place the one in which something as large as wanted starts at the offset.
    fn member_path(&self, members: &[Member], offset: u64, wanted: Wanted, depth: u32) -> Option<Path> {
        let candidates = members.iter().filter_map(|member| {
            let ty = member.ty?;
            let into = offset.checked_sub(member.offset).filter(|into| *into < self.size(ty, depth))?;
            let inner = self.path(ty, into, wanted, depth - 1);
            let dot = if member.name.is_empty() { "" } else { "." };
            Some(Path { text: format!("{dot}{}{}", member.name, inner.text), ..inner })
        });
        let misses = |path: &Path| match wanted {
            Wanted::Bytes(size) => path.size.abs_diff(size),
            Wanted::Object => 0,
        };
        candidates.min_by_key(|path| (path.rest, misses(path)))
    }

    fn element_path(&self, element: TypeRef, counts: &[u64], offset: u64, wanted: Wanted, depth: u32) -> Path {
        let size = self.size(element, depth).max(1);
        let (mut index, mut path) = (offset / size, String::new());
        for count in counts.iter().skip(1).rev() {
            path = format!("[{}]{path}", index % count.max(&1));
            index /= count.max(&1);
        }
        let inner = self.path(element, offset % size, wanted, depth - 1);
        Path { text: format!("[{index}]{path}{}", inner.text), ..inner }
    }

    pub(super) fn size(&self, ty: TypeRef, depth: u32) -> u64 {
        let Some(described) = self.types.get(&ty).filter(|_| depth > 0) else { return 0 };
        match (described.size, &described.shape) {
            (Some(size), _) => size,
            (None, Shape::Alias(Some(inner))) => self.size(*inner, depth - 1),
            (None, Shape::Array(Some(element), counts)) => {
                counts.iter().fold(self.size(*element, depth - 1), |size, count| size.saturating_mul(*count))
            }
            _ => 0,
        }
    }
}

/// What Rust's library calls what it wraps: a mutex its data, a cell its value, an atomic its cell.
const WRAPPED: [&str; 3] = [".data", ".value", ".v"];

/// The types of which C++'s library makes `std::atomic`. They have one member, whose name the library chose.
const ATOMIC: [&str; 4] = ["atomic<", "__atomic_base<", "__atomic_float<", "__atomic_flag_base"];

/// The path to a member of a wrapper of the library's leads through names that are not in the source.
fn without_wrapper(outer: &Type, path: Path) -> Path {
    if outer.is_library && ATOMIC.iter().any(|name| outer.name.starts_with(name)) && path.text.starts_with("._M_") {
        let rest = path.text[1..].find(['.', '[']).map_or("", |end| &path.text[1 + end..]);
        return Path { text: rest.to_string(), ..path };
    }
    let wrapped = WRAPPED.iter().filter(|_| outer.is_library).find_map(|name| path.text.strip_prefix(name));
    let text = wrapped.filter(|rest| rest.is_empty() || rest.starts_with(['.', '['])).map(str::to_string);
    Path { text: text.unwrap_or(path.text), ..path }
}

/// Whether it is one of the library's synchronisation objects, whose inside is not shown.
fn is_synchronisation(ty: &Type) -> bool {
    let posix = ["pthread_", "sem_t", "mtx_t", "cnd_t", "once_flag"];
    ty.is_library || posix.iter().any(|prefix| ty.name.starts_with(prefix))
}

/// `name+8` of the bytes in the middle of something.
pub(super) fn with_offset(name: &str, offset: u64) -> String {
    if offset == 0 { name.to_string() } else { format!("{name}+{offset}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(offset: usize) -> TypeRef {
        TypeRef { module: 0, offset }
    }

    fn types() -> Types {
        let mut types = Types::default();
        let mut add = |offset, name: &str, size, shape| {
            types
                .types
                .insert(at(offset), Type { name: name.into(), size, shape, is_library: false, holds: Holds::Other });
        };
        let member = |name: &str, offset, ty| Member { name: name.into(), offset, ty: Some(at(ty)) };
        add(1, "long", Some(8), Shape::Scalar);
        add(2, "int", Some(4), Shape::Scalar);
        add(3, "pair", Some(16), Shape::Record(vec![member("a", 0, 1), member("b", 8, 2)]));
        add(4, "", None, Shape::Array(Some(at(3)), vec![2, 3]));
        add(5, "either", Some(8), Shape::Record(vec![member("whole", 0, 1), member("halves", 0, 6)]));
        add(6, "", None, Shape::Array(Some(at(2)), vec![2]));
        add(7, "pthread_mutex_t", None, Shape::Alias(Some(at(5))));
        add(8, "locked", Some(16), Shape::Record(vec![member("lock", 0, 7), member("value", 8, 1)]));
        types.variables.insert(0x1000, Variable { name: "table".into(), ty: Some(at(4)) });
        types.variables.insert(0x2000, Variable { name: "u".into(), ty: Some(at(5)) });
        types.variables.insert(0x3000, Variable { name: "l".into(), ty: Some(at(8)) });
        types
    }

    #[test]
    fn members_of_members() {
        let types = types();
        let name = |address| types.variable(address, Wanted::Bytes(8));
        assert_eq!(name(0x1000).as_deref(), Some("table[0][0].a"));
        assert_eq!(name(0x1000 + 4 * 16 + 8).as_deref(), Some("table[1][1].b"));
        assert_eq!(name(0x1002).as_deref(), Some("table[0][0].a+2"));
        assert_eq!(name(0x1000 + 6 * 16), None);
        assert_eq!(name(0x2000).as_deref(), Some("u.whole"));
        assert_eq!(name(0x2004).as_deref(), Some("u.halves[1]"));
        assert_eq!(types.variable(0x2000, Wanted::Bytes(4)).as_deref(), Some("u.halves[0]"));
    }

    #[test]
    fn an_atomic_of_cxx_has_the_name_of_its_variable() {
        let mut types = types();
        let member = |name: &str, ty| Member { name: name.into(), offset: 0, ty: Some(at(ty)) };
        let mut add = |offset, name: &str, is_library, members| {
            let shape = Shape::Record(members);
            let ty = Type { name: name.into(), size: Some(16), shape, is_library, holds: Holds::Other };
            types.types.insert(at(offset), ty);
        };
        add(20, "__atomic_base<long>", true, vec![member("_M_i", 1)]);
        add(21, "atomic<long>", true, vec![member("", 20)]);
        add(22, "atomic<pair>", true, vec![member("_M_i", 3)]);
        add(23, "atomic<mine>", false, vec![member("_M_i", 1)]);
        for (address, ty) in [(0x5000, 21), (0x6000, 22), (0x7000, 23)] {
            types.variables.insert(address, Variable { name: "a".into(), ty: Some(at(ty)) });
        }
        let name = |address| types.variable(address, Wanted::Bytes(8));
        assert_eq!(name(0x5000).as_deref(), Some("a"));
        assert_eq!(name(0x6008).as_deref(), Some("a.b"));
        assert_eq!(name(0x7000).as_deref(), Some("a._M_i"), "a type of the program's own keeps its members");
    }

    #[test]
    fn locks_have_no_insides() {
        let types = types();
        assert_eq!(types.variable(0x3000, Wanted::Object).as_deref(), Some("l.lock"));
        assert_eq!(types.variable(0x3000, Wanted::Bytes(8)).as_deref(), Some("l.lock.whole"));
        assert_eq!(types.variable(0x3008, Wanted::Object).as_deref(), Some("l.value"));
    }
}
