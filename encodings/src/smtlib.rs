//! Queries as commented SMT-LIB 2, which any solver reads.
//!
//! The order atom is difference logic: a step is an integer, and steps with one number are in the observed order.

use crate::encoder::Encoder;
use crate::rules::Query;
use crate::term::Atom;
use foretrace_trace::smtlib;
use foretrace_trace::{Leaf, Node, TermId};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::fmt::Write;

/// The name of an atom: `in7`, `v7`, `rf7_3`, `rf7_init`, `token7`, `b3_7` for "3 comes before 7".
pub fn name(atom: &Atom) -> String {
    match atom {
        Atom::Before(a, b) => format!("b{a}_{b}"),
        Atom::Included(event) => format!("in{event}"),
        Atom::Value { at, .. } => format!("v{at}"),
        Atom::ReadsFrom { at, write: Some(write) } => format!("rf{at}_{write}"),
        Atom::ReadsFrom { at, write: None } => format!("rf{at}_init"),
        Atom::Token(event) => format!("token{event}"),
        Atom::Open(step) => format!("open{step}"),
        Atom::Pins => "pins".to_string(),
    }
}

/// A query with all constraints of its encoder, as a script that ends in `check-sat`.
pub fn script(encoder: &Encoder<'_>, query: &Query) -> String {
    let terms = &encoder.build().terms;
    let mut roots: Vec<TermId> = encoder.constraints().iter().map(|constraint| constraint.term).collect();
    roots.extend(&query.goals);
    roots.push(query.pins);
    let mut atoms = BTreeSet::new();
    for term in terms.reachable(&roots) {
        if let Node::Leaf(atom) = terms.node(term) {
            atoms.insert(*atom);
        }
    }
    let names: FxHashMap<Atom, String> = atoms.iter().map(|atom| (*atom, name(atom))).collect();
    let mut out = String::new();
    header(&mut out, encoder, query);
    declarations(&mut out, &atoms);
    let mut assert = |comment: String, term: TermId| {
        let _ = writeln!(out, "; {comment}"); // writing to a string cannot fail
        out.push_str("(assert ");
        smtlib::print(&mut out, terms, term, &|atom| names[atom].as_str());
        out.push_str(")\n");
    };
    for constraint in encoder.constraints() {
        assert(format!("{}: {}", constraint.rule, describe(encoder, constraint.about)), constraint.term);
    }
    for goal in &query.goals {
        assert(format!("violation {}", query.triple), *goal);
    }
    assert("pinned values are as observed".to_string(), query.pins);
    out.push_str("(check-sat)\n");
    out
}

fn header(out: &mut String, encoder: &Encoder<'_>, query: &Query) {
    let triple = query.triple;
    let _ = writeln!(out, "; Is there a prefix in which {} comes between", describe(encoder, triple.remote));
    let _ = writeln!(out, "; {} and {}?", describe(encoder, triple.first), describe(encoder, triple.second));
    out.push_str("; o: place of a step (equal ones in index order); in: part of the prefix; v: value just before\n");
    out.push_str("; an access; rf: reads from; token: the signal or post that a wake or down takes.\n");
    out.push_str("(set-logic ALL)\n");
}

fn declarations(out: &mut String, atoms: &BTreeSet<Atom>) {
    let steps: BTreeSet<_> = atoms
        .iter()
        .filter_map(|atom| if let Atom::Before(a, b) = atom { Some([*a, *b]) } else { None })
        .flatten()
        .collect();
    for step in steps {
        let _ = writeln!(out, "(declare-const o{step} Int)");
    }
    for atom in atoms {
        let name = name(atom);
        let _ = match atom {
            Atom::Before(a, b) => writeln!(out, "(define-fun {name} () Bool (<= o{a} o{b}))"),
            _ => writeln!(out, "(declare-const {name} {})", atom.sort()),
        };
    }
}

/// An event in a comment: index, kind, source location.
fn describe(encoder: &Encoder<'_>, event: foretrace_trace::EventId) -> String {
    let trace = encoder.facts().trace;
    let op = &trace.event(event).op;
    let mut text = format!("{event} {}", op.kind());
    if let Some(var) = op.var() {
        let _ = write!(text, " {}", trace.vars[var.index()].shown());
    }
    if let Some(loc) = trace.loc(event) {
        let _ = write!(text, " at {loc}");
    }
    text.replace(['\n', '\r'], " ")
}
