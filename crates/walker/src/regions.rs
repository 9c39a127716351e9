//! Which memory was allocated when: regions.

use std::collections::BTreeMap;

/// A piece of memory between its allocation and the next one in its place.
pub(crate) type RegionId = u32;

/// Memory that was never allocated.
pub(crate) const OUTSIDE: RegionId = 0;

/// A stretch of memory that is a region, or what is left of one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Extent {
    pub start: u64,
    pub end: u64,
    pub region: RegionId,
}

/// Where memory comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Birth {
    /// The allocator or a mapping: it lives until it is freed, whatever is put into a part of it.
    Block,
    /// A variable of a frame: who puts something into a part of it has shown that the frame is gone.
    Frame,
}

/// The regions at a point of the run.
#[derive(Default)]
pub(crate) struct Regions {
    /// What is left of each, by where it starts.
    live: BTreeMap<u64, Live>,
    last: RegionId,
}

/// What an allocation makes of the regions.
pub(crate) struct Born {
    /// The new one.
    pub region: RegionId,
    /// What ends since it takes their place.
    pub gone: Vec<Extent>,
    /// Rests of those that are regions now.
    pub rests: Vec<Extent>,
}

#[derive(Clone, Copy)]
struct Live {
    end: u64,
    region: RegionId,
    /// Where the whole region starts, and where it ends.
    base: u64,
    whole_end: u64,
    /// Whether it goes on where a part of it is allocated again.
    stays: bool,
}

impl Regions {
    /// Memory is allocated.
    ///
    /// The rest of a block that was not freed is still that block. The rest of anything else is not what it was either: such
    /// rests become regions, too.
    pub fn born(&mut self, start: u64, size: u64, birth: Birth) -> Born {
        let end = start.saturating_add(size.max(1));
        let (mut gone, mut rests) = (Vec::new(), Vec::new());
        for (old_start, old) in self.overlapping(start, end) {
            self.live.remove(&old_start);
            let ended = if old.stays { (old_start.max(start), old.end.min(end)) } else { (old_start, old.end) };
            gone.push(Extent { start: ended.0, end: ended.1, region: old.region });
            for (from, to) in [(old_start, start), (end, old.end)].into_iter().filter(|(from, to)| from < to) {
                match old.stays {
                    true => drop(self.live.insert(from, Live { end: to, ..old })),
                    false => rests.push(Extent { start: from, end: to, region: self.insert(from, to, false) }),
                }
            }
        }
        Born { region: self.insert(start, end, birth == Birth::Block), gone, rests }
    }

    /// The stretches of blocks that [`Regions::end`] ends.
    pub fn ending(&self, start: u64, bytes: u64) -> Vec<Extent> {
        let extent = |start: u64, end: u64, part: &Live| Extent { start, end, region: part.region };
        if bytes == 0 {
            let Some(first) = self.live.get(&start).filter(|first| first.stays) else { return Vec::new() };
            let parts = self.live.range(start..first.whole_end).filter(|(_, part)| part.region == first.region);
            return parts.map(|(start, part)| extent(*start, part.end, part)).collect();
        }
        let end = start.saturating_add(bytes);
        let blocks = self.overlapping(start, end).into_iter().filter(|(_, part)| part.stays);
        blocks.map(|(from, part)| extent(from.max(start), part.end.min(end), &part)).collect()
    }

    /// A block is freed, or so many bytes of a mapping are gone if that is not 0.
    pub fn end(&mut self, start: u64, bytes: u64) {
        match bytes {
            0 => self.freed(start),
            _ => self.unmapped(start, bytes),
        }
    }

    /// The block that starts here is freed: the next allocation in it ends what is left of it.
    fn freed(&mut self, start: u64) {
        let Some(first) = self.live.get(&start).copied() else { return };
        let parts = self.live.range_mut(start..first.whole_end).filter(|(_, part)| part.region == first.region);
        parts.for_each(|(_, part)| part.stays = false);
    }

    /// So many bytes are mapped no more; what is before and after them still is.
    fn unmapped(&mut self, start: u64, bytes: u64) {
        let end = start.saturating_add(bytes);
        for (old_start, old) in self.overlapping(start, end) {
            let (from, to) = (old_start.max(start), old.end.min(end));
            let pieces = [(old_start, from, old.stays), (from, to, false), (to, old.end, old.stays)];
            for (from, to, stays) in pieces.into_iter().filter(|(from, to, _)| from < to) {
                self.live.insert(from, Live { end: to, stays, ..old });
            }
        }
    }

    /// What lies in a stretch of memory, in order.
    pub fn within(&self, start: u64, end: u64) -> Vec<RegionId> {
        let mut found: Vec<_> = self.overlapping(start, end).into_iter().map(|(_, old)| old.region).collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    fn overlapping(&self, start: u64, end: u64) -> Vec<(u64, Live)> {
        let before = self.live.range(..end).rev().take_while(|(_, old)| old.end > start);
        before.map(|(start, old)| (*start, *old)).collect()
    }

    fn insert(&mut self, start: u64, end: u64, stays: bool) -> RegionId {
        self.last += 1;
        self.live.insert(start, Live { end, region: self.last, base: start, whole_end: end, stays });
        self.last
    }

    /// The newest region.
    pub fn last(&self) -> RegionId {
        self.last
    }

    /// The region that an address lies in, and where it starts.
    pub fn at(&self, address: u64) -> (RegionId, u64) {
        let before = self.live.range(..=address).next_back();
        match before.filter(|(_, part)| part.end > address) {
            Some((_, part)) => (part.region, part.base),
            None => (OUTSIDE, 0),
        }
    }

    /// The region that starts here.
    pub fn starting_at(&self, start: u64) -> Option<RegionId> {
        self.live.get(&start).filter(|part| part.base == start).map(|part| part.region)
    }

    /// What is left of all, in order.
    pub fn all(&self) -> Vec<Extent> {
        self.live.iter().map(|(start, part)| Extent { start: *start, end: part.end, region: part.region }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_of_a_frame_is_a_region() {
        let mut regions = Regions::default();
        regions.born(0x1000, 0x100, Birth::Frame);
        let Born { gone, .. } = regions.born(0x1040, 0x10, Birth::Frame);
        assert_eq!(gone, [Extent { start: 0x1000, end: 0x1100, region: 1 }]);
        assert_eq!(
            (regions.at(0x1000), regions.at(0x1045), regions.at(0x1050)),
            ((2, 0x1000), (4, 0x1040), (3, 0x1050))
        );
        assert_eq!(regions.at(0x1100), (OUTSIDE, 0));
    }

    #[test]
    fn what_is_left_of_a_block_is_that_block_until_it_is_freed() {
        let mut regions = Regions::default();
        regions.born(0x1000, 0x100, Birth::Block);
        let Born { gone, .. } = regions.born(0x1040, 0x10, Birth::Frame);
        assert_eq!(gone, [Extent { start: 0x1040, end: 0x1050, region: 1 }]);
        assert_eq!(
            (regions.at(0x1000), regions.at(0x1045), regions.at(0x1050)),
            ((1, 0x1000), (2, 0x1040), (1, 0x1000))
        );
        assert_eq!(regions.starting_at(0x1050), None);
        regions.freed(0x1000);
        let Born { gone, .. } = regions.born(0x1000, 0x10, Birth::Block);
        assert_eq!(gone, [Extent { start: 0x1000, end: 0x1040, region: 1 }]);
        assert_ne!(regions.at(0x1020).0, 1);
    }

    #[test]
    fn a_part_that_is_unmapped_leaves_the_rest_as_it_is() {
        let mut regions = Regions::default();
        regions.born(0x10000, 0x4000, Birth::Block);
        regions.unmapped(0x11000, 0x1000);
        let Born { gone, .. } = regions.born(0x12000, 0x10, Birth::Block);
        assert_eq!(gone, [Extent { start: 0x12000, end: 0x12010, region: 1 }]);
        assert_eq!(regions.at(0x12010), (1, 0x10000));
        let Born { gone, .. } = regions.born(0x11800, 0x10, Birth::Block);
        assert_eq!(gone, [Extent { start: 0x11000, end: 0x12000, region: 1 }]);
        assert_eq!([regions.at(0x10ff8), regions.at(0x13ff8)], [(1, 0x10000); 2]);
    }
}
