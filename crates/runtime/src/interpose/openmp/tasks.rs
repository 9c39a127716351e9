//! Tasks: each runs where it is made, before its maker goes on, as the standard allows. So nothing of what tasks could do at the same
//! time is in the trace, which is said once.

use core::ffi::c_int;
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crate::interpose::{interpose, tracked};
use crate::sys;
use crate::text::say;

static SAID: AtomicBool = AtomicBool::new(false);

type Routine = extern "C" fn(c_int, usize) -> c_int;

/// A task as the compiler knows it: where its shared variables are, what it runs, then what is its own.
extern "C" fn alloc(_: usize, _: c_int, _: c_int, bytes: usize, shared: usize, run: usize) -> usize {
    let whole = bytes.next_multiple_of(16);
    let Some(memory) = sys::map(whole + shared) else {
        say(format_args!("no memory for a task"));
        sys::die_by(sys::SIGABRT)
    };
    let task = memory.cast::<usize>();
    // SAFETY: fresh memory.
    unsafe {
        task.write(memory as usize + whole);
        task.add(1).write(run);
    }
    memory as usize
}

extern "C" fn run(_: usize, number: c_int, task: usize) -> c_int {
    if tracked().is_some() && !SAID.swap(true, Relaxed) {
        say(format_args!("OpenMP: each task runs where it is made; what tasks do at the same time is not seen"));
    }
    // SAFETY: from `alloc`.
    let routine: Routine = unsafe { core::mem::transmute(*(task as *const usize).add(1)) };
    routine(number, task);
    0
}

/// Its turns are one task.
extern "C" fn run_loop(_: usize, number: c_int, task: usize) {
    run(0, number, task);
}

/// All tasks are done where they are made.
extern "C" fn done() -> c_int {
    0
}

interpose! {
    __kmpc_omp_task_alloc "rax" => alloc, off __kmpc_omp_task_alloc;
    __kmpc_omp_task "rcx" => run, off __kmpc_omp_task;
    __kmpc_omp_task_with_deps "rax" => run, off __kmpc_omp_task_with_deps;
    __kmpc_taskloop "rax" => run_loop, off __kmpc_taskloop;
    __kmpc_omp_task_begin_if0 "rax" => done, off __kmpc_omp_task_begin_if0;
    __kmpc_omp_task_complete_if0 "rax" => done, off __kmpc_omp_task_complete_if0;
    __kmpc_omp_taskwait "rax" => done, off __kmpc_omp_taskwait;
    __kmpc_omp_taskyield "rax" => done, off __kmpc_omp_taskyield;
    __kmpc_omp_wait_deps "rax" => done, off __kmpc_omp_wait_deps;
    __kmpc_taskgroup "rax" => done, off __kmpc_taskgroup;
    __kmpc_end_taskgroup "rax" => done, off __kmpc_end_taskgroup;
}
