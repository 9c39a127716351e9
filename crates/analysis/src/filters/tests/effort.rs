//! How often schedules are guessed where that fails.

use crate::filters::Effort;

/// After eight failures each further one doubles how many candidates come until the next try, up to 4096. A success ends that.
#[test]
fn tries_become_rarer_where_they_fail() {
    let mut effort = Effort::default();
    let until_next = |effort: &mut Effort| (1..10_000).find(|_| effort.may_try()).expect("it tries again");
    for failures in 0..25_u32 {
        let expected = 1 << failures.saturating_sub(8).min(12);
        assert_eq!(until_next(&mut effort), expected, "after {failures} failures");
        effort.tried(false);
    }
    effort.tried(true);
    assert_eq!([until_next(&mut effort), until_next(&mut effort)], [1, 1]);
}
