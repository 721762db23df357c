//! Layouts against MPI as the oracle: 10,000 random nests of datatypes have the packed bytes, sizes and bounds of Open MPI's and
//! of MPICH's, each under its own launcher.
//!
//! `CHARE_TEST_SEED=7` draws other nests. A launcher that the machine lacks is skipped, and the skip is printed.

use chare_tests::Launcher;

/// Any would do; this one is the same every day.
const SEED: u64 = 18;

/// `file` is that MPI's library, `name` its own name.
fn check(launcher: &Launcher, file: &str, name: &str) {
    let asked = std::env::var("CHARE_TEST_SEED").map(|seed| seed.parse().expect("a number as the seed"));
    let seed = asked.unwrap_or(SEED);
    let last = tempfile::NamedTempFile::new().expect("a file for the last nest");
    let program = format!("{} {file} {seed} {}", env!("CARGO_BIN_EXE_nests"), last.path().display());
    let outcome = launcher.run(1, &program);
    if outcome.code != Some(0) && !outcome.stderr.contains("differs") {
        let nest = std::fs::read_to_string(last.path()).expect("our file");
        panic!("{launcher}: MPI ended in this nest of seed {seed}: {nest}\n{}", outcome.stderr);
    }
    assert_eq!(outcome.code, Some(0), "{launcher} -n 1 {program}\n{}", outcome.stderr);
    assert!(outcome.stdout.starts_with(name), "{launcher} starts {name}: {outcome:?}");
    print!("{}", outcome.stdout);
}

#[test]
fn nests_are_what_open_mpi_makes_of_them() {
    if let Some(launcher) = Launcher::open_mpi() {
        check(&launcher, "libmpi.so.40", "Open MPI v");
    }
}

#[test]
fn nests_are_what_mpich_makes_of_them() {
    if let Some(launcher) = Launcher::hydra() {
        check(&launcher, "libmpich.so.12", "MPICH ");
    }
}
