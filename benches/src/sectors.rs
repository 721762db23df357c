//! Sectors: what memory moves at least, whole, for blocks at fixed distances.

/// Bytes of a sector of a device of NVIDIA: the least that its memory reads or writes.
const SECTOR_BYTES: u64 = 32;

/// Bytes of all sectors in which blocks lie, the first at the start of one.
fn touched(blocks: u64, block: u64, stride: u64) -> u64 {
    let (mut sectors, mut next) = (0, 0);
    for at in (0..blocks).map(|position| position * stride) {
        let (first, end) = ((at / SECTOR_BYTES).max(next), (at + block).div_ceil(SECTOR_BYTES));
        sectors += end.saturating_sub(first);
        next = next.max(end);
    }
    sectors * SECTOR_BYTES
}

/// How many times as much as a copy of the selected bytes an operation moves that reads and writes blocks at these distances.
pub fn sectors_share(bytes: u64, block: u64, [source, target]: [u64; 2]) -> f64 {
    let blocks = bytes / block;
    let moved = touched(blocks, block, source) + touched(blocks, block, target);
    moved as f64 / (2 * touched(blocks, block, block)) as f64
}

#[cfg(test)]
mod tests {
    use super::sectors_share;

    #[test]
    fn blocks_shorter_than_sectors_move_whole_ones() {
        assert_eq!(sectors_share(1 << 10, 4, [8, 4]), 1.5);
        assert_eq!(sectors_share(1 << 10, 16, [32, 32]), 2.0);
        assert_eq!(sectors_share(12 << 10, 12, [24, 12]), 1.5);
        assert_eq!(sectors_share(1 << 10, 64, [128, 64]), 1.0);
    }
}
