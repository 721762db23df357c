//! Devices of simulated jobs: what they do takes the time that their speeds say, the same in every run, and the stages of a transfer between two
//! nodes go on at the same time.

use crate::every_path::on_simulated_paths;
use crate::job::{counted, filled, read};
use crate::neighbour::{MANNERS, Manner, NeighbourProxy, column as every_other};
use chare::devices::{self, DeviceChoice, Faults, Software};
use chare::layout::{Dims, Layout};
use chare::prelude::*;
use chare::sim::DeviceSpeeds;
use chare::{
    DeviceBufferMut, DeviceReceived, SendDeviceBuffer, SentDevice, Simulated, Simulation, ThisMigrant,
};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Bytes of a chunk of what is packed on a device that was not measured.
const CHUNK: u64 = 512 << 10;

/// A nanosecond for each byte on its way out of a device, over the network, and into a device; all else takes no time.
fn even() -> DeviceSpeeds {
    let (per_second, none) = (1_000_000_000, Duration::ZERO);
    let speeds =
        DeviceSpeeds { outward: per_second, inward: per_second, within: u64::MAX, ..DeviceSpeeds::default() };
    DeviceSpeeds { launch: none, copy: none, callback: none, ..speeds }
}

/// Two nodes with a device each, on hosts of their own, and a network as fast as these.
fn pair(speeds: DeviceSpeeds) -> Simulation {
    let network = "loggops:L=0,o=0,g=0,G=1".parse().expect("it is a model");
    Simulation::new(2, 1).hosts(2).model(network).device(DeviceChoice::software(1)).device_speeds(speeds)
}

struct Taker;

#[chare]
impl Taker {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry]
    fn take(&mut self, #[nocopy] column: DeviceReceived<u8>, done: Callback<u64>) {
        done.send(column.len() as u64);
    }

    #[entry]
    async fn read(this: This<Self>, #[nocopy] face: DeviceReceived<u32>, done: Callback<Vec<u32>>) {
        let values = read(&face).await;
        drop(this);
        done.send(values);
    }
}

/// Every other byte, so that it has to be packed.
fn column(bytes: u64) -> Layout<u8> {
    Dims::new([bytes as usize, 2]).select((.., 0))
}

/// How long it takes until a column of so many chunks is on the other device.
fn time_of(chunks: u64, speeds: DeviceSpeeds) -> Duration {
    static TIME_NS: AtomicU64 = AtomicU64::new(0);
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _turn = ONE_AT_A_TIME.lock();
    let outcome = pair(speeds).run(move || async move {
        let taker = TakerProxy::create_on(PeId(1));
        let device = chare::devices::mine().expect("there is a software device");
        let room = |bytes: u64| DeviceBufferMut::<u8>::new(&device, bytes as usize).expect("it has room");
        // The devices are opened, and their first memory is made.
        let (warm, done) = chare::future();
        taker.take(SendDeviceBuffer::from(room(CHUNK)), done);
        warm.await;
        let bytes = chunks * CHUNK;
        let field = room(2 * bytes).freeze();
        let (arrived, done) = chare::future();
        let begin = chare::now();
        taker.take(SendDeviceBuffer::from(field).only(&column(bytes)), done);
        assert_eq!(arrived.await, bytes);
        TIME_NS.store((chare::now() - begin).as_nanos() as u64, Ordering::Relaxed);
    });
    assert_eq!(outcome.code().expect("the job runs"), 0);
    Duration::from_nanos(TIME_NS.load(Ordering::Relaxed))
}

/// Of MV2-GPU-NC's five stages three take the time of a chunk here, and two none: n chunks take n + 2 of it.
#[test]
fn a_pipeline_of_n_chunks_takes_n_plus_two_steps() {
    for chunks in [1, 2, 4, 8, 16, 32, 64] {
        let (time, step) = (time_of(chunks, even()).as_nanos() as f64, CHUNK as f64);
        let steps = time / step;
        println!("{chunks} chunks: {steps:.3} steps");
        let least = (chunks + 2) as f64;
        assert!((least..least * 1.02 + 0.1).contains(&steps), "{chunks} chunks take {steps} steps");
    }
}

/// The runtime is called at the end of each part of a chunk. Where that holds the stream that did it, each chunk takes longer by it; where it
/// does not, all of them together do, by a part of the first and one of the last.
#[test]
fn calls_that_hold_their_streams_cost_each_chunk() {
    const CHUNKS: u64 = 16;
    const CALLBACK: Duration = Duration::from_micros(50);
    let time = |calls_hold| {
        let time = time_of(CHUNKS, DeviceSpeeds { callback: CALLBACK, calls_hold, ..even() });
        println!("calls hold: {calls_hold}: {time:?}");
        time
    };
    let (free, held, none) = (time(false), time(true), time_of(CHUNKS, even()));
    assert!(free - none <= 4 * CALLBACK, "{free:?} for {none:?}");
    assert!(held - none >= CHUNKS as u32 * CALLBACK, "{held:?} for {none:?}");
}

/// Sends a neighbour a field to be landed in a manner, all of it or every other element, and checks what it saw.
async fn land(neighbour: NeighbourProxy, len: u32, manner: Manner, is_sparse: bool) {
    let (all, odd) = (counted(len), counted(len).into_iter().filter(|value| value % 2 == 1).collect());
    let ((landed, done), (sent, on_sent)) = (chare::future(), chare::future::<SentDevice<u32>>());
    let field = SendDeviceBuffer::from(filled(&all).freeze()).on_sent(on_sent);
    let (field, from): (_, Vec<u32>) =
        if is_sparse { (field.only(&every_other(len as usize / 2)), odd) } else { (field, all) };
    neighbour.land(field, manner, done);
    let expected = match manner {
        Manner::Whole | Manner::Before => from,
        Manner::First => [&from[..from.len() - 1], &[0; 4]].concat(),
        Manner::Column => from.into_iter().flat_map(|value| [0, value]).collect(),
    };
    let (transferred, seen): (u64, Vec<u32>) = landed.await;
    assert_eq!(seen, expected, "{len} {manner:?} {is_sparse}");
    assert_eq!(sent.await.transferred() as u64, transferred, "{len} {manner:?} {is_sparse}");
}

/// All at once, on devices whose commands take longer by chance.
#[test]
fn fields_land_in_every_manner_wherever_their_devices_are() {
    let faults = Faults { delay: Duration::from_micros(200), seed: 7, ..Faults::default() };
    let devices =
        [(); 2].map(|()| Software { pinned_bytes: 256 << 20, faults: faults.clone(), ..Software::default() });
    let with = move |job: Simulation| job.device(DeviceChoice::Software(devices.to_vec()));
    on_simulated_paths(&[(1, 2), (2, 1), (2, 2), (3, 1)], with, &|| async {
        let mut all = Vec::new();
        let mut begin = |part: std::pin::Pin<Box<dyn Future<Output = ()>>>| {
            let (over, done) = chare::future::<()>();
            chare::spawn(async move {
                part.await;
                done.send(());
            });
            all.push(over);
        };
        for pe in 0..chare::pes() {
            for len in [40, 5_000, 200_000] {
                let neighbour = NeighbourProxy::create_on(PeId(pe));
                for manner in MANNERS {
                    for is_sparse in [false, true] {
                        begin(Box::pin(land(neighbour.clone(), len, manner, is_sparse)));
                    }
                }
            }
            let (seen, done) = chare::future::<(u64, Vec<u32>)>();
            NeighbourProxy::create_on(PeId(pe)).take(SendDeviceBuffer::from(filled(&counted(50_000))), done);
            begin(Box::pin(async { assert_eq!(seen.await.1, counted(50_000)) }));
        }
        chare::wait_all(all).await;
        chare::quiescence().await;
    });
}

/// Goes where it is told to, and counts the columns that come after it.
#[derive(serde::Serialize, serde::Deserialize)]
struct Nomad {
    columns: u64,
}

#[chare(array, migrate)]
impl Nomad {
    #[entry]
    fn new() -> Self {
        Self { columns: 0 }
    }

    #[entry]
    fn go(&mut self, to: PeId) {
        self.migrate_to(to);
    }

    #[entry]
    fn take(&mut self, #[nocopy] column: DeviceReceived<u32>) {
        self.count(&column);
    }

    #[entry(awaited)]
    fn bring(#[nocopy] column: DeviceReceived<u32>);

    #[entry]
    async fn fetch(this: This<Self>) {
        let column = this.when(Self::bring).await;
        this.with(|nomad| nomad.count(&column));
    }

    fn count(&mut self, column: &DeviceReceived<u32>) {
        let mine = devices::mine().expect("there is one");
        assert_eq!((column.len(), column.device().info().ordinal), (20, mine.info().ordinal));
        self.columns += 1;
    }

    #[entry]
    fn columns(&mut self) -> u64 {
        self.columns
    }
}

#[test]
fn a_column_comes_to_an_element_that_has_left_while_the_call_was_queued() {
    let device = |simulation: Simulation| simulation.device(DeviceChoice::software(2));
    on_simulated_paths(&[(1, 2), (2, 1), (2, 2)], device, &|| async {
        let nomads = NomadProxy::create(3);
        let (field, column) = (filled(&counted(40)).freeze(), Dims::new([20, 2]).select((.., 0)));
        for _ in 0..8 {
            for nomad in (0..3).map(|nomad| nomads.at(nomad)) {
                nomad.go(PeId(chare::dice().below(u64::from(chare::pes())) as u32));
                for _ in 0..3 {
                    nomad.take(SendDeviceBuffer::from(field.clone()).only(&column));
                    nomad.bring(SendDeviceBuffer::from(field.clone()).only(&column));
                }
            }
            chare::quiescence().await;
            (0..9).for_each(|fetched| nomads.at(fetched % 3).fetch());
            chare::quiescence().await;
        }
        for nomad in 0..3 {
            assert_eq!(nomads.at(nomad).columns().await, 48);
        }
    });
}

fn exchanged(seed: u64) -> Simulated {
    let job = Simulation::new(2, 2).hosts(1).seed(seed).device(DeviceChoice::software(2));
    job.audited().run(|| async {
        for pe in 0..4 {
            let taker = TakerProxy::create_on(PeId(pe));
            let (seen, done) = chare::future();
            taker.read(SendDeviceBuffer::from(filled(&counted(100_000))), done);
            assert_eq!(seen.await, counted(100_000));
        }
    })
}

#[test]
fn the_same_seed_is_the_same_run_on_devices_too() {
    for seed in 0..5 {
        let (one, other) = (exchanged(seed), exchanged(seed));
        assert_eq!(one.code().expect("the job runs"), 0);
        assert_eq!((one.trace_hash(), one.time()), (other.trace_hash(), other.time()), "seed {seed}");
    }
}

/// How long it takes two nodes to write a buffer each.
fn both_write(hosts: u32) -> Duration {
    let job = Simulation::new(2, 1).hosts(hosts).device(DeviceChoice::software(1)).device_speeds(even());
    let network = "loggops:L=0,o=0,g=0,G=0".parse().expect("it is a model");
    let outcome = job.model(network).run(|| async {
        let (all, done) = chare::future::<u64>();
        WriterProxy::create().write(done);
        all.await;
    });
    assert_eq!(outcome.code().expect("the job runs"), 0);
    outcome.time()
}

struct Writer;

#[chare(group)]
impl Writer {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry]
    async fn write(this: This<Self>, all: Callback<u64>) {
        let field = filled(&counted(100_000)).freeze();
        let written = read(&field).await;
        this.with(|writer| writer.contribute(sum(written.len() as u64), all));
    }
}

#[test]
fn nodes_of_a_host_share_the_engines_of_its_devices() {
    let (apart, together) = (both_write(2), both_write(1));
    // Each writes 400,000 bytes and reads them; on one device one writes while the other one reads.
    assert!(apart >= Duration::from_micros(800) && apart < Duration::from_micros(850), "{apart:?}");
    assert!(
        together >= Duration::from_micros(1_200) && together < Duration::from_micros(1_250),
        "{together:?}"
    );
}
