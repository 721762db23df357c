//! Sections of elements that move: their calls and their reductions.

use super::{SHAPES, somewhere};
use crate::every_path::on_every_path;
use chare::ThisMigrant;
use chare::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
struct Seat {
    called: u64,
}

#[chare(array, index = (u32, u32), migrate)]
impl Seat {
    #[entry]
    fn new() -> Self {
        Self { called: 0 }
    }

    #[entry]
    fn add(&mut self, row: SeatSectionProxy, done: Callback<u64>) {
        self.called += 1;
        self.contribute_to(&row, sum(self.called), done);
        self.migrate_to(somewhere());
    }

    #[entry]
    fn read(&mut self, #[nocopy] values: Received<u32>) {
        assert_eq!(values.iter().sum::<u32>(), 6);
        self.called += 100;
        self.migrate_to(somewhere());
    }
}

#[test]
fn each_member_hears_each_call_of_its_section_once_and_each_sum_is_exact() {
    on_every_path(&SHAPES, || async {
        let seats = SeatProxy::create((3, 4));
        let rows: Vec<_> = (0..3).map(|row| seats.section((0..4).map(move |column| (row, column)))).collect();
        for round in 1..=6 {
            let mut totals = Vec::new();
            for row in &rows {
                let (total, done) = chare::future();
                row.add(row.clone(), done);
                totals.push(total);
            }
            for total in totals {
                assert_eq!(total.await % 100, 4 * round);
            }
        }
        for row in &rows {
            row.read(vec![1, 2, 3]);
        }
        chare::quiescence().await;
        for row in &rows {
            let (total, done) = chare::future();
            row.add(row.clone(), done);
            assert_eq!(total.await, 4 * (100 + 7));
            row.dissolve();
        }
    });
}
