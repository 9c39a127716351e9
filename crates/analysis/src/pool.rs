//! Threads that each do one piece of work, while the caller does something else.

/// Does each piece of work in a thread, and `meanwhile` in this one; returns when all are done.
///
/// # Errors
/// The first error in the order of the work, whichever thread was first; or that a thread has panicked.
pub(crate) fn all<W>(work: impl IntoIterator<Item = W>, meanwhile: impl FnOnce()) -> anyhow::Result<()>
where
    W: FnOnce() -> anyhow::Result<()> + Send,
{
    std::thread::scope(|scope| {
        let threads: Vec<_> = work.into_iter().map(|piece| scope.spawn(piece)).collect();
        meanwhile();
        threads.into_iter().try_for_each(|thread| {
            thread.join().map_err(|_| anyhow::anyhow!("internal error: a solver thread is gone"))?
        })
    })
}
