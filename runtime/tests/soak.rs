//! Soak test: many transfers of every kind on every path; each calls back once, and memory stays flat.
//!
//! `CHARE_TEST_TRANSFERS` sets how many there are per path; `cargo xtask soak` makes them a million.

use chare::prelude::*;
use chare::{
    Job, ReachOptions, RegisteredSource, RegisteredTarget, Sent, SourceHandle, TargetHandle, rget, rput,
};
use std::sync::atomic::{AtomicU64, Ordering};

/// Transfers per path in the suite.
const TRANSFERS: u64 = 8_000;

/// Transfers of each kind under way at a time.
const BATCH: u64 = 16;

/// Too long to travel with a message on any path.
const LEN: usize = 33_000;

/// Memory may grow by this much after a warm-up of an eighth of the transfers: all that a batch has at both ends, which may be there at one
/// time for the first time after it, and which allocators keep.
const GROWTH_BYTES_MAX: u64 = 6 * BATCH * (LEN * size_of::<u64>()) as u64;

/// Callbacks that fired.
static CALLBACKS: AtomicU64 = AtomicU64::new(0);

struct Peer {
    source: Option<RegisteredSource<u64>>,
    target: Option<RegisteredTarget<u64>>,
}

#[chare(group)]
impl Peer {
    #[entry]
    fn new() -> Self {
        Self { source: None, target: None }
    }

    #[entry]
    fn register(&mut self, to: Callback<(SourceHandle<u64>, TargetHandle<u64>)>) {
        let source = RegisteredSource::register(vec![1; LEN]);
        let target = RegisteredTarget::register(BufferMut::zeroed(LEN));
        to.send((source.handle(), target.handle()));
        (self.source, self.target) = (Some(source), Some(target));
    }

    #[entry]
    fn borrow(&mut self, #[nocopy] data: Received<u64>, done: Callback<u64>) {
        done.send(data[LEN - 1]);
    }

    #[entry]
    fn land(&mut self, #[nocopy(post)] data: Posted<u64>, done: Callback<u64>) {
        done.send(data[LEN - 1]);
    }

    #[post(land)]
    fn post_land(&mut self, data: Post<u64>, _done: &Callback<u64>) {
        let len = data.len();
        data.post(vec![0; len]).expect("as long as what is offered");
    }
}

fn resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("/proc is mounted");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("it has memory");
    let kibibytes: u64 = line.trim().trim_end_matches(" kB").parse().expect("a number");
    kibibytes << 10
}

async fn is_one<T>(arrived: chare::Future<T>, value: impl FnOnce(T) -> u64)
where
    T: chare::Message,
{
    assert_eq!(value(arrived.await), 1);
    CALLBACKS.fetch_add(1, Ordering::Relaxed);
}

/// Four transfers of each kind, `BATCH` times; returns how many callbacks are due for them.
async fn batch(peer: &PeerElementProxy, source: &SourceHandle<u64>, target: &TargetHandle<u64>) -> u64 {
    let mut waiting = Vec::new();
    for _ in 0..BATCH {
        let ((borrowed, on_borrowed), (landed, on_landed)) = (chare::future(), chare::future());
        let ((read, on_read), (written, on_written)) = (chare::future(), chare::future());
        let (back, on_sent) = chare::future::<Sent<u64>>();
        let lent = SendBuffer::from(BufferMut::from_fn(LEN, |_| 1)).on_sent(on_sent);
        peer.borrow(lent, on_borrowed);
        peer.land(vec![1; LEN], on_landed);
        rget(source, BufferMut::zeroed(LEN), on_read).expect("it is as long");
        rput(vec![1; LEN], target, on_written).expect("it is as long");
        waiting.push((borrowed, landed, read, written, back));
    }
    for (borrowed, landed, read, written, back) in waiting {
        is_one(borrowed, |value| value).await;
        is_one(landed, |value| value).await;
        is_one(read, |data: BufferMut<u64>| data[LEN - 1]).await;
        is_one(written, |data: Buffer<u64>| data[LEN - 1]).await;
        is_one(back, |sent: Sent<u64>| sent.into_buffer()[LEN - 1]).await;
    }
    5 * BATCH
}

fn soak(name: &'static str, nodes: u32, network: ReachOptions) {
    let asked = std::env::var("CHARE_TEST_TRANSFERS").ok().and_then(|count| count.parse().ok());
    let batches = asked.unwrap_or(TRANSFERS) / (4 * BATCH);
    let code = Job::in_process(nodes, 2 / nodes).network(network).run(move || async move {
        let peer = PeerProxy::create().on(PeId(1));
        let (handles, to_handles) = chare::future();
        peer.register(to_handles);
        let (source, target) = handles.await;
        let before = CALLBACKS.load(Ordering::Relaxed);
        let (mut due, mut warm) = (0, resident_bytes());
        for index in 0..batches {
            due += batch(&peer, &source, &target).await;
            if index == batches / 8 {
                warm = resident_bytes();
            }
        }
        let grown = resident_bytes().saturating_sub(warm);
        println!(
            "{name}: {} transfers, {warm} bytes resident when warm, {grown} more at the end",
            due / 5 * 4
        );
        assert_eq!(CALLBACKS.load(Ordering::Relaxed) - before, due, "each callback fires once");
        assert!(grown < GROWTH_BYTES_MAX, "{name}: memory grew by {grown} bytes");
        chare::exit(0);
    });
    assert_eq!(code.expect("the job ends well"), 0);
}

/// One after another: memory is measured for the process.
#[test]
fn memory_stays_flat_on_every_path() {
    let named = |name: &str| ReachOptions { lrts: Some(name.to_owned()), ..ReachOptions::default() };
    soak("memcpy", 1, ReachOptions::default());
    soak("shm", 2, named("shm"));
    soak("cma", 2, named("cma"));
    soak("tcp", 2, ReachOptions { nolocal: true, ..ReachOptions::default() });
    soak("emulated", 2, named("emulated"));
}
