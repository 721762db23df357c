//! Bindings of launchers: a node has as many PEs as its launcher gave it processors, and keeps to them.

use crate::{probe, slurm};
use chare_tests::{Launcher, Seat, own_processors};

/// Processors that two nodes were bound to apart.
fn check_apart(launcher: &Launcher) {
    let seats = Seat::all(&launcher.run(2, &probe("seats +p auto")));
    let [one, other] = &seats[..] else { panic!("{launcher}: a PE on each node: {seats:?}") };
    assert_eq!([one.node, other.node], [0, 1], "{launcher}: {seats:?}");
    assert!(one.processors.len() == 1 && other.processors.len() == 1, "{launcher}: {seats:?}");
    assert_ne!(one.processors, other.processors, "{launcher}: {seats:?}");
}

/// All processors are for one node, or for two that divide them.
fn check_shared(launcher: &Launcher) {
    let all = own_processors().len();
    for nodes in [1, 2] {
        let seats = Seat::all(&launcher.run(nodes, &probe("seats +p auto")));
        let each = (all / nodes as usize).max(1);
        assert_eq!(seats.len(), nodes as usize * each, "{launcher}, {nodes} nodes: {seats:?}");
    }
}

#[test]
fn bindings_of_mpis_launchers_are_kept_to() {
    if let Some(launcher) = Launcher::open_mpi() {
        check_shared(&launcher.with("--bind-to none"));
    }
    if let Some(launcher) = Launcher::hydra() {
        check_shared(&launcher.with("-bind-to none"));
    }
    if own_processors().len() < 2 {
        return println!("skipped: two nodes bound apart on a machine with one processor");
    }
    if let Some(launcher) = Launcher::open_mpi() {
        check_apart(&launcher.with("--map-by core --bind-to core"));
    }
    if let Some(launcher) = Launcher::hydra() {
        check_apart(&launcher.with("-bind-to core"));
    }
}

#[test]
fn processors_of_tasks_are_kept_to() {
    let Some(cluster) = slurm::Cluster::start_binding() else { return };
    for plugin in ["pmix", "pmi2"] {
        check_apart(&cluster.binding_launcher(plugin, "--cpus-per-task=1"));
    }
    let wide = cluster.binding_launcher("pmix", "--cpus-per-task=2");
    let seats = Seat::all(&wide.run(1, &probe("seats +p auto")));
    assert_eq!(seats.len(), 2, "{seats:?}");
}
