//! The loop of section 4: repair what fails, look again with the repair in force, until nothing fails.
//!
//! What fails with a repair in force is a run of the program without it as well. So each round repairs all failing traces seen so
//! far, and no repair comes back that let one of them through. The passing traces that rank repairs are those of the program as it is:
//! with a repair in force there are none that it forbids.

use crate::eliminators::Limits;
use crate::rank::{Repairs, repairs};
use crate::section::Repair;
use foretrace_trace::Trace;

/// What was seen of a program, with some sections kept whole.
#[derive(Default)]
pub struct Seen {
    /// Traces of runs that fail, as many as are to be repaired at a time.
    pub failing: Vec<Trace>,
    /// Traces of runs that pass.
    pub passing: Vec<Trace>,
    /// Whether all runs were looked at.
    pub complete: bool,
    /// Whether any run passes, kept or not.
    pub some_pass: bool,
}

/// A round of the loop.
pub struct Round<'a> {
    /// The sections that were kept whole.
    pub sections: &'a Repair,
    /// The repairs of what failed then and before; nothing where nothing failed.
    pub repairs: Option<&'a Repairs>,
    /// How many passing traces ranked them.
    pub ranked_by: usize,
}

/// How the loop ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RoundsEnd {
    /// Nothing fails with the last sections kept whole.
    Repaired,
    /// Nothing failed, but not all runs were looked at; or the limit was reached before a repair was found.
    Open,
    /// Something fails that has the conflicts and the order of operations that run one after the other, so that no section breaks a cycle of it.
    NoSection,
    /// Every repair was tried, and something fails with each: the program cannot keep these sections whole, or no run passes with them.
    NotEnforced,
}

/// Repairs a program. `look` runs it with sections kept whole, `each` hears of every round. Gives the last sections and how it ended.
pub fn rounds<E>(
    look: &mut dyn FnMut(&Repair) -> Result<Seen, E>,
    limits: Limits<'_>,
    each: &mut dyn FnMut(Round<'_>),
) -> Result<(Repair, RoundsEnd), E> {
    let mut sections = Repair::new();
    let mut tried: Vec<Repair> = vec![Repair::new()];
    let mut failing: Vec<Trace> = Vec::new();
    let mut passing: Option<Vec<Trace>> = None;
    loop {
        let seen = look(&sections)?;
        let fails = !seen.failing.is_empty();
        failing.extend(seen.failing);
        let passing = passing.get_or_insert(seen.passing);
        if !fails && (seen.some_pass || !seen.complete || sections.is_empty()) {
            each(Round { sections: &sections, repairs: None, ranked_by: passing.len() });
            return Ok((sections, if seen.complete { RoundsEnd::Repaired } else { RoundsEnd::Open }));
        }
        let found = repairs(&failing, passing, None, limits);
        each(Round { sections: &sections, repairs: Some(&found), ranked_by: passing.len() });
        if !found.serializable.is_empty() {
            return Ok((sections, RoundsEnd::NoSection));
        }
        let next = found.ranked.into_iter().map(|ranked| ranked.repair).find(|repair| !tried.contains(repair));
        match next {
            Some(repair) => {
                tried.push(repair.clone());
                sections = repair;
            }
            None if found.complete => return Ok((sections, RoundsEnd::NotEnforced)),
            None => return Ok((sections, RoundsEnd::Open)),
        }
    }
}
