//! Buffers on the wire, as honest nodes send them: layouts, landings, several under one argument, parts, a part for each, gathers, exchanges,
//! views, partitions, and awaited entries.

use chare::layout::{Dims, Layout};
use chare::prelude::*;
use chare::{ArrayOptions, Exchange, Gather, Landing, Partition, Several, SeveralMut};

/// Elements of an argument that is too long to travel with its message.
const BULK: usize = 80_000;

/// The edge of a grid whose columns are longer than what travels with a message, and one whose columns are not.
const EDGES: [usize; 2] = [4, 20_000];
const COLUMNS: usize = 4;

fn column(edge: usize, at: usize) -> Layout<u32> {
    Dims::new([edge, COLUMNS]).select((.., at))
}

/// So many places, of which none is where a step would have it: a list that is told once and then known by its digest.
fn list() -> Layout<u32> {
    let squares: Vec<i64> = (0..200).map(|root| root * root).collect();
    Layout::indexed_block(1, &squares).expect("it fits")
}

struct Tile {
    exchange: Exchange<u32>,
    edge: usize,
}

#[chare(array)]
impl Tile {
    #[entry]
    fn new(exchange: Exchange<u32>) -> Self {
        Self { exchange, edge: 0 }
    }

    #[entry]
    fn take(&mut self, #[nocopy] data: Received<u32>, done: Callback<u64>) {
        self.contribute(sum(data.len() as u64), done);
    }

    #[entry]
    fn look(&mut self, #[nocopy] data: ReceivedView<u32>, done: Callback<u64>) {
        done.send(data.rows().flatten().count() as u64);
    }

    #[entry]
    fn prepare(&mut self, edge: usize) {
        self.edge = edge;
    }

    #[entry]
    fn land(&mut self, #[nocopy(post)] data: Posted<u32>, done: Callback<u64>) {
        done.send(data.transferred() as u64);
    }

    #[post(land)]
    fn post_land(&mut self, data: Post<u32>, _done: &Callback<u64>) {
        let edge = self.edge.clamp(1, EDGES[1]);
        let landing = Landing::at(&column(edge, 1), vec![0; edge * COLUMNS]);
        data.post(landing).expect("a column comes");
    }

    #[entry]
    fn land_part(&mut self, #[nocopy(post)] data: Posted<u32>, done: Callback<u64>) {
        done.send(data.into_part().rows().flatten().count() as u64);
    }

    #[post(land_part)]
    fn post_land_part(&mut self, data: Post<u32>, _done: &Callback<u64>) {
        let edge = self.edge.clamp(1, EDGES[1]);
        let (_rest, [part]) = BufferMut::zeroed(edge * COLUMNS).split([&column(edge, 2)]).expect("one part");
        data.post_part(part).expect("a column comes");
    }

    #[entry]
    fn land_several(&mut self, #[nocopy(post)] data: Posted<u32>, done: Callback<u64>) {
        let mut landed = data.into_several();
        let (first, second): (BufferMut<u32>, BufferMut<u32>) = (landed.next_buffer(), landed.next_buffer());
        done.send((first.len() + second.len()) as u64);
    }

    #[post(land_several)]
    fn post_land_several(&mut self, data: Post<u32>, _done: &Callback<u64>) {
        let edge = self.edge.clamp(1, EDGES[1]);
        let landing = || Landing::at(&column(edge, 0), vec![0; edge * COLUMNS]);
        data.post_several(SeveralMut::of(landing()).and(landing())).expect("two columns come");
    }

    #[entry]
    fn divide(&mut self, parts: Partition<u32>, done: Callback<u64>) {
        done.send(parts.part(0).map_or(0, |part| part.len() as u64));
    }

    #[entry]
    fn report(&mut self, rows: Gather<u32>) {
        rows.put(self.this_index(), vec![1; self.edge]);
    }

    /// A round of each kind.
    #[entry]
    fn exchange(&mut self, done: Callback<u64>) {
        let me = self.this_index();
        let halves = Partition::rows([2, 500], 2).expect("two rows");
        let next = self.this_chare().exchanged_callback().carrying(done);
        let data: Buffer<u32> = vec![me as u32; 1_000].into();
        self.exchange.all_to_all(me, (data, &halves), (BufferMut::zeroed(1_000), &halves), next);
    }

    #[entry]
    fn exchanged(&mut self, data: BufferMut<u32>, done: Callback<u64>) {
        self.contribute(sum(u64::from(data[0]) + u64::from(data[999])), done);
    }

    #[entry(awaited)]
    fn letter(#[reference] day: u32, text: String) -> u64;

    #[entry(awaited)]
    fn parcel(#[nocopy] goods: Received<u32>, #[nocopy] samples: ReceivedView<u8>);

    #[entry]
    async fn read(this: This<Self>, day: u32, done: Callback<u64>) {
        let (_, text, reply) = this.when(Self::letter).reference(day).await;
        reply.send(text.len() as u64);
        let (goods, samples) = this.when(Self::parcel).await;
        done.send(goods.len() as u64 + samples.iter().count() as u64);
    }
}

/// Sends selections of short and long buffers to each kind of parameter.
async fn select(tile: &TileElementProxy) {
    for edge in EDGES {
        tile.prepare(edge);
        let grid: Buffer<u32> = vec![1; edge * COLUMNS].into();
        let only = || SendBuffer::from(grid.clone()).only(&column(edge, 3));
        let ((seen, look), (landed, land), (in_part, land_part), (several, land_several)) =
            (chare::future(), chare::future(), chare::future(), chare::future());
        tile.look(only(), look);
        tile.land(only(), land);
        let (_rest, [part]) = BufferMut::zeroed(edge * COLUMNS).split([&column(edge, 1)]).expect("one part");
        tile.land_part(part.share(), land_part);
        tile.land_several(Several::of(only()).and(vec![2; edge]), land_several);
        let lens = [seen.await, landed.await, in_part.await, several.await];
        assert_eq!(lens, [edge, edge, edge, 2 * edge * COLUMNS].map(|len| len as u64));
    }
    // Known by its digest the second time.
    for _ in 0..2 {
        let (seen, done) = chare::future();
        tile.look(SendBuffer::from(BufferMut::<u32>::zeroed(BULK)).only(&list()), done);
        assert_eq!(seen.await, 200);
    }
}

/// Buffers among many.
async fn share(tiles: &TileProxy) {
    let rows = Partition::rows([2, 100], 2).expect("two rows");
    let (taken, done) = chare::future();
    tiles.take(SendBuffer::from(vec![1; 200]).each(&rows), done);
    assert_eq!(taken.await, 200);
    let uneven = [Layout::contiguous(10).expect("short"), list().shifted(10).expect("it fits")];
    for parts in [Partition::table(50_000, &uneven).expect("apart"), rows.clone()] {
        let (len, done) = chare::future();
        tiles.at(1).divide(parts, done);
        assert!(len.await > 0);
    }
    for index in 0..2 {
        tiles.at(index).prepare(100);
    }
    let (filled, done) = chare::future::<BufferMut<u32>>();
    tiles.report(Gather::into(BufferMut::zeroed(200), &rows, done));
    assert_eq!(filled.await.len(), 200);
    let (exchanged, done) = chare::future();
    tiles.exchange(done);
    assert_eq!(exchanged.await, 2);
}

/// Calls that wait until they are awaited.
async fn correspond(tile: &TileElementProxy) {
    let answer = tile.letter(7, "good morning".to_owned());
    tile.parcel(vec![1; BULK], vec![2; 30]);
    let (read, done) = chare::future();
    tile.read(7, done);
    assert_eq!((answer.await, read.await), (12, BULK as u64 + 30));
}

pub(super) async fn say() {
    // Before the tiles that keep it.
    let exchange = Exchange::create(2);
    let tiles = TileProxy::create(ArrayOptions::from(2), exchange);
    let other = tiles.at(1);
    select(&other).await;
    share(&tiles).await;
    correspond(&other).await;
    tiles.destroy();
}
