//! Posts of elements that go: a call whose post method has run ends with its element, one that comes later is the next element's, and nobody
//! is hurt by what was posted for the one that went.

use crate::every_path::on_every_path;
use crate::{ROOM, SHORT, check, pattern};
use chare::ArrayOptions;
use chare::prelude::*;
use serde::{Deserialize, Serialize};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Goes when it is asked to, which calls it once more, and is there again for that call.
struct Passer;

#[chare(array)]
impl Passer {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry(create_home)]
    fn leave(&mut self, len: usize, landed: Callback<usize>) {
        self.this_chare().land(pattern(len), landed);
        chare::destroy();
    }

    #[entry(create_home)]
    fn land(&mut self, #[nocopy(post)] data: Posted<u32>, landed: Callback<usize>) {
        check(&data);
        landed.send(data.len());
    }

    #[post(land)]
    fn post_land(&mut self, data: Post<u32>, _landed: &Callback<usize>) {
        let len = data.len();
        data.post(vec![0; len]).expect("it is as long");
    }
}

#[test]
fn a_posted_call_that_comes_as_its_element_goes_runs_in_the_next_one() {
    on_every_path(&[(1, 2), (2, 1)], || async {
        let passers = PasserProxy::create(ArrayOptions::listed([]).dynamic());
        for len in SHORT {
            for index in 0..4 {
                let (landed, on_landed) = chare::future();
                passers.at(index).leave(len, on_landed);
                assert_eq!(landed.await, len);
            }
        }
    });
}

/// How many were constructed.
static TENANTS: AtomicUsize = AtomicUsize::new(0);

/// Is there again for a call that comes.
struct Tenant;

#[chare(array)]
impl Tenant {
    #[entry]
    fn new() -> Self {
        TENANTS.fetch_add(1, Ordering::Relaxed);
        Self
    }

    #[entry(create_home)]
    fn land(&mut self, begun: Callback<()>, #[nocopy(post)] data: Posted<u32>) {
        let _ = begun;
        check(&data);
    }

    #[post(land)]
    fn post_land(&mut self, begun: &Callback<()>, data: Post<u32>) {
        let len = data.len();
        data.post(vec![0; len]).expect("it is as long");
        begun.send(());
    }
}

#[test]
fn a_call_that_lands_as_its_element_goes_creates_no_other() {
    on_every_path(&[(1, 1), (1, 2), (2, 1)], || async {
        TENANTS.store(0, Ordering::Relaxed);
        let tenants = TenantProxy::create(ArrayOptions::listed([]).dynamic());
        for index in 0..2 {
            let (begun, on_begun) = chare::future();
            tenants.at(index).land(on_begun, pattern(1 << 18));
            begun.await;
            tenants.at(index).destroy();
            chare::quiescence().await;
            assert_eq!(TENANTS.load(Ordering::Relaxed) as u64, index + 1);
        }
    });
}

/// The keepers that have kept a post, one bit for each.
static KEPT: AtomicUsize = AtomicUsize::new(0);

/// The first keeper of an index keeps the post of its first call until it is destroyed.
struct Keeper {
    kept: Option<Post<u32>>,
}

#[chare(array)]
impl Keeper {
    #[entry]
    fn new() -> Self {
        Self { kept: None }
    }

    #[entry(create_home)]
    fn land(&mut self, kept: Callback<()>, #[nocopy(post)] data: Posted<u32>, landed: Callback<usize>) {
        let _ = kept;
        check(&data);
        landed.send(data.len());
    }

    #[post(land)]
    fn post_land(&mut self, kept: &Callback<()>, data: Post<u32>, _landed: &Callback<usize>) {
        let own = 1 << chare::this_index::<u64>();
        if KEPT.fetch_or(own, Ordering::Relaxed) & own == 0 {
            self.kept = Some(data);
            kept.send(());
        } else {
            let len = data.len();
            data.post(vec![0; len]).expect("it is as long");
        }
    }
}

#[test]
fn a_call_whose_post_goes_with_its_element_ends_with_it() {
    on_every_path(&[(1, 2), (2, 1)], || async {
        KEPT.store(0, Ordering::Relaxed);
        let keepers = KeeperProxy::create(ArrayOptions::listed([]).dynamic());
        for (index, len) in [(0, 5), (1, ROOM), (2, 5), (3, ROOM)] {
            let ((kept, on_kept), (sent, on_sent)) = (chare::future(), chare::future::<Sent<u32>>());
            let data = SendBuffer::from(pattern(len)).on_sent(on_sent);
            keepers.at(index).land(on_kept, data, Callback::ignore());
            kept.await;
            keepers.at(index).destroy();
            assert_eq!(sent.await.len(), len);
            chare::quiescence().await;
            let (landed, on_landed) = chare::future();
            keepers.at(index).land(Callback::ignore(), pattern(len), on_landed);
            assert_eq!(landed.await, len, "the next one's");
        }
    });
}

/// What becomes of the post that is not kept.
#[derive(Clone, Copy, Serialize, Deserialize)]
enum Other {
    /// It is given away, and a buffer comes for it later.
    Away,
    /// It waits for a buffer under the tag of its element.
    Tagged,
}

/// As `KEPT`, of the pairs, by what becomes of the other post.
static KEPT_OF_TWO: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];

/// The posts that pairs have given away.
static AWAY: Mutex<Option<Post<u32>>> = Mutex::new(None);

/// The first pair of an index keeps one of the two posts of its first call until it is destroyed.
struct Pair {
    kept: Option<Post<u32>>,
}

#[chare(array)]
impl Pair {
    #[entry]
    fn new() -> Self {
        Self { kept: None }
    }

    #[entry(create_home)]
    fn land(
        &mut self,
        kept: Callback<()>,
        other: Other,
        #[nocopy(post)] one: Posted<u32>,
        #[nocopy(post)] two: Posted<u32>,
        landed: Callback<usize>,
    ) {
        let _ = (kept, other);
        check(&one);
        check(&two);
        landed.send(one.len() + two.len());
    }

    #[post(land)]
    fn post_land(
        &mut self,
        kept: &Callback<()>,
        other: &Other,
        one: Post<u32>,
        two: Post<u32>,
        _landed: &Callback<usize>,
    ) {
        let (index, len) = (chare::this_index::<u64>(), one.len());
        let own = 1 << index;
        let is_first = KEPT_OF_TWO[*other as usize].fetch_or(own, Ordering::Relaxed) & own == 0;
        match other {
            Other::Away if is_first => *AWAY.lock().expect("nobody panics") = Some(two),
            Other::Away => two.post(vec![0; len]).expect("it is as long"),
            Other::Tagged => two.match_node_tag(index).expect("the first call has left its tag"),
        }
        if is_first {
            self.kept = Some(one);
            return kept.send(());
        }
        one.post(vec![0; len]).expect("it is as long");
        if matches!(other, Other::Tagged) {
            self.this_chare().give(len);
        }
    }

    #[entry]
    fn give(&mut self, len: usize) {
        chare::post_node_buffer(chare::this_index(), vec![0_u32; len]).expect("it fits");
    }
}

/// Calls pairs of which the first ones go with a post that they keep; `afterwards` runs when the next ones have got a call of their own.
fn first_ones_go(other: Other, afterwards: fn(usize)) {
    on_every_path(&[(1, 2), (2, 1)], move || async move {
        KEPT_OF_TWO[other as usize].store(0, Ordering::Relaxed);
        let pairs = PairProxy::create(ArrayOptions::listed([]).dynamic());
        for (index, len) in [(0, 5), (1, ROOM), (2, 5), (3, ROOM)] {
            let ((kept, on_kept), (landed, on_landed)) = (chare::future(), chare::future());
            pairs.at(index).land(on_kept, other, pattern(len), pattern(len), Callback::ignore());
            kept.await;
            pairs.at(index).destroy();
            chare::quiescence().await;
            pairs.at(index).land(Callback::ignore(), other, pattern(len), pattern(len), on_landed);
            assert_eq!(landed.await, 2 * len);
            afterwards(len);
        }
        chare::quiescence().await;
    });
}

#[test]
fn a_buffer_for_a_call_that_went_with_its_element_is_dropped() {
    first_ones_go(Other::Away, |len| {
        let away = AWAY.lock().expect("nobody panics").take().expect("it was given away");
        away.post(vec![0; len]).expect("it is as long");
    });
}

#[test]
fn a_call_that_goes_with_its_element_leaves_its_tags() {
    first_ones_go(Other::Tagged, |_| ());
}
