//! The least part of a set that still makes something happen (Zeller and Hildebrandt, "Simplifying and isolating
//! failure-inducing input", TSE 2002; for schedules Choi and Zeller, "Isolating failure-inducing thread schedules", ISSTA
//! 2002).

/// Takes away from a list as long as `fails` holds of what is left, which it must of the whole list. No single item of the
/// result can be taken away. Stops early where `fails` gives nothing.
pub fn minimize<T: Clone>(all: &[T], mut fails: impl FnMut(&[T]) -> Option<bool>) -> Vec<T> {
    let mut left = all.to_vec();
    let mut parts = 2;
    while !left.is_empty() {
        let size = left.len().div_ceil(parts).max(1);
        let mut smaller = None;
        for part in 0..left.len().div_ceil(size) {
            let rest: Vec<T> =
                left.iter().enumerate().filter(|(at, _)| at / size != part).map(|(_, item)| item.clone()).collect();
            match fails(&rest) {
                None => return left,
                Some(true) => {
                    smaller = Some(rest);
                    break;
                }
                Some(false) => {}
            }
        }
        match smaller {
            Some(rest) => {
                left = rest;
                parts = parts.saturating_sub(1).max(2);
            }
            None if size == 1 => return left,
            None => parts = (2 * parts).min(left.len()),
        }
    }
    left
}
