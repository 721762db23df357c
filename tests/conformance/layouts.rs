//! Layouts: the promises of strided transfers, kept by a program over every path.
//!
//! The program `laid_out` reads, writes and sends what layouts select, and compares; here it is started over each backend, and where a
//! path has several ways, over each of them.

use crate::runner::{Check, Outcome, await_descriptors, descriptors};
use chare_tests::Program;
#[cfg(feature = "mpi")]
use chare_tests::{Launcher, Running};

/// A path, and the options that lead there.
#[derive(Clone, Copy)]
struct Path {
    name: &'static str,
    options: &'static str,
    /// Why this machine has no such path, if it has none.
    missing: fn() -> Option<String>,
    reads: Reads,
}

/// What is read of memory that nobody maps.
#[derive(Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(feature = "ofi"), expect(dead_code, reason = "fewer networks read in fewer ways"))]
enum Reads {
    /// What is selected, alone.
    Alone,
    /// By handles, all that lies between, too.
    AllBetween,
    /// Of arguments, too.
    AllBetweenAlways,
    /// What is selected, after all pages between were pinned.
    Pinned,
    /// The same, run by run, however short runs are.
    PinnedRuns,
}

impl Path {
    const fn here(name: &'static str, options: &'static str, reads: Reads) -> Self {
        Self { name, options, missing: || None, reads }
    }
}

const PATHS: &[Path] = &[
    Path::here("memcpy", "+p 2", Reads::Alone),
    Path::here("shm", "+n 2 +lrts shm +nocma", Reads::AllBetween),
    Path::here("shm-packed", "+n 2 +lrts shm +layouts pack", Reads::Alone),
    Path::here("cma", "+n 2 +lrts cma", Reads::Alone),
    Path::here("cma-vectors", "+n 2 +lrts cma +layouts vectors", Reads::Alone),
    Path::here("cma-sieve", "+n 2 +lrts cma +layouts sieve", Reads::Alone),
    Path::here("tcp", "+n 2 +lrts tcp +nocma", Reads::AllBetween),
    Path::here("emulated", "+n 2 +lrts emulated", Reads::AllBetween),
    #[cfg(feature = "ofi")]
    Path {
        name: "ofi-tcp",
        options: "+n 2 +lrts ofi +ofi tcp;ofi_rxm",
        missing: no_ofi_tcp,
        reads: Reads::Alone,
    },
    #[cfg(feature = "ofi")]
    Path {
        name: "ofi-tcp-vectors",
        options: "+n 2 +lrts ofi +ofi tcp;ofi_rxm +layouts vectors",
        missing: no_ofi_tcp,
        reads: Reads::Alone,
    },
    #[cfg(feature = "ofi")]
    Path {
        name: "ofi-tcp-sieve",
        options: "+n 2 +lrts ofi +ofi tcp;ofi_rxm +layouts sieve",
        missing: no_ofi_tcp,
        reads: Reads::AllBetweenAlways,
    },
    #[cfg(feature = "ofi")]
    Path {
        name: "ofi-shm-vectors",
        options: "+n 2 +lrts ofi +ofi shm +layouts vectors",
        missing: || no_provider("shm"),
        reads: Reads::Alone,
    },
    #[cfg(feature = "ofi")]
    Path {
        name: "ofi-rdma",
        options: "+n 2 +lrts ofi +ofi verbs;ofi_rxm",
        missing: || no_provider("verbs;ofi_rxm"),
        reads: Reads::Pinned,
    },
    #[cfg(feature = "verbs")]
    Path { name: "verbs", options: "+n 2 +lrts verbs", missing: no_verbs, reads: Reads::Pinned },
    #[cfg(feature = "verbs")]
    Path {
        name: "verbs::vectors",
        options: "+n 2 +lrts verbs +layouts vectors",
        missing: no_verbs,
        reads: Reads::PinnedRuns,
    },
];

/// What the program is told to try.
const PROMISES: [&str; 9] = [
    "strided-get",
    "strided-put",
    "both-sides-strided",
    "prefix",
    "stale-key",
    "forged-layouts",
    "beyond-four-gib",
    "reads-beyond-four-gib",
    "lists-that-change",
];

/// Memory that a machine must have free for what is beyond 4 GiB: where all between is packed by mistake, it takes as much.
const FREE_BYTES_MIN: u64 = 8 << 30;

#[cfg(feature = "ofi")]
fn no_ofi_tcp() -> Option<String> {
    no_provider("tcp;ofi_rxm")
}

#[cfg(feature = "ofi")]
fn no_provider(provider: &str) -> Option<String> {
    match chare_lrts::ofi::providers() {
        Err(why) => Some(why.to_string()),
        Ok(here) if here.iter().any(|name| name == provider) => None,
        Ok(_) => Some(format!("this machine's libfabric has no provider `{provider}`")),
    }
}

#[cfg(feature = "verbs")]
fn no_verbs() -> Option<String> {
    match chare_lrts::verbs::devices() {
        Err(why) => Some(why.to_string()),
        Ok(devices) if devices.is_empty() => Some("this machine has no RDMA device".to_owned()),
        Ok(_) => None,
    }
}

/// Why a promise is not tried here, if it is not.
fn reason_against(promise: &str, reads: Reads) -> Option<String> {
    if promise == "both-sides-strided" && reads == Reads::PinnedRuns {
        return Some("element by element, all pairs of layouts take an emulated device minutes".to_owned());
    }
    if !promise.contains("beyond") {
        return None;
    }
    let why = match reads {
        Reads::Pinned | Reads::PinnedRuns => "the network pins all memory between the runs",
        Reads::AllBetweenAlways => "all memory between the runs is fetched",
        Reads::AllBetween if promise.contains("reads") => "all memory between the runs is fetched",
        Reads::Alone | Reads::AllBetween if free_bytes() < FREE_BYTES_MIN => {
            "this machine has less memory free"
        }
        Reads::Alone | Reads::AllBetween => return None,
    };
    Some(why.to_owned())
}

/// Memory that programs can have, as the kernel says.
fn free_bytes() -> u64 {
    let said = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = said.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let kib = line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse::<u64>().ok());
    kib.unwrap_or(0) << 10
}

fn check(path: Path, promise: &'static str) -> Check {
    let name = format!("layouts::{}::{}", path.name, promise.replace('-', "_"));
    Check::new(name, move || {
        if let Some(why) = (path.missing)().or_else(|| reason_against(promise, path.reads)) {
            return Outcome::Skipped(why);
        }
        let program = Program::binary(env!("CARGO_BIN_EXE_laid_out"));
        kept(|| program.pass(&format!("{promise} {}", path.options)))
    })
}

/// Runs the program, which says that the promise was kept. Its listeners close their descriptors a moment later.
fn kept(run: impl FnOnce() -> String) -> Outcome {
    let before = descriptors();
    let said = run();
    await_descriptors(before);
    assert_eq!(said.trim(), "kept");
    Outcome::Passed
}

/// The same under the launchers of MPI.
#[cfg(feature = "mpi")]
fn under_mpi(promise: &'static str) -> impl Iterator<Item = Check> {
    type Find = fn() -> Option<Launcher>;
    let launchers: [(&str, Find); 2] = [("open-mpi", Launcher::open_mpi), ("mpich", Launcher::hydra)];
    launchers.into_iter().map(move |(launcher, find)| {
        let name = format!("layouts::mpi::{}_under_{launcher}", promise.replace('-', "_"));
        Check::new(name, move || {
            let Some(launcher) = find() else {
                return Outcome::Skipped("its launcher is not here".to_owned());
            };
            if let Some(why) = reason_against(promise, Reads::AllBetween) {
                return Outcome::Skipped(why);
            }
            let program = Program::binary(env!("CARGO_BIN_EXE_laid_out"));
            kept(|| {
                let mut command = launcher.command(2);
                command.arg(program.path()).args([promise, "+lrts", "mpi"]);
                // Within the time that the suite's watchdog gives a check, so that nothing stays behind.
                let outcome = Running::start(&mut command).end();
                assert_eq!(outcome.code, Some(0), "{launcher}: {outcome:?}");
                outcome.stdout
            })
        })
    })
}

/// All checks of this file.
pub(crate) fn checks() -> Vec<Check> {
    let paths = PATHS.iter().flat_map(|path| PROMISES.map(|promise| check(*path, promise)));
    #[cfg(feature = "mpi")]
    let paths = paths.chain(PROMISES.into_iter().filter(|_| !crate::mpi::is_within()).flat_map(under_mpi));
    paths.collect()
}
