//! Repairs of several traces: the product of theirs, merged and reduced to the optimal ones (section 4.2, Theorem 2).

use crate::section::Repair;
use crate::subsumption::{keep_optimal, subsumes};

/// Keeps the repairs that contain no other, in a fixed order.
pub fn optimal(mut repairs: Vec<Repair>) -> Vec<Repair> {
    repairs.iter_mut().for_each(|repair| {
        repair.sort();
        repair.dedup();
    });
    repairs.sort();
    repairs.dedup();
    keep_optimal(&mut repairs);
    repairs
}

/// The optimal repairs that eliminate what each of two sets of repairs eliminates. Merging keeps the order of
/// containment, so traces can be combined one after the other.
pub fn combine(known: &[Repair], more: &[Repair]) -> Vec<Repair> {
    let mut all = Vec::new();
    for own in known {
        if more.iter().any(|other| subsumes(own, other)) {
            all.push(own.clone()); // it eliminates both as it is
            continue;
        }
        all.extend(more.iter().map(|other| merged(own.iter().chain(other).cloned().collect())));
    }
    optimal(all)
}

/// The smallest sections that cover all of these: those that overlap become one, since code has no blocks that overlap.
pub(crate) fn merged(sections: Repair) -> Repair {
    let mut all: Repair = Vec::new();
    for mut section in sections {
        // What grows may overlap more.
        while let Some(other) = all.iter().position(|other| other.overlaps(&section)) {
            section.absorb(&all.swap_remove(other));
        }
        all.push(section);
    }
    all.sort();
    all
}

/// Leaves out sections without which the others do: a function that a section calls needs none of its own for what it does there.
pub(crate) fn drop_covered(repair: &mut Repair, do_alone: impl Fn(&Repair) -> bool) {
    let mut sections = repair.clone();
    sections.sort_by_key(|section| (section.length(), section.clone()));
    for section in sections {
        if repair.len() > 1 {
            let rest: Repair = repair.iter().filter(|other| **other != section).cloned().collect();
            if do_alone(&rest) {
                *repair = rest;
            }
        }
    }
}
