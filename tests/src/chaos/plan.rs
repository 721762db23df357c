//! Plans: the job that a seed means, its path, nodes, fault, victims and moment.

use super::fault::Fault;
use crate::Launcher;
use clap::ValueEnum;
use rand::rngs::StdRng;
use rand::seq::{IndexedRandom, SliceRandom};
use rand::{RngExt, SeedableRng};
use std::fmt;
use std::time::Duration;

/// How the nodes of a job reach each other.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, ValueEnum)]
pub enum Path {
    /// One process
    Memcpy,
    /// Messages and shareable memory through shared memory
    Shm,
    /// All memory copied by the kernel
    Cma,
    /// Sockets
    Tcp,
    /// Get and put made of messages, over shared memory
    Emulated,
    /// Sockets by libfabric; only when it is asked for, since not every build and machine has it
    Ofi,
    /// MPI, under Open MPI's launcher for even seeds and MPICH's for odd ones; likewise
    Mpi,
}

impl Path {
    /// The options that choose it.
    pub fn options(self) -> &'static [&'static str] {
        match self {
            Self::Memcpy => &[],
            Self::Shm => &["+lrts", "shm"],
            Self::Cma => &["+lrts", "cma"],
            Self::Tcp => &["+nolocal"],
            Self::Emulated => &["+lrts", "emulated"],
            Self::Ofi => &["+lrts", "ofi", "+ofi", "tcp;ofi_rxm"],
            Self::Mpi => &["+lrts", "mpi"],
        }
    }
}

impl fmt::Display for Path {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, out)
    }
}

/// What becomes of a stopped node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AfterStop {
    /// It goes on after this time.
    Continue(Duration),
    /// It is killed after this time.
    Kill(Duration),
}

/// One run of the campaign; a seed means the same run everywhere.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The seed that it comes from.
    pub seed: u64,
    /// How its nodes reach each other.
    pub path: Path,
    /// The fault.
    pub fault: Fault,
    /// Processes of the job.
    pub nodes: u32,
    /// PEs of each.
    pub pes: u32,
    /// The nodes it hits; the first one raises it.
    pub victims: Vec<u32>,
    /// At which entry of that node.
    pub at: u64,
    /// What becomes of a stopped node.
    pub after_stop: AfterStop,
}

/// About as many entries as a node of the program runs, so that some faults come at the very end or never.
const ENTRIES: u64 = 260;

/// Longer than any wait inside the job, too short for the launcher to tell of a stopped node.
const STOP_MS_MAX: u64 = 2_000;

impl Plan {
    /// The run that `seed` means, with path and fault chosen by the caller where they are given.
    pub fn new(seed: u64, path: Option<Path>, fault: Option<Fault>) -> Self {
        let mut random = StdRng::seed_from_u64(seed);
        let paths = [Path::Memcpy, Path::Shm, Path::Cma, Path::Tcp, Path::Emulated];
        let chosen = paths[random.random_range(0..paths.len())];
        let path = path.unwrap_or(chosen);
        let fault = match fault.unwrap_or_else(|| pick_fault(path, &mut random)) {
            // A single process has no launcher, and no second node.
            Fault::Launcher | Fault::Two if path == Path::Memcpy => Fault::Kill,
            // MPI's launcher is not ours to answer for.
            Fault::Launcher if path == Path::Mpi => Fault::Kill,
            fault => fault,
        };
        let nodes = match (path, fault) {
            (Path::Memcpy, _) => 1,
            (_, Fault::Two) => 4,
            _ => random.random_range(2..=3),
        };
        let pes = if nodes == 1 { 3 } else { random.random_range(1..=2) };
        let mut victims: Vec<u32> = (0..nodes).collect();
        victims.shuffle(&mut random);
        victims.truncate(if fault == Fault::Two { 2 } else { 1 });
        let at = random.random_range(1..=ENTRIES);
        let pause = Duration::from_millis(random.random_range(0..=STOP_MS_MAX));
        let after_stop = match random.random_range(0..8) {
            0..=2 => AfterStop::Kill(pause),
            _ => AfterStop::Continue(pause),
        };
        Self { seed, path, fault, nodes, pes, victims, at, after_stop }
    }

    /// The launcher in front of the program, where it has one of its own.
    ///
    /// # Errors
    /// It is not here.
    pub fn launcher(&self) -> Result<Option<Launcher>, String> {
        let find = match (self.path, self.seed % 2) {
            (Path::Mpi, 0) => Launcher::open_mpi,
            (Path::Mpi, _) => Launcher::hydra,
            _ => return Ok(None),
        };
        find().map(Some).ok_or_else(|| "the launcher of its MPI is not here".to_owned())
    }

    /// The program's arguments for it.
    pub fn arguments(&self) -> Vec<String> {
        let mut arguments = vec!["+p".to_owned(), self.pes.to_string()];
        if self.path != Path::Mpi {
            arguments.extend(["+n".to_owned(), self.nodes.to_string()]);
        }
        arguments.extend(self.path.options().iter().map(|option| (*option).to_owned()));
        let Some(raise) = self.fault.raise() else { return arguments };
        let victims: Vec<String> = self.victims.iter().map(u32::to_string).collect();
        arguments.extend(["--victims".to_owned(), victims.join(","), "--at".to_owned(), self.at.to_string()]);
        if let Some(value) = raise.to_possible_value() {
            arguments.extend(["--raise".to_owned(), value.get_name().to_owned()]);
        }
        arguments
    }
}

fn pick_fault(path: Path, random: &mut StdRng) -> Fault {
    let faults: &[Fault] = match path {
        Path::Memcpy => &[Fault::Kill, Fault::Kill, Fault::Stop, Fault::None],
        _ => &[
            Fault::Kill,
            Fault::Kill,
            Fault::Kill,
            Fault::Stop,
            Fault::Stop,
            Fault::Launcher,
            Fault::Two,
            Fault::None,
        ],
    };
    *faults.choose(random).expect("there are faults")
}

impl fmt::Display for Plan {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seed, path, fault, nodes, pes, victims, at, .. } = self;
        write!(
            out,
            "seed {seed}: {path}, {nodes} nodes of {pes} PEs, {fault} at entry {at} of nodes {victims:?}"
        )?;
        if *fault == Fault::Stop { write!(out, ", then {:?}", self.after_stop) } else { Ok(()) }
    }
}
