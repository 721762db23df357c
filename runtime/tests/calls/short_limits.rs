//! Limits of short nocopy arguments: the longest and one byte beyond, elements of any alignment, layouts that select nothing, long ordinary
//! arguments beside them, calls from post methods, and posts that other threads serve.

#![expect(clippy::disallowed_methods, reason = "a thread outside the job is what is tested")]

use crate::every_path::on_every_path;
use bytemuck::{Pod, Zeroable};
use chare::Job;
use chare::layout::Layout;
use chare::prelude::*;

/// Stands at multiples of a cache line.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C, align(64))]
struct Line([u64; 8]);

/// Stands at multiples of half a line.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C, align(32))]
struct Half([u64; 4]);

struct Receiver;

#[chare(group)]
impl Receiver {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry]
    fn bytes(&mut self, #[nocopy] data: Received<u8>, beside: Vec<u8>, done: Callback<(Vec<u8>, usize)>) {
        done.send((data.to_vec(), beside.len()));
    }

    #[entry]
    fn wide(&mut self, #[nocopy] data: Received<u128>, done: Callback<u64>) {
        done.send(data.iter().map(|element| *element as u64).sum());
    }

    #[entry]
    fn halves(&mut self, #[nocopy] data: ReceivedView<Half>, done: Callback<u64>) {
        done.send(data.to_vec().iter().map(|half| half.0[3]).sum());
    }

    #[entry]
    fn lines(&mut self, #[nocopy] data: Received<Line>, done: Callback<u64>) {
        done.send(data.iter().map(|line| line.0[7]).sum());
    }

    #[entry]
    fn land_lines(&mut self, #[nocopy(post)] data: Posted<Line>, done: Callback<u64>) {
        done.send(data.iter().map(|line| line.0[7]).sum());
    }

    #[post(land_lines)]
    fn post_land_lines(&mut self, data: Post<Line>, _done: &Callback<u64>) {
        let len = data.len();
        data.post(vec![Line([0; 8]); len]).expect("it is as long");
    }

    #[entry]
    fn land(&mut self, #[nocopy(post)] data: Posted<u8>, beside: Vec<u8>, done: Callback<(Vec<u8>, usize)>) {
        done.send((data.to_vec(), beside.len()));
    }

    #[post(land)]
    fn post_land(&mut self, data: Post<u8>, _beside: &[u8], _done: &Callback<(Vec<u8>, usize)>) {
        let len = data.len();
        data.post(vec![0; len]).expect("it is as long");
    }
}

fn pattern(len: usize) -> Vec<u8> {
    (0..len).map(|byte| (byte * 7 + byte / 256) as u8).collect()
}

#[test]
fn the_longest_and_one_byte_beyond_arrive_beside_arguments_of_any_length() {
    on_every_path(&[(2, 1)], || async {
        let other = ReceiverProxy::create().on(PeId(1));
        for len in [0, 1, 7, 1023, 1024, 1025] {
            for beside in [0, 1, 300_000] {
                let (received, done) = chare::future();
                other.bytes(pattern(len), pattern(beside), done);
                assert_eq!(received.await, (pattern(len), beside));
                let (landed, done) = chare::future();
                other.land(pattern(len), pattern(beside), done);
                assert_eq!(landed.await, (pattern(len), beside));
            }
        }
    });
}

#[test]
fn what_a_layout_selects_is_sent_even_if_it_is_nothing() {
    on_every_path(&[(2, 1)], || async {
        let other = ReceiverProxy::create().on(PeId(1));
        let nothing = [Layout::<u8>::vector(0, 1, 3), Layout::vector(5, 0, 3), Layout::indexed(&[], &[])];
        for layout in nothing.map(|layout| layout.expect("a layout")) {
            let buffer = Buffer::from(pattern(100));
            let (received, done) = chare::future();
            other.bytes(SendBuffer::from(buffer.clone()).only(&layout), vec![], done);
            assert_eq!(received.await, (vec![], 0));
            let (landed, done) = chare::future();
            other.land(SendBuffer::from(buffer).only(&layout), vec![1], done);
            assert_eq!(landed.await, (vec![], 1));
        }
        let every_second = Layout::<u8>::vector(1024, 1, 2).expect("a layout");
        let (received, done) = chare::future();
        other.bytes(SendBuffer::from(pattern(2047)).only(&every_second), vec![], done);
        assert_eq!(received.await.0, pattern(2047).iter().step_by(2).copied().collect::<Vec<_>>());
    });
}

#[test]
fn elements_of_any_alignment_arrive() {
    on_every_path(&[(1, 2), (2, 1)], || async {
        let other = ReceiverProxy::create().on(PeId(1));
        // Short ones, and longer ones than travel with a message of a neighbour.
        for len in [1, 3, 16, 17, 1000] {
            let (sum, expected) = (|| chare::future::<u64>(), (0..len).sum::<u64>());
            let ((wide, on_wide), (half, on_half)) = (sum(), sum());
            let ((line, on_line), (landed, on_landed)) = (sum(), sum());
            let lines = || (0..len).map(|element| Line([element; 8])).collect::<Vec<_>>();
            other.wide((0..len).map(u128::from).collect::<Vec<_>>(), on_wide);
            other.halves((0..len).map(|element| Half([element; 4])).collect::<Vec<_>>(), on_half);
            other.lines(lines(), on_line);
            other.land_lines(lines(), on_landed);
            assert_eq!(
                (wide.await, half.await, line.await, landed.await),
                (expected, expected, expected, expected)
            );
        }
    });
}

/// Sends what it hears on, before it says where it is to land.
struct Relay {
    left: u32,
}

#[chare(group)]
impl Relay {
    #[entry]
    fn new() -> Self {
        Self { left: 0 }
    }

    #[entry]
    fn pass(&mut self, all: RelayProxy, hops: u32, #[nocopy(post)] data: Posted<u8>, done: Callback<u32>) {
        let _ = all;
        assert_eq!(*data, pattern(hops as usize * 10));
        self.left += 1;
        if hops == 0 {
            done.send(self.left);
        }
    }

    #[post(pass)]
    fn post_pass(&mut self, all: &RelayProxy, hops: &u32, data: Post<u8>, done: &Callback<u32>) {
        let mut landing = vec![0; data.len()];
        if let Some(hops) = hops.checked_sub(1) {
            // To the other node, to the other PE of this one, and to this chare itself.
            let next = PeId((chare::my_pe().0 + hops) % chare::pes());
            all.on(next).pass(all.clone(), hops, pattern(hops as usize * 10), *done);
            landing.fill(hops as u8);
        }
        data.post(landing).expect("it is as long");
    }
}

#[test]
fn a_post_method_may_call_entries_with_nocopy_arguments() {
    on_every_path(&[(1, 2), (2, 1), (2, 2)], || async {
        let relays = RelayProxy::create();
        let (done, on_done) = chare::future();
        relays.on(PeId(0)).pass(relays.clone(), 100, pattern(1000), on_done);
        assert!(done.await > 0);
        chare::quiescence().await;
    });
}

/// Has its posts served by threads of its own, while its post method returns.
struct Delegator {
    landed: u32,
}

/// Calls of the delegator.
const CALLS: u32 = 300;

#[chare(group)]
impl Delegator {
    #[entry]
    fn new() -> Self {
        Self { landed: 0 }
    }

    #[entry]
    fn land(
        &mut self,
        call: u32,
        #[nocopy(post)] one: Posted<u32>,
        #[nocopy(post)] two: Posted<u32>,
        done: Callback<u32>,
    ) {
        assert_eq!((&*one, &*two), (&[call; 3][..], &[call + 1; 300][..]));
        self.landed += 1;
        if self.landed == CALLS {
            done.send(self.landed);
        }
    }

    #[post(land)]
    fn post_land(&mut self, call: &u32, one: Post<u32>, two: Post<u32>, _done: &Callback<u32>) {
        let serve = |post: Post<u32>| {
            let len = post.len();
            post.post(vec![0; len]).expect("it is as long");
        };
        match call % 4 {
            0 => {
                std::thread::spawn(move || serve(one));
                std::thread::spawn(move || serve(two));
            }
            1 => {
                serve(one);
                std::thread::spawn(move || serve(two));
            }
            2 => {
                let served = std::thread::spawn(move || serve(one));
                serve(two);
                served.join().expect("it fits");
            }
            _ => {
                serve(two);
                serve(one);
            }
        }
    }
}

#[test]
fn posts_may_be_served_by_other_threads_while_their_method_returns() {
    for nodes in [1, 2] {
        let code = Job::in_process(nodes, 2).run(|| async {
            let other = DelegatorProxy::create().on(PeId(chare::pes() - 1));
            let (landed, done) = chare::future();
            for call in 0..CALLS {
                other.land(call, vec![call; 3], vec![call + 1; 300], done);
            }
            assert_eq!(landed.await, CALLS);
            chare::quiescence().await;
        });
        assert_eq!(code.expect("the job runs"), 0);
    }
}
