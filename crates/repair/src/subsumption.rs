//! Which sets contain which (Definition 2), for anything whose parts contain each other.

/// Something that can contain another of its kind.
pub(crate) trait Contains {
    /// Whether all of `other` is in it.
    fn contains(&self, other: &Self) -> bool;
}

/// Whether a repair is at least as large as another: each part of the other is in one of its parts.
pub(crate) fn subsumes<T: Contains>(large: &[T], small: &[T]) -> bool {
    small.iter().all(|small| large.iter().any(|large| large.contains(small)))
}

/// Keeps the sets that subsume no other. Of equal ones the first is kept.
pub(crate) fn keep_optimal<T: Contains>(all: &mut Vec<Vec<T>>) {
    all.sort_by_key(Vec::len); // stable; most small repairs have few parts
    let mut kept: Vec<Vec<T>> = Vec::new();
    for candidate in all.drain(..) {
        if kept.iter().any(|kept| subsumes(&candidate, kept)) {
            continue;
        }
        kept.retain(|kept| !subsumes(kept, &candidate));
        kept.push(candidate);
    }
    *all = kept;
}
