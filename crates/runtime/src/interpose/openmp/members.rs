//! The threads of a team wait for each other.

use super::team::{Own, Team};
use crate::threads::Thread;
use crate::waiting::{self, Bucket, Waiter};

/// Locks the bucket of a team.
pub(super) fn lock(team: &Team) -> &'static Bucket {
    waiting::lock(team.key())
}

pub(super) fn own(thread: &'static Thread) -> &'static Own {
    &thread.openmp
}

/// The thread's team, with its bucket locked and the thread inside of a hook.
pub(super) fn in_team(thread: &'static Thread) -> Option<(&'static Team, &'static Bucket)> {
    let team = own(thread).place.get().team?;
    Some((team, lock(team)))
}

/// Waits until something changes in the team; the bucket is locked, and is so again.
pub(super) fn wait(thread: &'static Thread, team: &Team, bucket: &'static Bucket) {
    let waiter = Waiter::new(thread, team.key());
    bucket.push(&waiter);
    bucket.unlock();
    waiting::wait_to_end(&waiter, None);
    lock(team);
}

/// Something changed in the team.
pub(super) fn wake(team: &Team, bucket: &Bucket) {
    bucket.release_all(team.key(), 0);
}
