//! Seed writer: it writes the seeds of a target into a folder: `seeds NAME FOLDER`.

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, folder] = arguments.as_slice() else {
        eprintln!("usage: seeds NAME FOLDER");
        return ExitCode::FAILURE;
    };
    for (number, seed) in (chare_fuzz::target(name).seeds)().iter().enumerate() {
        if let Err(error) = std::fs::write(Path::new(folder).join(format!("seed-{number}")), seed) {
            eprintln!("{folder}: {error}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
