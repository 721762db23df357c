//! The book's batch scripts, each submitted to a cluster of one host as it stands there.

use crate::{hello, slurm};
use chare_tests::find;
use std::fs;
use std::os::unix::fs::symlink;

const CHAPTER: &str = include_str!("../../docs/book/src/cluster.md");

/// The scripts of a chapter: blocks of code that begin as such.
fn scripts(chapter: &str) -> Vec<&str> {
    let blocks = chapter.split("```sh\n").skip(1).filter_map(|rest| rest.split("```").next());
    blocks.filter(|block| block.starts_with("#!/bin/bash")).collect()
}

/// What a script starts, to know whether this machine has it.
fn launcher(script: &str) -> &str {
    let command = script.lines().rfind(|line| !(line.is_empty() || line.starts_with([' ', '#'])));
    command.and_then(|command| command.split(' ').next()).expect("it starts something")
}

#[test]
fn batch_scripts_of_the_book_run_one_job_each() {
    let Some(cluster) = slurm::Cluster::start_binding() else { return };
    let folder = tempfile::tempdir().expect("a folder for scripts");
    symlink(hello(), folder.path().join("app")).expect("a new folder");
    symlink(env!("CARGO_BIN_EXE_launch-run"), folder.path().join("chare-run")).expect("a new folder");
    // `mpirun` may be another MPI's.
    let open_mpi = find(&["mpirun.openmpi"], "openmpi-bin");
    if let Some(open_mpi) = &open_mpi {
        symlink(open_mpi, folder.path().join("mpirun")).expect("a new folder");
    }
    let scripts = scripts(CHAPTER);
    assert_eq!(
        scripts.iter().map(|script| launcher(script)).collect::<Vec<_>>(),
        ["srun", "srun", "mpirun", "chare-run"]
    );
    for script in scripts {
        if launcher(script) == "mpirun" && open_mpi.is_none() {
            continue;
        }
        let file = folder.path().join("script");
        fs::write(&file, script).expect("our folder");
        // The cluster has one host, and two processors.
        let options = "--nodes=1 --ntasks=2 --ntasks-per-node=2 --cpus-per-task=1";
        let outcome = cluster.submit(&file, folder.path(), options);
        assert_eq!(outcome.code, Some(0), "{script}\n{outcome:?}");
        assert!(outcome.stdout.contains("2 of 2 PEs said hello"), "{script}\n{outcome:?}");
        assert!(outcome.stdout.contains("Hello from PE 1 on node 1"), "{script}\n{outcome:?}");
    }
}
