//! Leaks: a job that is over holds no descriptor and no thread, whatever was under way when it ended.

use chare::prelude::*;
use chare::{Job, RegisteredSource, SourceHandle, rget};

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

#[test]
fn twenty_jobs_leave_no_descriptor_and_no_thread() {
    run_one();
    let before = descriptors_and_threads();
    (0..20).for_each(|_| run_one());
    let after = descriptors_and_threads();
    // The kernel lists a thread that has ended for another moment.
    let leave_none = before.iter().zip(&after).all(|(before, after)| *after < before + 20);
    assert!(leave_none, "descriptors and threads: {before:?} before, {after:?} after twenty jobs");
}
