//! Short nocopy arguments, which travel with their messages: up to the longest and one element beyond, whole and by layouts, for every kind
//! of parameter, over every path.

use crate::every_path::on_every_path;
use chare::layout::Layout;
use chare::prelude::*;
use chare::{Job, Landing, Registration};
use serde::{Deserialize, Serialize};

const SHAPES: [(u32, u32); 3] = [(1, 2), (2, 1), (2, 2)];

/// Elements of an argument: 256 are the longest that travel with a message whoever takes them.
const LENGTHS: [usize; 5] = [0, 1, 120, 256, 257];

const UNTOUCHED: u32 = u32::MAX;

/// Where an argument lands.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
enum Place {
    /// Side by side, in a buffer that is longer.
    First,
    /// At every second element.
    Scattered,
    /// As `Scattered`, but half of it.
    Half,
    /// In a part of a buffer.
    Part,
    /// Under a tag for which a buffer comes later.
    Later,
    /// In what another entry gives to the post.
    Kept,
}

const PLACES: [Place; 6] =
    [Place::First, Place::Scattered, Place::Half, Place::Part, Place::Later, Place::Kept];

struct Receiver {
    kept: Option<Post<u32>>,
}

#[chare(group)]
impl Receiver {
    #[entry]
    fn new() -> Self {
        Self { kept: None }
    }

    #[entry]
    fn receive(&mut self, len: usize, #[nocopy] data: Received<u32>, done: Callback<()>) {
        assert_eq!(*data, numbers(len));
        done.send(());
    }

    #[entry]
    fn view(&mut self, len: usize, #[nocopy] data: ReceivedView<u32>, done: Callback<()>) {
        assert_eq!(data.to_vec(), numbers(len));
        done.send(());
    }

    #[entry]
    fn land(&mut self, len: usize, place: Place, #[nocopy(post)] data: Posted<u32>, done: Callback<()>) {
        let wanted = if place == Place::Half { len / 2 } else { len };
        assert_eq!(data.transferred(), wanted);
        let landed: Vec<u32> = match place {
            Place::First | Place::Later | Place::Kept => {
                let buffer = data.into_buffer();
                assert!(buffer[len..].iter().all(|element| *element == UNTOUCHED));
                buffer[..len].to_vec()
            }
            Place::Scattered | Place::Half => {
                let buffer = data.into_buffer();
                assert!(buffer.chunks(2).all(|pair| pair.len() < 2 || pair[1] == UNTOUCHED));
                buffer.iter().step_by(2).take(wanted).copied().collect()
            }
            Place::Part => data.into_part().rows().flatten().copied().collect(),
        };
        assert_eq!(landed, numbers(len)[..wanted]);
        done.send(());
    }

    #[post(land)]
    fn post_land(&mut self, len: &usize, place: &Place, data: Post<u32>, _done: &Callback<()>) {
        assert_eq!(data.len(), *len);
        let every_second = |len| Layout::<u32>::vector(len as u64, 1, 2).expect("a layout");
        match place {
            Place::First => data.post(first(*len)).expect("it fits"),
            Place::Scattered => {
                data.post(Landing::at(&every_second(*len), vec![UNTOUCHED; 2 * len + 1])).expect("it fits");
            }
            Place::Half => {
                data.post(Landing::at(&every_second(len / 2), vec![UNTOUCHED; 2 * len + 1]))
                    .expect("it fits");
            }
            Place::Part => {
                let buffer = BufferMut::from(vec![UNTOUCHED; 2 * len + 1]);
                let (_rest, [part]) = buffer.split([&every_second(*len)]).expect("it lies within");
                data.post_part(part).expect("it fits");
            }
            Place::Later => {
                data.match_tag(1).expect("it is free");
                chare::post_buffer(1, first(*len)).expect("it fits");
            }
            Place::Kept => {
                self.kept = Some(data);
                self.this_chare().give(*len);
            }
        }
    }

    #[entry]
    fn give(&mut self, len: usize) {
        self.kept.take().expect("it was kept").post(first(len)).expect("it fits");
    }
}

fn first(len: usize) -> Landing<u32> {
    Landing::first(len, vec![UNTOUCHED; len + 3])
}

fn numbers(len: usize) -> Vec<u32> {
    (0..len as u32).map(|number| number.wrapping_mul(2_654_435_761)).collect()
}

/// A buffer of which a layout selects the numbers, in their order.
fn laid_out(len: usize) -> (Buffer<u32>, Layout<u32>) {
    let scattered: Vec<u32> = numbers(len).into_iter().flat_map(|number| [UNTOUCHED, number, 7]).collect();
    let every_third = Layout::vector(len as u64, 1, 3).and_then(|layout| layout.shifted(1));
    (scattered.into(), every_third.expect("a layout"))
}

/// Ways to send the numbers.
fn ways(len: usize) -> Vec<SendBuffer<u32>> {
    let (scattered, layout) = laid_out(len.max(1));
    let mut ways: Vec<SendBuffer<u32>> =
        [Registration::Lazily, Registration::Now, Registration::Pooled, Registration::None]
            .map(|registration| SendBuffer::from(numbers(len)).registration(registration))
            .into();
    if len > 0 {
        ways.push(SendBuffer::from(scattered).only(&layout));
    }
    ways
}

#[test]
fn short_arguments_arrive_whoever_takes_them() {
    on_every_path(&SHAPES, || async {
        let receivers = ReceiverProxy::create();
        let last = receivers.on(PeId(chare::pes() - 1));
        for len in LENGTHS {
            for way in ways(len) {
                let (landed, done) = chare::future();
                last.receive(len, way, done);
                landed.await;
            }
            for way in ways(len) {
                let (landed, done) = chare::future();
                last.view(len, way, done);
                landed.await;
            }
            for place in PLACES {
                for way in ways(len) {
                    let (landed, done) = chare::future();
                    last.land(len, place, way, done);
                    landed.await;
                }
            }
        }
        chare::quiescence().await;
    });
}

#[test]
fn buffers_of_short_arguments_come_back_with_what_was_taken() {
    on_every_path(&SHAPES, || async {
        let receivers = ReceiverProxy::create();
        let last = receivers.on(PeId(chare::pes() - 1));
        for len in LENGTHS {
            let ((landed, done), (back, on_sent)) = (chare::future(), chare::future::<Sent<u32>>());
            last.receive(len, SendBuffer::from(numbers(len)).on_sent(on_sent), done);
            let (sent, ()) = (back.await, landed.await);
            assert_eq!((sent.transferred(), sent.into_vec()), (len, numbers(len)));

            let ((landed, done), (back, on_sent)) = (chare::future(), chare::future::<Sent<u32>>());
            last.land(len, Place::Half, SendBuffer::from(numbers(len)).on_sent(on_sent), done);
            let (sent, ()) = (back.await, landed.await);
            assert_eq!((sent.transferred(), sent.into_vec()), (len / 2, numbers(len)));
        }
    });
}

#[test]
fn a_buffer_may_be_written_again_when_its_short_message_has_left() {
    on_every_path(&[(2, 1)], || async {
        let receivers = ReceiverProxy::create();
        let mut buffer = BufferMut::from(numbers(100));
        for _ in 0..100 {
            let shared = buffer.freeze();
            let (landed, done) = chare::future();
            receivers.on(PeId(1)).land(100, Place::Scattered, shared.clone(), done);
            buffer = shared.try_into_mut().expect("its bytes have gone along");
            buffer.fill(0);
            landed.await;
            buffer.copy_from_slice(&numbers(100));
        }
    });
}

struct Echo {
    lent: Option<Buffer<u32>>,
}

#[chare(group)]
impl Echo {
    #[entry]
    fn new() -> Self {
        Self { lent: None }
    }

    #[entry]
    fn ask(&mut self, echoes: EchoProxy, done: Callback<()>) {
        let buffer = BufferMut::zeroed(2000).freeze();
        self.lent = Some(buffer.clone());
        echoes.on(PeId(1)).hear(echoes.clone(), buffer, done);
    }

    #[entry]
    fn hear(&mut self, echoes: EchoProxy, #[nocopy(post)] data: Posted<u32>, done: Callback<()>) {
        assert_eq!(data.transferred(), 2000);
        echoes.on(PeId(0)).answer(vec![7; 3], done);
    }

    #[post(hear)]
    fn post_hear(&mut self, _echoes: &EchoProxy, data: Post<u32>, _done: &Callback<()>) {
        data.post(vec![UNTOUCHED; 2000]).expect("it fits");
    }

    /// What was lent for the question may be written again: the answer has brought its release along.
    #[entry]
    fn answer(&mut self, #[nocopy] data: Received<u32>, done: Callback<()>) {
        assert_eq!(*data, [7; 3]);
        let lent = self.lent.take().expect("it was kept");
        assert!(lent.try_into_mut().is_ok(), "it was released before");
        done.send(());
    }
}

#[test]
fn an_answer_brings_the_release_of_what_was_lent_for_the_question() {
    let code = Job::in_process(2, 1).run(|| async {
        let echoes = EchoProxy::create();
        for _ in 0..20 {
            let (answered, done) = chare::future();
            echoes.on(PeId(0)).ask(echoes.clone(), done);
            answered.await;
        }
        chare::quiescence().await;
    });
    assert_eq!(code.expect("the job runs"), 0);
}
