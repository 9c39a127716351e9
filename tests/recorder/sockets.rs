//! What other programs send by sockets and pipes: a replay gives it again, and they need not be there.

use crate::support::{Workshop, expect, is_installed, ran, source};
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

#[test]
fn gdb_stops_without_the_clients() {
    if !is_installed("gdb") {
        return;
    }
    let workshop = Workshop::build(&source("served.c"), &[]);
    let record = "foretrace record --seed 1 -o run -- ./program port epoll";
    meanwhile("epoll", &workshop.path("port"), || _ = expect(0, &mut workshop.shell(record)));
    let found = workshop.predict("run");
    let lost = found.iter().find(|one| one.pattern == "R-W-W").expect("an update that is lost");
    let commands = "printf 'print bare\ncontinue\nquit\n'";
    let debug = format!("{commands} | foretrace replay {} --gdb -- ./program port epoll 2>&1", lost.witness.display());
    let run = ran(&mut workshop.shell(&debug));
    assert!(run.out.contains(" in count (") && run.out.contains("$1 = "), "{}", run.out);
    assert!(run.out.contains("exited with code 01"), "{}", run.out);
}

/// Two threads count what they read of standard input; in the end `main` counts the rest.
const INPUT: &str = r#"
#include <foretrace.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int bare, guarded;
static void *work(void *argument) {
    struct pollfd one = {.fd = 0, .events = POLLIN};
    char text[2];
    if (poll(&one, 1, -1) != 1 || read(0, text, sizeof text) != sizeof text) abort();
    int by = text[0] - '0';
    FORETRACE_ATOMIC_BEGIN("bare"); int old = bare; bare = old + by; FORETRACE_ATOMIC_END("bare");
    pthread_mutex_lock(&lock);
    FORETRACE_ATOMIC_BEGIN("guarded"); old = guarded; guarded = old + by; FORETRACE_ATOMIC_END("guarded");
    pthread_mutex_unlock(&lock);
    return argument;
}
int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, work, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    char text[2];
    int rest = 0;
    while (read(0, text, sizeof text) == sizeof text) rest += text[0] - '0';
    printf("guarded %d rest %d\n", guarded, rest);
    return bare != guarded;
}
"#;

#[test]
fn standard_input_comes_again() {
    let workshop = Workshop::build_text(INPUT, "input.c");
    for mode in MODES {
        let send = "(for n in 1 2 3 4; do echo $n; sleep 0.05; done)";
        let recorded =
            ran(&mut workshop.shell(&format!("rm -rf run; {send} | foretrace record {mode} -o run -- ./program")));
        assert!(matches!(recorded.status, Some(0 | 1)), "{mode}: {}{}", recorded.out, recorded.err);
        let replay = |what: &str| {
            let command = format!("foretrace replay {what} --time-limit 20 -- ./program < /dev/null");
            let replayed = ran(&mut workshop.shell(&command));
            assert!(replayed.out.contains("guarded 3 rest 7\n"), "{mode} {what}: {}{}", replayed.out, replayed.err);
            assert!(replayed.out.contains("to the letter"), "{mode} {what}: {}{}", replayed.out, replayed.err);
            u64::from(replayed.out.contains("failed: exit status 1"))
        };
        replay("run");
        let found = workshop.predict("run");
        assert!(found.iter().all(|one| one.var == "bare"), "{mode}");
        let failed: u64 = found.iter().map(|one| replay(&one.witness.to_string_lossy())).sum();
        assert!(failed > 0, "{mode}: no witness loses a count");
    }
}

/// Streams read ahead. The replay has another standard input, or none.
#[test]
fn what_streams_read_comes_again() {
    let text = r#"
        #define _GNU_SOURCE
        #include <pthread.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <string.h>
        static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
        static char text[32];
        static void *work(void *argument) {
            char line[32];
            while (fgets(line, sizeof line, stdin)) {
                pthread_mutex_lock(&lock); memcpy(text, line, strlen(line)); pthread_mutex_unlock(&lock);
            }
            return argument;
        }
        int main(void) {
            pthread_t thread;
            int number = 0;
            size_t room = 0;
            char *line = 0, up[32] = "";
            if (scanf("%d ", &number) != 1 || getline(&line, &room, stdin) < 0) return 2;
            pthread_create(&thread, 0, work, 0);
            pthread_mutex_lock(&lock); putchar(text[0] ? 'y' : 'n'); pthread_mutex_unlock(&lock);
            pthread_join(thread, 0);
            FILE *file = fopen("/proc/uptime", "r");
            if (!file || fscanf(file, "%31s", up) != 1) return 3;
            rewind(file);
            printf(" %d%c %s %s %d %d %d\n", number, line[0], text, up, feof(stdin) != 0, fileno(stdin), fileno(file));
            fclose(file);
            if (!freopen("/dev/null", "r", stdin)) return 4;
            printf("then %d of %d\n", getchar(), fileno(stdin));
            return 0;
        }"#;
    let workshop = Workshop::build_text(text, "stream.c");
    let input = "7 a\\none\\nthree\\ntwo";
    let recorded = ran(&mut workshop.shell(&format!("printf '{input}' | foretrace record -o run -- ./program")));
    assert!(
        recorded.out.contains(" 7a two") && recorded.out.contains(" 1 0 3\nthen -1 of 0"),
        "{}{}",
        recorded.out,
        recorded.err
    );
    for other in ["< /dev/null", "< program"] {
        let replayed = ran(&mut workshop.shell(&format!("sleep 0.02; foretrace replay run -- ./program {other}")));
        assert!(replayed.out.starts_with(&recorded.out), "{}{}{}", recorded.out, replayed.out, replayed.err);
        assert!(replayed.out.contains("to the letter"), "{}{}", replayed.out, replayed.err);
    }
}

/// A stream of C++ reads the descriptor itself.
#[test]
fn what_streams_of_cxx_read_of_the_kernel_comes_again() {
    let text = r#"
        #include <fstream>
        #include <iostream>
        #include <iterator>
        #include <string>
        #include <thread>
        static int count;
        int main() {
            std::string line, all;
            std::thread reads([&] {
                std::ifstream file("/proc/sys/kernel/random/uuid");
                std::getline(file, line);
                for (unsigned turn = 0; turn < line.find_first_not_of("0123456789abcdef") + line[0] % 16; turn++) count++;
                std::ifstream same("/proc/uptime", std::ios::binary);
                all.assign(std::istreambuf_iterator<char>(same), {});
            });
            count++;
            reads.join();
            std::cout << line << ' ' << all;
        }"#;
    let workshop = Workshop::build_text(text, "stream.cpp");
    let recorded = ran(&mut workshop.shell("foretrace record -o run -- ./program"));
    assert_eq!(recorded.status, Some(0), "{}{}", recorded.out, recorded.err);
    let found = workshop.predict("run");
    for what in ["run", &found.last().expect("an update that is lost").witness.to_string_lossy()] {
        let replayed = ran(&mut workshop.shell(&format!("foretrace replay {what} -- ./program")));
        assert!(replayed.out.starts_with(&recorded.out), "{}{}{}", recorded.out, replayed.out, replayed.err);
        assert!(replayed.out.contains("to the letter"), "{}{}", replayed.out, replayed.err);
    }
}

/// Of many streams at a time some are read by the library itself, and the replay says so.
#[test]
fn input_by_a_stream_of_many_is_said_not_to_come_again() {
    let text = r#"
        #include <pthread.h>
        #include <stdio.h>
        #include <unistd.h>
        static int count;
        static void *work(void *argument) { count++; return argument; }
        int main(void) {
            char line[8] = "";
            pthread_t thread;
            pthread_create(&thread, 0, work, 0);
            FILE *stream = 0;
            for (int made = 0; made < 40; made++) stream = fdopen(dup(0), "r");
            if (!fgets(line, sizeof line, stream)) line[0] = '?';
            pthread_join(thread, 0);
            printf("%c %d\n", line[0], count);
            return 0;
        }"#;
    let workshop = Workshop::build_text(text, "stream.c");
    let recorded = ran(&mut workshop.shell("echo 1 | foretrace record -o run -- ./program"));
    assert_eq!((recorded.status, &*recorded.out), (Some(0), "1 1\n"), "{}", recorded.err);
    let replayed = ran(&mut workshop.shell("echo 1 | foretrace replay run -- ./program"));
    assert!(replayed.out.contains("1 1\n"), "{}{}", replayed.out, replayed.err);
    let note = "fgets reads a pipe or terminal by a stream, whose input is not kept: give the replay the same input";
    assert!(replayed.err.contains(note), "{}{}", replayed.out, replayed.err);
    let from_a_file = ran(&mut workshop.shell("echo 1 > text; foretrace replay run -- ./program < text"));
    assert!(!from_a_file.err.contains(note), "{}{}", from_a_file.out, from_a_file.err);
}
