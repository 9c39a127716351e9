//! What functions of the C library read and write, where a line says it all.

use super::Function;

/// A piece of memory that a function reads before it does anything else, or has written when it comes back. Arguments are named by their
/// position; of null pointers there is nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// So many bytes, so far behind where an argument points.
    At(usize, u64, u64),
    /// A text up to its end.
    Text(usize),
    /// The same of wide characters.
    Wide(usize),
    /// As many elements as another argument says, each of so many bytes.
    Counted(usize, usize, u64),
    /// As many elements as the function gives back.
    Given(usize, u64),
    /// The same and so many more, but at most as many as another argument says: `(argument, count, bytes of one, more)`.
    GivenAtMost(usize, usize, u64, u64),
    /// An address of a socket, and the variable that says its length.
    Address(usize, usize),
    /// An entry of a data base: where, its bytes, the buffer for what it points to, which the next argument says the length of, and where in the entry texts and lists of texts are.
    Entry(usize, u64, usize, &'static [u64], &'static [u64]),
    /// A number at the start of a text, and what ends it.
    Number(usize),
    /// Something that needs more words.
    Special(usize),
}

impl Part {
    /// The argument that points there.
    pub const fn argument(self) -> usize {
        match self {
            Part::At(argument, ..)
            | Part::Text(argument)
            | Part::Wide(argument)
            | Part::Counted(argument, ..)
            | Part::Given(argument, ..)
            | Part::GivenAtMost(argument, ..)
            | Part::Address(argument, ..)
            | Part::Entry(argument, ..)
            | Part::Number(argument)
            | Part::Special(argument) => argument,
        }
    }
}

/// After which results a function has written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum When {
    /// After all.
    Always,
    /// An `int` of 0.
    Zero,
    /// Anything but 0 or null.
    Something,
    /// An `int` above 0.
    Positive,
    /// A number that is not negative.
    NotNegative,
}

/// What a function reads and writes.
#[derive(Clone, Copy, Debug)]
pub struct Effects {
    /// First.
    pub reads: &'static [Part],
    /// When it comes back.
    pub writes: &'static [Part],
    /// Whether it has written.
    pub when: When,
}

impl Effects {
    /// The arguments that must be pointers.
    pub fn arguments(&self) -> impl Iterator<Item = usize> {
        self.reads.iter().chain(self.writes).map(|part| part.argument())
    }
}

const fn effects(reads: &'static [Part], writes: &'static [Part], when: When) -> Option<Effects> {
    Some(Effects { reads, writes, when })
}

const WIDE: u64 = 4;

impl Function {
    /// What it reads and writes, if a line says it all.
    #[rustfmt::skip]
    pub const fn effects(self) -> Option<Effects> {
        use Part::{Address, At, Counted, Entry, Given, GivenAtMost, Number, Special, Text, Wide};
        use When::{Always, NotNegative, Positive, Something, Zero};
        const BROKEN_DOWN_TIME: u64 = 56;
        const RANDOM: u64 = 24;
        const USER: (u64, &[u64], &[u64]) = (48, &[0, 8, 24, 32, 40], &[]);
        const GROUP: (u64, &[u64], &[u64]) = (32, &[0, 8], &[24]);
        const HOST: (u64, &[u64], &[u64]) = (32, &[0], &[8]);
        const USAGE: u64 = 144;
        match self {
            Function::Connect | Function::Bind => effects(&[Counted(1, 2, 1)], &[], Always),
            Function::Accept | Function::Accept4 => effects(&[Special(1), At(2, 0, 4)], &[Address(1, 2)], NotNegative),
            Function::Getsockname | Function::Getpeername => effects(&[Special(1), At(2, 0, 4)], &[Address(1, 2)], Zero),
            Function::MqTimedreceive => effects(&[], &[Given(1, 1), At(3, 0, 4)], NotNegative),
            Function::MqReceive => effects(&[], &[Given(1, 1), At(3, 0, 4)], NotNegative),
            Function::MqGetattr => effects(&[], &[At(1, 0, 32)], Zero),
            Function::Getdents => effects(&[], &[Given(1, 1)], Positive),
            Function::Sendfile => effects(&[], &[At(2, 0, 8)], NotNegative),
            Function::EpollPwait2 => effects(&[], &[Given(1, 12)], Positive),
            Function::Getnameinfo => effects(&[Counted(0, 1, 1)], &[Text(2), Text(4)], Zero),
            Function::Getaddrinfo => effects(&[Text(0), Text(1), At(2, 0, 48)], &[Special(3)], Zero),
            Function::GetpwnamR => effects(&[Text(0)], &[Entry(1, USER.0, 2, USER.1, USER.2), At(4, 0, 8)], Always),
            Function::GetpwuidR => effects(&[], &[Entry(1, USER.0, 2, USER.1, USER.2), At(4, 0, 8)], Always),
            Function::GetpwentR => effects(&[], &[Entry(0, USER.0, 1, USER.1, USER.2), At(3, 0, 8)], Always),
            Function::GetgrnamR => effects(&[Text(0)], &[Entry(1, GROUP.0, 2, GROUP.1, GROUP.2), At(4, 0, 8)], Always),
            Function::GetgrgidR => effects(&[], &[Entry(1, GROUP.0, 2, GROUP.1, GROUP.2), At(4, 0, 8)], Always),
            Function::GetgrentR => effects(&[], &[Entry(0, GROUP.0, 1, GROUP.1, GROUP.2), At(3, 0, 8)], Always),
            Function::GethostbynameR => effects(&[Text(0)], &[Entry(1, HOST.0, 2, HOST.1, HOST.2), At(4, 0, 8), At(5, 0, 4)], Always),
            Function::Getgrouplist => effects(&[Text(0), At(3, 0, 4)], &[Given(2, 4), At(3, 0, 4)], Always),
            Function::Getresuid | Function::Getresgid => effects(&[], &[At(0, 0, 4), At(1, 0, 4), At(2, 0, 4)], Zero),
            Function::Getcpu => effects(&[], &[At(0, 0, 4), At(1, 0, 4)], Zero),
            Function::Getdomainname => effects(&[], &[Text(0)], Zero),
            Function::Getwd => effects(&[], &[Text(0)], Something),
            Function::Confstr => effects(&[], &[GivenAtMost(1, 2, 1, 0)], Something),
            Function::PtsnameR => effects(&[], &[Text(1)], Zero),
            Function::Mktemp => effects(&[Text(0)], &[Text(0)], Always),
            Function::Tcgetattr => effects(&[], &[At(1, 0, 60)], Zero),
            Function::Getxattr | Function::Lgetxattr => effects(&[Text(0), Text(1)], &[GivenAtMost(2, 3, 1, 0)], NotNegative),
            Function::Fgetxattr => effects(&[Text(1)], &[GivenAtMost(2, 3, 1, 0)], NotNegative),
            Function::Listxattr | Function::Llistxattr => effects(&[Text(0)], &[GivenAtMost(1, 2, 1, 0)], NotNegative),
            Function::Flistxattr => effects(&[], &[GivenAtMost(1, 2, 1, 0)], NotNegative),
            Function::Dladdr => effects(&[], &[At(1, 0, 32)], Something),
            Function::Fgetpos => effects(&[], &[At(1, 0, 16)], Zero),
            Function::PosixSpawn | Function::PosixSpawnp => effects(&[], &[At(0, 0, 4)], Zero),
            Function::Waitid => effects(&[], &[At(2, 0, 12), At(2, 16, 12)], Zero),
            Function::Wait3 => effects(&[], &[At(0, 0, 4), At(2, 0, USAGE)], Positive),
            Function::Wait4 => effects(&[], &[At(1, 0, 4), At(3, 0, USAGE)], Positive),
            Function::Prlimit => effects(&[], &[At(3, 0, 16)], Zero),
            Function::TimerCreate => effects(&[], &[At(2, 0, 8)], Zero),
            Function::TimerSettime | Function::TimerfdSettime => effects(&[], &[At(3, 0, 32)], Zero),
            Function::TimerfdGettime => effects(&[], &[At(1, 0, 32)], Zero),
            Function::Setitimer => effects(&[], &[At(2, 0, 32)], Zero),
            Function::Mktime | Function::Timegm => effects(&[At(0, 0, BROKEN_DOWN_TIME)], &[At(0, 0, BROKEN_DOWN_TIME)], NotNegative),
            Function::Sigaction => effects(&[], &[At(2, 0, 16), At(2, 136, 4)], Zero),
            Function::Sigprocmask | Function::PthreadSigmask => effects(&[], &[At(2, 0, 8)], Zero),
            Function::Sigemptyset | Function::Sigfillset | Function::Sigpending => effects(&[], &[At(0, 0, 8)], Zero),
            Function::Sigaddset | Function::Sigdelset => effects(&[At(0, 0, 8)], &[At(0, 0, 8)], Zero),
            Function::Sigwaitinfo | Function::Sigtimedwait => effects(&[], &[At(1, 0, 128)], Positive),
            Function::Sigaltstack => effects(&[], &[At(1, 0, 24)], Zero),
            Function::SchedGetaffinity | Function::PthreadGetaffinity => effects(&[], &[Counted(2, 1, 1)], Zero),
            Function::SchedGetparam => effects(&[], &[At(1, 0, 4)], Zero),
            Function::SchedRrGetInterval => effects(&[], &[At(1, 0, 16)], Zero),
            Function::PthreadGetschedparam => effects(&[], &[At(1, 0, 4), At(2, 0, 4)], Zero),
            Function::PthreadAttrGetstack => effects(&[], &[At(1, 0, 8), At(2, 0, 8)], Zero),
            Function::PthreadAttrGetstacksize | Function::PthreadAttrGetguardsize => effects(&[], &[At(1, 0, 8)], Zero),
            Function::PthreadAttrGetdetachstate => effects(&[], &[At(1, 0, 4)], Zero),
            Function::PthreadGetcpuclockid | Function::ClockGetcpuclockid => effects(&[], &[At(1, 0, 4)], Zero),
            Function::Regcomp => effects(&[Text(1)], &[At(0, 0, 64)], Always),
            Function::Regexec => effects(&[At(0, 0, 64), Text(1)], &[Special(3)], Zero),
            Function::Regerror => effects(&[At(1, 0, 64)], &[GivenAtMost(2, 3, 1, 0)], Something),
            Function::Drand48R | Function::Lrand48R | Function::Mrand48R => {
                effects(&[At(0, 0, RANDOM)], &[At(0, 0, RANDOM), At(1, 0, 8)], Zero)
            }
            Function::Srand48R => effects(&[], &[At(1, 0, RANDOM)], Zero),
            Function::Strtof | Function::StrtodL | Function::StrtofL | Function::StrtolL | Function::StrtoulL => {
                effects(&[Number(0)], &[At(1, 0, 8)], Always)
            }
            Function::StrcasecmpL | Function::StrncasecmpL => effects(&[Special(0), Special(1)], &[], Always),
            Function::Wcslen | Function::Wcsnlen | Function::Wcschr | Function::Wcsrchr | Function::Wmemchr => {
                effects(&[Special(0)], &[], Always)
            }
            Function::Wcscmp | Function::Wcsncmp | Function::Wcscasecmp | Function::Wcsncasecmp | Function::Wcscoll | Function::Wcsspn
            | Function::Wcscspn | Function::Wcspbrk | Function::Wcsstr | Function::Wmemcmp => {
                effects(&[Special(0), Special(1)], &[], Always)
            }
            Function::Fputws => effects(&[Wide(0)], &[], Always),
            Function::Wcsdup => effects(&[Wide(0)], &[Special(0)], Something),
            Function::Wcpncpy => effects(&[Special(1)], &[Counted(0, 2, WIDE)], Always),
            Function::Wcsxfrm => effects(&[Wide(1)], &[GivenAtMost(0, 2, WIDE, 1)], Always),
            Function::Wcstol | Function::Wcstoul | Function::Wcstod => effects(&[Special(0)], &[At(1, 0, 8)], Always),
            Function::PthreadCreate => effects(&[Special(0), Special(2)], &[], Zero),
            Function::ThrdCreate => effects(&[Special(0), Special(1)], &[], Zero),
            Function::PthreadJoin | Function::PthreadTimedjoin | Function::PthreadClockjoin => {
                effects(&[], &[At(1, 0, 8)], Zero)
            }
            Function::ThrdJoin => effects(&[], &[At(1, 0, 4)], Zero),
            Function::PthreadKeyCreate => effects(&[], &[At(0, 0, 4)], Zero),
            Function::Mbrlen => effects(&[], &[At(2, 0, 8)], Always),
            Function::Mbsnrtowcs => effects(&[], &[At(1, 0, 8), GivenAtMost(0, 3, WIDE, 1), At(4, 0, 8)], NotNegative),
            Function::Wcsnrtombs => effects(&[], &[At(1, 0, 8), GivenAtMost(0, 3, 1, 1), At(4, 0, 8)], NotNegative),
            Function::Pwritev | Function::Preadv2 | Function::Sendmsg => effects(&[Special(1)], &[], Always),
            Function::Recvmmsg | Function::Sendmmsg => effects(&[Special(1)], &[], Always),
            Function::Iconv => effects(&[Special(1), Special(2), Special(3), Special(4)], &[], Always),
            _ => None,
        }
    }
}
