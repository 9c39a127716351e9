//! Calls on pipes, event counters, queues and sockets. Each is several steps in one: no other thread gets a turn between them.

use super::execution::Taken;
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

/// The semaphore of the pipe, event counter or queue that a step is about, or what stands for other programs.
pub fn channel_of(step: &Taken) -> Option<u64> {
    let is_synchronisation = (Kind::Acquire..=Kind::BarrierInit).contains(&step.kind);
    match step.words[0] {
        address @ CHANNELS..NOTICES if is_synchronisation => Some(address),
        address @ MESSAGES..MESSAGES_END if is_synchronisation => Some(address - MESSAGES + CHANNELS),
        _ => None,
    }
}

/// Whether a step belongs to the call of the one right before it in its thread. A call departs, counts up or down, and arrives, at a socket twice. One
/// that only looks counts down and up.
fn goes_on(before: &Taken, step: &Taken) -> bool {
    use Kind::{Arrive, Depart, Down, Post};
    let counts = matches!((before.kind, step.kind), (Down, Down | Post | Arrive) | (Post, Post | Arrive));
    before.kind == Depart || counts || (before.kind, step.kind) == (Arrive, Arrive)
}

/// Says of each step of a thread what it is to the calls on channels.
pub fn mark(steps: &mut [Taken]) {
    for index in 0..steps.len() {
        let (before, from) = steps.split_at_mut(index);
        let [step, rest @ ..] = from else { return };
        if channel_of(step).is_none() {
            continue;
        }
        let is_within = before.last().is_some_and(|before| channel_of(before).is_some() && goes_on(before, step));
        let next = rest.first().filter(|next| channel_of(next).is_some()).map(|next| next.kind);
        step.on_channel = match (step.kind, next) {
            _ if is_within => OnChannel::Within,
            (Kind::Depart, Some(Kind::Post | Kind::Down)) => OnChannel::Moves,
            _ => OnChannel::Looks,
        };
        // A report by `EPOLLET` counts down what was not reported, which is not all that is in the channel.
        let call = rest.iter().take_while(|next| matches!(next.kind, Kind::Down | Kind::Post));
        let last = call.filter(|next| next.kind == Kind::Down).filter_map(channel_of).last();
        step.takes_from = last.filter(|_| step.on_channel == OnChannel::Moves);
    }
}

#[cfg(test)]
mod tests {
    use super::super::execution::step;
    use super::*;

    /// What the steps of one thread are; each is a kind and where its object lies, 1 for what stands for other programs.
    fn marked(steps: &[(Kind, u64)]) -> Vec<OnChannel> {
        let address = |kind: Kind, at: u64| match (kind, at) {
            (Kind::Depart | Kind::Arrive, 0) => MESSAGES,
            (_, 0) => CHANNELS,
            (_, 1) => foretrace_runtime::record::OUTSIDE,
            (_, at) => at,
        };
        let mut steps: Vec<Taken> = steps.iter().map(|(kind, at)| step(0, *kind, 1, address(*kind, *at), 0)).collect();
        mark(&mut steps);
        steps.iter().map(|step| step.on_channel).collect()
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
        let mut steps =
            [step(0, Depart, 1, MESSAGES, 0), step(0, Down, 1, CHANNELS + 16, 0), step(0, Arrive, 1, MESSAGES, 0)];
        mark(&mut steps);
        assert_eq!(steps.map(|step| step.takes_from), [Some(CHANNELS + 16), None, None], "what was not reported");
        assert_eq!(
            marked(&[(Load4, 64), (Post, 64), (Depart, 96), (Arrive, 96)]),
            [No; 4],
            "a semaphore and a barrier"
        );
    }
}
