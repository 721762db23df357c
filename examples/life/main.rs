//! How does an array hold something that has no bounds? Conway's Game of Life on an infinite plane: every element is a cell that lives
//! or touches one that does. Cells come into being when a neighbour calls them, and go when nothing lives around them.
//!
//! ```text
//! cargo run --release --example life -- --generations 300 +n 2 +p 2
//! cargo run --release --example life -- +p 4 +balancer greedy_refine +balance_every 20ms
//! ```
//! Cells may move at any time: there is no sync, and none is needed.
//!
//! The start is the R-pentomino, five cells that grow for a thousand generations. The answer is compared with one PE's.

use chare::ArrayOptions;
use chare::prelude::*;
use clap::Parser;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use std::process::ExitCode;

/// Plays the Game of Life on an infinite plane.
#[derive(Parser)]
#[command(name = "life", no_binary_name = true)]
struct Options {
    /// Generations to play
    #[arg(long, default_value_t = 100)]
    generations: u32,
}

type Place = (i64, i64);

/// The cells that live in the beginning.
const START: [Place; 5] = [(0, 0), (0, 1), (1, -1), (1, 0), (2, 0)];

/// More cells than these fill more than a screen: they are counted and not shown.
const SHOWN_MAX: usize = 250;

fn around((x, y): Place) -> impl Iterator<Item = Place> {
    let square = (-1..=1).flat_map(move |right| (-1..=1).map(move |up| (x + right, y + up)));
    square.filter(move |place| *place != (x, y))
}

/// Whether a cell lives in the next generation.
fn lives_on(lives: bool, neighbours: u32) -> bool {
    neighbours == 3 || (lives && neighbours == 2)
}

#[derive(Default, Serialize, Deserialize)]
struct Cell {
    lives: bool,
    neighbours: u32,
}

#[chare(array, index = (i64, i64), migrate)]
impl Cell {
    #[entry]
    fn new() -> Self {
        Self::default()
    }

    /// Makes the cell live.
    #[entry(create_home)]
    fn wake(&mut self) {
        self.lives = true;
    }

    /// A neighbour lives.
    #[entry(create_home)]
    fn notice(&mut self) {
        self.neighbours += 1;
    }

    /// Tells all neighbours, if this cell lives.
    #[entry]
    fn show(&mut self) {
        if self.lives {
            let cells = self.this_collection();
            around(self.this_index()).for_each(|place| cells.at(place).notice());
        }
    }

    /// Goes on to the next generation.
    #[entry]
    fn turn(&mut self) {
        self.lives = lives_on(self.lives, std::mem::take(&mut self.neighbours));
        if !self.lives {
            chare::destroy();
        }
    }

    #[entry]
    fn report(&mut self, living: Callback<Vec<Place>>) {
        self.contribute(set(self.this_index()), living);
    }
}

/// The right answer.
fn play_alone(generations: u32) -> Vec<Place> {
    let mut living = HashSet::from(START);
    for _ in 0..generations {
        let mut neighbours = HashMap::<Place, u32>::new();
        living.iter().copied().flat_map(around).for_each(|place| *neighbours.entry(place).or_default() += 1);
        let next = neighbours.into_iter().filter(|(place, count)| lives_on(living.contains(place), *count));
        living = next.map(|(place, _)| place).collect();
    }
    let mut living: Vec<_> = living.into_iter().collect();
    living.sort_unstable();
    living
}

/// The rectangle around the living cells, a character for each place.
fn draw(living: &[Place]) -> String {
    let bounds = |axis: fn(&Place) -> i64| {
        let (least, most) = (living.iter().map(axis).min(), living.iter().map(axis).max());
        least.unwrap_or(0)..=most.unwrap_or(0)
    };
    let (columns, rows) = (bounds(|place| place.0), bounds(|place| place.1));
    let line = |row| {
        let columns = columns.clone();
        columns.map(move |column| if living.binary_search(&(column, row)).is_ok() { '#' } else { '.' })
    };
    rows.rev().flat_map(|row| line(row).chain(['\n'])).collect()
}

async fn run(Options { generations }: Options) -> bool {
    let start = chare::now();
    let cells = CellProxy::create_empty(ArrayOptions::empty());
    START.iter().for_each(|place| cells.at(*place).wake());
    chare::quiescence().await;
    for _ in 0..generations {
        // Nobody knows how many cells there are: a step is over when nothing moves any more.
        cells.show();
        chare::quiescence().await;
        cells.turn();
        chare::quiescence().await;
    }
    let (living, done) = chare::future();
    cells.report(done);
    let living = living.await;
    let milliseconds = (chare::now() - start).as_secs_f64() * 1e3;
    let expected = play_alone(generations);
    if living.len() <= SHOWN_MAX {
        print!("{}", draw(&living));
    }
    println!(
        "{} cells live after {generations} generations, {} expected; {milliseconds:.1} ms on {} PEs",
        living.len(),
        expected.len(),
        chare::pes()
    );
    living == expected
}

fn main() -> ExitCode {
    chare_examples::start::check(run)
}
