//! Dynamic arrays: elements come and go, whichever PE calls, inserts or destroys them, over every path.

mod audience;
mod bound;
mod counting;
mod creation;
#[path = "../every_path/mod.rs"]
mod every_path;
mod forwarding;
mod homes;
mod on_demand;
mod refusals;

use chare::prelude::*;
use chare::{ArrayOptions, CallOptions, Priority};
use every_path::on_every_path;

/// Nodes and PEs per node.
const SHAPES: [(u32, u32); 4] = [(1, 1), (1, 3), (2, 1), (2, 2)];

struct Account {
    balance: i64,
}

#[chare(array, index = (u32, u32))]
impl Account {
    #[entry]
    fn new(balance: i64) -> Self {
        Self { balance }
    }

    #[entry]
    fn add(&mut self, amount: i64) {
        self.balance += amount;
    }

    #[entry]
    fn report(&mut self, to: Callback<(i64, PeId)>) {
        to.send((self.balance, chare::my_pe()));
    }

    #[entry]
    fn total(&mut self, done: Callback<i64>) {
        self.contribute(sum(self.balance), done);
    }

    #[entry]
    fn total_twice(&mut self, first: Callback<i64>, second: Callback<i64>) {
        self.total(first);
        self.total(second);
    }

    #[entry]
    fn close(&mut self, done: Callback<()>) {
        done.send(());
        chare::destroy();
    }
}

/// One on each PE: does something from there.
struct Clerk {
    accounts: AccountProxy,
}

#[chare(group)]
impl Clerk {
    #[entry]
    fn new(accounts: AccountProxy) -> Self {
        Self { accounts }
    }

    #[entry]
    fn insert(&mut self, index: (u32, u32), balance: i64) {
        self.accounts.at(index).insert(balance);
    }

    #[entry]
    fn insert_on(&mut self, index: (u32, u32), pe: PeId, balance: i64) {
        self.accounts.at(index).insert_on(pe, balance);
    }

    #[entry]
    fn add(&mut self, index: (u32, u32), amount: i64, done: Callback<()>) {
        self.accounts.at(index).add(amount);
        self.contribute(barrier(), done);
    }

    #[entry]
    fn is_local(&mut self, index: (u32, u32), done: Callback<Vec<Option<i64>>>) {
        let balance = self.accounts.at(index).local(|account| account.balance);
        self.contribute(concat([balance]), done);
    }
}

fn pes() -> impl Iterator<Item = PeId> {
    (0..chare::pes()).map(PeId)
}

async fn report(accounts: &AccountProxy, index: (u32, u32)) -> (i64, PeId) {
    let (balance, to) = chare::future();
    accounts.at(index).report(to);
    balance.await
}

async fn total(accounts: &AccountProxy) -> i64 {
    let (total, done) = chare::future();
    accounts.total(done);
    total.await
}

#[test]
fn calls_wait_for_elements_and_find_them_on_any_pe() {
    on_every_path(&SHAPES, || async {
        let accounts = AccountProxy::create_empty(ArrayOptions::empty());
        let clerks = ClerkProxy::create(accounts.clone());
        for (number, pe) in (0..).zip(pes().chain(pes()).chain(pes())) {
            let index = (number, number * number);
            let (added, done) = chare::future();
            clerks.add(index, 1, done);
            added.await;
            let on = PeId((pe.0 + number) % chare::pes());
            clerks.on(pe).insert_on(index, on, 100);
            let everyone = i64::from(chare::pes());
            assert_eq!(report(&accounts, index).await.1, on);
            chare::quiescence().await;
            // By now some remember where it lives, and all have to find it there.
            clerks.add(index, 10, Callback::ignore());
            chare::quiescence().await;
            assert_eq!(report(&accounts, index).await, (100 + 11 * everyone, on));
            let (local, done) = chare::future();
            clerks.is_local(index, done);
            let expected: Vec<Option<i64>> =
                pes().map(|pe| (pe == on).then_some(100 + 11 * everyone)).collect();
            assert_eq!(local.await, expected);
        }
    });
}

#[test]
fn an_index_is_used_again_and_again_wherever_its_elements_live() {
    on_every_path(&SHAPES, || async {
        let accounts = AccountProxy::create_empty(ArrayOptions::empty());
        let clerks = ClerkProxy::create(accounts.clone());
        let index = (3, 1);
        for round in 0..12u32 {
            let on = PeId(round * 7 % chare::pes());
            match round % 3 {
                0 => accounts.at(index).insert(i64::from(round)),
                1 => accounts.at(index).insert_on(on, i64::from(round)),
                _ => clerks.on(on).insert(index, i64::from(round)),
            }
            let (balance, at) = report(&accounts, index).await;
            assert_eq!(balance, i64::from(round));
            if round % 3 == 1 {
                assert_eq!(at, on);
            }
            clerks.add(index, 1, Callback::ignore());
            chare::quiescence().await;
            assert_eq!(report(&accounts, index).await.0, i64::from(round + chare::pes()));
            if round % 2 == 0 {
                accounts.at(index).destroy();
                chare::quiescence().await;
            } else {
                let (closed, done) = chare::future();
                accounts.at(index).close(done);
                closed.await;
                // The news of its end may still be on the way to its home.
                let (answer, to) = chare::future();
                accounts.at(index).report(to);
                accounts.at(index).insert_on(on, -1);
                assert_eq!(answer.await, (-1, on));
                accounts.at(index).destroy();
                chare::quiescence().await;
            }
        }
    });
}

#[test]
fn a_call_that_waited_while_its_element_went_is_for_the_next_of_that_index() {
    on_every_path(&SHAPES, || async {
        let accounts = AccountProxy::create_empty(ArrayOptions::empty());
        let (here, first) = (chare::my_pe(), CallOptions::new().priority(Priority::integer(-1)));
        for number in 0..8 {
            let index = (number, 3);
            let account = accounts.at(index);
            account.insert_on(here, 1);
            assert_eq!(report(&accounts, index).await, (1, here));
            // Both wait in one queue; the second has found the element that the first ends.
            let (closed, done) = chare::future();
            account.with(first.clone()).close(done);
            account.add(5);
            closed.await;
            account.insert_on(here, 10);
            chare::quiescence().await;
            assert_eq!(report(&accounts, index).await, (15, here));
            // A destruction waits as well, and is for one element alone.
            let (closed, done) = chare::future();
            account.with(first.clone()).close(done);
            account.destroy();
            closed.await;
            for balance in [1, 2] {
                account.insert_on(here, balance);
                chare::quiescence().await;
            }
            assert_eq!(report(&accounts, index).await, (2, here));
        }
    });
}

#[test]
fn reductions_count_who_is_there() {
    on_every_path(&SHAPES, || async {
        let accounts = AccountProxy::create_empty(ArrayOptions::empty());
        let clerks = ClerkProxy::create(accounts.clone());
        let mut expected = 0;
        for number in 0..12u32 {
            let from = PeId(number * 5 % chare::pes());
            let on = PeId(number * 3 % chare::pes());
            clerks.on(from).insert_on((number, 7), on, i64::from(number));
            expected += i64::from(number);
            chare::quiescence().await;
            assert_eq!(total(&accounts).await, expected);
            if number % 3 == 2 {
                accounts.at((number - 1, 7)).destroy();
                expected -= i64::from(number - 1);
                chare::quiescence().await;
                let ((first, to_first), (second, to_second)) = (chare::future(), chare::future());
                accounts.total_twice(to_first, to_second);
                assert_eq!((first.await, second.await), (expected, expected));
            }
        }
        accounts.done_inserting();
        chare::quiescence().await;
        assert_eq!(total(&accounts).await, expected);
        accounts.destroy();
        chare::quiescence().await;
    });
}

#[test]
fn a_fixed_array_goes_on_when_a_pe_loses_its_last_element() {
    on_every_path(&SHAPES, || async {
        let accounts = AccountProxy::create((chare::pes(), 2), 0);
        let mut left = i64::from(chare::pes()) * 2;
        assert_eq!(total(&accounts).await, 0);
        accounts.add(1);
        chare::quiescence().await;
        assert_eq!(total(&accounts).await, left);
        for row in (1..chare::pes()).rev() {
            for column in 0..2 {
                accounts.at((row, column)).destroy();
            }
            left -= 2;
            chare::quiescence().await;
            let ((first, to_first), (second, to_second)) = (chare::future(), chare::future());
            accounts.total_twice(to_first, to_second);
            assert_eq!((first.await, second.await), (left, left));
        }
    });
}
