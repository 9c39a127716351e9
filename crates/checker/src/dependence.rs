//! When two accesses to one variable depend on each other, given the values of the prefix that they are in: the one definition that
//! checker, oracle and the weights of block violations share.

use foretrace_trace::Pattern;

/// What a variable held just before an access and right after it: a read returns `before`, a write leaves `after`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Access<V> {
    /// What was there.
    pub before: V,
    /// What is there then.
    pub after: V,
}

/// Guarded dependence (Fusion, Definition 2, rules 4a and 4b) of two accesses that happen in this order, each taken
/// as a write or as a read.
pub fn guarded_dependent<V: PartialEq>(
    (earlier, earlier_writes): (&Access<V>, bool),
    (later, later_writes): (&Access<V>, bool),
) -> bool {
    match (earlier_writes, later_writes) {
        (false, true) => earlier.before != later.after,
        (true, false) => earlier.after != earlier.before,
        (true, true) => earlier.after != later.after,
        (false, false) => false,
    }
}

/// Whether first and remote are guarded dependent.
pub(crate) fn first_depends<V: PartialEq>(pattern: Pattern, first: &Access<V>, remote: &Access<V>) -> bool {
    let [first_writes, remote_writes, _] = pattern.writes();
    guarded_dependent((first, first_writes), (remote, remote_writes))
}

/// Whether remote and second are guarded dependent.
pub(crate) fn second_depends<V: PartialEq>(pattern: Pattern, remote: &Access<V>, second: &Access<V>) -> bool {
    let [_, remote_writes, second_writes] = pattern.writes();
    guarded_dependent((remote, remote_writes), (second, second_writes))
}
