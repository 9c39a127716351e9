//! Parallel regions: each makes the threads of its team, and joins them.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{
    AtomicU32, AtomicU64,
    Ordering::{Relaxed, SeqCst},
};

use super::barrier;
use super::members::own;
use super::team::{Own, Team, TeamPosition};
use crate::interpose::{interpose, real, threads, tracked};
use crate::mode;
use crate::sys;
use crate::threads::Thread;

/// Teams get numbers.
static TEAMS: AtomicU64 = AtomicU64::new(0);
/// What `omp_set_num_threads` said, 0 if nothing.
static DEFAULT: AtomicU32 = AtomicU32::new(0);
/// Arguments that a region's function gets in registers.
const IN_REGISTERS: usize = 4;
const MOST_ARGUMENTS: usize = 256;

/// How many threads the next team has.
fn size(thread: &'static Thread) -> u32 {
    let wanted = own(thread).wanted.replace(0);
    if own(thread).place.get().team.is_some_and(|team| team.size > 1) {
        return 1; // nested regions have one thread, unless the program says otherwise
    }
    match (wanted, DEFAULT.load(Relaxed)) {
        (0, 0) => from_library(thread),
        (0, said) => said,
        (wanted, _) => wanted,
    }
}

/// The library knows the environment and the machine.
fn from_library(thread: &'static Thread) -> u32 {
    thread.hide();
    let most = real::omp_get_max_threads();
    thread.show();
    most.clamp(1, 1024) as u32
}

/// A team whose first thread is this one, which goes there.
fn enter(thread: &'static Thread, size: u32, run: usize, arguments: &[usize]) -> &'static Team {
    let Some(memory) = sys::map(size_of::<Team>()) else {
        mode::refuse(format_args!("no memory for a team of threads"))
    };
    let outer = own(thread).place.get();
    let team = memory.cast::<Team>();
    // SAFETY: fresh memory of this size, and all zeroes is a valid team.
    unsafe {
        (&raw mut (*team).number).write(TEAMS.fetch_add(1, SeqCst) + 1);
        (&raw mut (*team).size).write(size);
        (&raw mut (*team).outer).write(outer);
        (&raw mut (*team).run).write(run);
        (&raw mut (*team).count).write(arguments.len());
        (&raw mut (*team).arguments).write(arguments.as_ptr());
    }
    // SAFETY: never unmapped.
    let team: &'static Team = unsafe { &*team };
    own(thread).go(TeamPosition { team: Some(team), index: 0 });
    team
}

impl Own {
    /// Goes to a place in a team, or comes back from one.
    fn go(&self, place: TeamPosition) {
        self.place.set(place);
        self.singles.set(place.team.map_or(0, |team| team.singles.get()));
        self.loops.set(0);
    }
}

/// What a thread of the team runs.
unsafe extern "C" fn start(data: *mut c_void) -> *mut c_void {
    // SAFETY: from `fork`: it stands there until the thread is joined.
    let place = unsafe { *data.cast::<TeamPosition>() };
    if let (Some(thread), Some(team)) = (tracked(), place.team) {
        own(thread).place.set(place);
        run(thread, team, place.index);
        barrier(thread);
    }
    core::ptr::null_mut()
}

fn run(thread: &'static Thread, team: &'static Team, index: u32) {
    let (global, local) = (thread.number.get() as c_int - 1, index as c_int);
    // SAFETY: what the compiler handed to the fork.
    unsafe { invoke(team.run, &raw const global, &raw const local, team.count, team.arguments) }
}

/// Calls a region's function with these arguments after the two numbers.
#[unsafe(naked)]
unsafe extern "C" fn invoke(
    function: usize,
    global: *const c_int,
    local: *const c_int,
    count: usize,
    arguments: *const usize,
) {
    core::arch::naked_asm!(
        "push rbp",
        "mov rbp, rsp",
        "push rbx",
        "push r12",
        "mov rax, rdi",
        "mov rdi, rsi",
        "mov rsi, rdx",
        "mov r11, r8",
        "mov rbx, rcx",
        "sub rbx, 4",
        "jle 2f",
        "lea r12, [rbx + 1]",
        "and r12, -2",
        "shl r12, 3",
        "sub rsp, r12",
        "xor r12d, r12d",
        "1:",
        "mov rdx, [r11 + r12*8 + 32]",
        "mov [rsp + r12*8], rdx",
        "inc r12",
        "cmp r12, rbx",
        "jl 1b",
        "2:",
        "mov rdx, [r11]",
        "mov rcx, [r11 + 8]",
        "mov r8, [r11 + 16]",
        "mov r9, [r11 + 24]",
        "call rax",
        "lea rsp, [rbp - 16]",
        "pop r12",
        "pop rbx",
        "pop rbp",
        "ret"
    )
}

/// A parallel region: the arguments of its function are three in registers, the others on the stack.
unsafe extern "C" fn fork(
    _: usize,
    count: c_int,
    function: usize,
    first: *const usize,
    rest: *const usize,
    place: usize,
) {
    let count = usize::try_from(count).unwrap_or(0);
    if count > MOST_ARGUMENTS {
        mode::refuse(format_args!(
            "OpenMP: a region with {count} variables cannot be recorded, expected at most {MOST_ARGUMENTS}"
        ))
    }
    let mut arguments = [0; MOST_ARGUMENTS];
    for (index, argument) in arguments.iter_mut().enumerate().take(count) {
        // SAFETY: so many arguments were passed.
        *argument = unsafe { if index < 3 { *first.add(index) } else { *rest.add(index - 3) } };
    }
    let arguments = &arguments[..count.max(IN_REGISTERS)];
    let Some(thread) = tracked() else {
        let (global, local) = (0, 0);
        // SAFETY: as in `run`.
        return unsafe { invoke(function, &raw const global, &raw const local, count, arguments.as_ptr()) };
    };
    let before = (own(thread).place.get(), own(thread).singles.get(), own(thread).loops.get());
    let size = size(thread);
    let team = enter(thread, size, function, arguments);
    let mut pthreads = [0usize; 1024];
    let mut places = [TeamPosition::default(); 1024];
    for index in 1..size {
        places[index as usize] = TeamPosition { team: Some(team), index };
        let data = (&raw const places[index as usize]).cast_mut().cast();
        let made = threads::create(&mut pthreads[index as usize], core::ptr::null(), start, data, place);
        if made != 0 {
            mode::refuse(format_args!("OpenMP: no thread for a team (error {made})"))
        }
    }
    run(thread, team, 0);
    barrier(thread);
    for pthread in &pthreads[1..size as usize] {
        threads::join(*pthread, core::ptr::null_mut(), place);
    }
    own(thread).place.set(before.0);
    own(thread).singles.set(before.1);
    own(thread).loops.set(before.2);
}

/// Defines `__kmpc_fork_call`, whose arguments differ in number.
#[unsafe(no_mangle)]
#[unsafe(naked)]
pub extern "C" fn __kmpc_fork_call() {
    core::arch::naked_asm!(
        ".weak __kmpc_fork_call",
        "cmp byte ptr [rip + {mode}], {off}",
        "jne 2f",
        "jmp qword ptr [rip + {real}]",
        "2:",
        "push rbp",
        "mov rbp, rsp",
        "sub rsp, 32",
        "mov [rsp], rcx",
        "mov [rsp + 8], r8",
        "mov [rsp + 16], r9",
        "mov rcx, rsp",
        "lea r8, [rbp + 16]",
        "mov r9, [rbp + 8]",
        "call {fork}",
        "leave",
        "ret",
        mode = sym mode::MODE,
        off = const mode::OFF,
        real = sym real::address::__kmpc_fork_call,
        fork = sym fork,
    )
}

/// A region of one thread, which runs it where it stands.
extern "C" fn serialized(_: usize, _: c_int) {
    if let Some(thread) = tracked() {
        let count = (own(thread).singles.get(), own(thread).loops.get());
        let team = enter(thread, 1, 0, &[]);
        team.before.set(count);
    }
}

extern "C" fn end_serialized(_: usize, _: c_int) {
    if let Some(thread) = tracked()
        && let Some(team) = own(thread).place.get().team
    {
        barrier(thread);
        own(thread).place.set(team.outer);
        let (singles, loops) = team.before.get();
        own(thread).singles.set(singles);
        own(thread).loops.set(loops);
    }
}

extern "C" fn push_num_threads(_: usize, _: c_int, count: c_int) {
    if let Some(thread) = tracked() {
        own(thread).wanted.set(count.clamp(1, 1024) as u32);
    }
}

extern "C" fn set_num_threads(count: c_int) {
    DEFAULT.store(count.clamp(1, 1024) as u32, Relaxed);
}

extern "C" fn get_max_threads() -> c_int {
    match (DEFAULT.load(Relaxed), tracked()) {
        (0, Some(thread)) => from_library(thread) as c_int,
        (0, None) => real::omp_get_max_threads(),
        (said, _) => said as c_int,
    }
}

extern "C" fn nothing() {}

interpose! {
    __kmpc_serialized_parallel "rdx" => serialized, off __kmpc_serialized_parallel;
    __kmpc_end_serialized_parallel "rdx" => end_serialized, off __kmpc_end_serialized_parallel;
    __kmpc_push_num_threads "rcx" => push_num_threads, off __kmpc_push_num_threads;
    __kmpc_push_proc_bind "rcx" => nothing, off __kmpc_push_proc_bind;
    omp_set_num_threads "rsi" => set_num_threads, off omp_set_num_threads;
    omp_get_max_threads "rdi" => get_max_threads, off omp_get_max_threads;
}
