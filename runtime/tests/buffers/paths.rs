//! Paths between nodes: the same programs over each of them; a user must see no difference.

#![expect(clippy::disallowed_methods, reason = "a thread outside the job is what is tested")]

use crate::every_path::{on_every_path, paths};
use chare::prelude::*;
use chare::{
    Job, JobError, Landing, Layout, RegisteredSource, RegisteredTarget, SourceHandle, TargetHandle, rget,
    rput,
};

/// Nodes and PEs per node that between them have every kind of neighbour.
const SHAPES: [(u32, u32); 3] = [(2, 1), (2, 2), (3, 1)];

struct Cell {
    landing: Option<BufferMut<u32>>,
    total: u64,
}

#[chare(array)]
impl Cell {
    #[entry]
    fn new(scale: u64) -> Self {
        Self { landing: None, total: chare::this_index::<u64>() * scale }
    }

    #[entry]
    fn add(&mut self, amount: u64) {
        self.total += amount;
    }

    #[entry]
    fn sum_up(&mut self, done: Callback<u64>) {
        self.contribute(sum(self.total), done);
    }

    #[entry]
    fn names(&mut self, done: Callback<Vec<String>>) {
        self.contribute(set(self.this_index().to_string()), done);
    }

    #[entry]
    fn meet(&mut self, done: Callback<()>) {
        self.contribute(barrier(), done);
    }

    #[entry]
    fn echo(&mut self, values: Vec<u64>, to: Callback<Vec<u64>>) {
        to.send(values);
    }

    #[entry]
    fn take(&mut self, seed: u32, #[nocopy] data: Received<u32>, done: Callback<u64>) {
        check(seed, &data);
        done.send(data.len() as u64);
    }

    #[entry]
    fn land(
        &mut self,
        seed: u32,
        #[nocopy(post)] data: Posted<u32>,
        #[nocopy] extra: Received<u32>,
        done: Callback<u64>,
    ) {
        check(seed, &data);
        check(seed + 1, &extra);
        let transferred = data.transferred();
        let buffer = data.into_buffer();
        assert!(buffer[transferred..].iter().all(|element| *element == u32::MAX), "the tail is untouched");
        done.send(transferred as u64);
    }

    #[post(land)]
    fn post_land(&mut self, _seed: &u32, data: Post<u32>, _done: &Callback<u64>) {
        let landing = self.landing.take().unwrap_or_else(|| vec![u32::MAX; data.len() + 10].into());
        let len = data.len();
        data.post(Landing::first(len, landing)).expect("it is long enough");
    }

    /// Drops the buffer, here or on another thread, and waits until its sender says that it has heard of that.
    #[entry]
    async fn take_and_wait(
        _this: This<Self>,
        #[nocopy] data: Received<u32>,
        elsewhere: bool,
        waits: Callback<Callback<()>>,
        done: Callback<()>,
    ) {
        let drop_it = move || drop(data);
        if elsewhere {
            std::thread::spawn(drop_it).join().expect("it only drops");
        } else {
            drop_it();
        }
        let (heard, callback) = chare::future();
        waits.send(callback);
        heard.await;
        done.send(());
    }

    #[entry]
    async fn read_from(this: This<Self>, seed: u32, source: SourceHandle<u32>, done: Callback<u64>) {
        for _ in 0..3 {
            let (filled, callback) = chare::future();
            rget(&source, BufferMut::zeroed(source.len() + 3), callback).expect("it is long enough");
            let filled = filled.await;
            check(seed, &filled[..source.len()]);
            assert_eq!(filled[source.len()..], [0, 0, 0]);
        }
        this.with(|cell| cell.total += 1);
        done.send(source.len() as u64);
    }

    #[entry]
    async fn write_to(_this: This<Self>, seed: u32, target: TargetHandle<u32>, done: Callback<u64>) {
        let (written, callback) = chare::future();
        rput(pattern(seed, target.len()), &target, callback).expect("it fits");
        done.send(written.await.len() as u64);
    }
}

fn pattern(seed: u32, len: usize) -> Vec<u32> {
    (0..len as u32).map(|position| position.wrapping_mul(2_654_435_761).wrapping_add(seed)).collect()
}

#[track_caller]
fn check(seed: u32, data: &[u32]) {
    assert!(data == pattern(seed, data.len()), "wrong data, seed {seed}, {} elements", data.len());
}

#[test]
fn broadcasts_reductions_and_quiescence() {
    on_every_path(&SHAPES, || async {
        let cells = CellProxy::create(11, 100);
        cells.add(3);
        cells.at(10).add(4);
        chare::quiescence().await;
        let ((total, to_total), (names, to_names)) = (chare::future(), chare::future());
        cells.sum_up(to_total);
        assert_eq!(total.await, 55 * 100 + 11 * 3 + 4);
        // Not before: calls have no order, and members would contribute to different reductions first.
        cells.names(to_names);
        assert_eq!(names.await, (0..11).map(|index| index.to_string()).collect::<Vec<_>>());
    });
}

/// Results of which the caller's process has not contributed a part.
#[test]
fn reductions_of_members_that_all_live_elsewhere() {
    on_every_path(&[(2, 1), (3, 1)], || async {
        let last = chare::pes() - 1;
        let options = chare::ArrayOptions::new(5).place_by(|_| PeId(last));
        let cells = CellProxy::create(options, 100);
        let (met, to_met) = chare::future();
        let ((total, to_total), (names, to_names)) = (chare::future(), chare::future());
        cells.meet(to_met);
        met.await;
        cells.sum_up(to_total);
        assert_eq!(total.await, 10 * 100);
        cells.names(to_names);
        assert_eq!(names.await, ["0", "1", "2", "3", "4"]);
    });
}

#[test]
fn regular_arguments_of_any_size() {
    on_every_path(&SHAPES[..1], || async {
        let cells = CellProxy::create(2, 0);
        for len in [0, 1, 1000, 8191, 8192, 100_000, 1_000_000] {
            let values: Vec<u64> = (0..len).collect();
            let (echo, callback) = chare::future();
            cells.at(1).echo(values.clone(), callback);
            assert!(echo.await == values, "{len} values");
        }
    });
}

#[test]
fn nocopy_sends_arrive_and_hand_their_buffers_back() {
    on_every_path(&SHAPES[..2], || async {
        let cells = CellProxy::create(4, 0);
        for (seed, len) in (0u32..).zip([0, 1, 511, 512, 513, 10_000, 300_000]) {
            for shareable in [false, true] {
                let data = pattern(seed, len);
                let data: Buffer<u32> = if shareable {
                    BufferMut::from_fn(len, |position| data[position]).freeze()
                } else {
                    data.into()
                };
                let ((taken, done), (back, sent)) = (chare::future(), chare::future());
                cells.at(3).take(seed, SendBuffer::from(data).on_sent(sent), done);
                assert_eq!(taken.await, len as u64);
                let back: Sent<u32> = back.await;
                assert_eq!(back.transferred(), len);
                let back = back.into_buffer();
                check(seed, &back);
                assert!(back.try_into_mut().is_ok(), "nobody else holds it");
            }
        }
    });
}

#[test]
fn a_buffer_of_which_pieces_were_sent_is_writable_when_nobody_reads_them() {
    on_every_path(&SHAPES[..2], || async {
        let (cells, half) = (CellProxy::create(4, 0), 10_000);
        let mut buffer = BufferMut::zeroed(2 * half);
        for seed in 0..3 {
            buffer.copy_from_slice(&pattern(seed, half).repeat(2));
            let shared = buffer.freeze();
            for start in [0, half] {
                let piece = Layout::contiguous(half as u64).and_then(|piece| piece.shifted(start as i64));
                let piece = SendBuffer::from(shared.clone()).only(&piece.expect("it fits"));
                let (taken, done) = chare::future();
                cells.at(3).take(seed, piece, done);
                assert_eq!(taken.await, half as u64);
            }
            chare::quiescence().await;
            buffer = shared.try_into_mut().expect("nobody reads it any more");
        }
    });
}

#[test]
fn a_buffer_is_back_while_the_entry_that_dropped_it_waits() {
    on_every_path(&SHAPES[..2], || async {
        let cells = CellProxy::create(4, 0);
        for (len, elsewhere) in [(10, false), (100_000, false), (10, true), (100_000, true)] {
            let (sent, on_sent) = chare::future::<Sent<u32>>();
            let ((waits, to_waits), (done, to_done)) = (chare::future(), chare::future());
            let buffer: Buffer<u32> = BufferMut::from_fn(len, |position| position as u32).freeze();
            cells.at(3).take_and_wait(
                SendBuffer::from(buffer).on_sent(on_sent),
                elsewhere,
                to_waits,
                to_done,
            );
            assert_eq!(sent.await.into_vec().len(), len);
            waits.await.send(());
            done.await;
        }
    });
}

#[test]
fn posted_receives_land_in_the_users_buffer() {
    on_every_path(&SHAPES[..2], || async {
        let cells = CellProxy::create(4, 0);
        for (seed, len) in (0u32..).zip([0, 1, 512, 513, 100_000]) {
            for index in [0, 3] {
                let (landed, done) = chare::future();
                cells.at(index).land(seed, pattern(seed, len), pattern(seed + 1, 700), done);
                assert_eq!(landed.await, len as u64);
            }
        }
    });
}

#[test]
fn the_direct_api_reads_and_writes_any_number_of_times() {
    on_every_path(&SHAPES[..2], || async {
        let cells = CellProxy::create(4, 0);
        for len in [1, 1000, 500_000] {
            let (accessed, notify) = chare::future::<u64>();
            let source = RegisteredSource::register(pattern(9, len)).notify(notify);
            for index in [0, 3] {
                let (read, done) = chare::future();
                cells.at(index).read_from(9, source.handle(), done);
                assert_eq!(read.await, len as u64);
            }
            assert_eq!(accessed.await, 4 * len as u64);
            check(9, &source.deregister());

            let target = RegisteredTarget::register(vec![0u32; len]);
            let half = len / 2;
            for (index, range, seed) in [(3, 0..half, 1), (0, half..len, 2)] {
                let (written, done) = chare::future();
                cells.at(index).write_to(seed, target.handle().slice(range.clone()), done);
                assert_eq!(written.await, range.len() as u64);
            }
            let fits = target.read(|elements| {
                check(1, &elements[..half]);
                check(2, &elements[half..]);
            });
            assert_eq!(fits, Some(()), "no put is under way");
            let (back, closed) = chare::future();
            target.close(closed);
            assert_eq!(back.await.len(), len);
        }
    });
}

#[test]
fn a_stale_handle_ends_the_job_with_a_message_that_says_so() {
    for (path, network) in paths() {
        let error = Job::in_process(2, 1)
            .network(network)
            .run(|| async {
                let cells = CellProxy::create(2, 0);
                let source = RegisteredSource::register(pattern(1, 5000));
                let handle = source.handle();
                drop(source);
                cells.at(1).read_from(1, handle, Callback::ignore());
                chare::future::<()>().0.await;
            })
            .unwrap_err();
        assert!(matches!(error, JobError::Transfer { .. }), "{path}: {error}");
        assert!(error.to_string().contains("stale"), "{path}: {error}");
    }
}

#[test]
fn readonly_values_reach_every_node_before_anything_runs() {
    struct Reader;
    #[chare(group)]
    impl Reader {
        #[entry]
        fn new(expected: u64, done: Callback<()>) -> Self {
            assert_eq!(chare::readonly::<Vec<u64>>().len() as u64, expected);
            let _ = done;
            Self
        }

        #[entry]
        fn check(&mut self, done: Callback<u64>) {
            self.contribute(sum(chare::readonly::<Vec<u64>>().iter().sum::<u64>()), done);
        }
    }
    on_every_path(&SHAPES, || async {
        chare::set_readonly((0..1000u64).collect::<Vec<_>>());
        let readers = ReaderProxy::create(1000, Callback::ignore());
        let (total, done) = chare::future();
        readers.check(done);
        assert_eq!(total.await, 499_500 * u64::from(chare::pes()));
    });
}

#[test]
fn a_panic_on_another_node_is_told_once_with_its_place() {
    struct Bomb;
    #[chare]
    impl Bomb {
        #[entry]
        fn new() -> Self {
            panic!("wired wrongly")
        }
    }
    for (path, network) in paths() {
        let error = Job::in_process(3, 1)
            .network(network)
            .run(|| async {
                BombProxy::create_on(PeId(2));
            })
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("Bomb") && error.contains("PE 2") && error.contains("wired wrongly"),
            "{path}: {error}"
        );
    }
}

struct Hub {
    heard: Vec<(u64, u64)>,
}

#[chare(nodegroup)]
impl Hub {
    #[entry]
    fn new() -> Self {
        Self { heard: Vec::new() }
    }

    #[entry]
    fn hear(&mut self, what: u64) {
        self.heard.push((chare::reference(), what));
    }

    #[entry]
    fn reflect(&mut self, callback: Callback<u64>, value: u64) {
        callback.send(value);
    }

    #[entry]
    fn tell(&mut self, to: Callback<Vec<Vec<(u64, u64)>>>) {
        let heard = std::mem::take(&mut self.heard);
        self.contribute(set(heard), to);
    }

    /// Creates a collection of its own and passes its proxy on before anybody can have heard of it.
    #[entry]
    fn found(&mut self, done: Callback<u64>) {
        let cells = CellProxy::create(5, 1);
        let next = NodeId((chare::my_node().0 + 1) % chare::nodes());
        self.this_collection().on(next).visit(cells, done);
    }

    #[entry]
    fn visit(&mut self, cells: CellProxy, done: Callback<u64>) {
        cells.at(4).add(100);
        cells.at(0).add(10);
        cells.with(chare::CallOptions::new().priority(chare::Priority::integer(100))).sum_up(done);
    }
}

#[test]
fn callbacks_of_every_kind_reflected_off_every_node() {
    on_every_path(&SHAPES, || async {
        let hubs = HubProxy::create();
        let nodes = u64::from(chare::nodes());
        for node in (0..chare::nodes()).map(NodeId) {
            let (value, callback) = chare::future();
            hubs.on(node).reflect(callback, 5);
            assert_eq!(value.await, 5);
            hubs.on(node).reflect(hubs.on(NodeId(0)).hear_callback().with_reference(7), 6);
            hubs.on(node).reflect(hubs.hear_callback().with_reference(8), 9);
            hubs.on(node).reflect(Callback::ignore(), 10);
        }
        chare::quiescence().await;
        let (told, callback) = chare::future();
        hubs.tell(callback);
        for (node, heard) in (0u64..).zip(told.await) {
            let at_zero = heard.iter().filter(|heard| **heard == (7, 6)).count() as u64;
            let everywhere = heard.iter().filter(|heard| **heard == (8, 9)).count() as u64;
            assert_eq!((at_zero, everywhere), (if node == 0 { nodes } else { 0 }, nodes), "node {node}");
            assert_eq!(heard.len() as u64, at_zero + everywhere);
        }
        hubs.on(NodeId(chare::nodes() - 1)).reflect(Callback::exit(), 0);
        chare::future::<()>().0.await;
    });
}

#[test]
fn collections_are_created_from_anywhere_and_used_before_they_are_known() {
    on_every_path(&SHAPES, || async {
        let hubs = HubProxy::create();
        for node in (0..chare::nodes()).map(NodeId) {
            let (total, done) = chare::future();
            hubs.on(node).found(done);
            // Calls overtake each other, so the sum may miss what `visit` added; quiescence makes sure of the rest.
            let total = total.await;
            assert!([10, 20, 110, 120].contains(&total), "{total}");
        }
    });
}

/// Its provider `shm` names segments after the process, whose number a killed one may have had.
#[cfg(feature = "ofi")]
#[test]
fn segments_of_a_killed_process_are_no_obstacle() {
    if !chare_lrts::ofi::providers().is_ok_and(|here| here.iter().any(|name| name == "shm")) {
        println!("skipped: libfabric or its provider `shm` is not here");
        return;
    }
    let (process, user) = (std::process::id(), rustix::process::getuid().as_raw());
    let left: Vec<_> = (0..500).map(|one| format!("/dev/shm/{process}:{user}:{one}")).collect();
    let mine: Vec<_> = left
        .iter()
        .filter(|path| std::fs::File::create_new(path).and_then(|file| file.set_len(1 << 12)).is_ok())
        .collect();
    let network = chare::ReachOptions {
        lrts: Some("ofi".to_owned()),
        ofi: Some("shm".to_owned()),
        ..chare::ReachOptions::default()
    };
    let result = Job::in_process(3, 1).network(network).run(|| async { chare::exit(3) });
    mine.iter().for_each(|path| drop(std::fs::remove_file(path)));
    assert_eq!(result.unwrap_or_else(|error| panic!("{error}")), 3);
}
