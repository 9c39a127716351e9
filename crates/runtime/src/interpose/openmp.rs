//! OpenMP as clang compiles it. While a program is recorded, this module replaces clang's library (libomp), so that threads, barriers,
//! locks and tasks are those of the trace, and the controller decides which thread is first. With recording off the library runs.
//!
//! A parallel region makes its threads and joins them. The first thread that comes decides some questions: which one runs a `single`, which
//! one gets which turns of a loop. The standard leaves them open, so they order nothing; a replay decides as the recording did
//! (`feed::decision`).

mod loops;
mod members;
mod parallel;
mod refused;
mod tasks;
mod team;

pub use team::Own;

use core::ffi::c_int;

use super::locks::{give_back, take_for};
use super::{interpose, tracked};
use crate::feed;
use crate::hooks::begin::Begin;
use crate::hooks::occupied::Occupied;
use crate::log;
use crate::record::{Kind, TEAMS};
use crate::threads::Thread;
use members::{in_team, own, wait, wake};
use team::{BARRIER, REDUCTION};

/// All threads of the team wait for each other, and for their tasks.
fn barrier(thread: &'static Thread) {
    tasks::wait(thread);
    thread.begin();
    let Some((team, bucket)) = in_team(thread) else {
        thread.end();
        return;
    };
    let round = team.round.get();
    log::sync(thread, Kind::Arrive, 0, team.object(BARRIER), round);
    team.arrived.set(team.arrived.get() + 1);
    loop {
        if team.arrived.get() == team.size && team.round.get() == round {
            team.arrived.set(0);
            team.round.set(round + 1);
            wake(team, bucket);
        }
        if team.round.get() > round {
            break;
        }
        wait(thread, team, bucket);
    }
    bucket.unlock();
    thread.begin();
    log::sync(thread, Kind::Depart, 0, team.object(BARRIER), round);
    thread.end();
}

extern "C" fn kmpc_barrier(_: usize, _: c_int) {
    if let Some(thread) = tracked() {
        barrier(thread);
    }
}

extern "C" fn kmpc_cancel_barrier(_: usize, _: c_int) -> c_int {
    kmpc_barrier(0, 0);
    0
}

/// Cancellation is off, as it is unless the environment says otherwise.
extern "C" fn kmpc_no() -> c_int {
    0
}

extern "C" fn kmpc_nothing() {}

extern "C" fn kmpc_yes() -> c_int {
    1
}

extern "C" fn kmpc_critical(_: usize, _: c_int, lock: usize, place: usize) {
    if let Some(thread) = tracked() {
        take_for(thread, lock, place, false);
    }
}

extern "C" fn kmpc_critical_with_hint(_: usize, _: c_int, lock: usize, _: u32, place: usize) {
    kmpc_critical(0, 0, lock, place);
}

extern "C" fn kmpc_end_critical(_: usize, _: c_int, lock: usize, place: usize) {
    if let Some(thread) = tracked() {
        give_back(thread, lock, place);
    }
}

extern "C" fn kmpc_master(_: usize, _: c_int) -> c_int {
    c_int::from(omp_get_thread_num_() == 0)
}

extern "C" fn kmpc_masked(_: usize, _: c_int, filter: c_int) -> c_int {
    c_int::from(omp_get_thread_num_() == filter)
}

/// The first who comes runs it.
extern "C" fn kmpc_single(_: usize, _: c_int) -> c_int {
    let Some(thread) = tracked() else { return 1 };
    let mine = own(thread).singles.get();
    own(thread).singles.set(mine + 1);
    feed::decision(feed::CONSTRUCT, |before| {
        thread.begin();
        let runs = in_team(thread).is_none_or(|(team, bucket)| {
            let runs = before.map_or(team.singles.get() <= mine, |before| before != 0);
            if runs {
                team.singles.set(team.singles.get().max(mine + 1));
            }
            bucket.unlock();
            runs
        });
        thread.end();
        i64::from(runs)
    }) as c_int
}

type Copy = extern "C" fn(usize, usize);

extern "C" fn kmpc_copyprivate(_: usize, _: c_int, _: usize, data: usize, copy: Copy, did: c_int) {
    let Some(thread) = tracked() else { return };
    let Some(team) = own(thread).place.get().team else { return };
    if did != 0 {
        team.handed.set(data);
    }
    barrier(thread);
    if did == 0 {
        copy(data, team.handed.get());
    }
    barrier(thread);
}

/// The lock of a reduction comes as an argument on the stack: what is reduced is done under one lock of the team's.
fn reduction_lock(thread: &'static Thread) -> usize {
    own(thread).place.get().team.map_or(TEAMS as usize, |team| team.object(REDUCTION) as usize)
}

extern "C" fn reduce(_: usize, _: c_int) -> c_int {
    if let Some(thread) = tracked() {
        take_for(thread, reduction_lock(thread), 0, false);
    }
    1
}

extern "C" fn end_reduce_nowait(_: usize, _: c_int) {
    if let Some(thread) = tracked() {
        give_back(thread, reduction_lock(thread), 0);
    }
}

extern "C" fn end_reduce(_: usize, _: c_int) {
    end_reduce_nowait(0, 0);
    kmpc_barrier(0, 0);
}

extern "C" fn kmpc_global_thread_num(_: usize) -> c_int {
    tracked().map_or(0, |thread| thread.number.get() as c_int - 1)
}

extern "C" fn omp_get_thread_num_() -> c_int {
    tracked().map_or(0, |thread| own(thread).place.get().index as c_int)
}

extern "C" fn omp_get_num_threads_() -> c_int {
    tracked().and_then(|thread| own(thread).place.get().team).map_or(1, |team| team.size as c_int)
}

/// How many teams a thread is in, of more than one thread if `active`.
fn level(active: bool) -> c_int {
    let mut place = tracked().map(|thread| own(thread).place.get()).unwrap_or_default();
    let mut level = 0;
    while let Some(team) = place.team {
        level += c_int::from(!active || team.size > 1);
        place = team.outer;
    }
    level
}

extern "C" fn omp_in_parallel_() -> c_int {
    c_int::from(level(true) > 0)
}

extern "C" fn omp_get_level_() -> c_int {
    level(false)
}

extern "C" fn omp_get_active_level_() -> c_int {
    level(true)
}

extern "C" fn omp_set_lock_(lock: usize, place: usize) {
    if let Some(thread) = tracked() {
        take_for(thread, lock, place, false);
    }
}

extern "C" fn omp_set_nest_lock_(lock: usize, place: usize) {
    if let Some(thread) = tracked() {
        take_for(thread, lock, place, true);
    }
}

extern "C" fn omp_unset_lock_(lock: usize, place: usize) {
    if let Some(thread) = tracked() {
        give_back(thread, lock, place);
    }
}

extern "C" fn omp_test_lock_(lock: usize, place: usize) -> c_int {
    tracked().map_or(1, |thread| super::locks::try_for(thread, lock, place, false) as c_int)
}

extern "C" fn omp_test_nest_lock_(lock: usize, place: usize) -> c_int {
    tracked().map_or(1, |thread| super::locks::try_for(thread, lock, place, true) as c_int)
}

interpose! {
    __kmpc_barrier "rdx" => kmpc_barrier, off __kmpc_barrier;
    __kmpc_cancel_barrier "rdx" => kmpc_cancel_barrier, off __kmpc_cancel_barrier;
    __kmpc_cancel "r8" => kmpc_no, off __kmpc_cancel;
    __kmpc_cancellationpoint "r8" => kmpc_no, off __kmpc_cancellationpoint;
    __kmpc_critical "rcx" => kmpc_critical, off __kmpc_critical;
    __kmpc_critical_with_hint "r8" => kmpc_critical_with_hint, off __kmpc_critical_with_hint;
    __kmpc_end_critical "rcx" => kmpc_end_critical, off __kmpc_end_critical;
    __kmpc_master "rdx" => kmpc_master, off __kmpc_master;
    __kmpc_end_master "rdx" => kmpc_nothing, off __kmpc_end_master;
    __kmpc_masked "rcx" => kmpc_masked, off __kmpc_masked;
    __kmpc_end_masked "rdx" => kmpc_nothing, off __kmpc_end_masked;
    __kmpc_single "rdx" => kmpc_single, off __kmpc_single;
    __kmpc_end_single "rdx" => kmpc_nothing, off __kmpc_end_single;
    __kmpc_copyprivate "rax" => kmpc_copyprivate, off __kmpc_copyprivate;
    __kmpc_reduce "rax" => reduce, off __kmpc_reduce;
    __kmpc_reduce_nowait "rax" => reduce, off __kmpc_reduce_nowait;
    __kmpc_end_reduce "rcx" => end_reduce, off __kmpc_end_reduce;
    __kmpc_end_reduce_nowait "rcx" => end_reduce_nowait, off __kmpc_end_reduce_nowait;
    __kmpc_flush "rsi" => kmpc_nothing, off __kmpc_flush;
    __kmpc_begin "rdx" => kmpc_nothing, off __kmpc_begin;
    __kmpc_end "rsi" => kmpc_nothing, off __kmpc_end;
    __kmpc_ok_to_fork "rsi" => kmpc_yes, off __kmpc_ok_to_fork;
    __kmpc_global_thread_num "rsi" => kmpc_global_thread_num, off __kmpc_global_thread_num;
    omp_get_thread_num "rdi" => omp_get_thread_num_, off omp_get_thread_num;
    omp_get_num_threads "rdi" => omp_get_num_threads_, off omp_get_num_threads;
    omp_in_parallel "rdi" => omp_in_parallel_, off omp_in_parallel;
    omp_get_level "rdi" => omp_get_level_, off omp_get_level;
    omp_get_active_level "rdi" => omp_get_active_level_, off omp_get_active_level;
    omp_init_lock "rsi" => kmpc_nothing, off omp_init_lock;
    omp_destroy_lock "rsi" => kmpc_nothing, off omp_destroy_lock;
    omp_set_lock "rsi" => omp_set_lock_, off omp_set_lock;
    omp_unset_lock "rsi" => omp_unset_lock_, off omp_unset_lock;
    omp_test_lock "rsi" => omp_test_lock_, off omp_test_lock;
    omp_init_nest_lock "rsi" => kmpc_nothing, off omp_init_nest_lock;
    omp_destroy_nest_lock "rsi" => kmpc_nothing, off omp_destroy_nest_lock;
    omp_set_nest_lock "rsi" => omp_set_nest_lock_, off omp_set_nest_lock;
    omp_unset_nest_lock "rsi" => omp_unset_lock_, off omp_unset_nest_lock;
    omp_test_nest_lock "rsi" => omp_test_nest_lock_, off omp_test_nest_lock;
}
