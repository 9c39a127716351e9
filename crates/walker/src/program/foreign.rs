//! Code that foretrace did not build and that may order threads: it has atomic instructions or system calls, whose effects no trace shows.
//! Its calls of the C library are recorded like all others.

use super::module::Module;
use super::unseen_writes;
use crate::error::WalkError;
use foretrace_instrument::rust::rust_name;
use iced_x86::{Decoder, DecoderOptions, Instruction, Mnemonic, OpKind};
use object::{Object, ObjectSection, ObjectSymbol, SectionKind};
use rustc_hash::{FxHashMap, FxHashSet};

/// Libraries of compilers and of the system. `docs/orders.md` lists their calls.
const SYSTEM: [&str; 17] = [
    "ld-linux",
    "libanl",
    "libatomic",
    "libc++",
    "libc.",
    "libdl",
    "libgcc_s",
    "libiomp5",
    "libm.",
    "libmvec",
    "libomp",
    "libnsl",
    "libpthread",
    "libresolv",
    "librt",
    "libstdc++",
    "libutil",
];
/// Those whose writes to memory are known where they are known at all.
const C_LIBRARY: [&str; 9] =
    ["libanl", "libc.", "libdl", "libm.", "libnsl", "libpthread", "libresolv", "librt", "libutil"];
/// Bytes of code that are looked at of the functions of a program.
const MOST_CODE: u64 = 1 << 20;

/// Code that may order threads.
#[derive(Default)]
pub(crate) struct Foreign {
    /// What functions are called by, with the number of the code's name.
    symbols: FxHashMap<Box<str>, usize>,
    /// Libraries, from one address to another.
    ranges: Vec<(u64, u64, usize)>,
    names: Vec<String>,
    /// What the C library defines.
    of_c_library: FxHashSet<Box<str>>,
    /// Its functions that are called and write what no trace has, and by what name.
    unseen_writes: FxHashMap<Box<str>, Box<str>>,
    /// What libraries of the system define.
    of_system: FxHashSet<Box<str>>,
}

impl Foreign {
    /// Looks at a library without side-car that the process had loaded up to an address.
    pub fn add(&mut self, module: &Module, end: u64) -> Result<(), WalkError> {
        let object = module.object()?;
        let defined = object.dynamic_symbols().filter(|symbol| !symbol.is_undefined());
        let defined = defined.filter_map(|symbol| symbol.name().ok()).filter(|name| !name.is_empty());
        let file = module.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if SYSTEM.iter().any(|start| file.starts_with(start)) {
            let defined: Vec<&str> = defined.collect();
            if C_LIBRARY.iter().any(|start| file.starts_with(start)) {
                self.of_c_library.extend(defined.iter().copied().map(Box::from));
            }
            let defined = defined.into_iter();
            self.of_system.extend(defined.map(Box::from));
            return Ok(());
        }
        let code = object.sections().filter(|section| section.kind() == SectionKind::Text);
        let has_atomics = |section: object::Section<'_, '_>| {
            section.data().is_ok_and(|bytes| decoded(bytes, section.address()).any(|one| may_order(&one)))
        };
        if code.into_iter().any(has_atomics) {
            let number = self.named(file);
            defined.for_each(|name| _ = self.symbols.entry(name.into()).or_insert(number));
            self.ranges.push((module.bias, end, number));
        }
        Ok(())
    }

    /// Looks at functions of a module with side-cars that are called and have none themselves; `is_described` says which addresses start
    /// functions that have. Where one may order threads, so may all: what gives a lock back can be a plain write.
    pub fn add_called(&mut self, symbols: &[&str], module: &Module, is_described: impl Fn(u64) -> bool) {
        if self.of_system.is_empty() {
            return; // in a program that is linked statically the system's functions cannot be told apart
        }
        let undescribed = |symbol: &&str| {
            self.is_users(symbol) && module.symbols.global(symbol).is_some_and(|address| !is_described(address))
        };
        let called: Vec<&str> = symbols.iter().copied().filter(undescribed).collect();
        if self.may_order(&called, module, is_described) {
            let file = module.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let number = self.named(format!("code in {file}"));
            self.symbols.extend(called.into_iter().map(|symbol| (symbol.into(), number)));
        }
    }

    /// Of these functions, which no module of the program defines, the C library's whose writes no trace has.
    pub fn add_unseen_writes<'a>(&mut self, symbols: impl Iterator<Item = &'a str>) {
        let of_library = symbols.filter(|symbol| self.of_c_library.contains(*symbol));
        let found = of_library.filter_map(|symbol| Some((symbol.into(), unseen_writes::state(symbol)?.into())));
        self.unseen_writes = found.collect();
    }

    /// By what name a function writes what no trace has.
    pub fn writes_unseen(&self, symbol: &str) -> Option<&str> {
        self.unseen_writes.get(symbol).map(|name| &**name)
    }

    /// Whether one of these functions, or one that it calls, may order threads.
    fn may_order(&self, symbols: &[&str], module: &Module, is_described: impl Fn(u64) -> bool) -> bool {
        let mut todo: Vec<u64> = symbols.iter().filter_map(|symbol| module.symbols.global(symbol)).collect();
        let (mut seen, mut left) = (FxHashSet::default(), MOST_CODE);
        while let Some(address) = todo.pop() {
            let Some(found) = module.symbols.at(address).filter(|found| seen.insert(found.address)) else { continue };
            if is_described(found.address) || !self.is_users(&found.name) || found.size > left {
                continue;
            }
            left -= found.size;
            let bytes = module.image(found.address).and_then(|bytes| bytes.get(..found.size as usize));
            for instruction in decoded(bytes.unwrap_or_default(), found.address) {
                if may_order(&instruction) {
                    return true;
                }
                if matches!(instruction.mnemonic(), Mnemonic::Call | Mnemonic::Jmp) {
                    todo.push(instruction.near_branch_target());
                }
            }
        }
        false
    }

    /// Whether a function can be the user's: neither the system's, nor the compiler's, nor the runtime's.
    fn is_users(&self, symbol: &str) -> bool {
        let of_others = ["__", "_Z", "foretrace", "omp_", "kmp_"]; // C++ of libraries in headers is merged with that of the program
        !of_others.iter().any(|start| symbol.starts_with(start))
            && rust_name(symbol).is_none()
            && !self.of_system.contains(symbol)
    }

    fn named(&mut self, name: String) -> usize {
        self.names.push(name);
        self.names.len() - 1
    }

    /// What a function belongs to that is called by this symbol, and may order threads.
    pub fn of_symbol(&self, symbol: &str) -> Option<&str> {
        self.symbols.get(symbol).map(|number| &*self.names[*number])
    }

    /// The library that an address lies in, if it may.
    pub fn of_address(&self, address: u64) -> Option<&str> {
        let around = |(start, end, _): &&(u64, u64, usize)| (*start..*end).contains(&address);
        self.ranges.iter().find(around).map(|(_, _, number)| &*self.names[*number])
    }
}

fn decoded(bytes: &[u8], address: u64) -> impl Iterator<Item = Instruction> {
    Decoder::with_ip(64, bytes, address, DecoderOptions::NONE).into_iter()
}

/// Whether an instruction may take part in an order of threads: it is atomic, or a system call.
fn may_order(instruction: &Instruction) -> bool {
    let has_memory = || (0..instruction.op_count()).any(|index| instruction.op_kind(index) == OpKind::Memory);
    match instruction.mnemonic() {
        Mnemonic::Syscall => true,
        Mnemonic::Xchg => has_memory(),
        _ => instruction.has_lock_prefix() && !instruction.is_invalid(),
    }
}

#[cfg(test)]
mod tests {
    use super::{decoded, may_order};

    #[test]
    fn atomic_instructions_are_told_from_others() {
        let codes: [(&[u8], bool); 7] = [
            (&[0xf0, 0x0f, 0xb1, 0x17], true),        // lock cmpxchg [rdi], edx
            (&[0xf0, 0x48, 0xff, 0x07], true),        // lock inc qword [rdi]
            (&[0x87, 0x07], true),                    // xchg [rdi], eax
            (&[0x0f, 0x05], true),                    // syscall
            (&[0x87, 0xc3], false),                   // xchg ebx, eax
            (&[0x8b, 0x45, 0xf0, 0x01, 0xd0], false), // mov eax, [rbp-16]; add eax, edx
            (&[0x66, 0x90], false),                   // xchg ax, ax
        ];
        for (code, expected) in codes {
            assert_eq!(decoded(code, 0).any(|one| may_order(&one)), expected, "{code:x?}");
        }
    }
}
