//! Cell: the element whose sections the tests form, and what they ask of all cells.

use chare::prelude::*;
use std::sync::Arc;

#[derive(Default)]
pub(super) struct Cell {
    heard: u64,
    kept: Vec<Received<u32>>,
}

#[chare(array, index = (u32, u32))]
impl Cell {
    #[entry]
    pub(super) fn new() -> Self {
        Self::default()
    }

    #[entry]
    pub(super) fn hear(&mut self, amount: u64) {
        self.heard += amount;
    }

    /// Each member contributes its index and the calls that it has heard.
    #[entry]
    pub(super) fn report(&mut self, done: Callback<Vec<((u32, u32), u64)>>) {
        self.contribute(concat([(self.this_index(), self.heard)]), done);
    }

    #[entry]
    pub(super) fn add_up(&mut self, section: CellSectionProxy, times: u64, done: Callback<u64>) {
        for time in 0..times {
            self.contribute_to(&section, sum(u64::from(self.this_index().1) + time), done);
        }
    }

    #[entry]
    pub(super) fn gather(&mut self, section: CellSectionProxy, done: Callback<Vec<(u32, u32)>>) {
        self.contribute_to(&section, set(self.this_index()), done);
    }

    /// The result comes back to all of the section, who say so.
    #[entry]
    pub(super) fn start_all_reduce(&mut self, section: CellSectionProxy) {
        self.contribute_to(&section, sum(1), section.hear_callback());
    }

    #[entry]
    pub(super) async fn start_waiting(this: This<Self>, section: CellSectionProxy, done: Callback<u64>) {
        let (quiet, on_quiet) = chare::future();
        on_quiet.send(());
        let () = quiet.await;
        this.contribute_to(&section, sum(1), done);
    }

    #[entry]
    pub(super) fn take(
        &mut self,
        section: CellSectionProxy,
        seed: u32,
        #[nocopy] data: Received<u32>,
        done: Callback<Vec<(u32, u64)>>,
    ) {
        check(seed, &data);
        let place = (chare::my_node().0, data.as_ptr() as u64);
        // Kept, so that no address is used twice.
        self.kept.push(data);
        self.contribute_to(&section, set(place), done);
    }

    #[entry]
    pub(super) fn let_go(&mut self) {
        self.kept.clear();
    }

    #[entry]
    pub(super) fn land(
        &mut self,
        section: CellSectionProxy,
        seed: u32,
        #[nocopy(post)] data: Posted<u32>,
        done: Callback<u64>,
    ) {
        check(seed, &data);
        self.contribute_to(&section, sum(data.transferred() as u64), done);
    }

    #[post(land)]
    fn post_land(
        &mut self,
        _section: &CellSectionProxy,
        _seed: &u32,
        data: Post<u32>,
        _done: &Callback<u64>,
    ) {
        let len = data.len();
        data.post(vec![0; len]).expect("it is as long");
    }

    /// Each member contributes the address of the one argument that all share.
    #[entry]
    pub(super) fn share(
        &mut self,
        section: CellSectionProxy,
        data: Arc<Vec<u32>>,
        done: Callback<Vec<(u32, u64)>>,
    ) {
        check(5, &data);
        let place = (chare::my_node().0, data.as_ptr() as u64);
        self.contribute_to(&section, set(place), done);
    }

    /// Contributes to several reductions, and goes if that is wished.
    #[entry]
    pub(super) fn contribute_each(
        &mut self,
        section: CellSectionProxy,
        done: Vec<Callback<u64>>,
        leave: bool,
    ) {
        for done in done {
            self.contribute_to(&section, sum(u64::from(self.this_index().1)), done);
        }
        if leave {
            chare::destroy();
        }
    }

    /// Contributes to the sections of its row and to the whole, in turn.
    #[entry]
    pub(super) fn take_turns(&mut self, sections: Vec<CellSectionProxy>, done: Vec<[Callback<u64>; 2]>) {
        let section = &sections[self.this_index().0 as usize];
        for [part, whole] in done {
            self.contribute_to(section, sum(1), part);
            self.contribute(sum(1), whole);
        }
    }

    #[entry]
    pub(super) fn form_and_call(&mut self, all: CellProxy, done: Callback<u64>) {
        let row = self.this_index().0;
        let section = all.section((0..5).map(|column| (row, column)));
        section.add_up(section.clone(), 1, done);
    }
}

pub(super) fn pattern(seed: u32, len: usize) -> Vec<u32> {
    (0..len as u32).map(|position| position.wrapping_mul(2_654_435_761).wrapping_add(seed)).collect()
}

#[track_caller]
pub(super) fn check(seed: u32, data: &[u32]) {
    assert!(data == pattern(seed, data.len()), "wrong data, seed {seed}, {} elements", data.len());
}

pub(super) fn row(number: u32) -> impl Iterator<Item = (u32, u32)> + Clone {
    (0..5).map(move |column| (number, column))
}

pub(super) async fn heard(cells: &CellProxy) -> Vec<((u32, u32), u64)> {
    let (heard, done) = chare::future();
    cells.report(done);
    heard.await.into_iter().filter(|(_, amount)| *amount > 0).collect()
}

pub(super) async fn add_up(section: &CellSectionProxy) -> u64 {
    let (total, done) = chare::future();
    section.add_up(section.clone(), 1, done);
    total.await
}
