//! Completion detection: never before all is consumed, whatever else goes on, and as often as it is asked for.

use crate::every_path::on_every_path;
use chare::Job;
use chare::completion_detection::CompletionDetectorProxy;
use chare::prelude::*;

const SHAPES: [(u32, u32); 4] = [(1, 1), (1, 3), (2, 2), (4, 1)];

/// Makes tasks that go round before they are consumed.
struct Worker {
    detector: CompletionDetectorProxy,
    consumed: u64,
    is_stopped: bool,
}

#[chare(group)]
impl Worker {
    #[entry]
    fn new(detector: CompletionDetectorProxy) -> Self {
        Self { detector, consumed: 0, is_stopped: false }
    }

    /// Produces in two goes: others may have consumed all between them.
    #[entry]
    fn produce(&mut self, tasks: u64) {
        self.send(tasks);
        self.this_chare().produce_more(tasks);
    }

    #[entry]
    fn produce_more(&mut self, tasks: u64) {
        self.send(tasks);
        self.detector.local().done(1);
    }

    fn send(&mut self, tasks: u64) {
        for task in 0..tasks {
            self.detector.local().produce(1);
            let to = PeId((task % u64::from(chare::pes())) as u32);
            self.this_collection().on(to).pass(task % 7);
        }
    }

    #[entry(aggregate(buffer_bytes = 64))]
    fn pass(&mut self, hops: u64) {
        if hops > 0 {
            let next = PeId((chare::my_pe().0 + 1) % chare::pes());
            self.this_collection().on(next).pass(hops - 1);
        } else {
            self.consumed += 1;
            self.detector.local().consume(1);
        }
    }

    #[entry]
    fn consumed(&mut self, done: Callback<u64>) {
        self.contribute(sum(self.consumed), done);
    }

    /// Keeps its PE from ever being quiet until it is told to stop.
    #[entry]
    fn whirl(&mut self) {
        if !self.is_stopped {
            self.this_chare().whirl();
        }
    }

    #[entry]
    fn stop(&mut self) {
        self.is_stopped = true;
    }
}

#[test]
fn it_says_when_it_has_started() {
    on_every_path(&SHAPES, || async {
        let detector = CompletionDetectorProxy::create();
        for _ in 0..2 {
            let (started, has_started) = chare::future();
            let (produced, all_produced) = chare::future();
            let (finished, all_finished) = chare::future();
            detector.start_then(has_started, 1, all_produced, all_finished);
            started.await;
            detector.local().produce(1);
            detector.local().done(1);
            produced.await;
            detector.local().consume(1);
            finished.await;
        }
    });
}

#[test]
fn it_finishes_when_all_is_consumed_and_others_go_on() {
    const TASKS: u64 = 50;
    on_every_path(&SHAPES, || async {
        let detector = CompletionDetectorProxy::create();
        let workers = WorkerProxy::create(detector.clone());
        workers.whirl();
        for round in 1..=2 {
            let (produced, all_produced) = chare::future();
            let (finished, all_finished) = chare::future();
            workers.produce(TASKS);
            detector.start(chare::pes().into(), all_produced, all_finished);
            produced.await;
            finished.await;
            let (consumed, done) = chare::future();
            workers.consumed(done);
            assert_eq!(consumed.await, round * 2 * TASKS * u64::from(chare::pes()));
        }
        workers.stop();
    });
}

#[test]
fn nobody_produces_and_it_finishes() {
    on_every_path(&SHAPES, || async {
        let detector = CompletionDetectorProxy::create();
        for producers in [0, 1] {
            let (finished, all_finished) = chare::future();
            detector.start(producers, Callback::ignore(), all_finished);
            if producers > 0 {
                chare::quiescence().await;
                detector.local().done(1);
            }
            finished.await;
        }
    });
}

/// The failure of a job that misuses a detector.
fn failure(misuse: impl FnOnce(CompletionDetectorProxy) + Send + 'static) -> String {
    let job = Job::in_process(2, 1).run(|| async {
        let detector = CompletionDetectorProxy::create();
        chare::quiescence().await;
        detector.start(1, Callback::ignore(), Callback::ignore());
        misuse(detector);
    });
    job.unwrap_err().to_string()
}

#[test]
fn misuse_ends_the_job_with_advice() {
    let too_many = failure(|detector| detector.local().done(2));
    assert!(too_many.contains("2 producers are done, and 1 were announced"), "{too_many}");
    let from_nowhere = failure(|detector| {
        detector.local().consume(3);
        detector.local().done(1);
    });
    assert!(from_nowhere.contains("3 were consumed, and 0 were produced"), "{from_nowhere}");
    let twice = failure(|detector| detector.start(1, Callback::ignore(), Callback::ignore()));
    assert!(twice.contains("has not finished"), "{twice}");
}
