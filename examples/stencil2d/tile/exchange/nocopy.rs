//! Exchange by nocopy arguments: what of the field a neighbour needs is a layout of it; no loop packs, and nobody waits for a stream.

use super::Around;
use crate::kernel::DeviceParts;
use crate::sweep::Real;
use crate::tile::Tile;
use chare::{Instantiated, SendDeviceBuffer};

pub(super) async fn exchange<R: Real>(around: Around<'_, R>, step: u32) -> DeviceParts<R>
where
    Tile<R>: Instantiated,
{
    let Around { tile, problem, neighbours, field, .. } = around;
    for (way, neighbour) in neighbours {
        let edge = SendDeviceBuffer::from(field.clone()).only(&way.edge(problem.tile));
        tile.this_collection().at(*neighbour).halo(step, way.back(), edge);
    }
    let mut parts = DeviceParts::default();
    for _ in neighbours {
        let (_, from, edge) = tile.when(Tile::halo).reference(step).await;
        parts[from.place()] = Some(edge.into_buffer());
    }
    parts
}
