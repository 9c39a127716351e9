//! Functions of the C library that write memory which the program may read, and whose writes no trace has. The test below holds
//! them against the headers of the library.

use foretrace_runtime::library::Function;

/// Their names.
const NAMES: &str = "\
__b64_ntop __b64_pton __cmsg_nxthdr __loc_aton __loc_ntoa __p_fqnname __putlong __putshort __res_hostalias __sym_ntop \
__sym_ntos __sym_ston __xpg_basename _dl_find_object _obstack_begin _obstack_begin_1 _obstack_newchunk adjtime \
adjtimex argp_parse backtrace bindresvport bindresvport6 c16rtomb c8rtomb canonicalize canonicalizef canonicalizef32 \
canonicalizef32x canonicalizef64 canonicalizef64x canonicalizel capget catgets cfmakeraw cfsetispeed cfsetospeed \
cfsetspeed clock_adjtime crypt ctermid cuserid dirname dladdr1 dlinfo dn_comp dn_expand drand48 ecvt ecvt_r erand48_r \
ether_aton ether_aton_r ether_hostton ether_line ether_ntoa ether_ntoa_r ether_ntohost fcvt fcvt_r fgetgrent \
fgetgrent_r fgetpwent fgetpwent_r fgetsgent_r fgetspent_r fmemopen forkpty frexpf64x frexpl ftime fts64_read fts64_set \
fts_children fts_close fts_read fts_set fwscanf gcvt getaliasbyname_r getaliasent_r getdate getdate_r getdirentries \
getdirentries64 getgrent gethostbyaddr gethostbyaddr_r gethostbyname2 gethostbyname2_r gethostent gethostent_r \
getifaddrs getipv4sourcefilter getmntent getmntent_r getmsg getnetbyaddr getnetbyaddr_r getnetbyname getnetbyname_r \
getnetent getnetent_r getnetgrent getnetgrent_r getopt getopt_long getopt_long_only getpass getpmsg getprotobyname \
getprotobyname_r getprotobynumber getprotobynumber_r getprotoent getprotoent_r getpw getpwent getrpcbyname \
getrpcbyname_r getrpcbynumber_r getrpcent getrpcent_r gets getservbyname_r getservbyport getservbyport_r getservent \
getservent_r getsgent_r getsgnam_r getsourcefilter getspent getspent_r getspnam getspnam_r getsubopt getttyent \
getttynam getusershell getutent getutent_r getutid getutid_r getutline getutline_r getutmp getutmpx getutxent getutxid \
getutxline glob glob64 gtty hcreate hcreate_r hdestroy hsearch hsearch_r if_indextoname inet_net_ntop inet_net_pton \
inet_neta inet_nsap_addr inet_nsap_ntoa initstate initstate_r insque jrand48_r klogctl l64a lcong48 lcong48_r \
lgammaf32_r lgammaf32x_r lgammaf64_r lgammaf64x_r lgammal_r lrand48 lsearch mbrtoc16 mbrtoc8 mincore mkostemps \
mkostemps64 mkstemps mkstemps64 modff64x modfl modify_ldt mq_setattr mrand48 msgctl name_to_handle_at nrand48_r \
ntp_adjtime ntp_gettime ntp_gettimex obstack_free obstack_printf obstack_vprintf open_by_handle_at open_memstream \
open_wmemstream openpty parse_printf_format printf_size_info profil ptsname qecvt qecvt_r qfcvt qfcvt_r qgcvt rand \
random random_r rcmd rcmd_af re_comp re_compile_fastmap re_compile_pattern re_exec re_match re_match_2 re_search \
re_search_2 re_set_registers readdir64_r readdir_r remque remquof32x remquof64x remquol res_mkquery res_nmkquery \
res_nquery res_nquerydomain res_nsearch res_nsend res_query res_querydomain res_search res_send rexec rexec_af \
rresvport rresvport_af scandir scandir64 scandirat scandirat64 seed48 seed48_r setlocale setpayload setpayloadf \
setpayloadf32 setpayloadf32x setpayloadf64 setpayloadf64x setpayloadl setpayloadsig setpayloadsigf setpayloadsigf32 \
setpayloadsigf32x setpayloadsigf64 setpayloadsigf64x setpayloadsigl setstate setstate_r sgetsgent_r sgetspent_r shmctl \
sigandset sigorset sigstack sigvec sincosf64x sincosl sprofil srand srand48 srandom srandom_r strfmon strfmon_l \
strfromd strfromf strfromf32 strfromf32x strfromf64 strfromf64x strfroml strftime_l strptime_l strtof32 strtof32_l \
strtof32x strtof32x_l strtof64 strtof64_l strtof64x strtof64x_l strtold strtold_l strxfrm_l swscanf sysctl tdelete \
timespec_getres tmpnam_r tsearch vfwscanf vswscanf vwscanf wcsftime_l wcstod_l wcstof wcstof32 wcstof32_l wcstof32x \
wcstof32x_l wcstof64 wcstof64_l wcstof64x wcstof64x_l wcstof_l wcstok wcstol_l wcstold wcstold_l wcstoll_l wcstoul_l \
wcstoull_l wcsxfrm_l wordexp wscanf \
";
/// Starts of the names of more.
const STARTS: [&str; 7] = ["argz_", "envz_", "inet6_", "ns_", "xdr_", "pthread_attr_get", "__isoc"];
/// Of the functions that have a variant which checks sizes, those that write none of the program's memory.
const WRITES_NOTHING: &str =
    "printf vprintf wprintf vwprintf fprintf vfprintf fwprintf vfwprintf dprintf vdprintf syslog vsyslog fdelt longjmp";
/// Functions that share one state of the library.
const ONE_STATE: [(&str, &[&str]); 2] = [
    ("rand", &["rand", "srand", "random", "srandom", "initstate", "setstate"]),
    ("drand48", &["drand48", "lrand48", "mrand48", "srand48", "seed48", "lcong48"]),
];

/// Which of the library's functions a symbol is of those, by the name of the state that it changes.
pub(super) fn state(symbol: &str) -> Option<&str> {
    if Function::named(symbol).is_some() {
        return Some(symbol); // the call has other arguments than the library's function, or may unwind
    }
    let checked = symbol.strip_prefix("__").and_then(|name| name.strip_suffix("_chk"));
    let is_checked = checked.is_some_and(|name| !WRITES_NOTHING.split(' ').any(|other| other == name));
    let is_listed =
        || NAMES.split(' ').any(|name| name == symbol) || STARTS.iter().any(|start| symbol.starts_with(start));
    if !(is_checked || is_listed()) {
        return None;
    }
    let shared = ONE_STATE.iter().find(|(_, members)| members.contains(&symbol)).map(|(state, _)| *state);
    Some(shared.unwrap_or(symbol))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::io::Write;
    use std::process::{Command, Stdio};

    const HEADERS: &str = "aio argp argz arpa/inet ctype dirent dlfcn envz err execinfo fcntl fmtmsg fnmatch fts ftw getopt glob grp gshadow \
                           iconv ifaddrs inttypes langinfo libgen libintl locale malloc math mntent monetary mqueue net/if netdb \
                           netinet/ether netinet/in obstack poll printf pthread pty pwd regex resolv sched search semaphore setjmp \
                           shadow signal spawn stdio stdlib string strings sys/epoll sys/eventfd sys/inotify sys/ipc sys/mman sys/mount \
                           sys/msg sys/prctl sys/quota sys/random sys/resource sys/select sys/sem sys/sendfile sys/shm sys/signalfd \
                           sys/socket sys/stat sys/statfs sys/statvfs sys/swap sys/syscall sys/sysinfo sys/time sys/timeb sys/timerfd \
                           sys/times sys/timex sys/uio sys/utsname sys/wait sys/xattr syslog termios threads time uchar ucontext unistd \
                           utime utmp utmpx wchar wctype wordexp";
    /// Types of objects whose insides programs do not look at.
    const OPAQUE: &str = "FILE __FILE DIR cpu_set_t fenv_t fexcept_t femode_t ucontext_t jmp_buf sigjmp_buf res_state __res_state \
                          posix_spawnattr_t posix_spawn_file_actions_t pthread_attr_t pthread_mutexattr_t pthread_rwlockattr_t \
                          pthread_condattr_t pthread_barrierattr_t pthread_mutex_t pthread_rwlock_t pthread_cond_t pthread_barrier_t \
                          pthread_spinlock_t pthread_once_t __pthread_unwind_buf_t cnd_t mtx_t once_flag sem_t __jmp_buf_tag obstack regex_t \
                          regmatch_t FTS FTS64 aiocb aiocb64 gaicb";
    /// Functions that write nothing where pointers lead, that only hand it to others, or that end the life of what is there.
    const NOTHING: &str = "_dl_mcount_wrapper_check alphasort alphasort64 argp_help backtrace_symbols backtrace_symbols_fd brk clone dlclose dlsym dlvsym \
                           execv execve execveat execvp execvpe fexecve freeaddrinfo freeifaddrs globfree globfree64 hdestroy_r \
                           if_freenameindex lfind madvise malloc_usable_size mount_setattr mprotect mprobe msync munmap on_exit \
                           pidfd_send_signal pkey_mprotect posix_madvise posix_spawnattr_getflags posix_spawnattr_getpgroup \
                           posix_spawnattr_getschedparam posix_spawnattr_getschedpolicy posix_spawnattr_getsigdefault \
                           posix_spawnattr_getsigmask printf_size pthread_attr_setaffinity_np pthread_attr_setsigmask_np \
                           pthread_attr_setstack pthread_attr_setstackaddr pthread_condattr_getclock pthread_condattr_getpshared \
                           pthread_barrierattr_getpshared pthread_exit pthread_mutex_getprioceiling pthread_mutex_setprioceiling \
                           pthread_mutexattr_getprioceiling pthread_mutexattr_getprotocol pthread_mutexattr_getpshared \
                           pthread_mutexattr_getrobust pthread_mutexattr_getrobust_np pthread_mutexattr_gettype pthread_rwlockattr_getkind_np \
                           pthread_rwlockattr_getpshared pthread_setcancelstate pthread_setcanceltype register_printf_function \
                           register_printf_specifier register_printf_type remap_file_pages setbuf setbuffer setvbuf tdestroy tfind tss_set \
                           twalk_r verr verrx versionsort versionsort64 vfwprintf vwprintf vwarn vwarnx wordfree bcopy bzero sigreturn \
                           argz_stringify __argz_stringify obstack_vprintf";

    /// Calls that a trace has as unseen orders.
    const UNSEEN_ORDERS: &str = "copy_file_range getaddrinfo_a lio_listio lio_listio64 splice";

    /// The declarations of functions in the headers: names, and their parameters.
    fn declared() -> Vec<(String, String)> {
        let include = |name: &str| format!("#if __has_include(<{name}.h>)\n#include <{name}.h>\n#endif\n");
        let source: String = HEADERS.split_whitespace().map(include).collect();
        let clang = (14..=22).rev().map(|version| format!("clang-{version}")).chain(["clang".to_string()]);
        let clang =
            clang.into_iter().find(|name| Command::new(name).arg("--version").output().is_ok()).expect("a clang");
        let options =
            "-D_GNU_SOURCE -D_LARGEFILE64_SOURCE -w -fno-color-diagnostics -fsyntax-only -Xclang -ast-dump -x c -";
        let mut child = Command::new(clang);
        child.args(options.split_whitespace()).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = child.spawn().expect("started");
        child.stdin.take().expect("piped").write_all(source.as_bytes()).expect("written");
        let tree = String::from_utf8(child.wait_with_output().expect("ran").stdout).expect("text");
        let functions = tree.lines().filter(|line| line.get(1..).is_some_and(|line| line.starts_with("-FunctionDecl")));
        let functions = functions.filter_map(|line| {
            let (before, ty) = line.split_once(" '")?;
            let (_, parameters) = ty.split_once('\'')?.0.split_once('(')?;
            Some((before.rsplit(' ').next()?.to_string(), parameters.to_string()))
        });
        functions.collect()
    }

    /// Whether a function of these parameters can write where one of them points.
    fn can_write(parameters: &str) -> bool {
        let (mut depth, mut parts) = (0, vec![String::new()]);
        for byte in parameters.chars() {
            depth += i32::from(byte == '(') - i32::from(byte == ')');
            match byte {
                ',' if depth == 0 => parts.push(String::new()),
                _ => parts.last_mut().expect("one").push(byte),
            }
        }
        parts.iter().any(|part| {
            let part = part.trim();
            let is_constant = part.starts_with("const ") && part.matches('*').count() == 1 || part.contains("*const *");
            let base = part.trim_start_matches("const ").trim_start_matches("struct ");
            let base = base.split([' ', '*']).next().unwrap_or_default();
            part.contains('*')
                && !part.contains("(*)")
                && !is_constant
                && !OPAQUE.split_whitespace().any(|one| one == base)
        })
    }

    /// Functions that the runtime has in place of the library's.
    fn interposed() -> BTreeSet<String> {
        let mut todo = vec![std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../runtime/src")];
        let mut found = BTreeSet::new();
        while let Some(path) = todo.pop() {
            if path.is_dir() {
                todo.extend(path.read_dir().expect("a folder").map(|entry| entry.expect("an entry").path()));
                continue;
            }
            let text = std::fs::read_to_string(path).expect("text");
            found.extend(text.lines().filter_map(|line| {
                let (name, rest) = line.trim().split_once(' ')?;
                (rest.starts_with("\"r") && rest.contains("=>")).then(|| name.to_string())
            }));
            let weak = text.split("pub unsafe extern \"C\" fn ").chain(text.split("pub extern \"C\" fn ")).skip(1);
            found.extend(weak.filter_map(|rest| Some(rest.split_once('(')?.0.to_string())));
        }
        found
    }

    #[test]
    fn whatever_can_write_is_recorded_or_told() {
        let interposed = interposed();
        let nothing: BTreeSet<&str> = NOTHING.split_whitespace().chain(UNSEEN_ORDERS.split_whitespace()).collect();
        let writers: BTreeSet<String> =
            declared().into_iter().filter(|(_, parameters)| can_write(parameters)).map(|(name, _)| name).collect();
        assert!(writers.len() > 500, "the headers declare {writers:?}");
        let silent = writers.iter().filter(|name| {
            let is_known = state(name).is_some() || interposed.contains(*name) || nothing.contains(name.as_str());
            !is_known && (!name.starts_with("__") || name.starts_with("__isoc"))
        });
        let silent: Vec<&String> = silent.collect();
        assert!(silent.is_empty(), "no trace has what these write, and nobody says so: {silent:?}");
    }
}
