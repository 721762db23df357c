//! How does a tree search go deep before it goes wide? All ways to place queens so that none attacks another: each chare places one
//! queen and creates a chare for each place that is left in the next row.
//!
//! A chare's priority is its path in the tree, so a PE works on the leftmost branch that it has, finishes it, and needs memory for the
//! depth of the tree only; without priorities it would hold a whole level of it.
//!
//! ```text
//! cargo run --release --example queens -- --queens 12 --grain 6 +n 2 +p 2
//! ```

use chare::prelude::*;
use chare::{CallOptions, Priority};
use clap::Parser;
use serde::{Deserialize, Serialize};
use std::process::ExitCode;

/// How many ways there are, from one queen on; found by many before us (OEIS A000170).
const KNOWN: [u64; 16] =
    [1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2_680, 14_200, 73_712, 365_596, 2_279_184, 14_772_512];

/// Counts the ways to place queens so that none attacks another.
#[derive(Parser, Clone, Serialize, Deserialize)]
#[command(name = "queens", no_binary_name = true)]
struct Options {
    /// Queens, and rows and columns of the board
    #[arg(long, default_value_t = 9, value_parser = clap::value_parser!(u32).range(1..=16))]
    queens: u32,
    /// The last rows, which one chare fills by itself
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(0..=16))]
    grain: u32,
}

/// A board whose first rows have their queens. Bits are columns of the next row.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Board {
    rows_left: u32,
    /// Attacked along columns.
    columns: u32,
    /// Attacked along diagonals that go to the left, and to the right.
    diagonals: [u32; 2],
}

impl Board {
    fn new(queens: u32) -> Self {
        Self { rows_left: queens, columns: 0, diagonals: [0, 0] }
    }

    /// The boards with one more queen, from left to right.
    fn next(self, queens: u32) -> impl Iterator<Item = Self> {
        let attacked = self.columns | self.diagonals[0] | self.diagonals[1];
        (0..queens).map(|column| 1 << column).filter(move |queen| attacked & queen == 0).map(move |queen| {
            Self {
                rows_left: self.rows_left - 1,
                columns: self.columns | queen,
                diagonals: [(self.diagonals[0] | queen) << 1, (self.diagonals[1] | queen) >> 1],
            }
        })
    }

    /// The ways to place all other queens.
    fn count(self, queens: u32) -> u64 {
        if self.rows_left == 0 { 1 } else { self.next(queens).map(|board| board.count(queens)).sum() }
    }
}

/// Counts of a PE: the ways that it has found, and its chares.
struct Tally {
    ways: u64,
    chares: u64,
}

#[chare(group)]
impl Tally {
    #[entry]
    fn new() -> Self {
        Self { ways: 0, chares: 0 }
    }

    #[entry(inline)]
    fn add(&mut self, ways: u64) {
        self.ways += ways;
        self.chares += 1;
    }

    #[entry]
    fn report(&mut self, total: Callback<(u64, u64)>) {
        self.contribute(tuple((sum(self.ways), sum(self.chares))), total);
    }
}

/// One board; gone when it has passed its work on.
struct Search;

#[chare]
impl Search {
    #[entry]
    fn new(board: Board, path: Vec<u32>, tally: TallyProxy) -> Self {
        let Options { queens, grain } = *chare::readonly::<Options>();
        if board.rows_left <= grain {
            tally.local().add(board.count(queens));
        } else {
            tally.local().add(0);
            for (branch, board) in (0..).zip(board.next(queens)) {
                let path = [&path[..], &[branch]].concat();
                let options = CallOptions::new().priority(Priority::bits(&path));
                SearchProxy::create_with(options, board, path, tally.clone());
            }
        }
        chare::destroy();
        Self
    }
}

async fn run(options: Options) -> bool {
    let (queens, start) = (options.queens, chare::now());
    chare::set_readonly(options);
    let tally = TallyProxy::create();
    SearchProxy::create(Board::new(queens), Vec::new(), tally.clone());
    // Nobody knows how many chares there will be: it is over when nothing moves any more.
    chare::quiescence().await;
    let (total, done) = chare::future();
    tally.report(done);
    let (ways, chares) = total.await;
    let (expected, milliseconds) = (KNOWN[queens as usize - 1], (chare::now() - start).as_secs_f64() * 1e3);
    println!(
        "{ways} ways to place {queens} queens, {expected} expected; {chares} chares on {} PEs, {milliseconds:.1} ms",
        chare::pes()
    );
    ways == expected
}

fn main() -> ExitCode {
    chare_examples::start::check(run)
}
