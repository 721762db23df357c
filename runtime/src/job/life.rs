//! The life of a node: it meets the others, opens the network, runs its PEs, and says goodbye.

use super::affinity::{self, Seat};
use super::greeting::{Agreement, greet};
use super::pes::Pes;
use super::program;
use super::services::{NODE_SERVICES, SERVICES};
use crate::api::context;
use crate::base::fence;
use crate::delivery::{polling, scheduler};
use crate::model::error::JobError;
use crate::model::ids::NodeId;
use crate::model::topology::Topology;
use crate::node::{Above, Ending, Node};
use crate::pe::running::Running;
use crate::pe::{Pe, panics};
use crate::services::readonly;
use chare_lrts::Lrts;
use chare_lrts::bootstrap::Bootstrap;
use chare_lrts::bootstrap::local::Local;
use chare_lrts::reach::{Reach, ReachOptions};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How long a node waits, after the job's end, until its last messages are out and all peers have said goodbye.
const GOODBYE_PATIENCE: Duration = Duration::from_secs(5);

/// The program's `main` as a job takes it: made and run on PE 0.
pub(crate) type Main = Box<dyn FnOnce() -> Pin<Box<dyn Future<Output = ()>>> + Send>;

/// Options of a node.
#[derive(Clone, Debug, Default)]
pub(crate) struct NodeOptions {
    /// The PEs of this node; the same on all nodes.
    pub(crate) pes: Pes,
    pub(crate) network: ReachOptions,
    /// Processors to pin PEs to, in order of PEs on this host; `None`: choose.
    pub(crate) processors: Option<Vec<usize>>,
    /// Whether PEs may be pinned at all.
    pub(crate) pin: bool,
    /// The seed that shuffles the PEs' queues.
    pub(crate) shuffle: Option<u64>,
}

/// A node whose network is open and whose PEs do not run yet.
pub(crate) struct ReadyNode {
    pub(crate) node: Arc<Node>,
    seats: Vec<Seat>,
    shuffle: Option<u64>,
}

/// Meets the other nodes and opens the network.
///
/// # Errors
/// When the other nodes run another program or cannot be reached, or when the options do not fit the machine.
pub(crate) fn open(options: &NodeOptions, bootstrap: &mut dyn Bootstrap) -> Result<ReadyNode, JobError> {
    if let Some(name) = program::duplicate() {
        return Err(JobError::Config(format!("two chare types or reducers are called `{name}`; rename one")));
    }
    fence::prepare();
    let id = bootstrap.node();
    let lrts = |cause| JobError::Lrts { node: id, cause };
    let Agreement { pes, lowest, company, first_numbers } =
        greet(options.pes, options.network.nolocal, bootstrap).map_err(lrts)?;
    let network = Reach::open(bootstrap, &options.network).map_err(lrts)?;
    let topology = Topology::new(&lowest, pes);
    let seats = affinity::seats(options.processors.as_deref(), options.pin, &company, pes)
        .map_err(JobError::Config)?;
    Ok(ReadyNode {
        node: Arc::new(Node::new(id, topology, network, (company.host_nodes, first_numbers), ABOVE)),
        seats,
        shuffle: options.shuffle,
    })
}

/// What the runtime of chares gives a node.
pub(crate) const ABOVE: Above = Above { look: polling::look_aside, services: &NODE_SERVICES };

impl ReadyNode {
    /// Starts the PEs. `main` is needed on node 0 alone.
    pub(crate) fn start(self, main: Option<Main>) -> Vec<JoinHandle<()>> {
        panics::install_hook();
        let Self { node, seats, shuffle } = self;
        if let Some(seed) = shuffle.filter(|_| node.id == NodeId(0)) {
            eprintln!("messages of equal priority run in random order, from the seed {seed}");
        }
        let mut main = main;
        node.pes()
            .zip(seats)
            .map(|(id, seat)| {
                let node = Arc::clone(&node);
                let main = main.take();
                let body = move || {
                    let policy = seat.take();
                    let pe = Pe::new(id, node, shuffle, SERVICES);
                    scheduler::run(&pe, policy, || {
                        if let Some(main) = main {
                            run_main(&pe, main);
                        }
                    });
                };
                std::thread::Builder::new()
                    .name(format!("pe-{}", id.0))
                    .spawn(body)
                    .expect("the operating system grants a thread for each PE")
            })
            .collect()
    }
}

/// Runs `main` up to its first wait, then lets entries run everywhere.
pub(crate) fn run_main(pe: &Rc<Pe>, main: Main) {
    let body = async move {
        main().await;
        context::quiescence().await;
        context::exit(0);
    };
    let running = Running::named("main");
    let key = pe.add_task(running.clone(), body);
    pe.run_as(running, || pe.tasks.poll(key));
    readonly::open_all(pe);
}

/// Sends the messages that are left and takes leave of the peers. Its time is bounded: a peer that does not answer is left behind.
pub(crate) fn close(node: &Arc<Node>) {
    let deadline = Instant::now() + GOODBYE_PATIENCE;
    node.withdraw();
    while node.is_congested() && Instant::now() < deadline {
        polling::progress(node, None);
    }
    let _ = polling::tidy(node);
    node.network.shutdown();
    while !node.network.is_closed() && Instant::now() < deadline {
        if !polling::progress(node, None) {
            node.network.wait(Some(Duration::from_millis(1)));
        }
    }
    node.clear();
}

/// A job whose nodes are threads of the calling process: for tests, and for programs that embed a job.
///
/// The nodes talk to each other as separate processes of one host would, over whatever path the options choose.
///
/// One process may run jobs one after the other. Proxies, callbacks and sections belong to the job that made them: one that was kept from
/// an earlier job reaches nothing of a later one, and its use ends the later job with an error that says so. A value for a future of an
/// earlier job is dropped, as any for which nobody waits.
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
        let nodes: Vec<_> = bootstraps
            .into_iter()
            .map(|mut bootstrap| {
                let (options, main, tell) = (self.options.clone(), main.take(), tell.clone());
                std::thread::spawn(move || {
                    let end = live(&options, &mut bootstrap, main);
                    tell.send(end).expect("the job waits for all its nodes");
                })
            })
            .collect();
        drop(tell);
        let mut outcome = Ok(0);
        for end in ends {
            // An error that a node noticed itself says more than one that it was told, and the first error says more than its
            // consequences.
            outcome = match (outcome, end) {
                (Err(JobError::Elsewhere(_)) | Ok(_), Err(error)) => Err(error),
                (Ok(code), Ok(other)) => Ok(if code == 0 { other } else { code }),
                (outcome, _) => outcome,
            };
        }
        for node in nodes {
            if node.join().is_err() {
                return Err(JobError::Config("a node's thread panicked".into()));
            }
        }
        outcome
    }
}

/// A node's life as a thread of a process.
fn live(options: &NodeOptions, bootstrap: &mut dyn Bootstrap, main: Option<Main>) -> Result<i32, JobError> {
    let ready = open(options, bootstrap)?;
    let node = Arc::clone(&ready.node);
    let threads = ready.start(main);
    node.wait_for_end();
    for thread in threads {
        // Panics inside were caught and reported by the scheduler.
        let _ = thread.join();
    }
    close(&node);
    result(&node)
}

/// The end of the job on a node.
pub(crate) fn result(node: &Node) -> Result<i32, JobError> {
    match node.take_ending() {
        Some(Ending::Code(code)) => Ok(code),
        Some(Ending::Error(error)) => Err(error),
        None => Err(JobError::Config("the job ended without saying how".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chare_lrts::bootstrap::single::Single;

    #[test]
    fn a_failure_is_announced_once_and_before_anything_ends() {
        let ready = open(&Job::in_process(1, 1).options, &mut Single::new()).expect("it is alone");
        let (announced, announcements) = mpsc::channel();
        let node = Arc::clone(&ready.node);
        ready.node.set_herald(move |error| {
            announced.send((error.to_string(), node.has_ended())).expect("the test listens");
        });
        for cause in ["first", "second"] {
            ready.node.fail(JobError::Config(cause.to_owned()));
        }
        assert_eq!(announcements.iter().collect::<Vec<_>>(), [("first".to_owned(), false)]);
    }
}
