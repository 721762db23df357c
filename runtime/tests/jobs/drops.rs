//! Drops of values of the user: whatever a drop does, and whenever, nothing hangs, and a drop that panics is told.

use crate::every_path::{asked_seeds, on_every_path, paths};
use chare::prelude::*;
use chare::{Job, JobError};
use serde::{Deserialize, Serialize};
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Longer than what travels inside a message, on any path.
const LONG: usize = 70_000;

/// Panics as it is dropped.
struct Fragile;

impl Drop for Fragile {
    fn drop(&mut self) {
        panic!("dropped");
    }
}

/// A member that may be fragile.
struct Vase {
    _content: Option<Fragile>,
}

#[chare(array)]
impl Vase {
    #[entry]
    fn new(fragile: Vec<u64>) -> Self {
        Self { _content: fragile.contains(&chare::this_index()).then(|| Fragile) }
    }

    #[entry]
    async fn hold(_this: This<Self>) {
        let (never, _callback) = chare::future::<u32>();
        let _fragile = Fragile;
        never.await;
    }
}

fn failure<Fut: Future<Output = ()> + 'static>(
    job: Job,
    main: impl FnOnce() -> Fut + Send + 'static,
) -> String {
    match job.run(main) {
        Err(error @ JobError::Panic { .. }) => error.to_string(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_member_whose_drop_panics_at_the_end_fails_the_job() {
    for (nodes, pes) in [(1, 1), (1, 3), (2, 1)] {
        let told = failure(Job::in_process(nodes, pes), || async {
            let vases = VaseProxy::create(5, vec![4]);
            vases.at(0).hold();
            chare::quiescence().await;
            chare::exit(0);
        });
        assert!(told.contains("Vase::") && told.contains("dropped (at ") && told.contains("PE "), "{told}");
    }
}

#[test]
fn many_members_whose_drops_panic_are_counted() {
    let told = failure(Job::in_process(1, 1), || async {
        VaseProxy::create(5, (0..5).collect());
        chare::quiescence().await;
        chare::exit(0);
    });
    for clue in ["Vase::drop of member 0 panicked", "dropped (at ", "so did 4 more drops"] {
        assert!(told.contains(clue), "mentions `{clue}`: {told}");
    }
}

/// Where a witness was dropped whose entry had panicked.
static DROPPED_ON: AtomicUsize = AtomicUsize::new(usize::MAX);

struct Witness {
    is_broken: bool,
}

impl Drop for Witness {
    fn drop(&mut self) {
        if self.is_broken {
            DROPPED_ON.store(chare::my_pe().0 as usize, Ordering::Relaxed);
        }
    }
}

#[chare(array)]
impl Witness {
    #[entry]
    fn new() -> Self {
        Self { is_broken: false }
    }

    #[entry]
    fn break_down(&mut self) {
        self.is_broken = true;
        panic!("broken");
    }
}

#[test]
fn a_chare_whose_entry_panicked_is_dropped_on_its_pe() {
    for last in [0_u64, 2] {
        let told = failure(Job::in_process(1, last as u32 + 1), move || async move {
            WitnessProxy::create(last + 1).at(last).break_down();
        });
        assert!(told.contains("Witness::break_down of member") && told.contains("broken"), "{told}");
        assert_eq!(DROPPED_ON.swap(usize::MAX, Ordering::Relaxed), last as usize);
    }
}

/// Sends a value and waits for another as it is dropped.
#[derive(Clone, Serialize, Deserialize)]
struct Farewell(Option<Callback<u32>>);

impl Drop for Farewell {
    fn drop(&mut self) {
        if let Some(callback) = self.0.take() {
            let (unheard, _callback) = chare::future::<Farewell>();
            drop(unheard);
            callback.send(7);
        }
    }
}

#[test]
fn a_value_that_nobody_awaits_may_use_the_pe_as_it_is_dropped() {
    on_every_path(&[(1, 1), (1, 2), (2, 1)], || async {
        let (unheard, to_nobody) = chare::future::<Farewell>();
        let (heard, callback) = chare::future();
        drop(unheard);
        to_nobody.send(Farewell(Some(callback)));
        assert_eq!(heard.await, 7);
    });
}

/// One more owner of elements that others own, too; sends them as it is dropped.
struct Owner {
    elements: Arc<Vec<u32>>,
    heir: Option<(ReaderProxy, Callback<usize>)>,
}

impl AsRef<[u32]> for Owner {
    fn as_ref(&self) -> &[u32] {
        &self.elements
    }
}

static OWNERS: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// Whether this thread is sending elements of an owner.
    static IN_CALL: Cell<bool> = const { Cell::new(false) };
}

impl Owner {
    fn new(elements: &Arc<Vec<u32>>, heir: Option<(ReaderProxy, Callback<usize>)>) -> Self {
        OWNERS.fetch_add(1, Ordering::Relaxed);
        Self { elements: Arc::clone(elements), heir }
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        // Seeds of a campaign refuse registrations; then the call copies the bytes.
        assert!(!IN_CALL.get() || asked_seeds().is_some(), "the bytes are still to be read");
        OWNERS.fetch_sub(1, Ordering::Relaxed);
        if let Some((heir, done)) = self.heir.take() {
            heir.on(PeId(chare::pes() - 1)).read(Buffer::from_owner(Owner::new(&self.elements, None)), done);
        }
    }
}

/// Reads what it is lent.
struct Reader;

#[chare(group)]
impl Reader {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry]
    fn read(&mut self, #[nocopy] data: Received<u32>, done: Callback<usize>) {
        assert!(data.iter().copied().eq(0..LONG as u32));
        done.send(data.len());
    }
}

#[test]
fn each_owner_of_the_same_bytes_stays_until_its_own_receiver_is_done() {
    on_every_path(&[(2, 1), (2, 2)], || async {
        let readers = ReaderProxy::create();
        let last = PeId(chare::pes() - 1);
        let elements = Arc::new((0..LONG as u32).collect::<Vec<_>>());
        let (third, on_third) = chare::future();
        let heirs = [None, Some((readers.clone(), on_third))];
        let read = heirs.map(|heir| {
            let (read, done) = chare::future();
            let buffer = Buffer::from_owner(Owner::new(&elements, heir));
            IN_CALL.set(true);
            readers.on(last).read(buffer, done);
            IN_CALL.set(false);
            read
        });
        assert_eq!(chare::wait_all(read).await, [LONG, LONG]);
        assert_eq!(third.await, LONG);
        chare::quiescence().await;
        assert_eq!((OWNERS.load(Ordering::Relaxed), Arc::strong_count(&elements)), (0, 1));
    });
}

/// An owner of lent memory that panics as it is dropped.
struct Brittle(Vec<u32>);

impl AsRef<[u32]> for Brittle {
    fn as_ref(&self) -> &[u32] {
        &self.0
    }
}

impl Drop for Brittle {
    fn drop(&mut self) {
        panic!("dropped");
    }
}

#[test]
fn an_owner_whose_drop_panics_when_its_receiver_is_done_fails_the_job() {
    for (path, network) in paths() {
        let told = failure(Job::in_process(2, 1).network(network), || async {
            let readers = ReaderProxy::create();
            let (read, done) = chare::future();
            let owner = Brittle((0..LONG as u32).collect());
            readers.on(PeId(1)).read(Buffer::from_owner(owner), done);
            read.await;
            chare::quiescence().await;
        });
        assert!(told.contains("dropped (at "), "{path}: {told}");
    }
}
