//! Bound arrays: elements live with those that they are bound to.

use crate::every_path::on_every_path;
use crate::{AccountProxy, SHAPES};
use chare::ArrayOptions;
use chare::prelude::*;

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
