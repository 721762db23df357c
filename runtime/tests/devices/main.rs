//! Device buffers as nocopy arguments between PEs of one process that share a device, on software devices in which things go wrong: moves,
//! steps between layouts, posts, what senders are told, refusals, and lost devices.

#[cfg(feature = "sim")]
#[expect(dead_code, reason = "devices choose their paths by themselves: a part is needed here")]
#[path = "../every_path/mod.rs"]
mod every_path;

mod job;
mod neighbour;
mod refusals;
#[cfg(feature = "sim")]
mod simulated;
mod streams;
mod values;

use chare::devices::{self, DeviceChoice, Faults, Software};
use chare::layout::Layout;
use chare::prelude::*;
use chare::{DeviceReceived, Job, SendDeviceBuffer, SentDevice};
use job::{counted, filled, slow_job};
use neighbour::{MANNERS, Manner, NeighbourProxy, column};
use std::time::Duration;

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
    assert_eq!(slow_job().run(fields_land_in_every_manner).expect("the job runs"), 0);
}

#[test]
fn fields_land_on_another_device_whether_it_reaches_theirs_or_not() {
    for reaches_peers in [true, false] {
        let faults = Faults { delay: Duration::from_millis(1), seed: 8, ..Faults::default() };
        let device = Software { reaches_peers, faults, ..Software::default() };
        let job = Job::in_process(1, 2).device(DeviceChoice::Software(vec![device; 2]));
        assert_eq!(job.run(fields_land_in_every_manner).expect("the job runs"), 0);
    }
}

async fn fields_land_in_every_manner() {
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
}

#[test]
fn the_second_message_of_a_layout_copies_no_table_to_the_device() {
    let code = slow_job().run(|| async {
        let neighbour = NeighbourProxy::create_on(PeId(1));
        let field = filled(&counted(1000)).freeze();
        let places: Vec<i64> = (0..40).map(|at| at * (at + 3) / 2).collect();
        let expected: Vec<u32> = places.iter().map(|place| *place as u32).collect();
        let copied = || devices::mine().expect("there is one").tables_copied();
        assert_eq!(copied(), 0);
        for _ in 0..5 {
            let (seen, done) = chare::future();
            // Made anew, as a program may.
            let list = Layout::<u32>::indexed_block(1, &places).expect("it fits");
            neighbour.take(SendDeviceBuffer::from(field.clone()).only(&list), done);
            assert_eq!(seen.await.1, expected);
            assert_eq!(copied(), 1);
        }
    });
    assert_eq!(code.expect("the job runs"), 0);
}

#[test]
fn pes_of_a_host_are_dealt_its_devices_in_blocks() {
    let code = Job::in_process(2, 3).device(DeviceChoice::software(2)).run(|| async {
        let dealt = DealtProxy::create();
        let (all, done) = chare::future::<Vec<(PeId, u32)>>();
        dealt.tell(done);
        let mut all = all.await;
        all.sort();
        assert_eq!(
            all,
            [0, 0, 0, 1, 1, 1].into_iter().zip(0..).map(|(own, pe)| (PeId(pe), own)).collect::<Vec<_>>()
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
