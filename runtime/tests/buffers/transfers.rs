//! Ends of transfers: buffers, lengths, the caller's own values and errors come back, over every path.

#![expect(clippy::disallowed_methods, reason = "a thread outside the job is what is tested")]
#![expect(unsafe_code, reason = "makes buffers of memory that others own")]

use crate::every_path::{has_cma, on_every_path};
use chare::prelude::*;
use chare::{
    Job, Landing, ReachOptions, RegisteredSource, RegisteredTarget, Registration, SourceHandle, Status,
    TargetHandle, rget, rput, try_rget, try_rput,
};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Longer than what travels inside a message, on any path.
const LONG: usize = 70_000;

/// Elements of an owner that has them inside itself: a PE's stack has room for some of these.
const INSIDE: usize = 5000;

struct Peer {
    sources: Vec<RegisteredSource<u32>>,
    targets: Vec<RegisteredTarget<u32>>,
    heard: Vec<(u64, u64)>,
}

#[chare(group)]
impl Peer {
    #[entry]
    fn new() -> Self {
        Self { sources: Vec::new(), targets: Vec::new(), heard: Vec::new() }
    }

    /// Three arguments: one read in place, one posted in part, one small.
    #[entry]
    fn take_three(
        &mut self,
        #[nocopy] whole: Received<u32>,
        #[nocopy(post)] part: Posted<u32>,
        #[nocopy(post)] small: Posted<u32>,
    ) {
        for data in [&*whole, &part, &small] {
            check(data);
        }
    }

    #[post(take_three)]
    fn post_three(&mut self, part: Post<u32>, small: Post<u32>) {
        part.post(Landing::first(LONG / 2, vec![0; LONG])).expect("it is shorter");
        small.post(vec![0; 3]).expect("it is shorter");
    }

    #[entry]
    fn take(&mut self, #[nocopy] data: Received<u32>, done: Callback<usize>) {
        check(&data);
        done.send(data.len());
    }

    /// Sends many buffers, from inside one entry, of which another PE of this node hears when they are free.
    #[entry]
    fn flood(&mut self, len: usize, count: usize) {
        let (heir, target) = (self.this_collection().on(PeId(1)), self.this_collection().on(far()));
        for _ in 0..count {
            let free = || SendBuffer::from(pattern(len)).on_sent(heir.inherit_callback());
            target.take_two(free(), free());
        }
    }

    /// The same for the members of a section.
    #[entry]
    fn flood_section(&mut self, section: PeerSectionProxy, len: usize, count: usize) {
        for _ in 0..count {
            let heir = self.this_collection().on(far());
            section.look_at(SendBuffer::from(pattern(len)).on_sent(heir.inherit_callback()));
        }
    }

    #[entry]
    fn look_at(&mut self, #[nocopy] data: Received<u32>) {
        check(&data);
    }

    #[entry]
    fn take_two(&mut self, #[nocopy(post)] posted: Posted<u32>, #[nocopy] read: Received<u32>) {
        check(&posted);
        check(&read);
    }

    #[post(take_two)]
    fn post_two(&mut self, posted: Post<u32>) {
        let len = posted.len();
        posted.post(vec![0; len]).expect("it is as long");
    }

    #[entry]
    fn inherit(&mut self, sent: Sent<u32>) {
        sent.into_buffer().try_into_mut().expect("nobody else holds it");
        self.heard.push((chare::reference(), 1));
    }

    /// A regular argument.
    #[entry]
    fn hold(&mut self, data: BufferMut<u32>, done: Callback<usize>) {
        check(&data);
        done.send(data.len());
    }

    /// A source and a target of `len` elements, and a stale one of each. Both live ones tell this member of every transfer.
    #[entry]
    fn register(&mut self, len: usize, to: Callback<Handles>) {
        let notice = |reference| self.this_chare().hear_callback().with_reference(reference);
        let source = RegisteredSource::register(pattern(len)).notify(notice(1));
        let target = RegisteredTarget::register(vec![0; len]).notify(notice(2));
        let stale_source = RegisteredSource::register(pattern(len)).handle();
        let stale_target = RegisteredTarget::register(vec![0; len]).handle();
        to.send((source.handle(), target.handle(), stale_source, stale_target));
        self.sources.push(source);
        self.targets.push(target);
    }

    #[entry]
    fn hear(&mut self, bytes: u64) {
        self.heard.push((chare::reference(), bytes));
    }

    #[entry]
    fn tell(&mut self, to: Callback<Vec<(u64, u64)>>) {
        self.heard.sort_unstable();
        to.send(std::mem::take(&mut self.heard));
    }
}

type Handles = (SourceHandle<u32>, TargetHandle<u32>, SourceHandle<u32>, TargetHandle<u32>);

fn pattern(len: usize) -> Vec<u32> {
    (0..len as u32).map(|position| position.wrapping_mul(2_654_435_761)).collect()
}

#[track_caller]
fn check(data: &[u32]) {
    assert!(data == pattern(data.len()), "wrong data, {} elements", data.len());
}

/// The program between nodes, and inside one.
fn everywhere<Fut: Future<Output = ()> + 'static>(main: impl Fn() -> Fut + Send + Clone + 'static) {
    on_every_path(&[(2, 1), (2, 2)], main.clone());
    assert_eq!(Job::in_process(1, 2).run(main).unwrap(), 0);
}

fn far() -> PeId {
    PeId(chare::pes() - 1)
}

#[test]
fn each_argument_comes_back_by_its_own_completion() {
    everywhere(|| async {
        let peers = PeerProxy::create();
        let (whole, on_whole) = chare::future::<Sent<u32>>();
        let (part, on_part) = chare::future::<(Sent<u32>, String)>();
        let (small, on_small) = chare::future::<(Sent<u32>, Vec<u8>)>();
        peers.on(far()).take_three(
            SendBuffer::from(pattern(LONG)).on_sent(on_whole),
            SendBuffer::from(pattern(LONG)).on_sent(on_part.carrying("the caller's".to_owned())),
            SendBuffer::from(pattern(5)).on_sent(on_small.carrying(vec![1, 2])),
        );
        let (whole, (part, name), (small, bytes)) = (whole.await, part.await, small.await);
        assert_eq!((whole.transferred(), part.transferred(), small.transferred()), (LONG, LONG / 2, 3));
        assert_eq!((&*name, &*bytes), ("the caller's", &[1, 2][..]));
        for sent in [whole, part, small] {
            check(&sent);
        }
        chare::quiescence().await;
    });
}

/// A chare that hears that a buffer is free finds it free, on whichever PE, also while its sender waits for credit. There is more of it than credit.
#[test]
fn a_buffer_comes_back_when_nobody_holds_it() {
    on_every_path(&[(2, 2)], || async {
        let peers = PeerProxy::create();
        for (len, count) in [(900, 5_000), (5_000, 1_000), (200_000, 100)] {
            peers.on(PeId(0)).flood(len, count);
            chare::quiescence().await;
            let (told, to) = chare::future();
            peers.on(PeId(1)).tell(to);
            assert_eq!(told.await.len(), 2 * count, "{len} elements");
        }
    });
}

/// The same where the section's root, which tells its members, is on another node.
#[test]
fn a_buffer_comes_back_from_a_section_when_nobody_holds_it() {
    on_every_path(&[(2, 2)], || async {
        let peers = PeerProxy::create();
        let section = peers.section([PeId(1), PeId(3)]);
        for (len, count) in [(200, 3_000), (900, 3_000), (60_000, 100)] {
            peers.on(PeId(2)).flood_section(section.clone(), len, count);
            chare::quiescence().await;
            let (told, to) = chare::future();
            peers.on(far()).tell(to);
            assert_eq!(told.await.len(), count, "{len} elements");
        }
    });
}

static GUARDS: AtomicUsize = AtomicUsize::new(0);

/// Elements that live inside their owner.
struct Owner([u32; INSIDE]);

impl AsRef<[u32]> for Owner {
    fn as_ref(&self) -> &[u32] {
        &self.0
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        GUARDS.fetch_sub(1, Ordering::Relaxed);
    }
}

#[test]
fn foreign_memory_is_sent_and_let_go_of() {
    everywhere(|| async {
        let peers = PeerProxy::create();
        let elements = pattern(INSIDE).try_into().expect("as many");
        GUARDS.fetch_add(1, Ordering::Relaxed);
        let foreign = Buffer::from_owner(Owner(elements));
        let (taken, done) = chare::future();
        let (sent, on_sent) = chare::future::<Sent<u32>>();
        peers.on(far()).take(SendBuffer::from(foreign).on_sent(on_sent), done);
        assert_eq!(taken.await, INSIDE);
        let back = sent.await.into_buffer().try_into_mut().expect_err("it belongs to somebody else");
        drop(back);
        chare::quiescence().await;
        assert_eq!(GUARDS.load(Ordering::Relaxed), 0);

        for len in [10, LONG] {
            let elements = Arc::new(pattern(len));
            // SAFETY: the guard keeps the elements, which nobody writes.
            let raw = unsafe { Buffer::from_raw_parts(elements.as_ptr(), len, Arc::clone(&elements)) };
            let ((taken, done), (sent, on_sent)) = (chare::future(), chare::future::<Sent<u32>>());
            peers.on(far()).take(SendBuffer::from(raw).on_sent(on_sent), done);
            assert_eq!(taken.await, len);
            drop(sent.await);
            chare::quiescence().await;
            assert_eq!(Arc::strong_count(&elements), 1, "the guard is gone");
        }

        let shared = Arc::new(pattern(LONG));
        struct Table(Arc<Vec<u32>>);
        impl AsRef<[u32]> for Table {
            fn as_ref(&self) -> &[u32] {
                &self.0
            }
        }
        let (taken, done) = chare::future();
        peers.on(far()).take(Buffer::from_owner(Table(Arc::clone(&shared))), done);
        assert_eq!(taken.await, LONG);
        chare::quiescence().await;
        assert_eq!(Arc::strong_count(&shared), 1);
    });
}

#[test]
fn a_vector_that_guards_foreign_elements_is_not_the_elements() {
    let mut elements = vec![1u32, 2, 3];
    let guard = vec![9u32, 9];
    // SAFETY: `elements` outlives the buffer, and nobody uses it meanwhile.
    let buffer = unsafe { BufferMut::from_raw_parts(elements.as_mut_ptr(), 3, guard) };
    assert_eq!(buffer.into_vec(), [1, 2, 3]);
    let address = elements.as_ptr();
    let same = BufferMut::from(elements).into_vec();
    assert_eq!((same.as_ptr(), &same[..]), (address, &[1, 2, 3][..]));
    let roomy = BufferMut::from(Vec::<u32>::with_capacity(100)).into_vec();
    assert!(roomy.capacity() >= 100, "an empty vector comes back, too");
}

#[test]
fn completions_carry_values_and_owners_hear_by_reference() {
    everywhere(|| async {
        let peers = PeerProxy::create();
        for len in [1, LONG] {
            let (handles, to) = chare::future();
            peers.on(far()).register(len, to);
            let (source, target, ..) = handles.await;
            let (filled, done) = chare::future::<(BufferMut<u32>, u64)>();
            rget(&source, vec![0; len], done.carrying(11)).expect("it is as long");
            let (buffer, value) = filled.await;
            check(&buffer);
            assert_eq!(value, 11);
            let (written, done) = chare::future::<(Buffer<u32>, String)>();
            rput(buffer, &target, done.carrying("written".to_owned())).expect("it is as long");
            assert_eq!(written.await.1, "written");
            chare::quiescence().await;
            let (told, to) = chare::future();
            peers.on(far()).tell(to);
            let bytes = 4 * len as u64;
            assert_eq!(told.await, [(1, bytes), (2, bytes)]);
        }
    });
}

#[test]
fn parts_of_sources_and_targets_are_where_they_belong() {
    everywhere(|| async {
        let peers = PeerProxy::create();
        let (handles, to) = chare::future();
        peers.on(far()).register(LONG, to);
        let (source, target, ..) = handles.await;
        for (first, len) in [(0, 1), (3, 5), (LONG / 2, LONG / 2), (LONG - 1, 1)] {
            let part = first..first + len;
            let (filled, done) = chare::future::<BufferMut<u32>>();
            rget(&source.slice(part.clone()), vec![7; len + 2], done).expect("it is longer");
            let filled = filled.await;
            assert!(filled[..len] == pattern(LONG)[part.clone()] && filled[len..] == [7; 2], "{part:?}");
            let (written, done) = chare::future::<Buffer<u32>>();
            rput(vec![9; len], &target.slice(part.clone()), done).expect("it is as long");
            written.await;
            let (back, done) = chare::future::<BufferMut<u32>>();
            rget(&target.as_source(), vec![0; LONG], done).expect("it is as long");
            let mut expected = vec![0; LONG];
            expected[part.clone()].fill(9);
            assert!(back.await[..] == expected, "{part:?}");
            let (cleared, done) = chare::future::<Buffer<u32>>();
            rput(vec![0; len], &target.slice(part), done).expect("it is as long");
            cleared.await;
        }
    });
}

#[test]
fn a_target_is_registered_when_its_first_handle_is_made() {
    everywhere(|| async {
        let mut target = RegisteredTarget::lazily(pattern(LONG));
        assert!(target.read(|elements| target.read(|again| elements == again)).flatten().is_some());
        for (put, expected) in [(Some(1), 1), (None, 1), (Some(2), 2)] {
            if let Some(value) = put {
                let (written, done) = chare::future::<Buffer<u32>>();
                rput(vec![value; 2], &target.handle().slice(1..3), done).expect("it fits");
                written.await;
            }
            let (closed, back) = chare::future::<BufferMut<u32>>();
            target.close(back);
            let buffer = closed.await;
            assert_eq!(buffer[1..3], [expected; 2]);
            target = RegisteredTarget::lazily(buffer);
        }
    });
}

#[test]
fn a_target_that_cannot_be_registered_yet_keeps_its_elements() {
    let code = Job::in_process(1, 1).run(|| async {
        let target = Arc::new(RegisteredTarget::lazily(vec![7; 2]));
        let other = Arc::clone(&target);
        let outside_a_pe = std::thread::spawn(move || other.handle()).join();
        assert!(outside_a_pe.is_err());
        assert!(target.read(|_| catch_unwind(AssertUnwindSafe(|| target.handle())).is_err()).unwrap());
        assert_eq!(target.read(|elements| elements.to_vec()), Some(vec![7; 2]));
        let (written, done) = chare::future::<Buffer<u32>>();
        rput(vec![8; 2], &target.handle(), done).expect("it fits");
        written.await;
        assert_eq!(target.read(|elements| elements.to_vec()), Some(vec![8; 2]));
    });
    assert_eq!(code.unwrap(), 0);
}

/// Also where nobody else makes progress: in a job of one node.
#[test]
fn a_put_waits_for_whoever_reads_its_target() {
    let main = || async {
        let target = RegisteredTarget::register(vec![0; LONG]);
        let (written, done) = chare::future::<Buffer<u32>>();
        let put = || rput(pattern(LONG), &target.handle(), done).expect("it fits");
        assert_eq!(target.read(|_| put()), Some(Status::Pending));
        check(&written.await);
        assert!(target.read(check).is_some());
    };
    everywhere(main);
    assert_eq!(Job::in_process(1, 1).run(main).unwrap(), 0);
}

#[test]
fn transfers_that_are_short_copies_are_over_at_once() {
    let main = || async {
        let peers = PeerProxy::create();
        // 128 KiB, and one element more.
        for (len, expected) in [(32 << 10, Status::Complete), ((32 << 10) + 1, Status::Pending)] {
            let (handles, to) = chare::future();
            peers.on(far()).register(len, to);
            let (source, target, ..) = handles.await;
            let (filled, done) = chare::future::<BufferMut<u32>>();
            assert_eq!(rget(&source, vec![0; len], done).expect("it is as long"), expected);
            let (written, done) = chare::future::<Buffer<u32>>();
            assert_eq!(rput(filled.await, &target, done).expect("it is as long"), expected);
            check(&written.await);
        }
    };
    assert_eq!(Job::in_process(1, 2).run(main).unwrap(), 0);
    // Neighbours copy, too, but over TCP the callback tells.
    if has_cma() {
        assert_eq!(Job::in_process(2, 1).run(main).unwrap(), 0);
    }
    let tcp = ReachOptions { nolocal: true, ..ReachOptions::default() };
    let far_away = || async {
        let peers = PeerProxy::create();
        let (handles, to) = chare::future();
        peers.on(far()).register(LONG, to);
        let (filled, done) = chare::future::<BufferMut<u32>>();
        let status = rget(&handles.await.0, vec![0; LONG], done).expect("it is as long");
        assert_eq!(status, Status::Pending);
        check(&filled.await);
    };
    assert_eq!(Job::in_process(2, 1).network(tcp).run(far_away).unwrap(), 0);
}

#[test]
fn a_requester_survives_bad_handles() {
    everywhere(|| async {
        let peers = PeerProxy::create();
        for len in [1, LONG] {
            let (handles, to) = chare::future();
            peers.on(far()).register(len, to);
            let (source, target, stale_source, stale_target) = handles.await;
            for _ in 0..3 {
                let (read, done) = chare::future();
                try_rget(&stale_source, vec![7; len + 1], done).expect("it is long enough");
                let failed = read.await.expect_err("it is stale");
                assert!(failed.to_string().contains("stale"), "{failed}");
                assert_eq!(failed.buffer[..], vec![7; len + 1], "untouched");

                let (written, done) = chare::future::<(Result<Buffer<u32>, _>, u8)>();
                try_rput(pattern(len), &stale_target, done.carrying(5)).expect("it fits");
                let (outcome, value) = written.await;
                let failed = outcome.expect_err("it is stale");
                assert_eq!((failed.buffer.len(), value), (len, 5));

                // Good ones work all the while.
                let (read, done) = chare::future();
                try_rget(&source, vec![0; len], done).expect("it is as long");
                check(&read.await.expect("it is live"));
                let (written, done) = chare::future();
                try_rput(pattern(len), &target, done).expect("it is as long");
                check(&written.await.expect("it is live"));
            }
            chare::quiescence().await;
            let (told, to) = chare::future();
            peers.on(far()).tell(to);
            let bytes = 4 * len as u64;
            assert_eq!(told.await, [[(1, bytes); 3], [(2, bytes); 3]].concat(), "once per good transfer");
        }
    });
}

#[test]
fn every_registration_sends_the_same_bytes_and_gives_the_buffer_back() {
    let ways = [Registration::Now, Registration::Lazily, Registration::Pooled, Registration::None];
    everywhere(move || async move {
        let peers = PeerProxy::create();
        for (registration, keep) in ways.map(|way| [(way, false), (way, true)]).concat() {
            for len in [5, LONG, 200_000] {
                let buffer: Buffer<u32> = pattern(len).into();
                let send = |target: PeId| {
                    let ((taken, done), (sent, on_sent)) = (chare::future(), chare::future::<Sent<u32>>());
                    let data = SendBuffer::from(buffer.clone()).registration(registration).on_sent(on_sent);
                    let data = if keep { data.keep_registered() } else { data };
                    peers.on(target).take(data, done);
                    async move {
                        assert_eq!(taken.await, len);
                        assert_eq!(sent.await.transferred(), len);
                    }
                };
                for target in [far(), PeId(0), far()] {
                    send(target).await;
                }
                let (first, second) = (send(far()), send(far()));
                first.await;
                second.await;
                chare::quiescence().await;
                let mut buffer =
                    buffer.try_into_mut().expect("it is kept registered for the next time at most");
                buffer[0] = 1;
            }
        }
    });
}

#[test]
fn what_cannot_be_registered_is_copied() {
    on_every_path(&[(2, 1)], || async {
        let peers = PeerProxy::create();
        let one: Buffer<u8> = vec![1].into();
        let mut registered = Vec::new();
        let refused = loop {
            match RegisteredSource::try_register(one.clone()) {
                Ok(source) => registered.push(source),
                Err(refused) => break refused,
            }
        };
        assert!(registered.len() > 60_000 && refused.buffer.len() == 1);
        assert!(refused.to_string().contains("registered"), "{refused}");
        // Longer than any frame, as what is copied into a message becomes.
        for len in [LONG, 500_000] {
            let mut all = Vec::new();
            for _ in 0..3 {
                let ((taken, done), (sent, on_sent)) = (chare::future(), chare::future::<Sent<u32>>());
                let (held, on_held) = chare::future();
                peers.on(PeId(1)).take(SendBuffer::from(pattern(len)).on_sent(on_sent), done);
                peers.on(PeId(1)).hold(pattern(len).into(), on_held);
                all.push((taken, sent, held));
            }
            for (taken, sent, held) in all {
                assert_eq!((taken.await, sent.await.transferred(), held.await), (len, len, len));
            }
        }
        drop(registered);
        let (taken, done) = chare::future();
        peers.on(PeId(1)).take(pattern(LONG), done);
        assert_eq!(taken.await, LONG);
    });
}
