//! Bound arrays: elements live with those that they are bound to; and local access, by which a program reaches elements of its PE without a
//! message.

use crate::every_path::on_every_path;
use crate::{AccountProxy, SHAPES};
use chare::prelude::*;
use chare::{ArrayOptions, Job};

pub(crate) struct Shadow {
    follows: AccountProxy,
}

#[chare(array, index = (u32, u32))]
impl Shadow {
    #[entry]
    pub(crate) fn new(follows: AccountProxy) -> Self {
        Self { follows }
    }

    /// The account beside it, which is on the same PE.
    #[entry]
    pub(crate) fn look(&mut self, done: Callback<i64>) {
        let balance = self.follows.at(self.this_index()).local(|account| {
            account.balance += 1;
            account.balance
        });
        self.contribute(sum(balance.expect("a bound element lives with the one it is bound to")), done);
    }
}

#[test]
fn bound_elements_live_together() {
    on_every_path(&SHAPES, || async {
        let accounts = AccountProxy::create((4, 3), 0);
        let shadows = ShadowProxy::create(ArrayOptions::new((4, 3)).bind_to(&accounts), accounts.clone());
        let (sum, done) = chare::future();
        shadows.look(done);
        assert_eq!(sum.await, 12);

        let accounts = AccountProxy::create_empty(ArrayOptions::empty());
        let shadows = ShadowProxy::create_empty(ArrayOptions::empty().bind_to(&accounts));
        for number in 0..9 {
            let on = PeId(number % chare::pes());
            accounts.at((number, number)).insert_on(on, i64::from(number));
        }
        chare::quiescence().await;
        for number in 0..9 {
            shadows.at((number, number)).insert(accounts.clone());
        }
        chare::quiescence().await;
        let (sum, done) = chare::future();
        shadows.look(done);
        assert_eq!(sum.await, 36 + 9);
    });
}

struct Nested;

#[chare(array)]
impl Nested {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry]
    fn enter(&mut self, other: u64) {
        let all = self.this_collection();
        let seen = all.at(other).local(|_| all.at(other).local(|_| ()).is_some());
        assert_eq!(seen, None);
    }

    /// Contributes in the name of another element, and has it go.
    #[entry]
    fn act_for(&mut self, other: u64, done: Callback<Vec<u64>>) {
        let all = self.this_collection();
        let acted = all.at(other).local(|nested| {
            assert_eq!(nested.this_index(), other);
            nested.contribute(concat([other]), done);
            chare::destroy();
        });
        assert_eq!(acted, Some(()));
        assert_eq!(all.at(other).local(|_| ()), None, "it is gone");
        self.contribute(concat([self.this_index()]), done);
    }
}

#[test]
fn an_element_is_reached_without_a_message_by_one_at_a_time() {
    for other in [0, 1] {
        let itself = Job::in_process(1, 1).run(move || async move {
            NestedProxy::create(2).at(0).enter(other);
            chare::future::<()>().0.await;
        });
        let text = itself.unwrap_err().to_string();
        assert!(text.contains("Nested::local of member") && text.contains("borrowed already"), "{text}");
    }
    let code = Job::in_process(1, 1).run(|| async {
        let nested = NestedProxy::create(2);
        let (indices, done) = chare::future();
        nested.at(0).act_for(1, done);
        assert_eq!(indices.await, [0, 1]);
    });
    assert_eq!(code.unwrap(), 0);
}
