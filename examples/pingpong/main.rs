//! How long does a buffer take from one PE to another, by every way there is? Two chares play ping-pong with buffers of growing
//! size; the program prints a table: that of the thesis (one-way times), or that of Charm++ (every column of its zero-copy ping-pong).
//!
//! ```text
//! cargo run --release --example pingpong                                   every path in turn
//! cargo run --release --example pingpong -- +n 2 --path shm --verify       one path, every byte checked
//! cargo run --release --example pingpong -- +p 2 --path memcpy --csv       between two PEs of one process
//! cargo run --release --example pingpong -- +n 2 +nolocal                  whatever path the `+options` lead to
//! mpirun -n 2 target/release/examples/pingpong --path mpi                  over MPI (`--features mpi`), under its launcher
//! cargo run --release --example pingpong -- --memory device +n 2 +device software   buffers on devices
//! cargo run --release --example pingpong -- --footprint +n 2               memory in the place of times
//! cargo run --release --example pingpong -- --table charm --csv            Charm++'s columns, with its defaults
//! cargo run --release --example pingpong -- --table charm --min 1024 --max 8192 --iterations 2 --large-iterations 1
//! ```
//! With several nodes the players are PE 0 and the first PE of node 1; in one process PE 0 and PE 1, if there are two.
//!
//! | file | job |
//! |---|---|
//! | `options` | the command line, and the paths between the players |
//! | `driver` | runs this program once per path |
//! | `tables` | the rounds of each table, and the numbers that it makes of the times |
//! | `footprint` | how much memory each way takes |
//! | `measure` | all sizes and all rounds, in their order |
//! | `round` | a round, and its times |
//! | `rally` | how far a player is in its round |
//! | `player` | the two chares, and the ways of sending |
//! | `device_player` | the same for buffers on devices |
//! | `pattern` | bytes that show wrong ones |
//! | `report`, `plot` | table, CSV, SVG |

mod device_player;
mod driver;
mod footprint;
mod measure;
mod options;
mod pattern;
mod player;
mod plot;
mod rally;
mod report;
mod round;
mod tables;

use chare::{Program, ReachOptions};
use options::Options;
use std::process::ExitCode;

fn main() -> ExitCode {
    let program = match Program::from_environment() {
        Ok(program) => program,
        Err(code) => return code,
    };
    let options = Options::from_arguments(program.arguments());
    let Some(path) = options.path else {
        // Launched nodes measure: their launcher has decided who they are.
        return if program.nodes() == 1 && !program.is_launched() {
            driver::run_every_path(&options)
        } else {
            play(program, options)
        };
    };
    if !program.is_launched()
        && let Err(cause) = path.check_layout(program.nodes())
    {
        eprintln!("{cause}");
        return ExitCode::from(2);
    }
    let ReachOptions { ofi, verbs, .. } = program.paths().clone();
    let network = ReachOptions { ofi, verbs, ..path.network() };
    play(program.network(network), options)
}

fn play(program: Program, options: Options) -> ExitCode {
    if options.footprint && options.weigh.is_none() {
        return footprint::run(&options);
    }
    program.run(|_arguments| async move {
        if let Err(error) = measure::run(&options).await {
            eprintln!("{error}");
            chare::exit(1);
        } else {
            chare::exit(0);
        }
    })
}
