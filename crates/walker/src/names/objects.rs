//! Which objects lie in allocated memory, found out by the pointers with which functions came to it.

use super::pointed::{Inner, Pointed};
use super::types::{DEEPEST, Shape, TypeRef, Types, Wanted};
use crate::program::Function;
use crate::regions::RegionId;
use rustc_hash::{FxHashMap, FxHashSet};

/// An access, by its function, its instruction, the function that called that one, and where in which region it was.
type Sight = (u32, u32, u32, RegionId, u64);

/// The objects in all regions.
#[derive(Default)]
pub(super) struct Objects {
    /// In each region what starts where, in the order in which it was seen.
    seen: FxHashMap<RegionId, Vec<(u64, TypeRef)>>,
    sights: FxHashSet<Sight>,
    accessed: FxHashMap<(u32, u32), Option<Pointed>>,
    parameters: FxHashMap<(u32, u32), Option<TypeRef>>,
}

impl Objects {
    /// Whether an access is the first of its kind, from which there is something to learn.
    pub fn is_new(&mut self, sight: Sight) -> bool {
        self.sights.insert(sight)
    }

    /// An instruction of a function accesses a region at an offset.
    pub fn learn_access(
        &mut self,
        types: &Types,
        (number, function): (u32, &Function),
        instruction: u32,
        (region, offset): (RegionId, u64),
    ) {
        let is_named = |pointed: &Pointed| types.holds_record(pointed.ty);
        let find = || types.accessed(function, instruction as usize).filter(is_named);
        let pointed = *self.accessed.entry((number, instruction)).or_insert_with(find);
        if let Some(Pointed { ty, offset: into }) = pointed
            && let Some(start) = offset.checked_sub(into)
        {
            self.learn(region, (start, ty));
        }
    }

    /// A parameter of a function points into a region.
    pub fn learn_parameter(
        &mut self,
        types: &Types,
        (number, function): (u32, &Function),
        parameter: u32,
        (region, offset): (RegionId, u64),
    ) {
        let find = || types.of_parameter(function, parameter as usize).filter(|ty| types.holds_record(*ty));
        if let Some(ty) = *self.parameters.entry((number, parameter)).or_insert_with(find) {
            self.learn(region, (offset, ty));
        }
    }

    fn learn(&mut self, region: RegionId, object: (u64, TypeRef)) {
        let seen = self.seen.entry(region).or_default();
        if !seen.contains(&object) {
            seen.push(object);
        }
    }

    /// What lies at an offset of a region: the name of the object's type, with its index where there are several, and the member.
    pub fn name(&self, types: &Types, region: RegionId, offset: u64, wanted: Wanted) -> Option<(String, String)> {
        let seen = self.seen.get(&region)?;
        let covers = |(start, ty): &&(u64, TypeRef)| {
            offset.checked_sub(*start).is_some_and(|into| into < types.size(*ty, DEEPEST))
        };
        let mut around: Vec<_> = seen.iter().filter(covers).copied().collect();
        around.sort_by_key(|(start, ty)| (std::cmp::Reverse(types.size(*ty, DEEPEST)), *start));
        let place = |(start, ty): (u64, TypeRef)| Pointed { ty, offset: offset - start };
        let own = |object| {
            let find = |inner: Inner<'_>| Some((inner.ty, types.own_name(inner.ty, inner.shape)?));
            Some((object, types.inside(place(object), &find)?))
        };
        let any = |object| {
            let find = |inner: Inner<'_>| Some((inner.ty, types.name_of(inner.ty)?));
            Some((object, types.inside(place(object), &find)?))
        };
        let named = around.iter().copied().find_map(own).or_else(|| around.iter().copied().find_map(any));
        let ((start, ty), ((inner, name), into)) = named?;
        let member = types.member(inner, into, wanted);
        let first = seen.iter().filter(|(_, other)| *other == ty).map(|(start, _)| *start).min().unwrap_or(start);
        match (start - first) / types.size(ty, DEEPEST).max(1) {
            0 => Some((name, member)),
            index => Some((name, format!("[{index}]{member}"))),
        }
    }
}

impl Types {
    /// Whether a struct, class or union lies at the start of a type.
    fn holds_record(&self, ty: TypeRef) -> bool {
        let is_record = |inner: Inner<'_>| matches!(inner.shape, Shape::Record(_)).then_some(());
        self.inside(Pointed { ty, offset: 0 }, &is_record).is_some()
    }

    /// The name of a struct, class or union of the program's own, or of another name of it.
    fn own_name(&self, ty: TypeRef, shape: &Shape) -> Option<String> {
        let record = match shape {
            Shape::Alias(_) => self.behind(ty),
            _ => ty,
        };
        let described = self.types.get(&record)?;
        let is_own = matches!(described.shape, Shape::Record(_)) && !described.is_library;
        self.name_of(ty).filter(|_| is_own)
    }

    /// The name of a type, without the namespaces and with few of its arguments.
    fn name_of(&self, ty: TypeRef) -> Option<String> {
        self.types.get(&ty).map(|described| folded(&described.name)).filter(|name| !name.is_empty())
    }

    /// What a type is another name of.
    fn behind(&self, mut ty: TypeRef) -> TypeRef {
        for _ in 0..DEEPEST {
            match self.types.get(&ty).map(|described| &described.shape) {
                Some(Shape::Alias(Some(inner))) => ty = *inner,
                _ => break,
            }
        }
        ty
    }
}

/// Names longer than this lose what stands in angle brackets.
const LONGEST_NAME: usize = 40;

/// `Inner<Account>` of `alloc::sync::Inner<bank::Account>`.
fn folded(name: &str) -> String {
    let mut short = String::new();
    let mut word = String::new();
    let mut letters = name.chars().peekable();
    while let Some(letter) = letters.next() {
        if letter == ':' && letters.peek() == Some(&':') {
            letters.next();
            word.clear();
        } else if letter.is_alphanumeric() || letter == '_' {
            word.push(letter);
        } else {
            short.push_str(&std::mem::take(&mut word));
            short.push(letter);
        }
    }
    short.push_str(&word);
    match short.find('<') {
        Some(start) if short.chars().count() > LONGEST_NAME => format!("{}<..>", &short[..start]),
        _ => short,
    }
}

#[cfg(test)]
mod tests {
    use super::folded;

    #[test]
    fn names_lose_namespaces_and_long_arguments() {
        assert_eq!(folded("alloc::sync::ArcInner<std::sync::Mutex<bank::Account>>"), "ArcInner<Mutex<Account>>");
        assert_eq!(folded("pool"), "pool");
        let long = "std::_Rb_tree_node<std::pair<const std::string, std::unique_ptr<bank::Account>>>";
        assert_eq!(folded(long), "_Rb_tree_node<..>");
        assert_eq!(folded("{closure_env#0}"), "{closure_env#0}");
    }
}
