//! Device buffers as nocopy arguments between PEs of one process that share a device, on software devices in which things go wrong: moves,
//! steps between layouts, posts, what senders are told, refusals, and lost devices.

use chare::devices::{self, DeviceChoice, Event, Faults, Software, Stream, StreamCallbacks};
use chare::layout::{Dims, Layout};
use chare::prelude::*;
use chare::{
    DeviceBufferMut, DeviceError, DeviceLanding, DevicePosted, DeviceReceived, Job, JobError, PostRefusal,
    SendDeviceBuffer, SentDevice,
};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;

/// A job of two PEs that share a device whose commands take their time.
fn slow_job() -> Job {
    let faults = Faults { delay: Duration::from_millis(2), seed: 7, ..Faults::default() };
    job_with(faults)
}

fn job_with(faults: Faults) -> Job {
    Job::in_process(1, 2).device(DeviceChoice::Software(vec![Software { faults, ..Software::default() }]))
}

fn stream() -> Stream {
    devices::stream().expect("there is a software device")
}

/// A device buffer of this PE that a stream is still writing.
fn filled(values: &[u32]) -> DeviceBufferMut<u32> {
    let mut buffer = room(values.len());
    buffer.write(&stream(), values).expect("there is room for staging");
    buffer
}

fn room(len: usize) -> DeviceBufferMut<u32> {
    let device = devices::mine().expect("there is a software device");
    DeviceBufferMut::zeroed(&device, &stream(), len).expect("it has room")
}

fn counted(len: u32) -> Vec<u32> {
    (0..len).collect()
}

/// What a buffer holds, once the streams that write it are past that.
async fn read(buffer: &chare::DeviceBuffer<u32>) -> Vec<u32> {
    let stream = stream();
    let mut landed = buffer.read(&stream).expect("there is room for staging");
    stream.passed().expect("it is there").await.expect("it is not lost");
    landed.elements().expect("it is not lost").expect("the stream is past it").to_vec()
}

/// How a neighbour lands what is sent to it.
#[derive(Clone, Copy, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
enum Manner {
    Whole,
    First,
    /// Every other element, from the second on.
    Column,
    /// The whole, before a stream of the receiver.
    Before,
}

const MANNERS: [Manner; 4] = [Manner::Whole, Manner::First, Manner::Column, Manner::Before];

struct Neighbour {
    kept: Vec<DeviceReceived<u32>>,
}

#[chare]
impl Neighbour {
    #[entry]
    fn new() -> Self {
        Self { kept: Vec::new() }
    }

    #[entry]
    async fn take(this: This<Self>, #[nocopy] face: DeviceReceived<u32>, done: Callback<(u64, Vec<u32>)>) {
        let address = face.address();
        let values = read(&face).await;
        drop((face, this));
        done.send((address, values));
    }

    #[entry]
    fn ping(&self) -> bool {
        self.kept.is_empty()
    }

    #[entry]
    fn keep(&mut self, #[nocopy] face: DeviceReceived<u32>) {
        self.kept.push(face);
    }

    /// Sends what was kept on, as the buffer that it is, with what is the host's.
    #[entry]
    fn pass_on(&mut self, to: NeighbourProxy, done: Callback<(u64, Vec<u32>)>) {
        let face = self.kept.pop().expect("something was kept");
        to.take(SendDeviceBuffer::from(face.into_buffer()), done);
    }

    #[entry]
    async fn land(
        this: This<Self>,
        #[nocopy(post)] row: DevicePosted<u32>,
        manner: Manner,
        done: Callback<(u64, Vec<u32>)>,
    ) {
        if manner != Manner::Before {
            assert!(row.is_complete().expect("it is not lost"), "the entry runs when the elements are there");
        }
        let transferred = row.transferred() as u64;
        let values = read(&row.into_buffer().freeze()).await;
        drop(this);
        done.send((transferred, values));
    }

    #[post(land)]
    fn post_land(&mut self, row: Post<u32>, manner: &Manner, _done: &Callback<(u64, Vec<u32>)>) {
        let len = row.len();
        match manner {
            Manner::Whole => row.post_device(room(len).into()),
            Manner::First => row.post_device(DeviceLanding::first(len - 1, room(len + 3))),
            Manner::Column => row.post_device(DeviceLanding::at(&column(len), room(2 * len))),
            Manner::Before => row.post_device(DeviceLanding::from(room(len)).before(&stream())),
        }
        .expect("it is no longer than the sender's");
    }

    #[entry]
    fn refuse(&mut self, #[nocopy(post)] row: DevicePosted<u32>, #[nocopy(post)] host: Posted<u32>) {
        assert_eq!((row.transferred(), host.len()), (4, 3));
        chare::exit(0);
    }

    #[post(refuse)]
    fn post_refuse(&mut self, row: Post<u32>, host: Post<u32>) {
        let refused = row.post_device(room(5).into()).expect_err("the sender offers four");
        assert_eq!(refused.cause, PostRefusal::TooLong { wanted: 5, offered: 4 });
        assert_eq!(refused.given.into_buffer().len(), 5);
        let refused = refused.post.post(vec![0; 4]).expect_err("it is the host's");
        assert_eq!(
            refused.cause.to_string(),
            "a buffer of the host for a parameter of a device; a device takes `Post::post_device`"
        );
        let refused = refused.post.match_tag(7).expect_err("tags are of the host's buffers");
        assert_eq!(refused.cause, PostRefusal::OtherMemory { of_device: true });
        refused.post.post_device(room(4).into()).expect("it is as long");
        let refused = host.post_device(room(3).into()).expect_err("it is the host's parameter");
        assert_eq!(refused.cause, PostRefusal::OtherMemory { of_device: false });
        refused.post.post(vec![0; 3]).expect("it is as long");
    }
}

/// So many elements, every other one from the second on.
fn column(len: usize) -> Layout<u32> {
    Dims::new([len, 2]).select((.., 1))
}

#[test]
fn a_buffer_moves_to_another_pe_as_it_is_while_its_writer_is_under_way() {
    let code = slow_job().run(|| async {
        let neighbour = NeighbourProxy::create_on(PeId(1));
        for round in 1..10 {
            let field = filled(&counted(100 * round));
            let address = field.address();
            let (seen, done) = chare::future();
            neighbour.take(SendDeviceBuffer::from(field), done);
            assert_eq!(seen.await, (address, counted(100 * round)));
        }
    });
    assert_eq!(code.expect("the job runs"), 0);
}

#[test]
fn what_was_received_is_kept_and_sent_on_without_a_copy() {
    let code = slow_job().run(|| async {
        let (one, other) = (NeighbourProxy::create_on(PeId(1)), NeighbourProxy::create_on(PeId(0)));
        let field = filled(&counted(50));
        let address = field.address();
        let ((seen, done), (sent, on_sent)) = (chare::future(), chare::future::<SentDevice<u32>>());
        one.keep(SendDeviceBuffer::from(field).on_sent(on_sent));
        one.pass_on(other, done);
        assert_eq!(seen.await, (address, counted(50)));
        let sent = sent.await;
        assert_eq!(sent.transferred(), 50);
        let again = sent.into_buffer().try_into_mut().expect("everybody has let go of it");
        assert_eq!(again.address(), address);
    });
    assert_eq!(code.expect("the job runs"), 0);
}

#[test]
fn layouts_are_stepped_to_where_each_side_wants_the_elements() {
    let code = slow_job().run(|| async {
        let neighbour = NeighbourProxy::create_on(PeId(1));
        let field = filled(&counted(40)).freeze();
        let odd: Vec<u32> = counted(40).into_iter().filter(|value| value % 2 == 1).collect();
        let ((seen, done), (sent, on_sent)) = (chare::future(), chare::future::<SentDevice<u32>>());
        neighbour.take(SendDeviceBuffer::from(field.clone()).only(&column(20)).on_sent(on_sent), done);
        assert_eq!(seen.await.1, odd);
        assert_eq!(sent.await.transferred(), 20);
        for manner in MANNERS {
            for is_column in [false, true] {
                let from = if is_column { odd.clone() } else { counted(40) };
                let ((landed, done), (sent, on_sent)) = (chare::future(), chare::future::<SentDevice<u32>>());
                let whole = SendDeviceBuffer::from(field.clone());
                match is_column {
                    true => neighbour.land(whole.only(&column(20)).on_sent(on_sent), manner, done),
                    false => neighbour.land(whole.on_sent(on_sent), manner, done),
                }
                let len = from.len();
                let (transferred, expected) = match manner {
                    Manner::Whole | Manner::Before => (len, from),
                    Manner::First => (len - 1, [&from[..len - 1], &[0; 4]].concat()),
                    Manner::Column => (len, from.into_iter().flat_map(|value| [0, value]).collect()),
                };
                assert_eq!(landed.await, (transferred as u64, expected), "{manner:?} {is_column}");
                assert_eq!(sent.await.transferred(), transferred, "{manner:?} {is_column}");
            }
        }
    });
    assert_eq!(code.expect("the job runs"), 0);
}

#[test]
fn what_is_sent_behind_a_stream_waits_for_it() {
    let code = Job::in_process(1, 2).device(DeviceChoice::software(1)).run(|| async {
        let neighbour = NeighbourProxy::create_on(PeId(1));
        let device = devices::mine().expect("a device");
        let kernels = device.stream(devices::Priority::Normal).expect("another one");
        let (field, gate) = (filled(&counted(9)), Gate::on(&kernels));
        let (is_open, (seen, done)) = (Arc::clone(&gate.is_open), chare::future());
        let done = Callback::once(move |seen| {
            assert!(is_open.load(Ordering::SeqCst), "the stream stood still");
            done.send(seen);
        });
        neighbour.take(SendDeviceBuffer::from(field).after(&kernels), done);
        for _ in 0..100 {
            neighbour.ping().await;
        }
        gate.open();
        assert_eq!(seen.await.1, counted(9));
    });
    assert_eq!(code.expect("the job runs"), 0);
}

/// A stream that goes no further before it is let.
struct Gate {
    is_open: Arc<AtomicBool>,
    open: mpsc::Sender<()>,
}

impl Gate {
    fn on(stream: &Stream) -> Self {
        let (open, opened) = mpsc::channel();
        let wait = move || {
            let _ = opened.recv();
        };
        stream.call(wait).expect("it goes on");
        Self { is_open: Arc::default(), open }
    }

    fn open(&self) {
        self.is_open.store(true, Ordering::SeqCst);
        let _ = self.open.send(());
    }
}

struct Holder {
    gate: Option<Gate>,
    behind: Option<Event>,
}

#[chare]
impl Holder {
    #[entry]
    fn new() -> Self {
        Self { gate: None, behind: None }
    }

    /// Gives a stream that stands still a use of the buffer, and drops the buffer.
    #[entry]
    fn use_behind_gate(&mut self, #[nocopy] face: DeviceReceived<u32>) {
        let stream = stream();
        self.gate = Some(Gate::on(&stream));
        face.before(&stream).expect("it is of this device");
        face.after(&stream).expect("it is of this device");
        self.behind = Some(stream.record().expect("it goes on"));
    }

    #[entry]
    fn is_behind_gate(&self) -> bool {
        !self.behind.as_ref().expect("it has one").is_complete().expect("it is not lost")
    }

    #[entry]
    fn open(&mut self) {
        self.gate.take().expect("it has one").open();
    }
}

#[test]
fn a_sender_hears_when_the_streams_that_read_are_past_that() {
    let code = Job::in_process(1, 2).device(DeviceChoice::software(1)).run(|| async {
        let holder = HolderProxy::create_on(PeId(1));
        let told = Arc::new(AtomicBool::new(false));
        let (sent, on_sent) = chare::future::<SentDevice<u32>>();
        let (tell, has_told) = (Arc::clone(&told), Arc::clone(&told));
        let back = Callback::once(move |buffer: SentDevice<u32>| {
            tell.store(true, Ordering::SeqCst);
            on_sent.send(buffer);
        });
        holder.use_behind_gate(SendDeviceBuffer::from(filled(&counted(8))).on_sent(back));
        for _ in 0..100 {
            assert!(holder.is_behind_gate().await);
        }
        assert!(!has_told.load(Ordering::SeqCst), "a stream still uses it");
        holder.open();
        let buffer = sent.await.into_buffer();
        assert_eq!(read(&buffer).await, counted(8));
        buffer.try_into_mut().expect("nobody else has it");
    });
    assert_eq!(code.expect("the job runs"), 0);
}

#[test]
fn quiescence_waits_for_streams_that_call_back() {
    let faults = Faults { delay: Duration::from_millis(20), ..Faults::default() };
    let code = job_with(faults).run(|| async {
        let called = Arc::new(AtomicBool::new(false));
        let call = Arc::clone(&called);
        let stream = stream();
        let field = room(10);
        stream.then(Callback::once(move |()| call.store(true, Ordering::SeqCst)));
        chare::quiescence().await;
        assert!(called.load(Ordering::SeqCst));
        drop(field);
    });
    assert_eq!(code.expect("the job runs"), 0);
}

#[test]
fn pes_of_a_host_are_dealt_its_devices_in_turn() {
    let code = Job::in_process(2, 3).device(DeviceChoice::software(2)).run(|| async {
        let dealt = DealtProxy::create();
        let (all, done) = chare::future::<Vec<(PeId, u32)>>();
        dealt.tell(done);
        let mut all = all.await;
        all.sort();
        assert_eq!(
            all,
            [0, 1, 0, 1, 0, 1].into_iter().zip(0..).map(|(own, pe)| (PeId(pe), own)).collect::<Vec<_>>()
        );
    });
    assert_eq!(code.expect("the job runs"), 0);
}

struct Dealt;

#[chare(group)]
impl Dealt {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry]
    fn tell(&mut self, all: Callback<Vec<(PeId, u32)>>) {
        let ordinal = devices::mine().expect("there are two").info().ordinal;
        self.contribute(set((chare::my_pe(), ordinal)), all);
    }

    #[entry]
    fn take(&mut self, #[nocopy] face: DeviceReceived<u32>) {
        drop(face);
    }
}

#[test]
fn a_job_without_devices_says_so_when_one_is_asked_for() {
    for job in [Job::in_process(1, 1), Job::in_process(1, 1).device(DeviceChoice::None)] {
        let code = job.run(|| async {
            if cfg!(feature = "cuda") {
                return;
            }
            let error = devices::mine().expect_err("there is none").to_string();
            assert!(error.starts_with("no device: ") && error.contains("+device software"), "{error}");
            assert_eq!(devices::stream().expect_err("there is none").to_string(), error);
        });
        assert_eq!(code.expect("the job runs"), 0);
    }
}

#[test]
fn posts_that_do_not_fit_come_back() {
    let code = Job::in_process(1, 2).device(DeviceChoice::software(1)).run(|| async {
        let neighbour = NeighbourProxy::create_on(PeId(1));
        neighbour.refuse(SendDeviceBuffer::from(filled(&counted(4))), counted(3));
        std::future::pending::<()>().await;
    });
    assert_eq!(code.expect("the job runs"), 0);
}

/// The words with which a job ends.
fn end(job: Job, main: impl AsyncFnOnce() + Send + 'static) -> String {
    let error = job.run(|| async move { main().await }).expect_err("it cannot go on");
    error.to_string()
}

#[test]
fn what_cannot_be_sent_is_refused_where_it_is_called() {
    let job = || Job::in_process(1, 2).device(DeviceChoice::software(1));
    let words = end(job(), async || {
        let own = Software::default().open();
        let buffer = DeviceBufferMut::<u32>::new(&own, 4).expect("it has room");
        NeighbourProxy::create_on(PeId(1)).keep(SendDeviceBuffer::from(buffer));
    });
    assert!(words.contains("`chare::devices::mine()`"), "{words}");
    let words = end(job(), async || {
        let bytes = DeviceBufferMut::<u8>::new(&devices::mine().expect("a device"), 7).expect("it has room");
        drop(chare::Several::<u8>::of(SendDeviceBuffer::from(bytes)));
    });
    assert!(words.contains("`Several`, which is read as one, takes no device buffer"), "{words}");
}

struct Unlucky;

#[chare]
impl Unlucky {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry]
    fn land(&mut self, #[nocopy(post)] row: DevicePosted<u32>) {
        unreachable!("{row:?} was lost");
    }

    #[post(land)]
    fn post_land(&mut self, row: Post<u32>) {
        row.post_device(unwritten().into()).expect("it is as long");
    }

    #[entry]
    fn take(&mut self, #[nocopy] row: DeviceReceived<u32>) {
        row.after(&stream()).expect("it is not lost before");
    }
}

/// A buffer for which no stream was given anything.
fn unwritten() -> DeviceBufferMut<u32> {
    let device = devices::mine().expect("there is a software device");
    DeviceBufferMut::new(&device, 4).expect("it has room")
}

#[test]
fn a_lost_device_ends_the_job_and_names_chare_entry_and_cause() {
    let end_of = |main: fn()| {
        let job = job_with(Faults { lose: NonZeroU32::new(1), ..Faults::default() });
        let ended = job.run(move || async move {
            main();
            std::future::pending::<()>().await;
        });
        let error = ended.expect_err("the device is lost");
        assert!(matches!(error, JobError::Device { cause: DeviceError::Lost { .. }, .. }), "{error:?}");
        error.to_string()
    };
    let words = end_of(|| UnluckyProxy::create_on(PeId(1)).land(SendDeviceBuffer::from(unwritten())));
    assert!(words.contains("Unlucky::land") && words.contains("was lost"), "{words}");
    let words = end_of(|| {
        let sent = SendDeviceBuffer::from(unwritten()).on_sent(Callback::ignore());
        UnluckyProxy::create_on(PeId(1)).take(sent);
    });
    assert!(words.contains("handing a device buffer back"), "{words}");
    let words = end_of(|| stream().then(Callback::ignore()));
    assert!(words.contains("a callback of a stream, given in main"), "{words}");
}

/// What is plain beside what lies on a device.
#[derive(Clone, serde::Serialize, serde::Deserialize)]
struct Tile {
    name: String,
    field: Option<chare::DeviceBuffer<u32>>,
}

struct Keeper {
    tile: Tile,
}

#[chare]
impl Keeper {
    #[entry]
    fn new(tile: Tile) -> Self {
        Self { tile }
    }

    #[entry]
    async fn look(this: This<Self>) -> (String, u64, Vec<u32>) {
        let tile = this.with(|keeper| keeper.tile.clone());
        let field = tile.field.expect("it has one");
        let mine = devices::mine().expect("there is a software device");
        assert_eq!(field.device().info(), mine.info());
        (tile.name, field.address(), read(&field).await)
    }
}

#[test]
fn device_buffers_are_values_which_move_inside_and_are_staged_outside() {
    let code = Job::in_process(2, 2).device(DeviceChoice::software(1)).run(|| async {
        let field = filled(&counted(1_000));
        let address = field.address();
        let field = Some(field.freeze());
        let tile = Tile { name: "a tile".to_owned(), field };
        for (pe, is_same) in [(1, true), (2, false), (3, false)] {
            let (name, at, values) = KeeperProxy::create_on(PeId(pe), tile.clone()).look().await;
            assert_eq!((name, values), ("a tile".to_owned(), counted(1_000)));
            // Other nodes of this process are as other processes are.
            assert_eq!(at == address, is_same, "PE {pe}");
        }
        let mut unwritten = Vec::new();
        chare_lrts::codec::encode_into(&room(3), &mut unwritten).expect("one of one owner is a value, too");
        let again: DeviceBufferMut<u32> = chare_lrts::codec::decode(&unwritten).expect("it was one");
        assert_eq!(read(&again.freeze()).await, [0; 3]);
        assert!(chare_lrts::codec::decode::<DeviceBufferMut<u64>>(&unwritten).is_err(), "twelve bytes");
    });
    assert_eq!(code.expect("the job runs"), 0);
}

/// Takes all memory of its device.
struct Hoarder {
    hoard: Vec<DeviceBufferMut<u32>>,
}

#[chare]
impl Hoarder {
    #[entry]
    fn new() -> Self {
        let device = devices::mine().expect("there is a software device");
        let some = || DeviceBufferMut::new(&device, 1 << 16).ok();
        Self { hoard: std::iter::from_fn(some).collect() }
    }

    #[entry]
    async fn hoarded(this: This<Self>) -> usize {
        this.with(|hoarder| hoarder.hoard.len())
    }

    #[entry]
    fn take(&mut self, tile: Tile) {
        unreachable!("{} has no room beside {} others", tile.name, self.hoard.len());
    }
}

#[test]
fn a_value_that_finds_no_memory_ends_the_job_and_names_chare_entry_and_cause() {
    let small = Software { memory_bytes: 2 << 20, ..Software::default() };
    let job = Job::in_process(2, 1).device(DeviceChoice::Software(vec![small]));
    let words = end(job, async || {
        let field = Some(filled(&counted(1 << 16)).freeze());
        let tile = Tile { name: "a tile".to_owned(), field };
        let hoarder = HoarderProxy::create_on(PeId(1));
        // Arguments become values when they arrive, before calls that came earlier have run.
        assert!(hoarder.hoarded().await > 0);
        hoarder.take(tile);
        std::future::pending::<()>().await;
    });
    assert!(words.contains("Hoarder::take: ") && words.contains("262144 bytes"), "{words}");
}
