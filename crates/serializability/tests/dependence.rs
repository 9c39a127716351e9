//! The dependence of events ([`uses`], [`Mode::relation`]) against the step semantics: what is independent may change places.

use foretrace_serializability::{Mode, Relation, uses};
use foretrace_trace::random::Random;
use foretrace_trace::strategies::{Shape, random_trace};
use foretrace_trace::{Data, EventId, Model, Op, Semantics, State, ThreadId, Trace, TraceBuilder, Value};

/// What the order of two events of different threads means, by what they use.
fn relation(trace: &Trace, one: EventId, other: EventId) -> Relation {
    let [one, other] = [one, other].map(|event| uses(&trace.event(event).op));
    let pairs = one.iter().flatten().flat_map(|own| other.iter().flatten().map(move |theirs| (own, theirs)));
    let met = pairs.filter(|(own, theirs)| own.0 == theirs.0).map(|(own, theirs)| own.1.relation(theirs.1));
    met.fold(Relation::Independent, |found, next| match (found, next) {
        (Relation::Race, _) | (_, Relation::Race) => Relation::Race,
        (Relation::Ordered, _) | (_, Relation::Ordered) => Relation::Ordered,
        _ => Relation::Independent,
    })
}

/// The states after some events, one for each choice of their signals; none where they cannot come in this order.
fn after(semantics: &Semantics<'_>, state: &State, events: &[EventId]) -> Vec<State> {
    events.iter().fold(vec![state.clone()], |states, event| {
        let step = |state: State| {
            let waiting = semantics.releasable(&state, *event);
            let choices = if waiting.is_empty() { vec![None] } else { waiting.into_iter().map(Some).collect() };
            let next = move |choice: Option<ThreadId>| {
                let mut state = state.clone();
                semantics.step(&mut state, *event, choice).is_ok().then_some(state)
            };
            choices.into_iter().filter_map(next).collect::<Vec<State>>()
        };
        states.into_iter().flat_map(step).collect()
    })
}

/// Whether the order of two events is that of their threads' start or end, or of the parts of a step.
fn is_of_threads(trace: &Trace, events: [EventId; 2]) -> bool {
    let of = |one: EventId, other: EventId| match trace.event(one).op {
        Op::Fork { child } | Op::Join { child } => child == trace.event(other).thread,
        _ => trace.event(one).part.is_some(),
    };
    of(events[0], events[1]) || of(events[1], events[0])
}

#[derive(Default)]
struct Seen {
    independent: u32,
    without_effect: u32,
    exclude: u32,
    race: u32,
}

/// Holds the relation of each two next events of a state against what the semantics does.
fn look_at(trace: &Trace, semantics: &Semantics<'_>, state: &State, seen: &mut Seen) {
    let next: Vec<EventId> = semantics.next_events(state).collect();
    for (place, one) in next.iter().enumerate() {
        for other in next[place + 1..].iter().filter(|other| !is_of_threads(trace, [*one, **other])) {
            let relation = relation(trace, *one, *other);
            let [first, second] = [one, other].map(|event| semantics.enabled(state, *event).is_ok());
            let [forth, back] = [[*one, *other], [*other, *one]].map(|order| after(semantics, state, &order));
            let [one_then, other_then] = [(one, other), (other, one)].map(|(event, then)| {
                let states = after(semantics, state, &[*event]);
                states.iter().map(|state| semantics.enabled(state, *then).is_ok()).collect::<Vec<bool>>()
            });
            let told = format!("{:?}, {:?}: {relation:?}", trace.event(*one).op, trace.event(*other).op);
            match relation {
                Relation::Independent => {
                    seen.independent += u32::from(first && second);
                    seen.without_effect += u32::from(first != second);
                    assert!(forth.iter().all(|state| back.contains(state)), "{told}");
                    assert!(back.iter().all(|state| forth.contains(state)), "{told}");
                    assert!(one_then.iter().all(|enabled| *enabled == second), "{told}");
                    assert!(other_then.iter().all(|enabled| *enabled == first), "{told}");
                }
                // Where one order happens the other cannot.
                Relation::Ordered => {
                    seen.exclude += 1;
                    assert!(!(first && second), "{told}");
                }
                Relation::Race => seen.race += u32::from(first && second && forth != back),
            }
        }
    }
}

#[test]
fn independent_events_change_places_and_ordered_ones_exclude_each_other() {
    let mut seen = Seen::default();
    for seed in 0..600 {
        let (trace, observed) = random_trace(seed, &Shape { events: 16, ..Shape::default() });
        let models = [Model::Cam, Model::Ctp, Model::Mcm, Model::Avp].into_iter();
        for model in models.filter(|model| model.needs() <= trace.data) {
            let semantics = Semantics::new(&trace, &observed, model).expect("fits");
            let mut random = Random::new(seed);
            let mut state = semantics.initial();
            loop {
                look_at(&trace, &semantics, &state, &mut seen);
                let enabled: Vec<EventId> =
                    semantics.next_events(&state).filter(|event| semantics.enabled(&state, *event).is_ok()).collect();
                if enabled.is_empty() {
                    break;
                }
                let mut states = after(&semantics, &state, &[enabled[random.below(enabled.len())]]);
                state = states.swap_remove(random.below(states.len()));
            }
        }
    }
    let Seen { independent, without_effect, exclude, race } = seen;
    assert!(
        independent > 1000 && without_effect > 100 && exclude > 50 && race > 100,
        "{independent} pairs in both orders, {without_effect} of which one is blocked, {exclude} ordered, {race} races"
    );
}

#[test]
fn two_uses_that_race_may_lead_to_other_states() {
    // The wrong twin of the test above: were writes independent, it would fail.
    let mut b = TraceBuilder::new(Data::Concrete);
    b.int_var("x", 0);
    let one = b.put(1, "x", Some(Value::int(1))).id();
    let other = b.put(2, "x", Some(Value::int(2))).id();
    let (trace, observed) = b.finish().expect("valid");
    let semantics = Semantics::new(&trace, &observed, Model::Mcm).expect("fits");
    let [forth, back] = [[one, other], [other, one]].map(|order| after(&semantics, &semantics.initial(), &order));
    assert_ne!(forth, back);
    assert_eq!(relation(&trace, one, other), Relation::Race);
    assert_eq!(Mode::Write.relation(Mode::Read), Relation::Race);
}
