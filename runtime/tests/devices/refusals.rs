//! Refusals: what does not fit, what cannot be sent, and what ends with a device that is lost, or with an element that is destroyed.

use crate::job::{counted, end, filled, job_with, room, stream};
use crate::neighbour::NeighbourProxy;
use chare::devices::{self, DeviceChoice, Faults, Software, StreamCallbacks};
use chare::prelude::*;
use chare::{
    ArrayOptions, DeviceBufferMut, DeviceError, DevicePosted, DeviceReceived, Job, JobError,
    SendDeviceBuffer, SentDevice,
};
use std::num::NonZeroU32;
use std::time::Duration;

#[test]
fn posts_that_do_not_fit_come_back() {
    let code = Job::in_process(1, 2).device(DeviceChoice::software(1)).run(|| async {
        let neighbour = NeighbourProxy::create_on(PeId(1));
        neighbour.refuse(SendDeviceBuffer::from(filled(&counted(4))), counted(3));
        std::future::pending::<()>().await;
    });
    assert_eq!(code.expect("the job runs"), 0);
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

/// Lands what is sent to it, or keeps the post.
struct Field {
    kept: Option<Post<u32>>,
}

#[chare(array)]
impl Field {
    #[entry]
    fn new() -> Self {
        Self { kept: None }
    }

    #[entry]
    fn land(&mut self, keeps: bool, begun: Callback<()>, #[nocopy(post)] data: DevicePosted<u32>) {
        let _ = (keeps, begun, data);
    }

    #[post(land)]
    fn post_land(&mut self, keeps: &bool, begun: &Callback<()>, data: Post<u32>) {
        if *keeps {
            self.kept = Some(data);
        } else {
            let len = data.len();
            data.post_device(room(len).into()).expect("it is as long");
        }
        begun.send(());
    }
}

#[test]
fn a_call_that_waits_for_a_device_as_its_element_is_destroyed_ends_with_it() {
    for nodes in [1, 2] {
        let faults = Faults { delay: Duration::from_millis(2), seed: 7, ..Faults::default() };
        let devices = (0..nodes).map(|_| Software { faults: faults.clone(), ..Software::default() });
        let job = Job::in_process(nodes, 2 / nodes).device(DeviceChoice::Software(devices.collect()));
        let code = job.run(|| async {
            let fields = FieldProxy::create(ArrayOptions::listed(0..8).dynamic());
            for (index, len) in
                [(0, 4), (1, 4), (2, 4), (3, 4), (4, 50_000), (5, 50_000), (6, 50_000), (7, 50_000)]
            {
                let ((begun, on_begun), (sent, on_sent)) =
                    (chare::future(), chare::future::<SentDevice<u32>>());
                let data = SendDeviceBuffer::from(filled(&counted(len))).on_sent(on_sent);
                fields.at(index).land(index % 4 < 2, on_begun, data);
                begun.await;
                fields.at(index).destroy();
                assert_eq!(sent.await.into_buffer().len(), len as usize);
            }
            chare::quiescence().await;
        });
        assert_eq!(code.expect("the job runs"), 0, "{nodes} nodes");
    }
}
