//! Which violation paths of blocks the checker takes, each with a twin that it refuses.

use crate::{CheckError, Checker, Link, PathKind, ViolationPath, Witness};
use foretrace_trace::{
    Atomic, Data, EventId, Feasibility, Independence, Model, Observed, Question, Trace, TraceBuilder, VarId,
};

const QUESTION: Question =
    Question { model: Model::Ctp, feasibility: Feasibility::Prefix, independence: Independence::Conflict };

/// A block of thread 1 writes x and reads y. Thread 2 reads x and then writes y.
fn two_variables() -> (Trace, Observed) {
    let mut b = TraceBuilder::new(Data::Symbolic);
    b.int_var("x", 0);
    b.int_var("y", 0);
    b.begin(1); // 0
    b.write(1, "x", "1");
    b.read(1, "y", "r"); // 2
    b.end(1);
    b.read(2, "x", "q"); // 4
    b.write(2, "y", "7");
    b.finish().expect("an execution")
}

fn ids(events: &[u32]) -> Vec<EventId> {
    events.iter().copied().map(EventId).collect()
}

/// What the checker says of a path of the block through these accesses.
fn checked(events: &[u32], links: &[Link], schedule: &[u32]) -> Result<Witness<ViolationPath>, CheckError> {
    checked_within(None, events, links, schedule)
}

fn checked_within(
    most_switches: Option<u32>,
    events: &[u32],
    links: &[Link],
    schedule: &[u32],
) -> Result<Witness<ViolationPath>, CheckError> {
    let (trace, observed) = two_variables();
    let block = Atomic::Marked.blocks(&trace).all()[0];
    let path = ViolationPath { block, events: ids(events), links: links.to_vec() };
    let checker = Checker::new(&trace, &observed, &[], QUESTION)?.within(most_switches);
    checker.check(path, &ids(schedule))
}

const X: Link = Link::Conflict(VarId(0));
const Y: Link = Link::Conflict(VarId(1));

#[test]
fn a_path_over_two_variables_is_shown_only_by_a_schedule_that_keeps_its_order() {
    let links = [X, Link::ProgramOrder, Y];
    let witness = checked(&[1, 4, 5, 2], &links, &[0, 1, 4, 5, 2]).expect("the path is there");
    assert_eq!(witness.claim().kind(), PathKind::SeveralVariables);
    assert_eq!(witness.schedule().len(), 5);
    for schedule in [&[0, 1, 2, 4, 5], &[4, 5, 0, 1, 2], &[0, 4, 1, 5, 2]] {
        assert_eq!(checked(&[1, 4, 5, 2], &links, schedule).err(), Some(CheckError::NotOnPath), "{schedule:?}");
    }
    assert_eq!(checked(&[1, 4, 5, 2], &links, &[0, 1, 4, 5]).err(), Some(CheckError::NotOnPath));
}

#[test]
fn links_that_do_not_hold_are_refused() {
    let schedule = [0, 1, 4, 5, 2];
    for links in [[Y, Link::ProgramOrder, Y], [X, X, Y], [Link::ProgramOrder, Link::ProgramOrder, Y]] {
        assert_eq!(checked(&[1, 4, 5, 2], &links, &schedule).err(), Some(CheckError::NotOnPath), "{links:?}");
    }
    assert_eq!(checked(&[1, 4, 5, 2], &[X, Link::ProgramOrder], &schedule).err(), Some(CheckError::NotOnPath));
    assert_eq!(checked(&[], &[], &schedule).err(), Some(CheckError::NotOnPath));
    assert_eq!(checked(&[1, 99, 2], &[X, Y], &schedule).err(), Some(CheckError::NotOnPath));
    for unknown in [6, 99] {
        let refused = checked(&[1, unknown, 2], &[X, Y], &[0, 1, unknown, 2]);
        assert_eq!(refused.err(), Some(CheckError::NotOnPath), "the trace has no event {unknown}");
    }
    let twice = checked(&[1, 4, 4, 5, 2], &[X, Link::ProgramOrder, Link::ProgramOrder, Y], &schedule);
    assert_eq!(twice.err(), Some(CheckError::NotOnPath), "an access does not lead to itself");
}

#[test]
fn the_links_of_a_path_follow_from_its_accesses() {
    let (trace, _) = two_variables();
    let block = Atomic::Marked.blocks(&trace).all()[0];
    let links = |events: &[u32]| ViolationPath::through(&trace, block, ids(events)).map(|path| path.links);
    assert_eq!(links(&[1, 4, 5, 2]), Some(vec![X, Link::ProgramOrder, Y]));
    assert_eq!(links(&[1, 5, 2]), None, "x and y do not conflict");
}

/// A path is of the kind that its variables and the number of its accesses say.
#[test]
fn kinds_of_paths() {
    let (trace, _) = two_variables();
    let block = Atomic::Marked.blocks(&trace).all()[0];
    let path = |links: &[Link]| {
        let events = (0..=links.len() as u32).map(EventId).collect();
        ViolationPath { block, events, links: links.to_vec() }
    };
    let kind = |links: &[Link]| path(links).kind();
    assert_eq!(kind(&[X, X]), PathKind::Triple);
    assert_eq!(kind(&[X, Link::ProgramOrder, X]), PathKind::SeveralAccesses);
    assert_eq!(kind(&[X, Y]), PathKind::SeveralVariables);
    assert_eq!(path(&[Y, Link::ProgramOrder, X, Y]).vars(), [VarId(0), VarId(1)]);
}

#[test]
fn a_path_leaves_the_block_and_comes_back() {
    let schedule = [0, 1, 4, 5, 2];
    assert_eq!(checked(&[1, 2], &[Link::ProgramOrder], &schedule).err(), Some(CheckError::NotOnPath), "does not leave");
    assert_eq!(checked(&[1, 4], &[X], &schedule).err(), Some(CheckError::NotOnPath), "does not come back");
    assert_eq!(
        checked(&[4, 5, 2], &[Link::ProgramOrder, Y], &schedule).err(),
        Some(CheckError::NotOnPath),
        "from outside"
    );
}

#[test]
fn the_schedule_of_a_path_is_run() {
    let links = [X, Link::ProgramOrder, Y];
    let refused = checked(&[1, 4, 5, 2], &links, &[1, 4, 5, 2]);
    assert!(matches!(refused, Err(CheckError::Step(_))), "{refused:?}");
}

#[test]
fn switches_are_counted_from_the_first_access_to_the_last() {
    let links = [X, Link::ProgramOrder, Y];
    assert!(checked_within(Some(2), &[1, 4, 5, 2], &links, &[0, 1, 4, 5, 2]).is_ok());
    let refused = checked_within(Some(1), &[1, 4, 5, 2], &links, &[0, 1, 4, 5, 2]);
    let expected = CheckError::ContextSwitches { first: EventId(1), last: EventId(2), found: 2, most: 1 };
    assert_eq!(refused.err(), Some(expected));
}

#[test]
fn the_switches_of_a_schedule_are_those_within_the_path() {
    let (trace, _) = two_variables();
    let block = Atomic::Marked.blocks(&trace).all()[0];
    let switches = |events: &[u32], schedule: &[u32]| {
        let path = ViolationPath { block, events: ids(events), links: Vec::new() };
        path.context_switches(&trace, &ids(schedule))
    };
    assert_eq!(switches(&[1, 4, 5, 2], &[0, 1, 4, 5, 2, 3]), 2);
    assert_eq!(switches(&[1, 5, 2], &[4, 0, 1, 5, 2]), 2); // not the one before the path
    assert_eq!(switches(&[1], &[0, 1, 4, 5, 2]), 0);
    for schedule in [&[0, 1, 4, 5][..], &[0, 2, 4, 1]] {
        assert_eq!(switches(&[1, 4, 2], schedule), u32::MAX, "{schedule:?} does not hold it");
    }
}
