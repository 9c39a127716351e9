//! Matches the lines of a text with those of an edited version.

use similar::{Algorithm, DiffOp, capture_diff_slices};

/// The lines of a text that was edited, each with where it is now.
pub struct Lines {
    /// Per old line the new one, both from 0.
    now: Vec<Option<usize>>,
    old: Vec<String>,
    new: Vec<String>,
}

impl Lines {
    /// Compares two texts. Lines count as the same where they differ in their indentation alone.
    pub fn between(old: &str, new: &str) -> Lines {
        let split = |text: &str| text.lines().map(str::to_string).collect::<Vec<String>>();
        let (old, new) = (split(old), split(new));
        let trim = |lines: &[String]| lines.iter().map(|line| line.trim().to_string()).collect::<Vec<String>>();
        let mut now = vec![None; old.len()];
        for op in capture_diff_slices(Algorithm::Patience, &trim(&old), &trim(&new)) {
            if let DiffOp::Equal { old_index, new_index, len } = op {
                (0..len).for_each(|offset| now[old_index + offset] = Some(new_index + offset));
            }
        }
        Lines { now, old, new }
    }

    /// Where a position is now, line and column from 1; nothing where its line was changed or removed.
    pub fn position(&self, line: u32, column: u32) -> Option<(u32, u32)> {
        let index = (line as usize).checked_sub(1)?;
        let new = (*self.now.get(index)?)?;
        let shift = indentation(&self.new[new]) as i64 - indentation(&self.old[index]) as i64;
        let column = if column == 0 { 0 } else { u32::try_from(i64::from(column) + shift).ok()? };
        Some((u32::try_from(new).ok()? + 1, column))
    }

    /// The new lines that stand where a line was that is gone, first and last, from 1; the last is below the first if there are none.
    pub fn gap(&self, line: u32) -> (u32, u32) {
        let index = (line as usize).saturating_sub(1).min(self.now.len());
        let before = self.now[..index].iter().rev().find_map(|new| *new).map_or(0, |new| new + 1);
        let after = self.now[index..].iter().find_map(|new| *new).unwrap_or(self.new.len());
        (before as u32 + 1, after as u32)
    }
}

fn indentation(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = "int n;\nvoid f(void)\n{\n    n++;\n    n--;\n}\n";

    #[test]
    fn lines_are_found_below_inserted_and_above_removed_ones() {
        let new = "// a comment\n\nint n;\nvoid f(void)\n{\n    if (n)\n        n++;\n}\n";
        let lines = Lines::between(OLD, new);
        assert_eq!(lines.position(1, 5), Some((3, 5)));
        assert_eq!(lines.position(4, 6), Some((7, 10)), "it was indented");
        assert_eq!(lines.position(5, 6), None, "it was removed");
        assert_eq!(lines.position(6, 1), Some((8, 1)));
        assert_eq!((lines.position(0, 0), lines.position(60, 1)), (None, None));
    }

    #[test]
    fn a_changed_line_leaves_a_gap() {
        let new = OLD.replace("n++;", "n += 1;");
        let lines = Lines::between(OLD, &new);
        assert_eq!((lines.position(4, 5), lines.gap(4)), (None, (4, 4)));
        let without = OLD.replace("    n++;\n", "");
        assert_eq!(Lines::between(OLD, &without).gap(4), (4, 3), "nothing stands there");
        assert_eq!(Lines::between(OLD, "").gap(4), (1, 0));
    }
}
