//! Values that are no buffers to send or to post.

mod posted_by_reference {
    use chare::prelude::*;

    struct Cell {
        row: Vec<f64>,
    }

    #[chare]
    impl Cell {
        #[entry]
        fn new() -> Self {
            Self { row: Vec::new() }
        }

        #[entry]
        fn take(&mut self, #[nocopy] row: Received<f64>) {
            drop(row);
        }

        #[entry]
        fn land(&mut self, #[nocopy(post)] row: Posted<f64>) {
            self.row = row.into_vec();
        }

        #[post(land)]
        fn post_land(&mut self, row: Post<f64>) {
            row.post(&mut self.row).expect("it is as long");
        }
    }

    fn misuse(_: CellProxy) {}
}

mod slice_sent {
    use chare::prelude::*;

    struct Cell {
        row: Vec<f64>,
    }

    #[chare]
    impl Cell {
        #[entry]
        fn new() -> Self {
            Self { row: Vec::new() }
        }

        #[entry]
        fn take(&mut self, #[nocopy] row: Received<f64>) {
            drop(row);
        }

        #[entry]
        fn land(&mut self, #[nocopy(post)] row: Posted<f64>) {
            self.row = row.into_vec();
        }

        #[post(land)]
        fn post_land(&mut self, row: Post<f64>) {
            row.post(std::mem::take(&mut self.row)).expect("it is as long");
        }
    }

    fn misuse(cell: CellProxy) {
        let row = [1.0, 2.0];
        cell.take(&row[..]);
    }
}

mod device_buffer_sent {
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
}

fn main() {}
