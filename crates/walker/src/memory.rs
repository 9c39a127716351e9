//! Memory as the walk knows it: byte by byte, each with its value and the part of a term that it is.

use crate::aliases::Aliases;
use crate::expression::Expressions;
use crate::paged::Paged;
use crate::value::Word;
use foretrace_trace::{Func, Sort, TermId};

/// One byte of a term.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Slice {
    /// A term of sort BitVec.
    pub term: TermId,
    /// Which of its bytes, from the lowest.
    pub byte: u32,
}

/// Up to eight bytes on their way from or to memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Bytes {
    /// Their values, the first lowest.
    pub bits: u64,
    /// A bit for each whose value is known.
    pub known: u8,
    /// How many they are.
    pub size: u32,
    /// The terms that they are parts of.
    pub slices: [Option<Slice>; 8],
    /// Whether any of `slices` is there.
    pub symbolic: bool,
}

impl Bytes {
    /// Known bytes without terms.
    pub fn constant(size: u32, bits: u64) -> Bytes {
        Bytes { bits, known: all(size), size, ..Bytes::default() }
    }

    /// Whether all are known.
    pub fn is_known(&self) -> bool {
        self.known == all(self.size)
    }

    /// Puts these bytes in, from byte `at` on.
    pub fn put(&mut self, at: u32, part: &Bytes) {
        let bits = crate::value::mask(part.size * 8);
        self.bits = self.bits & !(bits << (at * 8)) | (part.bits & bits) << (at * 8);
        self.known = self.known & !(all(part.size) << at) | part.known << at;
        self.symbolic |= part.symbolic;
        let to = at as usize..(at + part.size) as usize;
        self.slices[to].copy_from_slice(&part.slices[..part.size as usize]);
    }

    /// So many of the bytes, from `at` on.
    pub fn part(&self, at: u32, size: u32) -> Bytes {
        let mut part = Bytes::constant(size, self.bits >> (at * 8) & crate::value::mask(size * 8));
        part.known = self.known >> at & all(size);
        if self.symbolic {
            let from = at as usize..(at + size) as usize;
            part.slices[..size as usize].copy_from_slice(&self.slices[from]);
            part.symbolic = part.slices.iter().any(Option::is_some);
        }
        part
    }
}

/// A bit for each of so many bytes.
fn all(size: u32) -> u8 {
    ((1u16 << size) - 1) as u8
}

impl Expressions {
    /// A word as the bytes that a write of `size` bytes puts into memory.
    pub fn split(&mut self, word: Word, size: u32) -> Bytes {
        let wide = self.zero_extend(word, size * 8);
        let wide = self.whole(wide);
        let mut bytes = Bytes::constant(size, wide.bits);
        if !wide.is_known() {
            bytes.known = 0;
        } else if let Some(term) = wide.term {
            bytes.symbolic = true;
            (0..size).for_each(|byte| bytes.slices[byte as usize] = Some(Slice { term, byte }));
        }
        bytes
    }

    /// Bytes as one word: the term itself where they are all of one, else what they are made of.
    pub fn join(&mut self, bytes: &Bytes) -> Word {
        let width = bytes.size * 8;
        if !bytes.is_known() {
            return Word::unknown(width);
        }
        let constant = Word::constant(width, bytes.bits);
        if !bytes.symbolic {
            return constant;
        }
        let mut parts = Vec::new();
        let mut at = 0;
        while at < bytes.size {
            let (part, size) = self.run(bytes, at);
            parts.push(part);
            at += size;
        }
        let term = self.concat(&parts);
        Word { term: self.terms.as_const(term).is_none().then_some(term), ..constant }
    }

    /// The longest stretch from byte `at` on that is one constant or consecutive bytes of one term, and its size.
    fn run(&mut self, bytes: &Bytes, at: u32) -> (TermId, u32) {
        let first = bytes.slices[at as usize];
        let follows = |size: u32| {
            let next = bytes.slices[(at + size) as usize];
            match (first, next) {
                (Some(first), Some(next)) => first.term == next.term && next.byte == first.byte + size,
                (None, None) => true,
                _ => false,
            }
        };
        let size = (1..bytes.size - at).find(|size| !follows(*size)).unwrap_or(bytes.size - at);
        let term = match first {
            Some(Slice { term, byte }) => self.bytes_of(term, byte, size),
            None => self.literal(size * 8, bytes.bits >> (at * 8)),
        };
        (term, size)
    }

    fn bytes_of(&mut self, term: TermId, byte: u32, size: u32) -> TermId {
        debug_assert!(matches!(self.terms.sort(term), Sort::BitVec(width) if width >= (byte + size) * 8));
        self.extract_to(term, byte * 8, size * 8)
    }

    /// The same byte over and over.
    pub fn splat(&mut self, byte: Word, size: u32) -> Word {
        let byte = self.truncate(byte, 8);
        let byte = self.whole(byte);
        if !byte.is_known() {
            return Word::unknown(size * 8);
        }
        let bits = (0..size).fold(0, |bits, _| bits << 8 | byte.bits);
        let term = byte.term.map(|term| match size {
            1 => term,
            _ => self.terms.app(Func::Repeat(size), &[term]).expect("one word"),
        });
        Word { term, ..Word::constant(size * 8, bits) }
    }
}

/// Eight bytes of memory.
#[derive(Clone, Copy, Default)]
struct Granule {
    bits: u64,
    /// Where its slices are, 0 if it has none.
    slices: u32,
    known: u8,
}

/// All memory that was written or read so far.
pub(crate) struct Memory {
    pub aliases: Aliases,
    granules: Paged<Granule>,
    /// Slices of granules that have some; the first stands for none.
    slices: Vec<[Option<Slice>; 8]>,
    unused: Vec<u32>,
}

impl Default for Memory {
    fn default() -> Self {
        Memory { aliases: Aliases::default(), granules: Paged::default(), slices: vec![[None; 8]], unused: Vec::new() }
    }
}

impl Memory {
    /// Reads up to eight bytes.
    pub fn load(&mut self, address: u64, size: u32) -> Bytes {
        let address = self.aliases.first(address);
        let first = (8 - (address % 8) as u32).min(size);
        let mut bytes = self.load_within(address, first);
        if first < size {
            let rest = self.load_within(address.wrapping_add(u64::from(first)), size - first);
            bytes.size = size;
            bytes.put(first, &rest);
        }
        bytes
    }

    fn load_within(&mut self, address: u64, size: u32) -> Bytes {
        let Some(granule) = self.granules.get(address / 8) else { return Bytes { size, ..Bytes::default() } };
        let at = (address % 8) as u32;
        let whole = Bytes {
            bits: granule.bits,
            known: granule.known,
            size: 8,
            slices: self.slices[granule.slices as usize],
            symbolic: granule.slices != 0,
        };
        if size == 8 { whole } else { whole.part(at, size) }
    }

    /// Writes up to eight bytes.
    pub fn store(&mut self, address: u64, bytes: &Bytes) {
        let address = self.aliases.first(address);
        let first = (8 - (address % 8) as u32).min(bytes.size);
        if first == bytes.size {
            return self.store_within(address, bytes);
        }
        self.store_within(address, &bytes.part(0, first));
        self.store_within(address.wrapping_add(u64::from(first)), &bytes.part(first, bytes.size - first));
    }

    /// Writes known bytes that are of no term; gives back those that were there, if all of them were known.
    pub fn replace(&mut self, address: u64, size: u32, bits: u64) -> Option<u64> {
        let address = self.aliases.first(address);
        let (at, mask, whole) = ((address % 8) as u32, crate::value::mask(size * 8), all(size));
        if at + size > 8 {
            let before = self.load(address, size);
            self.store(address, &Bytes::constant(size, bits & mask));
            return before.is_known().then_some(before.bits);
        }
        let granule = self.granules.entry(address / 8);
        let before = (granule.known >> at & whole == whole).then_some(granule.bits >> (at * 8) & mask);
        if granule.slices != 0 {
            self.store_within(address, &Bytes::constant(size, bits & mask));
            return before;
        }
        granule.bits = granule.bits & !(mask << (at * 8)) | (bits & mask) << (at * 8);
        granule.known |= whole << at;
        before
    }

    fn store_within(&mut self, address: u64, bytes: &Bytes) {
        let granule = self.granules.entry(address / 8);
        let at = (address % 8) as u32;
        let mask = crate::value::mask(bytes.size * 8) << (at * 8);
        granule.bits = granule.bits & !mask | bytes.bits << (at * 8) & mask;
        granule.known = granule.known & !(all(bytes.size) << at) | bytes.known << at;
        if granule.slices == 0 && !bytes.symbolic {
            return;
        }
        if granule.slices == 0 {
            granule.slices = self.unused.pop().unwrap_or(self.slices.len() as u32);
            match self.slices.get_mut(granule.slices as usize) {
                Some(used_before) => *used_before = [None; 8],
                None => self.slices.push([None; 8]),
            }
        }
        let slices = &mut self.slices[granule.slices as usize];
        slices[at as usize..(at + bytes.size) as usize].copy_from_slice(&bytes.slices[..bytes.size as usize]);
        if slices.iter().all(Option::is_none) {
            self.unused.push(std::mem::take(&mut granule.slices));
        }
    }

    /// Nothing is known of these bytes any more.
    pub fn forget(&mut self, address: u64, size: u64) {
        self.aliases.forget(address, size);
        let end = address.saturating_add(size);
        let mut at = address;
        while at < end && !at.is_multiple_of(8) {
            self.forget_byte(at);
            at += 1;
        }
        let whole = end - end % 8;
        if at < whole {
            let unused = &mut self.unused;
            self.granules.for_each_stretch(at / 8, whole / 8, &mut |_, granules| {
                unused.extend(granules.iter().map(|granule| granule.slices).filter(|slices| *slices != 0));
                granules.fill(Granule::default());
            });
            at = whole;
        }
        (at..end).for_each(|byte| self.forget_byte(byte));
    }

    fn forget_byte(&mut self, address: u64) {
        if self.granules.get(address / 8).is_some() {
            self.store_within(address, &Bytes { size: 1, ..Bytes::default() });
        }
    }
}

/// What the last access left at each byte: what an access reads that was left out of the log.
#[derive(Default)]
pub(crate) struct Mirror {
    words: Paged<u64>,
}

impl Mirror {
    /// Up to eight bytes.
    #[inline]
    pub fn load(&mut self, address: u64, size: u32) -> u64 {
        let (index, at) = (address / 8, (address % 8) as u32 * 8);
        let mut bits = self.words.get(index).map_or(0, |word| *word >> at);
        if at + size * 8 > 64 {
            bits |= self.words.get(index.wrapping_add(1)).map_or(0, |word| *word << (64 - at));
        }
        bits & crate::value::mask(size * 8)
    }

    /// An access leaves up to eight bytes.
    #[inline]
    pub fn store(&mut self, address: u64, size: u32, bits: u64) {
        let (index, at) = (address / 8, (address % 8) as u32 * 8);
        let mask = crate::value::mask(size * 8);
        let word = self.words.entry(index);
        *word = *word & !(mask << at) | (bits & mask) << at;
        if at + size * 8 > 64 {
            let word = self.words.entry(index.wrapping_add(1));
            *word = *word & !(mask >> (64 - at)) | (bits & mask) >> (64 - at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use foretrace_trace::EventId;

    #[test]
    fn bytes_of_a_word_come_back_as_what_they_are() {
        let (mut e, mut memory) = (Expressions::default(), Memory::default());
        let term = e.local(EventId(0), 32);
        let word = Word { term: Some(term), ..Word::constant(32, 0x0403_0201) };
        let bytes = e.split(word, 4);
        memory.store(0x1006, &bytes); // across granules
        let loaded = memory.load(0x1006, 4);
        assert_eq!(e.join(&loaded), word);
        let high = memory.load(0x1008, 1);
        let high = e.join(&high);
        assert_eq!((high.bits, high.term), (3, Some(e.extract_to(term, 16, 8))));
        // one byte is overwritten: pieces on both sides of a constant
        memory.store(0x1007, &Bytes::constant(1, 0xff));
        let torn = memory.load(0x1006, 4);
        let torn = e.join(&torn);
        assert_eq!(torn.bits, 0x0403_ff01);
        let value = e.terms.evaluate(torn.term.unwrap(), &mut |_| foretrace_trace::Value::BitVec {
            width: 32,
            bits: 0x1413_1211u32.into(),
        });
        assert_eq!(value, foretrace_trace::Value::BitVec { width: 32, bits: 0x1413_ff11u32.into() });
        memory.store(0x1006, &Bytes::constant(4, 0));
        assert!(!memory.load(0x1006, 4).symbolic);
        assert_eq!(memory.unused.len(), 2);
    }

    #[test]
    fn replacing_is_a_read_and_a_write() {
        let (mut e, mut memory, mut expected) = (Expressions::default(), Memory::default(), Memory::default());
        let term = e.local(EventId(0), 32);
        let word = Word { term: Some(term), ..Word::constant(32, 0x0403_0201) };
        for memory in [&mut memory, &mut expected] {
            memory.store(0x1008, &e.split(word, 4));
        }
        for (number, (at, size)) in [(0, 4), (2, 4), (6, 8), (9, 1), (8, 8), (0, 8)].into_iter().enumerate() {
            let bits = 0x0123_4567_89ab_cdef_u64.rotate_left(number as u32 * 12);
            let before = expected.load(0x1000 + at, size);
            expected.store(0x1000 + at, &Bytes::constant(size, bits & crate::value::mask(size * 8)));
            assert_eq!(memory.replace(0x1000 + at, size, bits), before.is_known().then_some(before.bits));
            let all = |memory: &mut Memory| [0, 8, 16].map(|at| memory.load(0x1000 + at, 8));
            assert_eq!(all(&mut memory), all(&mut expected));
        }
    }

    #[test]
    fn what_is_forgotten_does_not_come_back_elsewhere() {
        let (mut e, mut memory) = (Expressions::default(), Memory::default());
        let term = e.local(EventId(0), 64);
        let word = Word { term: Some(term), ..Word::constant(64, 0) };
        memory.store(0x1000, &e.split(word, 8));
        memory.forget(0x1000, 8);
        let byte = e.local(EventId(1), 8);
        memory.store(0x2000, &Bytes::constant(8, 0));
        memory.store(0x2000, &e.split(Word { term: Some(byte), ..Word::constant(8, 0) }, 1));
        assert_eq!(memory.load(0x2001, 7).slices, [None; 8]);
    }

    #[test]
    fn a_mirror_holds_bytes_at_any_alignment() {
        let (mut mirror, mut bytes) = (Mirror::default(), [0u8; 64]);
        for (number, (at, size)) in [(0, 8), (5, 8), (15, 2), (9, 4), (7, 1), (16, 8), (13, 8)].into_iter().enumerate()
        {
            let bits = 0x0123_4567_89ab_cdef_u64.rotate_left(number as u32 * 12);
            mirror.store(0x1000 + at, size, bits);
            bytes[at as usize..at as usize + size as usize].copy_from_slice(&bits.to_le_bytes()[..size as usize]);
            for from in 0..40 {
                let expected = u64::from_le_bytes(bytes[from..from + 8].try_into().unwrap());
                assert_eq!(mirror.load(0x1000 + from as u64, 8), expected);
                assert_eq!(mirror.load(0x1000 + from as u64, 2), expected & 0xffff);
            }
        }
    }

    #[test]
    fn what_is_forgotten_is_unknown() {
        let mut memory = Memory::default();
        memory.store(0x1ffc, &Bytes::constant(8, u64::MAX));
        memory.forget(0x1ffe, 4);
        assert_eq!(memory.load(0x1ffc, 8).known, 0b1100_0011);
        assert!(!memory.load(0x9000, 2).is_known());
    }
}
