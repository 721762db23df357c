//! Trees of chares.

use chare::prelude::*;

const GRAIN: u32 = 10;

struct Fib;

#[chare]
impl Fib {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry]
    async fn compute(_this: This<Self>, n: u32) -> u64 {
        let value = if n < GRAIN {
            (0..n).fold((0, 1), |(current, next), _| (next, current + next)).0
        } else {
            let (left, right) = (FibProxy::create().compute(n - 1), FibProxy::create().compute(n - 2));
            left.await + right.await
        };
        chare::destroy();
        value
    }
}

pub(crate) async fn fibonacci() {
    assert_eq!(FibProxy::create().compute(20).await, 6765);
}

const QUEENS: u32 = 9;
const WAYS: u64 = 352;
const ROWS_ALONE: usize = 5;

struct Tally {
    ways: u64,
}

#[chare(group)]
impl Tally {
    #[entry]
    fn new() -> Self {
        Self { ways: 0 }
    }

    #[entry(inline)]
    fn add(&mut self, ways: u64) {
        self.ways += ways;
    }

    #[entry]
    fn report(&mut self, total: Callback<u64>) {
        self.contribute(sum(self.ways), total);
    }
}

/// A queen in each of the first rows, by column.
type Board = Vec<u32>;

fn next(board: &Board) -> impl Iterator<Item = Board> {
    let is_free = |column: &u32| {
        let attacks = |(row, other): (usize, &u32)| {
            let rows = (board.len() - row) as u32;
            other == column || other.abs_diff(*column) == rows
        };
        !board.iter().enumerate().any(attacks)
    };
    (0..QUEENS).filter(is_free).map(|column| [&board[..], &[column]].concat())
}

fn count(board: &Board) -> u64 {
    if board.len() == QUEENS as usize { 1 } else { next(board).map(|board| count(&board)).sum() }
}

struct Search;

#[chare]
impl Search {
    #[entry]
    fn new(board: Board, tally: TallyProxy) -> Self {
        if board.len() + ROWS_ALONE >= QUEENS as usize {
            tally.local().add(count(&board));
        } else {
            next(&board).for_each(|board| drop(SearchProxy::create(board, tally.clone())));
        }
        chare::destroy();
        Self
    }
}

pub(crate) async fn queens() {
    let tally = TallyProxy::create();
    SearchProxy::create(Board::new(), tally.clone());
    // Were this early, the sum would be too small.
    chare::quiescence().await;
    let (ways, done) = chare::future();
    tally.report(done);
    assert_eq!(ways.await, WAYS);
}
