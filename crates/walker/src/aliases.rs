//! Memory that is mapped more than once: by which address each byte counts.

/// Stretches of addresses that are other names of memory.
#[derive(Default, Debug)]
pub struct Aliases(Vec<Alias>);

#[derive(Clone, Copy, Debug)]
struct Alias {
    start: u64,
    end: u64,
    /// What its first byte is another name of.
    of: u64,
}

impl Aliases {
    /// Memory from `start` on is that from `of` on, so many bytes.
    pub fn add(&mut self, start: u64, of: u64, bytes: u64) {
        let of = self.first(of);
        if of != start {
            self.0.push(Alias { start, end: start.saturating_add(bytes), of });
        }
    }

    /// Memory there is allocated again: it has no other name, and is none.
    pub fn forget(&mut self, start: u64, bytes: u64) {
        let end = start.saturating_add(bytes);
        self.0.retain(|alias| {
            let of_end = alias.of.saturating_add(alias.end - alias.start);
            (alias.end <= start || end <= alias.start) && (of_end <= start || end <= alias.of)
        });
    }

    /// The address by which a byte counts.
    #[inline]
    pub fn first(&self, address: u64) -> u64 {
        if self.0.is_empty() { address } else { self.look_up(address) }
    }

    #[cold]
    fn look_up(&self, address: u64) -> u64 {
        let alias = self.0.iter().find(|alias| (alias.start..alias.end).contains(&address));
        alias.map_or(address, |alias| alias.of + (address - alias.start))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_counts_by_its_first_address_until_its_memory_goes() {
        let mut aliases = Aliases::default();
        aliases.add(0x5000, 0x1000, 0x1000);
        aliases.add(0x9000, 0x5000, 0x1000);
        assert_eq!([0x5008, 0x9008, 0x1008, 0x6000].map(|a| aliases.first(a)), [0x1008, 0x1008, 0x1008, 0x6000]);
        aliases.forget(0x5000, 0x1000);
        assert_eq!([0x5008, 0x9008].map(|a| aliases.first(a)), [0x5008, 0x1008]);
        aliases.forget(0x1000, 8);
        assert_eq!(aliases.first(0x9008), 0x9008);
    }
}
