//! Device buffers that leave for another node: in chunks, by an order of methods or by what was measured, here or in an earlier job; and out of
//! memory that was adopted.

#![expect(unsafe_code, reason = "adopts memory of a block")]

use chare::devices::{self, AdoptedMemory, DeviceChoice, DeviceModels, Model, Software};
use chare::layout::Layout;
use chare::prelude::*;
use chare::{DeviceBufferMut, DeviceReceived, Job, SendDeviceBuffer, SentDevice};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Some chunks of every length.
const LEN: usize = 1_500_000;

struct Sink;

#[chare]
impl Sink {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry]
    async fn take(this: This<Self>, #[nocopy] field: DeviceReceived<u32>, done: Callback<u64>) {
        drop(this);
        let stream = devices::stream().expect("there is a device");
        let mut landed = field.read(&stream).expect("there is room for staging");
        stream.passed().expect("it is there").await.expect("it is not lost");
        let elements = landed.elements().expect("it is not lost").expect("the stream is past it");
        done.send(digest(elements.iter().copied()));
    }

    /// Has the device of its node measured.
    #[entry]
    fn measure(&mut self) -> bool {
        devices::measure().is_ok_and(|model| model.is_measured())
    }
}

/// Depends on the order, too.
fn digest(elements: impl Iterator<Item = u32>) -> u64 {
    elements.fold(7, |sum, element| sum.wrapping_mul(31).wrapping_add(u64::from(element)))
}

fn counted() -> Vec<u32> {
    (0..LEN as u32).collect()
}

#[test]
fn chunks_are_as_the_model_of_the_device_says() {
    // Each node has a device of its own.
    let job = Job::in_process(2, 1).device(DeviceChoice::software(2));
    let code = job.run(|| async {
        let sink = SinkProxy::create_on(PeId(1));
        let (device, stream) = (devices::mine().expect("one"), devices::stream().expect("one"));
        let mut field = DeviceBufferMut::<u32>::new(&device, LEN).expect("it has room");
        field.write(&stream, &counted()).expect("there is room for staging");
        let field = field.freeze();
        let every_other = Layout::<u32>::vector(LEN as u64 / 2, 1, 2).expect("it fits");
        for is_measured in [false, true] {
            if is_measured {
                assert!(devices::measure().expect("it has room").is_measured());
                assert!(sink.measure().await);
            }
            let (whole, done) = chare::future();
            sink.take(SendDeviceBuffer::from(field.clone()), done);
            assert_eq!(whole.await, digest(counted().into_iter()), "measured: {is_measured}");
            let (some, done) = chare::future();
            sink.take(SendDeviceBuffer::from(field.clone()).only(&every_other), done);
            assert_eq!(some.await, digest(counted().into_iter().step_by(2)), "measured: {is_measured}");
        }
    });
    assert_eq!(code.expect("the job runs"), 0);
}

/// Says when it goes.
struct Guard(Arc<AtomicBool>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

#[test]
fn adopted_memory_goes_back_to_its_maker_whichever_way_it_is_lent() {
    // Two nodes on one device, where the receiver asks for the memory itself; and one node with two devices that reach each other. Each kind of
    // memory takes another way through the owner's answer.
    for adopted in [AdoptedMemory::Descriptors, AdoptedMemory::Named, AdoptedMemory::Private] {
        let device = Software { adopted, ..Software::default() };
        lend(Job::in_process(2, 1).device(DeviceChoice::Software(vec![device.clone()])));
        lend(Job::in_process(1, 2).device(DeviceChoice::Software(vec![device; 2])));
    }
}

fn lend(job: Job) {
    let code = job.run(|| async {
        let sink = SinkProxy::create_on(PeId(1));
        let (device, stream) = (devices::mine().expect("one"), devices::stream().expect("one"));
        // What could not be mapped once is not tried again.
        for _ in 0..2 {
            let (block, is_back) =
                (device.allocate(4 * LEN as u64).expect("room"), Arc::new(AtomicBool::new(false)));
            let address = block.address();
            let guard = (block, Guard(Arc::clone(&is_back)));
            // SAFETY: the block has so many bytes, which nobody else uses, and stays as long as the guard.
            let adopted = unsafe { DeviceBufferMut::<u32>::from_raw_parts(&device, address, LEN, guard) };
            let mut adopted = adopted.expect("it is memory of the device");
            adopted.write(&stream, &counted()).expect("there is room for staging");
            let ((seen, done), (sent, on_sent)) = (chare::future(), chare::future::<SentDevice<u32>>());
            sink.take(SendDeviceBuffer::from(adopted).on_sent(on_sent), done);
            assert_eq!(seen.await, digest(counted().into_iter()));
            let sent = sent.await;
            assert_eq!(sent.transferred(), LEN);
            assert!(!is_back.load(Ordering::Acquire));
            drop(sent);
            stream.passed().expect("it is there").await.expect("it is not lost");
            assert!(is_back.load(Ordering::Acquire), "nobody uses it any more");
        }
    });
    assert_eq!(code.expect("the job runs"), 0);
}

/// What a job with such a device and such a place for its model has of its speed.
fn measured(driver: &str, models: DeviceModels) -> Model {
    let (told, said) = std::sync::mpsc::channel();
    let device = Software { driver: Some(driver.to_owned()), ..Software::default() };
    let job = Job::in_process(1, 1).device(DeviceChoice::Software(vec![device])).device_models(models);
    let code = job.run(move || async move {
        told.send(devices::measure().expect("it has room")).expect("the test waits");
    });
    assert_eq!(code.expect("the job runs"), 0);
    said.recv().expect("it was measured")
}

#[test]
fn what_a_job_has_measured_later_jobs_know_until_the_driver_is_another() {
    let folder = tempfile::tempdir().expect("a folder");
    let kept = || DeviceModels::In(folder.path().join("models"));
    let first = measured("1", kept());
    assert!(first.is_measured());
    assert_eq!(measured("1", kept()), first, "no two measurements are alike to the nanosecond");
    assert_ne!(measured("1", DeviceModels::Nowhere), first);
    let newer = measured("2", kept());
    assert_ne!(newer, first);
    assert_eq!(measured("2", kept()), newer);
    assert_eq!(
        folder.path().join("models").read_dir().expect("it was made").count(),
        1,
        "one file of a device"
    );
}
