//! Programs whose command line says how they run: `+options`, and the processes that `+n` starts (feature `launch`).

use super::Program;
use crate::job::config::Parsed;
use crate::job::launch;
use crate::job::settings::{Config, WRONG_OPTION};
use chare_lrts::events;
use std::process::ExitCode;

/// Runs a program: takes the `+options` out of the command line, starts what they ask for, and runs `main` on PE 0 with the
/// program's own arguments. Returns the exit code for `fn main`.
///
/// When it ends, and when it does not return, is told at [`Program::run`].
///
/// ```no_run
/// fn main() -> std::process::ExitCode {
///     chare::run(|arguments| async move {
///         println!("{} PEs, arguments {arguments:?}", chare::pes());
///     })
/// }
/// ```
///
/// The code goes to the system only as what `main` returns. Behind a semicolon it is lost, which the compiler warns of:
///
/// ```compile_fail
/// #![deny(unused_must_use)]
///
/// fn main() {
///     chare::run(|_| async {});
/// }
/// ```
#[must_use = "the code says how the job ended: return it from `fn main() -> std::process::ExitCode`"]
pub fn run<F, Fut>(main: F) -> ExitCode
where
    F: FnOnce(Vec<String>) -> Fut + Send + 'static,
    Fut: Future<Output = ()> + 'static,
{
    match Program::from_environment() {
        Ok(program) => program.run(main),
        Err(code) => code,
    }
}

impl Program {
    /// Parses the command line and the `CHARE_*` variables.
    ///
    /// # Errors
    /// The exit code to return, after `+help` or a wrong option was answered on the terminal.
    pub fn from_environment() -> Result<Self, ExitCode> {
        match Config::from_arguments(std::env::args_os().skip(1), std::env::vars_os()) {
            Ok(Parsed::Run(config)) => Ok(Self::new(*config)),
            Ok(Parsed::Help(text)) => {
                super::print(&format!("{text}\n"));
                Err(ExitCode::SUCCESS)
            }
            Err(error) => {
                events::error(error);
                Err(ExitCode::from(WRONG_OPTION))
            }
        }
    }

    /// Becomes the launcher of further processes of this program.
    pub(super) fn launch(&self) -> ExitCode {
        match std::env::current_exe() {
            Ok(program) => launch::run_here(&self.config, program, std::env::args_os().collect()),
            Err(error) => {
                events::error(format_args!(
                    "this program's own file cannot be found, so its nodes cannot be started: {error}"
                ));
                ExitCode::FAILURE
            }
        }
    }
}
