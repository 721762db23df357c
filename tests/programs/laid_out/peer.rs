//! Peers: on each PE one, which registers memory, takes what is sent, and looks after what was written.

use crate::shape::{LEN, Shape};
use chare::prelude::*;
use chare::{
    Future, Landing, RegisteredSource, RegisteredTarget, SourceHandle, SourceSelection, TargetHandle,
    TargetSelection, Transferred, try_rget, try_rput,
};
use chare_tests::status;

/// What nobody writes.
pub(crate) const CANARY: u32 = 0xc5c5_c5c5;
/// What a target holds at first.
pub(crate) const EMPTY: u32 = 0x2222_2222;
/// What is written where it does not matter which element it is.
pub(crate) const WRITTEN: u32 = 0x3333_3333;
/// What a buffer holds into which is read.
pub(crate) const UNTOUCHED: u32 = 0x4444_4444;
/// Mixed into the elements of a source.
pub(crate) const SOURCE: u32 = 0x1111_1111;

/// The element of a source at a place.
pub(crate) fn source_at(place: usize) -> u32 {
    (place as u32).wrapping_mul(0x9e37_79b1) ^ SOURCE
}

/// Where memory lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) enum Home {
    /// In the runtime's pool, which neighbours may map.
    Pool,
    /// Somewhere in the process.
    Heap,
}

impl Home {
    pub(crate) const ALL: [Self; 2] = [Self::Pool, Self::Heap];

    pub(crate) fn of(self, element: impl Fn(usize) -> u32) -> BufferMut<u32> {
        match self {
            Self::Pool => BufferMut::from_fn(LEN, element),
            Self::Heap => (0..LEN).map(element).collect::<Vec<u32>>().into(),
        }
    }
}

pub(crate) type Handles = (SourceHandle<u32>, TargetHandle<u32>);

#[derive(Default)]
pub(crate) struct Peer {
    canaries: Vec<BufferMut<u32>>,
    registered: Option<(RegisteredSource<u32>, RegisteredTarget<u32>)>,
    far: Option<RegisteredTarget<u32>>,
}

#[chare(group)]
impl Peer {
    #[entry]
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Registers a source and a target, and ends what was registered before.
    #[entry]
    pub(crate) fn register(&mut self, home: Home, to: Callback<Handles>) {
        let mut canary = || self.canaries.push(home.of(|_| CANARY));
        canary();
        let source = RegisteredSource::register(home.of(source_at));
        canary();
        let target = RegisteredTarget::register(home.of(|_| EMPTY));
        canary();
        to.send((source.handle(), target.handle()));
        self.registered = Some((source, target));
    }

    /// Ends what was registered.
    #[entry]
    pub(crate) fn forget(&mut self, done: Callback<()>) {
        let mut beside = self.canaries.iter().flat_map(|canary| canary.iter());
        assert!(beside.all(|element| *element == CANARY), "what lies beside a region was written");
        (self.registered, self.far) = (None, None);
        self.canaries.clear();
        done.send(());
    }

    /// What the target holds, after a look whether the source is what it was.
    #[entry]
    pub(crate) fn look(&mut self, to: Callback<Vec<u32>>) {
        let (source, target) = self.registered.as_ref().expect("it was registered before");
        let is_source = source.iter().enumerate().all(|(place, element)| *element == source_at(place));
        assert!(is_source, "a source was written");
        to.send(target.read(<[u32]>::to_vec).expect("no put is under way"));
    }

    /// Registers elements that no page is behind yet.
    #[entry]
    pub(crate) fn register_far(&mut self, len: usize, to: Callback<TargetHandle<u32>>) {
        let target = RegisteredTarget::register(vec![0; len]);
        to.send(target.handle());
        self.far = Some(target);
    }

    /// What the far target holds at some places.
    #[entry]
    pub(crate) fn look_far(&mut self, places: Vec<usize>, to: Callback<Vec<u32>>) {
        let far = self.far.as_ref().expect("it was registered before");
        let elements = far.read(|all| places.iter().map(|place| all[*place]).collect());
        to.send(elements.expect("no put is under way"));
    }

    /// Memory of its process.
    #[entry]
    pub(crate) fn resident(&mut self, to: Callback<u64>) {
        to.send(status("VmRSS:"));
    }

    #[entry]
    pub(crate) fn take(&mut self, #[nocopy] elements: Received<u32>, to: Callback<Vec<u32>>) {
        to.send(elements.to_vec());
    }

    #[entry]
    pub(crate) fn view(&mut self, #[nocopy] elements: ReceivedView<u32>, to: Callback<Vec<u32>>) {
        to.send(elements.to_vec());
    }

    #[entry]
    pub(crate) fn land(
        &mut self,
        _shape: Shape,
        _home: Home,
        #[nocopy(post)] elements: Posted<u32>,
        to: Callback<Vec<u32>>,
    ) {
        to.send(elements.into_buffer().to_vec());
    }

    #[post(land)]
    fn post_land(&mut self, shape: &Shape, home: &Home, elements: Post<u32>, _to: &Callback<Vec<u32>>) {
        let landing = Landing::at(&shape.layout(), home.of(|_| UNTOUCHED));
        elements.post(landing).expect("no longer than what is offered");
    }

    /// Takes the first elements of what is offered.
    #[entry]
    pub(crate) fn land_first(
        &mut self,
        _len: usize,
        #[nocopy(post)] elements: Posted<u32>,
        to: Callback<Vec<u32>>,
    ) {
        to.send(elements.into_buffer().to_vec());
    }

    #[post(land_first)]
    fn post_land_first(&mut self, len: &usize, elements: Post<u32>, _to: &Callback<Vec<u32>>) {
        elements.post(vec![UNTOUCHED; *len]).expect("no longer than what is offered");
    }
}

pub(crate) fn outcome_of_get(
    from: impl Into<SourceSelection<u32>>,
    into: impl Into<Landing<u32>>,
) -> Future<Transferred<BufferMut<u32>>> {
    let (outcome, done) = chare::future();
    try_rget(from, into, done).expect("it is as long");
    outcome
}

pub(crate) fn outcome_of_put(
    from: impl Into<chare::BufferSelection<u32>>,
    to: impl Into<TargetSelection<u32>>,
) -> Future<Transferred<Buffer<u32>>> {
    let (outcome, done) = chare::future();
    try_rput(from, to, done).expect("it is as long");
    outcome
}
