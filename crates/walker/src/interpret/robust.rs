//! Robust mutexes: the end of a thread releases those that it holds, and the next thread to take one gets `EOWNERDEAD`.
//!
//! A thread that gets `EOWNERDEAD` takes another path of the program. So the thread that got it in the run stays the first after the end: a
//! barrier holds the others back. Threads that took the mutex before the end stay before it: the first of them to come after it would have
//! got `EOWNERDEAD`. All these orders are those of the run's path alone: each thread may also come before the end, or be the first after it.

use super::Walk;
use super::thread::Step;
use crate::log::Record;
use crate::world::Source;
use foretrace_trace::{Op, Problem, SyncId, SyncKind};

impl Walk<'_, '_> {
    /// The barrier at which those meet who take a robust mutex, and the first of three rounds: of those before an end of a holder, of
    /// that end, and of the one who is told.
    fn deaths(&mut self, object: usize) -> Result<(SyncId, u64), Problem> {
        if let Some(deaths) = self.world.objects.get(object).deaths {
            return Ok(deaths);
        }
        let sync = self.world.objects.get(object).sync;
        let name = self.world.draft.assembler.trace().syncs[sync.index()].key.to_string();
        let kind = SyncKind::Barrier { parties: None };
        let barrier = self.world.draft.assembler.declare_sync(&format!("owners of {name}"), kind)?;
        self.world.objects.get(object).deaths = Some((barrier, 0));
        Ok((barrier, 0))
    }

    /// What another path of the program need not wait for.
    fn on_this_path(&mut self, source: Source, op: Op) {
        let event = self.world.push_unlogged(source, op);
        self.world.draft.events[event.index()].tried = true;
    }

    /// A robust mutex was taken, perhaps as the first after the end of its holder.
    pub(super) fn robust_taken(&mut self, object: usize, owner_died: bool) -> Step<()> {
        let (barrier, round) = self.deaths(object)?;
        let source = self.source_beside(self.thread.now);
        if owner_died {
            self.on_this_path(source, Op::Depart { barrier, round: round + 1 });
            self.world.push_unlogged(source, Op::Arrive { barrier, round: round + 2 });
            self.world.objects.get(object).deaths = Some((barrier, round + 3));
            return Ok(());
        }
        if let Some(last) = round.checked_sub(1) {
            self.on_this_path(source, Op::Depart { barrier, round: last });
        }
        self.world.push_unlogged(source, Op::Arrive { barrier, round });
        Ok(())
    }

    /// The thread ends: who takes a robust mutex that it holds comes after that.
    pub(super) fn exit(&mut self, record: Record) -> Step<()> {
        for object in self.world.objects.robust_of(self.thread.index) {
            let (barrier, round) = self.deaths(object)?;
            let source = self.source_beside(self.thread.now);
            self.on_this_path(source, Op::Depart { barrier, round });
            self.world.push_unlogged(source, Op::Arrive { barrier, round: round + 1 });
            let state = self.world.objects.get(object);
            state.holder = None;
            let lock = state.sync;
            self.event(record, Op::Release { lock });
            self.unlocked();
        }
        Ok(())
    }
}
