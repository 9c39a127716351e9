//! Instructions that make an event.

use super::super::program::{Instruction, Target, TextId, Update};
use super::super::recorder::Operand;
use super::super::synchronisation::{Object, Waiter};
use super::{Failed, Machine, Status};
use foretrace_trace::{BlockKind, Func, Op, SyncId, ThreadId, Value, VarId, WakeCause, Why};

/// Why an instruction could not be run.
enum Refused {
    /// An assertion did not hold.
    Assertion(TextId),
    /// The program does what it must not do.
    Error(String),
}

type Stepped = Result<(), Refused>;

/// What an operation gives that had nothing to give, as JSON.
const EMPTY: &str = "\"empty\"";

/// What an operation gives that has no result, as JSON.
const NOTHING: &str = "null";

/// A value as JSON.
fn json(value: &Value) -> String {
    match value {
        Value::Bool(truth) => truth.to_string(),
        number => number.to_integer().to_string(),
    }
}

impl Machine<'_> {
    /// Lets a thread that is ready make its next event and go on to the one after.
    pub(in super::super) fn step(&mut self, thread: usize) -> Result<(), Failed> {
        let at = self.threads[thread].at;
        let stepped = match self.threads[thread].error.take() {
            Some(error) => Err(Refused::Error(error)),
            None => self.make_event(thread, at),
        };
        match stepped {
            Ok(()) => {
                self.settle(thread);
                Ok(())
            }
            Err(refused) => Err(self.fail(thread, at, refused)),
        }
    }

    fn fail(&mut self, thread: usize, at: usize, refused: Refused) -> Failed {
        let (reason, assertion) = match refused {
            Refused::Assertion(reason) => (self.program.text(reason).to_string(), true),
            Refused::Error(reason) => (reason, false),
        };
        let name = self.recorder.trace.names.intern(&reason);
        let event = self.recorder.event(thread, at, Op::Fail { reason: Some(name) });
        Failed { thread, at, event, reason, assertion }
    }

    fn make_event(&mut self, thread: usize, at: usize) -> Stepped {
        use Instruction::*;
        let instruction = self.next(thread);
        // An index that was pinned is still to be checked.
        if !matches!(instruction, Pin(_)) {
            self.threads[thread].at += 1;
        }
        let op = match instruction {
            Name(name) => return self.name_top(thread, at, *name),
            Decide => return self.decide(thread, at),
            Pin(_) => return self.pin(thread, at),
            Read { target, dst } => return self.read(thread, at, *target, *dst),
            Write { target } => return self.write(thread, at, *target),
            Update { target, update, dst } => return self.update(thread, at, *target, *update, *dst),
            CompareAndSwap { target, dst } => return self.compare_and_swap(thread, at, *target, *dst),
            Spawn(child) => return self.spawn(thread, at, *child),
            Signal(cond) => return self.signal(thread, at, *cond),
            Broadcast(cond) => return self.broadcast(thread, at, *cond),
            Fail(reason) => return Err(Refused::Assertion(*reason)),
            Begin(label) => self.begin_block(thread, *label),
            End(label) => self.end_block(thread, *label),
            Join(child) => Op::Join { child: ThreadId::from_index(*child) },
            Free(first, count) => Op::Free {
                vars: (first.0..first.0 + count).map(VarId).collect(),
                syncs: Box::default(),
                external: false,
            },
            Arrive(barrier) => Op::Arrive { barrier: *barrier, round: self.arrive(thread, *barrier) },
            Depart(barrier) => Op::Depart { barrier: *barrier, round: self.threads[thread].round },
            Post(sem) => self.count(*sem, |count| *count += 1, Op::Post { sem: *sem }),
            Down(sem) => self.count(*sem, |count| *count -= 1, Op::Down { sem: *sem }),
            OnceBegin(once) => self.once_begin(thread, *once),
            OnceEnd(once) => self.once_over(thread, *once, true)?,
            OnceFail(once) => self.once_over(thread, *once, false)?,
            Wait { cond, lock } => self.wait(thread, *cond, *lock)?,
            Wake { cond, lock } => self.wake(thread, *cond, *lock),
            WakeOrTimeout { cond, lock } => self.wake_or_time_out(thread, *cond, *lock),
            Acquire(lock) => self.acquire(thread, *lock),
            TryAcquire(lock) => self.try_acquire(thread, *lock),
            Release(lock) => self.release(thread, *lock)?,
            AcquireShared(lock) => {
                self.lock_mut(*lock).share(thread);
                Op::AcquireShared { lock: *lock }
            }
            ReleaseShared(lock) => self.release_shared(thread, *lock)?,
            CallOperation(operation) => self.call_operation(thread, *operation),
            ReturnOperation(operation) => self.return_operation(thread, at, *operation),
            Constant(_) | Load(_) | Store(_) | Forget(_) | Pop | Apply(..) | Jump(_) | JumpUnless(_) | Call(_)
            | Return => return Ok(()),
        };
        self.recorder.event(thread, at, op);
        Ok(())
    }

    fn begin_block(&mut self, thread: usize, label: Option<TextId>) -> Op {
        if self.program.operations.is_empty() {
            self.threads[thread].blocks.push(label);
        }
        Op::Begin { label: label.map(|label| self.recorder.intern(label)), kind: BlockKind::Mark }
    }

    fn end_block(&mut self, thread: usize, label: Option<TextId>) -> Op {
        if self.program.operations.is_empty() {
            self.threads[thread].blocks.pop();
        }
        Op::End { label: label.map(|label| self.recorder.intern(label)) }
    }

    fn call_operation(&mut self, thread: usize, operation: usize) -> Op {
        let code = &self.program.operations[operation];
        let values: Vec<String> = self.frame(thread).locals.iter().map(|local| json(&local.value)).collect();
        let args = (!values.is_empty()).then(|| format!("[{}]", values.join(",")));
        let args = args.map(|args| self.recorder.trace.names.intern(&args));
        self.threads[thread].blocks.push(Some(code.method));
        let object = code.object.map(|object| self.recorder.intern(object));
        Op::Call { object, method: self.recorder.intern(code.method), args }
    }

    fn return_operation(&mut self, thread: usize, at: usize, operation: usize) -> Op {
        let code = &self.program.operations[operation];
        let result = code.has_result.then(|| self.top(thread).clone());
        let is_empty = result.as_ref().is_some_and(|result| code.empty.as_ref() == Some(&result.value));
        let value = match &result {
            None => NOTHING.to_string(),
            Some(_) if is_empty => EMPTY.to_string(),
            Some(result) => json(&result.value),
        };
        if let Some(result) = result {
            self.give(thread, at, &result, code.empty.as_ref());
        }
        let value = Some(self.recorder.trace.names.intern(&value));
        self.threads[thread].blocks.pop();
        let object = code.object.map(|object| self.recorder.intern(object));
        Op::Return { object, method: self.recorder.intern(code.method), value }
    }

    /// Says what an operation gives in other schedules: whether it is empty is a decision; what else it gives has a name that says so.
    fn give(&mut self, thread: usize, at: usize, result: &Operand, empty: Option<&Value>) {
        if let Some(empty) = empty.filter(|_| !result.is_constant()) {
            let equal = self.recorder.equal(result, &Operand::constant(empty.clone()));
            let expr = self.recorder.as_it_is(&equal);
            self.recorder.event(thread, at, Op::Assume { expr, why: Why::Pin });
        }
        if empty != Some(&result.value) && (!result.is_constant() || self.recorder.has_just_named(thread)) {
            let expr = self.recorder.result(result);
            let dst = self.recorder.fresh_result(thread);
            self.recorder.event(thread, at, Op::Let { dst, expr });
        }
    }

    fn name_top(&mut self, thread: usize, at: usize, name: TextId) -> Stepped {
        let operand = self.top(thread).clone();
        let expr = self.recorder.term(&operand);
        let dst = self.recorder.fresh_name(thread, name);
        let event = self.recorder.event(thread, at, Op::Let { dst, expr });
        *self.top_mut(thread) = self.recorder.defined_by(event, operand.value);
        Ok(())
    }

    fn decide(&mut self, thread: usize, at: usize) -> Stepped {
        let truth = self.pop(thread);
        let expr = self.recorder.as_it_is(&truth);
        self.recorder.event(thread, at, Op::Assume { expr, why: Why::Branch });
        self.push_truth(thread, truth.value.is_true());
        Ok(())
    }

    fn pin(&mut self, thread: usize, at: usize) -> Stepped {
        let index = self.pop(thread);
        let constant = Operand::constant(index.value.clone());
        let equal = self.recorder.equal(&index, &constant);
        let expr = self.recorder.term(&equal);
        self.recorder.event(thread, at, Op::Assume { expr, why: Why::Pin });
        self.push(thread, constant);
        Ok(())
    }

    /// The variable that an access names; takes the index of an element, which was checked.
    fn variable(&mut self, thread: usize, target: Target) -> VarId {
        match target {
            Target::Variable(variable) => variable,
            Target::Element(array) => {
                let index = self.pop(thread).value.to_integer();
                let first = self.program.arrays[array].first;
                VarId(first.0 + u32::try_from(index).unwrap_or(0))
            }
        }
    }

    fn read(&mut self, thread: usize, at: usize, target: Target, dst: TextId) -> Stepped {
        let var = self.variable(thread, target);
        let value = self.memory[var.index()].clone();
        let dst = Some(self.recorder.fresh_name(thread, dst));
        let recorded = Some(self.recorder.literal(&value));
        let event = self.recorder.event(thread, at, Op::Read { var, dst, value: recorded, guard: None });
        let operand = self.recorder.defined_by(event, value);
        self.push(thread, operand);
        Ok(())
    }

    fn write(&mut self, thread: usize, at: usize, target: Target) -> Stepped {
        let written = self.pop(thread);
        let var = self.variable(thread, target);
        let expr = Some(self.recorder.term(&written));
        let value = Some(self.recorder.literal(&written.value));
        self.memory[var.index()] = written.value;
        let op = Op::Write { var, expr, value, guard: None, external: false };
        self.recorder.event(thread, at, op);
        Ok(())
    }

    fn update(&mut self, thread: usize, at: usize, target: Target, update: Update, dst: TextId) -> Stepped {
        let operand = self.pop(thread);
        let var = self.variable(thread, target);
        let old = self.recorder.defined_by(self.recorder.next_event(), self.memory[var.index()].clone());
        let new = match update {
            Update::Exchange => operand,
            Update::Apply(function) => self.recorder.apply(function, &[old.clone(), operand]),
        };
        self.read_modify_write(thread, at, var, &old, &new, None, dst);
        self.push(thread, old);
        Ok(())
    }

    fn compare_and_swap(&mut self, thread: usize, at: usize, target: Target, dst: TextId) -> Stepped {
        let (new, expected) = (self.pop(thread), self.pop(thread));
        let var = self.variable(thread, target);
        let current = self.memory[var.index()].clone();
        let old = self.recorder.defined_by(self.recorder.next_event(), current);
        let equal = self.recorder.equal(&old, &expected);
        if equal.value.is_true() {
            let guard = self.recorder.term(&equal);
            self.read_modify_write(thread, at, var, &old, &new, Some(guard), dst);
            self.push_truth(thread, true);
            return Ok(());
        }
        let dst = Some(self.recorder.fresh_name(thread, dst));
        let value = Some(self.recorder.literal(&old.value));
        let differs = self.recorder.apply(Func::Not, std::slice::from_ref(&equal));
        let guard = Some(self.recorder.term(&differs));
        self.recorder.event(thread, at, Op::Read { var, dst, value, guard });
        self.push(thread, equal);
        Ok(())
    }

    #[expect(clippy::too_many_arguments, reason = "the fields of the event")]
    fn read_modify_write(
        &mut self,
        thread: usize,
        at: usize,
        var: VarId,
        old: &Operand,
        new: &Operand,
        guard: Option<foretrace_trace::TermId>,
        dst: TextId,
    ) {
        let dst = Some(self.recorder.fresh_name(thread, dst));
        let value = Some(self.recorder.literal(&old.value));
        let stored = Some(self.recorder.literal(&new.value));
        let expr = Some(self.recorder.term(new));
        self.memory[var.index()] = new.value.clone();
        self.recorder.event(thread, at, Op::Rmw { var, dst, expr, value, stored, guard, external: false });
    }

    fn spawn(&mut self, thread: usize, at: usize, child: usize) -> Stepped {
        if self.threads[child].status != Status::Unborn {
            return Err(Refused::Error(format!("`{}` was spawned before", self.program.threads[child].name)));
        }
        self.recorder.event(thread, at, Op::Fork { child: ThreadId::from_index(child) });
        self.begin(child);
        Ok(())
    }

    fn count(&mut self, semaphore: SyncId, change: fn(&mut u64), op: Op) -> Op {
        if let Object::Semaphore { count } = &mut self.objects[semaphore.index()] {
            change(count);
        }
        op
    }

    /// Nobody is at the initialisation: begins it, or goes past it where it is done.
    fn once_begin(&mut self, thread: usize, once: SyncId) -> Op {
        let begins = match &mut self.objects[once.index()] {
            Object::Once { holder, done: false } => {
                *holder = Some(thread);
                true
            }
            _ => false,
        };
        self.push_truth(thread, begins);
        if begins { Op::OnceBegin { once } } else { Op::OncePass { once } }
    }

    fn once_over(&mut self, thread: usize, once: SyncId, made: bool) -> Result<Op, Refused> {
        match &mut self.objects[once.index()] {
            Object::Once { holder, done } if *holder == Some(thread) => (*holder, *done) = (None, made),
            _ => {
                let (call, name) = (if made { "once_end" } else { "once_fail" }, self.program.sync_name(once));
                return Err(Refused::Error(format!("{call} of `{name}`, which the thread does not initialise")));
            }
        }
        Ok(if made { Op::OnceEnd { once } } else { Op::OnceFail { once } })
    }

    /// Counts an arrival; gives its round.
    fn arrive(&mut self, thread: usize, barrier: SyncId) -> u64 {
        let Object::Barrier { parties, arrivals } = &mut self.objects[barrier.index()] else { return 0 };
        let round = *arrivals / *parties;
        *arrivals += 1;
        self.threads[thread].round = round;
        round
    }

    fn acquire(&mut self, thread: usize, lock: SyncId) -> Op {
        self.lock_mut(lock).acquire(thread);
        Op::Acquire { lock }
    }

    fn try_acquire(&mut self, thread: usize, lock: SyncId) -> Op {
        let free = self.lock(lock).can_acquire(thread);
        self.push_truth(thread, free);
        if free { self.acquire(thread, lock) } else { Op::Busy { lock } }
    }

    fn not_held(&self, what: &str, lock: SyncId) -> Refused {
        Refused::Error(format!("{what} `{}`, which the thread does not hold", self.program.sync_name(lock)))
    }

    fn release(&mut self, thread: usize, lock: SyncId) -> Result<Op, Refused> {
        if self.lock_mut(lock).release(thread) {
            Ok(Op::Release { lock })
        } else {
            Err(self.not_held("unlock of", lock))
        }
    }

    fn release_shared(&mut self, thread: usize, lock: SyncId) -> Result<Op, Refused> {
        match self.lock_mut(lock).unshare(thread) {
            true => Ok(Op::ReleaseShared { lock }),
            false => Err(self.not_held("read_unlock of", lock)),
        }
    }

    fn waiters(&mut self, cond: SyncId) -> &mut Vec<Waiter> {
        match &mut self.objects[cond.index()] {
            Object::Condvar { waiters } => waiters,
            other => unreachable!("the compiler has checked that this is a condition variable: {other:?}"),
        }
    }

    fn wait(&mut self, thread: usize, cond: SyncId, lock: SyncId) -> Result<Op, Refused> {
        let Some(held) = self.lock_mut(lock).release_all(thread) else { return Err(self.not_held("wait with", lock)) };
        self.threads[thread].held = held;
        self.waiters(cond).push(Waiter { thread, released: None });
        Ok(Op::Wait { cond, lock })
    }

    fn wake(&mut self, thread: usize, cond: SyncId, lock: SyncId) -> Op {
        let by = self.released(cond, thread);
        self.waiters(cond).retain(|waiter| waiter.thread != thread);
        let held = self.threads[thread].held;
        self.lock_mut(lock).restore(thread, held);
        let cause = if by.is_none() { Some(WakeCause::Timeout) } else { None };
        Op::Wake { cond, lock, cause, by }
    }

    fn wake_or_time_out(&mut self, thread: usize, cond: SyncId, lock: SyncId) -> Op {
        let wake = self.wake(thread, cond, lock);
        self.push_truth(thread, matches!(wake, Op::Wake { cause: None, .. }));
        wake
    }

    fn signal(&mut self, thread: usize, at: usize, cond: SyncId) -> Stepped {
        let event = self.recorder.event(thread, at, Op::Signal { cond });
        let waiting = self.waiters(cond).iter().filter(|waiter| waiter.released.is_none()).count();
        if let Some(chosen) = self.choice.waiter(waiting) {
            let mut asleep = self.waiters(cond).iter_mut().filter(|waiter| waiter.released.is_none());
            if let Some(waiter) = asleep.nth(chosen) {
                waiter.released = Some(event);
            }
        }
        Ok(())
    }

    fn broadcast(&mut self, thread: usize, at: usize, cond: SyncId) -> Stepped {
        let event = self.recorder.event(thread, at, Op::Broadcast { cond });
        for waiter in self.waiters(cond).iter_mut().filter(|waiter| waiter.released.is_none()) {
            waiter.released = Some(event);
        }
        Ok(())
    }
}
