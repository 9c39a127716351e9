//! Random programs of two or three threads that lock, try, share, count, initialise, wait and access: as litmus programs and in C.

use std::fmt::Write;

/// What a thread does.
enum Statement {
    Access(Access),
    Locked(Access),
    Tried(Access, Access),
    Shared(Access),
    TriedAlone(Access, Access),
    Counted(Access),
    Once(Access),
    Swap(u64),
    Wait,
    Signal,
}

/// An access to one of two variables: a write of this, else a read.
#[derive(Clone, Copy)]
struct Access {
    is_x: bool,
    writes: Option<u64>,
}

/// The statements of each thread.
pub struct Synchronised(Vec<Vec<Statement>>);

struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    fn access(&mut self, thread: u64) -> Access {
        let kind = self.below(4);
        Access { is_x: kind < 2, writes: kind.is_multiple_of(2).then_some(1 + thread) }
    }
}

impl Synchronised {
    /// The program of a seed.
    pub fn new(seed: u64) -> Synchronised {
        let mut random = Random(seed);
        let threads = if seed.is_multiple_of(4) { 3 } else { 2 };
        let mut statement = |thread: u64| {
            let (inner, outer) = (random.access(thread), random.access(thread));
            match random.below(11) {
                0 => Statement::Locked(inner),
                1 | 2 => Statement::Tried(inner, outer),
                3 => Statement::Shared(inner),
                4 => Statement::TriedAlone(inner, outer),
                5 => Statement::Counted(inner),
                6 => Statement::Once(inner),
                7 => Statement::Swap(5 + thread),
                8 => Statement::Wait,
                9 => Statement::Signal,
                _ => Statement::Access(outer),
            }
        };
        let length = |thread: u64| if threads == 3 { 1 } else { 1 + (seed / 4 + thread) % 2 };
        Synchronised((0..threads).map(|thread| (0..length(thread)).map(|_| statement(thread)).collect()).collect())
    }

    /// As a litmus program.
    pub fn litmus(&self) -> String {
        let mut source =
            "shared x: int = 0; shared y: int = 0; mutex m; rwlock q; semaphore s = 1; once o; condvar c;\n"
                .to_string();
        for (thread, statements) in self.0.iter().enumerate() {
            let mut body = String::new();
            for (nth, statement) in statements.iter().enumerate() {
                let of = |access: &Access, local: &str| match access.writes {
                    Some(value) => format!("{} = {value};", access.var()),
                    None => format!("let {local}{nth} = {};", access.var()),
                };
                let inner = |access| of(access, "i");
                let text = match statement {
                    Statement::Access(access) => of(access, "o"),
                    Statement::Locked(access) => format!("lock(m); {} unlock(m);", inner(access)),
                    Statement::Tried(access, other) => {
                        format!("if (trylock(m)) {{ {} unlock(m); }} else {{ {} }}", inner(access), of(other, "o"))
                    }
                    Statement::Shared(access) => format!("read_lock(q); {} read_unlock(q);", inner(access)),
                    Statement::TriedAlone(access, other) => {
                        let other = of(other, "o");
                        format!("if (try_write_lock(q)) {{ {} write_unlock(q); }} else {{ {other} }}", inner(access))
                    }
                    Statement::Counted(access) => format!("down(s); {} post(s);", inner(access)),
                    Statement::Once(access) => format!("if (once_begin(o)) {{ {} once_end(o); }}", inner(access)),
                    Statement::Swap(new) => format!("let k{nth} = cas(x, 0, {new});"),
                    Statement::Wait => "lock(m); wait(c, m); unlock(m);".to_string(),
                    Statement::Signal => "signal(c);".to_string(),
                };
                body += &text;
                body.push(' ');
            }
            writeln!(source, "thread T{thread} {{ {body}}}").expect("a string");
        }
        source
    }

    /// As a program in C. What an initialisation does is that of the first thread that has one.
    #[allow(dead_code, reason = "tests of litmus programs alone do without")]
    pub fn c(&self) -> String {
        let mut source = "#include <pthread.h>\n#include <semaphore.h>\n#include <stddef.h>\n".to_string();
        source += "static int x, y;\nstatic pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\n";
        source += "static pthread_rwlock_t q = PTHREAD_RWLOCK_INITIALIZER;\nstatic sem_t s;\n";
        source += "static pthread_once_t o = PTHREAD_ONCE_INIT;\nstatic pthread_cond_t c = PTHREAD_COND_INITIALIZER;\n";
        let mut threads = String::new();
        for (thread, statements) in self.0.iter().enumerate() {
            let mut body = String::new();
            for (nth, statement) in statements.iter().enumerate() {
                let text = match statement {
                    Statement::Access(access) => access.c(),
                    Statement::Locked(access) => {
                        format!("pthread_mutex_lock(&m); {} pthread_mutex_unlock(&m);", access.c())
                    }
                    Statement::Tried(access, other) => format!(
                        "if (pthread_mutex_trylock(&m) == 0) {{ {} pthread_mutex_unlock(&m); }} else {{ {} }}",
                        access.c(),
                        other.c()
                    ),
                    Statement::Shared(access) => {
                        format!("pthread_rwlock_rdlock(&q); {} pthread_rwlock_unlock(&q);", access.c())
                    }
                    Statement::TriedAlone(access, other) => format!(
                        "if (pthread_rwlock_trywrlock(&q) == 0) {{ {} pthread_rwlock_unlock(&q); }} else {{ {} }}",
                        access.c(),
                        other.c()
                    ),
                    Statement::Counted(access) => format!("sem_wait(&s); {} sem_post(&s);", access.c()),
                    Statement::Once(access) => {
                        writeln!(source, "static void init{thread}_{nth}(void) {{ {} }}", access.c())
                            .expect("a string");
                        format!("pthread_once(&o, init{thread}_{nth});")
                    }
                    Statement::Swap(new) => format!(
                        "{{ int old = 0; __atomic_compare_exchange_n(&x, &old, {new}, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); }}"
                    ),
                    Statement::Wait => {
                        "pthread_mutex_lock(&m); pthread_cond_wait(&c, &m); pthread_mutex_unlock(&m);".to_string()
                    }
                    Statement::Signal => "pthread_cond_signal(&c);".to_string(),
                };
                body += &format!("    {text}\n");
            }
            writeln!(threads, "static void *t{thread}(void *nothing) {{\n{body}    return nothing;\n}}")
                .expect("a string");
        }
        source += &threads;
        source += "int main(void) {\n    pthread_t t[3];\n    sem_init(&s, 0, 1);\n";
        for thread in 0..self.0.len() {
            writeln!(source, "    pthread_create(&t[{thread}], NULL, t{thread}, NULL);").expect("a string");
        }
        writeln!(source, "    for (int i = 0; i < {}; i++)\n        pthread_join(t[i], NULL);\n}}", self.0.len())
            .expect("a string");
        source
    }
}

impl Access {
    fn var(self) -> &'static str {
        if self.is_x { "x" } else { "y" }
    }

    fn c(self) -> String {
        match self.writes {
            Some(value) => format!("__atomic_store_n(&{}, {value}, __ATOMIC_SEQ_CST);", self.var()),
            None => format!("(void)__atomic_load_n(&{}, __ATOMIC_SEQ_CST);", self.var()),
        }
    }
}
