//! Paths, and the rows of each: one for each size and either kind of ordinary argument.

use chare_benches::{Comparison, Side};

/// In the place of an MPI: the program starts its nodes by itself.
pub(crate) const ITSELF: &str = "itself";

/// Sizes in bytes around the crossover of paths whose memory both nodes reach.
const NEAR: &[usize] = &[256, 512, 1_024, 2_048, 4_096, 8_192, 16_384, 32_768, 65_536];

/// The name of the path over RDMA devices.
#[cfg(feature = "verbs")]
pub(crate) const VERBS: &str = "verbs";

/// The same for networks, where short nocopy arguments travel with the message.
#[cfg(any(feature = "ofi", feature = "verbs", feature = "mpi"))]
const FAR: &[usize] = &[16_384, 32_768, 65_536, 131_072, 262_144, 524_288, 1_048_576];

struct Path {
    name: &'static str,
    operations: u32,
    /// The memory of nocopy buffers: `heap` or `shareable`.
    memory: &'static str,
    sizes: &'static [usize],
    /// The launcher of the program: itself, or an MPI.
    starter: &'static str,
    options: &'static str,
}

const fn near(name: &'static str, operations: u32, memory: &'static str, options: &'static str) -> Path {
    Path { name, operations, memory, sizes: NEAR, starter: ITSELF, options }
}

#[cfg(any(feature = "ofi", feature = "verbs", feature = "mpi"))]
const fn far(name: &'static str, starter: &'static str, options: &'static str) -> Path {
    Path { name, operations: 100, memory: "heap", sizes: FAR, starter, options }
}

const PATHS: &[Path] = &[
    near("in process", 4_000, "heap", "+p 2"),
    near("shm", 2_000, "shareable", "+n 2 +lrts shm +nocma"),
    near("cma", 1_000, "heap", "+n 2 +lrts cma"),
    near("tcp", 300, "heap", "+n 2 +lrts tcp +nolocal"),
    near("emulated", 500, "heap", "+n 2 +lrts emulated"),
    #[cfg(feature = "ofi")]
    far("ofi tcp;ofi_rxm", ITSELF, "+n 2 +lrts ofi +ofi tcp;ofi_rxm"),
    #[cfg(feature = "ofi")]
    far("ofi net", ITSELF, "+n 2 +lrts ofi +ofi net"),
    #[cfg(feature = "ofi")]
    far("ofi shm", ITSELF, "+n 2 +lrts ofi +ofi shm"),
    #[cfg(feature = "verbs")]
    far(VERBS, ITSELF, "+n 2 +lrts verbs"),
    #[cfg(feature = "mpi")]
    far("mpi Open MPI", "Open MPI", "+lrts mpi"),
    #[cfg(feature = "mpi")]
    far("mpi MPICH", "MPICH", "+lrts mpi"),
];

/// All rows, path by path and kind by kind.
pub(crate) fn rows() -> Vec<Comparison> {
    let kinds = [("regular, sender keeps its data", "kept"), ("regular, given away", "given")];
    let mut rows = Vec::new();
    for path in PATHS {
        for (against, way) in kinds {
            rows.extend(path.sizes.iter().map(|size| Comparison {
                name: format!("{}, {size} B, nocopy", path.name).leak(),
                ours: path.side("nocopy", *size),
                against,
                peer: path.side(way, *size),
            }));
        }
    }
    rows
}

/// The path and the size of a row.
pub(crate) fn of(row: &Comparison) -> (&'static str, &'static str) {
    let mut words = row.name.split(", ");
    (words.next().unwrap_or_default(), words.next().unwrap_or_default())
}

impl Path {
    /// The rows live as long as the program: what they consist of is not given back.
    fn side(&self, way: &'static str, size: usize) -> Side {
        let Self { operations, memory, starter, options, .. } = *self;
        let mut words =
            vec!["side", way, operations.to_string().leak(), memory, size.to_string().leak(), starter];
        words.extend(options.split(' '));
        words.leak()
    }
}
