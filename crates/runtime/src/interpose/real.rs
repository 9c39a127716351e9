//! The original functions behind the interposed ones, found by the dynamic linker.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::sync::atomic::Ordering::Relaxed;

use crate::sys::{self, NEXT, Start, Timespec};

fn find(name: &CStr, version: Option<&CStr>) -> usize {
    // SAFETY: strings that live for ever.
    unsafe {
        let versioned =
            version.map_or(core::ptr::null_mut(), |version| sys::dlvsym(NEXT, name.as_ptr(), version.as_ptr()));
        if versioned.is_null() { sys::dlsym(NEXT, name.as_ptr()) as usize } else { versioned as usize }
    }
}

macro_rules! name {
    ($name:ident) => {
        // SAFETY: ends with its only zero.
        unsafe { CStr::from_bytes_with_nul_unchecked(concat!(stringify!($name), "\0").as_bytes()) }
    };
}

macro_rules! reals {
    ($($name:ident $(@ $version:literal)? ($($argument:ident: $type:ty),*) -> $result:ty;)*) => {
        #[allow(non_upper_case_globals)]
        pub mod address {
            use core::sync::atomic::AtomicUsize;
            $(pub static $name: AtomicUsize = AtomicUsize::new(0);)*
        }

        /// Finds all of them, early: later the loader's lock may be held by others.
        pub fn resolve() {
            $(address::$name.store(find(name!($name), None $(.or(Some($version)))?), Relaxed);)*
        }

        $(
            #[allow(non_snake_case, reason = "names of C++")]
            #[inline(always)]
            #[allow(dead_code, reason = "of some only the address is used")]
            pub fn $name($($argument: $type),*) -> $result {
                let mut function = address::$name.load(Relaxed);
                if function == 0 {
                    function = find(name!($name), None $(.or(Some($version)))?);
                }
                // SAFETY: the library's function of this name has this type; arguments are the program's.
                unsafe { core::mem::transmute::<usize, unsafe extern "C" fn($($type),*) -> $result>(function)($($argument),*) }
            }
        )*
    };
}

reals! {
    open(path: *const c_char, flags: c_int, mode: u32) -> c_int;
    open64(path: *const c_char, flags: c_int, mode: u32) -> c_int;
    openat(folder: c_int, path: *const c_char, flags: c_int, mode: u32) -> c_int;
    openat64(folder: c_int, path: *const c_char, flags: c_int, mode: u32) -> c_int;
    creat(path: *const c_char, mode: u32) -> c_int;
    bind(file: c_int, address: *const c_void, length: u32) -> c_int;
    pread(file: c_int, to: *mut c_void, bytes: usize, from: i64) -> isize;
    pwrite(file: c_int, from: *const c_void, bytes: usize, to: i64) -> isize;
    pthread_create(thread: *mut usize, attributes: *const c_void, start: Start, argument: *mut c_void) -> c_int;
    pthread_join(thread: usize, result: *mut *mut c_void) -> c_int;
    pthread_tryjoin_np(thread: usize, result: *mut *mut c_void) -> c_int;
    pthread_timedjoin_np(thread: usize, result: *mut *mut c_void, at: *const Timespec) -> c_int;
    pthread_clockjoin_np(thread: usize, result: *mut *mut c_void, clock: c_int, at: *const Timespec) -> c_int;
    pthread_detach(thread: usize) -> c_int;
    pthread_cancel(thread: usize) -> c_int;
    pthread_setcancelstate(state: c_int, old: *mut c_int) -> c_int;
    pthread_testcancel() -> ();
    pthread_attr_getdetachstate(attributes: *const c_void, state: *mut c_int) -> c_int;
    pthread_mutex_lock(mutex: usize) -> c_int;
    pthread_mutex_trylock(mutex: usize) -> c_int;
    pthread_mutex_timedlock(mutex: usize, at: *const Timespec) -> c_int;
    pthread_mutex_clocklock(mutex: usize, clock: c_int, at: *const Timespec) -> c_int;
    pthread_mutex_unlock(mutex: usize) -> c_int;
    pthread_cond_init @ c"GLIBC_2.3.2" (condition: usize, attributes: *const c_void) -> c_int;
    pthread_cond_destroy @ c"GLIBC_2.3.2" (condition: usize) -> c_int;
    pthread_cond_wait @ c"GLIBC_2.3.2" (condition: usize, mutex: usize) -> c_int;
    pthread_cond_timedwait @ c"GLIBC_2.3.2" (condition: usize, mutex: usize, at: *const Timespec) -> c_int;
    pthread_cond_clockwait(condition: usize, mutex: usize, clock: c_int, at: *const Timespec) -> c_int;
    pthread_cond_signal @ c"GLIBC_2.3.2" (condition: usize) -> c_int;
    pthread_cond_broadcast @ c"GLIBC_2.3.2" (condition: usize) -> c_int;
    pthread_condattr_getclock(attributes: *const c_void, clock: *mut c_int) -> c_int;
    pthread_condattr_getpshared(attributes: *const c_void, shared: *mut c_int) -> c_int;
    pthread_rwlock_rdlock(lock: usize) -> c_int;
    pthread_rwlock_tryrdlock(lock: usize) -> c_int;
    pthread_rwlock_timedrdlock(lock: usize, at: *const Timespec) -> c_int;
    pthread_rwlock_clockrdlock(lock: usize, clock: c_int, at: *const Timespec) -> c_int;
    pthread_rwlock_wrlock(lock: usize) -> c_int;
    pthread_rwlock_trywrlock(lock: usize) -> c_int;
    pthread_rwlock_timedwrlock(lock: usize, at: *const Timespec) -> c_int;
    pthread_rwlock_clockwrlock(lock: usize, clock: c_int, at: *const Timespec) -> c_int;
    pthread_rwlock_unlock(lock: usize) -> c_int;
    pthread_spin_lock(lock: usize) -> c_int;
    pthread_spin_trylock(lock: usize) -> c_int;
    pthread_spin_unlock(lock: usize) -> c_int;
    pthread_barrier_init(barrier: usize, attributes: *const c_void, count: u32) -> c_int;
    pthread_barrier_destroy(barrier: usize) -> c_int;
    pthread_barrier_wait(barrier: usize) -> c_int;
    pthread_once(once: usize, initialise: usize) -> c_int;
    sem_init(semaphore: usize, shared: c_int, count: u32) -> c_int;
    sem_destroy(semaphore: usize) -> c_int;
    sem_getvalue(semaphore: usize, value: *mut c_int) -> c_int;
    sem_wait(semaphore: usize) -> c_int;
    sem_trywait(semaphore: usize) -> c_int;
    sem_timedwait(semaphore: usize, at: *const Timespec) -> c_int;
    sem_clockwait(semaphore: usize, clock: c_int, at: *const Timespec) -> c_int;
    sem_post(semaphore: usize) -> c_int;
    mmap(address: usize, bytes: usize, protection: c_int, flags: c_int, file: c_int, offset: i64) -> usize;
    munmap(address: usize, bytes: usize) -> c_int;
    mq_getattr(queue: c_int, attributes: *mut c_void) -> c_int;
    mq_send(queue: c_int, message: *const c_void, bytes: usize, priority: u32) -> c_int;
    mq_timedsend(queue: c_int, message: *const c_void, bytes: usize, priority: u32, at: *const Timespec) -> c_int;
    mq_receive(queue: c_int, to: *mut c_void, bytes: usize, priority: *mut u32) -> isize;
    mq_timedreceive(queue: c_int, to: *mut c_void, bytes: usize, priority: *mut u32, at: *const Timespec) -> isize;
    msgsnd(queue: c_int, message: *const c_void, bytes: usize, flags: c_int) -> c_int;
    msgrcv(queue: c_int, to: *mut c_void, bytes: usize, kind: i64, flags: c_int) -> isize;
    semop(set: c_int, operations: *const c_void, count: usize) -> c_int;
    semtimedop(set: c_int, operations: *const c_void, count: usize, span: *const Timespec) -> c_int;
    semctl(set: c_int, number: c_int, command: c_int, argument: usize) -> c_int;
    flock(file: c_int, operation: c_int) -> c_int;
    fcntl(file: c_int, command: c_int, argument: *mut c_void) -> c_int;
    swapcontext(from: usize, to: usize) -> c_int;
    setcontext(to: usize) -> c_int;
    mremap(old: usize, bytes: usize, new_bytes: usize, flags: c_int, to: usize) -> usize;
    shmat(id: c_int, at: *const c_void, flags: c_int) -> usize;
    shmdt(address: usize) -> c_int;
    pthread_kill(thread: usize, signal: c_int) -> c_int;
    pthread_sigqueue(thread: usize, signal: c_int, value: usize) -> c_int;
    tgkill(process: c_int, thread: c_int, signal: c_int) -> c_int;
    kill(process: c_int, signal: c_int) -> c_int;
    killpg(group: c_int, signal: c_int) -> c_int;
    sigqueue(process: c_int, signal: c_int, value: usize) -> c_int;
    sigtimedwait(set: *const c_void, information: *mut c_void, at: *const Timespec) -> c_int;
    poll(files: *mut c_void, count: u64, timeout: c_int) -> c_int;
    ppoll(files: *mut c_void, count: u64, timeout: *const Timespec, mask: *const c_void) -> c_int;
    select(most: c_int, reading: *mut c_void, writing: *mut c_void, other: *mut c_void, timeout: *mut c_void) -> c_int;
    pselect(most: c_int, reading: *mut c_void, writing: *mut c_void, other: *mut c_void, timeout: *const c_void, mask: *const c_void) -> c_int;
    epoll_ctl(epoll: c_int, what: c_int, file: c_int, event: *mut c_void) -> c_int;
    epoll_wait(epoll: c_int, events: *mut c_void, most: c_int, timeout: c_int) -> c_int;
    epoll_pwait(epoll: c_int, events: *mut c_void, most: c_int, timeout: c_int, mask: *const c_void) -> c_int;
    epoll_pwait2(epoll: c_int, events: *mut c_void, most: c_int, timeout: *const c_void, mask: *const c_void) -> c_int;
    sigaction(signal: c_int, new: *const c_void, old: *mut c_void) -> c_int;
    fork() -> c_int;
    clone(function: extern "C" fn(*mut c_void) -> c_int, stack: *mut c_void, flags: c_int, argument: *mut c_void, parent: *mut c_int, locals: *mut c_void, child: *mut c_int) -> c_int;
    dlopen(name: *const c_char, flags: c_int) -> *mut c_void;
    eventfd(count: u32, flags: c_int) -> c_int;
    read(file: c_int, to: *mut c_void, bytes: usize) -> isize;
    write(file: c_int, from: *const c_void, bytes: usize) -> isize;
    socket(family: c_int, kind: c_int, protocol: c_int) -> c_int;
    socketpair(family: c_int, kind: c_int, protocol: c_int, pair: *mut [c_int; 2]) -> c_int;
    send(file: c_int, from: *const c_void, bytes: usize, flags: c_int) -> isize;
    sendto(file: c_int, from: *const c_void, bytes: usize, flags: c_int, to: *const c_void, length: u32) -> isize;
    fopencookie(cookie: usize, how: *const c_char, functions: sys::CookieFunctions) -> *mut c_void;
    sendmsg(file: c_int, message: *const c_void, flags: c_int) -> isize;
    writev(file: c_int, parts: *const c_void, count: c_int) -> isize;
    sendfile(file: c_int, from: c_int, offset: *mut i64, bytes: usize) -> isize;
    connect(file: c_int, to: *const c_void, length: u32) -> c_int;
    shutdown(file: c_int, how: c_int) -> c_int;
    close(file: c_int) -> c_int;
    recv(file: c_int, to: *mut c_void, bytes: usize, flags: c_int) -> isize;
    recvfrom(file: c_int, to: *mut c_void, bytes: usize, flags: c_int, from: *mut c_void, length: *mut u32) -> isize;
    recvmsg(file: c_int, message: *mut c_void, flags: c_int) -> isize;
    readv(file: c_int, parts: *const c_void, count: c_int) -> isize;
    accept(file: c_int, from: *mut c_void, length: *mut u32) -> c_int;
    accept4(file: c_int, from: *mut c_void, length: *mut u32, flags: c_int) -> c_int;
    longjmp(buffer: *const u64, value: c_int) -> !;
    _longjmp(buffer: *const u64, value: c_int) -> !;
    siglongjmp(buffer: *const u64, value: c_int) -> !;
    __longjmp_chk(buffer: *const u64, value: c_int) -> !;
    abort() -> !;
    __chk_fail() -> !;
    _exit(code: c_int) -> !;
    __assert_fail(text: *const c_char, file: *const c_char, line: u32, function: *const c_char) -> !;
    nanosleep(span: *const Timespec, left: *mut Timespec) -> c_int;
    clock_nanosleep(clock: c_int, flags: c_int, span: *const Timespec, left: *mut Timespec) -> c_int;
    __kmpc_barrier() -> ();
    __kmpc_cancel_barrier() -> ();
    __kmpc_cancel() -> ();
    __kmpc_cancellationpoint() -> ();
    __kmpc_critical() -> ();
    __kmpc_critical_with_hint() -> ();
    __kmpc_end_critical() -> ();
    __kmpc_master() -> ();
    __kmpc_end_master() -> ();
    __kmpc_masked() -> ();
    __kmpc_end_masked() -> ();
    __kmpc_single() -> ();
    __kmpc_end_single() -> ();
    __kmpc_copyprivate() -> ();
    __kmpc_reduce() -> ();
    __kmpc_reduce_nowait() -> ();
    __kmpc_end_reduce() -> ();
    __kmpc_end_reduce_nowait() -> ();
    __kmpc_flush() -> ();
    __kmpc_begin() -> ();
    __kmpc_end() -> ();
    __kmpc_ok_to_fork() -> ();
    __kmpc_global_thread_num() -> ();
    omp_get_thread_num() -> ();
    omp_get_num_threads() -> ();
    omp_in_parallel() -> ();
    omp_get_level() -> ();
    omp_get_active_level() -> ();
    omp_init_lock() -> ();
    omp_destroy_lock() -> ();
    omp_set_lock() -> ();
    omp_unset_lock() -> ();
    omp_test_lock() -> ();
    omp_init_nest_lock() -> ();
    omp_destroy_nest_lock() -> ();
    omp_set_nest_lock() -> ();
    omp_unset_nest_lock() -> ();
    omp_test_nest_lock() -> ();
    __kmpc_serialized_parallel() -> ();
    __kmpc_end_serialized_parallel() -> ();
    __kmpc_push_num_threads() -> ();
    __kmpc_push_proc_bind() -> ();
    omp_set_num_threads() -> ();
    __kmpc_ordered() -> ();
    __kmpc_end_ordered() -> ();
    __kmpc_for_static_fini() -> ();
    __kmpc_dispatch_deinit() -> ();
    __kmpc_omp_task_alloc() -> ();
    __kmpc_omp_task() -> ();
    __kmpc_omp_task_with_deps() -> ();
    __kmpc_taskloop() -> ();
    __kmpc_omp_task_begin_if0() -> ();
    __kmpc_omp_task_complete_if0() -> ();
    __kmpc_omp_taskwait() -> ();
    __kmpc_omp_taskyield() -> ();
    __kmpc_omp_wait_deps() -> ();
    __kmpc_taskgroup() -> ();
    __kmpc_end_taskgroup() -> ();
    __kmpc_for_static_init_4() -> ();
    __kmpc_dispatch_init_4() -> ();
    __kmpc_dispatch_next_4() -> ();
    __kmpc_dispatch_fini_4() -> ();
    __kmpc_for_static_init_4u() -> ();
    __kmpc_dispatch_init_4u() -> ();
    __kmpc_dispatch_next_4u() -> ();
    __kmpc_dispatch_fini_4u() -> ();
    __kmpc_for_static_init_8() -> ();
    __kmpc_dispatch_init_8() -> ();
    __kmpc_dispatch_next_8() -> ();
    __kmpc_dispatch_fini_8() -> ();
    __kmpc_for_static_init_8u() -> ();
    __kmpc_dispatch_init_8u() -> ();
    __kmpc_dispatch_next_8u() -> ();
    __kmpc_dispatch_fini_8u() -> ();
    __kmpc_doacross_init() -> ();
    __kmpc_fork_teams() -> ();
    __kmpc_fork_call_if() -> ();
    __kmpc_threadprivate_cached() -> ();
    __kmpc_taskred_init() -> ();
    __kmpc_taskred_modifier_init() -> ();
    __kmpc_task_reduction_init() -> ();
    __kmpc_task_reduction_modifier_init() -> ();
    __kmpc_taskloop_5() -> ();
    __kmpc_sections_init() -> ();
    __kmpc_dist_for_static_init_4() -> ();
    __kmpc_dist_dispatch_init_4() -> ();
    __kmpc_task_allow_completion_event() -> ();
    __kmpc_fork_call() -> ();
    omp_get_max_threads() -> c_int;
    sched_yield() -> c_int;
    pause() -> c_int;
    sigsuspend(mask: *const c_void) -> c_int;
    clock_gettime(clock: c_int, to: *mut Timespec) -> c_int;
    gettimeofday(to: *mut c_void, zone: *mut c_void) -> c_int;
    time(to: *mut i64) -> i64;
    clock() -> i64;
    getrusage(who: c_int, to: *mut c_void) -> c_int;
    times(to: *mut c_void) -> i64;
    sysinfo(to: *mut c_void) -> c_int;
    statvfs(path: *const c_char, to: *mut c_void) -> c_int;
    fstatvfs(file: c_int, to: *mut c_void) -> c_int;
    statfs(path: *const c_char, to: *mut c_void) -> c_int;
    fstatfs(file: c_int, to: *mut c_void) -> c_int;
    getloadavg(to: *mut c_void, count: c_int) -> c_int;
    sched_getcpu() -> c_int;
    getcpu(processor: *mut u32, node: *mut u32) -> c_int;
    getpid() -> c_int;
    getppid() -> c_int;
    getrandom(to: *mut c_void, bytes: usize, flags: u32) -> isize;
    getentropy(to: *mut c_void, bytes: usize) -> c_int;
    arc4random() -> u32;
    arc4random_uniform(bound: u32) -> u32;
    arc4random_buf(to: *mut c_void, bytes: usize) -> ();
    _ZNSt13random_device9_M_getvalEv(device: *mut c_void) -> u32;
    fopen(path: *const c_char, how: *const c_char) -> *mut c_void;
    fopen64(path: *const c_char, how: *const c_char) -> *mut c_void;
    fdopen(file: c_int, how: *const c_char) -> *mut c_void;
    pclose(stream: *mut c_void) -> c_int;
    fclose(stream: *mut c_void) -> c_int;
    freopen(path: *const c_char, how: *const c_char, stream: *mut c_void) -> *mut c_void;
    freopen64(path: *const c_char, how: *const c_char, stream: *mut c_void) -> *mut c_void;
    __fpurge(stream: *mut c_void) -> ();
    clearerr(stream: *mut c_void) -> ();
    setvbuf(stream: *mut c_void, buffer: *mut c_char, how: c_int, bytes: usize) -> c_int;
    fgets(to: *mut c_char, bytes: c_int, stream: *mut c_void) -> *mut c_char;
    getline(line: usize, bytes: usize, stream: *mut c_void) -> isize;
    getdelim(line: usize, bytes: usize, end: c_int, stream: *mut c_void) -> isize;
    vfscanf(stream: *mut c_void, format: *const c_char, arguments: *mut c_void) -> c_int;
    __isoc99_vfscanf(stream: *mut c_void, format: *const c_char, arguments: *mut c_void) -> c_int;
    __isoc23_vfscanf(stream: *mut c_void, format: *const c_char, arguments: *mut c_void) -> c_int;
    vfwscanf(stream: *mut c_void, format: *const c_char, arguments: *mut c_void) -> c_int;
    __isoc99_vfwscanf(stream: *mut c_void, format: *const c_char, arguments: *mut c_void) -> c_int;
    __isoc23_vfwscanf(stream: *mut c_void, format: *const c_char, arguments: *mut c_void) -> c_int;
    fread(to: *mut c_void, size: usize, count: usize, stream: *mut c_void) -> usize;
    fgetc(stream: *mut c_void) -> c_int;
    fgetc_unlocked(stream: *mut c_void) -> c_int;
    fgets_unlocked(to: *mut c_char, bytes: c_int, stream: *mut c_void) -> *mut c_char;
    fread_unlocked(to: *mut c_void, size: usize, count: usize, stream: *mut c_void) -> usize;
    fgetwc(stream: *mut c_void) -> u32;
    fgetwc_unlocked(stream: *mut c_void) -> u32;
    fgetws(to: *mut c_void, count: c_int, stream: *mut c_void) -> *mut c_void;
    fgetws_unlocked(to: *mut c_void, count: c_int, stream: *mut c_void) -> *mut c_void;
    ungetc(byte: c_int, stream: *mut c_void) -> c_int;
    fseek(stream: *mut c_void, by: i64, from: c_int) -> c_int;
    fsetpos(stream: *mut c_void, position: *const c_void) -> c_int;
    rewind(stream: *mut c_void) -> ();
    dup(file: c_int) -> c_int;
    dup2(file: c_int, new: c_int) -> c_int;
    dup3(file: c_int, new: c_int, flags: c_int) -> c_int;
    fileno(stream: *mut c_void) -> c_int;
    lseek(file: c_int, by: i64, from: c_int) -> i64;
}
