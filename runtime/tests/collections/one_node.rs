//! Jobs of one process, as a user sees them.

use chare::prelude::*;
use chare::{ArrayOptions, CallOptions, Job, JobError, Landing, Placement, Priority};
use std::sync::atomic::{AtomicU32, Ordering};

struct Adder {
    total: u64,
}

#[chare]
impl Adder {
    #[entry]
    fn new(start: u64) -> Self {
        Self { total: start }
    }

    #[entry]
    fn add(&mut self, amount: u64) {
        self.total += amount;
    }

    #[entry]
    fn report(&mut self, to: Callback<u64>) {
        to.send(self.total);
    }

    #[entry]
    fn fail(&mut self, why: String) {
        panic!("{why}");
    }
}

#[test]
fn a_singleton_keeps_state_between_calls_and_answers_through_a_future() {
    for pes in [1, 2, 4] {
        let code = Job::in_process(1, pes).run(move || async move {
            let adder = AdderProxy::create_on(PeId(pes - 1), 5);
            adder.add(10);
            adder.add(27);
            let (total, callback) = chare::future();
            adder.report(callback);
            assert_eq!(total.await, 42);
            chare::exit(3);
        });
        assert_eq!(code.unwrap(), 3);
    }
}

#[test]
fn a_panic_names_chare_entry_pe_node_and_cause() {
    let error = Job::in_process(1, 2)
        .run(|| async {
            AdderProxy::create_on(PeId(1), 0).fail("the reason".to_owned());
        })
        .unwrap_err();
    let text = error.to_string();
    for part in ["Adder::fail", "PE 1", "node 0", "the reason", "one_node.rs"] {
        assert!(text.contains(part), "`{part}` in: {text}");
    }
    assert!(matches!(error, JobError::Panic { .. }));
}

static MAYFLIES: AtomicU32 = AtomicU32::new(0);

struct Mayfly;

impl Drop for Mayfly {
    fn drop(&mut self) {
        MAYFLIES.fetch_sub(1, Ordering::Relaxed);
    }
}

#[chare]
impl Mayfly {
    #[entry]
    fn new(live: bool) -> Self {
        MAYFLIES.fetch_add(1, Ordering::Relaxed);
        if !live {
            chare::destroy();
        }
        Self
    }

    #[entry]
    fn die(&mut self) {
        chare::destroy();
    }

    #[entry]
    async fn die_later(_this: This<Self>) {
        let (value, callback) = chare::future::<()>();
        callback.send(());
        value.await;
        chare::destroy();
    }
}

#[test]
fn a_singleton_is_gone_after_it_asked_for_it_in_any_kind_of_entry() {
    let code = Job::in_process(1, 2).run(|| async {
        for pe in [PeId(0), PeId(1)] {
            MayflyProxy::create_on(pe, false);
            MayflyProxy::create_on(pe, true).die();
            MayflyProxy::create_on(pe, true).die_later();
        }
        chare::quiescence().await;
        // Six came and all of them went, while the job still runs.
        assert_eq!(MAYFLIES.load(Ordering::Relaxed), 0);
    });
    assert_eq!(code.unwrap(), 0);
}

struct Brief;

#[chare]
impl Brief {
    #[entry]
    fn new(live: bool) -> Self {
        if !live {
            chare::destroy();
        }
        Self
    }

    #[entry]
    fn end(&mut self) {
        chare::destroy();
    }
}

#[test]
fn a_call_of_a_destroyed_singleton_ends_the_job_and_names_it() {
    for (nodes, stillborn) in [(1, false), (1, true), (2, false), (2, true)] {
        let job = Job::in_process(nodes, 2).run(move || async move {
            let last = PeId(chare::pes() - 1);
            let [other, brief, third] =
                [true, !stillborn, true].map(|live| BriefProxy::create_on(last, live));
            third.end();
            if !stillborn {
                brief.end();
                chare::quiescence().await;
            }
            brief.end();
            other.end();
            chare::quiescence().await;
        });
        let error = job.unwrap_err();
        assert!(matches!(error, JobError::Delivery { .. }), "{error:?}");
        let error = error.to_string();
        for clue in ["Brief::end", "destroyed", &format!("PE {}", 2 * nodes - 1)] {
            assert!(error.contains(clue), "`{clue}` in: {error}");
        }
    }
}

struct Member {
    greetings: u32,
}

#[chare(array)]
impl Member {
    #[entry]
    fn new(base: u64) -> Self {
        assert!(chare::this_index::<u64>() < 1000 + base);
        Self { greetings: 0 }
    }

    #[entry]
    fn greet(&mut self, times: u32) {
        self.greetings += times;
    }

    #[entry]
    fn count(&mut self, done: Callback<u32>) {
        self.contribute(sum(self.greetings), done);
    }

    #[entry]
    fn describe(
        &mut self,
        sums: Callback<Vec<f64>>,
        names: Callback<Vec<String>>,
        least: Callback<i64>,
        all: Callback<()>,
    ) {
        let index = self.this_index();
        self.contribute(sum(vec![index as f64, 1.0]), sums);
        self.contribute(set(format!("member {index}")), names);
        self.contribute(min(5 - index as i64), least);
        self.contribute(barrier(), all);
    }

    #[entry]
    async fn relay(this: This<Self>, next: u64, trail: Vec<u64>, done: Callback<Vec<u64>>) {
        let mut trail = trail;
        trail.push(this.this_index());
        let (value, callback) = chare::future::<u64>();
        callback.send(next);
        let next = value.await;
        this.with(|member| member.greetings += 1);
        if next == 0 {
            done.send(trail);
        } else {
            this.this_collection().at(next).relay(next - 1, trail, done);
        }
    }
}

#[test]
fn arrays_broadcast_reduce_and_relay_under_every_placement() {
    let ten = || ArrayOptions::new(10);
    let options = [
        ten(),
        ten().placement(Placement::RoundRobin),
        ten().placement(Placement::Hash),
        ten().place_by(|index| PeId((index * 7 % 3) as u32)),
        ArrayOptions::listed(0..10),
    ];
    for options in options {
        let code = Job::in_process(1, 3).run(move || async move {
            let array = MemberProxy::create(options, 1);
            array.greet(2);
            array.at(4).greet(1);
            chare::quiescence().await;
            let (count, callback) = chare::future();
            array.count(callback);
            assert_eq!(count.await, 21);
            let ((sums, to_sums), (names, to_names)) = (chare::future(), chare::future());
            let ((least, to_least), (all, to_all)) = (chare::future(), chare::future());
            array.describe(to_sums, to_names, to_least, to_all);
            assert_eq!(sums.await, [45.0, 10.0]);
            assert_eq!(names.await, (0..10).map(|index| format!("member {index}")).collect::<Vec<_>>());
            assert_eq!(least.await, -4);
            all.await;
            let (trail, callback) = chare::future();
            array.at(9).relay(8, Vec::new(), callback);
            assert_eq!(trail.await, (1..10).rev().collect::<Vec<u64>>());
        });
        assert_eq!(code.unwrap(), 0);
    }
}

#[test]
fn a_call_beyond_an_arrays_end_names_the_array_and_its_length() {
    let error = Job::in_process(1, 1)
        .run(|| async {
            let array = MemberProxy::create(3, 0);
            array.at(3).greet(1);
            chare::future::<()>().0.await;
        })
        .unwrap_err();
    assert!(error.to_string().contains("has 3 members, there is no member 3"), "{error}");
}

struct Log {
    seen: Vec<u32>,
}

#[chare(group)]
impl Log {
    #[entry]
    fn new() -> Self {
        Self { seen: Vec::new() }
    }

    #[entry]
    fn note(&mut self, what: u32) {
        self.seen.push(what);
    }

    #[entry(priority = -7)]
    fn note_early(&mut self, what: u32) {
        self.seen.push(what);
    }

    #[entry(expedited)]
    fn note_first(&mut self, what: u32) {
        self.seen.push(what);
    }

    #[entry]
    fn fill(&mut self) {
        let me = self.this_chare();
        let last = CallOptions::new().priority(Priority::integer(9));
        me.with(last).note(5);
        me.note(3);
        me.note(4);
        me.note_early(1);
        me.with(CallOptions::new().last_in_first_out()).note(2);
        me.note_first(0);
    }

    #[entry]
    fn read(&mut self, to: Callback<Vec<u32>>) {
        to.send(self.seen.clone());
    }
}

#[test]
fn priorities_order_what_waits_on_a_pe() {
    let code = Job::in_process(1, 1).run(|| async {
        let log = LogProxy::create();
        log.local().fill();
        chare::quiescence().await;
        let (seen, callback) = chare::future();
        log.on(PeId(0)).read(callback);
        assert_eq!(seen.await, [0, 1, 2, 3, 4, 5]);
    });
    assert_eq!(code.unwrap(), 0);
}

struct Receiver {
    landing: Option<BufferMut<f64>>,
    address: usize,
}

#[chare]
impl Receiver {
    #[entry]
    fn new() -> Self {
        Self { landing: Some(vec![0.0; 1000].into()), address: 0 }
    }

    #[entry]
    fn take(&mut self, address: usize, #[nocopy] data: Received<f64>, done: Callback<f64>) {
        assert_eq!(data.as_ptr() as usize, address, "the sender's own memory");
        done.send(data.iter().sum());
    }

    #[entry]
    fn land(&mut self, factor: f64, #[nocopy(post)] data: Posted<f64>, done: Callback<f64>) {
        assert_eq!(data.as_ptr() as usize, self.address, "the posted buffer");
        done.send(factor * data.iter().sum::<f64>());
        self.landing = Some(data.into_buffer());
    }

    #[post(land)]
    fn post_land(&mut self, _factor: &f64, data: Post<f64>, _done: &Callback<f64>) {
        let landing = self.landing.take().expect("one landing at a time");
        self.address = landing.as_ptr() as usize;
        let len = data.len();
        data.post(Landing::first(len, landing)).expect("it is long enough");
    }
}

#[test]
fn nocopy_arguments_are_handed_over_and_come_back() {
    let code = Job::in_process(1, 2).run(|| async {
        let receiver = ReceiverProxy::create_on(PeId(1));
        let data = vec![0.5; 100];
        let address = data.as_ptr() as usize;
        let ((total, done), (back, sent)) = (chare::future(), chare::future());
        receiver.take(address, SendBuffer::from(data).on_sent(sent), done);
        assert_eq!(total.await, 50.0);
        let back: Sent<f64> = back.await;
        assert_eq!((back.len(), back.transferred()), (100, 100));
        let back = back.into_buffer();
        assert_eq!(back.as_ptr() as usize, address);
        let ((total, done), (again, sent)) = (chare::future(), chare::future());
        receiver.land(2.0, SendBuffer::from(back).on_sent(sent), done);
        assert_eq!(total.await, 100.0);
        let vector = again.await.into_vec();
        assert_eq!(vector.as_ptr() as usize, address, "the very vector");
    });
    assert_eq!(code.unwrap(), 0);
}

#[test]
fn readonly_values_are_everywhere_and_missing_ones_are_named() {
    let code = Job::in_process(1, 2).run(|| async {
        chare::set_readonly("the value".to_owned());
        assert_eq!(*chare::readonly::<String>(), "the value");
    });
    assert_eq!(code.unwrap(), 0);
    let error = Job::in_process(1, 1).run(|| async { drop(chare::readonly::<Vec<u8>>()) }).unwrap_err();
    assert!(error.to_string().contains("Vec<u8>"), "{error}");
}
