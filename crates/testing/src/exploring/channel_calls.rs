//! Calls on pipes, event counters, queues and sockets. Each is several steps in one: no other thread gets a turn between them.

use foretrace_runtime::record::{CHANNELS, Kind, MESSAGES, MESSAGES_END, NOTICES};

/// What a step is to the calls on channels.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum OnChannel {
    /// It belongs to none.
    #[default]
    No,
    /// Begins a call that writes to one channel, or reads from it.
    Moves,
    /// Begins another call, which may be about several channels or sockets.
    Looks,
    /// Belongs to the call that an earlier step of its thread began.
    Within,
}

/// The semaphore of the pipe, event counter or queue that a step of this kind and object is about, or what stands for other programs.
pub fn channel_of(kind: Kind, object: u64) -> Option<u64> {
    let is_synchronisation = (Kind::Acquire..=Kind::BarrierInit).contains(&kind);
    match object {
        address @ CHANNELS..NOTICES if is_synchronisation => Some(address),
        address @ MESSAGES..MESSAGES_END if is_synchronisation => Some(address - MESSAGES + CHANNELS),
        _ => None,
    }
}

/// Whether a step belongs to the call of the one right before it in its thread. A call departs, counts up or down, and arrives, at a socket twice. One
/// that only looks counts down and up.
fn goes_on(before: Kind, step: Kind) -> bool {
    use Kind::{Arrive, Depart, Down, Post};
    let counts = matches!((before, step), (Down, Down | Post | Arrive) | (Post, Post | Arrive));
    before == Depart || counts || (before, step) == (Arrive, Arrive)
}

/// What a step is to the calls on channels. It and those right before and after it in its thread, each by its kind and object.
pub fn on_channel(before: Option<(Kind, u64)>, step: (Kind, u64), after: Option<(Kind, u64)>) -> OnChannel {
    let of_channel = |(kind, object): (Kind, u64)| channel_of(kind, object).map(|_| kind);
    let Some(kind) = of_channel(step) else { return OnChannel::No };
    match (kind, after.and_then(of_channel)) {
        _ if before.and_then(of_channel).is_some_and(|before| goes_on(before, kind)) => OnChannel::Within,
        (Kind::Depart, Some(Kind::Post | Kind::Down)) => OnChannel::Moves,
        _ => OnChannel::Looks,
    }
}

/// The semaphore that a call counts down, which begins with a step before these of its thread: the last one, if it does. A report by `EPOLLET` counts
/// down what was not reported, which is not all that is in the channel.
pub fn takes_from(after: &[(Kind, u64)]) -> Option<u64> {
    let call = after.iter().take_while(|(kind, _)| matches!(kind, Kind::Down | Kind::Post));
    call.filter(|(kind, _)| *kind == Kind::Down).filter_map(|(kind, object)| channel_of(*kind, *object)).last()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the steps of one thread are; each is a kind and where its object lies, 1 for what stands for other programs.
    fn marked(steps: &[(Kind, u64)]) -> Vec<OnChannel> {
        let address = |kind: Kind, at: u64| match (kind, at) {
            (Kind::Depart | Kind::Arrive, 0) => MESSAGES,
            (_, 0) => CHANNELS,
            (_, 1) => foretrace_runtime::record::OUTSIDE,
            (_, at) => at,
        };
        let steps: Vec<(Kind, u64)> = steps.iter().map(|(kind, at)| (*kind, address(*kind, *at))).collect();
        let before = |index: usize| index.checked_sub(1).map(|before| steps[before]);
        (0..steps.len()).map(|index| on_channel(before(index), steps[index], steps.get(index + 1).copied())).collect()
    }

    #[test]
    fn a_call_is_one_step_and_two_calls_are_two() {
        use Kind::{Arrive, Depart, Down, Load4, Post};
        use OnChannel::{Looks, Moves, No, Within};
        let write = [(Depart, 0), (Post, 0), (Arrive, 0)];
        assert_eq!(marked(&write), [Moves, Within, Within]);
        let reads = [(Depart, 0), (Down, 0), (Down, 0), (Arrive, 0), (Depart, 0), (Down, 0), (Arrive, 0)];
        assert_eq!(marked(&reads), [Moves, Within, Within, Within, Moves, Within, Within]);
        assert_eq!(marked(&[(Down, 0), (Post, 0), (Down, 0), (Post, 0)]), [Looks, Within, Looks, Within]);
        assert_eq!(marked(&[(Depart, 0), (Arrive, 0), (Depart, 0), (Arrive, 0)]), [Looks, Within, Looks, Within]);
        assert_eq!(marked(&[(Depart, 0), (Arrive, 0), (Arrive, 1)]), [Looks, Within, Within]);
        assert_eq!(marked(&[(Depart, 1), (Depart, 0), (Arrive, 0)]), [Looks, Within, Within]);
        let reported =
            [(Down, CHANNELS), (Down, CHANNELS + 16), (Post, CHANNELS), (Arrive, MESSAGES), (Down, CHANNELS)];
        assert_eq!(takes_from(&reported), Some(CHANNELS + 16), "what was not reported");
        assert_eq!(takes_from(&reported[3..]), None);
        assert_eq!(
            marked(&[(Load4, 64), (Post, 64), (Depart, 96), (Arrive, 96)]),
            [No; 4],
            "a semaphore and a barrier"
        );
    }
}
