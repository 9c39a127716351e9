//! What other programs send by sockets: a replay gives it again, and they need not be there.

use crate::support::{Workshop, ran, source};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::time::{Duration, Instant};

const MODES: [&str; 3] = ["--seed 1", "--seed 2", "--parallel"];

#[test]
fn bytes_that_a_thread_waits_for_come_again() {
    serves("block", &MODES);
}

#[test]
fn what_poll_reports_comes_again() {
    serves("poll", &MODES);
}

#[test]
fn what_epoll_reports_comes_again() {
    serves("epoll", &MODES);
}

#[test]
fn what_epoll_reports_under_a_mask_of_signals_comes_again() {
    serves("masked", &MODES);
}

#[test]
fn what_select_reports_comes_again() {
    serves("select", &MODES);
}

#[test]
fn a_server_that_the_program_asked_answers_again() {
    serves("connect", &MODES);
}

/// The other program at one connection: it waits for each answer before it goes on.
fn talk(mut connection: TcpStream) {
    for text in [b"1\n", b"2\n", b"3\n"] {
        connection.write_all(text).expect("sent");
        let mut answer = [0; 2];
        connection.read_exact(&mut answer).expect("an answer");
        assert_eq!(&answer, text);
    }
}

/// The port in a file, once it is there.
fn port(file: &Path) -> u16 {
    let patience = Instant::now() + Duration::from_secs(30);
    loop {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        if let Some(port) = text.strip_suffix('\n') {
            return port.parse().expect("a port");
        }
        assert!(Instant::now() < patience, "the program does not listen");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Plays both clients while something runs, or the server where the program connects.
fn meanwhile(way: &str, file: &Path, run: impl FnOnce()) {
    _ = std::fs::remove_file(file);
    std::thread::scope(|scope| {
        if way == "connect" {
            let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
            std::fs::write(file, format!("{}\n", listener.local_addr().expect("bound").port())).expect("written");
            scope.spawn(move || {
                let both = [(); 2].map(|()| listener.accept().expect("a connection").0);
                std::thread::scope(|scope| both.into_iter().for_each(|one| _ = scope.spawn(|| talk(one))));
            });
        } else {
            scope.spawn(|| {
                let both = [(); 2].map(|()| TcpStream::connect(("127.0.0.1", port(file))).expect("connected"));
                std::thread::scope(|scope| both.into_iter().for_each(|one| _ = scope.spawn(|| talk(one))));
            });
        }
        run();
    });
}

fn serves(way: &str, modes: &[&str]) {
    let workshop = Workshop::build(&source("served.c"), &[]);
    let mut failed = 0;
    for mode in modes {
        let record = format!("rm -rf run; foretrace record {mode} -o run -- ./program port {way}");
        meanwhile(way, &workshop.path("port"), || {
            let recorded = ran(&mut workshop.shell(&record));
            assert!(matches!(recorded.status, Some(0 | 1)), "{way} {mode}: {}{}", recorded.out, recorded.err);
        });
        let replay = |what: &str| {
            let command = format!("foretrace replay {what} --time-limit 20 --format json -- ./program port {way}");
            let replayed = ran(&mut workshop.shell(&command));
            let report: Value = serde_json::from_str(&replayed.out).expect("JSON");
            assert_eq!(report["followed"], 1, "{way} {mode} {what}: {report:#}");
            report["endings"][0]["code"].as_u64().unwrap_or_else(|| panic!("{way} {mode} {what}: {report:#}"))
        };
        replay("run");
        let found = workshop.predict("run");
        assert!(found.iter().all(|one| one.var == "bare"), "{way} {mode}");
        for one in &found {
            failed += replay(&one.witness.to_string_lossy());
        }
    }
    assert!(failed > 0, "{way}: no witness loses a count");
}
