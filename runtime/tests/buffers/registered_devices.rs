//! Registered memory of devices: read and written by layouts on both sides, by PEs of the same and of other nodes, by several at a time, told
//! to both sides, and stale handles.

use chare::devices::{self, DeviceChoice, Stream};
use chare::layout::{Dims, Layout};
use chare::prelude::*;
use chare::{
    DeviceBuffer, DeviceBufferMut, DeviceLanding, DeviceSourceHandle, DeviceTargetHandle, Job, JobError,
    RegisteredDeviceSource, RegisteredDeviceTarget, SendDeviceBuffer, SentDevice, rget_device, rput_device,
};

/// Elements in several chunks.
const SIDE: u32 = 700;
const LEN: u32 = SIDE * SIDE;

fn stream() -> Stream {
    devices::stream().expect("there is a software device")
}

fn filled(values: &[u32]) -> DeviceBufferMut<u32> {
    let device = devices::mine().expect("there is a software device");
    let mut buffer = DeviceBufferMut::new(&device, values.len()).expect("it has room");
    buffer.write(&stream(), values).expect("there is room for staging");
    buffer
}

async fn read(buffer: &DeviceBuffer<u32>) -> Vec<u32> {
    let stream = stream();
    let mut landed = buffer.read(&stream).expect("there is room for staging");
    stream.passed().expect("it is there").await.expect("it is not lost");
    landed.elements().expect("it is not lost").expect("the stream is past it").to_vec()
}

fn column(at: usize) -> Layout<u32> {
    Dims::new([SIDE as usize, SIDE as usize]).select((.., at))
}

/// Elements from `first` on.
fn counted(first: u32, len: u32) -> Vec<u32> {
    (first..first + len).collect()
}

struct Peer;

#[chare]
impl Peer {
    #[entry]
    fn new() -> Self {
        Self
    }

    /// All, a column into a longer buffer, and a column into a column.
    #[entry]
    async fn read_all(this: This<Self>, source: DeviceSourceHandle<u32>, done: Callback<()>) {
        drop(this);
        let (whole, first) = chare::future::<SentDevice<u32>>();
        let (longer, second) = chare::future::<SentDevice<u32>>();
        let (laid_out, third) = chare::future::<SentDevice<u32>>();
        rget_device(&source, filled(&vec![0; LEN as usize]), first).expect("it is as long");
        let east = source.only(&column(SIDE as usize - 1));
        rget_device(&east, filled(&vec![9; SIDE as usize + 5]), second).expect("it is longer");
        let landing = DeviceLanding::at(&column(0), filled(&vec![9; LEN as usize]));
        rget_device(&east, landing, third).expect("it is as long");

        let expected: Vec<u32> = (0..SIDE).map(|row| row * SIDE + SIDE - 1).collect();
        let whole = whole.await;
        assert_eq!(whole.transferred(), LEN as usize);
        assert!(read(&whole.into_buffer()).await == counted(0, LEN));
        let longer = longer.await;
        assert_eq!(longer.transferred(), SIDE as usize);
        let longer = read(&longer.into_buffer()).await;
        assert!(longer[..SIDE as usize] == expected && longer[SIDE as usize..] == [9; 5]);
        let laid_out = laid_out.await.into_buffer().try_into_mut().expect("nobody else has it");
        let laid_out = read(&laid_out.freeze()).await;
        let values = (0..LEN).map(|at| if at % SIDE == 0 { at + SIDE - 1 } else { 9 });
        assert!(laid_out.into_iter().eq(values));

        let misfit = rget_device(&source, filled(&[0; 3]), Callback::ignore()).expect_err("it is too short");
        assert_eq!((misfit.have, misfit.need, misfit.buffer.len()), (3, LEN as usize, 3));
        done.send(());
    }

    /// Writes a column from a column, again and again.
    #[entry]
    async fn write_column(this: This<Self>, target: DeviceTargetHandle<u32>, at: usize, done: Callback<()>) {
        drop(this);
        for round in 0..3 {
            let (back, on_sent) = chare::future::<SentDevice<u32>>();
            let values = counted(1000 * at as u32 + round, LEN);
            let from = SendDeviceBuffer::from(filled(&values)).only(&column(1)).on_sent(on_sent);
            rput_device(from, &target.only(&column(at))).expect("it is as long");
            let sent = back.await;
            assert_eq!(sent.transferred(), SIDE as usize);
            assert!(sent.into_buffer().try_into_mut().is_ok());
        }
        let long = SendDeviceBuffer::from(filled(&vec![0; LEN as usize + 1]));
        assert!(rput_device(long, &target).is_err());
        done.send(());
    }

    #[entry]
    fn read_stale(&mut self, source: DeviceSourceHandle<u32>) {
        let room = filled(&vec![0; source.len()]);
        rget_device(&source, room, Callback::ignore()).expect("it is as long");
    }
}

fn job(nodes: u32, pes: u32) -> Job {
    Job::in_process(nodes, pes).device(DeviceChoice::software(2))
}

#[test]
fn sources_are_read_by_layouts_and_their_owners_are_told() {
    for (nodes, pes) in [(1, 3), (3, 1)] {
        let code = job(nodes, pes).run(|| async {
            let (told, notify) = chare::future::<u64>();
            let source = RegisteredDeviceSource::register(filled(&counted(0, LEN)).freeze()).notify(notify);
            let readers = (0..3).map(|pe| {
                let (answer, done) = chare::future();
                PeerProxy::create_on(PeId(pe)).read_all(source.handle(), done);
                answer
            });
            chare::wait_all(readers.collect::<Vec<_>>()).await;
            assert!([LEN, SIDE].map(|len| u64::from(len) * 4).contains(&told.await));
            chare::quiescence().await;
            assert_eq!(source.buffer().len(), LEN as usize);
        });
        assert_eq!(code.expect("the job ends in order"), 0);
    }
}

#[test]
fn targets_are_written_by_several_and_come_back() {
    for (nodes, pes) in [(1, 3), (3, 1)] {
        let code = job(nodes, pes).run(|| async {
            let target = RegisteredDeviceTarget::register(filled(&vec![7; LEN as usize]));
            let writers = (0..3).map(|pe| {
                let (answer, done) = chare::future();
                PeerProxy::create_on(PeId(pe)).write_column(target.handle(), pe as usize * 10, done);
                answer
            });
            chare::wait_all(writers.collect::<Vec<_>>()).await;
            assert_eq!(target.with(|buffer| buffer.len()), Some(LEN as usize), "no transfer is under way");
            let (closed, callback) = chare::future();
            target.close(callback);
            let expected = (0..LEN).map(|at| match (at / SIDE, at % SIDE) {
                (row, column @ (0 | 10 | 20)) => 1000 * column + 2 + row * SIDE + 1,
                _ => 7,
            });
            assert!(read(&closed.await.into_buffer()).await.into_iter().eq(expected));
        });
        assert_eq!(code.expect("the job ends in order"), 0);
    }
}

#[test]
fn a_stale_handle_ends_the_job_and_says_so() {
    for nodes in [1, 2] {
        let error = job(nodes, 1).run(move || async move {
            let source = RegisteredDeviceSource::register(filled(&[1, 2, 3]).freeze());
            let handle = source.handle();
            drop(source);
            PeerProxy::create_on(PeId(nodes - 1)).read_stale(handle);
            std::future::pending::<()>().await;
        });
        let error: JobError = error.expect_err("the handle is stale");
        assert!(error.to_string().contains("the handle is stale or forged: node 0 has"), "{error}");
    }
}
