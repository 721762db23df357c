//! Bounds on what other nodes may make a node take: whatever is beyond them ends the job with an error.

use chare::prelude::*;
use chare::{Job, JobError};
use chare_lrts::codec;

struct Lonely;

#[chare]
impl Lonely {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry]
    fn take(&mut self, _bytes: Vec<u8>) {
        unreachable!("nobody creates the chare that this test calls");
    }
}

struct Cell;

#[chare(array)]
impl Cell {
    #[entry]
    fn new() -> Self {
        Self
    }
}

fn failure<Fut: Future<Output = ()> + 'static>(main: impl Fn() -> Fut + Send + Sync + 'static) -> JobError {
    Job::in_process(1, 1).run(main).expect_err("the job fails")
}

#[test]
fn a_collection_that_no_host_holds_is_refused() {
    let error = failure(|| async {
        CellProxy::create(u64::MAX);
    });
    let text = error.to_string();
    assert!(matches!(error, JobError::Panic { .. }), "{text}");
    assert!(text.contains("Cell cannot be created") && text.contains("create fewer"), "{text}");
}

/// The proxy of the chare that the same PE would create next but a thousand.
fn of_nobody(proxy: &LonelyProxy) -> LonelyProxy {
    let mut bytes = Vec::new();
    codec::encode_into(proxy, &mut bytes).expect("proxies travel");
    // After the kind of target, the home and the creator: the creator's number.
    let number: [u8; 4] = bytes[12..16].try_into().expect("as many");
    bytes[12..16].copy_from_slice(&(u32::from_le_bytes(number) + 1_000).to_le_bytes());
    codec::decode(&bytes).expect("a proxy is an allegation")
}

#[test]
fn calls_of_a_chare_that_never_comes_are_kept_up_to_a_bound() {
    let error = failure(|| async {
        let nobody = of_nobody(&LonelyProxy::create());
        loop {
            // Zeros that nobody touches cost address space alone.
            nobody.take(vec![0; 64 << 20]);
            let (quiet, done) = chare::future::<()>();
            done.send(());
            quiet.await;
        }
    });
    let text = error.to_string();
    assert!(matches!(error, JobError::Delivery { .. }), "{text}");
    for clue in ["Lonely::take", "has not been created", "wait for creations"] {
        assert!(text.contains(clue), "{clue} in: {text}");
    }
}
