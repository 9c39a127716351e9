//! Buffers that a thread fills or reads before another one frees them. An access may come after the `free` in another schedule, so these bytes
//! count as shared. Of many cells of one size side by side the first and the last ones stand for all: the same loop or call touches them.

use crate::thread_order::PartId;

/// Shorter rows are kept whole, as the fields of a structure.
const LONG_ROW: u64 = 64;
/// Of longer ones so many cells are kept at each end.
const KEPT: u64 = 8;

/// The parts of a thread that wrote and read a byte last.
type Parts = (PartId, PartId);

/// Takes the bytes of a freed block one after the other.
#[derive(Default)]
pub(crate) struct Buffers {
    row: Row,
    cell: Option<Cell>,
    left_out: Vec<(u64, u64)>,
}

#[derive(Clone, Copy, Default)]
struct Row {
    start: u64,
    cells: u64,
    /// Of each cell, in bytes.
    size: u64,
    parts: Parts,
}

#[derive(Clone, Copy)]
struct Cell {
    start: u64,
    size: u64,
    parts: Parts,
}

impl Buffers {
    /// The next byte that a thread may use after the `free`, with the parts of that thread if no other one touches it, and whether a cell
    /// starts there.
    pub fn add(&mut self, address: u64, parts: Option<Parts>, starts_cell: bool) {
        if let Some(cell) = &mut self.cell
            && !starts_cell
            && cell.start + cell.size == address
            && parts == Some(cell.parts)
        {
            cell.size += 1;
            return;
        }
        self.end_cell();
        self.cell = parts.map(|parts| Cell { start: address, size: 1, parts });
    }

    fn end_cell(&mut self) {
        let Some(Cell { start, size, parts }) = self.cell.take() else { return };
        let Row { start: first, cells, size: same, .. } = self.row;
        if first + cells * same == start && same == size && self.row.parts == parts {
            self.row.cells += 1;
            return;
        }
        self.end_row();
        self.row = Row { start, cells: 1, size, parts };
    }

    fn end_row(&mut self) {
        let Row { start, cells, size, .. } = std::mem::take(&mut self.row);
        if cells > LONG_ROW {
            self.left_out.push((start + KEPT * size, start + (cells - KEPT) * size));
        }
    }

    /// The stretches, from an address to another, for which others stand.
    pub fn left_out(mut self) -> Vec<(u64, u64)> {
        self.end_cell();
        self.end_row();
        self.left_out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cells side by side from address 1000 on: how many bytes each has, and the part that wrote it if no other thread touches it.
    fn left_out(cells: impl IntoIterator<Item = (u64, Option<PartId>)>) -> Vec<(u64, u64)> {
        let mut buffers = Buffers::default();
        let mut address = 1000;
        for (size, part) in cells {
            for byte in 0..size {
                buffers.add(address, part.map(|part| (part, 0)), byte == 0);
                address += 1;
            }
        }
        buffers.left_out()
    }

    #[test]
    fn ends_of_a_long_row_stand_for_it() {
        let row = |cells| std::iter::repeat_n((4, Some(1)), cells);
        assert_eq!(left_out(row(100)), [(1000 + 32, 1400 - 32)]);
        assert_eq!(left_out(row(65)), [(1000 + 32, 1260 - 32)]);
        assert_eq!(left_out(row(64)), []);
    }

    #[test]
    fn a_row_ends_where_sizes_or_threads_change_and_where_several_threads_touch_a_byte() {
        let row = |size, part, cells| std::iter::repeat_n((size, part), cells);
        assert_eq!(left_out(row(4, Some(1), 40).chain(row(8, Some(1), 40))), []);
        assert_eq!(left_out(row(4, Some(1), 40).chain(row(4, Some(2), 40))), []);
        assert_eq!(left_out(row(4, Some(1), 40).chain(row(4, None, 1)).chain(row(4, Some(1), 40))), []);
        let two = row(1, Some(1), 100).chain(row(2, Some(1), 100));
        assert_eq!(left_out(two), [(1008, 1092), (1116, 1284)]);
    }

    #[test]
    fn a_row_ends_at_a_gap() {
        let mut buffers = Buffers::default();
        (0..40).for_each(|byte| buffers.add(byte, Some((1, 0)), true));
        (41..80).for_each(|byte| buffers.add(byte, Some((1, 0)), true));
        assert_eq!(buffers.left_out(), []);
    }
}
