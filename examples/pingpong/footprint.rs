//! The footprint: how much memory each way of the thesis' table takes, of each size in a job of its own, so that nothing is there that
//! another way has left. What a process shares with others counts for each.

use crate::options::{Options, Path};
use crate::report::describe_size;
use crate::round::Way;
use crate::tables::Table;
use clap::ValueEnum;
use std::env;
use std::process::{Command, ExitCode, Stdio};

/// Prints how much each way takes of each size: this program, run once for each.
pub(crate) fn run(options: &Options) -> ExitCode {
    let (columns, pool) = (Table::Thesis.columns(), options.path.is_none_or(Path::wants_pool));
    if options.csv {
        println!("path,bytes,{}", columns.join(","));
    } else {
        println!(
            "mebibytes: how much more memory the process of the first player has at most than before there were buffers"
        );
        let columns: String = columns.iter().map(|column| format!(" {column:>13}")).collect();
        println!("{:>9}{columns}", "size");
    }
    for size in options.sizes() {
        let mut cells = String::new();
        for (way, _) in Table::Thesis.rounds(pool) {
            let grown = match weigh(way, size) {
                Ok(bytes) => bytes as f64 / f64::from(1 << 20),
                Err(cause) => {
                    eprintln!("{}, {way:?}: {cause}", describe_size(size));
                    return ExitCode::FAILURE;
                }
            };
            cells += &if options.csv { format!(",{grown:.2}") } else { format!(" {grown:>13.2}") };
        }
        match options.csv {
            true => println!("{},{size}{cells}", options.path.map_or("default", Path::name)),
            false => println!("{:>9}{cells}", describe_size(size)),
        }
    }
    ExitCode::SUCCESS
}

/// Has one way of one size played.
fn weigh(way: Way, size: usize) -> Result<u64, String> {
    let program = env::current_exe().map_err(|error| format!("this program cannot run itself: {error}"))?;
    let way = way.to_possible_value().expect("no way is skipped");
    let mut job = Command::new(program);
    job.args(env::args_os().skip(1)).args(["--weigh", way.get_name()]);
    job.args(["--min", &size.to_string(), "--max", &size.to_string()]);
    let played = job.stderr(Stdio::inherit()).output().map_err(|error| error.to_string())?;
    if !played.status.success() {
        return Err(format!("its job failed: {}", played.status));
    }
    let said = String::from_utf8_lossy(&played.stdout);
    said.trim().parse().map_err(|_| format!("its job said {said:?} in the place of a number"))
}
