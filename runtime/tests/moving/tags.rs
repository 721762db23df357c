//! Tags of elements that move: a buffer that was posted on one PE is found on the next, and keeps its element in the process.

use super::SHAPES;
use crate::every_path::on_every_path;
use chare::prelude::*;
use chare::{Job, ThisMigrant};
use serde::{Deserialize, Serialize};

/// Posts buffers here, and gets their calls there.
#[derive(Serialize, Deserialize)]
struct Consignee {
    landed: Vec<u64>,
}

#[chare(array, migrate)]
impl Consignee {
    #[entry]
    fn new() -> Self {
        Self { landed: Vec::new() }
    }

    #[entry]
    fn expect(&mut self, tag: u64, len: usize, to: PeId) {
        chare::post_buffer(tag, vec![0_u64; len]).expect("the tag is free");
        self.migrate_to(to);
    }

    #[entry]
    fn land(&mut self, _tag: u64, #[nocopy(post)] goods: Posted<u64>) -> (u64, u32) {
        self.landed.extend(goods.iter());
        (goods.iter().sum(), chare::my_pe().0)
    }

    #[post(land)]
    fn post_land(&mut self, tag: &u64, goods: Post<u64>) {
        goods.match_tag(*tag).expect("one call at a time");
    }

    #[entry]
    fn give_up(&mut self, tag: u64) -> usize {
        chare::cancel_buffer::<u64>(tag).map_or(0, |buffer| buffer.len())
    }

    #[entry]
    fn place(&mut self) -> u32 {
        chare::my_pe().0
    }

    #[entry]
    fn end(&mut self, done: Callback<()>) {
        done.send(());
        chare::destroy();
    }
}

#[test]
fn a_buffer_that_was_posted_before_a_move_is_found_after_it() {
    on_every_path(&SHAPES, || async {
        let consignee = ConsigneeProxy::create(2).at(0);
        let pes = chare::pes();
        for round in 0..6_u64 {
            let to = PeId((round as u32 + 1) % pes);
            let len = if round % 2 == 0 { 10 } else { 30_000 };
            consignee.expect(7, len, to);
            chare::quiescence().await;
            let (sum, _) = consignee.land(7, vec![round; len]).await;
            assert_eq!(sum, round * len as u64);
            chare::quiescence().await;
            assert_eq!(consignee.place().await, to.0, "nothing keeps it any more");
        }
        consignee.expect(8, 5, PeId(pes - 1));
        chare::quiescence().await;
        assert_eq!((consignee.give_up(8).await, consignee.give_up(8).await), (5, 0));
    });
}

#[test]
fn tags_of_two_elements_on_one_pe_are_two() {
    on_every_path(&SHAPES, || async {
        let consignees = ConsigneeProxy::create(2);
        for element in 0..2 {
            consignees.at(element).expect(7, 3, PeId(0));
        }
        chare::quiescence().await;
        for element in 0..2 {
            let (sum, _) = consignees.at(element).land(7, vec![element + 1; 3]).await;
            assert_eq!(sum, 3 * (element + 1));
        }
        let (ended, done) = chare::future();
        consignees.at(1).expect(9, 3, PeId(0));
        chare::quiescence().await;
        consignees.at(1).end(done);
        ended.await;
    });
}

#[test]
fn inside_a_process_a_posted_buffer_goes_along() {
    let job = Job::in_process(1, 3).run(|| async {
        let consignee = ConsigneeProxy::create(1).at(0);
        for hop in 1..=4 {
            let tag = u64::from(hop);
            consignee.expect(tag, 4, PeId(hop % 3));
            chare::quiescence().await;
            assert_eq!(consignee.place().await, hop % 3);
        }
        for tag in 1..=4 {
            assert_eq!(consignee.land(tag, vec![tag; 4]).await.0, 4 * tag);
        }
    });
    assert_eq!(job.unwrap(), 0);
}
