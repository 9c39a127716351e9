//! The objects' specifications: how each method changes a state, and its result.

use crate::history::{History, Operation};
use crate::value::Value;
use rustc_hash::FxHashMap;

/// What an object is meant to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Spec {
    /// `read`, `write(v)`, `cas(old, new)`.
    Register,
    /// `get`, `inc`, `dec`, `add(n)`, `fetch_add(n)`.
    Counter,
    /// `push(v)`, `pop`, `peek`.
    Stack,
    /// `enqueue(v)`, `dequeue`, `peek`.
    Queue,
    /// `push_front(v)`, `push_back(v)`, `pop_front`, `pop_back`, `peek_front`, `peek_back`.
    Deque,
    /// `add(v)`, `remove(v)`, `contains(v)`.
    Set,
    /// `put(k, v)`, `get(k)`, `remove(k)`, `contains(k)`, `put_if_absent(k, v)`.
    Map,
    /// `insert(v)`, `delete_min`, `min`.
    PriorityQueue,
}

impl Spec {
    /// All, by the names that the command line has for them.
    pub const ALL: [(&'static str, Spec); 8] = [
        ("register", Spec::Register),
        ("counter", Spec::Counter),
        ("stack", Spec::Stack),
        ("queue", Spec::Queue),
        ("deque", Spec::Deque),
        ("set", Spec::Set),
        ("map", Spec::Map),
        ("priority-queue", Spec::PriorityQueue),
    ];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        Spec::ALL.iter().find(|(_, spec)| *spec == self).map_or("", |(name, _)| name)
    }

    /// The methods that it has, as people write them.
    pub fn methods(self) -> &'static str {
        match self {
            Spec::Register => "read, write(v), cas(old, new)",
            Spec::Counter => "get, inc, dec, add(n), fetch_add(n)",
            Spec::Stack => "push(v), pop, peek",
            Spec::Queue => "enqueue(v), dequeue, peek",
            Spec::Deque => "push_front(v), push_back(v), pop_front, pop_back, peek_front, peek_back",
            Spec::Set => "add(v), remove(v), contains(v)",
            Spec::Map => "put(k, v), get(k), remove(k), contains(k), put_if_absent(k, v)",
            Spec::PriorityQueue => "insert(v), delete_min, min",
        }
    }
}

/// A value by its number. Numbers are in the order of values.
pub type Id = u32;

/// What an operation does. Stacks, queues and deques are sequences; sets and maps are judged key by key.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Act {
    /// Gives the value of a register.
    Read,
    /// Sets a register.
    Write(Id),
    /// Sets a register if it has the first value; gives whether it did.
    Cas(Id, Id),
    /// Gives the count.
    Count,
    /// Adds to a counter; the result, if there is one, is the new count.
    Add(i64),
    /// Adds to a counter and gives the old count.
    FetchAdd(i64),
    /// Puts a value at the front.
    PushFront(Id),
    /// Puts a value at the back.
    PushBack(Id),
    /// Takes the value at the front.
    PopFront,
    /// Takes the value at the back.
    PopBack,
    /// Gives the value at the front.
    PeekFront,
    /// Gives the value at the back.
    PeekBack,
    /// Puts the key there; gives whether it was not.
    Insert,
    /// Takes the key away; gives whether it was there, or the value that it had.
    Remove,
    /// Gives whether the key is there.
    Contains,
    /// Sets the key's value; gives the old one.
    Put(Id),
    /// Sets the key's value if it has none; gives the old one, or whether it had none.
    PutIfAbsent(Id),
    /// Gives the key's value.
    Get,
    /// Puts a value into a priority queue.
    Offer(Id),
    /// Takes the least value.
    PopMin,
    /// Gives the least value.
    PeekMin,
    /// An operation of an object that is its own specification: method and arguments by their number.
    Opaque(Id),
}

/// What an operation gave.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Ret {
    /// Not known: it never returned, or gives nothing that tells anything.
    Unknown,
    /// Nothing: the container was empty, the key was not there.
    Nothing,
    /// A truth value.
    Bool(bool),
    /// A value.
    Value(Id),
    /// A number.
    Number(i64),
}

/// An operation as the checks see it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    /// What it does.
    pub act: Act,
    /// What it gave.
    pub ret: Ret,
    /// When it was called.
    pub from: u64,
    /// When it returned; `u64::MAX` where it never did.
    pub to: u64,
    /// Its position in the history.
    pub operation: usize,
}

impl Step {
    /// Whether it returned.
    pub fn is_complete(&self) -> bool {
        self.to != u64::MAX
    }

    /// Whether it changes no state in which it can give what it gave.
    pub fn only_looks(&self) -> bool {
        matches!(
            (self.act, self.ret),
            (Act::Read | Act::Count | Act::Get | Act::Contains, _)
                | (Act::PeekBack | Act::PeekFront | Act::PeekMin, _)
                | (Act::PopBack | Act::PopFront | Act::PopMin | Act::Remove, Ret::Nothing)
                | (Act::Cas(..) | Act::Insert | Act::Remove | Act::PutIfAbsent(_), Ret::Bool(false))
                | (Act::PutIfAbsent(_), Ret::Value(_))
        )
    }
}

/// The state of an object.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum State {
    /// A counter's count.
    Number(i64),
    /// A register's value; a key's value, where it is there.
    Value(Option<Id>),
    /// A sequence; a priority queue's values, in order.
    Values(Vec<Id>),
}

impl State {
    /// The state before the first operation.
    pub fn initial(spec: Spec, register: Id) -> State {
        match spec {
            Spec::Register => State::Value(Some(register)),
            Spec::Counter => State::Number(0),
            Spec::Set | Spec::Map => State::Value(None),
            Spec::Stack | Spec::Queue | Spec::Deque | Spec::PriorityQueue => State::Values(Vec::new()),
        }
    }

    /// The state after an operation, if the operation can give there what it gave.
    #[must_use]
    pub fn after(&self, act: Act, ret: Ret) -> Option<State> {
        match self {
            State::Number(count) => after_counting(*count, act, ret),
            State::Value(value) => after_setting(*value, act, ret).map(State::Value),
            State::Values(values) => after_moving(values, act, ret),
        }
    }
}

fn gives(ret: Ret, expected: Ret) -> bool {
    ret == Ret::Unknown || ret == expected
}

fn value_or_nothing(value: Option<Id>) -> Ret {
    value.map_or(Ret::Nothing, Ret::Value)
}

fn after_counting(count: i64, act: Act, ret: Ret) -> Option<State> {
    let (next, given) = match act {
        Act::Count => (count, Ret::Number(count)),
        Act::Add(more) => (count.wrapping_add(more), Ret::Number(count.wrapping_add(more))),
        Act::FetchAdd(more) => (count.wrapping_add(more), Ret::Number(count)),
        _ => return None,
    };
    gives(ret, given).then_some(State::Number(next))
}

/// Registers and keys; the state is the value, where there is one.
fn after_setting(value: Option<Id>, act: Act, ret: Ret) -> Option<Option<Id>> {
    let is_there = value.is_some();
    // Methods of maps give the old value or whether there was one.
    let given = match (act, ret) {
        (Act::Read | Act::Get, _) => value_or_nothing(value),
        (Act::Cas(old, _), _) => Ret::Bool(value == Some(old)),
        (Act::Insert, _) | (Act::PutIfAbsent(_), Ret::Bool(_)) => Ret::Bool(!is_there),
        (Act::Contains, _) | (Act::Remove, Ret::Bool(_)) => Ret::Bool(is_there),
        (Act::Remove | Act::Put(_) | Act::PutIfAbsent(_), _) => value_or_nothing(value),
        _ => Ret::Unknown,
    };
    let next = match act {
        Act::Write(new) | Act::Put(new) => Some(new),
        Act::Cas(old, new) if value == Some(old) => Some(new),
        Act::Insert => Some(0),
        Act::PutIfAbsent(new) => value.or(Some(new)),
        Act::Remove => None,
        Act::Cas(..) | Act::Read | Act::Get | Act::Contains => value,
        _ => return None,
    };
    (given == Ret::Unknown || gives(ret, given)).then_some(next)
}

fn after_moving(values: &[Id], act: Act, ret: Ret) -> Option<State> {
    let given = match act {
        Act::PopFront | Act::PeekFront | Act::PopMin | Act::PeekMin => value_or_nothing(values.first().copied()),
        Act::PopBack | Act::PeekBack => value_or_nothing(values.last().copied()),
        Act::PushBack(_) | Act::PushFront(_) | Act::Offer(_) => ret,
        _ => return None,
    };
    if !gives(ret, given) {
        return None;
    }
    let mut next = values.to_vec();
    match act {
        Act::PushBack(value) => next.push(value),
        Act::PushFront(value) => next.insert(0, value),
        Act::Offer(value) => next.insert(next.partition_point(|other| *other < value), value),
        Act::PopFront | Act::PopMin if !next.is_empty() => drop(next.remove(0)),
        Act::PopBack => drop(next.pop()),
        _ => {}
    }
    Some(State::Values(next))
}

/// An operation that a specification does not have.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("operation {number} of the history: found {found}, expected a method of a {spec}: {expected}")]
pub struct BadOperation {
    /// Its position in the history, from 0.
    pub number: usize,
    /// What it is.
    pub found: String,
    /// The specification.
    pub spec: &'static str,
    /// Its methods.
    pub expected: &'static str,
}

/// One object, or one key of one, with its operations by when they were called.
pub struct ObjectHistory {
    /// The operations.
    pub steps: Vec<Step>,
}

/// A history by objects and keys, in the order of their first operation, and the initial value of registers.
pub struct Compiled {
    /// Objects, or keys of objects.
    pub parts: Vec<ObjectHistory>,
    /// The initial value of a register.
    pub initial: Id,
}

/// Reads what the operations of a history mean for a specification.
pub fn compile(history: &History, spec: Spec, initial: Option<&Value>) -> Result<Compiled, BadOperation> {
    let numbers = Numbers::of_history(history, initial);
    let mut parts: Vec<ObjectHistory> = Vec::new();
    let mut known: FxHashMap<(Option<&str>, Option<Id>), usize> = FxHashMap::default();
    for (number, operation) in history.operations.iter().enumerate() {
        let bad = || BadOperation { number, found: operation.to_string(), spec: spec.name(), expected: spec.methods() };
        let (key, act) = act_of(operation, spec, &numbers).ok_or_else(bad)?;
        let (act, ret) = match is_refused(operation, act) {
            true => (looking(spec), Ret::Unknown),
            false => (act, ret_of(operation, (spec, act), &numbers).ok_or_else(bad)?),
        };
        let part = *known.entry((operation.object.as_deref(), key)).or_insert_with(|| {
            parts.push(ObjectHistory { steps: Vec::new() });
            parts.len() - 1
        });
        parts[part].steps.push(Step { act, ret, from: operation.call, to: operation.ret, operation: number });
    }
    let is_nil = history.operations.iter().any(|operation| {
        operation.args.is_empty() && operation.result == Some(Value::Nil) && normal(&operation.method) == "read"
    });
    let initial = initial.cloned().unwrap_or(if is_nil { Value::Nil } else { Value::Int(0) });
    Ok(Compiled { parts, initial: numbers.of_value(&initial) })
}

/// Whether an operation that puts something in says that it did not, since there was no room: it changed nothing.
fn is_refused(operation: &Operation, act: Act) -> bool {
    let puts = matches!(act, Act::PushBack(_) | Act::PushFront(_) | Act::Offer(_));
    puts && operation.result == Some(Value::Bool(false))
}

/// What changes nothing, of a container.
fn looking(spec: Spec) -> Act {
    if spec == Spec::PriorityQueue { Act::PeekMin } else { Act::PeekBack }
}

/// The numbers of values, in their order.
struct Numbers(FxHashMap<Value, Id>);

impl Numbers {
    fn of_history(history: &History, initial: Option<&Value>) -> Numbers {
        let mut all: Vec<Value> = vec![Value::Nil, Value::Int(0)];
        all.extend(initial.cloned());
        for operation in &history.operations {
            for value in operation.args.iter().chain(&operation.result) {
                all.push(value.clone());
                if let Value::List(values) = value {
                    all.extend(values.iter().cloned());
                }
            }
        }
        all.sort();
        all.dedup();
        Numbers(all.into_iter().enumerate().map(|(number, value)| (value, number as Id)).collect())
    }

    fn of_value(&self, value: &Value) -> Id {
        self.0.get(value).copied().unwrap_or_default()
    }
}

/// A method's name without case and separators.
fn normal(method: &str) -> String {
    let letters = method.rsplit("::").next().unwrap_or(method).chars().filter(|letter| letter.is_alphanumeric());
    let name: String = letters.flat_map(char::to_lowercase).collect();
    match name.as_str() {
        "get" | "load" | "value" => "read".to_string(),
        _ => name,
    }
}

fn act_of(operation: &Operation, spec: Spec, numbers: &Numbers) -> Option<(Option<Id>, Act)> {
    // Jepsen gives several arguments as one list.
    let args: &[Value] = match operation.args.as_slice() {
        [Value::List(values)] if matches!(spec, Spec::Register | Spec::Map) => values,
        args => args,
    };
    let id = |number: usize| args.get(number).map(|value| numbers.of_value(value));
    let amount = |default: i64| match args.first() {
        Some(Value::Int(amount)) => Some(*amount),
        None | Some(Value::Nil | Value::Unknown) => Some(default), // what is not known is not judged
        _ => None,
    };
    let name = normal(&operation.method);
    let of_name = |name: &str| act_of_name(name, spec, &id, &amount);
    of_name(&name).or_else(|| of_name(name.strip_prefix("try")?))
}

/// What a method of this name does; its arguments by their numbers.
fn act_of_name(
    name: &str,
    spec: Spec,
    id: &dyn Fn(usize) -> Option<Id>,
    amount: &dyn Fn(i64) -> Option<i64>,
) -> Option<(Option<Id>, Act)> {
    let act = match (spec, name) {
        (Spec::Register, "read") => Act::Read,
        (Spec::Register, "write" | "set" | "store") => Act::Write(id(0)?),
        (Spec::Register, "cas" | "compareandset" | "compareexchange" | "compareandswap") => Act::Cas(id(0)?, id(1)?),
        (Spec::Counter, "read" | "count") => Act::Count,
        (Spec::Counter, "add") => Act::Add(amount(1)?),
        (Spec::Counter, "inc" | "increment") => Act::Add(amount(1)?),
        (Spec::Counter, "dec" | "decrement") => Act::Add(amount(1)?.checked_neg()?),
        (Spec::Counter, "fetchadd" | "getandadd") => Act::FetchAdd(amount(1)?),
        (Spec::Counter, "fetchinc" | "getandincrement") => Act::FetchAdd(1),
        (Spec::Stack, "push") => Act::PushBack(id(0)?),
        (Spec::Stack, "pop") => Act::PopBack,
        (Spec::Stack, "peek" | "top") => Act::PeekBack,
        (Spec::Queue, "enqueue" | "enq" | "push" | "put" | "offer" | "send" | "add" | "insert") => {
            Act::PushBack(id(0)?)
        }
        (Spec::Queue, "dequeue" | "deq" | "pop" | "take" | "poll" | "recv" | "receive" | "remove") => Act::PopFront,
        (Spec::Queue, "peek" | "front") => Act::PeekFront,
        (Spec::Deque, "pushfront" | "pushleft" | "addfirst" | "offerfirst") => Act::PushFront(id(0)?),
        (Spec::Deque, "pushback" | "pushright" | "addlast" | "offerlast" | "push") => Act::PushBack(id(0)?),
        (Spec::Deque, "popfront" | "popleft" | "removefirst" | "pollfirst" | "steal") => Act::PopFront,
        (Spec::Deque, "popback" | "popright" | "removelast" | "polllast" | "pop") => Act::PopBack,
        (Spec::Deque, "peekfront" | "front" | "peekfirst") => Act::PeekFront,
        (Spec::Deque, "peekback" | "back" | "peeklast") => Act::PeekBack,
        (Spec::PriorityQueue, "insert" | "push" | "add" | "offer" | "enqueue") => Act::Offer(id(0)?),
        (Spec::PriorityQueue, "deletemin" | "pop" | "extractmin" | "popmin" | "poll" | "dequeue" | "removemin") => {
            Act::PopMin
        }
        (Spec::PriorityQueue, "min" | "peek" | "peekmin" | "top") => Act::PeekMin,
        (Spec::Set, "add" | "insert") => return Some((Some(id(0)?), Act::Insert)),
        (Spec::Set, "remove" | "delete" | "erase") => return Some((Some(id(0)?), Act::Remove)),
        (Spec::Set, "contains" | "has" | "read") => return Some((Some(id(0)?), Act::Contains)),
        (Spec::Map, "put" | "set" | "insert" | "write" | "store") => return Some((Some(id(0)?), Act::Put(id(1)?))),
        (Spec::Map, "putifabsent" | "insertifabsent" | "tryinsert") => {
            return Some((Some(id(0)?), Act::PutIfAbsent(id(1)?)));
        }
        (Spec::Map, "read" | "lookup" | "find") => return Some((Some(id(0)?), Act::Get)),
        (Spec::Map, "remove" | "delete" | "erase") => return Some((Some(id(0)?), Act::Remove)),
        (Spec::Map, "contains" | "containskey" | "has") => return Some((Some(id(0)?), Act::Contains)),
        _ => return None,
    };
    Some((None, act))
}

/// What a result tells, by what the operation does; nothing where it cannot be a result of it.
fn ret_of(operation: &Operation, (spec, act): (Spec, Act), numbers: &Numbers) -> Option<Ret> {
    let Some(result) = operation.result.as_ref().filter(|result| **result != Value::Unknown) else {
        return Some(Ret::Unknown);
    };
    let is_empty = |text: &str| matches!(text, "empty" | "EMPTY" | "none" | "None" | "null");
    // Jepsen gives a map's answer as the pair of key and value.
    let result = match (act, result) {
        (Act::Get, Value::List(values)) if values.len() == 2 => &values[1],
        (_, result) => result,
    };
    let ret = match (act, result) {
        (Act::Read, value) => Ret::Value(numbers.of_value(value)),
        (Act::Count | Act::FetchAdd(_), Value::Int(number)) => Ret::Number(*number),
        (Act::Count | Act::FetchAdd(_), _) => return None,
        (Act::Add(_), _) => Ret::Unknown,
        (Act::Cas(..) | Act::Insert | Act::Contains | Act::Remove | Act::PutIfAbsent(_), Value::Bool(value)) => {
            Ret::Bool(*value)
        }
        (Act::Cas(..) | Act::Insert | Act::Contains, Value::Int(value @ (0 | 1))) => Ret::Bool(*value == 1),
        (Act::Remove, Value::Int(value @ (0 | 1))) if spec == Spec::Set => Ret::Bool(*value == 1),
        (Act::Cas(..) | Act::Contains, _) => return None,
        (Act::PushBack(_) | Act::PushFront(_) | Act::Offer(_) | Act::Write(_) | Act::Insert | Act::Put(_), _) => {
            Ret::Unknown
        }
        (Act::Remove | Act::PutIfAbsent(_), Value::Nil) => Ret::Unknown,
        (_, Value::Nil) => Ret::Nothing,
        (_, Value::Text(text)) if is_empty(text) => Ret::Nothing,
        (_, value) => Ret::Value(numbers.of_value(value)),
    };
    Some(ret)
}
