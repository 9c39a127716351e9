//! A large sparse array: pages of entries that come into being when one of them is set.

use rustc_hash::FxHashMap;

/// Entries of a page.
const PAGE: u64 = 1024;

/// A sparse array of `T`; entries that were never set are `T::default()`.
pub(crate) struct Paged<T> {
    numbers: FxHashMap<u64, u32>,
    pages: Vec<Box<[T]>>,
    /// The page looked up last, and its number here.
    last: (u64, u32),
}

impl<T> Default for Paged<T> {
    fn default() -> Self {
        Paged { numbers: FxHashMap::default(), pages: Vec::new(), last: (u64::MAX, 0) }
    }
}

impl<T: Copy + Default> Paged<T> {
    #[inline]
    fn page(&mut self, number: u64) -> Option<usize> {
        if self.last.0 != number {
            self.last = (number, *self.numbers.get(&number)?);
        }
        Some(self.last.1 as usize)
    }

    /// The entry, if its page is there.
    #[inline]
    pub fn get(&mut self, index: u64) -> Option<&mut T> {
        let page = self.page(index / PAGE)?;
        Some(&mut self.pages[page][(index % PAGE) as usize])
    }

    /// Whether the entries from `index` on are as at first; if they lie in several pages, that is not looked at.
    #[inline]
    pub fn are_unset(&mut self, index: u64, count: u64) -> bool
    where
        T: PartialEq,
    {
        let first = index % PAGE;
        let Some(page) = self.page(index / PAGE) else { return first + count <= PAGE };
        let entries = self.pages[page].get(first as usize..(first + count) as usize);
        entries.is_some_and(|entries| entries.iter().all(|entry| *entry == T::default()))
    }

    /// The entries from `index` on, made if need be, up to `count` or to the end of their page.
    #[inline]
    pub fn entries(&mut self, index: u64, count: u64) -> &mut [T] {
        let page = match self.page(index / PAGE) {
            Some(page) => page,
            None => self.make_page(index / PAGE),
        };
        let first = index % PAGE;
        &mut self.pages[page][first as usize..(first + count).min(PAGE) as usize]
    }

    /// The entry, made if need be.
    #[inline]
    pub fn entry(&mut self, index: u64) -> &mut T {
        &mut self.entries(index, 1)[0]
    }

    #[cold]
    fn make_page(&mut self, number: u64) -> usize {
        let page = self.pages.len() as u32;
        self.pages.push(vec![T::default(); PAGE as usize].into());
        self.numbers.insert(number, page);
        self.last = (number, page);
        page as usize
    }

    /// Whether no page is there.
    pub fn is_empty(&self) -> bool {
        self.pages.is_empty()
    }

    /// All stretches of `from..to` whose entries are there, in order.
    pub fn for_each_stretch(&mut self, from: u64, to: u64, visit: &mut dyn FnMut(u64, &mut [T])) {
        let mut at = from;
        while at < to {
            let end = (at / PAGE + 1).saturating_mul(PAGE).min(to);
            if let Some(page) = self.page(at / PAGE) {
                let (first, size) = ((at % PAGE) as usize, (end - at) as usize);
                visit(at, &mut self.pages[page][first..first + size]);
            }
            at = end;
        }
    }

    /// All pages that are there, in order, with the index of their first entry.
    pub fn for_each_page(&mut self, visit: &mut dyn FnMut(u64, &mut [T])) {
        let mut pages: Vec<(u64, u32)> = self.numbers.iter().map(|(number, page)| (*number, *page)).collect();
        pages.sort_unstable();
        for (number, page) in pages {
            visit(number * PAGE, &mut self.pages[page as usize]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_unset_until_one_is_set() {
        let mut list: Paged<u32> = Paged::default();
        assert!(list.are_unset(5, 8));
        *list.entry(9) = 1;
        assert_eq!([list.are_unset(0, 8), list.are_unset(2, 8), list.are_unset(10, 8)], [true, false, true]);
        assert!(!list.are_unset(PAGE - 4, 8), "two pages, not looked at");
    }
}
