//! Records of interposed functions: locks, waits, threads, allocations, marks, failures.

use super::Walk;
use super::library::{CallOf, FREE};
use super::thread::{Pause, Step};
use crate::log::Record;
use crate::names::Origin;
use crate::objects::Class;
use crate::regions::Birth;
use crate::shared::Shared;
use crate::signals::signal_name;
use crate::transactions::Title;
use crate::value::{Value, Word};
use foretrace_runtime::record::object;
use foretrace_runtime::record::{
    Kind, MESSAGES, MESSAGES_END, OUTSIDE, TRIED, TRIED_JOINS, TRIED_JOINS_END, WOKEN_BY_TIMEOUT, WOKEN_SPURIOUSLY,
    fail, nature,
};
use foretrace_runtime::{access_kinds, code_kinds};
use foretrace_trace::{BlockKind, EventId, Op, Problem, SyncId, SyncKind, VarId, WakeCause};

const PLAIN: SyncKind = SyncKind::Mutex { recursive: false };

impl Walk<'_, '_> {
    /// What an interposed function did.
    pub(super) fn synchronise(&mut self, record: Record) -> Step<()> {
        if record.kind == Kind::Alias {
            self.world.alias(&record);
            return Ok(());
        }
        if record.kind == Kind::Refused {
            return Ok(()); // it did nothing
        }
        if self.world.survey.is_some() && !matches!(record.kind, Kind::Allocate | Kind::Free | Kind::Fork | Kind::Join)
        {
            return Ok(());
        }
        self.operation(u64::from(is_of_threads(record.kind)));
        match record.kind {
            Kind::Acquire | Kind::Release | Kind::Busy => self.mutex(record),
            Kind::WriteLock | Kind::WriteUnlock | Kind::ReadLock | Kind::ReadUnlock => self.rwlock(record),
            Kind::Wait => self.wait(record),
            Kind::Wake => self.wake(record),
            Kind::Signal | Kind::Broadcast => self.signal(record),
            Kind::SemaphoreInit | Kind::Post | Kind::Down => self.semaphore(record),
            Kind::Arrive | Kind::Depart if record.words[0] == OUTSIDE => self.other_programs(record),
            Kind::Arrive | Kind::Depart if (MESSAGES..MESSAGES_END).contains(&record.words[0]) => self.messages(record),
            Kind::BarrierInit | Kind::Arrive | Kind::Depart => self.barrier(record),
            Kind::OnceBegin | Kind::OnceEnd | Kind::OncePass | Kind::OnceFail => self.once(record),
            Kind::Fork | Kind::Join => self.thread_event(record),
            Kind::Allocate => self.allocate(record),
            Kind::Free => self.free(record),
            Kind::AtomicBegin | Kind::AtomicEnd => self.mark(record),
            Kind::CallBegin | Kind::CallEnd | Kind::CallValue => self.marked_operation(record),
            Kind::Unseen => self.unseen(record),
            Kind::Exit => self.exit(record),
            Kind::Fail => self.fail(record),
            Kind::Alias | Kind::Refused | Kind::Start | Kind::HandlerBegin | Kind::HandlerEnd => Ok(()),
            access_kinds!() | code_kinds!() => Ok(()),
        }
    }

    /// The same where no record stands for it.
    pub(crate) fn synchronise_now(&mut self, record: Record) -> Result<(), Problem> {
        match self.synchronise(record) {
            Err(Pause::Problem(problem)) => Err(problem),
            _ => Ok(()),
        }
    }

    pub(super) fn event(&mut self, record: Record, op: Op) -> EventId {
        let source = self.source(record.at);
        self.world.push(source, op)
    }

    /// The same for what a try or a wait with a time limit did.
    fn outcome(&mut self, record: Record, op: Op, tried: bool) -> EventId {
        let source = self.source(record.at);
        self.world.push_outcome(source, op, tried)
    }

    /// Synchronisation that no object's state allows is not part of the trace.
    fn drop_event(&mut self) -> Step<()> {
        self.world.statistics.dropped += 1;
        Ok(())
    }

    /// A thread gives back a lock that it does not hold. What a recording of the run's end has not seen, it may have taken before.
    fn not_held(&mut self, record: Record) -> Step<()> {
        if !self.world.begins_later {
            let place = self.source(record.at).loc;
            let place =
                place.map_or("a place that is not known", |place| self.world.draft.assembler.trace().names.text(place));
            self.world.statistics.not_held.insert(place.to_string());
        }
        self.drop_event()
    }

    fn mutex(&mut self, record: Record) -> Step<()> {
        let is = |what| record.kind == Kind::Acquire && record.words[1] & what != 0;
        let (recursive, robust) = (is(nature::RECURSIVE), is(nature::ROBUST));
        let (address, thread) = (record.words[0], self.thread.index);
        if (TRIED_JOINS..TRIED_JOINS_END).contains(&address) {
            return Ok(()); // a thread that did all that it will do may still be on its way out: this is in no order with anything
        }
        let region = self.world.region(address).0;
        if record.kind == Kind::Busy && self.world.objects.find(address, region, Class::Mutex).is_none() {
            return self.busy(record, Class::Rwlock);
        }
        if record.kind == Kind::Busy {
            return self.busy(record, Class::Mutex);
        }
        let object = self.world.object(address, Class::Mutex, SyncKind::Mutex { recursive })?;
        let state = self.world.objects.get(object);
        state.robust |= robust;
        let lock = state.sync;
        if record.kind == Kind::Acquire {
            if !state.take(thread) {
                return self.drop_event();
            }
            self.locked();
            let event = self.outcome(record, Op::Acquire { lock }, record.is_tried());
            self.thread.decisions.taken(event, Some(lock));
            if robust {
                self.robust_taken(object, record.words[1] & nature::OWNER_DIED != 0)?;
            }
        } else {
            if !state.give_back(thread) {
                return self.not_held(record);
            }
            self.given_back(lock);
            self.event(record, Op::Release { lock });
            self.unlocked();
        }
        Ok(())
    }

    /// A try-lock that failed: says something only where another thread has the lock.
    fn busy(&mut self, record: Record, class: Class) -> Step<()> {
        let (address, thread) = (record.words[0], self.thread.index);
        let region = self.world.region(address).0;
        let Some(object) = self.world.objects.find(address, region, class) else { return self.drop_event() };
        let state = self.world.objects.get(object);
        if !state.is_busy_for(thread) {
            return self.drop_event();
        }
        let lock = state.sync;
        self.outcome(record, Op::Busy { lock }, true);
        Ok(())
    }

    fn rwlock(&mut self, record: Record) -> Step<()> {
        let thread = self.thread.index;
        let object = self.world.object(record.words[0], Class::Rwlock, SyncKind::Rwlock)?;
        let state = self.world.objects.get(object);
        let lock = state.sync;
        let (done, op) = match record.kind {
            Kind::WriteLock => (state.take(thread), Op::Acquire { lock }),
            Kind::ReadLock => (state.share(thread), Op::AcquireShared { lock }),
            Kind::WriteUnlock => (state.give_back(thread), Op::Release { lock }),
            _ => (state.give_share_back(thread), Op::ReleaseShared { lock }),
        };
        let takes = matches!(record.kind, Kind::WriteLock | Kind::ReadLock);
        if !done {
            return if takes { self.drop_event() } else { self.not_held(record) };
        }
        if takes {
            self.locked();
        }
        let event = self.outcome(record, op, takes && record.is_tried());
        if takes {
            self.thread.decisions.taken(event, Some(lock));
        } else {
            self.given_back(lock);
            self.unlocked();
        }
        Ok(())
    }

    /// A lock is given back: what was taken on some ways only ends here.
    fn given_back(&mut self, lock: SyncId) {
        self.thread.decisions.given_back(lock);
        self.world.detours.given_back(self.thread.id, lock, self.world.draft.next());
    }

    /// A lock is about to be taken.
    fn locked(&mut self) {
        self.thread.locks += 1;
        if self.thread.locks == 1 && self.world.options.wants(BlockKind::Section) {
            let label = self.two_innermost();
            let label = Some(self.world.draft.assembler.name(&label));
            let loc = self.source_beside(0).loc;
            let start = self.world.draft.next().0;
            self.thread.nest.begin(start, Title { kind: BlockKind::Section, label, loc, called_at: None });
        }
    }

    /// A lock was given back.
    pub(super) fn unlocked(&mut self) {
        self.thread.locks = self.thread.locks.saturating_sub(1);
        if self.thread.locks == 0 && self.world.options.wants(BlockKind::Section) {
            let span = self.thread.nest.end_section(self.thread.id.0, Some(self.world.draft.next().0));
            self.world.spans.extend(span);
        }
    }

    fn wait(&mut self, record: Record) -> Step<()> {
        let thread = self.thread.index;
        let cond = self.world.object(record.words[0], Class::Condvar, SyncKind::Condvar)?;
        let mutex = self.world.object(record.words[1], Class::Mutex, PLAIN)?;
        let (cond_id, lock) = self.sync_ids(cond, mutex);
        let state = self.world.objects.get(mutex);
        if state.holder.is_none_or(|(by, _)| by != thread) {
            return self.not_held(record);
        }
        state.holder = None;
        self.thread.waiting = Some((cond, mutex));
        self.event(record, Op::Wait { cond: cond_id, lock });
        self.unlocked();
        Ok(())
    }

    fn sync_ids(&mut self, cond: usize, mutex: usize) -> (SyncId, SyncId) {
        (self.world.objects.get(cond).sync, self.world.objects.get(mutex).sync)
    }

    fn wake(&mut self, record: Record) -> Step<()> {
        let thread = self.thread.index;
        let Some((cond, mutex)) = self.thread.waiting.take() else { return self.drop_event() };
        let (cond_id, lock) = self.sync_ids(cond, mutex);
        if !self.world.objects.get(mutex).take(thread) {
            return self.drop_event();
        }
        let (cause, by) = match record.words[1] {
            WOKEN_BY_TIMEOUT => (Some(WakeCause::Timeout), None),
            WOKEN_SPURIOUSLY => (Some(WakeCause::Spurious), None),
            signal => match self.world.objects.signal(signal & !TRIED) {
                Some(by) => (None, Some(by)),
                None => (Some(WakeCause::Spurious), None),
            },
        };
        self.locked();
        self.outcome(record, Op::Wake { cond: cond_id, lock, cause, by }, record.is_tried());
        Ok(())
    }

    fn signal(&mut self, record: Record) -> Step<()> {
        let cond = self.world.object(record.words[0], Class::Condvar, SyncKind::Condvar)?;
        let cond = self.world.objects.get(cond).sync;
        let op = if record.kind == Kind::Signal { Op::Signal { cond } } else { Op::Broadcast { cond } };
        let event = self.event(record, op);
        if let Some(order) = record.order() {
            self.world.objects.note_signal(order, event);
        }
        Ok(())
    }

    fn semaphore(&mut self, record: Record) -> Step<()> {
        let (address, count) = (record.words[0], record.words[1] & !TRIED);
        let place = self.world.region(address);
        if record.kind == Kind::SemaphoreInit {
            self.world.new_object(address, place, Class::Semaphore, SyncKind::Semaphore { init: count })?;
            return Ok(());
        }
        let before = if record.kind == Kind::Post { count } else { count.wrapping_add(1) };
        let object = self.world.object(address, Class::Semaphore, SyncKind::Semaphore { init: before })?;
        let state = self.world.objects.get(object);
        let sem = state.sync;
        if record.kind == Kind::Post {
            state.count += 1;
            self.event(record, Op::Post { sem });
        } else {
            let Some(rest) = state.count.checked_sub(1) else { return self.drop_event() };
            state.count = rest;
            self.outcome(record, Op::Down { sem }, record.is_tried());
        }
        Ok(())
    }

    /// A call on a pipe or queue comes after others, or has come. It is so on this path alone.
    fn messages(&mut self, record: Record) -> Step<()> {
        let (address, word) = (record.words[0], record.words[1]);
        let object = self.world.object(address, Class::Barrier, SyncKind::Barrier { parties: None })?;
        let barrier = self.world.objects.get(object).sync;
        if record.kind == Kind::Arrive {
            if word != 0 {
                self.event(record, Op::Arrive { barrier, round: word });
            }
            return Ok(());
        }
        for round in [word & u64::from(u32::MAX), word >> 32].into_iter().filter(|round| *round != 0) {
            self.outcome(record, Op::Depart { barrier, round }, true);
        }
        Ok(())
    }

    fn barrier(&mut self, record: Record) -> Step<()> {
        let (address, word) = (record.words[0], record.words[1]);
        if record.kind == Kind::BarrierInit {
            let place = self.world.region(address);
            let kind = SyncKind::Barrier { parties: Some(word).filter(|parties| *parties > 0) };
            self.world.new_object(address, place, Class::Barrier, kind)?;
            return Ok(());
        }
        let object = self.world.object(address, Class::Barrier, SyncKind::Barrier { parties: None })?;
        let barrier = self.world.objects.get(object).sync;
        let op = match record.kind {
            Kind::Arrive => Op::Arrive { barrier, round: word },
            _ => Op::Depart { barrier, round: word },
        };
        self.event(record, op);
        Ok(())
    }

    /// What happens once. An object that is begun again after its end was made new; what ended before the recording began orders nothing.
    fn once(&mut self, record: Record) -> Step<()> {
        let (address, thread) = (record.words[0], self.thread.index);
        let mut object = self.world.object(address, Class::Once, SyncKind::Once)?;
        if record.kind == Kind::OnceBegin && self.world.objects.get(object).done {
            let place = self.world.region(address);
            object = self.world.new_object(address, place, Class::Once, SyncKind::Once)?;
        }
        let state = self.world.objects.get(object);
        let once = state.sync;
        if record.kind == Kind::OncePass && !state.done {
            return Ok(());
        }
        let (fits, op) = match record.kind {
            Kind::OnceBegin => (state.take(thread), Op::OnceBegin { once }),
            Kind::OncePass => (state.done, Op::OncePass { once }),
            Kind::OnceFail => (state.give_back(thread), Op::OnceFail { once }),
            _ => {
                state.done = state.give_back(thread);
                (state.done, Op::OnceEnd { once })
            }
        };
        if !fits {
            return self.drop_event();
        }
        self.event(record, op);
        Ok(())
    }

    /// Something was sent to other programs, or came from them and may depend on what was sent up to a number: on the last of each
    /// thread, then on all.
    fn other_programs(&mut self, record: Record) -> Step<()> {
        let number = record.words[1];
        let object = self.world.object(OUTSIDE, Class::Barrier, SyncKind::Barrier { parties: None })?;
        let barrier = self.world.objects.get(object).sync;
        if record.kind == Kind::Arrive {
            self.world.sent.push((number, self.thread.index));
            self.event(record, Op::Arrive { barrier, round: number });
            return Ok(());
        }
        let known = self.thread.heard;
        self.thread.heard = known.max(number);
        let mut last: Vec<(u64, usize)> = Vec::new();
        for (sent, by) in self.world.sent.iter().rev().skip_while(|(sent, _)| *sent > number) {
            if *sent <= known {
                break;
            }
            if *by != self.thread.index && last.iter().all(|(_, other)| other != by) {
                last.push((*sent, *by));
            }
        }
        for (round, _) in last {
            self.event(record, Op::Depart { barrier, round });
        }
        Ok(())
    }

    fn thread_event(&mut self, record: Record) -> Step<()> {
        if let Some(survey) = &mut self.world.survey {
            survey.of_threads(self.thread.index as u32 + 1, &record);
            return Ok(());
        }
        let number = record.words[0];
        self.world.others_started = true;
        let child = match self.world.threads.get(&number) {
            Some(child) => *child,
            None => {
                let child = self.world.draft.assembler.thread(number)?;
                self.world.threads.insert(number, child);
                child
            }
        };
        match record.kind {
            Kind::Fork => self.event(record, Op::Fork { child }),
            _ => {
                let event = self.outcome(record, Op::Join { child }, record.is_tried());
                self.thread.decisions.taken(event, None);
                event
            }
        };
        Ok(())
    }

    fn allocate(&mut self, record: Record) -> Step<()> {
        let origin = match self.place() {
            _ if self.is_concrete() || self.is_unknown() || record.place == 0 => self.concrete_origin(record),
            Some((function, instruction)) => {
                Origin::Heap { function: function as u32, instruction: instruction as u32 }
            }
            None => Origin::Unknown,
        };
        self.world.born(record.words[0], record.allocated(), (Birth::Block, origin));
        if self.world.survey.is_none() {
            let region = self.world.cells.regions.last();
            self.world.unfilled.born(self.thread.id, region, record.is_left_over());
            let source = self.source_beside(record.at);
            self.world.allocated(source);
        }
        Ok(())
    }

    fn free(&mut self, record: Record) -> Step<()> {
        if let Some(survey) = &mut self.world.survey {
            survey.freed(self.thread.index as u32 + 1, &record);
            return Ok(());
        }
        let syncs = self.world.objects_of_block(&record);
        let cells = self.world.cells.freed(record.words[0], record.words[1]);
        let of_others = |cell: &u32| self.world.cells.all[*cell as usize].shared == Shared::Open;
        let vars: Box<[VarId]> = cells.into_iter().filter(of_others).map(VarId).collect();
        let freed = self.thread.freed.take().filter(|freed| freed.is_known() && freed.bits == record.words[0]);
        if !vars.is_empty() || !syncs.is_empty() {
            if let Some(freed) = freed {
                self.pin(freed, CallOf(FREE)); // with another value it would free another block
            }
            // A library alone decides when: its state is not in the trace.
            let of_library = self.thread.frames.last().is_none_or(|frame| frame.foreign.is_some());
            let external = of_library && !self.is_concrete() && !self.is_unknown();
            self.event(record, Op::Free { vars, syncs, external });
        }
        Ok(())
    }

    fn mark(&mut self, record: Record) -> Step<()> {
        if !self.world.options.wants(BlockKind::Mark) {
            return Ok(());
        }
        if record.kind == Kind::AtomicBegin {
            self.thread.marked += 1;
            let label = self.program.text_at(record.words[0]).filter(|_| record.words[0] != 0);
            let label = label.map(|label| self.world.draft.assembler.name(&label));
            let start = self.world.draft.next().0;
            self.thread.nest.begin(start, Title { kind: BlockKind::Mark, label, loc: None, called_at: None });
        } else if self.thread.marked > 0 {
            self.thread.marked -= 1;
            let span = self.thread.nest.end_mark(self.thread.id.0, Some(self.world.draft.next().0));
            self.world.spans.extend(span);
        }
        Ok(())
    }

    /// Code that may order threads in a way that is not recorded.
    /// Left out where no other thread does anything that the call could see, or that could see the call.
    fn unseen(&mut self, record: Record) -> Step<()> {
        let concerned = record.words[1];
        let orders = |(thread, unseen): &(u64, Vec<u64>)| {
            *thread != self.thread.number && unseen.iter().any(|other| object::order(concerned, *other))
        };
        if object::is_partial(concerned) && !self.world.unseen.iter().any(orders) {
            return Ok(());
        }
        let what = self.text(record.words[0]).unwrap_or_else(|| "code that is not recorded".to_string());
        let what = self.world.draft.assembler.name(&what);
        let object = Some(object::name(concerned)).filter(|text| *text != 0).and_then(|text| self.text(text));
        let object = object.map(|object| self.world.draft.assembler.name(&object));
        self.event(record, Op::Unseen { what, object, if_both: false });
        Ok(())
    }

    fn fail(&mut self, record: Record) -> Step<()> {
        if std::mem::replace(&mut self.world.failed, true) {
            return Ok(()); // an assertion also aborts
        }
        let detail = record.words[1];
        let reason = match record.words[0] {
            fail::ABORT => "abort".to_string(),
            fail::ASSERT => match self.text(detail) {
                Some(text) => format!("assertion failed: {text}"),
                None => "assertion failed".to_string(),
            },
            fail::SIGNAL => signal_name(detail),
            fail::TERMINATE => "terminate: an exception without a handler".to_string(),
            fail::DEADLOCK => "deadlock".to_string(),
            _ => "unknown failure".to_string(),
        };
        let reason = self.world.draft.assembler.name(&reason);
        self.event(record, Op::Fail { reason: Some(reason) });
        Ok(())
    }

    /// A C string in the program's data or in memory that the walk has seen written.
    fn text(&mut self, address: u64) -> Option<String> {
        self.program.text_at(address)
    }

    /// Where a thread-local variable of this thread is.
    pub(super) fn see_thread_local(&mut self, symbol: &str, address: Word) {
        if address.is_known() {
            let size = self.program.thread_local_size(symbol).unwrap_or(1);
            let name = format!("{}@{}", crate::program::demangle(symbol), self.thread.number);
            let (region, _) = self.world.region(address.bits);
            self.world.names.see_thread_local((region, address.bits), size, name);
        }
    }

    /// A value of which only the bits in the log are known.
    pub(super) fn recorded(width: u32, bits: u64) -> Value {
        Value::Word(Word::constant(width, bits))
    }
}

/// Whether it is of a mutex, a condition variable or another thread.
fn is_of_threads(kind: Kind) -> bool {
    let is_wait = matches!(kind, Kind::Wait | Kind::Wake | Kind::Signal | Kind::Broadcast);
    is_wait
        || matches!(kind, Kind::Acquire | Kind::Release | Kind::Busy | Kind::Fork | Kind::Join)
        || matches!(kind, Kind::OnceBegin | Kind::OnceEnd | Kind::OncePass | Kind::OnceFail)
}
