//! Simulated jobs: all nodes of a job on one thread or a few, in a time of their own, on a simulated network; a seed decides everything.
//!
//! The runtime is the real one down to [`chare_lrts::Lrts`]. [`made`] makes nodes, [`world`] lets one thing happen after another, [`oracles`]
//! look at what did, and [`log`] writes it down. [`threads`] drive the job; where they are several, they come to a [`meeting`] again and again.

mod agenda;
mod audit;
mod cast;
mod drawn;
mod end;
mod log;
mod made;
mod meeting;
mod oracles;
mod pauses;
mod standstill;
#[cfg(test)]
mod tests;
mod threads;
mod world;

use crate::job::life::{Main, NodeOptions};
use crate::job::pes::Pes;
use crate::model::error::JobError;
use crate::node::balancing::BalanceWhen;
use crate::node::devices::DeviceChoice;
use crate::node::seeds::Seeds;
use crate::pe::costs::Costs;
use chare_device::DeviceSpeeds;
use chare_lrts::reach::ReachOptions;
pub use chare_lrts::simulated::{Chance, ChanceError};
use chare_lrts::simulated::{Fidelity, Network};
use drawn::Shape;
pub use log::SimulatedEvent;
use std::num::NonZeroU32;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// A job whose nodes run on the calling thread, or on [a few](Self::threads), on a simulated network and in virtual time: the same seed, the
/// same run, whatever the machine does.
///
/// The program is the same as for a real job, and so is the runtime below it: its scheduler, its services, flow control and zero-copy run
/// as they are. The seed decides how long each frame is on its way (so in which order messages arrive), how long entries take, what the
/// runtime draws, and what [`dice`](crate::dice()) draw; or a [model](Self::model) of the network says how long messages take, and what the job costs. Entries have to take time from [`now`](crate::now()) and chance from `dice`, and not
/// from the machine. Time stands still within an entry, up to its end or its next `.await`: one that loops until `now` has gone on never ends,
/// and so does one that waits for another thread or PE; [`sleep`](crate::sleep()) waits. What reaches out of the job ends it with an error: [`io`](crate::io()),
/// [`job_handle`](crate::job_handle()). Devices are [software](Self::device)'s, in the same time.
///
/// Needs the feature `sim`.
///
/// ```
/// let run = |seed| {
///     chare::Simulation::new(16, 4).hosts(2).seed(seed).run(|| async {
///         let (answer, callback) = chare::future::<u32>();
///         callback.send(chare::pes());
///         assert_eq!(answer.await, 64);
///     })
/// };
/// let outcome = run(7);
/// assert_eq!(outcome.code().unwrap(), 0);
/// assert_eq!(outcome.trace_hash(), run(7).trace_hash());
/// ```
#[derive(Clone, Debug)]
pub struct Simulation {
    shape: Shape,
    options: NodeOptions,
}

impl Simulation {
    /// A job of `nodes` nodes with `pes` PEs each, on one host, with the seed 0.
    ///
    /// # Panics
    /// If either is 0, or there are 2^28 PEs or more.
    pub fn new(nodes: u32, pes: u32) -> Self {
        assert!(nodes > 0 && pes > 0, "a job has at least one node and one PE");
        let is_small = nodes.checked_mul(pes).is_some_and(|all| all < 1 << 28);
        assert!(is_small, "a job of {nodes} nodes with {pes} PEs each is too large");
        let options =
            NodeOptions { pes: Pes::Number(pes), device: DeviceChoice::None, ..NodeOptions::default() };
        let device_speeds = DeviceSpeeds::default();
        Self {
            shape: Shape {
                nodes,
                pes,
                hosts: 1,
                threads: 1,
                seed: 0,
                fidelity: Fidelity::default(),
                network: None,
                costs: None,
                device_speeds,
                is_recorded: false,
                is_audited: false,
                chances: Chance::USUAL.into_iter().collect(),
            },
            options,
        }
    }

    /// Spreads the nodes over so many hosts, as evenly as they can be, neighbours by number on one. No more than there are nodes.
    ///
    /// # Panics
    /// If it is 0.
    pub fn hosts(mut self, hosts: u32) -> Self {
        assert!(hosts > 0, "nodes are on at least one host");
        self.shape.hosts = hosts.min(self.shape.nodes);
        self
    }

    /// Has so many threads drive the job, if it has as many nodes: this one, and others that it starts. The run is the same as by one. The network
    /// has to be a [model's](Self::model), whose latency is not 0; the job has no devices and is not [audited](Self::audited); nodes neither
    /// pause nor are lost. A job that has not all this ends at once with an error. Pays where many PEs work at a time: threads meet after each
    /// latency.
    ///
    /// ```
    /// let network: chare::sim::Network = "loggops:L=2500,o=1500,g=1000,G=6".parse().unwrap();
    /// let run = |threads| {
    ///     let job = chare::Simulation::new(6, 2).model(network).threads(threads);
    ///     job.run(|| async {
    ///         let (answer, callback) = chare::future::<u32>();
    ///         callback.send(chare::pes());
    ///         assert_eq!(answer.await, 12);
    ///     })
    /// };
    /// assert_eq!(run(1).trace_hash(), run(2).trace_hash());
    /// ```
    ///
    /// # Panics
    /// If it is 0.
    pub fn threads(mut self, threads: u32) -> Self {
        assert!(threads > 0, "a job is driven by at least one thread");
        self.shape.threads = threads;
        self
    }

    /// Says how memory moves between nodes, as `+fidelity` does: by messages alone, if nothing is said.
    ///
    /// ```
    /// use chare::sim::Fidelity;
    ///
    /// let outcome = chare::Simulation::new(2, 1).fidelity(Fidelity::Leased).run(|| async {
    ///     let (answer, callback) = chare::future::<u32>();
    ///     callback.send(chare::nodes());
    ///     assert_eq!(answer.await, 2);
    /// });
    /// assert_eq!(outcome.code().unwrap(), 0);
    /// ```
    pub fn fidelity(mut self, fidelity: Fidelity) -> Self {
        self.shape.fidelity = fidelity;
        self
    }

    /// Sets the seed, which decides everything.
    pub fn seed(mut self, seed: u64) -> Self {
        self.shape.seed = seed;
        self
    }

    /// Leaves these parts to chance, and no others. Without this call they are those of [`Chance::USUAL`]; with [`Chance::ALL`] the network is
    /// without room for a while, nodes pause, what may be refused is, and constants of the runtime are at their extremes: in each job with a
    /// probability of its own, as the seed has it, and in half of the jobs up to a moment from which on nothing is amiss. Whatever happens,
    /// the program is to come to the same result. With those of
    /// [`Chance::FATAL`] beside them the job may end with an error that names a lost node, or one whose frame was changed on its way.
    ///
    /// ```
    /// use chare::{Chance, Simulation};
    ///
    /// for seed in 0..10 {
    ///     let outcome = Simulation::new(4, 2).seed(seed).chance(Chance::ALL).audited().run(|| async {
    ///         let (answer, callback) = chare::future::<u32>();
    ///         callback.send(chare::pes());
    ///         assert_eq!(answer.await, 8);
    ///     });
    ///     assert_eq!(outcome.code().unwrap(), 0, "seed {seed}");
    /// }
    /// ```
    pub fn chance(mut self, parts: impl IntoIterator<Item = Chance>) -> Self {
        self.shape.chances = parts.into_iter().collect();
        self
    }

    /// Has a model say how long messages take, and what it takes of the time of PEs to send and receive them, in place of the seed, as `+model`
    /// does. Then PEs spend time on that, on what they [compute](crate::sim::compute) and on what entries [cost](Self::costs), and on nothing
    /// else, so that [`Simulated::time`] is what the model predicts.
    ///
    /// A PE that is not resting may run a message of another PE of its node a little before that one has sent it by the clock: predictions
    /// are best for nodes of one PE.
    ///
    /// ```
    /// let network = "loggops:L=2500,o=1500,g=1000,G=6".parse().unwrap();
    /// let outcome = chare::Simulation::new(2, 1).model(network).run(|| async {
    ///     let begin = chare::now();
    ///     chare::sim::compute(std::time::Duration::from_micros(70));
    ///     assert_eq!((chare::now() - begin).as_micros(), 70);
    /// });
    /// assert_eq!(outcome.code().unwrap(), 0);
    /// assert!(outcome.time().as_micros() >= 70);
    /// ```
    pub fn model(mut self, network: Network) -> Self {
        self.shape.network = Some(network);
        self
    }

    /// Has entries take time, as `+costs` does.
    pub fn costs(mut self, costs: Costs) -> Self {
        self.shape.costs = Some(costs);
        self
    }

    /// Gives each host these software devices, as `+device` does: none without this call. What they do takes virtual time, by their
    /// [speeds](Self::device_speeds), and the same in every run. An entry that waits for them on its thread, as
    /// [`to_vec`](crate::DeviceBuffer::to_vec) does, spends the time; one that waits for a [`Bell`](crate::devices::Bell) waits for ever.
    /// [Measuring](crate::devices::measure) measures nothing.
    ///
    /// ```
    /// use chare::devices::{self, DeviceChoice, StreamCallbacks};
    /// use chare::{DeviceBufferMut, Simulation, sim::DeviceSpeeds};
    ///
    /// let speeds = DeviceSpeeds { outward: 1_000_000_000, ..DeviceSpeeds::default() };
    /// let job = Simulation::new(1, 1).device(DeviceChoice::software(1)).device_speeds(speeds);
    /// let outcome = job.run(|| async {
    ///     let (device, stream) = (devices::mine().expect("a device"), devices::stream().expect("a stream"));
    ///     let mut field = DeviceBufferMut::<u8>::new(&device, 1_000_000).expect("it has room");
    ///     let mut landed = field.read(&stream).expect("it has room");
    ///     let (is_here, callback) = chare::future();
    ///     let begin = chare::now();
    ///     stream.then(callback);
    ///     is_here.await;
    ///     assert!(landed.elements().expect("it is not lost").is_some());
    ///     assert!((chare::now() - begin).as_micros() >= 1_000);
    /// });
    /// assert_eq!(outcome.code().unwrap(), 0);
    /// ```
    pub fn device(mut self, choice: DeviceChoice) -> Self {
        self.options.device = choice;
        self
    }

    /// Says how fast devices are.
    pub fn device_speeds(mut self, speeds: DeviceSpeeds) -> Self {
        self.shape.device_speeds = speeds;
        self
    }

    /// Traces and faults of the network, as `+trace` and `+fault` ask for them; the paths are not the options' to choose here.
    pub fn network(mut self, network: ReachOptions) -> Self {
        self.options.network = network;
        self
    }

    /// Balances the elements that move at syncs, as `+balancer` does.
    pub fn balancer(mut self, name: &str) -> Self {
        self.options.balancer = Some(name.into());
        self
    }

    /// Gives the balancer a turn so long after each balancing, without a sync, as `+balance_every` does. While elements move the job is not
    /// quiet, so this is to be much longer than a balancing takes.
    pub fn balance_every(mut self, time: Duration) -> Self {
        self.options.balancing.every = Some(time);
        self
    }

    /// Says when the balancer has its turn, as `+balance_when` does.
    pub fn balance_when(mut self, when: BalanceWhen) -> Self {
        self.options.balancing.when = when;
        self
    }

    /// Writes what each balancing looks at and plans to a file, as `+balance_dump` does.
    pub fn balance_dump(mut self, file: impl AsRef<Path>) -> Self {
        self.options.balancing.dump = Some(Arc::from(file.as_ref()));
        self
    }

    /// Begins every entry that may be called again ([`Again`](crate::Again)) anew wherever it might be, as `+again` does: to find what such
    /// an entry keeps in its own variables and should keep in the chare.
    pub fn again(mut self) -> Self {
        self.options.begins_anew = true;
        self
    }

    /// Chooses where singletons are created of which the program does not say where, as `+seeds` does.
    pub fn seeds(mut self, seeds: Seeds) -> Self {
        self.options.seeds = seeds;
        self
    }

    /// Runs messages of equal priority in an order that this seed decides, as `+shuffle` does.
    pub fn shuffled(mut self, seed: u64) -> Self {
        self.options.shuffle = Some(seed);
        self
    }

    /// Lets so many messages wait for a PE from each other PE of its node, as `+mailbox` does, before its sender takes what has arrived for
    /// the node in between.
    ///
    /// # Panics
    /// If it is 0.
    pub fn mailbox(mut self, messages: u32) -> Self {
        self.options.mailbox = Some(NonZeroU32::new(messages).expect("a mailbox takes at least one message"));
        self
    }

    /// Keeps every event, 32 bytes each, for [`Simulated::first_difference`].
    pub fn recorded(mut self) -> Self {
        self.shape.is_recorded = true;
        self
    }

    /// Watches with every event whether the runtime keeps its promises: each message comes and is over once, quiescence is told neither
    /// early nor late, credit is neither lost nor made. And looks at the nodes when `main` is over and nothing is in flight: no transfer is
    /// under way, nothing is kept for others. A job in which one is broken ends with an error that says which, although the program knows
    /// nothing of it. Such a job takes a second of virtual time more.
    pub fn audited(mut self) -> Self {
        self.shape.is_audited = true;
        self
    }

    /// Runs `main` on PE 0 until the job ends: by [`exit`](crate::exit()), when `main` is over and nothing is in flight, or when nothing can
    /// happen any more.
    ///
    /// # Panics
    /// If the calling thread runs a PE.
    pub fn run<F, Fut>(self, main: F) -> Simulated
    where
        F: FnOnce() -> Fut + Send + 'static,
        Fut: Future<Output = ()> + 'static,
    {
        self.run_main(Box::new(move || Box::pin(main())))
    }

    pub(crate) fn run_main(self, main: Main) -> Simulated {
        let end = threads::run(&self.shape, &self.options, main);
        let time = end.time();
        let end::End { result, messages, log, marks, .. } = end;
        Simulated { result, time, messages, log, marks }
    }

    pub(crate) fn with_options(mut self, options: NodeOptions) -> Self {
        self.options = NodeOptions { pes: self.options.pes, ..options };
        self
    }
}

/// The outcome of a simulated job.
#[derive(Clone, Debug)]
pub struct Simulated {
    result: Result<i32, JobError>,
    time: Duration,
    messages: u64,
    log: log::Log,
    marks: Vec<(&'static str, u64)>,
}

impl Simulated {
    /// The exit code of the job.
    ///
    /// # Errors
    /// The cause of the job's failure, as the node that noticed it reports it.
    pub fn code(&self) -> Result<i32, JobError> {
        self.result.clone()
    }

    /// The virtual time that the job took, until the last PE was over.
    pub fn time(&self) -> Duration {
        self.time
    }

    /// How many messages were sent that quiescence waits for: within nodes and between them, also by the runtime.
    pub fn messages(&self) -> u64 {
        self.messages
    }

    /// A hash of all that happened: each step of a PE and each frame that arrived, with its moment and its bytes.
    pub fn trace_hash(&self) -> u64 {
        self.log.hash()
    }

    /// The marks of the runtime that were passed, and how often: places that are rare in real jobs, which a campaign of simulated ones is to
    /// reach.
    pub fn marks(&self) -> &[(&'static str, u64)] {
        &self.marks
    }

    /// How many events there were.
    pub fn events(&self) -> u64 {
        self.log.count()
    }

    /// The first event that differs from another run's, in words, if both were [recorded](Simulation::recorded) and any does.
    pub fn first_difference(&self, other: &Self) -> Option<String> {
        self.log.first_difference(&other.log)
    }
}
