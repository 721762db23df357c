//! Copies from layout to layout that the receiver and the owner of the source make together: what is selected lands where it belongs,
//! whoever copied which part of it, and nobody has to be there for it.

use crate::every_path::on_every_path;
use chare::layout::{Dims, Layout};
use chare::prelude::*;
use chare::{Job, Landing};
use std::sync::atomic::{AtomicBool, Ordering};

/// Planes, rows and elements of the grids.
const GRID: [usize; 3] = [66, 66, 258];

const LEN: usize = GRID[0] * GRID[1] * GRID[2];

/// Stands where nothing lands.
const UNTOUCHED: u64 = u64::MAX;

const CASES: u32 = 7;

/// What is sent of a grid, if not all, and where it lands in another; of the longer the beginning.
fn case(number: u32) -> (Option<Layout<u64>>, Layout<u64>) {
    let grid = Dims::new(GRID);
    let column = |at: usize| grid.select((1..=64, 1..=64, at));
    let vector = |count, block, stride| Layout::vector(count, block, stride).expect("it fits");
    match number {
        0 => (Some(column(256)), column(0)),
        1 => (Some(column(256)), grid.select((1, 1..=16, 1..=256))),
        // Pieces end within the blocks of the other side, and the last of them has no other.
        2 => (Some(vector(65_536, 1, 2)), vector(21_844, 3, 7)),
        3 => (Some(grid.select((1..=40, 1..=40, 100..=140))), vector(32_800, 2, 4)),
        4 => (None, vector(9_001, 11, 13)),
        5 => (Some(grid.select((1..=64, 2, 1..=250))), grid.select((1, 1..=64, 1..=250))),
        _ => {
            let backwards = Layout::strided(&[50_000], &[-3]).and_then(|layout| layout.shifted(150_000));
            (Some(backwards.expect("it fits")), vector(50_000, 1, 5))
        }
    }
}

fn places(layout: &Layout<u64>) -> impl Iterator<Item = usize> + '_ {
    layout.runs().flat_map(|(at, len)| (at as usize / 8)..(at as usize + len as usize) / 8)
}

/// What a landing looks like afterwards.
fn landed((from, to): &(Option<Layout<u64>>, Layout<u64>)) -> Vec<u64> {
    let mut landed = vec![UNTOUCHED; LEN];
    match from {
        Some(from) => places(to).zip(places(from)).for_each(|(to, from)| landed[to] = from as u64),
        None => places(to).zip(0..).for_each(|(to, from)| landed[to] = from),
    }
    landed
}

static HAS_LANDED: AtomicBool = AtomicBool::new(false);

struct Grid {
    landings: u32,
}

#[chare(group)]
impl Grid {
    #[entry]
    fn new() -> Self {
        Self { landings: 0 }
    }

    #[entry]
    fn land(&mut self, number: u32, #[nocopy(post)] data: Posted<u64>, done: Callback<u32>) {
        assert!(data.into_buffer()[..] == landed(&case(number)), "case {number}");
        self.landings += 1;
        HAS_LANDED.store(true, Ordering::Release);
        done.send(number);
    }

    #[post(land)]
    fn post_land(&mut self, number: &u32, data: Post<u64>, _done: &Callback<u32>) {
        let (from, to) = case(*number);
        let mut target = BufferMut::zeroed(LEN);
        target.fill(UNTOUCHED);
        let offered = from.map_or(LEN, |from| from.len());
        assert!(to.len() <= offered, "case {number}");
        data.post(Landing::at(&to, target)).expect("as long as what is sent, or shorter");
    }

    #[entry]
    fn landings(&mut self, answer: Callback<u32>) {
        answer.send(self.landings);
    }

    /// Sends, and does not come back before it has landed.
    #[entry]
    fn send_and_stay(&mut self, number: u32, done: Callback<u32>) {
        HAS_LANDED.store(false, Ordering::Release);
        send(&self.this_collection(), &grid(), number, done);
        while !HAS_LANDED.load(Ordering::Acquire) {
            std::thread::yield_now();
        }
    }
}

/// A grid whose values say where they stand, which neighbours map.
fn grid() -> Buffer<u64> {
    BufferMut::from_fn(LEN, |place| place as u64).freeze()
}

fn send(grids: &GridProxy, grid: &Buffer<u64>, number: u32, done: Callback<u32>) {
    let last = grids.on(PeId(chare::pes() - 1));
    match case(number).0 {
        Some(from) => last.land(number, SendBuffer::from(grid.clone()).only(&from), done),
        None => last.land(number, grid.clone(), done),
    }
}

#[test]
fn what_is_selected_lands_where_it_belongs_and_many_may_be_under_way() {
    on_every_path(&[(2, 1), (2, 2)], || async {
        let (grids, grid) = (GridProxy::create(), grid());
        for number in 0..CASES {
            let (landed, done) = chare::future();
            send(&grids, &grid, number, done);
            assert_eq!(landed.await, number);
        }
        let all: Vec<_> = (0..CASES)
            .map(|number| {
                let (landed, done) = chare::future();
                send(&grids, &grid, number, done);
                landed
            })
            .collect();
        for (number, landed) in all.into_iter().enumerate() {
            assert_eq!(landed.await, number as u32);
        }
    });
}

#[test]
fn there_is_no_quiescence_before_what_is_under_way_has_landed() {
    on_every_path(&[(2, 1)], || async {
        let (grids, grid) = (GridProxy::create(), grid());
        for rounds in 1..=3 {
            (0..CASES).for_each(|number| send(&grids, &grid, number, Callback::ignore()));
            chare::quiescence().await;
            let (landings, answer) = chare::future();
            grids.on(PeId(1)).landings(answer);
            assert_eq!(landings.await, rounds * CASES);
        }
        grid.try_into_mut().expect("nobody holds it any more");
    });
}

#[test]
fn what_all_get_lands_where_each_wants_it() {
    on_every_path(&[(2, 1), (3, 1), (2, 2)], || async {
        let (grids, grid) = (GridProxy::create(), grid());
        for number in 0..CASES {
            match case(number).0 {
                Some(from) => {
                    grids.land(number, SendBuffer::from(grid.clone()).only(&from), Callback::ignore());
                }
                None => grids.land(number, grid.clone(), Callback::ignore()),
            }
        }
        chare::quiescence().await;
        for pe in 0..chare::pes() {
            let (landings, answer) = chare::future();
            grids.on(PeId(pe)).landings(answer);
            assert_eq!(landings.await, CASES, "PE {pe}");
        }
    });
}

#[test]
fn a_receiver_waits_for_no_owner_that_stays_in_its_entry() {
    let code = Job::in_process(2, 1).run(|| async {
        let grids = GridProxy::create();
        for number in [0, 2, 3] {
            let (landed, done) = chare::future();
            grids.on(PeId(0)).send_and_stay(number, done);
            assert_eq!(landed.await, number);
        }
    });
    assert_eq!(code.expect("the job runs"), 0);
}
