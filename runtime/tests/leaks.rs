//! Leaks: a job that is over holds no descriptor and no thread, whatever was under way when it ended.

use chare::devices::{self, DeviceChoice, Faults, Software};
use chare::prelude::*;
use chare::{
    DeviceBufferMut, DeviceReceived, DeviceTargetHandle, Job, RegisteredDeviceTarget, RegisteredSource,
    SendDeviceBuffer, SentDevice, SourceHandle, rget, rput_device,
};
use std::time::Duration;

struct Keeper {
    kept: Vec<Received<u32>>,
    sources: Vec<RegisteredSource<u32>>,
}

#[chare(group)]
impl Keeper {
    #[entry]
    fn new() -> Self {
        Self { kept: Vec::new(), sources: Vec::new() }
    }

    #[entry]
    fn keep(&mut self, #[nocopy] data: Received<u32>, done: Callback<()>) {
        self.kept.push(data);
        done.send(());
    }

    #[entry]
    fn lend(&mut self, to: Callback<SourceHandle<u32>>) {
        let source = RegisteredSource::register(BufferMut::<u32>::zeroed(100_000));
        to.send(source.handle());
        self.sources.push(source);
    }
}

fn descriptors_and_threads() -> [usize; 2] {
    ["/proc/self/fd", "/proc/self/task"].map(|folder| std::fs::read_dir(folder).map_or(0, Iterator::count))
}

/// Ends while buffers are lent, kept and being fetched.
fn run_one() {
    let code = Job::in_process(2, 2).run(|| async {
        chare::set_readonly(BufferMut::<u32>::zeroed(100_000).freeze());
        chare::set_readonly(vec![0u64; 100_000]);
        let keepers = KeeperProxy::create();
        let ((kept, done), (back, sent)) = (chare::future(), chare::future::<Sent<u32>>());
        keepers.on(PeId(3)).keep(SendBuffer::from(BufferMut::zeroed(100_000)).on_sent(sent), done);
        kept.await;
        keepers.keep(BufferMut::zeroed(100_000), Callback::ignore());
        keepers.keep(vec![0; 100_000], Callback::ignore());
        let (handle, to_handle) = chare::future();
        keepers.on(PeId(2)).lend(to_handle);
        rget(&handle.await, vec![0; 100_000], Callback::ignore()).expect("it is as long");
        chare::exit(0);
        back.await;
    });
    assert_eq!(code.unwrap(), 0);
}

/// Keeps device buffers, and registered ones.
#[derive(Default)]
struct DeviceKeeper {
    kept: Vec<DeviceReceived<u32>>,
    targets: Vec<RegisteredDeviceTarget<u32>>,
}

#[chare(group)]
impl DeviceKeeper {
    #[entry]
    fn new() -> Self {
        Self::default()
    }

    #[entry]
    fn keep(&mut self, #[nocopy] data: DeviceReceived<u32>) {
        self.kept.push(data);
    }

    #[entry]
    fn lend(&mut self, to: Callback<DeviceTargetHandle<u32>>) {
        let target = RegisteredDeviceTarget::register(on_device());
        to.send(target.handle());
        self.targets.push(target);
    }
}

fn on_device() -> DeviceBufferMut<u32> {
    let (device, stream) =
        (devices::mine().expect("a software device"), devices::stream().expect("a software device"));
    DeviceBufferMut::zeroed(&device, &stream, 700_000).expect("it has room")
}

/// Ends while buffers of devices are kept, read, and wait for each other.
fn run_one_on_devices() {
    let faults = Faults { delay: Duration::from_micros(300), seed: 5, ..Faults::default() };
    let device = Software { faults, ..Software::default() };
    let job = Job::in_process(2, 2).device(DeviceChoice::Software(vec![device]));
    let code = job.run(|| async {
        let keepers = DeviceKeeperProxy::create();
        let (back, on_sent) = chare::future::<SentDevice<u32>>();
        keepers.on(PeId(3)).keep(SendDeviceBuffer::from(on_device()).on_sent(on_sent));
        keepers.on(PeId(2)).keep(SendBuffer::from(vec![0; 700_000]));
        let (target, to_target) = chare::future();
        keepers.on(PeId(2)).lend(to_target);
        let target = target.await;
        for _ in 0..5 {
            rput_device(SendDeviceBuffer::from(on_device()), &target).expect("it is as long");
        }
        chare::exit(0);
        back.await;
    });
    assert_eq!(code.expect("the job ends in order"), 0);
}

/// One test, as the others of a file run at the same time in its process.
#[test]
fn twenty_jobs_leave_no_descriptor_and_no_thread() {
    for run in [run_one, run_one_on_devices] {
        run();
        let before = descriptors_and_threads();
        (0..20).for_each(|_| run());
        let after = descriptors_and_threads();
        // The kernel lists a thread that has ended for another moment.
        let leave_none = before.iter().zip(&after).all(|(before, after)| *after < before + 20);
        assert!(leave_none, "descriptors and threads: {before:?} before, {after:?} after twenty jobs");
    }
}
