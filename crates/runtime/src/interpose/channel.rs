//! What is kept of a pipe, an event counter or a queue, and of each call on it: a semaphore that counts writes, and the order of the calls.

use super::channel_numbers;
use super::edges::{self, Edges};
use super::unseen::{self, What};
use crate::hooks::begin::Begin;
use crate::hooks::occupied::Occupied;
use crate::log;
use crate::message_order::{Order, Rounds, SEVERAL};
use crate::record::{Kind, MESSAGES, TRIED, tried_if};
use crate::sys;
use crate::threads::Thread;
use crate::waiting::{self, Bucket};

/// Apart from all addresses.
pub(super) const HIGH: usize = 1 << 62;
/// Where the bucket has the order of all signals and of waits for them.
pub(super) const SIGNALS_KEY: usize = HIGH | 6;

/// What is kept of a channel, as words of its object: its number, the writes that were not read, and the bytes of each. These are 0 if they
/// differ, or if all are read at once.
pub(super) struct Channel {
    number: u64,
    pub(super) writes: u64,
    bytes: u64,
}

pub(super) fn get(bucket: &Bucket, key: usize) -> Option<Channel> {
    bucket.object(key).map(|object| {
        let [number, writes, bytes] = object.words.get();
        Channel { number, writes, bytes }
    })
}

/// The channel of this key; a new one has this many bytes in each write.
fn get_or_new(bucket: &Bucket, key: usize, bytes: u64) -> Channel {
    get(bucket, key).unwrap_or_else(|| {
        let new = Channel::new(bytes);
        put(bucket, key, &new);
        new
    })
}

pub(super) fn put(bucket: &Bucket, key: usize, channel: &Channel) {
    bucket.object_or_new(key).words.set([channel.number, channel.writes, channel.bytes]);
}

pub(super) fn record(thread: &'static Thread, kind: Kind, channel: &Channel, count: u64, place: usize) {
    channel_numbers::record(thread, kind, channel.number, count, place);
}

impl Channel {
    pub(super) fn new(bytes: u64) -> Channel {
        Channel { number: channel_numbers::next(), writes: 0, bytes }
    }

    /// The one of this number, for its records.
    pub(super) fn of_number(number: u64) -> Channel {
        Channel { number, writes: 0, bytes: 0 }
    }

    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// Whether the log does not have its semaphore yet.
    fn is_unwritten(&self) -> bool {
        self.bytes == UNWRITTEN
    }
}

/// A call among the others on a channel, from what it departs from to where it arrives.
pub(super) struct Turn {
    thread: &'static Thread,
    object: u64,
    round: u64,
    place: usize,
}

impl Turn {
    /// Begins it, before its other records. The thread is inside of a hook, and the bucket locked.
    pub(super) fn new(
        thread: &'static Thread,
        (bucket, key): (&Bucket, usize),
        channel: &Channel,
        place: usize,
        call: impl FnOnce(&mut Order) -> Rounds,
    ) -> Turn {
        let kept = bucket.object_or_new(order_key(key));
        let mut order = Order::from_words(kept.words.get());
        let Rounds { before: [first, second], own } = call(&mut order);
        kept.words.set(order.words());
        let object = MESSAGES + channel.number * 16;
        log::sync(thread, Kind::Depart, place, object, first | second << 32);
        Turn { thread, object, round: own, place }
    }

    /// Ends it, after them.
    pub(super) fn end(self) {
        log::sync(self.thread, Kind::Arrive, self.place, self.object, self.round);
    }
}

/// Where the bucket of a channel keeps the order of its calls.
pub(super) fn order_key(channel: usize) -> usize {
    channel | 1
}

/// In place of the bytes of each write: an event counter that gives one back for each read.
pub(super) const ONE_BY_ONE: u64 = u64::MAX;
/// In place of the bytes of each write: a pipe that was waited for, and that no write has reached.
pub(super) const UNWRITTEN: u64 = u64::MAX - 1;
/// Of a write to such a counter that adds more, only so many count.
pub(super) const MOST_AT_ONCE: u64 = 64;

/// What is about to be written.
#[derive(Clone, Copy)]
pub struct Message {
    pub bytes: u64,
    /// What is added to an event counter.
    pub value: u64,
    /// See [`text_of`].
    pub text: u64,
}

impl Message {
    /// One of which only the length is looked at.
    pub fn of_length(bytes: u64) -> Message {
        Message { bytes, value: 1, text: SEVERAL }
    }
}

/// A message is about to be written. How many posts that is.
pub fn post(thread: &'static Thread, key: usize, message: Message, place: usize) -> u64 {
    thread.begin();
    let bucket = waiting::lock(key);
    let posts = post_locked(thread, (bucket, key), message, place);
    bucket.unlock();
    thread.end();
    posts
}

/// The same with the bucket locked, inside of a hook.
pub(super) fn post_locked(
    thread: &'static Thread,
    (bucket, key): (&Bucket, usize),
    message: Message,
    place: usize,
) -> u64 {
    let Message { bytes, value, text } = message;
    let known = get(bucket, key);
    let mut channel = known.unwrap_or_else(|| Channel::new(UNWRITTEN));
    if channel.is_unwritten() {
        channel.bytes = bytes;
    }
    let posts = if channel.bytes == ONE_BY_ONE { value.min(MOST_AT_ONCE) } else { 1 };
    let _step = log::together(thread, posts + 2 + edges::of_channel(key).count() as u64);
    let write = |order: &mut Order| order.write(text);
    let turn = Turn::new(thread, (bucket, key), &channel, place, write);
    for _ in 0..posts {
        record(thread, Kind::Post, &channel, channel.writes, place);
        channel.writes += 1;
    }
    edges::of_channel(key).for_each(|edges| edges.write(thread, place));
    turn.end();
    if channel.bytes != bytes && channel.bytes != ONE_BY_ONE {
        channel.bytes = 0;
    }
    put(bucket, key, &channel);
    posts
}

/// They were not written after all.
pub fn take_back(thread: &'static Thread, key: usize, posts: u64, place: usize) {
    let error = sys::errno();
    thread.begin();
    let bucket = waiting::lock(key);
    if let Some(mut channel) = get(bucket, key) {
        channel.writes = channel.writes.saturating_sub(posts);
        record(thread, Kind::SemaphoreInit, &channel, channel.writes, place);
        edges::of_channel(key).for_each(|edges| edges.take_back(thread, place));
        put(bucket, key, &channel);
    }
    bucket.unlock();
    thread.end();
    sys::set_errno(error);
}

/// What is recorded in the same step as that a channel holds something: so many records, before and after that.
pub struct Around<'a> {
    pub records: u64,
    pub before: &'a dyn Fn(),
    pub after: &'a dyn Fn(),
}

/// A channel holds something: what is done from now on comes after what put it there. Whether that is known. The thread is inside of a
/// hook.
pub fn seen(thread: &'static Thread, key: usize, around: &Around<'_>, place: usize) -> bool {
    let bucket = waiting::lock(key);
    let found = get(bucket, key).filter(|channel| channel.writes > 0);
    let _step = log::together(thread, 2 * u64::from(found.is_some()) + around.records);
    (around.before)();
    if let Some(channel) = &found {
        record(thread, Kind::Down, channel, (channel.writes - 1) | TRIED, place); // something else might have become ready
        record(thread, Kind::Post, channel, channel.writes - 1, place);
    }
    (around.after)();
    bucket.unlock();
    found.is_some()
}

/// The same where each write is reported once: what comes next was not written before, or it would have been reported, too.
pub(super) fn reported(
    thread: &'static Thread,
    key: usize,
    (edges, around): (&Edges, &Around<'_>),
    place: usize,
) -> bool {
    let bucket = waiting::lock(key);
    let channel = get_or_new(bucket, key, UNWRITTEN);
    let count = edges.count();
    let _step = log::together(thread, count + 2 + around.records);
    let turn = Turn::new(thread, (bucket, key), &channel, place, |order| order.read(true));
    (around.before)();
    edges.report(thread, place);
    (around.after)();
    turn.end();
    bucket.unlock();
    count > 0
}

/// A channel is about to be watched for these events. The thread is inside of a hook.
pub(super) fn asked_for(thread: &'static Thread, key: usize, (edges, events): (&Edges, u32), place: usize) {
    let bucket = waiting::lock(key);
    let is_ready = get(bucket, key).is_some_and(|channel| channel.writes > 0);
    edges.ask(thread, (key, events), is_ready, place);
    bucket.unlock();
}

/// Whether nothing is known to be in a channel, or nothing that was not reported. The thread is inside of a hook.
pub fn is_empty(key: usize, edges: Option<&Edges>) -> bool {
    let bucket = waiting::lock(key);
    let is_empty = get(bucket, key).is_none_or(|channel| holds_nothing(&channel, edges));
    bucket.unlock();
    is_empty
}

fn holds_nothing(channel: &Channel, edges: Option<&Edges>) -> bool {
    channel.writes == 0 || edges.is_some_and(|edges| edges.are_kept() && edges.count() == 0)
}

/// What a read came to.
#[derive(Clone, Copy)]
pub struct Taken {
    pub bytes: u64,
    /// Whether a read takes all that was written.
    pub all: bool,
    /// Whether there was less than was asked for.
    pub left_nothing: bool,
    /// Whether the call waits until there is something.
    pub waits: bool,
}

/// Something was read.
pub fn down(thread: &'static Thread, key: usize, taken: Taken, place: usize) {
    thread.begin();
    let bucket = waiting::lock(key);
    let is_known = down_locked(thread, bucket, (key, taken), place);
    bucket.unlock();
    thread.end();
    if !is_known {
        unseen::mark(thread, What::anything(c"read"), place); // somebody wrote in a way that nothing here sees
    }
}

/// The same with the bucket locked, inside of a hook. Whether a write is known.
pub(super) fn down_locked(
    thread: &'static Thread,
    bucket: &Bucket,
    (key, taken): (usize, Taken),
    place: usize,
) -> bool {
    let Some(mut channel) = get(bucket, key).filter(|channel| channel.writes > 0) else { return false };
    let is_semaphore = channel.bytes == ONE_BY_ONE;
    let downs = match channel.bytes {
        ONE_BY_ONE => 1,
        _ if taken.all => channel.writes,
        each => taken.bytes.checked_div(each).unwrap_or(1).max(1).min(channel.writes),
    };
    let read = |order: &mut Order| order.read(taken.left_nothing && !is_semaphore);
    let _step = log::together(thread, downs + 2);
    let turn = Turn::new(thread, (bucket, key), &channel, place, read);
    for nth in 0..downs {
        channel.writes -= 1;
        record(thread, Kind::Down, &channel, channel.writes | tried_if(nth > 0 || !taken.waits), place);
    }
    put(bucket, key, &channel);
    turn.end();
    true
}

/// A read found nothing, or a call that waits for several descriptors did not report this one: what is written next comes after it. A write
/// that began since then may or may not have come first: it stays without an order. The thread is inside of a hook.
pub fn found_empty(thread: &'static Thread, key: usize, edges: Option<&Edges>, place: usize) {
    let bucket = waiting::lock(key);
    found_empty_locked(thread, (bucket, key), edges, place);
    bucket.unlock();
}

/// The same with the bucket locked.
pub(super) fn found_empty_locked(
    thread: &'static Thread,
    (bucket, key): (&Bucket, usize),
    edges: Option<&Edges>,
    place: usize,
) {
    let channel = get_or_new(bucket, key, UNWRITTEN);
    let empty = |order: &mut Order| match holds_nothing(&channel, edges) {
        true => order.read(true),
        false => Rounds::NONE,
    };
    let _step = log::together(thread, 2);
    Turn::new(thread, (bucket, key), &channel, place, empty).end();
}

/// A call that reads from a descriptor or moves its position, and where the bucket has the order of such calls.
#[derive(Clone, Copy)]
pub(super) struct OfFile {
    pub thread: &'static Thread,
    pub key: usize,
    pub place: usize,
}

impl OfFile {
    /// Calls the system in one step with the record: else of two threads the one that comes later might be recorded first.
    pub fn in_one_step(self, call: impl FnOnce() -> isize) -> isize {
        let OfFile { thread, key, place } = self;
        thread.begin();
        let bucket = waiting::lock(key);
        let result = call();
        take_turn(thread, (bucket, key), true, place);
        bucket.unlock();
        thread.end();
        result
    }

    /// Calls the library, which may allocate memory, and then records. A turn may end before the call, but not between.
    pub fn in_turn<R>(self, call: impl FnOnce() -> R) -> R {
        let OfFile { thread, key, place } = self;
        let error = sys::errno();
        thread.begin();
        thread.end();
        sys::set_errno(error);
        let result = call();
        let error = sys::errno();
        read_in_turn(thread, key, true, place);
        sys::set_errno(error);
        result
    }
}

/// The call meets those before it. The thread is inside of a hook.
fn take_turn(thread: &'static Thread, (bucket, key): (&Bucket, usize), left_nothing: bool, place: usize) {
    let stream = get_or_new(bucket, key, 0);
    let _step = log::together(thread, 2);
    Turn::new(thread, (bucket, key), &stream, place, |order| order.read(left_nothing)).end();
}

/// Something was read from the socket or file of this key: other reads are not where it was. If it left nothing, what is written next comes
/// after it.
pub fn read_in_turn(thread: &'static Thread, key: usize, left_nothing: bool, place: usize) {
    thread.begin();
    let bucket = waiting::lock(key);
    take_turn(thread, (bucket, key), left_nothing, place);
    bucket.unlock();
    thread.end();
}

/// Something is about to be written to the socket of this key. In the same step `then` makes one record more. The thread is inside of a hook.
pub fn write_in_turn(thread: &'static Thread, key: usize, place: usize, then: impl FnOnce()) {
    let bucket = waiting::lock(key);
    let socket = get_or_new(bucket, key, 0);
    let _step = log::together(thread, 3);
    Turn::new(thread, (bucket, key), &socket, place, |order| order.write(SEVERAL)).end();
    then();
    bucket.unlock();
}

/// A signal is about to be sent: it comes after waits for signals that found none. The thread is inside of a hook.
pub fn signal_sent(thread: &'static Thread, place: usize) {
    among_signals(thread, place, |order| Rounds { own: 0, ..order.write(0) });
}

/// A wait for signals found none before its limit: what is sent next comes after it. The thread is inside of a hook.
pub fn no_signal(thread: &'static Thread, place: usize) {
    among_signals(thread, place, |order| order.read(true));
}

fn among_signals(thread: &'static Thread, place: usize, call: impl FnOnce(&mut Order) -> Rounds) {
    let bucket = waiting::lock(SIGNALS_KEY);
    let signals = get_or_new(bucket, SIGNALS_KEY, UNWRITTEN);
    let _step = log::together(thread, 2);
    Turn::new(thread, (bucket, SIGNALS_KEY), &signals, place, call).end();
    bucket.unlock();
}
