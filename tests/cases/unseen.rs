//! `docs/orders.md` against the recorder: each call that it interposes has a row, and what a row calls unseen is in the trace.

use super::support::{Workshop, ran};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;

/// Calls whose rows say unseen, each as a program does it, and the name that the trace has.
const UNSEEN: [(&str, &str); 19] = [
    ("alarm", "alarm(0);"),
    ("setitimer", "struct itimerval v = {0}; setitimer(ITIMER_REAL, &v, 0);"),
    (
        "timerfd_settime",
        "struct itimerspec v = {.it_value = {0, 1}}; timerfd_settime(timerfd_create(CLOCK_MONOTONIC, 0), 0, &v, 0);",
    ),
    ("waitpid", "waitpid(-1, 0, WNOHANG);"),
    ("kill", "kill(getppid(), 0);"),
    ("flockfile", "flockfile(stdout); funlockfile(stdout);"),
    ("fopencookie", "cookie_io_functions_t f = {.close = (void *)do_alarm}; fclose(fopencookie(0, \"w\", f));"),
    ("futex", "static int word; syscall(SYS_futex, &word, 6, 0, 0, 0, 0); syscall(SYS_futex, &word, 7, 0, 0, 0, 0);"),
    ("dlopen", "dlopen(0, RTLD_NOW);"),
    ("syscall", "int p[2]; pipe(p); syscall(SYS_write, p[1], \"x\", 1);"),
    ("read", "int p[2]; char c; pipe(p); syscall(SYS_write, p[1], \"x\", 1); read(p[0], &c, 1);"),
    ("aio_error", "struct aiocb a = {0}; aio_error(&a);"),
    (
        "semop",
        "struct sembuf o = {0, 0, 0}; int s = semget(IPC_PRIVATE, 1, 0600); semop(s, &o, 1); semctl(s, 0, IPC_RMID);",
    ),
    ("fgets", "int p[2]; char b[4]; pipe(p); write(p[1], \"x\\n\", 2); fgets(b, 4, fdopen(p[0], \"r\"));"),
    ("fread", "int p[2]; char b; pipe(p); write(p[1], \"x\", 1); fread(&b, 1, 1, fdopen(p[0], \"r\"));"),
    ("fgetc", "int p[2]; pipe(p); write(p[1], \"x\", 1); fgetc(fdopen(p[0], \"r\"));"),
    (
        "getline",
        "int p[2]; char *b = 0; size_t n = 0; pipe(p); write(p[1], \"x\\n\", 2); getline(&b, &n, fdopen(p[0], \"r\"));",
    ),
    ("fscanf", "int p[2], a, b; pipe(p); write(p[1], \"4 5\\n\", 4); fscanf(fdopen(p[0], \"r\"), \"%d %d\", &a, &b);"),
    ("splice", "int p[2], q[2]; pipe(p); pipe(q); write(p[1], \"x\", 1); splice(p[0], 0, q[1], 0, 1, 0);"),
];

const HEADERS: &str = "aio.h dlfcn.h pthread.h signal.h stdio.h stdlib.h sys/ipc.h sys/sem.h sys/syscall.h sys/time.h sys/timerfd.h \
                       sys/wait.h unistd.h fcntl.h";

#[test]
fn what_a_row_calls_unseen_is_in_the_trace() {
    let workshop = Workshop::empty();
    let mut source = String::from("#define _GNU_SOURCE\n");
    HEADERS.split_whitespace().for_each(|header| source += &format!("#include <{header}>\n"));
    source += "int shared;\nstatic void *other(void *a) { shared++; return a; }\n";
    for (name, code) in UNSEEN {
        source += &format!("static void do_{name}(void) {{ {code} }}\n");
    }
    source += "int main(void) {\n    pthread_t t;\n    pthread_create(&t, 0, other, 0);\n    shared++;\n";
    UNSEEN.iter().for_each(|(name, _)| source += &format!("    do_{name}();\n"));
    source += "    pthread_join(t, 0);\n    return 0;\n}\n";
    std::fs::write(workshop.path("unseen.c"), source).expect("written");
    workshop.make("foretrace cc -w -g -pthread -o program unseen.c -lrt -ldl");
    workshop.make("foretrace record -o run -- ./program");
    let trace = workshop.trace("run");
    let seen: BTreeSet<&str> = trace.iter().filter(|event| event["op"] == "unseen").filter_map(what).collect();
    for (name, _) in UNSEEN {
        assert!(seen.contains(name), "no unseen `{name}` among {seen:?}");
    }
    let columns: Vec<String> = rows().into_iter().filter(|row| row.contains("unseen")).collect();
    for (name, _) in UNSEEN {
        assert!(columns.iter().any(|row| row.contains(&format!("`{name}`"))), "no row says that `{name}` is unseen");
    }
}

#[test]
fn what_the_c_library_writes_unseen_is_told() {
    let workshop = Workshop::empty();
    let source = |write: &str| {
        format!(
            "#define _GNU_SOURCE\n#include <pthread.h>\n#include <stdlib.h>\n#include <wchar.h>\nint shared;
            static void *other(void *text) {{ wchar_t *rest; shared++; {write}; shared++; return 0; }}
            int main(void) {{ wchar_t one[] = L\"a b\", two[] = L\"a b\"; pthread_t t; pthread_create(&t, 0, other, one); other(two);
                pthread_join(t, 0); return 0; }}"
        )
    };
    for (name, write, told) in [
        ("known", "wcslen(text)", None),
        ("unknown", "wcstok(text, L\" \", &rest)", Some("without what wcstok may have written")),
        ("state", "rand()", Some("without what rand may have written")),
    ] {
        std::fs::write(workshop.path(&format!("{name}.c")), source(write)).expect("written");
        workshop.make(&format!("foretrace cc -w -g -pthread -o {name} {name}.c"));
        let recorded = ran(&mut workshop.shell(&format!("foretrace record -o {name}.run -- ./{name}")));
        assert_eq!(told.is_some(), recorded.err.contains("without what"), "{}", recorded.err);
        assert!(told.is_none_or(|told| recorded.err.contains(told)), "{}", recorded.err);
        let unseen = workshop.trace(&format!("{name}.run")).iter().filter(|event| event["op"] == "unseen").count();
        assert_eq!(unseen > 0, told.is_some(), "{name}: {unseen}");
    }
}

/// A thread that makes a file may tell another one that looks for it or lists its folder. Threads that only look tell each other nothing,
/// nor do those that make files of their own.
#[test]
fn names_that_are_made_are_unseen_where_another_thread_looks() {
    let workshop = Workshop::empty();
    let list = "DIR *d = opendir(\".\"); while (readdir(d)) ; closedir(d)";
    for (name, one, other, is_unseen) in [
        ("looked-for", "close(open(\"a\", O_CREAT | O_WRONLY, 0600))", "access(\"a\", F_OK)", true),
        ("opened", "fclose(fopen(\"b\", \"w\"))", "FILE *f = fopen(\"b\", \"r\"); if (f) fclose(f)", true),
        ("listed", "fclose(fopen(\"c\", \"a\"))", list, true),
        ("scanned", "close(creat(\"d\", 0600))", "struct dirent **l; scandir(\".\", &l, 0, 0)", true),
        ("both-list", list, list, false),
        ("both-look", "access(\"a\", F_OK)", "struct stat s; stat(\"none\", &s)", false),
        ("files-of-their-own", "fclose(fopen(\"e\", \"w\"))", "close(open(\"f\", O_CREAT | O_RDWR, 0600))", false),
        ("folder", "mkdir(\"g\", 0700)", "sem_wait(&made); close(open(\"g\", O_RDONLY))", true),
        ("moved", "rename(\"a\", \"h\")", "sem_wait(&made); close(open(\"h\", O_RDONLY))", true),
        ("old", "rename(\"h\", \"a\")", "sem_wait(&made); close(open(\"program.c\", O_RDONLY))", false),
        ("temporary", "char n[] = \"XXXXXX\"; close(mkstemp(n))", list, true),
        ("temporary-folder", "char n[] = \"XXXXXX\"; mkdtemp(n)", list, true),
        ("both-temporary", "char n[] = \"XXXXXX\"; mkdtemp(n)", "char n[] = \"XXXXXX\"; close(mkstemp(n))", false),
        ("there-already", "close(open(\"program.c\", O_CREAT | O_WRONLY, 0600))", "access(\"a\", F_OK)", false),
    ] {
        let threads = callers(&workshop, one, other, "names of files");
        assert_eq!(threads.len() == 2, is_unseen, "{name}: {threads:?}");
    }
}

/// Who looks at a clock later sees a later moment, so the order of two threads' looks may matter.
#[test]
fn looks_at_clocks_are_unseen_where_several_threads_look() {
    let workshop = Workshop::empty();
    let precise = "struct timespec at; clock_gettime(CLOCK_MONOTONIC, &at)";
    for (name, one, other, is_unseen) in [
        ("both-look", precise, "time(0)", true),
        ("one-looks", precise, "getpid()", false),
        ("none-looks", "getppid()", "getpid()", false),
    ] {
        let threads = callers(&workshop, one, other, "clocks");
        assert_eq!(threads.len(), if is_unseen { 2 } else { 0 }, "{name}: {threads:?}");
    }
}

/// The threads of a program with unseen calls of this object, where the one thread does this and the other that.
fn callers(workshop: &Workshop, one: &str, other: &str, object: &str) -> BTreeSet<String> {
    let source = format!(
        "#define _GNU_SOURCE\n#include <dirent.h>\n#include <fcntl.h>\n#include <pthread.h>\n#include <semaphore.h>\n#include <stdio.h>
        #include <stdlib.h>\n#include <sys/socket.h>\n#include <sys/stat.h>\n#include <sys/un.h>\n#include <time.h>\n#include <unistd.h>\nint shared; sem_t made;
        static struct sockaddr_un at = {{AF_UNIX, \"socket\"}};
        static void *one(void *a) {{ shared = 5; {{ {one}; }} sem_post(&made); return a; }}
        int main(void) {{ pthread_t t; sem_init(&made, 0, 0); pthread_create(&t, 0, one, 0); {{ {other}; }} shared++; pthread_join(t, 0);
            return 0; }}"
    );
    std::fs::write(workshop.path("program.c"), source).expect("written");
    workshop.make("foretrace cc -w -g -pthread -o program program.c");
    workshop.make("foretrace record -o run -- ./program");
    let trace = workshop.trace("run");
    let of_object = trace.iter().filter(|event| event["op"] == "unseen" && event["object"] == object);
    of_object.map(|event| event["t"].to_string()).collect()
}

/// A thread can tell what another one has written to a file only if it reads that file, by whichever descriptor.
#[test]
fn files_are_unseen_where_one_thread_reads_what_another_writes() {
    let workshop = Workshop::empty();
    ["a", "b"].iter().for_each(|name| std::fs::write(workshop.path(name), "text").expect("written"));
    let writes = "int f = open(\"a\", O_WRONLY); write(f, \"x\", 1); close(f)";
    let reads = "char c; int f = open(\"a\", O_RDONLY); read(f, &c, 1); close(f)";
    let reads_another = reads.replace("\"a\"", "\"b\"");
    for (name, one, other, is_unseen) in [
        ("written-and-read", writes, reads, true),
        ("read-and-written", reads, writes, true),
        ("both-write", writes, writes, false),
        ("both-read", reads, reads, false),
        ("another", writes, &reads_another, false),
    ] {
        let threads = callers(&workshop, one, other, "file 00");
        assert_eq!(threads.len(), if is_unseen { 2 } else { 0 }, "{name}: {threads:?}");
    }
}

/// A socket that gets an address may be what another thread looks for or sends to.
#[test]
fn addresses_that_are_bound_are_unseen_where_another_thread_wants_them() {
    let workshop = Workshop::empty();
    let (names, sockets) = ("names of files", "sockets that listen");
    let bind = "unlink(\"socket\"); int s = socket(AF_UNIX, SOCK_DGRAM, 0); bind(s, (void *)&at, sizeof at)";
    let connect = "int c = socket(AF_UNIX, SOCK_DGRAM, 0); connect(c, (void *)&at, sizeof at)";
    let send = "int c = socket(AF_UNIX, SOCK_DGRAM, 0); sendto(c, \"x\", 1, 0, (void *)&at, sizeof at)";
    let bind_another = bind.replace("&at", "&(struct sockaddr_un){AF_UNIX, \"other\"}").replace("unlink", "(void)");
    for (name, other, object, is_unseen) in [
        ("found", "access(\"socket\", F_OK)", names, true),
        ("connected", connect, sockets, true),
        ("sent-to", send, sockets, true),
        ("both-bind", &bind_another, sockets, false),
    ] {
        let threads = callers(&workshop, bind, other, object);
        assert_eq!(threads.len(), if is_unseen { 2 } else { 0 }, "{name}: {threads:?}");
    }
}

/// No schedule says when a thread starts that the library makes, nor what that thread allocates before its first event: the library may do
/// it within a call of another thread.
#[test]
fn replays_follow_beside_threads_that_a_library_starts() {
    let source = "#include <fcntl.h>\n#include <mqueue.h>\n#include <pthread.h>\n#include <semaphore.h>\n#include <signal.h>\n#include <stdio.h>
        #include <unistd.h>\nstatic int shared; static sem_t done;
        static void told(union sigval v) { shared++; sem_post(&done); }
        static void *other(void *a) { shared++; return a; }
        int main(void) { pthread_t t; char name[40]; struct mq_attr at = {.mq_maxmsg = 2, .mq_msgsize = 8};
            snprintf(name, sizeof name, \"/told-%010d\", getpid());
            mqd_t q = mq_open(name, O_CREAT | O_RDWR, 0600, &at); mq_unlink(name); sem_init(&done, 0, 0);
            struct sigevent e = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = told};
            if (q < 0 || mq_notify(q, &e)) return 3;
            pthread_create(&t, 0, other, 0); mq_send(q, \"x\", 1, 0); sem_wait(&done); pthread_join(t, 0); return 0; }";
    let workshop = Workshop::empty();
    std::fs::write(workshop.path("program.c"), source).expect("written");
    workshop.make("foretrace cc -w -g -pthread -o program program.c -lrt");
    for seed in 1..=3 {
        workshop.make(&format!("foretrace record -o run{seed} --seed {seed} -- ./program"));
        workshop.make(&format!("foretrace replay run{seed} --times 5 --exactly -- ./program"));
    }
}

/// In a parallel run other threads go on while a message takes room in its queue. A schedule may have that, too.
#[test]
fn replays_follow_where_a_message_and_its_room_are_apart() {
    let source = "#include <fcntl.h>\n#include <mqueue.h>\n#include <pthread.h>\n#include <stdio.h>\n#include <unistd.h>\nint shared;
        static void *one(void *a) { shared++; return a; }
        int main(void) { pthread_t t; char name[40]; struct mq_attr at = {.mq_maxmsg = 2, .mq_msgsize = 8};
            snprintf(name, sizeof name, \"/apart-%010d\", getpid());
            mqd_t q = mq_open(name, O_CREAT | O_RDWR, 0600, &at); mq_unlink(name); if (q < 0) return 3;
            pthread_create(&t, 0, one, 0); int n = shared; mq_send(q, \"x\", 1, 0); shared = n + 1; pthread_join(t, 0); return 0; }";
    let workshop = Workshop::empty();
    std::fs::write(workshop.path("program.c"), source).expect("written");
    workshop.make("foretrace cc -w -g -pthread -o program program.c -lrt");
    workshop.make("foretrace record -o run -- ./program");
    workshop.make("foretrace predict run --witness-dir witnesses --candidates all || test $? = 1");
    let is_main = |step: &Value| step["path"] == "0";
    let mut edited = 0;
    for file in std::fs::read_dir(workshop.path("witnesses")).expect("a folder") {
        let path = file.expect("a file").path();
        let mut witness: Value = serde_json::from_slice(&std::fs::read(&path).expect("read")).expect("JSON");
        let steps = witness["schedule"].as_array_mut().expect("steps");
        let Some(remote) = steps.iter().position(|step| !is_main(step)).filter(|_| steps.last().is_some_and(is_main))
        else {
            continue;
        };
        let others: Vec<Value> = steps.extract_if(remote.., |step| !is_main(step)).collect();
        let Some(room) = steps.iter().position(|step| step["op"] == "down") else { continue };
        steps.splice(room..room, others);
        std::fs::write(workshop.path("edited.json"), witness.to_string()).expect("written");
        workshop.make("foretrace replay edited.json --exactly -- ./program");
        edited += 1;
    }
    assert_ne!(edited, 0);
}

/// The files that a recording leaves behind do not change how many steps a thread makes in a replay.
#[test]
fn replays_follow_where_files_were_left_behind() {
    let source = "#include <fcntl.h>\n#include <pthread.h>\n#include <stdio.h>\n#include <unistd.h>\nint shared;
        static void *one(void *a) { close(open(\"left\", O_CREAT | O_WRONLY, 0600)); fclose(fopen(\"list\", \"a\")); shared++; return a; }
        int main(void) { pthread_t t; pthread_create(&t, 0, one, 0); one(0); pthread_join(t, 0); return 0; }";
    let workshop = Workshop::empty();
    std::fs::write(workshop.path("program.c"), source).expect("written");
    workshop.make("foretrace cc -w -g -pthread -o program program.c");
    workshop.make("foretrace record -o run -- ./program");
    workshop.make("foretrace replay run -- ./program");
}

/// A connection is made only to a socket that listens. Where the same thread, or one before there were others, made it listen, no order is
/// missing.
#[test]
fn a_connection_is_unseen_where_another_thread_listens() {
    for (listens_early, unseen) in [("", ["connect", "listen"].as_slice()), ("-DEARLY", &[])] {
        let source = "#include <pthread.h>\n#include <stddef.h>\n#include <sched.h>\n#include <sys/socket.h>\n#include <sys/un.h>
            #include <unistd.h>\nstatic struct sockaddr_un at = {AF_UNIX, \"socket\"}; int shared, s;
            static void *one(void *a) { shared = 5;\n#ifndef EARLY\nlisten(s, 1);\n#endif\nreturn a; }
            int main(void) { pthread_t t; s = socket(AF_UNIX, SOCK_STREAM, 0); bind(s, (void *)&at, sizeof at);
                \n#ifdef EARLY\nlisten(s, 1);\n#endif\npthread_create(&t, 0, one, 0); int c = socket(AF_UNIX, SOCK_STREAM, 0);
                while (connect(c, (void *)&at, sizeof at)) sched_yield();
                shared++; pthread_join(t, 0); unlink(\"socket\"); return 0; }";
        let workshop = Workshop::empty();
        std::fs::write(workshop.path("program.c"), source).expect("written");
        workshop.make(&format!("foretrace cc -w -g -pthread {listens_early} -o program program.c"));
        workshop.make("foretrace record -o run -- ./program");
        let trace = workshop.trace("run");
        let of_sockets =
            trace.iter().filter(|event| event["op"] == "unseen" && event["object"] == "sockets that listen");
        let seen: BTreeSet<&str> = of_sockets.filter_map(what).collect();
        assert_eq!(seen, unseen.iter().copied().collect(), "{listens_early}");
    }
}

/// A lock that foretrace did not build, or a function that only takes time.
const LOCK: &str = "static int word; void lock(void) { while (__atomic_exchange_n(&word, 1, 2)) ; } \
                    void unlock(void) { __atomic_store_n(&word, 0, 3); }";
const NO_LOCK: &str =
    "static int word; void lock(void) { for (int k = 0; k < 9; k++) word += k; } void unlock(void) { word = 1; }";
const USER: &str = "#include <foretrace.h>
#include <pthread.h>
void lock(void);
void unlock(void);
static int count;
static void *add(void *unused) {
    lock(); FORETRACE_ATOMIC_BEGIN(\"add\"); count++; FORETRACE_ATOMIC_END(\"add\"); unlock();
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, add, 0);
    add(0);
    pthread_join(thread, 0);
    return count != 2;
}
";

/// What a recording tells, and on what the lost update rests, where `library` is built so and linked.
fn foreign(library: &str, how: &str, mode: &str) -> (String, Value) {
    let workshop = Workshop::empty();
    std::fs::write(workshop.path("other.c"), library).expect("written");
    std::fs::write(workshop.path("user.c"), USER).expect("written");
    workshop.make(&format!("{how} && foretrace cc -g -pthread -o program user.c $OTHER -Wl,-rpath,'$ORIGIN'"));
    let recorded = super::ran(&mut workshop.shell(&format!("foretrace record -o run {mode} -- ./program")));
    let report = super::ran(&mut workshop.shell("foretrace predict run --format json"));
    let report: Value = serde_json::from_str(&report.out).expect("JSON");
    let lost = report["candidates"].as_array().expect("a list").iter().find(|one| one["verdict"] == "feasible");
    (recorded.err, lost.expect("a lost update")["rests_on"].clone())
}

const SHARED: &str = "cc -w -O1 -shared -fPIC -o libother.so other.c && OTHER=./libother.so";
const OBJECT: &str = "cc -w -O1 -c other.c && OTHER=other.o";

#[test]
fn locks_of_code_that_foretrace_did_not_build_are_told() {
    for (how, name) in [(SHARED, "libother.so"), (OBJECT, "code in program")] {
        for mode in ["--seed 0", "--seed 1", "--parallel"] {
            let (told, rests_on) = foreign(LOCK, how, mode);
            assert!(told.contains(&format!("{name} may order threads")), "{how} {mode}: {told}");
            assert_eq!(rests_on, "unseen", "{how} {mode}");
        }
    }
}

/// An atomic update right after such code is an event like others: what it writes is computed from what it finds.
#[test]
fn an_atomic_update_may_follow_code_that_foretrace_did_not_build() {
    for update in
        ["__atomic_fetch_add(&count, 1, 5);", "int n = count; __atomic_compare_exchange_n(&count, &n, n + 1, 0, 5, 5);"]
    {
        let workshop = Workshop::empty();
        std::fs::write(workshop.path("other.c"), LOCK).expect("written");
        std::fs::write(workshop.path("user.c"), USER.replace("count++;", update)).expect("written");
        let how = "foretrace cc -g -pthread -o program user.c ./libother.so -Wl,-rpath,'$ORIGIN'";
        workshop.make(&format!(
            "cc -w -O1 -shared -fPIC -o libother.so other.c && {how} && foretrace record -o run -- ./program"
        ));
        let trace = workshop.trace("run");
        let updates = trace.iter().filter(|event| event["op"] == "rmw" && event["var"] == "count");
        let written: Vec<&str> = updates.filter_map(|event| event["expr"].as_str()).collect();
        assert!(written.len() == 2 && written.iter().all(|expr| expr.contains("bvadd")), "{written:?}");
    }
}

/// A lock that waits by futexes of its own.
const SLEEPING_LOCK: &str = "#define _GNU_SOURCE\n#include <sys/syscall.h>\n#include <unistd.h>\n\
    static int word; \
    void lock(void) { while (__atomic_exchange_n(&word, 2, 2)) syscall(SYS_futex, &word, 128, 2, 0, 0, 0); } \
    void unlock(void) { if (__atomic_exchange_n(&word, 0, 3) == 2) syscall(SYS_futex, &word, 129, 1, 0, 0, 0); }";

/// Such a lock keeps the program from the schedule of a witness that rests on what is unseen, and not from its end.
#[test]
fn a_lock_that_keeps_a_schedule_from_its_end_does_not_hang_the_replay() {
    let workshop = Workshop::empty();
    std::fs::write(workshop.path("other.c"), SLEEPING_LOCK).expect("written");
    std::fs::write(workshop.path("user.c"), USER).expect("written");
    let how = "foretrace cc -g -pthread -o program user.c ./libother.so -Wl,-rpath,'$ORIGIN' && foretrace record -o run -- ./program";
    workshop.make(&format!("cc -w -O1 -shared -fPIC -o libother.so other.c && {how}"));
    super::ran(&mut workshop.shell("foretrace predict run --witness-dir witnesses"));
    let witnesses = std::fs::read_dir(workshop.path("witnesses")).expect("witnesses").flatten();
    let mut replays = 0;
    for witness in witnesses.map(|entry| entry.path()) {
        let replay = format!("foretrace replay {} --time-limit 20 -- ./program", witness.display());
        let replay = super::ran(&mut workshop.shell(&replay));
        assert!(replay.out.contains("passed: exit status 0"), "{}{}", replay.out, replay.err);
        replays += 1;
    }
    assert!(replays > 0);
}

/// A lock file keeps threads apart: no lost update is reported without saying so. A file that all may open keeps none out.
#[test]
fn locks_by_a_file_of_one_name_are_told() {
    const HEADERS: &str = "#include <fcntl.h>\n#include <unistd.h>\n";
    const LOCK_FILE: &str = "
        void lock(void) { int file; while ((file = open(\"lock\", O_CREAT | O_EXCL | O_WRONLY, 0600)) < 0) ; close(file); }
        void unlock(void) { unlink(\"lock\"); }";
    const NO_LOCK_FILE: &str = "void lock(void) { close(open(\"/\", O_RDONLY)); } void unlock(void) { }";
    for (lock, expected) in [(LOCK_FILE, Value::from("unseen")), (NO_LOCK_FILE, Value::Null)] {
        let workshop = Workshop::empty();
        std::fs::write(workshop.path("user.c"), format!("{HEADERS}{USER}{lock}\n")).expect("written");
        workshop.make("foretrace cc -w -g -pthread -o program user.c && foretrace record -o run -- ./program");
        let report = super::ran(&mut workshop.shell("foretrace predict run --format json"));
        let report: Value = serde_json::from_str(&report.out).expect("JSON");
        let lost = report["candidates"].as_array().expect("a list").iter().find(|one| one["verdict"] == "feasible");
        assert_eq!(lost.expect("a lost update")["rests_on"], expected, "{report:#}");
    }
}

/// A block gets the address of a freed one. What happens only if a thread gets the other one of the two rests on that, and all else comes out.
#[test]
fn blocks_of_one_address_are_not_mixed_up_in_silence() {
    let judged = |file: &str, flags: &str, seeds: u32| {
        let (mut rest, mut followed) = (0, 0);
        let workshop = Workshop::empty();
        std::fs::copy(format!("tests/cases/programs/{file}"), workshop.path("plans.c")).expect("copied");
        workshop.make(&format!("foretrace cc -w -g -O1 -pthread {flags} -o program plans.c"));
        for seed in 1..=seeds {
            workshop.make(&format!("foretrace record --seed {seed} -o run-{seed} -- ./program"));
            let predict = format!("foretrace predict run-{seed} --format json --witness-dir found-{seed}");
            let report = super::ran(&mut workshop.shell(&predict));
            let report: Value = serde_json::from_str(&report.out).expect("JSON");
            let feasible =
                report["candidates"].as_array().expect("a list").iter().filter(|one| one["verdict"] == "feasible");
            let names = feasible.map(|one| {
                let name = format!("witness-{}-{}-{}", one["first"], one["remote"], one["second"]);
                (name, &one["rests_on"])
            });
            let freed = report["uses_after_free"]["found"].as_array().into_iter().flatten();
            let freed =
                freed.map(|one| (format!("use-after-free-{}-{}", one["free"], one["access"]), &one["rests_on"]));
            for (name, rests_on) in names.chain(freed) {
                if rests_on == "unseen" {
                    rest += 1;
                    continue;
                }
                let replay = format!("foretrace replay found-{seed}/{name}.json -- ./program");
                let replay = super::ran(&mut workshop.shell(&replay));
                assert!(
                    replay.out.contains("followed the schedule to the letter"),
                    "{name}: {}{}",
                    replay.out,
                    replay.err
                );
                followed += 1;
            }
        }
        (rest, followed)
    };
    let (rest, followed) = judged("given-again.c", "", 6);
    assert!(rest > 0 && followed > 0, "{rest}, {followed}");
    let (rest, followed) = judged("given-again.c", "-DKEEPS", 6);
    assert!(rest == 0 && followed > 0, "{rest}, {followed}");
    let (rest, followed) = judged("given-private.c", "", 2);
    assert!(rest > 0 && followed > 0, "{rest}, {followed}");
}

/// What uses of memory after its `free` rest on, over a few recordings.
fn uses_rest_on(file: &str) -> Vec<Value> {
    let workshop = Workshop::empty();
    std::fs::copy(format!("tests/cases/programs/{file}"), workshop.path("user.cpp")).expect("copied");
    workshop.make("foretrace c++ -std=c++20 -g -O1 -pthread -o program user.cpp");
    uses_of_program_rest_on(&workshop)
}

fn uses_of_program_rest_on(workshop: &Workshop) -> Vec<Value> {
    let of_seed = |seed| {
        workshop.make(&format!("foretrace record --seed {seed} -o run -- ./program"));
        let report = super::ran(&mut workshop.shell("foretrace predict run --format json"));
        let report: Value = serde_json::from_str(&report.out).expect("JSON");
        report["uses_after_free"]["found"].as_array().cloned().unwrap_or_default()
    };
    (0..4).flat_map(of_seed).map(|use_| use_["rests_on"].clone()).collect()
}

#[test]
fn memory_that_the_library_decides_to_free_is_freed_by_code_that_was_not_recorded() {
    let by_library = uses_rest_on("library-pool.cpp");
    assert!(!by_library.is_empty() && by_library.iter().all(|rests_on| rests_on == "external"), "{by_library:?}");
    let by_program = uses_rest_on("thread-owner.cpp");
    assert!(by_program.iter().any(Value::is_null), "{by_program:?}");
}

/// References to a thing: a library and the program, as from a header, give them back.
const COUNTED: &str = "#include <stdlib.h>\nstruct thing { int references, value; };\nvoid drop_one(struct thing *);\n\
    static inline void drop(struct thing *one) { if (!__atomic_sub_fetch(&one->references, 1, 5)) free(one); }\n";
const COUNTING: &str = "#include \"thing.h\"\nvoid drop_one(struct thing *one) { drop(one); }\n";
const COUNTS: &str = "#include <pthread.h>\n#include \"thing.h\"\n\
    static int sum;\n\
    static void *use(void *one) { sum = ((struct thing *)one)->value; drop(one); return 0; }\n\
    int main(void) { struct thing *one = calloc(1, sizeof *one); pthread_t t; one->references = 2;\n\
      pthread_create(&t, 0, use, one); sum = one->value; drop_one(one); return pthread_join(t, 0); }\n";

/// The library counts references that no trace shows: who comes last is another thread in another schedule.
#[test]
fn memory_whose_references_a_library_counts_is_freed_by_code_that_was_not_recorded() {
    let workshop = Workshop::empty();
    for (file, text) in [("thing.h", COUNTED), ("library.c", COUNTING), ("program.c", COUNTS)] {
        std::fs::write(workshop.path(file), text).expect("written");
    }
    for (how, expected) in [("cc -shared -fPIC -o libthing.so", "external"), ("foretrace cc -c -o libthing.so", "")] {
        workshop.make(&format!("{how} -O1 -g library.c"));
        workshop.make("foretrace cc -g -O1 -pthread -o program program.c ./libthing.so -Wl,-rpath,$PWD");
        let found = uses_of_program_rest_on(&workshop);
        assert_eq!(found.is_empty(), expected.is_empty(), "{found:?}");
        assert!(found.iter().all(|rests_on| rests_on == expected), "{how}: {found:?}");
    }
}

#[test]
fn code_without_atomic_instructions_orders_nothing() {
    for how in [SHARED, OBJECT] {
        let (told, rests_on) = foreign(NO_LOCK, how, "--seed 0");
        assert!(!told.contains("may order threads"), "{how}: {told}");
        assert_eq!(rests_on, Value::Null, "{how}");
    }
}

fn what(event: &Value) -> Option<&str> {
    event["what"].as_str()
}

/// The rows of the page's tables.
fn rows() -> Vec<String> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/orders.md");
    let page = std::fs::read_to_string(page).expect("docs/orders.md");
    page.lines().filter(|line| line.starts_with("| ")).map(str::to_string).collect()
}

/// Files of the runtime whose functions order threads.
const FILES: [&str; 18] = [
    "barrier",
    "channels",
    "close",
    "cond",
    "contexts",
    "duplicating",
    "epoll",
    "file_locks",
    "files",
    "ipc",
    "mutex",
    "notices",
    "socket_order",
    "polling",
    "rwlock",
    "semaphore",
    "streams",
    "unseen_calls",
];

#[test]
fn each_call_that_is_interposed_has_a_row() {
    let rows = rows().concat();
    let mut missing = Vec::new();
    for file in FILES {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("crates/runtime/src/interpose/{file}.rs"));
        let source = std::fs::read_to_string(path).expect("a file of the runtime");
        assert!(source.lines().any(|line| interposed(line).is_some()), "{file}.rs interposes nothing");
        let names = source.lines().filter_map(interposed).filter(|name| !is_other_name(name));
        missing.extend(names.filter(|name| !rows.contains(&format!("`{name}`"))).map(str::to_string));
    }
    assert!(missing.is_empty(), "no row of docs/orders.md names {missing:?}");
}

/// The function that a line of `interpose!` or `unseen!` names.
fn interposed(line: &str) -> Option<&str> {
    let line = line.strip_prefix("    ")?;
    let (name, rest) = line.split_once(' ')?;
    let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let is_entry = rest.starts_with("\"r") && rest.contains("=>") || rest.starts_with("Some(") || rest == "None;";
    (is_name && name != "let" && is_entry).then_some(name)
}

/// Other names of calls that have a row, and what makes or ends objects, which orders nothing.
fn is_other_name(name: &str) -> bool {
    let is_life = ["_init", "_destroy"].iter().any(|end| name.ends_with(end));
    is_life
        || name.ends_with("64")
        || name.starts_with("__pthread_")
        || matches!(
            name,
            "socket"
                | "fopen"
                | "fdopen"
                | "fclose"
                | "getc"
                | "__getdelim"
                | "__isoc99_vfscanf"
                | "__isoc99_vscanf"
                | "shmdt"
                | "foretrace_unseen"
        )
}
