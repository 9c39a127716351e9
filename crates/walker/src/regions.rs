//! Which memory was allocated when: regions.

use std::collections::BTreeMap;

/// A piece of memory between its allocation and the next one in its place.
pub(crate) type RegionId = u32;

/// Memory that was never allocated.
pub(crate) const OUTSIDE: RegionId = 0;

/// A stretch of memory that is a region.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Extent {
    pub start: u64,
    pub end: u64,
    pub region: RegionId,
}

/// The regions at a point of the run.
#[derive(Default)]
pub(crate) struct Regions {
    live: BTreeMap<u64, (u64, RegionId)>,
    last: RegionId,
}

impl Regions {
    /// Memory is allocated: its region, and those that end since it takes their place.
    ///
    /// What is left of one that ends is not what it was either: such rests become regions, too.
    pub fn born(&mut self, start: u64, size: u64) -> (RegionId, Vec<Extent>) {
        let end = start.saturating_add(size.max(1));
        let overlapping = self.live.range(..end).rev().take_while(|(_, (other_end, _))| *other_end > start);
        let gone: Vec<Extent> =
            overlapping.map(|(start, (end, region))| Extent { start: *start, end: *end, region: *region }).collect();
        for old in &gone {
            self.live.remove(&old.start);
            if old.start < start {
                self.insert(old.start, start);
            }
            if old.end > end {
                self.insert(end, old.end);
            }
        }
        (self.insert(start, end), gone)
    }

    fn insert(&mut self, start: u64, end: u64) -> RegionId {
        self.last += 1;
        self.live.insert(start, (end, self.last));
        self.last
    }

    /// The region that an address lies in, and where it starts.
    pub fn at(&self, address: u64) -> (RegionId, u64) {
        let before = self.live.range(..=address).next_back();
        match before.filter(|(_, (end, _))| *end > address) {
            Some((start, (_, region))) => (*region, *start),
            None => (OUTSIDE, 0),
        }
    }

    /// The extent of the live region that starts here.
    pub fn starting_at(&self, start: u64) -> Option<Extent> {
        self.live.get(&start).map(|(end, region)| Extent { start, end: *end, region: *region })
    }

    /// All live ones, in order.
    pub fn all(&self) -> Vec<Extent> {
        self.live.iter().map(|(start, (end, region))| Extent { start: *start, end: *end, region: *region }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_of_a_region_is_a_region() {
        let mut regions = Regions::default();
        regions.born(0x1000, 0x100);
        let (_, gone) = regions.born(0x1040, 0x10);
        assert_eq!(gone, [Extent { start: 0x1000, end: 0x1100, region: 1 }]);
        assert_eq!(
            (regions.at(0x1000), regions.at(0x1045), regions.at(0x1050)),
            ((2, 0x1000), (4, 0x1040), (3, 0x1050))
        );
        assert_eq!(regions.at(0x1100), (OUTSIDE, 0));
    }
}
