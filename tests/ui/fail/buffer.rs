//! Values that are no buffers to send or to post, and buffers whose elements are no plain data, or others than they should be.

#![allow(unused)]

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

mod of_no_plain_data {
    use chare::prelude::*;
    use chare::RegisteredSource;

    fn misuse() {
        let names = vec!["a".to_owned()];
        RegisteredSource::register(names);
        let references: Vec<&'static f64> = Vec::new();
        SendBuffer::from(references);
    }
}

mod with_a_handle_of_other_elements {
    use chare::prelude::*;
    use chare::{SourceHandle, rget};

    fn misuse(source: SourceHandle<f64>) {
        rget(&source, BufferMut::<u8>::zeroed(80), Callback::<BufferMut<u8>>::ignore()).expect("it is as long");
    }
}

mod nocopy_of_no_plain_data {
    use chare::prelude::*;

    struct Cell;

    #[chare(array)]
    impl Cell {
        #[entry]
        fn new() -> Self {
            Self
        }

        #[entry]
        fn step(&mut self, #[nocopy] rows: Received<String>) {
            let _ = rows;
        }
    }
}

mod call_of_nocopy_with_no_plain_data {
    use chare::prelude::*;

    struct Cell;

    #[chare(array)]
    impl Cell {
        #[entry]
        fn new() -> Self {
            Self
        }

        #[entry]
        fn step(&mut self, iteration: u32) {
            let _ = iteration;
        }

        #[entry]
        fn ghost(&mut self, side: u8, #[nocopy] row: Received<f64>) {
            let _ = (side, row);
        }
    }

    fn call(cells: CellProxy) {
        #[derive(Clone)]
        struct NotPod(f64);
        cells.ghost(1, vec![NotPod(0.0)]);
        cells.at(0).ghost(1, vec![1_u32]);
    }
}

mod layout_of_no_plain_data {
    #[derive(chare::Layout)]
    #[layout(label(age, name))]
    pub struct Person {
        pub name: String,
        pub age: u64,
        pub is_known: bool,
    }

    #[derive(chare::Layout)]
    #[layout(known(is_known))]
    pub struct Known {
        pub is_known: bool,
    }
}

fn main() {}
