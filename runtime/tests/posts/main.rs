//! Posted receives: before, inside and after the post method, by tag of a PE and of a node, over every path.

#![expect(clippy::disallowed_methods, reason = "a thread outside the job is what is tested")]

mod ended;
#[path = "../every_path/mod.rs"]
mod every_path;
mod gone;
mod panics;

use chare::prelude::*;
use chare::{Job, JobError, Landing, PostRefusal};
use every_path::{on_every_path, on_every_real_path};
use serde::{Deserialize, Serialize};
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::time::Duration;

const TAG: u64 = 7;
/// Elements of the receiver's buffers.
const ROOM: usize = 80_000;
const UNTOUCHED: u32 = u32::MAX;

/// When and how the receiver gives its buffer.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
enum Manner {
    Inside,
    TagBefore,
    TagInside,
    TagAfter,
    NodeTagBefore,
    NodeTagInside,
    NodeTagAfter,
    /// The post leaves its method and is used by another entry.
    Kept,
}

const MANNERS: [Manner; 8] = [
    Manner::Inside,
    Manner::TagBefore,
    Manner::TagInside,
    Manner::TagAfter,
    Manner::NodeTagBefore,
    Manner::NodeTagInside,
    Manner::NodeTagAfter,
    Manner::Kept,
];

struct Receiver {
    kept: Option<Post<u32>>,
}

#[chare(group)]
impl Receiver {
    #[entry]
    fn new() -> Self {
        Self { kept: None }
    }

    /// Gives `wanted` elements of room, or does nothing if it is not the moment.
    #[entry]
    fn give(&mut self, manner: Manner, wanted: usize, given: Callback<()>) {
        let landing = landing(wanted);
        match manner {
            Manner::TagBefore | Manner::TagAfter => chare::post_buffer(TAG, landing).expect("it is free"),
            Manner::NodeTagBefore | Manner::NodeTagAfter => {
                chare::post_node_buffer(TAG, landing).expect("it is free");
            }
            Manner::Kept => self.kept.take().expect("it was kept").post(landing).expect("it fits"),
            Manner::Inside | Manner::TagInside | Manner::NodeTagInside => {}
        }
        given.send(());
    }

    #[entry]
    fn land(
        &mut self,
        manner: Manner,
        wanted: usize,
        posting: Callback<()>,
        #[nocopy(post)] data: Posted<u32>,
        landed: Callback<usize>,
    ) {
        let _ = (manner, posting);
        check(&data);
        let transferred = data.transferred();
        assert_eq!(transferred, wanted);
        let buffer = data.into_buffer();
        assert_eq!(buffer.len(), ROOM);
        assert!(buffer[transferred..].iter().all(|element| *element == UNTOUCHED), "the tail is untouched");
        landed.send(transferred);
    }

    #[post(land)]
    fn post_land(
        &mut self,
        manner: &Manner,
        wanted: &usize,
        posting: &Callback<()>,
        data: Post<u32>,
        _landed: &Callback<usize>,
    ) {
        match manner {
            Manner::Inside => data.post(landing(*wanted)).expect("it fits"),
            Manner::TagInside => {
                chare::post_buffer(TAG, landing(*wanted)).expect("it is free");
                data.match_tag(TAG).expect("it fits");
            }
            Manner::NodeTagInside => {
                data.match_node_tag(TAG).expect("it is free");
                chare::post_node_buffer(TAG, landing(*wanted)).expect("it fits");
            }
            Manner::TagBefore | Manner::TagAfter => data.match_tag(TAG).expect("it fits"),
            Manner::NodeTagBefore | Manner::NodeTagAfter => data.match_node_tag(TAG).expect("it fits"),
            Manner::Kept => self.kept = Some(data),
        }
        posting.send(());
    }

    /// Two posted buffers and one received one; the posted ones arrive under tags, in the other order.
    #[entry]
    fn land_two(
        &mut self,
        #[nocopy(post)] first: Posted<u32>,
        #[nocopy] between: Received<u32>,
        #[nocopy(post)] second: Posted<u32>,
        landed: Callback<(usize, usize, usize)>,
    ) {
        [&*first, &between, &second].into_iter().for_each(check);
        landed.send((first.len(), between.len(), second.len()));
    }

    #[post(land_two)]
    fn post_two(&mut self, first: Post<u32>, second: Post<u32>, _landed: &Callback<(usize, usize, usize)>) {
        first.match_tag(1).expect("it is free");
        second.match_node_tag(1).expect("it is free");
    }

    #[entry]
    fn give_two(&mut self, first: usize, second: usize) {
        chare::post_node_buffer(1, landing(second)).expect("it fits");
        chare::post_buffer(1, landing(first)).expect("it fits");
    }

    /// Refuses everything that does not fit, then receives.
    #[entry]
    fn misfit(&mut self, #[nocopy(post)] data: Posted<u32>, landed: Callback<usize>) {
        check(&data);
        landed.send(data.transferred());
    }

    #[post(misfit)]
    fn post_misfit(&mut self, data: Post<u32>, _landed: &Callback<usize>) {
        let offered = data.len();
        let refused = data.post(landing(offered + 1)).expect_err("it is too long");
        let too_long = PostRefusal::TooLong { wanted: offered + 1, offered };
        assert_eq!((refused.buffer.map(|buffer| buffer.len()), &refused.cause), (Some(ROOM), &too_long));

        chare::post_buffer(TAG, landing(offered + 1)).expect("it is free");
        let refused = refused.post.match_tag(TAG).expect_err("it is too long");
        assert_eq!((refused.buffer.map(|buffer| buffer.len()), &refused.cause), (Some(ROOM), &too_long));

        chare::post_buffer(TAG, vec![0u8; 4]).expect("the tag is free again");
        let refused = refused.post.match_tag(TAG).expect_err("its elements are others");
        assert!(matches!(refused.cause, PostRefusal::OtherElements { posted: "u8", expected: "u32" }));
        assert_eq!(chare::cancel_buffer::<u32>(TAG).map(|buffer| buffer.len()), None, "it holds bytes");
        assert_eq!(chare::cancel_buffer::<u8>(TAG).map(|buffer| buffer.len()), Some(4), "it stayed");

        refused.post.match_tag(TAG).expect("it is free");
        let refused = chare::post_buffer(TAG, vec![0u64]).expect_err("its elements are others");
        assert_eq!((refused.buffer.len(), refused.to_string().contains("u64")), (1, true));
        let refused = chare::post_buffer(TAG, landing(offered + 1)).expect_err("it is too long");
        assert_eq!((refused.buffer.len(), refused.cause), (ROOM, too_long));
        chare::post_buffer(TAG, landing(offered)).expect("the call still waits");
    }

    #[entry]
    fn forgets(&mut self, #[nocopy(post)] data: Posted<u32>) {
        drop(data);
    }

    #[post(forgets)]
    fn post_nothing(&mut self, data: Post<u32>) {
        drop(data);
    }

    #[entry]
    fn takes_tag_of_another(&mut self, #[nocopy(post)] data: Posted<u32>, landed: Callback<usize>) {
        landed.send(data.transferred());
    }

    #[post(takes_tag_of_another)]
    fn post_twice(&mut self, data: Post<u32>, _landed: &Callback<usize>) {
        if let Err(refused) = data.match_tag(TAG) {
            assert_eq!(refused.cause, PostRefusal::TagTaken { tag: TAG });
            refused.post.post(landing(1)).expect("the post is unused");
        }
    }
}

fn landing(wanted: usize) -> Landing<u32> {
    Landing::first(wanted, vec![UNTOUCHED; ROOM])
}

fn pattern(len: usize) -> Vec<u32> {
    (0..len as u32).map(|position| position.wrapping_mul(2_654_435_761)).collect()
}

#[track_caller]
fn check(data: &[u32]) {
    assert!(data == pattern(data.len()), "wrong data, {} elements", data.len());
}

/// One call in one manner; both sides learn the length.
async fn receive(receivers: &ReceiverProxy, target: PeId, manner: Manner, offered: usize, wanted: usize) {
    // For a node's tag any PE of the node may post.
    let pes_per_node = chare::pes() / chare::nodes();
    let is_of_node = matches!(manner, Manner::NodeTagBefore | Manner::NodeTagAfter);
    let giver = if is_of_node { PeId(target.0 - target.0 % pes_per_node) } else { target };
    let give = async || {
        let (given, done) = chare::future();
        receivers.on(giver).give(manner, wanted, done);
        given.await;
    };
    let ((posting, on_posting), (landed, on_landed)) = (chare::future(), chare::future());
    let (sent, on_sent) = chare::future::<Sent<u32>>();
    let is_before = matches!(manner, Manner::TagBefore | Manner::NodeTagBefore);
    if is_before {
        give().await;
    }
    let data = SendBuffer::from(pattern(offered)).on_sent(on_sent);
    receivers.on(target).land(manner, wanted, on_posting, data, on_landed);
    posting.await;
    if !is_before {
        give().await;
    }
    assert_eq!(landed.await, wanted, "{manner:?}");
    let sent = sent.await;
    assert_eq!((sent.len(), sent.transferred()), (offered, wanted), "{manner:?}");
    check(&sent);
    assert!(sent.into_buffer().try_into_mut().is_ok(), "nobody else holds it");
}

/// Every manner with every relation of lengths: nothing, one, shorter, equal; eager and fetched.
async fn every_manner() {
    let receivers = ReceiverProxy::create();
    let last = PeId(chare::pes() - 1);
    for manner in MANNERS {
        for (offered, wanted) in
            [(0, 0), (5, 0), (5, 3), (5, 5), (5000, 4999), (70_000, 0), (70_000, 69_999), (70_000, 70_000)]
        {
            for target in [PeId(0), last] {
                receive(&receivers, target, manner, offered, wanted).await;
            }
        }
    }
}

#[test]
fn buffers_land_however_they_are_posted() {
    on_every_path(&[(2, 1), (2, 2)], every_manner);
    assert_eq!(Job::in_process(1, 2).run(every_manner).unwrap(), 0);
}

async fn several() {
    let receivers = ReceiverProxy::create();
    let last = PeId(chare::pes() - 1);
    let (landed, done) = chare::future();
    let (first, on_first) = chare::future::<Sent<u32>>();
    receivers.on(last).land_two(
        SendBuffer::from(pattern(4000)).on_sent(on_first),
        pattern(10),
        pattern(20),
        done,
    );
    receivers.on(last).give_two(3000, 20);
    assert_eq!(landed.await, (3000, 10, 20));
    assert_eq!(first.await.transferred(), 3000);
}

#[test]
fn a_call_may_have_several_posts() {
    on_every_path(&[(2, 1), (2, 2)], several);
    assert_eq!(Job::in_process(1, 2).run(several).unwrap(), 0);
}

async fn misfits() {
    let receivers = ReceiverProxy::create();
    let last = PeId(chare::pes() - 1);
    for offered in [3, 5000] {
        let (landed, done) = chare::future();
        receivers.on(last).misfit(pattern(offered), done);
        assert_eq!(landed.await, offered);
    }
    assert!(chare::cancel_node_buffer::<u32>(TAG).is_none(), "nothing is left");
}

#[test]
fn what_does_not_fit_is_handed_back_and_nothing_is_lost() {
    on_every_path(&[(2, 1)], misfits);
    assert_eq!(Job::in_process(1, 1).run(misfits).unwrap(), 0);
}

#[test]
fn a_tag_names_one_thing_at_a_time_and_a_cancelled_one_nothing() {
    let code = Job::in_process(1, 1).run(|| async {
        chare::post_node_buffer(TAG, vec![1u32]).expect("it is free");
        chare::post_buffer(TAG, vec![2u32]).expect("tags of a PE are others than those of its node");
        let refused = chare::post_node_buffer(TAG, vec![3u32]).expect_err("it is taken");
        assert_eq!((&refused.buffer[..], refused.cause), (&[3][..], PostRefusal::TagTaken { tag: TAG }));
        assert_eq!(chare::cancel_node_buffer::<u32>(TAG).as_deref(), Some(&[1][..]));
        assert!(chare::cancel_node_buffer::<u32>(TAG).is_none());
        assert_eq!(chare::cancel_buffer::<u32>(TAG).as_deref(), Some(&[2][..]));

        // Two calls under one tag: the second finds it taken, and another way.
        let receivers = ReceiverProxy::create();
        let ((first, on_first), (second, on_second)) = (chare::future(), chare::future());
        receivers.local().takes_tag_of_another(pattern(2), on_first);
        receivers.local().takes_tag_of_another(pattern(2), on_second);
        assert_eq!(second.await, 1);
        chare::post_buffer(TAG, landing(2)).expect("the first call waits");
        assert_eq!(first.await, 2);
    });
    assert_eq!(code.unwrap(), 0);
}

#[test]
fn a_post_method_that_gives_nothing_ends_the_job_with_the_entrys_name() {
    let error = Job::in_process(2, 1)
        .run(|| async {
            ReceiverProxy::create().on(PeId(1)).forgets(pattern(3));
            chare::future::<()>().0.await;
        })
        .unwrap_err();
    // On the other node it is a delivery error; here the same words.
    assert!(matches!(error, JobError::Delivery { .. } | JobError::Elsewhere(_)), "{error}");
    for part in ["Receiver::forgets", "PE 1", "match_tag"] {
        assert!(error.to_string().contains(part), "`{part}` in: {error}");
    }
}

/// Ready after a while in which its PE has nothing to do.
async fn idle_for(time: Duration) {
    let over = Arc::new(AtomicBool::new(false));
    let mut started = false;
    poll_fn(move |context| {
        if over.load(Ordering::Acquire) {
            return Poll::Ready(());
        }
        if !std::mem::replace(&mut started, true) {
            let (over, waker) = (Arc::clone(&over), context.waker().clone());
            std::thread::spawn(move || {
                std::thread::sleep(time);
                over.store(true, Ordering::Release);
                waker.wake();
            });
        }
        Poll::Pending
    })
    .await;
}

#[test]
fn a_call_that_waits_for_its_buffer_is_in_flight() {
    on_every_real_path(&[(2, 1)], || async {
        let receivers = ReceiverProxy::create();
        for manner in [Manner::TagAfter, Manner::NodeTagAfter, Manner::Kept] {
            let ((posting, on_posting), (landed, on_landed)) = (chare::future(), chare::future());
            receivers.on(PeId(1)).land(manner, 100, on_posting, pattern(5000), on_landed);
            posting.await;
            let mut quiet = chare::quiescence();
            // Long enough for many waves; nothing happens anywhere but that the call waits.
            idle_for(Duration::from_millis(20)).await;
            let polled = poll_fn(|context| Poll::Ready(Pin::new(&mut quiet).poll(context))).await;
            assert!(polled.is_pending(), "{manner:?}: a call waits for its buffer");
            receivers.on(PeId(1)).give(manner, 100, Callback::ignore());
            assert_eq!(landed.await, 100);
            quiet.await;
        }
    });
}

/// Lengths around that up to which a posted argument travels with its message, where memory is mapped.
const SHORT: [usize; 6] = [1, 2, 255, 256, 257, 2000];

#[test]
fn short_arguments_land_whole_or_as_far_as_the_landing_goes() {
    on_every_path(&[(1, 2), (2, 1)], || async {
        let receivers = ReceiverProxy::create();
        for len in SHORT {
            for wanted in [len, len / 2] {
                let buffer: BufferMut<u32> = pattern(len).into();
                let ((landed, on_landed), (sent, on_sent)) = (chare::future(), chare::future::<Sent<u32>>());
                let data = SendBuffer::from(buffer).on_sent(on_sent);
                let ignored = Callback::ignore();
                receivers.on(PeId(1)).land(Manner::Inside, wanted, ignored, data, on_landed);
                assert_eq!(landed.await, wanted);
                assert_eq!(sent.await.transferred(), wanted);
            }
        }
    });
}

#[test]
fn a_buffer_that_is_sent_again_and_again_can_be_written_in_between() {
    on_every_path(&[(1, 2), (2, 1)], || async {
        let receivers = ReceiverProxy::create();
        for len in SHORT {
            let mut buffer = BufferMut::<u32>::zeroed(len);
            for _ in 0..3 {
                buffer.copy_from_slice(&pattern(len));
                let shared = buffer.freeze();
                for _ in 0..3 {
                    let (landed, on_landed) = chare::future();
                    let (data, ignored) = (shared.clone(), Callback::ignore());
                    receivers.on(PeId(1)).land(Manner::Inside, len, ignored, data, on_landed);
                    assert_eq!(landed.await, len);
                }
                chare::quiescence().await;
                buffer = shared.try_into_mut().expect("nobody reads it any more");
            }
        }
    });
}
