//! Nocopy parameters on a device, beside those of the host, and callers that give either memory for either.

use chare::layout::{Dims, Layout};
use chare::prelude::*;
use chare::{DeviceBufferMut, DeviceLanding, DevicePosted, DeviceReceived, SendDeviceBuffer, SentDevice};

struct Tile {
    row: Option<DeviceBufferMut<f32>>,
}

#[chare(array)]
impl Tile {
    #[entry]
    fn new() -> Self {
        Self { row: None }
    }

    #[entry]
    fn halo(&mut self, #[nocopy] face: DeviceReceived<f32>, #[nocopy] edge: chare::Received<f32>, side: u8) {
        let _ = (face.len(), edge.len(), side);
    }

    #[entry]
    async fn land(this: This<Self>, #[nocopy(post)] row: DevicePosted<f32>) {
        this.with(|tile| tile.row = Some(row.into_buffer()));
    }

    #[post(land)]
    fn post_land(&mut self, row: Post<f32>) {
        let room = self.row.take().expect("one call at a time");
        row.post_device(DeviceLanding::from(room)).expect("it is as long");
    }

    #[entry]
    fn sent(&mut self, field: SentDevice<f32>) {
        let _ = field.into_buffer();
    }
}

fn call(tile: TileProxy, field: DeviceBufferMut<f32>) {
    let shared = field.freeze();
    let column: Layout<f32> = Dims::new([4, 4]).select((.., 1));
    let one = tile.at(0);
    one.halo(SendDeviceBuffer::from(shared.clone()).only(&column), vec![1.0], 3);
    one.halo(vec![1.0], SendDeviceBuffer::from(shared.clone()), 3);
    one.land(SendDeviceBuffer::from(shared).on_sent(one.sent_callback()));
}
