//! A file's text with changes put in as insertions: nothing of the original text is moved or printed again.

use std::ops::Range;

/// Text around a piece of the original, for some changes.
#[derive(Debug)]
pub struct Wrap {
    /// The bytes of the original that it is around. If there are none, only what comes before is put in.
    pub around: Range<usize>,
    /// What comes before: pieces of text, each with the change that it is for, if it is for one.
    pub before: Vec<(String, Option<u32>)>,
    /// What comes after.
    pub after: String,
    /// All changes that it is for.
    pub changes: Vec<u32>,
}

/// Where a change is in the new text.
#[derive(Debug)]
pub struct Region {
    /// Its bytes.
    pub bytes: Range<usize>,
    /// The changes that an error there is due to.
    pub changes: Vec<u32>,
}

/// The text with all wraps put in, outer ones before inner ones, and where each is.
pub fn rewrite(text: &str, wraps: &[Wrap]) -> (String, Vec<Region>) {
    let mut places: Vec<(usize, bool, usize)> = Vec::new();
    for (nth, wrap) in wraps.iter().enumerate() {
        places.push((wrap.around.start, true, nth));
        if !wrap.around.is_empty() {
            places.push((wrap.around.end, false, nth));
        }
    }
    // At one place inner ends come first, then outer ends, outer beginnings, inner beginnings.
    places.sort_by_key(|&(at, begins, nth)| (at, begins, if begins { nth } else { usize::MAX - nth }));
    let mut new = String::with_capacity(text.len() * 2);
    let mut regions = Vec::new();
    let mut starts = vec![0; wraps.len()];
    let mut copied = 0;
    for (at, begins, nth) in places {
        new.push_str(&text[copied..at]);
        copied = at;
        let wrap = &wraps[nth];
        if begins {
            starts[nth] = new.len();
            for (piece, change) in &wrap.before {
                let start = new.len();
                new.push_str(piece);
                if let Some(change) = change {
                    regions.push(Region { bytes: start..new.len(), changes: vec![*change] });
                }
            }
        } else {
            new.push_str(&wrap.after);
        }
        if !begins || wrap.around.is_empty() {
            regions.push(Region { bytes: starts[nth]..new.len(), changes: wrap.changes.clone() });
        }
    }
    new.push_str(&text[copied..]);
    (new, regions)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrap(around: Range<usize>, before: &str, after: &str, change: u32) -> Wrap {
        Wrap { around, before: vec![(before.into(), None)], after: after.into(), changes: vec![change] }
    }

    #[test]
    fn wraps_nest() {
        let wraps = [wrap(0..5, "(", ")", 1), wrap(0..1, "[", "]", 2), wrap(4..5, "{", "}", 3), wrap(1..1, "!", "", 4)];
        let (new, regions) = rewrite("a + b;", &wraps);
        assert_eq!(new, "([a]! + {b});");
        let of =
            |change: u32| regions.iter().find(|region| region.changes == [change]).expect("a region").bytes.clone();
        assert_eq!([&new[of(1)], &new[of(2)], &new[of(3)], &new[of(4)]], ["([a]! + {b})", "[a]", "{b}", "!"]);
    }
}
