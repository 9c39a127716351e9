//! What the predictor's time goes into, each part by itself on a synthetic trace: `cargo bench --bench predictor`.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use foretrace::candidates::Candidates;
use foretrace::filters::Filters;
use foretrace::options::{CandidateSet, Options, Order};
use foretrace::solve::{Limits, Session};
use foretrace_encodings::{Encoder, Rules, TraceView, constant_reads};
use foretrace_index::{MustHappenBefore, TraceIndex};
use foretrace_trace::strategies::Synthetic;
use foretrace_trace::{Atomic, EventId, Trace, Triple, Value, observe};
use rustc_hash::FxHashMap;
use std::hint::black_box;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Hands the facts of a trace on, with its first candidates.
fn with_facts(trace: &Trace, most: usize, work: impl FnOnce(TraceView<'_>, &[Triple])) {
    let trace_index = TraceIndex::new(trace);
    let observed = observe(trace).expect("a valid trace");
    let clocks = MustHappenBefore::new(trace, &trace_index);
    let transactions = Atomic::Marked.transactions(trace);
    let candidates = Candidates::new(trace, &trace_index, &transactions);
    let triples: Vec<Triple> = candidates.triples(CandidateSet::Adjacent).take(most).collect();
    work(TraceView { trace, trace_index: &trace_index, observed: &observed, clocks: &clocks }, &triples);
}

/// JSON Lines with all checks.
fn parse(criterion: &mut Criterion) {
    let trace = Synthetic::large(10_000, 1).trace();
    let mut text = Vec::new();
    foretrace_trace::write_to(&mut text, &trace, foretrace_trace::Format::JSONL).expect("memory takes it");
    let mut group = criterion.benchmark_group("parse");
    group.throughput(Throughput::Elements(trace.events.len() as u64));
    group.bench_function("jsonl", |bencher| {
        bencher.iter(|| foretrace_trace::read_from(black_box(&text[..]), "trace.jsonl").expect("a valid trace"));
    });
    group.finish();
}

/// Must-happen-before and cut-points over all candidates, with what they prepare; all filters on single candidates.
fn filters(criterion: &mut Criterion) {
    let trace = Synthetic::large(10_000, 1).trace();
    let transactions = Atomic::Marked.transactions(&trace);
    let options = Options::new(trace.data);
    let mut group = criterion.benchmark_group("filters");
    group.throughput(Throughput::Elements(trace.events.len() as u64));
    with_facts(&trace, 200, |view, triples| {
        let TraceView { trace_index, .. } = view;
        let filters = Filters::new(view, &transactions, &options, &constant_reads(view));
        group.bench_function("orders and locks", |bencher| {
            bencher.iter(|| {
                let candidates = Candidates::new(&trace, trace_index, &transactions);
                let (remote_classes, mut parts, mut open) = (filters.remote_classes(), Vec::new(), 0);
                for pair in candidates.all_pairs(CandidateSet::Adjacent) {
                    filters.judge_remote_classes(pair, remote_classes.paired_with(pair), &mut parts);
                    open += parts.iter().filter(|part| part.refuted_by.is_none()).count();
                }
                open
            });
        });
        group.throughput(Throughput::Elements(triples.len() as u64));
        group.bench_function("one by one", |bencher| {
            bencher.iter(|| triples.iter().filter(|triple| filters.judge(**triple).is_some()).count());
        });
    });
    group.finish();
}

/// The constraints of a first query: for difference logic, and what is left where a theory sees to locks and reads.
fn encode(criterion: &mut Criterion) {
    let trace = Synthetic::dense(500, 1).trace();
    let rules = Rules::for_question(Options::new(trace.data).question);
    with_facts(&trace, 1, |view, triples| {
        let constants = constant_reads(view);
        criterion.bench_function("encode/all", |bencher| {
            bencher.iter(|| Encoder::new(view, rules.clone(), &constants).query(triples[0], None));
        });
        criterion.bench_function("encode/for schedules", |bencher| {
            bencher.iter(|| Encoder::for_schedules(view, rules.clone(), &constants).query(triples[0], None));
        });
    });
}

/// The theory of orders in Z3 and in a SAT solver, the constraints' encoding included.
fn order(criterion: &mut Criterion) {
    for (name, order, events) in [
        ("order/in Z3, 200 events", Order::Order, 200),
        ("order/in SAT, 200 events", Order::Sat, 200),
        ("order/in SAT, 2000 events", Order::Sat, 2_000),
    ] {
        let trace = Synthetic::dense(events, 1).trace();
        with_facts(&trace, 5, |view, triples| {
            let constants = constant_reads(view);
            criterion.bench_function(name, |bencher| bencher.iter(|| decide(view, triples, &constants, order)));
        });
    }
}

fn decide(view: TraceView<'_>, triples: &[Triple], constants: &FxHashMap<EventId, Value>, order: Order) {
    let rules = Rules::for_question(Options::new(view.trace.data).question);
    let stop = AtomicBool::new(false);
    let limits = Limits { timeout: Duration::from_secs(60), deadline: None, work: None, stop: &stop };
    let mut session = Session::new(view, rules, constants, order, 0);
    for triple in triples {
        black_box(session.decide(*triple, None, limits));
    }
}

criterion_group! {
    name = predictor;
    config = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_secs(1))
        .measurement_time(Duration::from_secs(3));
    targets = parse, filters, encode, order
}
criterion_main!(predictor);
