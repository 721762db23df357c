//! Messages from another node: whatever they say, the node goes on or ends the job with an error. The seeds are what honest nodes say in
//! three programs, of which each is a target: one that says everything but what buffers by layouts and among many, and elements that move, say.

mod buffers;
mod moving;

use chare::fuzzing::Pair;
use chare::prelude::*;
use chare::{ArrayOptions, RegisteredSource, RegisteredTarget, SourceHandle, TargetHandle, rget, rput};
use serde::{Deserialize, Serialize};
use std::cell::{self, RefCell};
use std::mem::ManuallyDrop;

/// Elements of an argument that is too long to travel with its message, even where messages carry everything.
const BULK: usize = 80_000;

/// Elements of registered memory.
const REGISTERED: usize = 20_000;

struct Single;

#[chare]
impl Single {
    #[entry]
    fn new(_names: Vec<String>) -> Self {
        Self
    }

    #[entry]
    fn look(&mut self, _pairs: Vec<(u32, Option<i64>)>, done: Callback<String>) {
        done.send("seen".to_owned());
    }
}

struct Member {
    sources: Vec<RegisteredSource<u32>>,
    targets: Vec<RegisteredTarget<u32>>,
}

#[chare(group)]
impl Member {
    #[entry]
    fn new() -> Self {
        Self { sources: Vec::new(), targets: Vec::new() }
    }

    #[entry]
    fn borrow(&mut self, #[nocopy] data: Received<u32>, done: Callback<u64>) {
        done.send(data.len() as u64);
    }

    #[entry]
    fn land(
        &mut self,
        #[nocopy(post)] data: Posted<u32>,
        #[nocopy] more: Received<u64>,
        done: Callback<u64>,
    ) {
        done.send((data.len() + more.len()) as u64);
    }

    #[post(land)]
    fn post_land(&mut self, data: Post<u32>, _done: &Callback<u64>) {
        let len = data.len();
        data.post(vec![0; len.min(BULK)]).expect("no longer than what is offered");
    }

    #[entry]
    fn fill(&mut self, #[nocopy(post)] data: Posted<u32>, done: Callback<u64>) {
        done.send(data.len() as u64);
    }

    #[post(fill)]
    fn post_fill(&mut self, data: Post<u32>, _done: &Callback<u64>) {
        let len = data.len();
        data.post(vec![0; len.min(BULK)]).expect("no longer than what is offered");
    }

    /// Answers by a message that brings the release of what was lent along.
    #[entry]
    fn pass(&mut self, back: MemberElementProxy, #[nocopy] data: Received<u32>, done: Callback<u64>) {
        let first = data[..1].to_vec();
        drop(data);
        back.fill(first, done);
    }

    #[entry]
    fn register(&mut self, done: Callback<(SourceHandle<u32>, TargetHandle<u32>)>) {
        let source = RegisteredSource::register(vec![1; REGISTERED]);
        let target = RegisteredTarget::register(BufferMut::zeroed(REGISTERED));
        done.send((source.handle(), target.handle()));
        self.sources.push(source);
        self.targets.push(target);
    }

    #[entry]
    fn read(&mut self, source: SourceHandle<u32>, done: Callback<u64>) {
        if source.len() <= REGISTERED {
            let filled = rget(&source, BufferMut::zeroed(source.len()), Callback::ignore());
            done.send(u64::from(filled.is_ok()));
        }
    }

    #[entry]
    fn answer(&mut self) -> Option<u64> {
        Some(7)
    }

    #[entry]
    async fn ask(this: This<Self>, done: Callback<Option<u64>>) {
        done.send(this.this_collection().on(PeId(0)).answer().await);
    }

    /// Asks what will not be answered.
    #[entry]
    fn wonder(&mut self, at: PatchElementProxy, asked: Callback<()>) {
        drop(at.wonder(asked));
    }

    #[entry]
    fn total(&mut self, value: u64, done: Callback<u64>) {
        self.contribute(sum(value), done);
    }

    /// Lends memory to the member that it is told, which answers by [`Member::pass`].
    #[entry]
    fn lend(&mut self, other: MemberElementProxy, done: Callback<u64>) {
        other.pass(self.this_chare(), BufferMut::zeroed(BULK), done);
    }
}

struct Cell {
    counted: u64,
}

#[chare(array)]
impl Cell {
    #[entry]
    fn new(_seed: u64) -> Self {
        Self { counted: 0 }
    }

    #[entry(aggregate)]
    fn count(&mut self, number: u16, all: u64, done: Callback<u64>) {
        self.counted = self.counted.wrapping_add(number.into());
        if self.counted == all {
            done.send(self.counted);
        }
    }

    #[entry]
    fn all(&mut self, values: Vec<f64>, done: Callback<Vec<u64>>) {
        self.contribute(set(values.len() as u64), done);
    }

    #[entry]
    fn some(&mut self, section: CellSectionProxy, #[nocopy] data: Received<u32>, done: Callback<u64>) {
        self.contribute_to(&section, sum(data.len() as u64), done);
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Spot(i32, String);

impl chare::ArrayIndex for Spot {}

struct Patch;

#[chare(array, index = Spot)]
impl Patch {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry(create_home)]
    fn touch(&mut self, done: Callback<u64>) {
        done.send(1);
    }

    #[entry]
    async fn wonder(_this: This<Self>, asked: Callback<()>) -> u64 {
        asked.send(());
        chare::future().0.await
    }

    #[entry]
    fn leave(&mut self, done: Callback<u64>) {
        self.contribute(sum(1), done);
        chare::destroy();
    }
}

/// Elements that come and go, at home and elsewhere.
async fn insert_and_destroy(members: &MemberProxy) {
    let patches = PatchProxy::create_empty(ArrayOptions::empty());
    let places = ["", "long enough to be a digest"].map(|name| Spot(7, name.to_owned()));
    let touched = places.map(|place| {
        let patch = patches.at(place);
        patch.insert_on(PeId(1));
        let (touched, done) = chare::future();
        patch.touch(done);
        touched
    });
    for touched in touched {
        assert_eq!(touched.await, 1);
    }
    let here = patches.at(Spot(8, String::new()));
    here.insert_on(PeId(0));
    let (begun, asked) = chare::future();
    members.on(PeId(1)).wonder(here, asked);
    begun.await;
    patches.done_inserting();
    let (left, done) = chare::future();
    patches.leave(done);
    assert_eq!(left.await, 3);
}

/// Sections, called with what travels along and what does not.
async fn form_and_dissolve(cells: &CellProxy) {
    let section = cells.section(0..5);
    let part = section.section([cells.at(3), cells.at(4)]);
    for (section, members) in [(section, 5), (part, 2)] {
        for len in [3, BULK] {
            let (lens, done) = chare::future();
            section.some(section.clone(), vec![1; len], done);
            assert_eq!(lens.await, members * len as u64);
        }
        section.dissolve();
    }
}

/// Calls that travel together, to all elements.
async fn count(cells: &CellProxy) {
    let counts = [0, 1, 2, 3, 4].map(|index| {
        let (counted, done) = chare::future();
        [1, 2, 3].into_iter().for_each(|number| cells.at(index).count(number, 6, done));
        counted
    });
    for counted in counts {
        assert_eq!(counted.await, 6);
    }
}

/// A program that says what nodes can say.
async fn say_everything() {
    chare::set_readonly(vec!["a".to_owned(), "b".to_owned()]);
    let (seen, done) = chare::future();
    SingleProxy::create_on(PeId(1), vec!["x".into()]).look(vec![(1, None), (2, Some(-3))], done);
    let _: String = seen.await;
    let members = MemberProxy::create();
    let other = members.on(PeId(1));
    let ((short, on_short), (long, on_long), (landed, on_landed)) =
        (chare::future(), chare::future(), chare::future());
    other.borrow(vec![1, 2, 3], on_short);
    other.borrow(vec![1; BULK], on_long);
    other.land(vec![1; BULK], vec![1; 10], on_landed);
    assert_eq!(short.await + long.await, 3 + BULK as u64);
    assert_eq!(landed.await, BULK as u64 + 10);
    let ((filled, on_filled), (passed, on_passed), (answered, on_answered)) =
        (chare::future(), chare::future(), chare::future());
    other.fill(vec![1, 2, 3], on_filled);
    other.pass(members.on(PeId(0)), BufferMut::zeroed(BULK), on_passed);
    other.lend(members.on(PeId(0)), on_answered);
    assert_eq!((filled.await, passed.await, answered.await), (3, 1, 1));
    let (handles, done) = chare::future();
    other.register(done);
    let (source, target) = handles.await;
    let ((read, on_read), (written, on_written)) = (chare::future(), chare::future());
    rget(&source, BufferMut::zeroed(REGISTERED), on_read).expect("it is as long");
    rput(vec![5; REGISTERED], &target, on_written).expect("it is as long");
    assert_eq!(read.await.len(), REGISTERED);
    let _: Buffer<u32> = written.await;
    let own = RegisteredSource::register(vec![1; 100]);
    let (got, done) = chare::future();
    other.read(own.handle().slice(1..50), done);
    assert_eq!(got.await, 1);
    let (asked, done) = chare::future();
    other.ask(done);
    assert_eq!(asked.await, Some(7));
    let (total, done) = chare::future();
    members.total(7, done);
    assert_eq!(total.await, 14);
    let cells = CellProxy::create(5, 1);
    let (lens, done) = chare::future();
    cells.all(vec![1.5; 60_000], done);
    assert_eq!(lens.await, [60_000; 5]);
    count(&cells).await;
    form_and_dissolve(&cells).await;
    insert_and_destroy(&members).await;
    // Kept on both nodes.
    for name in ["one", "two", "three", "four"] {
        chare::register(name, &cells).await.expect("the name is free");
        assert_eq!(chare::named::<CellProxy>(name).await.expect("it is registered"), cells);
    }
}

/// A program of honest nodes: what it says are the seeds of a target of its own. A pair whose job has ended is opened anew, so each is short.
#[derive(Clone, Copy)]
pub(crate) enum Program {
    Envelope,
    Buffers,
    Moves,
}

impl Program {
    fn open(self) -> (Pair, Vec<Vec<u8>>) {
        match self {
            Self::Envelope => Pair::open(|| for_ever(say_everything())),
            Self::Buffers => Pair::open(|| for_ever(buffers::say())),
            Self::Moves => Pair::open(|| for_ever(moving::say())),
        }
    }

    pub(crate) fn seeds(self) -> Vec<Vec<u8>> {
        HAS_SAID_ALL.set(false);
        let (pair, frames) = self.open();
        assert!(HAS_SAID_ALL.get(), "after {} frames the program waits for what does not come", frames.len());
        // The changes of these seeds are told to the nodes that know their keys.
        PAIRS.with_borrow_mut(|pairs| pairs[self as usize] = Some(pair));
        frames
    }

    /// Tells a node these bytes. Returns its refusal, if it refuses them: an error with words, and the next frame finds the node as it was.
    pub(crate) fn run(self, bytes: &[u8]) -> Option<String> {
        PAIRS.with_borrow_mut(|pairs| {
            let place = &mut pairs[self as usize];
            let pair = place.get_or_insert_with(|| self.open().0);
            let refusal = pair.hear(bytes).err();
            if pair.has_ended() {
                *place = None;
            }
            refusal
        })
    }
}

/// A program that goes on for ever: a job that ends says nothing more.
async fn for_ever(program: impl Future<Output = ()>) {
    program.await;
    HAS_SAID_ALL.set(true);
    chare::future::<()>().0.await;
}

thread_local! {
    /// Whether the program of the last pair came to its end: a seed that is missing would be missed by nobody.
    static HAS_SAID_ALL: cell::Cell<bool> = const { cell::Cell::new(false) };
    /// Not dropped with their thread: they need what the runtime keeps there.
    static PAIRS: RefCell<ManuallyDrop<[Option<Pair>; 3]>> =
        const { RefCell::new(ManuallyDrop::new([const { None }; 3])) };
}
