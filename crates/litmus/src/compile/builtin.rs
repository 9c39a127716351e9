//! The functions of the language: synchronisation, atomic updates, signed operations on words.

use super::super::diagnostic::{Diagnostic, Span};
use super::super::program::{Instruction, Target, Update};
use super::super::syntax::{Expression, ExpressionKind, Name, VariableRef, shown};
use super::{Checked, Compiler, Global, Noted, kind_of_sync};
use foretrace_trace::{Func, Sort, SyncId, SyncKind};

/// A function of the language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Builtin {
    Lock,
    Unlock,
    TryLock,
    ReadLock,
    ReadUnlock,
    WriteLock,
    WriteUnlock,
    TryWriteLock,
    Wait,
    WaitTimeout,
    Signal,
    Broadcast,
    Down,
    Post,
    OnceBegin,
    OnceEnd,
    OnceFail,
    Await,
    CompareAndSwap,
    FetchAdd,
    Exchange,
    Free,
    Ite,
    ZeroExtend,
    SignExtend,
    Truncate,
    /// A function of two words that gives a word.
    Words(Func),
    /// A comparison of two words.
    Compare(Func),
}

/// Each function and how it is called.
const TABLE: &[(&str, Builtin)] = &[
    ("lock(mutex)", Builtin::Lock),
    ("unlock(mutex)", Builtin::Unlock),
    ("trylock(mutex)", Builtin::TryLock),
    ("read_lock(rwlock)", Builtin::ReadLock),
    ("read_unlock(rwlock)", Builtin::ReadUnlock),
    ("write_lock(rwlock)", Builtin::WriteLock),
    ("write_unlock(rwlock)", Builtin::WriteUnlock),
    ("try_write_lock(rwlock)", Builtin::TryWriteLock),
    ("wait(condvar, mutex)", Builtin::Wait),
    ("wait_timeout(condvar, mutex)", Builtin::WaitTimeout),
    ("signal(condvar)", Builtin::Signal),
    ("broadcast(condvar)", Builtin::Broadcast),
    ("down(semaphore)", Builtin::Down),
    ("post(semaphore)", Builtin::Post),
    ("once_begin(once)", Builtin::OnceBegin),
    ("once_end(once)", Builtin::OnceEnd),
    ("once_fail(once)", Builtin::OnceFail),
    ("await(barrier)", Builtin::Await),
    ("cas(variable, expected, new)", Builtin::CompareAndSwap),
    ("fetch_add(variable, amount)", Builtin::FetchAdd),
    ("exchange(variable, new)", Builtin::Exchange),
    ("free(variable)", Builtin::Free),
    ("ite(condition, value, value)", Builtin::Ite),
    ("zero_extend(word, width)", Builtin::ZeroExtend),
    ("sign_extend(word, width)", Builtin::SignExtend),
    ("truncate(word, width)", Builtin::Truncate),
    ("sdiv(word, word)", Builtin::Words(Func::BvSdiv)),
    ("srem(word, word)", Builtin::Words(Func::BvSrem)),
    ("smod(word, word)", Builtin::Words(Func::BvSmod)),
    ("ashr(word, word)", Builtin::Words(Func::BvAshr)),
    ("slt(word, word)", Builtin::Compare(Func::BvSlt)),
    ("sle(word, word)", Builtin::Compare(Func::BvSle)),
    ("sgt(word, word)", Builtin::Compare(Func::BvSgt)),
    ("sge(word, word)", Builtin::Compare(Func::BvSge)),
];

fn name_of(usage: &'static str) -> &'static str {
    usage.split('(').next().unwrap_or(usage)
}

impl Builtin {
    pub(super) fn find(name: &str) -> Option<Builtin> {
        TABLE.iter().find(|(usage, _)| name_of(usage) == name).map(|(_, builtin)| *builtin)
    }

    pub(super) fn names() -> impl Iterator<Item = &'static str> {
        TABLE.iter().map(|(usage, _)| name_of(usage))
    }

    fn usage(self) -> &'static str {
        TABLE.iter().find(|(_, builtin)| *builtin == self).map_or("", |(usage, _)| usage)
    }

    /// Whether a call makes no event of its own.
    pub(super) fn is_pure(self) -> bool {
        use Builtin::*;
        matches!(self, Ite | ZeroExtend | SignExtend | Truncate | Words(_) | Compare(_))
    }

    /// The sort of a call's value where the arguments alone say it.
    pub(super) fn result_from(
        self,
        arguments: &[Expression],
        sort_of: &dyn Fn(&Expression) -> Option<Sort>,
    ) -> Option<Sort> {
        use Builtin::*;
        let either = |a: usize, b: usize| [a, b].iter().filter_map(|at| arguments.get(*at)).find_map(sort_of);
        match self {
            TryLock | TryWriteLock | WaitTimeout | OnceBegin | CompareAndSwap | Compare(_) => Some(Sort::Bool),
            FetchAdd | Exchange => arguments.first().and_then(sort_of),
            Words(_) => either(0, 1),
            Ite => either(1, 2),
            ZeroExtend | SignExtend | Truncate => arguments.get(1).and_then(width_in).map(Sort::BitVec),
            _ => None,
        }
    }
}

fn width_in(argument: &Expression) -> Option<u32> {
    let ExpressionKind::Number(number) = &argument.kind else { return None };
    u32::try_from(number).ok().filter(|width| (1..=64).contains(width))
}

impl Compiler<'_> {
    /// Code of a call of a function of the language; `result` is the type that is wanted of it. Gives the sort of its
    /// value if it has one.
    pub(super) fn call_builtin(
        &mut self,
        name: &Name,
        given: &[Expression],
        result: Option<Sort>,
        span: Span,
    ) -> Checked<Option<Sort>> {
        let Some(builtin) = Builtin::find(&name.text) else { return Err(Noted) };
        let wanted = builtin.usage().matches(',').count() + 1;
        if given.len() != wanted {
            let message = format!("`{}` takes {}, found {}", name.text, arguments(wanted), given.len());
            return self.wrong(span, message, format!("expected `{}`", builtin.usage()));
        }
        match builtin {
            Builtin::CompareAndSwap | Builtin::FetchAdd | Builtin::Exchange => {
                self.update(builtin, given, span).map(Some)
            }
            Builtin::Free => self.free(&given[0], span),
            Builtin::Ite => self.ite(given, result, span).map(Some),
            Builtin::ZeroExtend | Builtin::SignExtend | Builtin::Truncate => {
                self.resize(builtin, given, span).map(Some)
            }
            Builtin::Words(function) => self.words(function, given, result, span).map(Some),
            Builtin::Compare(function) => self.words(function, given, None, span).map(|_| Some(Sort::Bool)),
            _ => self.synchronise(builtin, given, span),
        }
    }

    fn synchronise(&mut self, builtin: Builtin, given: &[Expression], span: Span) -> Checked<Option<Sort>> {
        let kind = match builtin {
            Builtin::Lock | Builtin::Unlock | Builtin::TryLock => SyncKind::Mutex { recursive: false },
            Builtin::Wait | Builtin::WaitTimeout | Builtin::Signal | Builtin::Broadcast => SyncKind::Condvar,
            Builtin::Down | Builtin::Post => SyncKind::Semaphore { init: 0 },
            Builtin::OnceBegin | Builtin::OnceEnd | Builtin::OnceFail => SyncKind::Once,
            Builtin::Await => SyncKind::Barrier { parties: None },
            _ => SyncKind::Rwlock,
        };
        let object = self.sync_argument(&given[0], kind)?;
        let instruction = match builtin {
            Builtin::Lock | Builtin::WriteLock => Instruction::Acquire(object),
            Builtin::Unlock | Builtin::WriteUnlock => Instruction::Release(object),
            Builtin::ReadLock => Instruction::AcquireShared(object),
            Builtin::ReadUnlock => Instruction::ReleaseShared(object),
            Builtin::Signal => Instruction::Signal(object),
            Builtin::Broadcast => Instruction::Broadcast(object),
            Builtin::Down => Instruction::Down(object),
            Builtin::Post => Instruction::Post(object),
            Builtin::OnceEnd => Instruction::OnceEnd(object),
            Builtin::OnceFail => Instruction::OnceFail(object),
            Builtin::OnceBegin => {
                self.emit(Instruction::OnceBegin(object), span);
                return Ok(Some(Sort::Bool));
            }
            Builtin::Await => {
                self.emit(Instruction::Arrive(object), span);
                Instruction::Depart(object)
            }
            Builtin::Wait | Builtin::WaitTimeout => return self.wait(builtin, object, &given[1], span),
            _ => {
                self.emit(Instruction::TryAcquire(object), span);
                return Ok(Some(Sort::Bool));
            }
        };
        self.emit(instruction, span);
        Ok(None)
    }

    fn wait(&mut self, builtin: Builtin, cond: SyncId, lock: &Expression, span: Span) -> Checked<Option<Sort>> {
        let lock = self.sync_argument(lock, SyncKind::Mutex { recursive: false })?;
        self.emit(Instruction::Wait { cond, lock }, span);
        if builtin == Builtin::Wait {
            self.emit(Instruction::Wake { cond, lock }, span);
            return Ok(None);
        }
        self.emit(Instruction::WakeOrTimeout { cond, lock }, span);
        Ok(Some(Sort::Bool))
    }

    /// The synchronisation object that an argument names; of `kind` only the variant counts.
    fn sync_argument(&mut self, argument: &Expression, kind: SyncKind) -> Checked<SyncId> {
        let wanted = kind_of_sync(kind);
        let same = |found: SyncKind| std::mem::discriminant(&found) == std::mem::discriminant(&kind);
        let ExpressionKind::VariableRef(VariableRef { name, index: None }) = &argument.kind else {
            return self.wrong(
                argument.span,
                format!("expected {wanted}, found an expression"),
                format!("expected {wanted}"),
            );
        };
        if let Some(local) = self.body.locals.get(&*name.text) {
            let message = format!("`{}` is a local variable, not {wanted}", name.text);
            let error = Diagnostic::new(name.span, message, format!("expected {wanted}"));
            let error = error.related(local.span, "defined here");
            return Err(self.note(error));
        }
        match self.globals.get(&*name.text) {
            Some((Global::Sync(object, found), _)) if same(*found) => Ok(*object),
            _ => self.unknown(name, wanted, |global| matches!(global, Global::Sync(_, found) if same(found))),
        }
    }

    /// The shared variable that an argument names.
    fn target_argument(&mut self, argument: &Expression) -> Checked<(Target, Sort)> {
        match &argument.kind {
            ExpressionKind::VariableRef(place) => match self.body.locals.get(&*place.name.text) {
                Some(local) => {
                    let message = format!("`{}` is a local variable, not a shared one", place.name.text);
                    let error = Diagnostic::new(argument.span, message, "expected a shared variable");
                    let error = error.related(local.span, "defined here");
                    Err(self.note(error))
                }
                None => self.target(place),
            },
            _ => self.wrong(
                argument.span,
                "expected a shared variable, found an expression",
                "expected a shared variable",
            ),
        }
    }

    fn update(&mut self, builtin: Builtin, given: &[Expression], span: Span) -> Checked<Sort> {
        let (target, sort) = self.target_argument(&given[0])?;
        let dst = match &given[0].kind {
            ExpressionKind::VariableRef(place) => self.text(&place.name.text),
            _ => return Err(Noted),
        };
        for operand in &given[1..] {
            self.expect(operand, sort)?;
        }
        let update = match (builtin, sort) {
            (Builtin::CompareAndSwap, _) => {
                self.emit(Instruction::CompareAndSwap { target, dst }, span);
                self.emit(Instruction::Decide, span);
                return Ok(Sort::Bool);
            }
            (Builtin::Exchange, _) => Update::Exchange,
            (_, Sort::Int) => Update::Apply(Func::Add),
            (_, Sort::BitVec(_)) => Update::Apply(Func::BvAdd),
            (_, Sort::Bool) => return self.wrong(given[0].span, "`fetch_add` of bool", "expected int or a word"),
        };
        self.emit(Instruction::Update { target, update, dst }, span);
        Ok(sort)
    }

    fn free(&mut self, argument: &Expression, span: Span) -> Checked<Option<Sort>> {
        let global = match &argument.kind {
            ExpressionKind::VariableRef(VariableRef { name, index: None }) => {
                self.globals.get(&*name.text).map(|(global, _)| *global)
            }
            _ => None,
        };
        let (first, count) = match global {
            Some(Global::Variable(variable, _)) => (variable, 1),
            Some(Global::Array(array, _)) => (self.arrays[array].first, self.arrays[array].length),
            _ => return self.wrong(argument.span, "expected a shared variable or array", "cannot be given back"),
        };
        self.emit(Instruction::Free(first, count), span);
        Ok(None)
    }

    fn ite(&mut self, given: &[Expression], result: Option<Sort>, span: Span) -> Checked<Sort> {
        self.expect(&given[0], Sort::Bool)?;
        let sort = self.same_sort("ite", &given[1], &given[2], result)?;
        self.emit(Instruction::Apply(Func::Ite, 3), span);
        Ok(sort)
    }

    fn words(&mut self, function: Func, given: &[Expression], result: Option<Sort>, span: Span) -> Checked<Sort> {
        let sort = self.same_sort(&function.to_string(), &given[0], &given[1], result)?;
        let Sort::BitVec(_) = sort else {
            let message = format!("expected words (bv1 to bv64), found {}", shown(sort));
            return self.wrong(given[0].span, message, format!("has type {}", shown(sort)));
        };
        self.emit(Instruction::Apply(function, 2), span);
        Ok(sort)
    }

    fn resize(&mut self, builtin: Builtin, given: &[Expression], span: Span) -> Checked<Sort> {
        let sort = self.expression(&given[0], None)?;
        let Sort::BitVec(from) = sort else {
            let message = format!("expected a word (bv1 to bv64), found {}", shown(sort));
            return self.wrong(given[0].span, message, format!("has type {}", shown(sort)));
        };
        let (least, most) = if builtin == Builtin::Truncate { (1, from) } else { (from, 64) };
        let Some(to) = width_in(&given[1]).filter(|to| (least..=most).contains(to)) else {
            return self.wrong(
                given[1].span,
                "not a width that fits",
                format!("expected a number from {least} to {most}"),
            );
        };
        let function = match builtin {
            Builtin::ZeroExtend => Func::ZeroExtend(to - from),
            Builtin::SignExtend => Func::SignExtend(to - from),
            _ => Func::Extract { high: to - 1, low: 0 },
        };
        self.emit(Instruction::Apply(function, 1), span);
        Ok(Sort::BitVec(to))
    }
}

/// A number of arguments, in words.
pub(super) fn arguments(count: usize) -> String {
    format!("{count} argument{}", if count == 1 { "" } else { "s" })
}
