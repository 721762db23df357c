//! A block in the memory of its host, and its ghosts around it: parts of one array. Edges of the inside leave from where they lie, and
//! those of the neighbours are copied to the ghosts, from where they lie if that can be reached.

use crate::problem::{Exchange, Place, Problem, Seen, Way};
use chare::prelude::*;
use chare::{Part, PartLayout, PartMut};

pub(crate) struct Block {
    problem: Problem,
    inside: Part<f64>,
    /// By way.
    edges: Vec<PartLayout<f64>>,
    ghosts: Vec<PartMut<f64>>,
}

#[chare(array, index = Place)]
impl Block {
    #[entry]
    pub(crate) fn new(problem: Problem) -> Self {
        let parts: Vec<_> =
            [problem.inside()].into_iter().chain(Way::all().map(|way| problem.ghosts(way))).collect();
        let all = BufferMut::zeroed((problem.side + 2 * problem.radius).pow(3));
        let split = all.split_all(&parts.iter().collect::<Vec<_>>());
        let (_, mut parts) = split.expect("a block and its ghosts share no point");
        let mut inside = parts.remove(0);
        fill(&mut inside, problem.points(chare::this_index()));
        let edge = |way| inside.within(&problem.edge(way, problem.radius));
        let edges = Way::all().map(|way| edge(way).expect("an edge is inside"));
        Self { problem, edges: edges.collect(), inside: inside.share(), ghosts: parts }
    }

    /// What the neighbour on this way has for this block.
    #[entry(awaited)]
    fn receive(#[reference] exchange: u32, from: Way, #[nocopy] points: ReceivedView<f64>);

    /// The same, packed by hand.
    #[entry(awaited)]
    fn receive_packed(#[reference] exchange: u32, from: Way, points: Vec<f64>);

    #[entry]
    pub(crate) async fn run(this: This<Self>, by: Exchange, done: Callback<Seen>) {
        let problem = this.with(|block| block.problem);
        let (mut wrong, mut begun, mut took) = (0, chare::now(), 0);
        for exchange in 0..problem.all_exchanges() {
            if problem.is_checked(exchange) {
                this.with(Self::clear);
            } else if exchange == 1 {
                begun = chare::now();
            }
            match by {
                Exchange::Layouts => by_layouts(&this, exchange).await,
                Exchange::ByHand => by_hand(&this, exchange).await,
            }
            if exchange == problem.exchanges {
                took = (chare::now() - begun).as_nanos() as u64;
            }
            if problem.is_checked(exchange) {
                wrong += this.with(|block| block.count_wrong());
            }
        }
        this.contribute(tuple((sum(wrong), max(took))), done);
    }

    fn clear(&mut self) {
        self.ghosts.iter_mut().for_each(|ghosts| fill(ghosts, std::iter::repeat(f64::NAN)));
    }

    fn count_wrong(&self) -> u64 {
        let wrong = |(way, ghosts): (Way, &PartMut<f64>)| {
            let expected = self.problem.around(self.this_index(), way);
            ghosts.rows().flatten().zip(expected).filter(|(point, expected)| *point != expected).count()
        };
        Way::all().zip(&self.ghosts).map(wrong).sum::<usize>() as u64
    }

    fn neighbours(&self) -> impl Iterator<Item = (Way, BlockElementProxy)> {
        let (problem, here, blocks) = (self.problem, self.this_index(), self.this_collection());
        Way::all().map(move |way| (way, blocks.at(problem.beside(here, way))))
    }
}

async fn by_layouts(this: &This<Block>, exchange: u32) {
    this.with(|block| {
        for ((way, neighbour), edge) in block.neighbours().zip(&block.edges) {
            neighbour.receive(exchange, way.back(), block.inside.clone().only(edge));
        }
    });
    for _ in Way::all() {
        let (_, from, points) = this.when(Block::receive).reference(exchange).await;
        this.with(|block| land(&mut block.ghosts[from.number()], points.rows()));
    }
}

async fn by_hand(this: &This<Block>, exchange: u32) {
    this.with(|block| {
        for ((way, neighbour), edge) in block.neighbours().zip(&block.edges) {
            let rows: Vec<&[f64]> = block.inside.rows_in(edge).collect();
            neighbour.receive_packed(exchange, way.back(), rows.concat());
        }
    });
    for _ in Way::all() {
        let (_, from, points) = this.when(Block::receive_packed).reference(exchange).await;
        this.with(|block| land(&mut block.ghosts[from.number()], std::iter::once(&points[..])));
    }
}

fn fill(part: &mut PartMut<f64>, points: impl Iterator<Item = f64>) {
    part.rows_mut().flatten().zip(points).for_each(|(point, value)| *point = value);
}

/// Copies as many points, however they are cut into rows.
fn land<'a>(ghosts: &mut PartMut<f64>, mut rows: impl Iterator<Item = &'a [f64]>) {
    let mut points: &[f64] = &[];
    for mut row in ghosts.rows_mut() {
        while !row.is_empty() {
            if points.is_empty() {
                points = rows.next().expect("an edge has as many points as its ghosts");
            }
            let count = row.len().min(points.len());
            let (now, later) = points.split_at(count);
            row[..count].copy_from_slice(now);
            (row, points) = (&mut row[count..], later);
        }
    }
}
