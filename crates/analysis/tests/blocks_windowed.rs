//! Blocks that are decided while a trace is read: against the verdicts of the whole trace.

use foretrace_analysis::serializability::{AskedBlocks, Bounds, Chosen, Method, Verdict, Windowed, decide_blocks};
use foretrace_serializability::{Choices, Decision};
use foretrace_trace::strategies::{Shape, random_trace};
use foretrace_trace::{
    Atomic, BlockKind, Blocks, Data, EventId, Format, Model, Observed, Op, Trace, TraceBuilder, file, validate,
};
use std::collections::BTreeMap;
use std::io::Cursor;
use std::sync::atomic::AtomicBool;

/// A block, by its first event and its kind.
type Key = (EventId, BlockKind);

fn choices(model: Model) -> Choices {
    Choices { shorten: false, ..Choices::new(model) }
}

/// Of each block of the whole trace whether it is violated itself.
fn whole(trace: &Trace, observed: &Observed, blocks: &Blocks, model: Model) -> BTreeMap<Key, bool> {
    let stop = AtomicBool::new(false);
    let bounds = Bounds { of_block: None, deadline: None, work: None, stop: &stop };
    let (choices, method, observed_only) = (choices(model), Method::Explore, false);
    let asked = AskedBlocks { trace, observed, blocks, wanted: &|_| true, choices, method, observed_only };
    let mut found = BTreeMap::new();
    decide_blocks(&asked, &bounds, &mut |_, judgement, _| {
        let block = &blocks.all()[judgement.block];
        found.insert((block.first, block.kind), matches!(judgement.decision, Decision::Violated(_)));
        Ok(())
    })
    .expect("they are decided");
    found
}

/// What is said of each block while the trace is read. Where a thread begins that nothing forks, no block before counts as safe.
fn windowed(trace: &Trace, chosen: Chosen, model: Model, capacity: u64, step: u64) -> BTreeMap<Key, Verdict> {
    let mut text = Vec::new();
    file::write_to(&mut text, trace, Format::JSONL).expect("it is written");

    let mut tail = file::tail_from(Cursor::new(text), "trace").expect("it begins as a trace");
    let stop = AtomicBool::new(false);
    let bounds = Bounds { of_block: None, deadline: None, work: None, stop: &stop };
    let mut windowed = Windowed::new(chosen, choices(model), Method::Explore, capacity).every(step);
    let mut found: BTreeMap<Key, Verdict> = BTreeMap::new();
    let mut roots = 0;
    loop {
        let ended = tail.next().expect("it is valid").is_none();
        if tail.roots() > roots {
            found.values_mut().filter(|verdict| **verdict == Verdict::Safe).for_each(|verdict| *verdict = Verdict::Cut);
            roots = tail.roots();
        }
        if ended || windowed.is_due(&tail) {
            let decided = windowed.decide(&mut tail, ended, &|_| true, &bounds, &mut |decided| {
                if let Some(found) = &decided.found {
                    validate(&found.lent.trace).expect("what is kept is a trace");
                }
                let earlier = found.insert((decided.first, decided.kind), decided.verdict);
                assert_eq!(earlier, None, "{} is decided once", decided.first);
                Ok(())
            });
            decided.expect("they are decided");
        }
        if ended {
            return found;
        }
    }
}

#[derive(Default, Debug)]
struct Tally {
    violated: u32,
    safe: u32,
    cut: u32,
    missed: u32,
}

impl Tally {
    /// Violated only where the whole trace's block is, safe only where it is not; where all is kept, exactly so.
    fn compare(&mut self, whole: &BTreeMap<Key, bool>, windowed: &BTreeMap<Key, Verdict>, fits: bool, told: &str) {
        assert_eq!(whole.keys().collect::<Vec<_>>(), windowed.keys().collect::<Vec<_>>(), "{told}");
        for (key, violated) in whole {
            let verdict = windowed[key];
            match verdict {
                Verdict::Violated => self.violated += 1,
                Verdict::Safe => self.safe += 1,
                Verdict::Cut => self.cut += 1,
                Verdict::Limit => panic!("{told}: there is no limit"),
            }
            let fits_to = match (verdict, violated) {
                (Verdict::Violated, violated) => *violated,
                (_, true) => !fits && verdict == Verdict::Cut,
                (_, false) => true,
            };
            assert!(fits_to, "{told}: block {key:?} is {violated} in the whole trace, {verdict:?} in the window");
            self.missed += u32::from(*violated && verdict != Verdict::Violated);
        }
    }
}

fn models(trace: &Trace) -> Vec<Model> {
    let all = [Model::Cam, Model::Ctp, Model::Mcm, Model::Avp];
    all.into_iter().filter(|model| model.needs() <= trace.data).collect()
}

/// Whether all threads but the first are forked, or none is: a thread that comes as nothing foretold may violate blocks whose events went.
fn are_alike(trace: &Trace) -> bool {
    let forked = trace.events.iter().filter_map(|event| match event.op {
        Op::Fork { child } => Some(child),
        _ => None,
    });
    let forked: Vec<_> = forked.collect();
    let first = trace.events.first().map(|event| event.thread);
    forked.is_empty() || trace.events.iter().all(|event| Some(event.thread) == first || forked.contains(&event.thread))
}

/// What a choice stands for in a trace that is known.
fn chosen(atomic: Atomic, trace: &Trace) -> Chosen {
    match atomic.resolved(trace) {
        Atomic::Auto if trace.events.iter().any(|event| matches!(event.op, Op::Begin { .. })) => Chosen::All,
        Atomic::Auto => Chosen::Bare,
        other => Chosen::Only(other),
    }
}

fn count(usual: u64) -> u64 {
    std::env::var("FORETRACE_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

#[test]
fn random_traces_give_the_same() {
    let mut tally = [Tally::default(), Tally::default()];
    for seed in 0..count(300) {
        let (events, data) = (8 + (seed % 10) as usize, [None, Some(Data::Symbolic)][(seed % 2) as usize]);
        let (trace, observed) = random_trace(seed, &Shape { events, data, ..Shape::default() });
        let atomic = [Atomic::Marked, Atomic::Auto, Atomic::Sections, Atomic::Threads][(seed / 7 % 4) as usize];
        for model in models(&trace) {
            let expected = whole(&trace, &observed, &atomic.blocks(&trace), model);
            for (at, capacity) in [u64::MAX, 4 + seed % 6].into_iter().enumerate() {
                let found = windowed(&trace, chosen(atomic, &trace), model, capacity, 1 + seed % 3);
                let told = format!("seed {seed}, {atomic}, {model}, {capacity}");
                tally[at].compare(&expected, &found, capacity == u64::MAX && are_alike(&trace), &told);
            }
        }
    }
    let [fits, cut] = &tally;
    assert!(fits.violated > 100 && fits.safe > 100 && fits.missed == 0, "{tally:?}");
    assert!(cut.violated > 50 && cut.safe > 20 && cut.cut > 50, "{tally:?}");
}

/// A thread forks others, which access variables in marked blocks, some under locks, and joins them; and again. What a round did comes before
/// the next one: events go, and verdicts stay those of the whole trace.
fn rounds(seed: u64, data: Data) -> (Trace, Observed) {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut random = move |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below
    };
    let mut builder = TraceBuilder::new(data);
    if data == Data::Symbolic {
        for var in ["x", "y"] {
            builder.int_var(var, 0);
        }
    }
    builder.sync("m", foretrace_trace::SyncKind::Mutex { recursive: false });
    builder.sync("s", foretrace_trace::SyncKind::Semaphore { init: 0 });
    for round in 0..6 {
        let children = [2 + 2 * round, 3 + 2 * round];
        for child in children {
            builder.fork(1, child);
        }
        let locked = random(2) == 0;
        for _ in 0..3 {
            let thread = children[random(2) as usize];
            let var = ["x", "y"][random(2) as usize];
            builder.begin(thread);
            if locked {
                builder.acquire(thread, "m");
            }
            let interrupted = !locked && random(2) == 0;
            match data {
                Data::Symbolic => {
                    builder.read(thread, var, "p");
                    if interrupted {
                        builder.write(children[0] + children[1] - thread, var, "1");
                    }
                    builder.write(thread, var, "(+ p 1)");
                }
                _ => {
                    builder.saw(thread, var, None);
                    builder.put(thread, var, None);
                }
            }
            if locked {
                builder.release(thread, "m");
            }
            builder.end(thread);
        }
        if random(3) == 0 {
            builder.post(children[0], "s");
            builder.down(children[1], "s");
        }
        for child in children {
            builder.join(1, child);
        }
    }
    builder.finish().expect("a valid trace")
}

#[test]
fn what_comes_before_all_that_is_kept_goes_without_a_loss() {
    let (mut tally, mut bounded) = (Tally::default(), Tally::default());
    for seed in 0..count(20).min(400) {
        for data in [Data::None, Data::Symbolic] {
            let (trace, observed) = rounds(seed, data);
            for model in models(&trace) {
                let expected = whole(&trace, &observed, &Atomic::Marked.blocks(&trace), model);
                for (capacity, tally) in [(u64::MAX, &mut tally), (40, &mut bounded)] {
                    let found = windowed(&trace, Chosen::Only(Atomic::Marked), model, capacity, 4);
                    let told = format!("seed {seed}, {model}, {capacity}");
                    tally.compare(&expected, &found, capacity == u64::MAX, &told);
                }
            }
        }
    }
    assert!(tally.violated > 50 && tally.safe > 50 && tally.missed == 0, "{tally:?}");
    assert!(bounded.safe > 20, "{bounded:?}");
}

/// What a thread does after it has forked another one may come after what that one does: it is kept as long as the other thread may
/// begin a block.
#[test]
fn what_a_parent_does_after_a_fork_is_kept_for_the_child() {
    let mut builder = TraceBuilder::new(Data::Symbolic);
    builder.int_var("x", 0);
    builder.fork(1, 2);
    builder.write(1, "x", "1");
    builder.begin(2);
    builder.read(2, "x", "p");
    builder.read(2, "x", "q");
    builder.end(2);
    let trace = builder.build().expect("a trace");
    let block = (EventId(2), BlockKind::Mark);
    for step in 1..5 {
        let found = windowed(&trace, Chosen::All, Model::Cam, u64::MAX, step);
        assert_eq!(found[&block], Verdict::Violated, "decided every {step} events");
    }
}
