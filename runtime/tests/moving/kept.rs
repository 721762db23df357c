//! Elements that are kept from moving, by entries that wait, while balancers wish that they move: each goes on once its sync is over.

use super::balanced::balanced;
use super::every_path::on_every_path;
use super::{SHAPES, somewhere};
use chare::prelude::*;
use chare::{Again, ThisInSyncs, ThisMigrant};
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicU64, Ordering};

const RUNNERS: u64 = 6;

/// How often runners have come to a sync, in the job that runs.
static COME: AtomicU64 = AtomicU64::new(0);

/// Comes to a sync again and again, while others keep it from moving and balancers wish that it moves.
#[derive(Serialize, Deserialize)]
struct Runner {
    /// Whether it asks for balancings between syncs, too.
    balances: bool,
    syncs: u64,
    done: Callback<u64>,
}

#[chare(array, migrate, sync)]
impl Runner {
    #[entry]
    fn new(balances: bool, done: Callback<u64>) -> Self {
        Self { balances, syncs: 0, done }
    }

    #[entry]
    fn step(&mut self) {
        let come = COME.load(Ordering::SeqCst);
        assert!(come >= RUNNERS * self.syncs, "{come} have come, and one goes on from sync {}", self.syncs);
        if self.syncs == 6 {
            return self.contribute(sum(1), self.done);
        }
        self.syncs += 1;
        COME.fetch_add(1, Ordering::SeqCst);
        self.sync_then(self.this_chare().step_callback());
        if self.balances {
            chare::balance();
        }
        let [other, messenger] = [0; 2].map(|_| chare::dice().below(RUNNERS));
        self.this_collection().at(other).hold();
        if chare::dice().below(3) == 0 {
            self.this_collection().at(other).go();
        }
        self.this_collection().at(messenger).have_let_go(other);
    }

    /// Comes later than a call of the other one would.
    #[entry]
    fn have_let_go(&self, other: u64) {
        self.this_collection().at(other).let_go();
    }

    #[entry(awaited)]
    fn let_go();

    /// Keeps the runner where it is until somebody lets it go.
    #[entry]
    async fn hold(this: This<Self>) {
        this.when(Self::let_go).await;
    }

    #[entry]
    fn go(&mut self) {
        self.migrate_to(somewhere());
    }
}

#[test]
fn no_balancing_lets_an_element_go_on_before_its_sync_is_over() {
    for (balancer, balances) in [("random", true), ("rotate", false)] {
        balanced(balancer, move || async move {
            COME.store(0, Ordering::SeqCst);
            let (ended, done) = chare::future();
            RunnerProxy::create(RUNNERS, balances, done).step();
            assert_eq!(ended.await, RUNNERS);
        });
    }
}

/// Of an even index: is kept where it is through each sync, until it goes on. Of an odd one: ends where it has come to a sync.
#[derive(Serialize, Deserialize)]
struct Lodger {
    syncs: u64,
    done: Callback<u64>,
}

#[chare(array, migrate, sync)]
impl Lodger {
    #[entry]
    fn new(done: Callback<u64>) -> Self {
        Self { syncs: 0, done }
    }

    #[entry]
    fn step(&mut self) {
        let is_kept = self.this_index().is_multiple_of(2);
        if is_kept && self.syncs > 0 {
            self.this_chare().let_go();
        }
        if self.syncs == 5 {
            return self.contribute(sum(1), self.done);
        }
        self.syncs += 1;
        self.sync_then(self.this_chare().step_callback());
        if is_kept {
            self.this_chare().hold();
        } else if self.this_index() == self.syncs {
            chare::destroy();
        }
    }

    #[entry(awaited)]
    fn let_go();

    #[entry]
    async fn hold(this: This<Self>) {
        this.when(Self::let_go).await;
    }
}

#[test]
fn who_is_kept_from_moving_goes_on_and_who_ends_at_a_sync_is_awaited_no_more() {
    for balancer in ["rotate", "random"] {
        balanced(balancer, || async {
            let (left, done) = chare::future();
            LodgerProxy::create(8, done).step();
            assert_eq!(left.await, 5);
        });
    }
}

/// Keeps a handle of a guest, until it is told that it may go.
#[derive(Default)]
struct Host {
    guest: Option<This<Guest>>,
}

#[chare(group)]
impl Host {
    #[entry]
    fn new() -> Self {
        Self::default()
    }

    #[entry(local)]
    fn keep(&mut self, guest: This<Guest>) {
        self.guest = Some(guest);
    }

    #[entry]
    fn let_go(&mut self) {
        self.guest = None;
    }
}

/// Is kept by the host of its PE: by a handle alone, or also by an entry that may be called again.
#[derive(Serialize, Deserialize)]
struct Guest {
    hosts: HostProxy,
    has_come: bool,
}

#[chare(array, migrate)]
impl Guest {
    #[entry]
    fn new(hosts: HostProxy) -> Self {
        Self { hosts, has_come: false }
    }

    #[entry]
    async fn come(this: This<Self>) {
        let hosts = this.with(|guest| guest.hosts.clone());
        hosts.local().keep(this);
    }

    #[entry]
    async fn stay(this: Again<Self>, done: Callback<()>) {
        let (hosts, is_first) =
            this.with(|guest| (guest.hosts.clone(), !std::mem::replace(&mut guest.has_come, true)));
        if is_first {
            hosts.local().keep(This::clone(&this));
        }
        this.at_rest(this.when(Self::depart)).await;
        this.with(|guest| guest.has_come = false);
        done.send(());
    }

    #[entry(awaited)]
    fn depart();

    #[entry]
    fn leave(&mut self, to: PeId) {
        self.migrate_to(to);
    }

    #[entry]
    fn place(&self) -> PeId {
        chare::my_pe()
    }
}

#[test]
fn quiescence_waits_for_one_of_which_a_handle_was_dropped() {
    on_every_path(&SHAPES, || async {
        let hosts = HostProxy::create();
        let guest = GuestProxy::create(1, hosts.clone()).at(0);
        for stays in [false, true, false, true] {
            let from = guest.place().await;
            let (gone, done) = chare::future();
            if stays {
                guest.stay(done);
            } else {
                guest.come();
            }
            chare::quiescence().await;
            let to = somewhere();
            guest.leave(to);
            chare::quiescence().await;
            assert_eq!(guest.place().await, from, "it is kept");
            hosts.on(from).let_go();
            chare::quiescence().await;
            assert_eq!(guest.place().await, to, "quiescence was told before it had moved");
            if stays {
                guest.depart();
                gone.await;
            }
        }
    });
}
