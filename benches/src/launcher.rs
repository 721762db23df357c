//! MPI launchers: each starts a side twice.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

/// The commands that start two processes of each MPI.
const LAUNCHERS: [(&str, &str); 2] = [
    ("Open MPI", "mpirun.openmpi --allow-run-as-root --oversubscribe -n 2"),
    ("MPICH", "mpiexec.hydra -n 2"),
];

fn command(mpi: &str) -> Option<Vec<&'static str>> {
    let (_, command) = LAUNCHERS.iter().find(|(name, _)| *name == mpi)?;
    Some(command.split(' ').collect())
}

/// Whether this is one of the processes of an MPI.
pub fn is_launched() -> bool {
    ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE"].iter().any(|name| std::env::var_os(name).is_some())
}

/// Becomes the launcher of this MPI, which starts this program twice with the arguments that it has.
///
/// # Errors
/// There is no such MPI, or its launcher cannot be started.
pub fn launch(mpi: &str) -> io::Error {
    let starting = || {
        let command = command(mpi).ok_or_else(|| io::Error::other(format!("no MPI is called `{mpi}`")))?;
        let program = std::env::current_exe()?;
        let mut launcher = Command::new(command[0]);
        launcher.args(&command[1..]).arg(program).args(std::env::args_os().skip(1)).stdin(Stdio::null());
        Ok(launcher)
    };
    match starting() {
        Ok(mut launcher) => launcher.exec(),
        Err(error) => error,
    }
}

/// Whether an MPI's launcher can be started; says so if not.
pub fn is_here(mpi: &str) -> bool {
    let here = command(mpi).is_some_and(|words| Command::new(words[0]).arg("--version").output().is_ok());
    if !here {
        println!("skipped: {mpi} is not here");
    }
    here
}
