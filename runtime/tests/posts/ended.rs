//! Calls that wait for their buffers at an element which is destroyed: they end with it, whoever destroys it and when, and nobody waits for
//! them. An element that is inserted under its index never sees them.

use crate::every_path::on_every_path;
use crate::{ROOM, check, pattern};
use chare::ArrayOptions;
use chare::prelude::*;
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use serde::{Deserialize, Serialize};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// Elements of a buffer whose copy takes several steps.
const LONG: usize = 1 << 18;

const ELEMENTS: u64 = 4;

/// What a post method does with its post.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Manner {
    /// It gives a buffer.
    Post,
    /// It leaves the post with the element, which gives a buffer when it is asked for one.
    Keep,
    /// It gives the post away; a buffer comes later, or the post is dropped.
    GiveAway,
    /// It destroys its element, and gives a buffer.
    Destroy,
}

/// The time of elements that are counted: tests run side by side.
const COUNTED: u64 = 100;

/// How many of these were constructed, and the posts that elements have given away.
static BORN: AtomicU64 = AtomicU64::new(0);
static AWAY: Mutex<Vec<Post<u32>>> = Mutex::new(Vec::new());

/// An element of one time, which numbers the elements of an index.
struct Field {
    time: u64,
    gone: Callback<()>,
    /// For each call whose post method has run, the time of the element for which it ran.
    posted: Vec<u64>,
    kept: Vec<Post<u32>>,
}

impl Drop for Field {
    fn drop(&mut self) {
        std::mem::replace(&mut self.gone, Callback::ignore()).send(());
    }
}

#[chare(array)]
impl Field {
    #[entry]
    fn new(time: u64, gone: Callback<()>) -> Self {
        BORN.fetch_add(u64::from(time == COUNTED), Ordering::Relaxed);
        Self { time, gone, posted: Vec::new(), kept: Vec::new() }
    }

    #[entry]
    fn land(&mut self, manner: Manner, begun: Vec<Callback<()>>, #[nocopy(post)] data: Posted<u32>) {
        let _ = (manner, begun);
        check(&data);
        assert_eq!(self.posted.pop(), Some(self.time), "its post method ran for this element");
    }

    #[post(land)]
    fn post_land(&mut self, manner: &Manner, begun: &[Callback<()>], data: Post<u32>) {
        self.posted.push(self.time);
        let room = vec![0; data.len()];
        match manner {
            Manner::Post => data.post(room).expect("it is as long"),
            Manner::Keep => self.kept.push(data),
            Manner::GiveAway => AWAY.lock().expect("nobody panics").push(data),
            Manner::Destroy => {
                chare::destroy();
                data.post(room).expect("it is as long");
            }
        }
        begun[chare::this_index::<u64>() as usize].send(());
    }

    #[entry]
    fn count(&mut self, begun: Callback<()>, #[nocopy(post)] data: Posted<u32>) -> usize {
        let _ = begun;
        data.len()
    }

    #[post(count)]
    fn post_count(&mut self, begun: &Callback<()>, data: Post<u32>) {
        self.kept.push(data);
        begun.send(());
    }

    /// Gives the posts that it has kept their buffers.
    #[entry]
    fn give(&mut self) {
        for post in self.kept.drain(..) {
            let room = vec![0; post.len()];
            post.post(room).expect("it is as long");
        }
    }

    #[entry]
    fn leave(&mut self) {
        chare::destroy();
    }
}

/// How elements are called.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Called {
    One,
    All,
    Section,
}

const CALLED: [Called; 3] = [Called::One, Called::All, Called::Section];

impl Called {
    fn call(self, fields: &FieldProxy, manner: Manner, begun: Vec<Callback<()>>, data: SendBuffer<u32>) {
        match self {
            Self::One => fields.at(1).land(manner, begun, data),
            Self::All => fields.land(manner, begun, data),
            Self::Section => fields.section([0, 1, 3]).land(manner, begun, data),
        }
    }

    fn includes(self, index: u64) -> bool {
        match self {
            Self::One => index == 1,
            Self::All => true,
            Self::Section => index != 2,
        }
    }

    /// Calls the fields, and waits until the post methods of all that are called have run. Returns what becomes of the buffer.
    async fn begin(self, fields: &FieldProxy, manner: Manner, len: usize) -> chare::Future<Sent<u32>> {
        let (begun, on_begun): (Vec<_>, Vec<_>) = (0..ELEMENTS).map(|_| chare::future()).unzip();
        let (sent, on_sent) = chare::future::<Sent<u32>>();
        self.call(fields, manner, on_begun, SendBuffer::from(pattern(len)).on_sent(on_sent));
        for (_, begun) in (0..).zip(begun).filter(|(index, _)| self.includes(*index)) {
            begun.await;
        }
        sent
    }
}

const SHAPES: [(u32, u32); 3] = [(1, 1), (1, 2), (2, 1)];

#[test]
fn a_call_that_lands_as_its_element_is_destroyed_ends_with_it() {
    on_every_path(&SHAPES, || async {
        for (called, len) in CALLED.into_iter().flat_map(|called| [(called, ROOM), (called, LONG)]) {
            for destroys_itself in [false, true] {
                BORN.store(0, Ordering::Relaxed);
                let listed = ArrayOptions::listed(0..ELEMENTS).dynamic();
                let fields = FieldProxy::create(listed, COUNTED, Callback::ignore());
                let sent = called.begin(&fields, Manner::Post, len).await;
                if destroys_itself {
                    fields.at(1).leave();
                } else {
                    fields.at(1).destroy();
                }
                assert_eq!(sent.await.len(), len);
                chare::quiescence().await;
                assert_eq!(BORN.load(Ordering::Relaxed), ELEMENTS, "nobody comes back");
            }
        }
    });
}

/// Some lives of the elements of an array, all destroyed at the end of each, in orders that the dice choose.
async fn live(dice: &mut ChaCha8Rng) {
    let fields = FieldProxy::create(ArrayOptions::listed([]).dynamic(), 0, Callback::ignore());
    let insert = |time| -> Vec<_> {
        let insert = |index| {
            let (gone, on_gone) = chare::future();
            fields.at(index).insert(time, on_gone);
            gone
        };
        (0..ELEMENTS).map(insert).collect()
    };
    for time in 1..4 {
        let gone = insert(time);
        chare::quiescence().await;
        let called = CALLED[dice.random_range(0..CALLED.len())];
        let manner = [Manner::Post, Manner::Keep, Manner::GiveAway, Manner::Destroy][dice.random_range(0..4)];
        let len = [5, ROOM, LONG][dice.random_range(0..3)];
        let sent = called.begin(&fields, manner, len).await;
        let mut away = std::mem::take(&mut *AWAY.lock().expect("nobody panics"));
        let give = |post: Post<u32>| {
            let room = vec![0; post.len()];
            post.post(room).expect("it is as long");
        };
        away.drain(..dice.random_range(0..=away.len())).for_each(give);
        for index in 0..ELEMENTS {
            if dice.random() {
                fields.at(index).give();
            }
            match dice.random() {
                _ if manner == Manner::Destroy && called.includes(index) => {}
                true => fields.at(index).destroy(),
                false => fields.at(index).leave(),
            }
        }
        if dice.random() {
            away.drain(..dice.random_range(0..=away.len())).for_each(give);
        }
        for gone in gone {
            gone.await;
        }
        away.drain(..dice.random_range(0..=away.len())).for_each(give);
        drop(away);
        if dice.random() {
            assert_eq!(sent.await.len(), len, "{called:?}");
        }
    }
    // For those who were asked to give and were gone.
    drop(insert(4));
    chare::quiescence().await;
}

#[test]
fn every_order_of_posts_buffers_ends_and_insertions_comes_to_rest() {
    on_every_path(&SHAPES, || async {
        for seed in 0..12 {
            live(&mut ChaCha8Rng::seed_from_u64(seed)).await;
        }
    });
}

#[test]
fn who_awaits_a_call_that_ends_with_its_element_hears_so() {
    on_every_path(&SHAPES, || async {
        let fields = FieldProxy::create(ArrayOptions::listed(0..ELEMENTS).dynamic(), 0, Callback::ignore());
        for (index, len) in [(1, 5), (2, ROOM), (3, LONG)] {
            let (begun, on_begun) = chare::future();
            let count = fields.at(index).count(on_begun, pattern(len)).checked();
            begun.await;
            fields.at(index).destroy();
            let cause = count.await.expect_err("it does not run").to_string();
            let expected = format!("count of member {index} returns nothing: the chare was destroyed");
            assert!(cause.contains(&expected), "{cause}");
        }
        chare::quiescence().await;
    });
}
