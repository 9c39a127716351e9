//! Functions of the C library whose accesses to memory are recorded: the runtime performs them piece by piece, or notes
//! what they read and wrote. Hooks name a function by its position here.

mod effects;

pub use effects::{Effects, Part, When};

/// How the bytes that a function reads decide what it does and gives back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reading {
    /// Up to the first zero byte of each string.
    Ends,
    /// Up to a byte that equals the second argument.
    Finds,
    /// The same, or up to a zero byte.
    FindsInString,
    /// Pairs of pieces, up to the first that differ.
    Compares,
    /// The same, or up to a zero byte.
    ComparesStrings,
    /// In any way.
    Depends,
    /// Not at all: they are moved, or leave the program.
    Passes,
}

/// Another function that does the same, and that has the arguments in the same places.
#[rustfmt::skip]
fn same_as(symbol: &str) -> Option<&'static str> {
    Some(match symbol {
        "pread64" => "pread", "pwrite64" => "pwrite", "preadv64" => "preadv", "pwritev64" => "pwritev", "preadv64v2" => "preadv2",
        "stat64" => "stat", "lstat64" => "lstat", "fstat64" => "fstat", "fstatat64" => "fstatat", "statfs64" => "statfs",
        "fstatfs64" => "fstatfs", "statvfs64" => "statvfs", "fstatvfs64" => "fstatvfs", "readdir64" => "readdir",
        "mkstemp64" => "mkstemp", "mkostemp64" => "mkostemp", "getrlimit64" => "getrlimit", "prlimit64" => "prlimit",
        "fgetpos64" => "fgetpos", "sendfile64" => "sendfile", "fread_unlocked" => "fread", "fwrite_unlocked" => "fwrite",
        "fgets_unlocked" => "fgets", "fputs_unlocked" => "fputs", "fgetws_unlocked" => "fgetws", "fputws_unlocked" => "fputws",
        "__getdelim" => "getdelim", "__strtok_r" => "strtok_r", "__stpcpy" => "stpcpy", "__stpncpy" => "stpncpy",
        "__mempcpy" => "mempcpy", "__asprintf" => "asprintf", "__strdup" => "strdup", "__strndup" => "strndup",
        "__mbrlen" => "mbrlen", "vscanf" => "__isoc99_vscanf", "vfscanf" => "__isoc99_vfscanf", "vsscanf" => "__isoc99_vsscanf",
        "index" => "strchr", "rindex" => "strrchr", "strtoimax" | "strtoq" => "strtoll", "strtoumax" | "strtouq" => "strtoull",
        "__isoc23_strtoll" | "__isoc23_strtoimax" => "__isoc23_strtol",
        "__isoc23_strtoull" | "__isoc23_strtoumax" => "__isoc23_strtoul",
        "strtoll_l" | "__isoc23_strtol_l" | "__isoc23_strtoll_l" => "strtol_l",
        "strtoull_l" | "__isoc23_strtoul_l" | "__isoc23_strtoull_l" => "strtoul_l",
        "wcstoll" | "wcstoimax" | "wcstoq" | "__isoc23_wcstol" | "__isoc23_wcstoll" | "__isoc23_wcstoimax" => "wcstol",
        "wcstoull" | "wcstoumax" | "wcstouq" | "__isoc23_wcstoul" | "__isoc23_wcstoull" | "__isoc23_wcstoumax" => "wcstoul",
        "mbrtoc32" => "mbrtowc", "c32rtomb" => "wcrtomb", "timelocal" => "mktime", "tss_create" => "pthread_key_create", "pthread_tryjoin_np" => "pthread_join", "lgammaf_r" => "lgamma_r",
        "frexpf32" => "frexpf", "frexpf64" | "frexpf32x" => "frexp", "modff32" => "modff", "modff64" | "modff32x" => "modf",
        "sincosf32" => "sincosf", "sincosf64" | "sincosf32x" => "sincos", "remquof32" => "remquof", "remquof64" => "remquo",
        _ => return None,
    })
}

macro_rules! functions {
    ($($variant:ident $name:literal $arguments:literal $by:ident $reading:ident;)*) => {
        /// A function.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[repr(u64)]
        #[allow(missing_docs, reason = "the names are the C library's")]
        pub enum Function { $($variant,)* }

        const ALL: &[Function] = &[$(Function::$variant,)*];

        impl Function {
            /// The function of this symbol.
            pub fn named(symbol: &str) -> Option<Function> {
                match symbol {
                    $($name => Some(Function::$variant),)*
                    _ => same_as(symbol).and_then(Function::named),
                }
            }

            /// Its symbol.
            pub const fn name(self) -> &'static str {
                match self { $(Function::$variant => $name,)* }
            }

            /// How many arguments it has, at least.
            pub const fn arguments(self) -> usize {
                match self { $(Function::$variant => $arguments,)* }
            }

            /// Who performs it.
            pub const fn by(self) -> By {
                match self { $(Function::$variant => By::$by,)* }
            }

            /// What its result depends on.
            pub const fn reading(self) -> Reading {
                match self { $(Function::$variant => Reading::$reading,)* }
            }
        }
    };
}

/// Who performs a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum By {
    /// The runtime, in place of the library.
    Runtime,
    /// The library; what it reads is noted before.
    ReadsFirst,
    /// The library; what it wrote is noted after it.
    WritesLast,
}

functions! {
    Memcpy "memcpy" 3 Runtime Passes;
    Memmove "memmove" 3 Runtime Passes;
    Mempcpy "mempcpy" 3 Runtime Passes;
    Memset "memset" 3 Runtime Passes;
    Strlen "strlen" 1 Runtime Ends;
    Strnlen "strnlen" 2 Runtime Ends;
    Strcpy "strcpy" 2 Runtime Ends;
    Stpcpy "stpcpy" 2 Runtime Ends;
    Strncpy "strncpy" 3 Runtime Ends;
    Strcat "strcat" 2 Runtime Ends;
    Strncat "strncat" 3 Runtime Ends;
    Strdup "strdup" 1 Runtime Ends;
    Strndup "strndup" 2 Runtime Ends;
    Memchr "memchr" 3 Runtime Finds;
    Strchr "strchr" 2 Runtime FindsInString;
    Strrchr "strrchr" 2 Runtime FindsInString;
    Memcmp "memcmp" 3 Runtime Compares;
    Bcmp "bcmp" 3 Runtime Compares;
    Strcmp "strcmp" 2 Runtime ComparesStrings;
    Strncmp "strncmp" 3 Runtime ComparesStrings;
    Strcasecmp "strcasecmp" 2 Runtime Depends;
    Strncasecmp "strncasecmp" 3 Runtime Depends;
    Strstr "strstr" 2 Runtime Depends;
    Strspn "strspn" 2 Runtime Depends;
    Strcspn "strcspn" 2 Runtime Depends;
    Strpbrk "strpbrk" 2 Runtime Depends;
    Atoi "atoi" 1 Runtime Depends;
    Atol "atol" 1 Runtime Depends;
    Atoll "atoll" 1 Runtime Depends;
    Atof "atof" 1 Runtime Depends;
    Strtol "strtol" 3 Runtime Depends;
    Strtoul "strtoul" 3 Runtime Depends;
    Strtoll "strtoll" 3 Runtime Depends;
    Strtoull "strtoull" 3 Runtime Depends;
    Strtod "strtod" 2 Runtime Depends;
    Qsort "qsort" 4 Runtime Passes;
    Bsearch "bsearch" 5 Runtime Passes;
    Write "write" 3 ReadsFirst Passes;
    Pwrite "pwrite" 4 ReadsFirst Passes;
    Send "send" 4 ReadsFirst Passes;
    Sendto "sendto" 6 ReadsFirst Passes;
    Fwrite "fwrite" 4 ReadsFirst Passes;
    Fputs "fputs" 2 ReadsFirst Passes;
    Puts "puts" 1 ReadsFirst Passes;
    Read "read" 3 WritesLast Passes;
    Pread "pread" 4 WritesLast Passes;
    Recv "recv" 4 WritesLast Passes;
    Recvfrom "recvfrom" 6 WritesLast Depends;
    Fread "fread" 4 WritesLast Passes;
    Fgets "fgets" 3 WritesLast Passes;
    Getline "getline" 3 WritesLast Passes;
    Sprintf "sprintf" 2 WritesLast Depends;
    Snprintf "snprintf" 3 WritesLast Depends;
    Vsprintf "vsprintf" 3 WritesLast Depends;
    Vsnprintf "vsnprintf" 4 WritesLast Depends;
    Getcwd "getcwd" 2 WritesLast Passes;
    Time "time" 1 WritesLast Passes;
    Gettimeofday "gettimeofday" 2 WritesLast Passes;
    ClockGettime "clock_gettime" 2 WritesLast Passes;
    LocaltimeR "localtime_r" 2 WritesLast Depends;
    GmtimeR "gmtime_r" 2 WritesLast Depends;
    Pipe "pipe" 1 WritesLast Passes;
    Poll "poll" 3 WritesLast Passes;
    EpollWait "epoll_wait" 4 WritesLast Passes;
    Wmemcpy "wmemcpy" 3 Runtime Passes;
    Wmemmove "wmemmove" 3 Runtime Passes;
    Wmempcpy "wmempcpy" 3 Runtime Passes;
    Wmemset "wmemset" 3 Runtime Passes;
    Stpncpy "stpncpy" 3 Runtime Ends;
    Memccpy "memccpy" 4 Runtime Depends;
    Strchrnul "strchrnul" 2 Runtime FindsInString;
    Strtok "strtok" 2 Runtime Depends;
    StrtokR "strtok_r" 3 Runtime Depends;
    Strsep "strsep" 2 Runtime Depends;
    Printf "printf" 1 ReadsFirst Ends;
    Fprintf "fprintf" 2 ReadsFirst Ends;
    Dprintf "dprintf" 2 ReadsFirst Ends;
    Syslog "syslog" 2 ReadsFirst Ends;
    Writev "writev" 3 ReadsFirst Passes;
    Getenv "getenv" 1 ReadsFirst Passes;
    SecureGetenv "secure_getenv" 1 ReadsFirst Passes;
    Setenv "setenv" 3 WritesLast Depends;
    Putenv "putenv" 1 WritesLast Depends;
    Unsetenv "unsetenv" 1 WritesLast Depends;
    Clearenv "clearenv" 0 WritesLast Passes;
    Asprintf "asprintf" 2 WritesLast Depends;
    Vasprintf "vasprintf" 3 WritesLast Depends;
    Scanf "scanf" 1 WritesLast Passes;
    Fscanf "fscanf" 2 WritesLast Passes;
    Sscanf "sscanf" 2 WritesLast Depends;
    ScanfC99 "__isoc99_scanf" 1 WritesLast Passes;
    FscanfC99 "__isoc99_fscanf" 2 WritesLast Passes;
    SscanfC99 "__isoc99_sscanf" 2 WritesLast Depends;
    ScanfC23 "__isoc23_scanf" 1 WritesLast Passes;
    FscanfC23 "__isoc23_fscanf" 2 WritesLast Passes;
    SscanfC23 "__isoc23_sscanf" 2 WritesLast Depends;
    Getdelim "getdelim" 4 WritesLast Passes;
    Readv "readv" 3 WritesLast Passes;
    Pipe2 "pipe2" 2 WritesLast Passes;
    Socketpair "socketpair" 4 WritesLast Passes;
    Getsockopt "getsockopt" 5 WritesLast Depends;
    Getsockname "getsockname" 3 WritesLast Depends;
    Getpeername "getpeername" 3 WritesLast Depends;
    EventfdRead "eventfd_read" 2 WritesLast Passes;
    MqReceive "mq_receive" 4 WritesLast Passes;
    Msgrcv "msgrcv" 5 WritesLast Passes;
    Getrandom "getrandom" 3 WritesLast Passes;
    Getentropy "getentropy" 2 WritesLast Passes;
    Wait "wait" 1 WritesLast Passes;
    Waitpid "waitpid" 3 WritesLast Passes;
    Stat "stat" 2 WritesLast Depends;
    Lstat "lstat" 2 WritesLast Depends;
    Fstat "fstat" 2 WritesLast Passes;
    Fstatat "fstatat" 4 WritesLast Passes;
    Readlink "readlink" 3 WritesLast Depends;
    Realpath "realpath" 2 WritesLast Depends;
    Readdir "readdir" 1 WritesLast Passes;
    Uname "uname" 1 WritesLast Passes;
    Gethostname "gethostname" 2 WritesLast Passes;
    Getrusage "getrusage" 2 WritesLast Passes;
    Getrlimit "getrlimit" 2 WritesLast Passes;
    Getitimer "getitimer" 2 WritesLast Passes;
    Times "times" 1 WritesLast Passes;
    ClockGetres "clock_getres" 2 WritesLast Passes;
    InetPton "inet_pton" 3 WritesLast Depends;
    InetAton "inet_aton" 2 WritesLast Depends;
    InetNtop "inet_ntop" 4 WritesLast Passes;
    Mbstowcs "mbstowcs" 3 WritesLast Depends;
    Wcstombs "wcstombs" 3 WritesLast Passes;
    Mbrtowc "mbrtowc" 4 WritesLast Passes;
    Mbtowc "mbtowc" 3 WritesLast Passes;
    RandR "rand_r" 1 WritesLast Depends;
    Erand48 "erand48" 1 WritesLast Depends;
    Nrand48 "nrand48" 1 WritesLast Depends;
    Jrand48 "jrand48" 1 WritesLast Depends;
    Swab "swab" 3 WritesLast Depends;
    Memfrob "memfrob" 2 WritesLast Depends;
    Strfry "strfry" 1 WritesLast Depends;
    Strftime "strftime" 4 WritesLast Depends;
    Strptime "strptime" 3 WritesLast Depends;
    Frexp "frexp" 2 WritesLast Passes;
    Frexpf "frexpf" 2 WritesLast Passes;
    Modf "modf" 2 WritesLast Passes;
    Modff "modff" 2 WritesLast Passes;
    Sincos "sincos" 3 WritesLast Passes;
    Sincosf "sincosf" 3 WritesLast Passes;
    Remquo "remquo" 3 WritesLast Passes;
    Remquof "remquof" 3 WritesLast Passes;
    LgammaR "lgamma_r" 2 WritesLast Passes;
    SemGetvalue "sem_getvalue" 2 WritesLast Passes;
    Localtime "localtime" 1 WritesLast Depends;
    Gmtime "gmtime" 1 WritesLast Depends;
    Ctime "ctime" 1 WritesLast Depends;
    CtimeR "ctime_r" 2 WritesLast Depends;
    Asctime "asctime" 1 WritesLast Depends;
    AsctimeR "asctime_r" 2 WritesLast Depends;
    Getpwnam "getpwnam" 1 WritesLast Depends;
    Getpwuid "getpwuid" 1 WritesLast Passes;
    Getgrnam "getgrnam" 1 WritesLast Depends;
    Getgrgid "getgrgid" 1 WritesLast Passes;
    Gethostbyname "gethostbyname" 1 WritesLast Depends;
    Getservbyname "getservbyname" 2 WritesLast Passes;
    Ttyname "ttyname" 1 WritesLast Passes;
    Getlogin "getlogin" 0 WritesLast Passes;
    Tmpnam "tmpnam" 1 WritesLast Passes;
    Memrchr "memrchr" 3 ReadsFirst Depends;
    Rawmemchr "rawmemchr" 2 ReadsFirst Depends;
    Memmem "memmem" 4 ReadsFirst Depends;
    Strcasestr "strcasestr" 2 ReadsFirst Depends;
    Strcoll "strcoll" 2 ReadsFirst Depends;
    Strverscmp "strverscmp" 2 ReadsFirst Depends;
    Strtof "strtof" 2 WritesLast Depends;
    ExplicitBzero "explicit_bzero" 2 WritesLast Passes;
    PosixMemalign "posix_memalign" 3 WritesLast Passes;
    Vprintf "vprintf" 2 ReadsFirst Ends;
    Vfprintf "vfprintf" 3 ReadsFirst Ends;
    Vdprintf "vdprintf" 3 ReadsFirst Ends;
    Vsyslog "vsyslog" 3 ReadsFirst Ends;
    PrintText "_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_PKc" 2 ReadsFirst Depends;
    PrintString "_ZStlsIcSt11char_traitsIcESaIcEERSt13basic_ostreamIT_T0_ES7_RKNSt7__cxx1112basic_stringIS4_S5_T1_EE" 2 ReadsFirst Depends;
    InsertIntoStream "_ZSt16__ostream_insertIcSt11char_traitsIcEERSt13basic_ostreamIT_T0_ES6_PKS3_l" 3 ReadsFirst Depends;
    WriteToStream "_ZNSo5writeEPKcl" 3 ReadsFirst Depends;
    ExtractText "_ZSt17__istream_extractRSiPcl" 3 WritesLast Passes;
    ExtractByte "_ZStrsIcSt11char_traitsIcEERSt13basic_istreamIT_T0_ES6_RS3_" 2 WritesLast Passes;
    GetByte "_ZNSi3getERc" 2 WritesLast Passes;
    GetText "_ZNSi3getEPcl" 3 WritesLast Passes;
    GetTextUpTo "_ZNSi3getEPclc" 4 WritesLast Passes;
    GetLine "_ZNSi7getlineEPcl" 3 WritesLast Passes;
    GetLineUpTo "_ZNSi7getlineEPclc" 4 WritesLast Passes;
    ReadFromStream "_ZNSi4readEPcl" 3 WritesLast Passes;
    ReadSomeFromStream "_ZNSi8readsomeEPcl" 3 WritesLast Passes;
    ExtractBool "_ZNSirsERb" 2 WritesLast Passes;
    ExtractAnyBool "_ZNSi10_M_extractIbEERSiRT_" 2 WritesLast Passes;
    ExtractShort "_ZNSirsERs" 2 WritesLast Passes;
    ExtractUnsignedShort "_ZNSirsERt" 2 WritesLast Passes;
    ExtractAnyUnsignedShort "_ZNSi10_M_extractItEERSiRT_" 2 WritesLast Passes;
    ExtractInt "_ZNSirsERi" 2 WritesLast Passes;
    ExtractUnsigned "_ZNSirsERj" 2 WritesLast Passes;
    ExtractAnyUnsigned "_ZNSi10_M_extractIjEERSiRT_" 2 WritesLast Passes;
    ExtractLong "_ZNSirsERl" 2 WritesLast Passes;
    ExtractAnyLong "_ZNSi10_M_extractIlEERSiRT_" 2 WritesLast Passes;
    ExtractUnsignedLong "_ZNSirsERm" 2 WritesLast Passes;
    ExtractAnyUnsignedLong "_ZNSi10_M_extractImEERSiRT_" 2 WritesLast Passes;
    ExtractLongLong "_ZNSirsERx" 2 WritesLast Passes;
    ExtractAnyLongLong "_ZNSi10_M_extractIxEERSiRT_" 2 WritesLast Passes;
    ExtractUnsignedLongLong "_ZNSirsERy" 2 WritesLast Passes;
    ExtractAnyUnsignedLongLong "_ZNSi10_M_extractIyEERSiRT_" 2 WritesLast Passes;
    ExtractFloat "_ZNSirsERf" 2 WritesLast Passes;
    ExtractAnyFloat "_ZNSi10_M_extractIfEERSiRT_" 2 WritesLast Passes;
    ExtractDouble "_ZNSirsERd" 2 WritesLast Passes;
    ExtractAnyDouble "_ZNSi10_M_extractIdEERSiRT_" 2 WritesLast Passes;
    ExtractPointer "_ZNSirsERPv" 2 WritesLast Passes;
    ExtractAnyPointer "_ZNSi10_M_extractIPvEERSiRT_" 2 WritesLast Passes;
    Swprintf "swprintf" 3 WritesLast Passes;
    Vswprintf "vswprintf" 4 WritesLast Passes;
    Fgetws "fgetws" 3 WritesLast Passes;
    Wcscpy "wcscpy" 2 WritesLast Depends;
    Wcsncpy "wcsncpy" 3 WritesLast Depends;
    Wcscat "wcscat" 2 WritesLast Depends;
    Wcsncat "wcsncat" 3 WritesLast Depends;
    Wcpcpy "wcpcpy" 2 WritesLast Depends;
    Mbsrtowcs "mbsrtowcs" 4 WritesLast Depends;
    Wcsrtombs "wcsrtombs" 4 WritesLast Passes;
    Wcrtomb "wcrtomb" 3 WritesLast Passes;
    Wctomb "wctomb" 2 WritesLast Passes;
    Wcsftime "wcsftime" 4 WritesLast Depends;
    Strxfrm "strxfrm" 3 WritesLast Depends;
    StrerrorR "strerror_r" 3 WritesLast Passes;
    StrerrorRPosix "__xpg_strerror_r" 3 WritesLast Passes;
    TtynameR "ttyname_r" 3 WritesLast Passes;
    GetloginR "getlogin_r" 2 WritesLast Passes;
    PthreadGetnameNp "pthread_getname_np" 3 WritesLast Passes;
    Statx "statx" 5 WritesLast Depends;
    Statvfs "statvfs" 2 WritesLast Depends;
    Fstatvfs "fstatvfs" 2 WritesLast Passes;
    Statfs "statfs" 2 WritesLast Depends;
    Fstatfs "fstatfs" 2 WritesLast Passes;
    Readlinkat "readlinkat" 4 WritesLast Depends;
    Recvmsg "recvmsg" 3 WritesLast Depends;
    Preadv "preadv" 4 WritesLast Passes;
    Select "select" 5 WritesLast Passes;
    Pselect "pselect" 6 WritesLast Passes;
    Ppoll "ppoll" 4 WritesLast Passes;
    EpollPwait "epoll_pwait" 5 WritesLast Passes;
    TimespecGet "timespec_get" 2 WritesLast Passes;
    TimerGettime "timer_gettime" 2 WritesLast Passes;
    Sigwait "sigwait" 2 WritesLast Passes;
    Mkstemp "mkstemp" 1 WritesLast Depends;
    Mkostemp "mkostemp" 2 WritesLast Depends;
    Mkdtemp "mkdtemp" 1 WritesLast Depends;
    Getgroups "getgroups" 2 WritesLast Passes;
    Getloadavg "getloadavg" 2 WritesLast Passes;
    Sysinfo "sysinfo" 1 WritesLast Passes;
    Vscanf "__isoc99_vscanf" 2 WritesLast Passes;
    Vfscanf "__isoc99_vfscanf" 3 WritesLast Passes;
    Vsscanf "__isoc99_vsscanf" 3 WritesLast Depends;
    VscanfC23 "__isoc23_vscanf" 2 WritesLast Passes;
    VfscanfC23 "__isoc23_vfscanf" 3 WritesLast Passes;
    VsscanfC23 "__isoc23_vsscanf" 3 WritesLast Depends;
    Pwritev "pwritev" 4 ReadsFirst Passes;
    Sendmsg "sendmsg" 3 ReadsFirst Passes;
    Connect "connect" 3 ReadsFirst Passes;
    Bind "bind" 3 ReadsFirst Passes;
    Strlcpy "strlcpy" 3 Runtime Ends;
    Strlcat "strlcat" 3 Runtime Ends;
    StrtolC23 "__isoc23_strtol" 3 Runtime Depends;
    StrtoulC23 "__isoc23_strtoul" 3 Runtime Depends;
    QsortR "qsort_r" 5 Runtime Passes;
    Iconv "iconv" 5 WritesLast Depends;
    Accept "accept" 3 WritesLast Depends;
    Accept4 "accept4" 4 WritesLast Depends;
    Recvmmsg "recvmmsg" 5 WritesLast Depends;
    Sendmmsg "sendmmsg" 4 WritesLast Passes;
    Sendfile "sendfile" 4 WritesLast Passes;
    Preadv2 "preadv2" 5 WritesLast Passes;
    EpollPwait2 "epoll_pwait2" 5 WritesLast Passes;
    MqTimedreceive "mq_timedreceive" 5 WritesLast Passes;
    MqGetattr "mq_getattr" 2 WritesLast Passes;
    Getdents "getdents64" 3 WritesLast Passes;
    Getaddrinfo "getaddrinfo" 4 WritesLast Depends;
    Getnameinfo "getnameinfo" 7 WritesLast Depends;
    GetpwnamR "getpwnam_r" 5 WritesLast Depends;
    GetpwuidR "getpwuid_r" 5 WritesLast Passes;
    GetpwentR "getpwent_r" 4 WritesLast Passes;
    GetgrnamR "getgrnam_r" 5 WritesLast Depends;
    GetgrgidR "getgrgid_r" 5 WritesLast Passes;
    GetgrentR "getgrent_r" 4 WritesLast Passes;
    GethostbynameR "gethostbyname_r" 6 WritesLast Depends;
    Getgrouplist "getgrouplist" 4 WritesLast Depends;
    Getresuid "getresuid" 3 WritesLast Passes;
    Getresgid "getresgid" 3 WritesLast Passes;
    Getcpu "getcpu" 2 WritesLast Passes;
    Getdomainname "getdomainname" 2 WritesLast Passes;
    Getwd "getwd" 1 WritesLast Passes;
    Confstr "confstr" 3 WritesLast Passes;
    PtsnameR "ptsname_r" 3 WritesLast Passes;
    Mktemp "mktemp" 1 WritesLast Depends;
    Tcgetattr "tcgetattr" 2 WritesLast Passes;
    Getxattr "getxattr" 4 WritesLast Depends;
    Lgetxattr "lgetxattr" 4 WritesLast Depends;
    Fgetxattr "fgetxattr" 4 WritesLast Depends;
    Listxattr "listxattr" 3 WritesLast Depends;
    Llistxattr "llistxattr" 3 WritesLast Depends;
    Flistxattr "flistxattr" 3 WritesLast Passes;
    Dladdr "dladdr" 2 WritesLast Passes;
    Fgetpos "fgetpos" 2 WritesLast Passes;
    PosixSpawn "posix_spawn" 6 WritesLast Passes;
    PosixSpawnp "posix_spawnp" 6 WritesLast Passes;
    Waitid "waitid" 4 WritesLast Passes;
    Wait3 "wait3" 3 WritesLast Passes;
    Wait4 "wait4" 4 WritesLast Passes;
    Prlimit "prlimit" 4 WritesLast Passes;
    TimerCreate "timer_create" 3 WritesLast Passes;
    TimerSettime "timer_settime" 4 WritesLast Passes;
    TimerfdSettime "timerfd_settime" 4 WritesLast Passes;
    TimerfdGettime "timerfd_gettime" 2 WritesLast Passes;
    Setitimer "setitimer" 3 WritesLast Passes;
    Mktime "mktime" 1 WritesLast Depends;
    Timegm "timegm" 1 WritesLast Depends;
    Sigaction "sigaction" 3 WritesLast Passes;
    Sigprocmask "sigprocmask" 3 WritesLast Passes;
    PthreadSigmask "pthread_sigmask" 3 WritesLast Passes;
    Sigemptyset "sigemptyset" 1 WritesLast Passes;
    Sigfillset "sigfillset" 1 WritesLast Passes;
    Sigaddset "sigaddset" 2 WritesLast Depends;
    Sigdelset "sigdelset" 2 WritesLast Depends;
    Sigpending "sigpending" 1 WritesLast Passes;
    Sigwaitinfo "sigwaitinfo" 2 WritesLast Passes;
    Sigtimedwait "sigtimedwait" 3 WritesLast Passes;
    Sigaltstack "sigaltstack" 2 WritesLast Passes;
    SchedGetaffinity "sched_getaffinity" 3 WritesLast Passes;
    PthreadGetaffinity "pthread_getaffinity_np" 3 WritesLast Passes;
    SchedGetparam "sched_getparam" 2 WritesLast Passes;
    SchedRrGetInterval "sched_rr_get_interval" 2 WritesLast Passes;
    PthreadGetschedparam "pthread_getschedparam" 3 WritesLast Passes;
    PthreadAttrGetstack "pthread_attr_getstack" 3 WritesLast Passes;
    PthreadAttrGetstacksize "pthread_attr_getstacksize" 2 WritesLast Passes;
    PthreadAttrGetguardsize "pthread_attr_getguardsize" 2 WritesLast Passes;
    PthreadAttrGetdetachstate "pthread_attr_getdetachstate" 2 WritesLast Passes;
    PthreadGetcpuclockid "pthread_getcpuclockid" 2 WritesLast Passes;
    ClockGetcpuclockid "clock_getcpuclockid" 2 WritesLast Passes;
    Regcomp "regcomp" 3 WritesLast Depends;
    Regexec "regexec" 5 WritesLast Depends;
    Regerror "regerror" 4 WritesLast Depends;
    Drand48R "drand48_r" 2 WritesLast Depends;
    Lrand48R "lrand48_r" 2 WritesLast Depends;
    Mrand48R "mrand48_r" 2 WritesLast Depends;
    Srand48R "srand48_r" 2 WritesLast Passes;
    StrtodL "strtod_l" 3 WritesLast Depends;
    StrtofL "strtof_l" 3 WritesLast Depends;
    StrtolL "strtol_l" 4 WritesLast Depends;
    StrtoulL "strtoul_l" 4 WritesLast Depends;
    StrcasecmpL "strcasecmp_l" 3 ReadsFirst Depends;
    StrncasecmpL "strncasecmp_l" 4 ReadsFirst Depends;
    Wcslen "wcslen" 1 ReadsFirst Depends;
    Wcsnlen "wcsnlen" 2 ReadsFirst Depends;
    Wcscmp "wcscmp" 2 ReadsFirst Depends;
    Wcsncmp "wcsncmp" 3 ReadsFirst Depends;
    Wcscasecmp "wcscasecmp" 2 ReadsFirst Depends;
    Wcsncasecmp "wcsncasecmp" 3 ReadsFirst Depends;
    Wcscoll "wcscoll" 2 ReadsFirst Depends;
    Wcschr "wcschr" 2 ReadsFirst Depends;
    Wcsrchr "wcsrchr" 2 ReadsFirst Depends;
    Wcsspn "wcsspn" 2 ReadsFirst Depends;
    Wcscspn "wcscspn" 2 ReadsFirst Depends;
    Wcspbrk "wcspbrk" 2 ReadsFirst Depends;
    Wcsstr "wcsstr" 2 ReadsFirst Depends;
    Wmemchr "wmemchr" 3 ReadsFirst Depends;
    Wmemcmp "wmemcmp" 3 ReadsFirst Depends;
    Fputws "fputws" 2 ReadsFirst Passes;
    Wcsdup "wcsdup" 1 WritesLast Depends;
    Wcpncpy "wcpncpy" 3 WritesLast Depends;
    Wcsxfrm "wcsxfrm" 3 WritesLast Depends;
    Wcstol "wcstol" 3 WritesLast Depends;
    Wcstoul "wcstoul" 3 WritesLast Depends;
    Wcstod "wcstod" 2 WritesLast Depends;
    Mbrlen "mbrlen" 3 WritesLast Passes;
    PthreadCreate "pthread_create" 4 WritesLast Depends;
    ThrdCreate "thrd_create" 3 WritesLast Depends;
    PthreadJoin "pthread_join" 2 WritesLast Passes;
    PthreadTimedjoin "pthread_timedjoin_np" 3 WritesLast Passes;
    PthreadClockjoin "pthread_clockjoin_np" 4 WritesLast Passes;
    ThrdJoin "thrd_join" 2 WritesLast Passes;
    PthreadKeyCreate "pthread_key_create" 2 WritesLast Passes;
    Mbsnrtowcs "mbsnrtowcs" 5 WritesLast Passes;
    Wcsnrtombs "wcsnrtombs" 5 WritesLast Passes;
}

/// What a format says of the variable arguments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// Which of them are texts that are printed.
    Printed,
    /// The same, where a `va_list` after the format has them.
    PrintedList,
    /// What is written to where they point.
    Scanned,
}

impl Function {
    /// Arguments, by position, that must be pointers for a call to be one of this function: a program may have its own function of this
    /// name. None where the number of arguments tells enough.
    pub const fn pointers(self) -> &'static [usize] {
        match self {
            Function::Wait
            | Function::Uname
            | Function::Times
            | Function::RandR
            | Function::Strfry
            | Function::Memfrob => &[0],
            Function::Erand48 | Function::Nrand48 | Function::Jrand48 | Function::Getrandom | Function::Getentropy => {
                &[0]
            }
            Function::Localtime | Function::Gmtime | Function::Ctime | Function::Asctime | Function::Tmpnam => &[0],
            Function::Getenv | Function::SecureGetenv | Function::Putenv | Function::Unsetenv | Function::Time => &[0],
            Function::Getpwnam | Function::Getgrnam | Function::Gethostbyname | Function::Readdir => &[0],
            Function::Gethostname | Function::Pipe | Function::Pipe2 | Function::Puts | Function::Strtof => &[0],
            Function::Memrchr | Function::Rawmemchr | Function::PosixMemalign | Function::ExplicitBzero => &[0],
            Function::Getcwd | Function::Fgets | Function::Gettimeofday | Function::Poll => &[0],
            Function::Fwrite | Function::Fread => &[0, 3],
            Function::Getline => &[0, 1, 2],
            Function::Getdelim => &[0, 1, 3],
            Function::Stat | Function::Lstat | Function::Readlink | Function::Realpath | Function::Setenv => &[0, 1],
            Function::LocaltimeR
            | Function::GmtimeR
            | Function::CtimeR
            | Function::AsctimeR
            | Function::SemGetvalue => &[0, 1],
            Function::InetAton | Function::Mbstowcs | Function::Wcstombs | Function::Swab | Function::Fputs => &[0, 1],
            Function::Strcasestr | Function::Strcoll | Function::Strverscmp | Function::Getservbyname => &[0, 1],
            Function::Memmem => &[0, 2],
            Function::Mbrtowc => &[0, 1, 3],
            Function::Mbtowc => &[0, 1],
            Function::Strftime => &[0, 2, 3],
            Function::Strptime => &[0, 1, 2],
            Function::InetPton => &[1, 2],
            Function::InetNtop => &[1, 2],
            Function::Getsockname | Function::Getpeername => &[1, 2],
            Function::Getsockopt => &[3, 4],
            Function::Socketpair => &[3],
            Function::Sincos | Function::Sincosf => &[1, 2],
            Function::Remquo | Function::Remquof | Function::Fstatat => &[2],
            Function::Fstat | Function::Getrusage | Function::Getrlimit | Function::Getitimer | Function::Waitpid => {
                &[1]
            }
            Function::ClockGettime | Function::ClockGetres | Function::EventfdRead | Function::MqReceive => &[1],
            Function::Frexp | Function::Frexpf | Function::Modf | Function::Modff | Function::LgammaR => &[1],
            Function::Read
            | Function::Pread
            | Function::Recv
            | Function::Recvfrom
            | Function::Readv
            | Function::Msgrcv => &[1],
            Function::Write | Function::Pwrite | Function::Send | Function::Sendto | Function::Writev => &[1],
            Function::EpollWait | Function::EpollPwait | Function::Recvmsg | Function::Preadv => &[1],
            Function::Swprintf | Function::Vswprintf => &[0, 2],
            Function::Fgetws => &[0, 2],
            Function::Wcscpy | Function::Wcsncpy | Function::Wcscat | Function::Wcsncat | Function::Wcpcpy => &[0, 1],
            Function::Mbsrtowcs | Function::Wcsrtombs | Function::Strxfrm => &[1],
            Function::Wcrtomb | Function::Wctomb => &[0],
            Function::Select => &[1, 2, 3, 4],
            Function::Pselect => &[1, 2, 3, 4, 5],
            Function::Getgroups => &[1],
            Function::Wcsftime => &[0, 2, 3],
            Function::StrerrorR | Function::StrerrorRPosix | Function::TtynameR | Function::PthreadGetnameNp => &[1],
            Function::GetloginR | Function::Ppoll | Function::TimespecGet | Function::Sysinfo => &[0],
            Function::Mkstemp | Function::Mkostemp | Function::Mkdtemp | Function::Getloadavg => &[0],
            Function::Statx => &[1, 4],
            Function::Statvfs | Function::Statfs => &[0, 1],
            Function::Fstatvfs | Function::Fstatfs | Function::TimerGettime => &[1],
            Function::Sigwait => &[0, 1],
            Function::Readlinkat => &[1, 2],
            Function::Vscanf | Function::VscanfC23 => &[0, 1],
            Function::Vfscanf | Function::VfscanfC23 | Function::Vsscanf | Function::VsscanfC23 => &[0, 1, 2],
            _ => &[],
        }
    }

    /// Whether it gives memory that it has written.
    pub const fn gives_memory(self) -> bool {
        matches!(
            self,
            Function::Localtime
                | Function::Gmtime
                | Function::Ctime
                | Function::Asctime
                | Function::Getpwnam
                | Function::Getpwuid
                | Function::Getgrnam
                | Function::Getgrgid
                | Function::Gethostbyname
                | Function::Getservbyname
                | Function::Ttyname
                | Function::Getlogin
                | Function::Tmpnam
                | Function::Realpath
                | Function::Readdir
                | Function::Wcsdup
        )
    }

    /// Bytes of the number or pointer that it takes from a stream of C++.
    pub const fn extracts(self) -> Option<u64> {
        match self {
            Function::ExtractBool | Function::ExtractAnyBool | Function::ExtractByte | Function::GetByte => Some(1),
            Function::ExtractShort | Function::ExtractUnsignedShort | Function::ExtractAnyUnsignedShort => Some(2),
            Function::ExtractInt | Function::ExtractUnsigned | Function::ExtractAnyUnsigned => Some(4),
            Function::ExtractFloat | Function::ExtractAnyFloat => Some(4),
            Function::ExtractLong | Function::ExtractAnyLong | Function::ExtractLongLong => Some(8),
            Function::ExtractUnsignedLong | Function::ExtractAnyUnsignedLong | Function::ExtractAnyLongLong => Some(8),
            Function::ExtractUnsignedLongLong | Function::ExtractAnyUnsignedLongLong => Some(8),
            Function::ExtractDouble | Function::ExtractAnyDouble => Some(8),
            Function::ExtractPointer | Function::ExtractAnyPointer => Some(8),
            _ => None,
        }
    }

    /// Whether what it writes depends on memory that it reads, which is noted before the call.
    pub const fn reads_too(self) -> bool {
        matches!(self.by(), By::WritesLast) && matches!(self.reading(), Reading::Depends)
    }

    /// Whether it has a format, and which argument that is.
    pub const fn format(self) -> Option<(Format, usize)> {
        match self {
            Function::Printf => Some((Format::Printed, 0)),
            Function::Fprintf | Function::Dprintf | Function::Syslog | Function::Sprintf | Function::Asprintf => {
                Some((Format::Printed, 1))
            }
            Function::Snprintf => Some((Format::Printed, 2)),
            Function::Vprintf => Some((Format::PrintedList, 0)),
            Function::Vfprintf | Function::Vdprintf | Function::Vsyslog | Function::Vsprintf | Function::Vasprintf => {
                Some((Format::PrintedList, 1))
            }
            Function::Vsnprintf => Some((Format::PrintedList, 2)),
            Function::Scanf | Function::ScanfC99 | Function::ScanfC23 => Some((Format::Scanned, 0)),
            Function::Fscanf | Function::FscanfC99 | Function::FscanfC23 => Some((Format::Scanned, 1)),
            Function::Sscanf | Function::SscanfC99 | Function::SscanfC23 => Some((Format::Scanned, 1)),
            _ => None,
        }
    }

    /// Whether calls have more arguments than it names.
    pub const fn is_variadic(self) -> bool {
        matches!(self, Function::Swprintf) || matches!(self.format(), Some((Format::Printed | Format::Scanned, _)))
    }

    /// Of a function that scans to where a `va_list` says: which argument the format is. The list comes after it.
    pub const fn scans_list(self) -> Option<usize> {
        match self {
            Function::Vscanf | Function::VscanfC23 => Some(0),
            Function::Vfscanf | Function::Vsscanf | Function::VfscanfC23 | Function::VsscanfC23 => Some(1),
            _ => None,
        }
    }

    /// The function at this position.
    pub fn at(position: u64) -> Option<Function> {
        ALL.get(usize::try_from(position).ok()?).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_positions_are_of_one_function_each() {
        for (position, function) in (0..).zip(ALL) {
            assert_eq!(*function as u64, position);
            assert_eq!(Function::at(position), Some(*function));
            assert_eq!(Function::named(function.name()), Some(*function));
        }
        assert_eq!(Function::at(ALL.len() as u64), None);
        assert_eq!(Function::named("gets"), None);
    }
}
