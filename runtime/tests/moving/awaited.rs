//! Calls of awaited entries that wait with an element which moves: they are awaited where it lives then, in the order in which they came.

use super::SHAPES;
use crate::every_path::on_every_path;
use chare::prelude::*;
use chare::{Landing, Reply, ThisMigrant};
use serde::{Deserialize, Serialize};

/// Keeps what comes until it is asked for.
#[derive(Serialize, Deserialize)]
struct Letterbox {
    read: Vec<String>,
}

#[chare(array, migrate)]
impl Letterbox {
    #[entry]
    fn new() -> Self {
        Self { read: Vec::new() }
    }

    #[entry(awaited)]
    fn letter(#[reference] day: u32, text: String);

    #[entry(awaited)]
    fn parcel(#[nocopy] goods: Received<f64>, #[nocopy] samples: ReceivedView<u8>) -> usize;

    #[entry(awaited)]
    fn crate_of(#[nocopy(post)] goods: Posted<u32>);

    #[post(crate_of)]
    fn unload(&mut self, goods: Post<u32>) {
        let landing = Landing::first(goods.len(), vec![0; goods.len() + 1]);
        goods.post(landing).expect("there is room");
    }

    #[entry]
    fn go(&mut self, pe: PeId) {
        self.migrate_to(pe);
    }

    #[entry]
    async fn read(this: This<Self>, day: u32, letters: u32) -> (Vec<String>, u32) {
        for _ in 0..letters {
            let (_, text) = this.when(Self::letter).reference(day).await;
            this.with(|letterbox| letterbox.read.push(text));
        }
        (this.with(|letterbox| std::mem::take(&mut letterbox.read)), chare::my_pe().0)
    }

    #[entry]
    async fn unpack(this: This<Self>) -> (f64, u64, Vec<u32>) {
        let (goods, samples, reply): (Received<f64>, ReceivedView<u8>, Reply<usize>) =
            this.when(Self::parcel).await;
        reply.send(goods.len());
        let landed = this.when(Self::crate_of).await;
        assert_eq!((landed.transferred(), landed.len()), (3, 3));
        (goods.iter().sum(), samples.iter().map(|sample| u64::from(*sample)).sum(), landed.into_vec())
    }
}

#[test]
fn calls_that_wait_are_read_where_the_element_has_gone() {
    on_every_path(&SHAPES, || async {
        let letterbox = LetterboxProxy::create(1).at(0);
        let pes = chare::pes();
        for number in 0..6_u32 {
            letterbox.letter(number % 2, number.to_string());
            chare::quiescence().await;
            letterbox.go(PeId(number % pes));
        }
        chare::quiescence().await;
        let last = 5 % pes;
        let words = |words: [&str; 3]| words.map(str::to_owned).to_vec();
        assert_eq!(letterbox.read(1, 3).await, (words(["1", "3", "5"]), last));
        assert_eq!(letterbox.read(0, 3).await, (words(["0", "2", "4"]), last));
    });
}

#[test]
fn buffers_that_wait_come_along() {
    on_every_path(&SHAPES, || async {
        let letterbox = LetterboxProxy::create(1).at(0);
        let weighed = letterbox.parcel(vec![0.5; 1000], vec![2; 100_000]);
        letterbox.crate_of(vec![1, 2, 3]);
        chare::quiescence().await;
        for hop in 1..=chare::pes() {
            letterbox.go(PeId(hop % chare::pes()));
            chare::quiescence().await;
        }
        let (goods, samples, landed) = letterbox.unpack().await;
        assert_eq!((goods, samples, weighed.await), (500.0, 200_000, 1000));
        assert_eq!(landed, [1, 2, 3, 0]);
    });
}
