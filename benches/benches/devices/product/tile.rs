//! Tiles of matrices: what one block of threads computes.

/// Elements along a tile, as in `product.cu`.
pub(super) const TILE: usize = 16;
