//! Floods between nodes that send each other more than they take at once: no node stands still and nothing is lost.

use crate::every_path::{asked_seeds, on_every_path};
use chare::Job;
use chare::prelude::*;

/// More than a window and what may wait before it hold, of one sender.
const MESSAGES: u64 = 110_000;

/// Messages of a flood. A campaign has hundreds of seeds, and draws smaller windows.
fn flood() -> u64 {
    if asked_seeds().is_some() { 3_000 } else { MESSAGES }
}

/// The sum of what a flood brings.
fn brought() -> u64 {
    flood() * (flood() + 1) / 2
}

/// Bytes of a long message that is not lent.
const LONG: usize = 60_000;

struct Basin {
    sum: u64,
}

#[chare(group)]
impl Basin {
    #[entry]
    fn new() -> Self {
        Self { sum: 0 }
    }

    #[entry]
    fn pour(&mut self, into: PeId) {
        let into = self.this_collection().on(into);
        (1..=flood()).for_each(|number| into.drop_in(number));
    }

    #[entry]
    fn drop_in(&mut self, number: u64) {
        self.sum += number;
    }

    #[entry]
    fn drop_in_season(&mut self, number: u64) {
        self.sum += number * chare::readonly::<u64>().as_ref();
    }

    #[entry]
    fn take(&mut self, #[nocopy] data: Received<u8>) {
        self.sum += data.len() as u64;
    }

    /// A message that some networks fetch from its sender, who sends many more before it looks at the network again.
    #[entry]
    fn pour_past_a_long_one(&mut self, into: PeId) {
        let into = self.this_collection().on(into);
        into.take_along(vec![1; LONG]);
        (1..=flood()).for_each(|number| into.drop_in(number));
    }

    #[entry]
    fn take_along(&mut self, data: Vec<u8>) {
        self.sum += data.len() as u64;
    }

    #[entry]
    fn total(&mut self, to: Callback<u64>) {
        let total = std::mem::take(&mut self.sum);
        self.contribute(sum(total), to);
    }
}

async fn total(basins: &BasinProxy) -> u64 {
    chare::quiescence().await;
    let (total, to_total) = chare::future();
    basins.total(to_total);
    total.await
}

/// Each PE floods the next from inside an entry: what comes for it runs only when it has sent all.
#[test]
fn a_circle_of_floods_ends() {
    on_every_path(&[(2, 2)], || async {
        let basins = BasinProxy::create();
        let pes = chare::pes();
        (0..pes).for_each(|pe| basins.on(PeId(pe)).pour(PeId((pe + 1) % pes)));
        assert_eq!(total(&basins).await, u64::from(pes) * brought());
    });
}

/// The same where a mailbox takes few messages: in the circle nobody can wait.
#[test]
fn a_circle_of_floods_of_bounded_mailboxes_ends() {
    for seed in 1..=3 {
        let job = Job::in_process(1, 3).mailbox(10).shuffled(seed).run(|| async {
            let basins = BasinProxy::create();
            let pes = chare::pes();
            (0..pes).for_each(|pe| basins.on(PeId(pe)).pour(PeId((pe + 1) % pes)));
            assert_eq!(total(&basins).await, u64::from(pes) * brought());
        });
        assert_eq!(job.unwrap(), 0);
    }
}

#[test]
fn a_flood_may_overtake_a_long_message() {
    on_every_path(&[(2, 1)], || async {
        let basins = BasinProxy::create();
        basins.on(PeId(0)).pour_past_a_long_one(PeId(1));
        assert_eq!(total(&basins).await, LONG as u64 + brought());
    });
}

/// What `main` has created is called before it is there, and what runs before the first `.await` of `main` finds the readonly values.
#[test]
fn main_may_flood_before_its_first_await() {
    on_every_path(&[(2, 2)], || async {
        chare::set_readonly(3u64);
        let basins = BasinProxy::create();
        let last = basins.on(PeId(chare::pes() - 1));
        (1..=flood()).for_each(|number| last.drop_in_season(number));
        assert_eq!(total(&basins).await, 3 * brought());
    });
}

#[test]
fn readonly_values_come_before_a_flood() {
    let error = Job::in_process(2, 1).run(|| async {
        let last = BasinProxy::create().on(PeId(1));
        (1..=MESSAGES).for_each(|number| last.drop_in(number));
        chare::set_readonly(3u64);
    });
    let told = error.unwrap_err().to_string();
    assert!(told.contains("before it sends more than"), "{told}");
}

/// Fetched messages count, too, and messages longer than all credit go all the same.
#[test]
fn buffers_longer_than_the_credit_arrive() {
    const BUFFERS: usize = 10;
    const LEN: usize = 9 << 20;
    on_every_path(&[(2, 1)], || async {
        let basins = BasinProxy::create();
        chare::quiescence().await;
        let last = basins.on(PeId(chare::pes() - 1));
        (0..BUFFERS).for_each(|_| last.take(vec![1; LEN]));
        basins.take(vec![1; LEN]);
        assert_eq!(total(&basins).await, ((BUFFERS + 2) * LEN) as u64);
    });
}

/// Nodes that are ready first flood those that still wait for others: the flood must not bar the way to what they wait for.
/// Chance decides which node is ready first, hence several jobs.
#[test]
fn floods_of_the_first_reach_nodes_that_still_open() {
    const EACH: u64 = 500;
    for _ in 0..5 {
        on_every_path(&[(6, 1)], || async {
            let basins = BasinProxy::create();
            for _ in 0..EACH {
                basins.drop_in(1);
            }
            assert_eq!(total(&basins).await, EACH * u64::from(chare::pes()));
        });
    }
}
