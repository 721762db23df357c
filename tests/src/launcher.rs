//! Foreign launchers, as commands in front of a program.

use crate::{Outcome, Program};
use rustix::process::{Pid, Signal, kill_process};
use std::fmt;
use std::path::Path;
use std::process::Command;

/// A launcher of this machine.
#[derive(Clone, Debug)]
pub struct Launcher {
    /// The command up to the number of processes.
    command: String,
}

impl fmt::Display for Launcher {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.command)
    }
}

/// The path of the first of these commands that is there; prints a skip if none is.
pub fn find(names: &[&str], package: &str) -> Option<String> {
    let path = std::env::var("PATH").unwrap_or_default() + ":/usr/sbin:/sbin";
    let found = names.iter().find_map(|name| {
        let mut places = path.split(':').map(|folder| Path::new(folder).join(name));
        places.find(|place| place.exists())
    });
    if found.is_none() {
        println!("skipped: no {} on this machine; Debian's package {package} has it", names.join(" or "));
    }
    Some(found?.display().to_string())
}

impl Launcher {
    /// Open MPI's; prints a skip where it is not here.
    pub fn open_mpi() -> Option<Self> {
        let command = find(&["mpirun.openmpi"], "openmpi-bin")?;
        Some(Self { command: format!("{command} --allow-run-as-root --oversubscribe") })
    }

    /// MPICH's; prints a skip where it is not here.
    pub fn hydra() -> Option<Self> {
        Some(Self { command: find(&["mpiexec.hydra"], "mpich")? })
    }

    /// Slurm's, by the command that runs it.
    pub fn srun(command: String) -> Self {
        Self { command }
    }

    /// The launchers of both MPIs, as far as they are here.
    pub fn of_mpi() -> Vec<Self> {
        [Self::open_mpi(), Self::hydra()].into_iter().flatten().collect()
    }

    /// The same, with more options.
    #[must_use]
    pub fn with(mut self, options: &str) -> Self {
        self.command = format!("{} {options}", self.command);
        self
    }

    /// The command that starts so many processes of what is added to it.
    pub fn command(&self, processes: u32) -> Command {
        let mut words = self.command.split_whitespace();
        let mut command = Command::new(words.next().unwrap_or_default());
        command.args(words).arg("-n").arg(processes.to_string());
        command
    }

    /// Runs a program as so many processes.
    ///
    /// # Panics
    /// As [`Program::run`].
    pub fn run(&self, processes: u32, program: &str) -> Outcome {
        let (command, arguments) = self.command.split_once(' ').unwrap_or((&self.command, ""));
        Program::binary(command).run(&format!("{arguments} -n {processes} {program}"))
    }

    /// Runs a program whose nodes introduce themselves, kills the last one when all have, and waits for the rest. Returns which
    /// it was, too.
    ///
    /// # Panics
    /// As [`Program::run`].
    pub fn kill_one(&self, processes: u32, program: &str) -> (Outcome, u32) {
        let (command, arguments) = self.command.split_once(' ').unwrap_or((&self.command, ""));
        let victim = processes - 1;
        let mut seen = 0;
        let mut process = None;
        let arguments = format!("{arguments} -n {processes} {program}");
        let outcome = Program::binary(command).run_watched(&arguments, |line| {
            let Some((node, id)) = line.split_once(" has process ") else { return };
            seen += 1;
            if node.ends_with(&format!("node {victim}")) {
                process = id.trim().parse().ok().and_then(Pid::from_raw);
            }
            if seen == processes {
                let process = process.expect("the victim introduced itself");
                kill_process(process, Signal::KILL).expect("it runs");
            }
        });
        (outcome, victim)
    }
}
