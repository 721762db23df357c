//! Buffers and states that are borrowed or written while others may read them, and buffers that are used after a transfer took them.

mod borrowed_across_send {
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
        let mut row = BufferMut::<f64>::zeroed(10);
        let first = &mut row[0];
        cell.take(row);
        *first = 3.0;
    }
}

mod of_put_target_kept {
    use chare::prelude::*;
    use chare::RegisteredTarget;

    fn misuse(target: RegisteredTarget<f64>) {
        let mut kept: &[f64] = &[];
        target.read(|elements| kept = elements);
        println!("{}", kept[0]);
    }
}

mod received_written {
    use chare::prelude::*;

    fn misuse(mut received: Received<f64>) {
        received[0] = 3.0;
    }
}

mod shared_written_in_flight {
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
        let mut row: Buffer<f64> = vec![1.0, 2.0].into();
        cell.take(row.clone());
        row[0] = 3.0;
    }
}

mod source_written_while_registered {
    use chare::prelude::*;
    use chare::RegisteredSource;

    fn misuse(mut source: RegisteredSource<f64>) {
        source[0] = 3.0;
    }
}

mod state_borrowed_across_post {
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
            let first = &mut self.row[..1];
            row.post(std::mem::take(&mut self.row)).expect("it is as long");
            first[0] = 3.0;
        }
    }

    fn misuse(_: CellProxy) {}
}

mod state_held_across_await {
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

        #[entry(awaited)]
        fn ghost(value: f64);

        #[entry]
        async fn takes_the_state_along(this: This<Self>) {
            let row = this.with(|cell| &mut cell.row);
            row.push(this.when(Self::ghost).await);
        }

        #[entry]
        async fn waits_inside(this: This<Self>) {
            this.with(|cell| cell.row.push(this.when(Self::ghost).await));
        }
    }
}

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
