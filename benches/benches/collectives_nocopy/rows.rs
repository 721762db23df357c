//! Rows: which operations are measured, of how many bytes, beside what.

use chare_benches::Comparison;

/// A row: `ours` and `raw` are what either side calls the operation, of which `operations` make a batch.
macro_rules! beside {
    ($mpi:literal $processes:literal $what:literal $ours:literal $raw:literal $bytes:literal $size:literal $operations:literal) => {
        Comparison {
            name: concat!($what, ", ", $size),
            ours: &["side", "ours", $operations, $ours, $bytes, "0", "+n", $processes],
            against: $mpi,
            peer: &["side", "raw", $operations, $raw, $bytes, $mpi, $processes],
        }
    };
}

/// A row of an operation, beside the copies alone that it needs; what lies in runs says so.
macro_rules! limited {
    ($processes:literal $name:expr, $ours:literal $run:literal $bytes:literal $operations:literal) => {
        Comparison {
            name: $name,
            ours: &["side", "ours", $operations, $ours, $bytes, $run, "+n", $processes],
            against: "limit",
            peer: &["side", "limit", $operations, $ours, $bytes, $run, $processes],
        }
    };
}

/// A row of a view, beside a word that is broadcast after as many bytes were written.
macro_rules! beside_a_word {
    ($bytes:literal $size:literal $operations:literal) => {
        Comparison {
            name: concat!("broadcast, view, ", $size),
            ours: &["side", "ours", $operations, "view", $bytes, "0", "+n", "2"],
            against: "8 B",
            peer: &["side", "ours", $operations, "word", $bytes, "0", "+n", "2"],
        }
    };
}

/// A row of what lies in runs of so many bytes, beside the same side by side.
macro_rules! in_runs {
    ($what:literal $ours:literal $run:literal $bytes:literal $size:literal $operations:literal) => {
        Comparison {
            name: concat!($what, " in runs of ", $run, " B, ", $size),
            ours: &["side", "ours", $operations, $ours, $bytes, $run, "+n", "2"],
            against: "side by side",
            peer: &["side", "ours", $operations, $ours, $bytes, "0", "+n", "2"],
        }
    };
}

/// The rows of some operations, each of some sizes: views between two processes, other operations of two processes, of two whose elements lie in runs, and of four
/// beside Open MPI, whose processes let others run while they wait: those of MPICH do not, and where processors are shared they would
/// measure the kernel's time slices.
macro_rules! comparisons {
    (
        views { $(($bytes_of_view:literal $size_of_view:literal $operations_of_view:literal))* }
        two { $($what:literal $ours:literal $raw:literal: $(($bytes:literal $size:literal $operations:literal))*;)* }
        runs { $($what_run:literal $ours_run:literal $run:literal: $(($bytes_run:literal $size_run:literal $operations_run:literal))*;)* }
        four { $($what_of_four:literal $ours_of_four:literal $raw_of_four:literal: $(($bytes_of_four:literal $size_of_four:literal $operations_of_four:literal))*;)* }
    ) => {
        &[
            $(
                beside!("Open MPI" "2" "broadcast, view" "view" "broadcast" $bytes_of_view $size_of_view $operations_of_view),
                beside!("MPICH" "2" "broadcast, view" "view" "broadcast" $bytes_of_view $size_of_view $operations_of_view),
                beside_a_word!($bytes_of_view $size_of_view $operations_of_view),
            )*
            $($(
                beside!("Open MPI" "2" $what $ours $raw $bytes $size $operations),
                beside!("MPICH" "2" $what $ours $raw $bytes $size $operations),
                limited!("2" concat!($what, ", ", $size), $ours "0" $bytes $operations),
            )*)*
            $($(
                in_runs!($what_run $ours_run $run $bytes_run $size_run $operations_run),
                limited!(
                    "2" concat!($what_run, " in runs of ", $run, " B, ", $size_run),
                    $ours_run $run $bytes_run $operations_run
                ),
            )*)*
            $($(
                beside!("Open MPI" "4" $what_of_four $ours_of_four $raw_of_four $bytes_of_four $size_of_four $operations_of_four),
                limited!(
                    "4" concat!($what_of_four, ", ", $size_of_four),
                    $ours_of_four "0" $bytes_of_four $operations_of_four
                ),
            )*)*
        ]
    };
}

pub(crate) const COMPARISONS: &[Comparison] = comparisons! {
    views { ("65536" "64 KiB" "40")("1048576" "1 MiB" "10")("4194304" "4 MiB" "4")("67108864" "64 MiB" "1") }
    two {
    "broadcast, copies" "copies" "broadcast": ("65536" "64 KiB" "40")("1048576" "1 MiB" "10")("4194304" "4 MiB" "4");
    "broadcast, copies elsewhere" "elsewhere" "broadcast": ("65536" "64 KiB" "40")("1048576" "1 MiB" "10")("4194304" "4 MiB" "4");
    "gather" "gather" "gather": ("65536" "64 KiB" "40")("1048576" "1 MiB" "10")("4194304" "4 MiB" "4");
    "all-to-all" "exchange" "exchange": ("65536" "64 KiB" "40")("1048576" "1 MiB" "10")("4194304" "4 MiB" "4");
    "transposition" "transposition" "transposition": ("65536" "64 KiB" "40")("1048576" "1 MiB" "10")("4194304" "4 MiB" "4");
    }
    runs {
    "broadcast, copies" "copies" "256": ("65536" "64 KiB" "40")("1048576" "1 MiB" "10")("4194304" "4 MiB" "4");
    "broadcast, copies" "copies" "1024": ("65536" "64 KiB" "40")("1048576" "1 MiB" "10")("4194304" "4 MiB" "4");
    "gather" "gather" "256": ("65536" "64 KiB" "40")("1048576" "1 MiB" "10")("4194304" "4 MiB" "4");
    "gather" "gather" "1024": ("65536" "64 KiB" "40")("1048576" "1 MiB" "10")("4194304" "4 MiB" "4");
    }
    four {
    "4 processes: broadcast, copies" "copies" "broadcast": ("65536" "64 KiB" "20")("1048576" "1 MiB" "6");
    "4 processes: gather" "gather" "gather": ("65536" "64 KiB" "20")("1048576" "1 MiB" "6");
    "4 processes: all-to-all" "exchange" "exchange": ("65536" "64 KiB" "20")("1048576" "1 MiB" "6");
    }
};
