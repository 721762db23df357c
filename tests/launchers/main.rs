//! Jobs that foreign launchers start: Open MPI's `mpirun` (PMIx), MPICH's `mpiexec` (PMI-1), and Slurm's `srun` (PMIx and PMI-2's
//! plugin) on a cluster of one host that the test itself starts.
//!
//! A launcher that the machine lacks is skipped, and the skip is printed.

mod binding;
mod book;
#[cfg(feature = "mpi")]
mod mpi;
mod slurm;

use chare_tests::{Launcher, Outcome, Running};
use rustix::process::{Pid, Signal, kill_process};

fn hello() -> String {
    chare_tests::Program::example("hello").path().display().to_string()
}

fn probe(arguments: &str) -> String {
    format!("{} {arguments}", env!("CARGO_BIN_EXE_probe"))
}

/// Checks that hold for a job under any launcher.
fn check(launcher: &Launcher) {
    let said = |outcome: &Outcome| format!("{launcher}: {outcome:?}");

    let outcome = launcher.run(3, &format!("{} +p 2", hello()));
    assert_eq!(outcome.code, Some(0), "{}", said(&outcome));
    assert!(outcome.stdout.contains("6 of 6 PEs said hello"), "one job, not three: {}", said(&outcome));
    for pe in 0..6 {
        let line = format!("Hello from PE {pe} on node {}", pe / 2);
        assert!(outcome.stdout.contains(&line), "{line}: {}", said(&outcome));
    }

    for path in ["+lrts cma", "+nolocal", "+lrts emulated"] {
        let outcome = launcher.run(2, &probe(&format!("proclaim plain {path}")));
        assert_eq!(outcome.code, Some(0), "{path}: {}", said(&outcome));
    }

    let outcome = launcher.run(2, &probe("spawn"));
    assert_eq!(outcome.code, Some(0), "children of nodes are jobs of their own: {}", said(&outcome));

    let outcome = launcher.run(2, &probe("exit 7"));
    assert_eq!(outcome.code, Some(7), "the exit code comes through: {}", said(&outcome));

    let outcome = launcher.run(3, &probe("panic 2"));
    assert_ne!(outcome.code, Some(0), "{}", said(&outcome));
    assert_eq!(outcome.stderr.matches("panicked on PE 2").count(), 1, "said once: {}", said(&outcome));

    let outcome = launcher.run(2, &probe("proclaim plain +n 2"));
    assert_ne!(outcome.code, Some(0), "{}", said(&outcome));
    assert!(outcome.stderr.contains("leave out `+n 2`"), "{}", said(&outcome));
}

/// A batch system sends a signal to every process: the job ends when its program has heard of it.
fn check_shutdown(launcher: &Launcher) {
    let words = probe("heed");
    let mut command = launcher.command(2);
    let job = Running::start(command.args(words.split_whitespace()));
    let (mut processes, mut heeds) = (Vec::new(), false);
    while processes.len() < 2 || !heeds {
        let line = job.line();
        heeds |= line == "heeds";
        let process = line.split_once(" has process ").and_then(|(_, process)| process.trim().parse().ok());
        processes.extend(process.and_then(Pid::from_raw));
    }
    processes.into_iter().for_each(|process| kill_process(process, Signal::TERM).expect("it runs"));
    let outcome = job.end();
    assert_eq!(outcome.code, Some(0), "{launcher}: {outcome:?}");
    assert!(outcome.stdout.contains("asked"), "{launcher}: {outcome:?}");
}

/// A node that is killed takes the others with it, whoever notices first.
fn check_kill(launcher: &Launcher) {
    let (outcome, victim) = launcher.kill_one(3, &probe("flood"));
    assert_ne!(outcome.code, Some(0), "{launcher}: node {victim} was killed: {outcome:?}");
}

#[test]
fn open_mpi_starts_one_job() {
    if let Some(launcher) = Launcher::open_mpi() {
        check(&launcher);
        check_shutdown(&launcher);
        check_kill(&launcher);
    }
}

/// As in containers of their own that share the host's network.
#[test]
fn nodes_in_process_namespaces_of_their_own_share_memory() {
    let Some(launcher) = Launcher::hydra() else { return };
    if !rustix::process::geteuid().is_root() {
        return println!("skipped: namespaces of processes, which root may make");
    }
    let outcome = launcher.run(2, &format!("unshare --pid --fork --mount-proc {}", probe("lend +stats")));
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    assert!(outcome.stdout.contains("messages by shm, memory by shared mapping"), "{outcome:?}");
    assert!(outcome.stderr.contains("`--pid=host`"), "what is slower is told: {outcome:?}");
}

#[test]
fn mpich_starts_one_job() {
    if let Some(launcher) = Launcher::hydra() {
        check(&launcher);
        check_shutdown(&launcher);
        check_kill(&launcher);
    }
}

#[test]
fn slurm_starts_one_job_through_pmix_and_pmi2() {
    let Some(cluster) = slurm::Cluster::start() else { return };
    for plugin in ["pmix", "pmi2"] {
        let launcher = cluster.launcher(plugin);
        check(&launcher);
        check_shutdown(&launcher);
        check_kill(&launcher);
    }
}

#[test]
fn slurm_without_a_process_manager_is_an_error_and_not_three_jobs() {
    let Some(cluster) = slurm::Cluster::start() else { return };
    let outcome = cluster.launcher("none").run(3, &hello());
    assert_ne!(outcome.code, Some(0), "{outcome:?}");
    assert!(outcome.stderr.contains("srun --mpi=pmix"), "{outcome:?}");
    assert!(!outcome.stdout.contains("Hello"), "{outcome:?}");
}
