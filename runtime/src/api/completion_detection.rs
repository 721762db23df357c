//! Completion detection: a callback runs once everything that some producers made has been consumed. The rest of the program may go on
//! meanwhile, where [`quiescence`](crate::quiescence()) would wait for it. A library of one group, in the runtime's own language.
//!
//! 1. Members count what is produced and consumed on their PE, without a message.
//! 2. A producer that is done reports to the root, the member on PE 0. When as many producers are done as were announced, nothing more is
//!    produced, and the root asks all members for their counts. From then on the root knows the number produced exactly, and a lower
//!    bound of the number consumed.
//! 3. From then on members report to the root what else they consume, many things in one message. When the number consumed is the number
//!    produced, everything is complete.
//! 4. Then the members reset their counts; `finished` is called only when all of them have, so the detector can be used again.
//!
//! Never early: the number produced is final before it is compared, and the number consumed that the root knows is never more than the
//! true one.

use crate::prelude::*;

/// Detects that everything that some producers made has been consumed. A group: each member counts on its own PE.
///
/// After [`start`](CompletionDetectorProxy::start), each producer calls `produce` for the things it makes, before anybody can consume
/// them, and `done` when it makes no more; each consumer calls `consume`. These are functions of the member on the caller's own PE;
/// `produce` and `consume` cost a few nanoseconds and no message. While nothing is produced or consumed, nothing runs.
///
/// ```
/// use chare::prelude::*;
/// use chare::completion_detection::CompletionDetectorProxy;
///
/// struct Worker {
///     detector: CompletionDetectorProxy,
/// }
///
/// #[chare(group)]
/// impl Worker {
///     #[entry]
///     fn new(detector: CompletionDetectorProxy) -> Self {
///         Self { detector }
///     }
///
///     /// Sends work to all, and is one producer of it.
///     #[entry]
///     fn produce(&mut self) {
///         let detector = self.detector.local();
///         for pe in (0..chare::pes()).map(PeId) {
///             detector.produce(1);
///             self.this_collection().on(pe).work(pe.0);
///         }
///         detector.done(1);
///     }
///
///     #[entry(aggregate)]
///     fn work(&mut self, _task: u32) {
///         self.detector.local().consume(1);
///     }
/// }
///
/// let code = chare::Job::in_process(2, 2).run(|| async {
///     let detector = CompletionDetectorProxy::create();
///     let workers = WorkerProxy::create(detector.clone());
///     let (finished, all_finished) = chare::future();
///     detector.start(chare::pes().into(), Callback::ignore(), all_finished);
///     workers.produce();
///     finished.await;
/// });
/// assert_eq!(code.unwrap(), 0);
/// ```
#[derive(Debug, Default)]
pub struct CompletionDetector {
    produced: u64,
    consumed: u64,
    /// The part of `consumed` that the root knows.
    told: u64,
    /// Whether the root has asked for the counts, so that further consumption is reported to it.
    is_asked: bool,
    /// Whether a call of `tell` is on its way.
    tells_soon: bool,
    root: Root,
}

/// State of the root, the member on PE 0, about all members.
#[derive(Debug, Default)]
struct Root {
    detection: Option<Detection>,
    /// The number of producers that are done.
    done: u64,
    /// The number produced by all members together, once it is known.
    produced: Option<u64>,
    /// A lower bound of the number consumed by all members together.
    consumed: u64,
}

/// A request by [`CompletionDetectorProxy::start`].
#[derive(Clone, Debug)]
struct Detection {
    producers: u64,
    all_produced: Callback<()>,
    finished: Callback<()>,
}

const ROOT: PeId = PeId(0);

#[chare(group)]
impl CompletionDetector {
    /// A detector with nothing to detect yet.
    #[entry]
    pub fn new() -> Self {
        Self::default()
    }

    /// Starts a detection for so many producers: calls `all_produced` when all of them are done, and `finished` when everything that they
    /// have produced is consumed. Calls of `produce`, `consume` and `done` before this one count. From `finished` on the detector can be
    /// started again.
    ///
    /// # Panics
    /// While a detection is under way: use another detector for another set of producers.
    #[entry]
    pub fn start(&mut self, producers: u64, all_produced: Callback<()>, finished: Callback<()>) {
        if chare::my_pe() != ROOT {
            return;
        }
        let detection = Detection { producers, all_produced, finished };
        let under_way = self.root.detection.replace(detection);
        assert!(
            under_way.is_none(),
            "this detector was started and has not finished; use another one, or wait"
        );
        self.ask_if_done();
    }

    /// Like [`start`](CompletionDetectorProxy::start); calls `started` first, when the detection is under way: for code that is to go on
    /// from there, as with Charm++'s start callback. Counting need not wait for it.
    ///
    /// # Panics
    /// While a detection is under way.
    #[entry]
    pub fn start_then(
        &mut self,
        started: Callback<()>,
        producers: u64,
        all_produced: Callback<()>,
        finished: Callback<()>,
    ) {
        if chare::my_pe() == ROOT {
            started.send(());
            self.start(producers, all_produced, finished);
        }
    }

    /// Counts so many things that are to be consumed. Call it before anybody can consume them, and before their producer is done.
    #[entry(local)]
    pub fn produce(&mut self, count: u64) {
        self.produced += count;
    }

    /// Counts so many things that have been consumed.
    #[entry(local)]
    pub fn consume(&mut self, count: u64) {
        self.consumed += count;
        if self.is_asked && !self.tells_soon {
            self.tells_soon = true;
            self.this_chare().tell();
        }
    }

    /// Counts so many producers that will produce nothing more. One message.
    #[entry(local)]
    pub fn done(&mut self, producers: u64) {
        self.this_collection().on(ROOT).hear_of_done(producers);
    }

    #[entry]
    fn hear_of_done(&mut self, producers: u64) {
        self.root.done += producers;
        self.ask_if_done();
    }

    fn ask_if_done(&mut self) {
        let Root { detection: Some(detection), done, .. } = &self.root else { return };
        let producers = detection.producers;
        assert!(*done <= producers, "{done} producers are done, and {producers} were announced by `start`");
        if *done == producers {
            detection.all_produced.send(());
            self.this_collection().count();
        }
    }

    #[entry]
    fn count(&mut self) {
        (self.is_asked, self.told) = (true, self.consumed);
        let to = self.this_collection().on(ROOT).hear_of_counts_callback();
        self.contribute(tuple((sum(self.produced), sum(self.consumed))), to);
    }

    #[entry]
    fn hear_of_counts(&mut self, produced: u64, consumed: u64) {
        self.root.produced = Some(produced);
        self.hear_of_consumed(consumed);
    }

    /// Reports to the root what this member has consumed. It runs after the calls that were queued before it, so that one message reports
    /// all that they consume.
    #[entry]
    fn tell(&mut self) {
        self.tells_soon = false;
        let consumed = self.consumed - std::mem::replace(&mut self.told, self.consumed);
        self.this_collection().on(ROOT).hear_of_consumed(consumed);
    }

    #[entry]
    fn hear_of_consumed(&mut self, consumed: u64) {
        self.root.consumed += consumed;
        let Root { produced: Some(produced), consumed, .. } = self.root else { return };
        assert!(
            consumed <= produced,
            "{consumed} were consumed, and {produced} were produced: call `produce` before anybody can consume, and before `done`"
        );
        if consumed == produced
            && let Some(Detection { finished, .. }) = std::mem::take(&mut self.root).detection
        {
            self.this_collection().forget(finished);
        }
    }

    #[entry]
    fn forget(&mut self, finished: Callback<()>) {
        *self = Self { root: std::mem::take(&mut self.root), ..Self::default() };
        self.contribute(barrier(), finished);
    }
}
