//! Jobs whose messages MPI carries, under its launchers: one binary under each MPI.

use crate::{hello, probe, slurm};
use chare_tests::chaos::campaign::Campaign;
use chare_tests::chaos::plan::Path;
use chare_tests::{Launcher, Outcome, Program};

/// Checks that hold for a job over any MPI; `name` is that MPI's own.
fn check(launcher: &Launcher, name: &str) {
    let pass = |processes: u32, program: &str| {
        let outcome = launcher.run(processes, &format!("{program} +lrts mpi +stats"));
        assert_eq!(outcome.code, Some(0), "{launcher} {program}: {outcome:?}");
        let said = format!("messages by mpi ({name}");
        assert!(outcome.stdout.contains(&said), "{launcher} {program} names its MPI: {outcome:?}");
        outcome
    };
    let outcome = pass(3, &format!("{} +p 2", hello()));
    assert!(outcome.stdout.contains("6 of 6 PEs said hello"), "{launcher}: one job, not three: {outcome:?}");
    for program in ["proclaim plain", "proclaim posted", "readonly plain", "readonly shareable"] {
        pass(3, &probe(program));
    }
    let outcome = pass(2, &probe("lend"));
    assert!(
        outcome.stdout.contains("one-sided transfers"),
        "{launcher}: long buffers are matched: {outcome:?}"
    );

    let outcome = launcher.run(2, &probe("exit 7 +lrts mpi"));
    assert_eq!(outcome.code, Some(7), "{launcher}: the exit code comes through: {outcome:?}");

    let outcome = launcher.run(3, &probe("panic 2 +lrts mpi"));
    assert_ne!(outcome.code, Some(0), "{launcher}: {outcome:?}");
    assert_eq!(outcome.stderr.matches("panicked on PE 2").count(), 1, "{launcher}: said once: {outcome:?}");

    let outcome = launcher.run(2, &probe("proclaim plain +n 2 +lrts mpi"));
    assert_ne!(outcome.code, Some(0), "{launcher}: {outcome:?}");
    assert!(outcome.stderr.contains("leave out `+n 2`"), "{launcher}: {outcome:?}");
}

/// A killed node ends the job, and somebody says so in our words: whoever notices the loss, or is ended by MPI or its launcher.
fn check_kill(launcher: &Launcher) {
    for _ in 0..3 {
        let (outcome, victim) = launcher.kill_one(3, &probe("flood +lrts mpi"));
        assert_ne!(outcome.code, Some(0), "{launcher}: node {victim} was killed: {outcome:?}");
        let words = [format!("node {victim} was lost"), "another process of the job".to_owned()];
        let said = words.iter().any(|words| outcome.stderr.contains(words));
        assert!(said, "{launcher}: node {victim} was killed: {outcome:?}");
    }
}

#[test]
fn open_mpi_carries_a_job() {
    if let Some(launcher) = Launcher::open_mpi() {
        check(&launcher, "Open MPI v");
        check_kill(&launcher);
    }
}

#[test]
fn mpich_carries_a_job() {
    if let Some(launcher) = Launcher::hydra() {
        check(&launcher, "MPICH ");
        // It kills the others at once, or throws away what they say.
        let (outcome, victim) = launcher.kill_one(3, &probe("flood +lrts mpi"));
        assert_ne!(outcome.code, Some(0), "{launcher}: node {victim} was killed: {outcome:?}");
    }
}

/// Traffic of every kind, all of it checked, with faults.
fn checked(launcher: &Launcher, faults: &str) -> Outcome {
    let program = env!("CARGO_BIN_EXE_checked");
    launcher.run(3, &format!("{program} --rounds 4 --mark unused +p 2 +lrts mpi +fault {faults}"))
}

#[test]
fn refusals_and_delays_cost_time_alone() {
    for launcher in Launcher::of_mpi() {
        for faults in ["refuse=3,seed=1", "delay=300,seed=2", "refuse=5,delay=200,seed=3"] {
            let outcome = checked(&launcher, faults);
            assert_eq!(outcome.code, Some(0), "{launcher} {faults}: {outcome:?}");
            assert_eq!(outcome.stdout.trim(), "right", "{launcher} {faults}: {outcome:?}");
        }
    }
}

#[test]
fn cut_connections_and_noise_end_the_job_in_our_words_or_not_at_all() {
    for launcher in Launcher::of_mpi() {
        let mut struck = 0;
        for faults in ["drop=300,seed=1", "drop=300,seed=2", "corrupt=300,seed=3", "corrupt=300,seed=4"] {
            let outcome = checked(&launcher, faults);
            if outcome.code == Some(0) {
                assert_eq!(outcome.stdout.trim(), "right", "{launcher} {faults}: {outcome:?}");
                continue;
            }
            struck += 1;
            let says = ["was lost", "invalid", "cannot decode", "stale"];
            let is_ours = |line: &str| line.contains("node ") && says.iter().any(|word| line.contains(word));
            assert!(outcome.stderr.lines().any(is_ours), "{launcher} {faults}: {outcome:?}");
        }
        assert!(struck > 0, "{launcher}: some fault struck");
    }
}

/// The most that a node may grow by in a flood: credit of each other node, in MPI's memory and then in a queue of the runtime, what waits for
/// credit at a sender, and what allocators and MPI add to short messages: with Open MPI up to 3 KiB each, which makes 130 MiB of
/// a window. The flood itself would be 3 GiB.
const GROWTH_BYTES_MAX: u64 = 256 << 20;

/// MPI calls a message sent that nobody has received, and keeps it: the credit between nodes says how many.
#[test]
fn what_mpi_keeps_of_a_flood_is_bounded_by_credit() {
    let program = env!("CARGO_BIN_EXE_flooded");
    for launcher in Launcher::of_mpi() {
        for (processes, pattern) in [(2, "pair"), (2, "deaf"), (3, "funnel")] {
            let outcome = launcher.run(processes, &format!("{program} {pattern} 1000000 +lrts mpi"));
            assert_eq!(outcome.code, Some(0), "{launcher} {pattern}: {outcome:?}");
            let words: Vec<&str> = outcome.stdout.split_whitespace().collect();
            let growth: u64 = words[words.len() - 2].parse().expect("bytes");
            println!("{launcher} {pattern}: grew by {growth} bytes");
            assert!(growth < GROWTH_BYTES_MAX, "{launcher} {pattern}: a node grew by {growth} bytes");
        }
    }
}

#[test]
fn twenty_broken_jobs_end_as_they_must() {
    if Launcher::of_mpi().len() < 2 {
        return println!("skipped: the campaign over MPI runs under both launchers");
    }
    let program = env!("CARGO_BIN_EXE_checked").into();
    let path = Some(Path::Mpi);
    let campaign = Campaign { program, runs: 20, seed: 3_000_000, path, fault: None, at_a_time: 2 };
    let summary = campaign.run(|| ());
    println!("{summary}");
    assert!(summary.failures.is_empty(), "{summary}");
}

#[test]
fn slurm_starts_a_job_over_each_mpi() {
    let Some(cluster) = slurm::Cluster::start() else { return };
    for (plugin, present, name) in [
        ("pmix", Launcher::open_mpi().is_some(), "Open MPI v"),
        ("pmi2", Launcher::hydra().is_some(), "MPICH "),
    ] {
        if present {
            check(&cluster.launcher(plugin), name);
        }
    }
}

#[test]
fn a_program_may_start_jobs_in_a_communicator_of_its_own() {
    let program = env!("CARGO_BIN_EXE_in_communicator");
    for launcher in Launcher::of_mpi() {
        for level in ["funneled", "serialized", "multiple"] {
            for options in ["+lrts mpi", "+lrts mpi +p 2", "+nolocal"] {
                let outcome = launcher.run(3, &format!("{program} {level} {options}"));
                assert_eq!(outcome.code, Some(0), "{launcher} {level} {options}: {outcome:?}");
                let said = outcome.stdout.matches("MPI goes on").count();
                assert_eq!(said, 3, "{launcher} {level} {options}: {outcome:?}");
            }
        }
    }
}

#[test]
fn what_cannot_be_is_told_with_what_helps() {
    let outcome = Program::binary(env!("CARGO_BIN_EXE_probe")).run("proclaim plain +n 2 +lrts mpi");
    assert_ne!(outcome.code, Some(0), "{outcome:?}");
    assert!(outcome.stderr.contains("`mpirun -n 2`"), "{outcome:?}");

    let outcome =
        Program::binary(env!("CARGO_BIN_EXE_probe")).run("proclaim plain +lrts mpi +mpi libnone.so");
    assert_ne!(outcome.code, Some(0), "{outcome:?}");
    assert!(outcome.stderr.contains("no MPI is here (libnone.so"), "{outcome:?}");

    let (Some(open_mpi), Some(_)) = (Launcher::open_mpi(), Launcher::hydra()) else { return };
    let outcome = open_mpi.run(2, &probe("proclaim plain +lrts mpi +mpi libmpich.so.12"));
    assert_ne!(outcome.code, Some(0), "{outcome:?}");
    assert!(outcome.stderr.contains("that launcher belongs to another MPI"), "{outcome:?}");
}
