//! Start of a program that has options of its own: the same lines in every example.

use chare::Program;
use chare::devices::DeviceChoice;
use clap::Parser;
use std::process::ExitCode;

/// Parses the program's own arguments as `O`, before anything starts, and runs `main` with them.
///
/// The job succeeds when `main` is over and nothing is in flight any more; a check that fails, anywhere, ends it otherwise.
pub fn run<O, F, Fut>(main: F) -> ExitCode
where
    O: Parser + Send + 'static,
    F: FnOnce(O) -> Fut + Send + 'static,
    Fut: Future<Output = ()> + 'static,
{
    let program = match Program::from_environment() {
        Ok(program) => program,
        Err(code) => return code,
    };
    let options = parse(program.arguments());
    program.run(|_arguments| main(options))
}

/// The end of every example's `--help`: what the runtime takes out of the command line, nobody would find there otherwise.
pub const HELP: &str = "Options of the runtime begin with `+`, such as `+n 2` (processes) and `+p 3` (PEs of each); `+help` lists them.";

/// Parses a program's own arguments; answers `--help` and mistakes on the terminal, and ends the process then.
pub fn parse<O: Parser>(arguments: &[String]) -> O {
    let mut matches = O::command().after_help(HELP).get_matches_from(arguments);
    O::from_arg_matches_mut(&mut matches).unwrap_or_else(|error| error.format(&mut O::command()).exit())
}

/// The same for a `main` that returns whether its answer is right: the job ends with it, and succeeds only then.
pub fn check<O, F, Fut>(main: F) -> ExitCode
where
    O: Parser + Send + 'static,
    F: FnOnce(O) -> Fut + Send + 'static,
    Fut: Future<Output = bool> + 'static,
{
    run(|options| async {
        let is_right = main(options).await;
        chare::exit(i32::from(!is_right));
    })
}

/// The program on a software device, unless its options choose another: whoever has no GPU sees it run, too.
pub fn with_devices(program: Program) -> Program {
    match program.devices() {
        DeviceChoice::Found => program.device(DeviceChoice::software(1)),
        _ => program,
    }
}
