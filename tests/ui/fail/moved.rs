//! Buffers that are used after a transfer took them.

mod of_closed_target_read {
    use chare::prelude::*;
    use chare::RegisteredTarget;

    fn misuse(target: RegisteredTarget<f64>) {
        target.close(Callback::ignore());
        target.read(|elements| println!("{}", elements[0]));
    }
}

mod posted_to_two {
    use chare::prelude::*;

    fn misuse(first: Post<f64>, second: Post<f64>) {
        let landing = vec![0.0; 10];
        first.post(landing).expect("it is as long");
        second.post(landing).expect("it is as long");
    }
}

mod posted_twice {
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
            let row_again = self.row.clone();
            row.post(row_again).expect("it is as long");
            row.post(std::mem::take(&mut self.row)).expect("it is as long");
        }
    }

    fn misuse(_: CellProxy) {}
}

mod sent_twice {
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
        let row = BufferMut::<f64>::zeroed(10);
        cell.take(row);
        cell.take(row);
    }
}

mod used_after_tagged_post {
    use chare::prelude::*;

    fn misuse() {
        let mut landing = BufferMut::<f64>::zeroed(10);
        chare::post_buffer(7, landing).expect("the tag is free");
        landing[0] = 3.0;
    }
}

mod used_during_rget {
    use chare::prelude::*;
    use chare::{SourceHandle, rget};

    fn misuse(source: SourceHandle<f64>) {
        let landing = BufferMut::<f64>::zeroed(10);
        rget(&source, landing, Callback::<BufferMut<f64>>::ignore()).expect("it is as long");
        println!("{}", landing[0]);
    }
}

mod vector_written_after_send {
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
        let mut row = vec![1.0, 2.0];
        cell.take(row);
        row[0] = 3.0;
    }
}

mod written_during_rput {
    use chare::prelude::*;
    use chare::{TargetHandle, rput};

    fn misuse(target: TargetHandle<f64>) {
        let mut row = vec![1.0; 10];
        rput(row, &target, Callback::<Buffer<f64>>::ignore()).expect("it is as long");
        row[0] = 3.0;
    }
}

fn main() {}
