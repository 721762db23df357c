//! Jobs on software devices in which things go wrong, and buffers of theirs.

use chare::devices::{self, DeviceChoice, Faults, Software, Stream};
use chare::{DeviceBufferMut, Job};
use std::time::Duration;

/// A job of two PEs that share a device whose commands take their time.
pub(crate) fn slow_job() -> Job {
    let faults = Faults { delay: Duration::from_millis(2), seed: 7, ..Faults::default() };
    job_with(faults)
}

pub(crate) fn job_with(faults: Faults) -> Job {
    Job::in_process(1, 2).device(DeviceChoice::Software(vec![Software { faults, ..Software::default() }]))
}

pub(crate) fn stream() -> Stream {
    devices::stream().expect("there is a software device")
}

/// A device buffer of this PE that a stream is still writing.
pub(crate) fn filled(values: &[u32]) -> DeviceBufferMut<u32> {
    let mut buffer = room(values.len());
    buffer.write(&stream(), values).expect("there is room for staging");
    buffer
}

pub(crate) fn room(len: usize) -> DeviceBufferMut<u32> {
    let device = devices::mine().expect("there is a software device");
    DeviceBufferMut::zeroed(&device, &stream(), len).expect("it has room")
}

pub(crate) fn counted(len: u32) -> Vec<u32> {
    (0..len).collect()
}

/// What a buffer holds, once the streams that write it are past that.
pub(crate) async fn read(buffer: &chare::DeviceBuffer<u32>) -> Vec<u32> {
    let stream = stream();
    let mut landed = buffer.read(&stream).expect("there is room for staging");
    stream.passed().expect("it is there").await.expect("it is not lost");
    landed.elements().expect("it is not lost").expect("the stream is past it").to_vec()
}

/// The words with which a job ends.
pub(crate) fn end(job: Job, main: impl AsyncFnOnce() + Send + 'static) -> String {
    let error = job.run(|| async move { main().await }).expect_err("it cannot go on");
    error.to_string()
}
