//! Exchange by hand, as Stencil2D did before MV2-GPU-NC: each edge is copied to the host by a copy of two dimensions, sent from there, and
//! copied to the neighbour's device.

use super::Around;
use crate::kernel::DeviceParts;
use crate::sweep::Real;
use crate::tile::Tile;
use chare::devices::Method;
use chare::layout::Plan;
use chare::{DeviceBufferMut, Instantiated, bytemuck};
use chare_examples::devices::{passed, written};
use std::sync::Arc;

pub(super) async fn exchange<R: Real>(around: Around<'_, R>, step: u32) -> DeviceParts<R>
where
    Tile<R>: Instantiated,
{
    let Around { tile, problem, neighbours, field, stream } = around;
    let whole = field.clone().into_bytes();
    let mut landed = Vec::new();
    for (way, neighbour) in neighbours {
        let plan = Arc::new(Plan::pack(way.edge::<R>(problem.tile).raw()).expect("an edge is a layout"));
        let edge = whole.stage_by(Method::Rows, stream, &plan).expect("there is room for staging");
        landed.push((way, neighbour, edge));
    }
    passed(stream).await;
    for (way, neighbour, mut edge) in landed {
        let bytes = edge.elements().expect("the device is not lost").expect("the stream is past it");
        let points = bytes.chunks_exact(size_of::<R>()).map(bytemuck::pod_read_unaligned);
        tile.this_collection().at(*neighbour).halo_on_host(step, way.back(), points.collect());
    }
    let mut parts = DeviceParts::default();
    for _ in neighbours {
        let (_, from, points) = tile.when(Tile::halo_on_host).reference(step).await;
        let edge = DeviceBufferMut::new(field.device(), points.len()).expect("the device has memory");
        parts[from.place()] = Some(written(edge, stream, &points).freeze());
    }
    passed(stream).await;
    parts
}
