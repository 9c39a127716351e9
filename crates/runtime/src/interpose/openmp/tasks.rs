//! Tasks. In a team of several threads a task is a thread of the trace, which its maker joins where it waits for its tasks: at a `taskwait`,
//! the end of a `taskgroup`, a barrier, its own end. A team of N threads has at most N - 1 of them that were not joined yet, so that no more
//! runs at the same time than the team could do.
//!
//! Further tasks, tasks with dependences, loops of tasks, and all tasks of a program that asks for the number of a thread run where they are
//! made, as the standard allows. The trace does not show that they could run at the same time; a message says so once. Two tasks that run at
//! the same time must not be told the same number, and which numbers are free is not known here.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

use super::members::{lock, own};
use super::team::{Task, Team};
use crate::hooks::begin::Begin;
use crate::hooks::occupied::Occupied;
use crate::interpose::{interpose, threads, tracked};
use crate::mode;
use crate::sys;
use crate::text::say;
use crate::threads::Thread;

static SAID: AtomicBool = AtomicBool::new(false);

type Routine = extern "C" fn(c_int, usize) -> c_int;

/// A task as the compiler knows it: where its shared variables are, what it runs, then what is its own.
extern "C" fn alloc(_: usize, _: c_int, _: c_int, bytes: usize, shared: usize, run: usize) -> usize {
    let whole = size_of::<Task>() + bytes.next_multiple_of(16);
    let Some(memory) = sys::map(whole + shared) else { mode::refuse(format_args!("no memory for a task")) };
    let task = memory as usize + size_of::<Task>();
    // SAFETY: fresh memory.
    unsafe {
        let words = task as *mut usize;
        words.write(memory as usize + whole);
        words.add(1).write(run);
    }
    task
}

extern "C" fn run(_: usize, number: c_int, task: usize, place: usize) -> c_int {
    let Some(thread) = tracked() else { return run_here(0, number, task) };
    let at = own(thread).place.get();
    let Some(team) = at.team.filter(|team| team.size > 1) else {
        return call(number, task); // nobody else could run it
    };
    if any_numbers() {
        return run_here(0, number, task);
    }
    if !change(thread, team, |tasks| (tasks + 1 < team.size).then_some(tasks + 1)) {
        return run_here(0, number, task);
    }
    let header = (task - size_of::<Task>()) as *mut Task;
    // SAFETY: from `alloc`; nobody else has it yet.
    let made = unsafe {
        header.write(Task { pthread: 0, before: own(thread).tasks.get(), place: at, number });
        threads::create(&raw mut (*header).pthread, core::ptr::null(), start, header.cast(), place)
    };
    if made != 0 {
        change(thread, team, |tasks| tasks.checked_sub(1));
        return run_here(0, number, task);
    }
    own(thread).tasks.set(header);
    0
}

/// Whether the program asks for the number of a thread: `__foretrace_thread_numbers` is defined by the files that do so.
fn any_numbers() -> bool {
    let address: usize;
    // SAFETY: the address of a symbol, null if no file has it.
    unsafe {
        core::arch::asm!(
            ".weak __foretrace_thread_numbers",
            "mov {0}, qword ptr [rip + __foretrace_thread_numbers@GOTPCREL]",
            out(reg) address,
            options(nostack, preserves_flags, readonly, pure)
        );
    }
    address != 0
}

/// What the thread of a task runs.
unsafe extern "C" fn start(data: *mut c_void) -> *mut c_void {
    // SAFETY: from `run`; only the maker changes it, when this thread is over.
    let (place, number) = unsafe { ((*data.cast::<Task>()).place, (*data.cast::<Task>()).number) };
    if let Some(thread) = tracked() {
        own(thread).place.set(place);
        call(number, data as usize + size_of::<Task>());
        wait(thread);
    }
    core::ptr::null_mut()
}

/// Changes how many tasks of the team are threads that were not joined yet, if it can be.
fn change(thread: &'static Thread, team: &'static Team, by: impl FnOnce(u32) -> Option<u32>) -> bool {
    thread.begin();
    let bucket = lock(team);
    let changed = by(team.tasks.get());
    if let Some(tasks) = changed {
        team.tasks.set(tasks);
    }
    bucket.unlock();
    thread.end();
    changed.is_some()
}

fn call(number: c_int, task: usize) -> c_int {
    // SAFETY: from `alloc`.
    let routine: Routine = unsafe { core::mem::transmute(*(task as *const usize).add(1)) };
    routine(number, task);
    0
}

/// Waits for the tasks that the thread made.
pub fn wait(thread: &'static Thread) {
    loop {
        let task = own(thread).tasks.get();
        if task.is_null() {
            return;
        }
        // SAFETY: from `run`; its thread ends here.
        let (pthread, place) = unsafe {
            own(thread).tasks.set((*task).before);
            ((*task).pthread, (*task).place)
        };
        threads::join(pthread, core::ptr::null_mut(), 0);
        if let Some(team) = place.team {
            change(thread, team, |tasks| tasks.checked_sub(1));
        }
    }
}

extern "C" fn run_here(_: usize, number: c_int, task: usize) -> c_int {
    if tracked().is_some() && !SAID.swap(true, Relaxed) {
        say(format_args!(
            "OpenMP: tasks run where they are made if there are more at a time than the team has threads, if they have dependences, in loops of \
             tasks, and if the program asks for the number of a thread; what they do at the same time is not seen"
        ));
    }
    call(number, task)
}

/// Its turns are one task.
extern "C" fn run_loop(_: usize, number: c_int, task: usize) {
    run_here(0, number, task);
}

extern "C" fn wait_here() -> c_int {
    if let Some(thread) = tracked() {
        wait(thread);
    }
    0
}

/// Nothing is to be waited for.
extern "C" fn done() -> c_int {
    0
}

interpose! {
    __kmpc_omp_task_alloc "rax" => alloc, off __kmpc_omp_task_alloc;
    __kmpc_omp_task "rcx" => run, off __kmpc_omp_task;
    __kmpc_omp_task_with_deps "rax" => run_here, off __kmpc_omp_task_with_deps;
    __kmpc_taskloop "rax" => run_loop, off __kmpc_taskloop;
    __kmpc_omp_task_begin_if0 "rax" => done, off __kmpc_omp_task_begin_if0;
    __kmpc_omp_task_complete_if0 "rax" => done, off __kmpc_omp_task_complete_if0;
    __kmpc_omp_taskwait "rax" => wait_here, off __kmpc_omp_taskwait;
    __kmpc_omp_taskyield "rax" => done, off __kmpc_omp_taskyield;
    __kmpc_omp_wait_deps "rax" => wait_here, off __kmpc_omp_wait_deps;
    __kmpc_taskgroup "rax" => done, off __kmpc_taskgroup;
    __kmpc_end_taskgroup "rax" => wait_here, off __kmpc_end_taskgroup;
}
