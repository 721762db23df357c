//! How do all PEs agree on something, again and again? Lloyd's k-means: points in the plane are spread over an array of chares; in each
//! round every chare adds its points up by the nearest centre, and one reduction makes the next centres.
//!
//! ```text
//! cargo run --release --example kmeans -- --points 1000000 --clusters 20 +n 2 +p 2
//! cargo run --release --example kmeans -- --clusters 5000 --gather --verify +n 2
//! ```
//! With `--gather` the sums of all chares land side by side in one buffer, a row of each, and the centres travel as a nocopy argument, which
//! all chares of a host read where it lies.
//!
//! Coordinates are whole numbers, so the order of additions does not matter. With `--verify` the answer is compared with one PE's, digit by
//! digit, which takes as long as that PE alone does.

use chare::prelude::*;
use chare::{ArrayOptions, Gather, Partition};
use clap::Parser;
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use serde::{Deserialize, Serialize};
use std::process::ExitCode;

/// Finds the centres of clusters of points.
#[derive(Parser, Clone, Debug, Serialize, Deserialize)]
#[command(name = "kmeans", no_binary_name = true)]
struct Options {
    /// Points of each chare
    #[arg(long, default_value_t = 2_000, value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    points: u64,
    /// Chares
    #[arg(long, default_value_t = 12, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    chares: u64,
    /// Clusters to be found
    #[arg(long, default_value_t = 7, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    clusters: u64,
    /// Rounds at most
    #[arg(long, default_value_t = 100)]
    rounds: u64,
    /// Gather the sums of all chares in one buffer, and add them up there
    #[arg(long)]
    gather: bool,
    /// Compare the centres with those that one PE finds
    #[arg(long)]
    verify: bool,
}

type Point = [i64; 2];

/// Points lie in a square with sides of this length, denser around some places.
const SIDE: i64 = 1 << 20;

/// A chare's points, which its number determines.
fn points_of(chare: u64, points: u64) -> Vec<Point> {
    let mut random = SmallRng::seed_from_u64(chare);
    let coordinate = |centre: i64, random: &mut SmallRng| {
        (0..4).map(|_| random.random_range(0..SIDE / 4)).sum::<i64>() / 4 + centre
    };
    let place = |random: &mut SmallRng| [0, 1].map(|_| i64::from(random.random_range(0..4u8)) * SIDE / 4);
    let point = |_| place(&mut random).map(|centre| coordinate(centre, &mut random));
    (0..points).map(point).collect()
}

/// Where the search begins: on the first points.
fn first_centres(clusters: u64) -> Vec<Point> {
    points_of(u64::MAX, clusters)
}

/// Three numbers a cluster: the sums of its points' coordinates, and how many points it has.
fn add_up(points: &[Point], centres: &[Point]) -> Vec<i64> {
    let mut sums = vec![0; centres.len() * 3];
    for point in points {
        let distance = |centre: &Point| (0..2).map(|axis| (point[axis] - centre[axis]).pow(2)).sum::<i64>();
        let nearest = (0..centres.len()).min_by_key(|cluster| distance(&centres[*cluster]));
        if let Some(cluster) = nearest {
            let sum = &mut sums[cluster * 3..][..3];
            sum.iter_mut().zip([point[0], point[1], 1]).for_each(|(sum, more)| *sum += more);
        }
    }
    sums
}

/// The centres of what was added up; a cluster without points stays where it is.
fn next_centres(centres: &[Point], sums: &[i64]) -> Vec<Point> {
    let next = |(centre, sums): (&Point, &[i64])| match sums[2] {
        0 => *centre,
        count => [sums[0] / count, sums[1] / count],
    };
    centres.iter().zip(sums.chunks(3)).map(next).collect()
}

#[derive(Serialize, Deserialize)]
struct Block {
    points: Vec<Point>,
}

#[chare(array, migrate)]
impl Block {
    #[entry]
    fn new(points: u64) -> Self {
        Self { points: points_of(chare::this_index(), points) }
    }

    #[entry]
    fn assign(&mut self, centres: Vec<Point>, sums: Callback<Vec<i64>>) {
        self.contribute(sum(add_up(&self.points, &centres)), sums);
    }

    #[entry]
    fn assign_in_place(&mut self, #[nocopy] centres: Received<Point>, sums: Gather<i64>) {
        sums.put(self.this_index(), add_up(&self.points, &centres));
    }
}

/// How the sums of all chares come together.
enum Collection {
    Reduction,
    /// In a buffer with a row for each chare.
    Gather(Partition<i64>, BufferMut<i64>),
}

impl Collection {
    fn new(options: &Options) -> Self {
        if !options.gather {
            return Self::Reduction;
        }
        let (rows, columns) = (options.chares as usize, options.clusters as usize * 3);
        let rows_each = Partition::rows([rows, columns], rows).expect("a row for each");
        Self::Gather(rows_each, BufferMut::zeroed(rows * columns))
    }

    /// Has all chares add up their points. Returns the sums of all.
    async fn collect(&mut self, blocks: &BlockProxy, centres: &[Point]) -> Vec<i64> {
        match self {
            Self::Reduction => {
                let (sums, done) = chare::future();
                blocks.assign(centres.to_vec(), done);
                sums.await
            }
            Self::Gather(rows_each, rows) => {
                let (filled, done) = chare::future::<BufferMut<i64>>();
                let target = std::mem::replace(rows, vec![].into());
                blocks.assign_in_place(centres.to_vec(), Gather::into(target, rows_each, done));
                *rows = filled.await;
                let mut sums = vec![0; centres.len() * 3];
                for row in rows.chunks(sums.len()) {
                    sums.iter_mut().zip(row).for_each(|(sum, more)| *sum += more);
                }
                sums
            }
        }
    }
}

/// The right answer.
fn search_alone(options: &Options) -> Vec<Point> {
    let points: Vec<_> = (0..options.chares).flat_map(|chare| points_of(chare, options.points)).collect();
    let mut centres = first_centres(options.clusters);
    for _ in 0..options.rounds {
        let next = next_centres(&centres, &add_up(&points, &centres));
        if next == centres {
            break;
        }
        centres = next;
    }
    centres
}

async fn run(options: Options) -> bool {
    let blocks = BlockProxy::create(ArrayOptions::new(options.chares), options.points);
    let start = chare::now();
    let mut collection = Collection::new(&options);
    let (mut centres, mut rounds) = (first_centres(options.clusters), 0);
    while rounds < options.rounds {
        rounds += 1;
        let next = next_centres(&centres, &collection.collect(&blocks, &centres).await);
        let is_stable = next == centres;
        centres = next;
        if is_stable {
            break;
        }
    }
    let milliseconds = (chare::now() - start).as_secs_f64() * 1e3;
    let Options { points, chares, clusters, .. } = options;
    println!(
        "{clusters} centres of {} points after {rounds} rounds, {milliseconds:.1} ms on {} PEs",
        points * chares,
        chare::pes()
    );
    if !options.verify {
        return true;
    }
    let expected = search_alone(&options);
    println!("the first lies at {:?}, {:?} expected", centres[0], expected[0]);
    centres == expected
}

fn main() -> ExitCode {
    chare_examples::start::check(run)
}
