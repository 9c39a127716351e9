//! A second solver: what `--dump-smt2` writes is SMT-LIB that others read, and they come to the same verdicts.
//!
//! The scripts of the corpus and of the litmus examples go through cvc5 and back through Z3's own parser. Without cvc5
//! (`scripts/setup --tests` installs it) these tests are left out, but fail where `CI=true` is set.

use foretrace::litmus;
use foretrace::options::{CandidateSet, Options, Per};
use foretrace::predict::predict;
use foretrace::verdict::{Decider, Verdict};
use foretrace_encodings::{Atom, Builder, smtlib::name};
use foretrace_trace::strategies::applications;
use foretrace_trace::{
    Atomic, EventId, Feasibility, Func, Independence, Leaf, Model, Observed, Question, TermId, Trace, Value, file,
    observe, smtlib,
};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// What a solver says of a script.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
enum Said {
    Sat,
    Unsat,
    Nothing,
}

/// Whether cvc5 is there. Where it must be and is not, the test fails.
fn have_cvc5() -> bool {
    let there = Command::new("cvc5").arg("--version").output().is_ok_and(|output| output.status.success());
    let required = std::env::var("CI").is_ok_and(|value| value == "true");
    assert!(there || !required, "cvc5 is missing: scripts/setup --tests installs it");
    if !there {
        println!("left out: cvc5 is not installed (scripts/setup --tests)");
    }
    there
}

fn cvc5(script: &Path) -> Said {
    let output = Command::new("cvc5").arg("--tlimit=10000").arg(script).output().expect("cvc5 runs");
    let text = String::from_utf8_lossy(&output.stdout);
    match text.trim() {
        "sat" => Said::Sat,
        "unsat" => Said::Unsat,
        other => {
            let complaint = String::from_utf8_lossy(&output.stderr);
            assert!(
                !other.contains("error") && !complaint.to_lowercase().contains("error"),
                "{}: {other} {complaint}",
                script.display()
            );
            Said::Nothing
        }
    }
}

/// Z3 on the text alone.
fn z3(script: &Path) -> Said {
    let text = std::fs::read_to_string(script).expect("a script");
    let solver = z3::Solver::new();
    let mut params = z3::Params::new();
    params.set_u32("timeout", 10_000);
    solver.set_params(&params);
    let expected = text.lines().filter(|line| line.starts_with("(assert ")).count();
    solver.from_string(text);
    assert_eq!(solver.get_assertions().len(), expected, "{}: Z3 did not read it whole", script.display());
    match solver.check() {
        z3::SatResult::Sat => Said::Sat,
        z3::SatResult::Unsat => Said::Unsat,
        z3::SatResult::Unknown => Said::Nothing,
    }
}

/// The solver's verdict on every candidate of a trace, no filter asked, with the script in `dir` that it is about.
fn dump(
    trace: &Trace,
    observed: &Observed,
    candidates: CandidateSet,
    question: Question,
    dir: &Path,
) -> Vec<(PathBuf, Said)> {
    let mut options = Options::new(trace.data);
    options.question = question;
    options.candidates = candidates;
    options.per = Per::Event;
    options.without = Decider::ALL.into_iter().filter(|decider| *decider != Decider::Smt).collect();
    options.jobs = 1;
    options.budget = Some(Duration::from_secs(2)); // of a large trace, the candidates that come first are enough
    options.dump_smt2 = Some(dir.to_path_buf());
    let mut decisions = Vec::new();
    let stop = AtomicBool::new(false);
    predict(trace, observed, &Atomic::Marked.transactions(trace), &options, &stop, &mut decisions)
        .expect("nothing goes wrong");
    let mut verdicts = Vec::new();
    for decision in decisions {
        let triple = decision.triple;
        let stem = format!("{}-{}-{}", triple.first, triple.remote, triple.second);
        let script = |suffix: &str| dir.join(format!("{stem}{suffix}.smt2"));
        let said = match decision.verdict {
            Verdict::Feasible(_) => Said::Sat,
            Verdict::Infeasible => Said::Unsat,
            Verdict::Unknown(_) => continue,
        };
        if question.independence == Independence::Conflict {
            verdicts.push((script(""), said));
            continue;
        }
        // One query for each pattern, until one is feasible.
        for pattern in triple.patterns(trace) {
            let feasible = said == Said::Sat && pattern == decision.pattern;
            verdicts.push((script(&format!("-{pattern}")), if feasible { Said::Sat } else { Said::Unsat }));
            if feasible {
                break;
            }
        }
    }
    verdicts
}

/// Agreements so far, by verdict, and how often a solver did not decide in time.
#[derive(Default, Debug)]
struct Compared {
    agreed: BTreeMap<Said, usize>,
    undecided: usize,
    scripts: BTreeSet<String>,
}

impl Compared {
    /// Asks both solvers of at most `most` scripts of each verdict, evenly chosen.
    fn compare(&mut self, verdicts: &[(PathBuf, Said)], most: usize) {
        for wanted in [Said::Sat, Said::Unsat] {
            let of_kind: Vec<&PathBuf> =
                verdicts.iter().filter(|(_, said)| *said == wanted).map(|(path, _)| path).collect();
            let stride = of_kind.len().div_ceil(most).max(1);
            for path in of_kind.into_iter().step_by(stride) {
                let text = std::fs::read_to_string(path).expect("each query was written");
                // Beyond that cvc5 comes to its limit, and the script says nothing.
                if text.len() > 1_000_000 || !self.scripts.insert(text) {
                    continue;
                }
                let said = [cvc5(path), z3(path)];
                if said.contains(&Said::Nothing) {
                    self.undecided += 1;
                    continue;
                }
                assert_eq!(said, [wanted; 2], "cvc5 and Z3 on the script, and the verdict: {}", keep(path));
                *self.agreed.entry(wanted).or_default() += 1;
            }
        }
    }

    /// Enough of both verdicts were compared.
    fn suffice(&self, sat: usize, unsat: usize) {
        let count = |said| self.agreed.get(&said).copied().unwrap_or(0);
        let (found_sat, found_unsat) = (count(Said::Sat), count(Said::Unsat));
        println!("compared: {found_sat} sat, {found_unsat} unsat; {} undecided", self.undecided);
        assert!(found_sat >= sat && found_unsat >= unsat, "only {found_sat} sat and {found_unsat} unsat");
        assert!(self.undecided * 20 <= found_sat + found_unsat, "{} undecided", self.undecided);
    }
}

/// A copy of a script that outlives its folder.
fn keep(script: &Path) -> String {
    let kept = std::env::temp_dir().join("foretrace-disagreement.smt2");
    std::fs::copy(script, &kept).expect("a copy");
    kept.display().to_string()
}

fn questions(trace: &Trace) -> Vec<Question> {
    let mut questions = Vec::new();
    for model in [Model::Cam, Model::Ctp, Model::Mcm, Model::Avp] {
        for feasibility in [Feasibility::Prefix, Feasibility::Complete] {
            for independence in [Independence::Conflict, Independence::Guarded] {
                let fits = independence == Independence::Conflict || model.has_values();
                if fits && model.needs() <= trace.data {
                    questions.push(Question { model, feasibility, independence });
                }
            }
        }
    }
    questions
}

fn files(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let entries = std::fs::read_dir(folder).expect("the folder is in the repository");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("a readable folder").path()).collect();
    paths.sort();
    paths
}

#[test]
fn verdicts_on_litmus_programs_agree() {
    if !have_cvc5() {
        return;
    }
    let mut compared = Compared::default();
    for path in files("examples/litmus") {
        let source = std::fs::read_to_string(&path).expect("a program");
        let program = litmus::parse(&source).unwrap_or_else(|errors| panic!("{}", errors.render("it", &source, false)));
        for seed in 1..=2 {
            let trace = litmus::run(&program, &litmus::Options::seed(seed)).trace;
            let observed = observe(&trace).expect("an execution");
            for question in questions(&trace) {
                let dir = tempfile::tempdir().expect("a folder");
                let verdicts = dump(&trace, &observed, CandidateSet::All, question, dir.path());
                compared.compare(&verdicts, 12);
            }
        }
    }
    compared.suffice(100, 200);
}

#[test]
fn verdicts_on_recorded_traces_agree() {
    if !have_cvc5() {
        return;
    }
    let mut compared = Compared::default();
    for path in files("tests/corpus/traces") {
        let trace = file::read(&path).unwrap_or_else(|error| panic!("{error}"));
        let observed = observe(&trace).expect("an execution");
        let model = foretrace::options::strongest_model(trace.data);
        let question = Question { model, feasibility: Feasibility::Prefix, independence: Independence::Conflict };
        let dir = tempfile::tempdir().expect("a folder");
        let verdicts = dump(&trace, &observed, CandidateSet::Adjacent, question, dir.path());
        compared.compare(&verdicts, 4);
    }
    compared.suffice(20, 50);
}

/// The scripts that people reviewed, with the verdicts that follow from what their tests say of them.
#[test]
fn verdicts_on_golden_scripts_are_right() {
    let infeasible = ["complete.smt2", "guarded-independence.smt2", "once.smt2"];
    let have_cvc5 = have_cvc5();
    let paths = files("encodings/golden");
    assert!(paths.len() >= 13, "{} scripts", paths.len());
    for path in paths {
        let unsat = infeasible.iter().any(|name| path.ends_with(name));
        let expected = if unsat { Said::Unsat } else { Said::Sat };
        assert_eq!(z3(&path), expected, "{}", path.display());
        if have_cvc5 {
            assert_eq!(cvc5(&path), expected, "{}", path.display());
        }
    }
}

/// A script that is satisfiable only if some function has another value than ours on some arguments.
fn functions_script() -> (String, usize) {
    let mut build = Builder::default();
    let mut script = String::from("(set-logic ALL)\n");
    let mut wrong = String::new();
    let mut leaves: BTreeMap<Value, Atom> = BTreeMap::new();
    let cases: Vec<(Func, Vec<Value>)> = applications(2);
    for (func, args) in &cases {
        let mut leaf = |arg: &Value| {
            let at = EventId::from_index(leaves.len());
            *leaves.entry(arg.clone()).or_insert(Atom::Value { at, sort: arg.sort() })
        };
        let args_as_leaves: Vec<Atom> = args.iter().map(&mut leaf).collect();
        let terms: Vec<TermId> = args_as_leaves.into_iter().map(|atom| build.atom(atom)).collect();
        let applied = build.apply(*func, &terms);
        let expected = build.terms.constant(func.apply(&args.iter().collect::<Vec<_>>()));
        let equal = build.apply(Func::Eq, &[applied, expected]);
        let differ = build.not(equal);
        wrong.push_str("\n  ");
        print(&mut wrong, &build, differ);
    }
    for (value, atom) in &leaves {
        let constant = build.terms.constant(value.clone());
        let _ = write!(script, "(declare-const {} {})\n(assert (= {} ", name(atom), atom.sort(), name(atom));
        print(&mut script, &build, constant);
        script.push_str("))\n");
    }
    let _ = write!(script, "(assert (or{wrong}))\n(check-sat)\n");
    (script, cases.len())
}

fn print(out: &mut String, build: &Builder, term: TermId) {
    let names: BTreeMap<Atom, String> = build.terms.leaves(term).into_iter().map(|atom| (*atom, name(atom))).collect();
    smtlib::print(out, &build.terms, term, &|atom| names[atom].as_str());
}

/// All functions mean to others what they mean here, and are written as others read them.
#[test]
fn functions_mean_the_same_to_other_solvers() {
    let (script, cases) = functions_script();
    assert!(cases > 5_000, "only {cases} cases");
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("functions.smt2");
    std::fs::write(&path, script).expect("a file");
    assert_eq!(z3(&path), Said::Unsat);
    if have_cvc5() {
        assert_eq!(cvc5(&path), Said::Unsat);
    }
}
