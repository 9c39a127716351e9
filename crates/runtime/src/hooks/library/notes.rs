//! What functions read that pass bytes on to the system, and what those wrote that bring some.

use super::call::{Call, Noted};
use super::memory::{INT, POINTER, note, text_length, vectors, wide_length, wide_text};
use super::messages::{address_of_socket, keep_room, keep_rooms_of_message, received};
use super::strings;
use crate::library::Function;
use crate::sys;

/// Bytes of structures of the C library.
const TIME: u64 = 16;
const BROKEN_DOWN_TIME: u64 = 56;
const EVENT: u64 = 12;
const FILE_STATUS: u64 = 144;
const USAGE: u64 = 144;
const PROCESS_TIMES: u64 = 32;
const SYSTEM_NAMES: u64 = 390;
const LIMIT: u64 = 16;
const TIMER: u64 = 32;
const RANDOM_STATE: u64 = 6;
const USER: u64 = 48;
const GROUP: u64 = 32;
const HOST: u64 = 32;
const SERVICE: u64 = 32;
const NAME_IN_ENTRY: u64 = 19;
const WIDE: u64 = 4;
/// `mbstate_t`.
const STATE: u64 = 8;
const STATUS_BY_PARTS: u64 = 256;
const FILE_SYSTEM: u64 = 112;
const FILE_SYSTEM_OF_LINUX: u64 = 120;
const SYSTEM: u64 = 112;
/// What `mkstemp` and its like replace at the end of a text.
const RANDOM_LETTERS: u64 = 6;

/// Before the call.
pub fn reads(call: Call, function: Function, [a, b, c, d, e, f]: Noted) {
    let text = |address| {
        strings::text(call, address, u64::MAX);
    };
    match function {
        Function::Fwrite => call.read_all(a, b.wrapping_mul(c)),
        // The kernel refuses a null pointer.
        Function::Stat | Function::Lstat | Function::Readlink | Function::Realpath if a == 0 => {}
        Function::Stat | Function::Lstat | Function::Readlink | Function::Realpath => text(a),
        Function::Fputs | Function::Puts | Function::Strptime | Function::Strfry => text(a),
        Function::Sscanf | Function::SscanfC99 | Function::SscanfC23 | Function::InetAton => text(a),
        Function::Vsscanf | Function::VsscanfC23 => text(a),
        Function::Statvfs | Function::Statfs | Function::Mkstemp | Function::Mkostemp | Function::Mkdtemp => text(a),
        Function::Strxfrm | Function::Statx | Function::Readlinkat => text(b),
        Function::Wcscpy | Function::Wcpcpy => wide_text(call, b, u64::MAX),
        Function::Wcsncpy => wide_text(call, b, c),
        Function::Wcscat | Function::Wcsncat => {
            wide_text(call, a, u64::MAX);
            wide_text(call, b, if function == Function::Wcsncat { c } else { u64::MAX });
        }
        Function::Getpwnam | Function::Getgrnam | Function::Gethostbyname => text(a),
        Function::Putenv | Function::Unsetenv => text(a),
        Function::Mbstowcs | Function::InetPton | Function::PrintText => text(b),
        Function::Setenv | Function::Strcasestr | Function::Strcoll | Function::Strverscmp => {
            [a, b].into_iter().for_each(text)
        }
        Function::LocaltimeR | Function::GmtimeR | Function::Localtime | Function::Gmtime => call.read_all(a, 8),
        Function::Ctime | Function::CtimeR => call.read_all(a, 8),
        Function::Asctime | Function::AsctimeR => call.read_all(a, BROKEN_DOWN_TIME),
        Function::Strftime | Function::Wcsftime => call.read_all(d, BROKEN_DOWN_TIME),
        Function::Swab => call.read_all(a, u64::try_from(c as i64).unwrap_or(0) & !1),
        Function::Memfrob => call.read_all(a, b),
        Function::RandR => call.read_all(a, INT),
        Function::Erand48 | Function::Nrand48 | Function::Jrand48 => call.read_all(a, RANDOM_STATE),
        Function::PrintString => {
            let text = call.read(b, POINTER);
            let length = call.read(b + POINTER, 8);
            call.read_all(text, length);
        }
        Function::Memrchr => call.read_all(a, c),
        Function::Rawmemchr => {
            strings::find(call, a, |byte| byte == b as u8);
        }
        Function::Memmem => {
            call.read_all(a, b);
            call.read_all(c, d);
        }
        Function::Getenv | Function::SecureGetenv => {
            call.read(environment(), POINTER);
        }
        Function::Sendto => {
            call.read_all(b, c);
            if e != 0 {
                call.read_all(e, f);
            }
        }
        Function::Recvfrom => keep_room(call, f),
        Function::Recvmsg => keep_rooms_of_message(call, b),
        Function::Getsockopt => keep_room(call, e),
        Function::Mbsrtowcs => {
            let from = call.read(b, POINTER);
            if from != 0 {
                text(from);
            }
        }
        Function::Writev => vectors(b, c, u64::MAX, |address, length| call.read_all(address, length)),
        _ if function.format().is_some() => {} // see `formats`
        _ => call.read_all(b, c),
    }
}

/// After the call, which gave `result`.
pub fn wrote(call: Call, function: Function, result: u64, [a, b, c, d, e, f]: Noted) {
    let positive = |result: i64| u64::try_from(result).unwrap_or(0);
    let (long, int) = (positive(result as i64), positive(i64::from(result as i32)));
    let done = result as i32 == 0;
    let printed = if (result as i32) < 0 { 0 } else { int + 1 };
    let (address, length) = match function {
        Function::Recvfrom if e != 0 && (result as i64) >= 0 => {
            note(call, b, long.min(c));
            return address_of_socket(call, e, f);
        }
        Function::Read | Function::Pread | Function::Recv | Function::Recvfrom => (b, long.min(c)),
        Function::Readv | Function::Preadv => {
            return vectors(b, c, long, |address, length| note(call, address, length));
        }
        Function::Recvmsg if (result as i64) >= 0 => {
            let [site, name, control] = call.thread.noted.get();
            return received(call, b, long, (site == call.site).then_some((name, control)));
        }
        Function::Msgrcv if (result as i64) >= 0 => (b, POINTER + long),
        Function::Fread => (a, result.wrapping_mul(b)),
        Function::Fgets | Function::Getcwd if result != 0 => (a, text_length(a) + 1),
        Function::Getline | Function::Getdelim => return line(call, result as i64, a, b),
        Function::Sprintf | Function::Vsprintf => (a, printed),
        Function::Snprintf | Function::Vsnprintf => (a, printed.min(b)),
        Function::Asprintf | Function::Vasprintf if printed > 0 => {
            note(call, a, POINTER);
            // SAFETY: the program's pointer, which the library has just written.
            (unsafe { (a as *const u64).read_volatile() }, printed)
        }
        Function::Time if a != 0 => (a, 8),
        Function::Gettimeofday if a != 0 => (a, TIME),
        Function::ClockGettime | Function::ClockGetres if done && b != 0 => (b, TIME),
        Function::LocaltimeR | Function::GmtimeR if result != 0 => (b, BROKEN_DOWN_TIME),
        Function::CtimeR | Function::AsctimeR if result != 0 => (b, text_length(b) + 1),
        Function::Strftime if result != 0 => (a, result + 1),
        Function::Wcsftime if result != 0 => (a, (result + 1) * WIDE),
        Function::Swprintf | Function::Vswprintf => (a, printed * WIDE),
        Function::Fgetws if result != 0 => (a, (wide_length(a) + 1) * WIDE),
        Function::Wcscpy | Function::Wcpcpy => (a, (wide_length(b) + 1) * WIDE),
        Function::Wcsncpy => (a, c.saturating_mul(WIDE)),
        Function::Wcscat | Function::Wcsncat => {
            let most = if function == Function::Wcsncat { c } else { u64::MAX };
            let added = wide_length(b).min(most);
            (a + (wide_length(a) - added) * WIDE, (added + 1) * WIDE)
        }
        Function::Mbsrtowcs | Function::Wcsrtombs if a != 0 && (result as i64) >= 0 => {
            note(call, b, POINTER);
            if d != 0 {
                note(call, d, STATE);
            }
            (a, (long + 1).min(c) * if function == Function::Mbsrtowcs { WIDE } else { 1 })
        }
        Function::Wcrtomb if a != 0 => {
            if c != 0 {
                note(call, c, STATE);
            }
            (a, long)
        }
        Function::Wctomb if a != 0 => (a, int),
        Function::Strxfrm => (a, (long + 1).min(c)),
        Function::StrerrorR if result == b => (b, text_length(b) + 1),
        Function::StrerrorRPosix | Function::TtynameR | Function::PthreadGetnameNp if done => (b, text_length(b) + 1),
        Function::GetloginR if done => (a, text_length(a) + 1),
        Function::TimespecGet if int != 0 => (a, TIME),
        Function::TimerGettime if done => (b, TIMER),
        Function::Sigwait if done => (b, INT),
        Function::Mkstemp | Function::Mkostemp if (result as i32) >= 0 => random_letters(a),
        Function::Mkdtemp if result != 0 => random_letters(a),
        Function::Getgroups if b != 0 => (b, int * INT),
        Function::Getloadavg => (a, int * 8),
        Function::Sysinfo if done => (a, SYSTEM),
        Function::Strptime if result != 0 => (c, BROKEN_DOWN_TIME),
        Function::Pipe | Function::Pipe2 if done => (a, 2 * INT),
        Function::Socketpair if done => (d, 2 * INT),
        Function::Getsockopt if done => return address_of_socket(call, d, e),
        Function::Poll | Function::Ppoll => return polled(call, a, b),
        Function::Select | Function::Pselect if int > 0 || done => return selected(call, a, [b, c, d]),
        Function::EpollWait | Function::EpollPwait => (b, int * EVENT),
        Function::EventfdRead if done => (b, 8),
        Function::Getrandom => (a, long),
        Function::Getentropy if done => (a, b),
        Function::Wait if int > 0 && a != 0 => (a, INT),
        Function::Waitpid if int > 0 && b != 0 => (b, INT),
        Function::Stat | Function::Lstat | Function::Fstat if done => (b, FILE_STATUS),
        Function::Fstatat if done => (c, FILE_STATUS),
        Function::Statx if done => (e, STATUS_BY_PARTS),
        Function::Statvfs | Function::Fstatvfs if done => (b, FILE_SYSTEM),
        Function::Statfs | Function::Fstatfs if done => (b, FILE_SYSTEM_OF_LINUX),
        Function::Readlink => (b, long),
        Function::Readlinkat => (c, long),
        Function::Realpath if result != 0 => (result, text_length(result) + 1),
        Function::Readdir if result != 0 => (result, NAME_IN_ENTRY + text_length(result + NAME_IN_ENTRY) + 1),
        Function::Uname if done => (a, SYSTEM_NAMES),
        Function::Gethostname if done => (a, (text_length(a) + 1).min(b)),
        Function::Getrusage if done => (b, USAGE),
        Function::Getrlimit if done => (b, LIMIT),
        Function::Getitimer if done => (b, TIMER),
        Function::Times if a != 0 => (a, PROCESS_TIMES),
        Function::InetPton if int == 1 => (c, if a == 2 { INT } else { 16 }),
        Function::InetAton if int != 0 && b != 0 => (b, INT),
        Function::InetNtop if result != 0 => (c, text_length(c) + 1),
        Function::Mbstowcs if a != 0 => (a, (long + 1).min(c) * WIDE),
        Function::Wcstombs if a != 0 => (a, (long + 1).min(c)),
        Function::Mbrtowc if d != 0 => {
            note(call, d, STATE);
            (a, if a != 0 && (result as i32) >= 0 { WIDE } else { 0 })
        }
        Function::Mbrtowc | Function::Mbtowc if a != 0 && (result as i32) >= 0 => (a, WIDE),
        Function::PosixMemalign if done => (a, POINTER),
        Function::ExplicitBzero => (a, b),
        Function::RandR => (a, INT),
        Function::Erand48 | Function::Nrand48 | Function::Jrand48 => (a, RANDOM_STATE),
        Function::Swab => (b, positive(c as i64) & !1),
        Function::Memfrob => (a, b),
        Function::Strfry => (a, text_length(a)),
        Function::Frexp | Function::Frexpf | Function::LgammaR | Function::SemGetvalue => (b, INT),
        Function::Modf => (b, 8),
        Function::Modff => (b, 4),
        Function::Sincos | Function::Sincosf => {
            let bytes = if function == Function::Sincos { 8 } else { 4 };
            note(call, b, bytes);
            (c, bytes)
        }
        Function::Remquo | Function::Remquof => (c, INT),
        Function::Setenv | Function::Putenv | Function::Unsetenv | Function::Clearenv if done => {
            (environment(), POINTER)
        }
        Function::ExtractText | Function::GetText | Function::GetTextUpTo => (b, text_length(b) + 1),
        Function::GetLine | Function::GetLineUpTo => (b, text_length(b) + 1),
        Function::ReadFromStream => (b, taken(a).min(c)),
        Function::ReadSomeFromStream => (b, long.min(c)),
        _ if function.extracts().is_some() => (b, function.extracts().unwrap_or(0)),
        // These give memory of the library, which belongs to all threads.
        Function::Localtime | Function::Gmtime if result != 0 => (result, BROKEN_DOWN_TIME),
        Function::Ctime | Function::Asctime | Function::Ttyname | Function::Getlogin | Function::Tmpnam
            if result != 0 =>
        {
            (result, text_length(result) + 1)
        }
        Function::Getpwnam | Function::Getpwuid if result != 0 => (result, USER),
        Function::Getgrnam | Function::Getgrgid if result != 0 => (result, GROUP),
        Function::Gethostbyname if result != 0 => (result, HOST),
        Function::Getservbyname if result != 0 => (result, SERVICE),
        _ => return,
    };
    note(call, address, length);
}

/// The letters that stand in for `XXXXXX`.
fn random_letters(text: u64) -> (u64, u64) {
    (text + text_length(text).saturating_sub(RANDOM_LETTERS), RANDOM_LETTERS)
}

/// The variable that stands for the environment.
fn environment() -> u64 {
    (&raw const sys::environ) as u64
}

/// Sets of descriptors below a number, those that are there.
fn selected(call: Call, below: u64, sets: [u64; 3]) {
    let bytes = u64::from(below as u32).div_ceil(64) * 8;
    sets.into_iter().filter(|set| *set != 0).for_each(|set| note(call, set, bytes));
}

/// How many bytes the last input from a stream of C++ took: `basic_istream::_M_gcount`, the member after the table of functions.
fn taken(stream: u64) -> u64 {
    // SAFETY: the program's stream, which the library has just read from.
    unsafe { *((stream + POINTER) as *const u64) }
}

/// `getline` may have got new memory.
fn line(call: Call, result: i64, place: u64, size: u64) {
    note(call, place, POINTER);
    note(call, size, 8);
    // SAFETY: the program's pointer, which the library has just written.
    let text = unsafe { (place as *const u64).read_volatile() };
    if let Ok(length) = u64::try_from(result) {
        note(call, text, length + 1);
    }
}

/// Of each `struct pollfd` what happened.
fn polled(call: Call, array: u64, count: u64) {
    const SIZE: u64 = 8;
    const HAPPENED: u64 = 6;
    (0..count).for_each(|index| note(call, array + index * SIZE + HAPPENED, 2));
}
