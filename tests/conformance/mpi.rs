//! MPI: the suite over nodes that share one of its processes, and the same promises between real ones (`ranks`).
//!
//! An MPI is loaded once per process and starts what its launcher wants. So this program starts itself again: once under each
//! launcher as one process, whose nodes have a communicator each, and once as three.

#![expect(unsafe_code, reason = "ends MPI")]

use crate::group::{Backend, Group, Node, PATIENCE};
use crate::ranks;
use crate::runner::{Check, Outcome, await_descriptors, descriptors};
use chare_lrts::bootstrap::Bootstrap;
use chare_lrts::bootstrap::local::Local;
use chare_lrts::emulated::Emulated;
use chare_lrts::mpi::{Communicator, Mpi, Process, Threads, start};
use chare_lrts::{LrtsError, NodeId, Regions};
use chare_tests::Launcher;
use std::process::ExitCode;
use std::rc::Rc;
use std::sync::{Arc, OnceLock};

/// The part of this process in MPI: `ALONE` or `RANK`.
const ROLE: &str = "CHARE_CONFORMANCE_MPI";

const ALONE: &str = "alone";
const RANK: &str = "rank";

/// All processes of the MPI that was started here.
static WORLD: OnceLock<Communicator> = OnceLock::new();

/// Plays a process of MPI's, if this process was started as one that is not alone.
pub(crate) fn play_role() -> Option<ExitCode> {
    (std::env::var(ROLE).as_deref() == Ok(RANK)).then(ranks::play)
}

/// Nodes that share this process, if an MPI's launcher started it for that.
pub(crate) fn backends() -> Vec<Rc<dyn Backend>> {
    if std::env::var(ROLE).as_deref() != Ok(ALONE) {
        return Vec::new();
    }
    let (world, _) = start::start(None, Threads::Multiple).expect("the launcher's MPI is here");
    println!("over {}", start::describe(world.library()));
    let world = WORLD.get_or_init(|| world);
    let backend = |name, emulated| -> Rc<dyn Backend> { Rc::new(Shared { name, emulated, world }) };
    vec![backend("mpi", false), backend("emulated-mpi", true)]
}

/// Whether this process is one of MPI's, which start no job of their own.
pub(crate) fn is_within() -> bool {
    std::env::var_os(ROLE).is_some()
}

/// Ends MPI if it was started here: launchers expect that.
pub(crate) fn end() {
    if let Some(world) = WORLD.get() {
        // SAFETY: all checks are over, and this is the thread that started them.
        unsafe { start::end(world.library()) };
    }
}

struct Shared {
    name: &'static str,
    emulated: bool,
    world: &'static Communicator,
}

impl Shared {
    fn open_all(&self, nodes: u32) -> Result<Vec<Node>, LrtsError> {
        let place = |_| {
            let communicator = Arc::new(start::solitary(self.world.library())?);
            Ok(Process { communicator, rank: 0 })
        };
        let places = (0..nodes).map(place).collect::<Result<Vec<_>, LrtsError>>()?;
        let job = Local::job(nodes).map_err(|error| LrtsError::Bootstrap(error.to_string()))?;
        let (places, emulated) = (&places[..], self.emulated);
        std::thread::scope(|scope| {
            let openers: Vec<_> = job
                .into_iter()
                .map(|mut bootstrap| scope.spawn(move || open_node(&mut bootstrap, places, emulated)))
                .collect();
            openers.into_iter().map(|opener| opener.join().expect("no opener panicked")).collect()
        })
    }
}

fn open_node(bootstrap: &mut dyn Bootstrap, places: &[Process], emulated: bool) -> Result<Node, LrtsError> {
    let (me, nodes) = (bootstrap.node(), bootstrap.nodes());
    let regions = Arc::new(Regions::new(me)?);
    let peers: Vec<NodeId> = (0..nodes).map(NodeId).filter(|peer| *peer != me).collect();
    let mpi = Mpi::open(bootstrap, &peers, Arc::clone(&regions), places, PATIENCE)?;
    Ok(match emulated {
        false => Node::with_heap(Arc::new(mpi), regions),
        true => Node::with_heap(Arc::new(Emulated::new(mpi, Arc::clone(&regions), nodes)), regions),
    })
}

impl Backend for Shared {
    fn name(&self) -> &'static str {
        self.name
    }

    fn is_emulated(&self) -> bool {
        self.emulated
    }

    fn open(&self, nodes: u32) -> Result<Group, String> {
        self.open_all(nodes).map(Group::new).map_err(|error| error.to_string())
    }

    fn open_one(&self, _: &mut dyn Bootstrap) -> Result<Node, String> {
        Err("MPI's own launcher starts its processes".to_owned())
    }

    fn one_process_only(&self) -> Option<&'static str> {
        Some("MPI's own launcher starts its processes; `launchers` kills one")
    }
}

/// One check per launcher and number of processes; each runs many.
pub(crate) fn checks() -> Vec<Check> {
    if is_within() {
        return Vec::new();
    }
    type Find = fn() -> Option<Launcher>;
    let launchers: [(&str, Find); 2] = [("open-mpi", Launcher::open_mpi), ("mpich", Launcher::hydra)];
    let check = |(name, find): (&str, Find), role, processes| {
        Check::new(format!("mpi::{role}_under_{name}"), move || match find() {
            None => Outcome::Skipped("its launcher is not here".to_owned()),
            Some(launcher) => run_under(&launcher, role, processes),
        })
    };
    launchers.into_iter().flat_map(|one| [check(one, ALONE, 1), check(one, RANK, 3)]).collect()
}

/// Runs this program as so many processes of a part, and tells what they said.
fn run_under(launcher: &Launcher, role: &str, processes: u32) -> Outcome {
    let program = std::env::current_exe().expect("this program has a path");
    let before = descriptors();
    let outcome = launcher.run(processes, &format!("/usr/bin/env {ROLE}={role} {} mpi::", program.display()));
    print!("{}", outcome.stdout);
    assert_eq!(outcome.code, Some(0), "{launcher}: {}", outcome.stderr);
    await_descriptors(before);
    Outcome::Passed
}
