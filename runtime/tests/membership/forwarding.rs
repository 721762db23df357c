//! Forwarded nocopy calls: they go on from where they arrive, because their element lives elsewhere.

use crate::every_path::on_every_path;
use chare::prelude::*;
use chare::{ArrayOptions, Landing};
use std::future::poll_fn;
use std::task::{Context, Poll};

struct Shelf;

#[chare(array)]
impl Shelf {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry]
    fn take(&mut self, number: u32, #[nocopy] data: Received<u32>, done: Callback<(PeId, u64)>) {
        assert!(data.iter().all(|element| *element == number), "other data");
        done.send((chare::my_pe(), data.len() as u64));
    }

    #[entry]
    fn land(
        &mut self,
        number: u32,
        #[nocopy] data: Received<u32>,
        #[nocopy(post)] part: Posted<u32>,
        done: Callback<(PeId, u64)>,
    ) {
        assert!(data.iter().chain(part.iter()).all(|element| *element == number), "other data");
        done.send((chare::my_pe(), (data.len() + part.transferred()) as u64));
    }

    #[entry]
    fn go(&mut self, gone: Callback<()>) {
        gone.send(());
        chare::destroy();
    }

    #[post(land)]
    fn post_land(&mut self, _number: &u32, part: Post<u32>, _done: &Callback<(PeId, u64)>) {
        let len = part.len();
        part.post(Landing::first(len, vec![0; len])).expect("it is long enough");
    }
}

fn buffer(number: u32, len: usize, shareable: bool) -> Buffer<u32> {
    if shareable { BufferMut::from_fn(len, |_| number).freeze() } else { vec![number; len].into() }
}

#[test]
fn nocopy_calls_are_forwarded_and_hand_their_buffers_back() {
    // PE 0 calls, another is home, and the element lives on a third.
    on_every_path(&[(1, 3), (3, 1), (2, 2)], || async {
        let last = chare::pes() - 1;
        let home = |_| PeId(1);
        let shelves = ShelfProxy::create(ArrayOptions::new(1).place_by(home).dynamic());
        let shelf = shelves.at(0);
        chare::quiescence().await;
        let lens = [0, 10, 100_000].into_iter().flat_map(|len| [(len, false), (len, true)]);
        for (number, (len, shareable)) in (0..).zip(lens) {
            // The caller remembers where it lived before: sometimes nothing, sometimes the wrong PE.
            shelf.destroy();
            chare::quiescence().await;
            let on = if number % 2 == 0 { PeId(last) } else { PeId(0) };
            shelf.insert_on(on);
            chare::quiescence().await;
            let ((taken, done), (sent, on_sent)) = (chare::future(), chare::future::<Sent<u32>>());
            shelf.take(number, SendBuffer::from(buffer(number, len, shareable)).on_sent(on_sent), done);
            assert_eq!(taken.await, (on, len as u64));
            assert!(sent.await.into_buffer().try_into_mut().is_ok(), "nobody else holds it");

            shelf.destroy();
            chare::quiescence().await;
            let on = PeId(last - number % 2);
            shelf.insert_on(on);
            chare::quiescence().await;
            let ((landed, done), (sent, on_sent)) = (chare::future(), chare::future::<Sent<u32>>());
            let part = SendBuffer::from(buffer(number, len, !shareable)).on_sent(on_sent);
            shelf.land(number, buffer(number, len, shareable), part, done);
            assert_eq!(landed.await, (on, 2 * len as u64));
            assert_eq!(sent.await.transferred(), len);
        }
    });
}

#[test]
fn a_nocopy_call_follows_an_element_that_goes_unless_it_had_come_to_it() {
    on_every_path(&[(1, 3), (3, 1)], || async {
        let last = chare::pes() - 1;
        let home = |_| PeId(1);
        let shelves = ShelfProxy::create(ArrayOptions::new(1).place_by(home).dynamic());
        let shelf = shelves.at(0);
        for number in 0..20 {
            let len = 1 << (number % 18);
            let (from, to) = (PeId(last - number % 2), PeId(number % 2));
            shelf.destroy();
            chare::quiescence().await;
            shelf.insert_on(from);
            chare::quiescence().await;
            let ((landed, done), (sent, on_sent)) = (chare::future(), chare::future::<Sent<u32>>());
            let part = SendBuffer::from(buffer(number, len, number % 3 == 0)).on_sent(on_sent);
            // The element is destroyed before the call, after it, or while its buffers are filled.
            shelf.land(number, buffer(number, len, number % 5 == 0), part, done);
            let (gone, on_gone) = chare::future();
            shelf.go(on_gone);
            gone.await;
            shelf.insert_on(to);
            // Whatever becomes of the call, who lent has the buffer back.
            let sent = sent.await;
            chare::quiescence().await;
            let mut landed = std::pin::pin!(landed);
            let look = |context: &mut Context<'_>| Poll::Ready(landed.as_mut().poll(context));
            // A call whose buffers were filled at the element that went has ended with it.
            if let Poll::Ready((place, elements)) = poll_fn(look).await {
                let (place, elements): (PeId, u64) = (place, elements);
                assert!([from, to].contains(&place), "{place}");
                assert_eq!(elements, 2 * len as u64);
                assert_eq!(sent.transferred(), len);
            }
        }
    });
}
