use chare::prelude::*;
use chare::{DeviceBuffer, DeviceBufferMut, DeviceReceived, SendDeviceBuffer};

struct Cell;

#[chare]
impl Cell {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry]
    fn take(&mut self, #[nocopy] row: DeviceReceived<f64>) {
        let _first = row[0];
    }
}

fn misuse(cell: CellProxy, row: DeviceBufferMut<f64>, shared: DeviceBuffer<f64>) {
    cell.take(shared);
    cell.take(SendDeviceBuffer::from(row));
    cell.take(SendDeviceBuffer::from(row));
}

fn main() {
    let _ = misuse;
}
