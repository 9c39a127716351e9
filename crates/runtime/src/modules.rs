//! The file `modules`: where each module is loaded, to look up addresses later.

use core::ffi::{CStr, c_int, c_void};
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::mode;
use crate::sys::{self, DlInfo, ProgramHeader, call};
use crate::text::Text;

/// Where the C library and the dynamic linker are.
static LIBRARIES: [(AtomicUsize, AtomicUsize); 2] = [const { (AtomicUsize::new(0), AtomicUsize::new(0)) }; 2];

/// Whether code at this address is theirs.
pub fn in_library(place: usize) -> bool {
    LIBRARIES.iter().any(|(start, end)| (start.load(Relaxed)..end.load(Relaxed)).contains(&place))
}

const LOAD: u32 = 1;
const NOTE: u32 = 4;

/// Writes it again, whole at any time.
pub fn write() {
    let (new, name) = (mode::file(b"/modules.new\0"), mode::file(b"/modules\0"));
    let Ok(file) = sys::open(new.bytes(), sys::CREATE) else { return };
    // SAFETY: the callback gets the pointer to `file` back.
    unsafe { sys::dl_iterate_phdr(line, (&raw const file).cast_mut().cast()) };
    sys::close(file);
    call!(RENAME, new.bytes().as_ptr(), name.bytes().as_ptr());
}

/// # Safety
/// As `dl_iterate_phdr` calls it.
unsafe extern "C" fn line(module: *mut DlInfo, _: usize, file: *mut c_void) -> c_int {
    // SAFETY: the loader's structures, alive for this call.
    let (module, file, headers) = unsafe {
        let module = &*module;
        (module, *file.cast::<c_int>(), core::slice::from_raw_parts(module.headers, usize::from(module.count)))
    };
    let loaded = headers.iter().filter(|header| header.kind == LOAD);
    let end = loaded.map(|header| header.address + header.memory_size).max().unwrap_or(0) + module.bias as u64;
    let mut text = Text::<4600>::formatted(format_args!("{:x} {end:x} ", module.bias));
    match headers.iter().find_map(|header| build_id(module.bias, header)) {
        Some(id) => id.iter().for_each(|byte| text.push(Text::<2>::formatted(format_args!("{byte:02x}")).bytes())),
        None => text.push(b"-"),
    }
    text.push(b" ");
    push_name(&mut text, module);
    text.push(b"\n");
    sys::write(file, text.bytes());
    note_library(module, end as usize);
    0
}

fn note_library(module: &DlInfo, end: usize) {
    // SAFETY: a string of the loader, or null.
    let name = if module.name.is_null() { c"" } else { unsafe { CStr::from_ptr(module.name) } };
    let file = name.to_bytes().rsplit(|&byte| byte == b'/').next().unwrap_or_default();
    let index = if file == b"libc.so.6" { 0 } else { 1 };
    if index == 0 || file.starts_with(b"ld-linux") {
        LIBRARIES[index].1.store(end, Relaxed);
        LIBRARIES[index].0.store(module.bias, Relaxed);
    }
}

/// The only word of the C library's own data that holds this; nothing where there is none, or more.
pub fn only_word_of_c_library(value: u64) -> Option<*mut u64> {
    let mut search = Search { value, found: core::ptr::null_mut(), times: 0 };
    // SAFETY: the callback gets the pointer to `search` back.
    unsafe { sys::dl_iterate_phdr(search_library, (&raw mut search).cast()) };
    (search.times == 1).then_some(search.found)
}

struct Search {
    value: u64,
    found: *mut u64,
    times: u32,
}

/// # Safety
/// As `dl_iterate_phdr` calls it.
unsafe extern "C" fn search_library(module: *mut DlInfo, _: usize, search: *mut c_void) -> c_int {
    const WRITABLE: u32 = 2;
    const READ_ONLY_LATER: u32 = 0x6474_e552; // PT_GNU_RELRO
    // SAFETY: the loader's structures and the caller's, alive for this call.
    let (module, search, headers) = unsafe {
        let module = &*module;
        (module, &mut *search.cast::<Search>(), core::slice::from_raw_parts(module.headers, usize::from(module.count)))
    };
    if module.bias != LIBRARIES[0].0.load(Relaxed) {
        return 0;
    }
    let fixed = headers.iter().find(|header| header.kind == READ_ONLY_LATER);
    let fixed = fixed.map_or(0..0, |header| header.address..header.address + header.memory_size);
    for data in headers.iter().filter(|header| header.kind == LOAD && header.flags & WRITABLE != 0) {
        let words = (data.address.next_multiple_of(8)..data.address + data.memory_size - 7).step_by(8);
        for address in words.filter(|address| !fixed.contains(address)) {
            let word = (module.bias + address as usize) as *mut u64;
            // SAFETY: loaded, readable, and aligned. Other threads may write it.
            if unsafe { word.read_volatile() } == search.value {
                search.found = word;
                search.times += 1;
            }
        }
    }
    1
}

fn push_name(text: &mut Text<4600>, module: &DlInfo) {
    // SAFETY: a string of the loader, or null.
    let name = if module.name.is_null() { c"" } else { unsafe { CStr::from_ptr(module.name) } };
    if !name.is_empty() {
        return text.push(name.to_bytes());
    }
    let mut program = [0u8; 4096];
    let length = call!(READLINK, c"/proc/self/exe".as_ptr(), program.as_mut_ptr(), program.len());
    text.push(&program[..length.max(0) as usize]);
}

/// The build id in a segment of notes.
fn build_id(bias: usize, header: &ProgramHeader) -> Option<&'static [u8]> {
    const BUILD_ID: u32 = 3;
    if header.kind != NOTE {
        return None;
    }
    // SAFETY: a loaded segment.
    let mut notes = unsafe {
        core::slice::from_raw_parts((bias + header.address as usize) as *const u8, header.memory_size as usize)
    };
    while notes.len() > 12 {
        let word = |at: usize| u32::from_le_bytes([notes[at], notes[at + 1], notes[at + 2], notes[at + 3]]);
        let (name, value, kind) = (word(0) as usize, word(4) as usize, word(8));
        let start = 12 + name.next_multiple_of(4);
        if kind == BUILD_ID && notes.get(12..16) == Some(b"GNU\0") {
            return notes.get(start..start + value);
        }
        notes = notes.get(start + value.next_multiple_of(4)..)?;
    }
    None
}
