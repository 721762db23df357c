//! An array with every kind of entry and parameter.
#![deny(warnings)]

use chare::prelude::*;

struct Cell {
    row: Vec<f64>,
}

#[chare(array)]
impl Cell {
    const WIDTH: usize = 16;

    /// Makes a cell.
    #[entry]
    pub fn new(seed: u64, name: String) -> Self {
        let _ = (seed, name);
        Self { row: vec![0.0; Self::WIDTH] }
    }

    #[entry]
    pub fn begin(&mut self) {
        self.helper();
    }

    /// One step.
    #[entry]
    pub fn step(&self, iteration: u32) {
        let _ = iteration;
    }

    #[entry(expedited)]
    fn stop(&mut self) {}

    #[entry(priority = -5)]
    fn urgent(&mut self, mut first: u8, second: Vec<f64>) {
        first += second.len() as u8;
        let _ = first;
    }

    #[entry]
    pub async fn run(this: This<Self>, rounds: u32) {
        this.with(|cell| cell.row.truncate(rounds as usize));
    }

    #[entry]
    pub fn ghost(&mut self, side: u8, #[nocopy] row: Received<f64>) {
        let _ = side;
        self.row = row.into_vec();
    }

    #[entry]
    pub fn halo(&mut self, #[nocopy(post)] row: Posted<f64>, side: u8, weight: f32) {
        let _ = (side, weight);
        self.row = row.into_vec();
    }

    #[post(halo)]
    fn halo_post(&mut self, row: Post<f64>, side: &u8, weight: &f32) {
        let _ = (side, weight);
        row.post(std::mem::take(&mut self.row)).expect("it is as long");
    }

    #[entry]
    pub async fn exchange(
        this: This<Self>,
        #[nocopy] left: Received<f64>,
        tag: String,
        #[nocopy(post)] right: Posted<u32>,
    ) {
        let _ = (this, left, tag, right);
    }

    #[post(exchange)]
    fn exchange_post(&self, tag: &str, right: Post<u32>) {
        let _ = tag;
        right.post(vec![0; 4]).expect("it is as long");
    }

    fn helper(&self) {}
}

fn use_proxies() {
    let cells = CellProxy::create(100, 7, "name".to_owned());
    cells.begin();
    cells.step(1);
    cells.stop();
    cells.urgent(1, vec![1.0]);
    cells.run(3);
    cells.ghost(0, vec![1.0; 8]);
    cells.halo(vec![1.0; 8], 0, 0.5);
    let all: Callback<u32> = cells.step_callback();
    let pair: Callback<(u8, Vec<f64>)> = cells.urgent_callback();
    let nothing: Callback<()> = cells.begin_callback();
    let _ = (all, pair, nothing);

    let cell: CellElementProxy = cells.at(3);
    cell.step(2);
    cell.clone().with(chare::CallOptions::new()).ghost(1, vec![2.0; 8]);
    cell.exchange(vec![1.0], "tag".to_owned(), vec![1, 2]);
    let one: Callback<u32> = cell.step_callback();
    let _ = one;
}

mod elsewhere {
    use chare::prelude::*;

    pub(crate) struct Tile;

    /// Indices of a type that is written as a path, and names of parameters that the proxy uses itself.
    #[chare(array, index = (core::primitive::u16, i64, usize))]
    impl Tile {
        #[entry]
        pub(crate) fn new() -> Self {
            Self
        }

        #[entry(create_home)]
        pub(crate) fn touch(&mut self, pe: u8, body: u16) {
            let _ = (pe, body, self.this_index().1);
        }

        #[entry(create_here, expedited)]
        pub(crate) fn wake(&mut self) {}
    }
}

fn use_places() {
    let tiles = elsewhere::TileProxy::create_empty(chare::ArrayOptions::empty());
    let tile = tiles.at((1, -2, 3));
    tile.insert();
    tile.insert_on(PeId(0));
    tile.touch(1, 2);
    let found: Option<i64> = tile.local(|tile| tile.this_index().1);
    let _ = found;
    tile.destroy();
    tiles.done_inserting();
    tiles.destroy();
    let range = elsewhere::TileProxy::create((0, -1, 0)..(1, 1, 1));
    let bound = chare::ArrayOptions::new((1, 1, 1)).bind_to(&range).created(Callback::ignore());
    elsewhere::TileProxy::create(bound).wake();
}
