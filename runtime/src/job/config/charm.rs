//! Options of Charm++ that people bring along, and what stands in their place here: they are refused by what they meant, not as unknown
//! words.
//!
//! Those of its launcher begin with `++`. Any other word that begins so belongs to the program.

/// What those of a name mean here; a name that ends in `*` stands for all that begin so.
const OPTIONS: [(&[&str], &str); 18] = [
    (&["ppn"], "`+p N` says how many PEs each process has, and `+n N` how many processes the program starts"),
    (
        &["np", "processPerHost", "processPerSocket", "processPerCore"],
        "`+n N` says how many processes the program starts",
    ),
    (
        &["local", "scalable-start", "batch"],
        "`+n N` starts processes on this host, and `chare-run` on several",
    ),
    (
        &["nodelist", "nodegroup", "hierarchical-start"],
        "`chare-run --hosts A,B` or `--hostfile FILE` names the hosts",
    ),
    (&["remote-shell", "ssh"], "`chare-run --remote-shell COMMAND` says how to reach other hosts"),
    (
        &["mpiexec", "mpiexec-no-n", "runscript"],
        "start the program by `mpirun`, `mpiexec` or `srun`: it finds its place by itself",
    ),
    (
        &["auto-provision", "oneWthPerCore", "oneWthPerHost", "oneWthPerSocket", "oneWthPerPU"],
        "`+p auto` makes a PE for each processor that a process was given",
    ),
    (&["useip", "usehostname"], "`+interface NAME` says where processes listen for other hosts"),
    (
        &["server", "server-port", "server-auth"],
        "there is no CCS; `+dashboard` serves a page and metrics of the job",
    ),
    (
        &["setcpuaffinity", "commap", "excludecore", "idlepoll"],
        "PEs with a processor to themselves are pinned and rest when idle, `+pemap LIST` names the processors, and there is no thread for communication",
    ),
    (&["LB*"], "`+balancer NAME` balances the elements that move, at syncs"),
    (&["restart", "ftc_disk", "killFile"], "there are no checkpoints yet"),
    (&["partitions", "partition_*"], "a job is not divided into partitions"),
    (
        &["traceroot", "traceoff", "logsize", "gz-trace", "bgsize"],
        "`+trace FILE` writes the timeline, and `chare-trace summary FILE` sums it up",
    ),
    (&["cs", "qs", "memory_report"], "`+stats` prints what each PE did"),
    (&["noCMAForZC", "cma_disable", "cma_*"], "`+nocma` leaves out copies from process to process"),
    (
        &["debug", "debug-no-pause", "in-xterm", "record", "replay*", "cpd"],
        "`+shuffle SEED` and `+fault LIST` look for what breaks; there is no debugger of chares",
    ),
    (&["vp", "tcharm*", "isomalloc*"], "ranks of MPI do not run on chares"),
];

/// What stands here in the place of Charm++'s option of this name.
pub(super) fn instead(name: &str) -> Option<&'static str> {
    let is_named = |known: &str| match known.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == known,
    };
    OPTIONS.iter().find(|(names, _)| names.iter().any(|known| is_named(known))).map(|(_, instead)| *instead)
}
