//! `foretrace predict --format github`: annotations of source lines.

use crate::block_groups::BOTH;
use crate::support::{Folder, LOCKED, LOST_UPDATE};

fn commands(stdout: &str) -> Vec<&str> {
    stdout.lines().filter(|line| line.starts_with("::")).collect()
}

#[test]
fn a_lost_update_is_a_warning_at_its_second_access() {
    let run = Folder::with("counter.jsonl", LOST_UPDATE).foretrace("predict counter.jsonl --format github");
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    let expected = "::warning file=counter.c,line=4,title=lost update::thread 2 writes n at counter.c:4, between the read at \
                    counter.c:3 and the write at counter.c:4 by thread 1 (1, 6, 2)";
    assert!(commands(&run.stdout).contains(&expected), "{}", run.stdout);
    assert!(commands(&run.stdout).iter().all(|line| line.starts_with("::warning ")), "{}", run.stdout);
}

#[test]
fn nothing_is_annotated_where_a_lock_excludes_it() {
    let run = Folder::with("locked.jsonl", LOCKED).foretrace("predict locked.jsonl --format github");
    let none = "locked.jsonl: 0 classes of source locations and 0 blocks that can be violated\n";
    assert_eq!((run.code, run.stdout.as_str()), (Some(0), none), "{}", run.stderr);
}

#[test]
fn what_is_not_decided_is_a_notice() {
    let folder = Folder::with("counter.jsonl", LOST_UPDATE);
    let limited = folder.foretrace("predict counter.jsonl --budget 0.000000001 --format github");
    assert_eq!(limited.code, Some(3), "{}", limited.stderr);
    let is_notice = |line: &&str| line.starts_with("::notice title=foretrace has not decided everything::");
    assert_eq!(commands(&limited.stdout).iter().filter(|line| is_notice(line)).count(), 1, "{}", limited.stdout);
}

#[test]
fn a_block_that_no_triple_shows_is_a_warning() {
    let run = Folder::with("both.jsonl", BOTH).foretrace("predict both.jsonl --format github");
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    let of_block = |line: &&&str| line.contains("title=atomic block violated::") && line.contains("`update`");
    let commands = commands(&run.stdout);
    let found: Vec<&&str> = commands.iter().filter(of_block).collect();
    assert!(
        matches!(found[..], [line] if line.starts_with("::warning file=both.c,line=2,") && line.contains("a, b")),
        "{}",
        run.stdout
    );
}

#[test]
fn other_properties_and_repairs_have_no_annotations() {
    let folder = Folder::with("counter.jsonl", LOST_UPDATE);
    for (option, found) in [
        ("--property serializability", "found --property serializability"),
        ("--property linearizability --spec counter", "found --property linearizability"),
        ("--repair", "found --repair"),
    ] {
        let run = folder.foretrace(&format!("predict counter.jsonl --format github {option}"));
        assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{option}");
        assert!(run.stderr.contains(found), "{option}: {}", run.stderr);
    }
}
