//! Jobs in one process: each node is a thread of the process, with threads for its PEs.

#![expect(clippy::disallowed_methods, reason = "each node is a thread of the machine's")]

use super::life::{Main, NodeOptions, close, open, result, together, wait_for_end};
use super::pes::Pes;
use crate::api::job_handle::{JobHandle, job_handle};
use crate::base::numbering::JobNumbers;
use crate::model::error::JobError;
use crate::model::nocopy::LayoutMethod;
use crate::node::Outcome;
use crate::node::balancing::BalanceWhen;
use crate::node::devices::{DeviceChoice, DeviceModels};
use crate::node::seeds::Seeds;
use chare_lrts::bootstrap::Bootstrap;
use chare_lrts::bootstrap::local::Local;
use chare_lrts::reach::ReachOptions;
use std::num::NonZeroU32;
use std::path::Path;
use std::sync::{Arc, mpsc};
use std::time::Duration;

/// A job whose nodes are threads of the calling process: for tests, and for programs that embed a job.
///
/// The nodes talk to each other as separate processes of one host would, over whatever path the options choose.
///
/// One process may run jobs one after the other, and side by side. Proxies, callbacks and sections belong to the job that made them: in
/// another one they reach nothing, and their use ends that job with an error that says so. A value for a future of another job is dropped, as
/// any for which nobody waits.
///
/// ```
/// let code = chare::Job::in_process(2, 2)
///     .run(|| async {
///         assert_eq!(chare::pes(), 4);
///         chare::exit(7);
///     })
///     .unwrap();
/// assert_eq!(code, 7);
/// ```
#[derive(Clone, Debug)]
pub struct Job {
    nodes: u32,
    options: NodeOptions,
}

impl Job {
    /// A job of `nodes` nodes with `pes` PEs each.
    ///
    /// # Panics
    /// If either is 0.
    pub fn in_process(nodes: u32, pes: u32) -> Self {
        assert!(nodes > 0 && pes > 0, "a job has at least one node and one PE");
        Self { nodes, options: NodeOptions { pes: Pes::Number(pes), ..NodeOptions::default() } }
    }

    /// Chooses paths between the nodes, as the `+options` do.
    pub fn network(mut self, network: ReachOptions) -> Self {
        self.options.network = network;
        self
    }

    /// Runs messages of equal priority in an order that the seed decides, as `+shuffle` does: to find code that relies on another order.
    pub fn shuffled(mut self, seed: u64) -> Self {
        self.options.shuffle = Some(seed);
        self
    }

    /// Balances the elements that move at syncs, as `+balancer` does.
    pub fn balancer(mut self, name: &str) -> Self {
        self.options.balancer = Some(name.into());
        self
    }

    /// Gives the balancer a turn so long after each balancing, without a sync, as `+balance_every` does. While elements move the job is not
    /// quiet, so a balancing that takes long is followed by ten times that time without one, whatever this says.
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

    /// Lets so many messages wait for a PE from each other PE of its node, as `+mailbox` does: a PE that sends more waits inside its entry.
    ///
    /// # Panics
    /// If it is 0.
    pub fn mailbox(mut self, messages: u32) -> Self {
        let bound = NonZeroU32::new(messages).expect("a mailbox takes at least one message");
        self.options.mailbox = Some(bound);
        self
    }

    /// Brings what layouts select of other nodes' memory by this method, as `+layouts` does, where the kernel copies the memory.
    pub fn layouts(mut self, method: LayoutMethod) -> Self {
        self.options.layouts = Some(method);
        self
    }

    /// Chooses the devices that its PEs are dealt, as `+device` does; of software devices also what goes wrong with them. Each node opens
    /// them for itself, as processes of one host would.
    ///
    /// ```
    /// use chare::devices::{self, DeviceChoice};
    ///
    /// let code = chare::Job::in_process(1, 2).device(DeviceChoice::software(2)).run(|| async {
    ///     assert_eq!(devices::mine().expect("PE 0 has the first one").info().ordinal, 0);
    /// });
    /// assert_eq!(code.unwrap(), 0);
    /// ```
    pub fn device(mut self, choice: DeviceChoice) -> Self {
        self.options.device = choice;
        self
    }

    /// Where it is kept what its devices were measured to take: what `+device_models` does.
    pub fn device_models(mut self, models: DeviceModels) -> Self {
        self.options.device_models = models;
        self
    }

    /// Starts the job and returns its handle, by which any thread or task gives it work and ends it. Entries run at once; what
    /// [`set_readonly`](crate::set_readonly()) sets, `main` of [`run`](Self::run) has to set.
    ///
    /// # Errors
    /// When the job cannot start.
    pub fn start(self) -> Result<JobHandle, JobError> {
        let (tell, started) = mpsc::channel();
        let failed = tell.clone();
        std::thread::Builder::new()
            .name("chare-job".to_owned())
            .spawn(move || {
                let end = self.run(move || {
                    // The caller waits for it.
                    let _ = tell.send(Ok(job_handle()));
                    std::future::pending()
                });
                if let Err(error) = end {
                    let _ = failed.send(Err(error));
                }
            })
            .map_err(|error| JobError::Config(format!("no thread for the job: {error}")))?;
        started.recv().expect("the job's thread says how it went")
    }

    /// Runs `main` on PE 0 until the job ends: by [`exit`](crate::exit()), or when `main` is over and nothing is in flight.
    ///
    /// # Errors
    /// The cause of the job's failure, as the node that noticed it reports it.
    pub fn run<F, Fut>(self, main: F) -> Result<i32, JobError>
    where
        F: FnOnce() -> Fut + Send + 'static,
        Fut: Future<Output = ()> + 'static,
    {
        let bootstraps = Local::job(self.nodes).map_err(|error| {
            JobError::Config(format!("{} nodes in one process: {error}; try fewer", self.nodes))
        })?;
        let mut main: Option<Main> = Some(Box::new(move || Box::pin(main())));
        let (tell, ends) = mpsc::channel();
        let numbers = JobNumbers::begin();
        let nodes: Vec<_> = bootstraps
            .into_iter()
            .map(|mut bootstrap| {
                let (options, main, tell) = (self.options.clone(), main.take(), tell.clone());
                let numbers = Arc::clone(&numbers);
                std::thread::spawn(move || {
                    let end = live(&options, numbers, &mut bootstrap, main);
                    tell.send(end).expect("the job waits for all its nodes");
                })
            })
            .collect();
        drop(tell);
        let mut outcome = Ok(0);
        let mut places = Vec::new();
        for (end, place) in ends {
            places.extend(place);
            outcome = together(outcome, end);
        }
        for node in nodes {
            if node.join().is_err() {
                outcome = Err(JobError::Config("a node's thread panicked".into()));
            }
        }
        for place in places {
            place.send_replace(Some(outcome.clone()));
        }
        outcome
    }
}

/// The end of the job on a node, and the place for the end of the whole job, if the node has begun.
type NodeEnd = (Result<i32, JobError>, Option<Outcome>);

/// A node's life as a thread of a process.
fn live(
    options: &NodeOptions,
    numbers: Arc<JobNumbers>,
    bootstrap: &mut dyn Bootstrap,
    main: Option<Main>,
) -> NodeEnd {
    let ready = match open(options, numbers, bootstrap) {
        Ok(ready) => ready,
        Err(error) => return (Err(error), None),
    };
    let node = Arc::clone(&ready.node);
    let threads = ready.start(main);
    wait_for_end(&node);
    for thread in threads {
        // Panics inside were caught and reported by the scheduler.
        let _ = thread.join();
    }
    close(&node);
    (result(&node), Some(node.outcome().clone()))
}
