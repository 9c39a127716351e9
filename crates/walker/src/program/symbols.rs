//! The symbols of a module: from names to addresses and back.

use object::{Object, ObjectSymbol, SymbolKind};
use rustc_hash::FxHashMap;

/// A symbol that names memory or code.
#[derive(Clone, Debug)]
pub(crate) struct Symbol {
    pub address: u64,
    pub size: u64,
    pub name: Box<str>,
}

/// The symbols of a module, at the addresses of the process.
#[derive(Default)]
pub(crate) struct Symbols {
    global: FxHashMap<Box<str>, u64>,
    /// Those of one unit only: where, and the source file that the linker noted.
    local: FxHashMap<Box<str>, Vec<(u64, Box<str>)>>,
    thread_local: FxHashMap<Box<str>, u64>,
    /// By address.
    sorted: Vec<Symbol>,
}

impl Symbols {
    pub fn read(object: &object::File<'_>, bias: u64) -> Symbols {
        let mut symbols = Symbols::default();
        let mut file: Box<str> = "".into();
        for symbol in object.symbols().chain(object.dynamic_symbols()) {
            let name: Box<str> = symbol.name().unwrap_or_default().into();
            match symbol.kind() {
                SymbolKind::File => file = name,
                SymbolKind::Section => {}
                SymbolKind::Tls => {
                    symbols.thread_local.insert(name, symbol.size());
                }
                _ if symbol.is_undefined() || name.is_empty() => {}
                _ => {
                    let address = symbol.address().wrapping_add(bias);
                    symbols.add(name, address, symbol.size(), symbol.is_local().then_some(&*file));
                }
            }
        }
        symbols.sorted.sort_by_key(|symbol| (symbol.address, symbol.size));
        symbols
    }

    fn add(&mut self, name: Box<str>, address: u64, size: u64, file: Option<&str>) {
        match file {
            Some(file) => self.local.entry(name.clone()).or_default().push((address, file.into())),
            None => drop(self.global.insert(name.clone(), address)),
        }
        if size > 0 {
            self.sorted.push(Symbol { address, size, name });
        }
    }

    /// The address of a symbol as a unit with this source file sees it.
    pub fn address(&self, name: &str, source: &str) -> Option<u64> {
        let base = |path: &str| path.rsplit('/').next().map(str::to_string);
        if let Some(locals) = self.local.get(name) {
            let mut own = locals.iter().filter(|(_, file)| base(file) == base(source));
            match (own.next(), own.next(), &locals[..]) {
                (Some((address, _)), None, _) => return Some(*address),
                (None, None, [(address, _)]) if !self.global.contains_key(name) => return Some(*address),
                _ => {}
            }
        }
        self.global.get(name).copied()
    }

    /// The address of a symbol that other modules see.
    pub fn global(&self, name: &str) -> Option<u64> {
        self.global.get(name).copied()
    }

    /// Whether each thread has its own.
    pub fn is_thread_local(&self, name: &str) -> bool {
        self.thread_local.contains_key(name)
    }

    /// The bytes of a thread-local variable.
    pub fn thread_local_size(&self, name: &str) -> Option<u64> {
        self.thread_local.get(name).copied()
    }

    /// The symbol whose memory has this address.
    pub fn at(&self, address: u64) -> Option<&Symbol> {
        let after = self.sorted.partition_point(|symbol| symbol.address <= address);
        let before = self.sorted[..after].iter().rev().take(8);
        before.into_iter().find(|symbol| address - symbol.address < symbol.size)
    }
}
