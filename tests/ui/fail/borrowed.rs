//! Buffers and states that are borrowed or written while others may read them.

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

fn main() {}
