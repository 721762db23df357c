//! The life of a node: it meets the others, opens the network, runs its PEs, and says goodbye.

#![expect(clippy::disallowed_methods, reason = "each PE is a thread of the machine's")]

use super::affinity::{self, Seat};
use super::goodbye::Goodbye;
use super::greeting::{Agreement, greet};
use super::pes::Pes;
use super::program;
use super::services::{NODE_SERVICES, SERVICES};
use crate::api::context;
use crate::base::fence;
use crate::base::host_memory::check_room_for_threads;
use crate::base::numbering::JobNumbers;
use crate::delivery::{polling, thread};
use crate::model::error::JobError;
use crate::model::ids::NodeId;
use crate::model::nocopy::LayoutMethod;
use crate::model::topology::Topology;
use crate::node::balancing::{BalanceWhen, Balancing};
use crate::node::devices::{self, DeviceChoice, DeviceModels, Devices};
use crate::node::seeds::Seeds;
use crate::node::{Above, Ending, Node};
use crate::pe::places::ANSWERS;
use crate::pe::running::Running;
use crate::pe::{Pe, panics};
use crate::services::balance::Strategies;
use crate::services::quiescence::Lookout;
use crate::services::readonly;
use crate::services::survey::{self, Purpose, Reason};
use crate::transfer::device;
use chare_lrts::bootstrap::Bootstrap;
use chare_lrts::clock;
use chare_lrts::events;
use chare_lrts::reach::{Reach, ReachOptions};
use std::num::NonZeroU32;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

/// How long a node waits, after the job's end, until its last messages are out and all peers have said goodbye.
pub(crate) const GOODBYE_PATIENCE: Duration = Duration::from_secs(5);

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
    /// Whether PEs take the times of entries.
    pub(crate) is_timed: bool,
    /// The bound of mailboxes between PEs, in messages of each other PE.
    pub(crate) mailbox: Option<NonZeroU32>,
    /// How laid-out memory of other processes is brought here, if the costs do not choose.
    pub(crate) layouts: Option<LayoutMethod>,
    /// Whether the ways of nocopy arguments are told at the end.
    pub(crate) tells_ways: bool,
    /// The balancers that take turns, as they were named.
    pub(crate) balancer: Option<Arc<str>>,
    /// When they have their turns; what they look at follows from their names.
    pub(crate) balancing: Balancing,
    /// Whether entries that may be called again are, wherever they might be.
    pub(crate) begins_anew: bool,
    /// Where singletons are created of which nobody says where.
    pub(crate) seeds: Seeds,
    /// The devices of the host.
    pub(crate) device: DeviceChoice,
    /// Where it is kept what they were measured to take.
    pub(crate) device_models: DeviceModels,
}

/// A node whose network is open and whose PEs do not run yet.
pub(crate) struct ReadyNode {
    pub(crate) node: Arc<Node>,
    seats: Vec<Seat>,
    shuffle: Option<u64>,
}

/// Meets the other nodes and opens the network, for a job with these numbers.
///
/// # Errors
/// When the other nodes run another program or cannot be reached, or when the options do not fit the machine.
pub(crate) fn open(
    options: &NodeOptions,
    numbers: Arc<JobNumbers>,
    bootstrap: &mut dyn Bootstrap,
) -> Result<ReadyNode, JobError> {
    check_names()?;
    let above = above_of(options)?;
    devices::require(&options.device)
        .map_err(|error| JobError::Config(format!("`+device {}` finds none: {error}", options.device)))?;
    options.network.listening.check().map_err(|error| JobError::Config(error.to_string()))?;
    fence::prepare();
    let id = bootstrap.node();
    let lrts = |cause| JobError::Lrts { node: id, cause };
    let Agreement { pes, lowest, company } =
        greet(options.pes, options.network.nolocal, &numbers, bootstrap).map_err(lrts)?;
    check_room_for_threads(pes).map_err(JobError::Config)?;
    let network = Reach::open(bootstrap, &options.network).map_err(lrts)?;
    let topology = Topology::new(&lowest, pes);
    let seats = affinity::seats(options.processors.as_deref(), options.pin, &company, pes)
        .map_err(JobError::Config)?;
    tell_of_paths(&topology, id, &network);
    device::place_values();
    let devices = Devices::new(options.device.clone(), (company.host_first, company.host_pes), pes)
        .kept_in(options.device_models.folder());
    let node = Node::new(id, topology, network, devices, (company.host_nodes, numbers), above);
    Ok(ReadyNode { node: Arc::new(node), seats, shuffle: options.shuffle })
}

/// Checks that the program's types can be told apart.
///
/// # Errors
/// Two that cannot.
pub(crate) fn check_names() -> Result<(), JobError> {
    program::duplicate().map_or(Ok(()), |name| {
        Err(JobError::Config(format!("two chare types or reducers are called `{name}`; rename one")))
    })
}

/// What the runtime of chares gives a node of a job with these options, of balancing also what the balancers look at.
///
/// # Errors
/// When there is no balancer of that name.
pub(crate) fn above_of(options: &NodeOptions) -> Result<Above, JobError> {
    let balancers = options.balancer.as_deref().map(Strategies::named).transpose();
    let balancers = balancers.map_err(|error| JobError::Config(error.to_string()))?;
    let samples_calls = balancers.is_some_and(|balancers| balancers.need_edges());
    Ok(Above {
        is_timed: options.is_timed,
        mailbox_bound: options.mailbox,
        layout_method: options.layouts,
        tells_ways: options.tells_ways,
        balancer: options.balancer.clone(),
        balancing: Balancing { samples_calls, ..options.balancing.clone() },
        begins_anew: options.begins_anew,
        seeds: options.seeds,
        ..ABOVE
    })
}

/// Tells that a node has met the others, and by which paths it reaches them.
fn tell_of_paths(topology: &Topology, id: NodeId, network: &Reach) {
    if !events::is_heard() {
        return;
    }
    let (nodes, pes) = (topology.nodes(), topology.pes_per_node());
    events::debug(format_args!("{id} of {nodes} nodes with {pes} PEs each has met the others"));
    for peer in (0..nodes).map(NodeId).filter(|peer| *peer != id) {
        events::debug(format_args!("{id} -> {peer}: {}", network.path(peer)));
    }
}

/// What the runtime of chares gives a node.
pub(crate) const ABOVE: Above = Above {
    look: polling::look_aside,
    open_all: readonly::open_all,
    services: &NODE_SERVICES,
    is_timed: false,
    mailbox_bound: None,
    has_ways: true,
    answers: ANSWERS,
    kept_bytes_max: None,
    layout_method: None,
    tells_ways: false,
    balancer: None,
    balancing: Balancing { every: None, when: BalanceWhen::Always, dump: None, samples_calls: false },
    begins_anew: false,
    seeds: Seeds::Random,
};

impl ReadyNode {
    /// Starts the PEs. `main` is needed on node 0 alone.
    pub(crate) fn start(self, main: Option<Main>) -> Vec<JoinHandle<()>> {
        panics::install_hook();
        start_timeline(&self.node);
        let Self { node, seats, shuffle } = self;
        if let Some(seed) = shuffle.filter(|_| node.id == NodeId(0)) {
            events::info(format_args!(
                "messages of equal priority run in random order, from the seed {seed}"
            ));
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
                    thread::run(&pe, policy, || {
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

/// Starts the writer of the node's timeline, if the node's traffic is traced.
pub(crate) fn start_timeline(node: &Arc<Node>) {
    let Some(file) = node.network.trace_file() else { return };
    file.recording().begin();
    let failing = Arc::clone(node);
    node.timeline.start((node.id, node.pes().count()), Arc::clone(file), move |cause| {
        let error = JobError::Lrts { node: failing.id, cause };
        if failing.has_ended() {
            failing.fail_after_end(error);
        } else {
            failing.fail(error);
        }
    });
}

/// Waits for the job's end on a node. Meanwhile node 0 sees whether the job stands still.
pub(crate) fn wait_for_end(node: &Arc<Node>) {
    if node.id != NodeId(0) {
        return node.wait_for_end();
    }
    let mut lookout = Lookout::default();
    while !node.wait_for_end_within(Lookout::INTERVAL) {
        lookout.look(node);
        survey::conclude_due(node);
    }
}

/// Runs `main` up to its first wait, then lets entries run everywhere, if `main` did not have to wait for them before.
pub(crate) fn run_main(pe: &Rc<Pe>, main: Main) {
    let body = async move {
        main().await;
        context::all_over().await;
        tell_of_waits().await;
        context::exit(0);
    };
    let running = Running::named("main");
    let key = pe.add_task(running.clone(), body);
    pe.run_as(running, || pe.tasks.poll(key));
    readonly::open_all(&pe.node);
}

/// Tells of futures and reductions for which `main` did not wait and that will never come.
async fn tell_of_waits() {
    let (told, callback) = context::future::<()>();
    Pe::current(|pe| survey::begin(&pe.node, Purpose::Report(Reason::End { callback: callback.erase() })));
    told.await;
}

/// Sends the messages that are left and takes leave of the peers. Its time is bounded: a peer that does not answer is left behind.
pub(crate) fn close(node: &Arc<Node>) {
    let deadline = clock::now() + GOODBYE_PATIENCE;
    let mut goodbye = Goodbye::leave(node);
    while !goodbye.is_gone() && clock::now() < deadline {
        if !polling::progress(node, None) && goodbye.is_said() {
            node.network.wait(Some(Duration::from_millis(1)));
        }
    }
    goodbye.clear();
}

/// The end of the job on a node.
pub(crate) fn result(node: &Node) -> Result<i32, JobError> {
    let ending = node.take_ending();
    events::debug(format_args!("{} has ended: {ending:?}", node.id));
    match ending {
        Some(Ending::Code(code)) => Ok(code),
        Some(Ending::Error(error)) => Err(error),
        None => Err(JobError::Config("the job ended without saying how".to_owned())),
    }
}

/// The end of a job of several nodes, of whose ends this is the next one that is known.
pub(crate) fn together(so_far: Result<i32, JobError>, end: Result<i32, JobError>) -> Result<i32, JobError> {
    // An error that a node noticed itself says more than one that it was told, and the first error says more than its consequences.
    match (so_far, end) {
        (Err(JobError::Elsewhere(_)) | Ok(_), Err(error)) => Err(error),
        (Ok(code), Ok(other)) => Ok(if code == 0 { other } else { code }),
        (so_far, _) => so_far,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chare_lrts::bootstrap::single::Single;
    use std::sync::mpsc;

    #[test]
    fn a_survey_is_told_when_its_time_is_over_although_no_pe_answers() {
        let ready =
            open(&NodeOptions::default(), JobNumbers::begin(), &mut Single::new()).expect("it is alone");
        survey::begin_until(&ready.node, Purpose::Report(Reason::Request), Some(clock::now()));
        assert!(survey::conclude_due(&ready.node));
        assert!(!survey::conclude_due(&ready.node), "it was told once");
        survey::request(&ready.node);
        assert!(!survey::conclude_due(&ready.node), "PEs have time to answer");
    }

    #[test]
    fn a_failure_is_announced_once_and_before_anything_ends() {
        let ready =
            open(&NodeOptions::default(), JobNumbers::begin(), &mut Single::new()).expect("it is alone");
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
