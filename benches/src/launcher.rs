//! MPIs that benchmarks run beside: Debian's, and newer ones that `cargo xtask mpis` installs. The launcher of each starts a side twice,
//! or as often as it is told.

use std::io;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::LazyLock;

/// An MPI: its library, and how two processes of it are started.
#[derive(Clone, Copy, Debug)]
pub struct Mpi {
    /// What tables call it.
    pub name: &'static str,
    /// The same as one word, by which sides are told.
    pub word: &'static str,
    /// The folder of the tools in which it is installed; without, the system has it.
    folder: Option<&'static str>,
    library: &'static str,
    launcher: &'static str,
    arguments: &'static [&'static str],
}

const OPEN_MPI_ARGUMENTS: &[&str] = &["--allow-run-as-root", "--oversubscribe"];

/// All that are known.
pub const MPIS: [Mpi; 5] = [
    Mpi {
        name: "Open MPI",
        word: "open-mpi",
        folder: None,
        library: "libmpi.so.40",
        launcher: "mpirun.openmpi",
        arguments: OPEN_MPI_ARGUMENTS,
    },
    Mpi {
        name: "MPICH",
        word: "mpich",
        folder: None,
        library: "libmpich.so.12",
        launcher: "mpiexec.hydra",
        arguments: &[],
    },
    Mpi {
        name: "Open MPI 5",
        word: "open-mpi-5",
        folder: Some("openmpi"),
        library: "libmpi.so.40",
        launcher: "mpirun",
        arguments: OPEN_MPI_ARGUMENTS,
    },
    Mpi {
        name: "MPICH 5",
        word: "mpich-5",
        folder: Some("mpich"),
        library: "libmpi.so.12",
        launcher: "mpiexec.hydra",
        arguments: &[],
    },
    Mpi {
        name: "Intel MPI",
        word: "intel-mpi",
        folder: Some("impi-rt"),
        library: "libmpi.so.12",
        launcher: "mpiexec.hydra",
        arguments: &[],
    },
];

impl Mpi {
    /// The one with this name or word.
    pub fn named(name: &str) -> Option<&'static Self> {
        MPIS.iter().find(|mpi| [mpi.name, mpi.word].contains(&name))
    }

    /// Its library, for the loader.
    pub fn library(&self) -> String {
        self.file("lib", self.library).display().to_string()
    }

    /// Whether its launcher can be started.
    ///
    /// Each is looked for once, and of each that is not here the program says so.
    pub fn is_here(&self) -> bool {
        static HERE: LazyLock<Vec<&str>> = LazyLock::new(|| {
            let (here, lacking): (Vec<&Mpi>, Vec<&Mpi>) = MPIS.iter().partition(|mpi| mpi.starts());
            lacking.iter().for_each(|mpi| println!("skipped: {} is not here", mpi.name));
            here.iter().map(|mpi| mpi.name).collect()
        });
        HERE.contains(&self.name)
    }

    fn starts(&self) -> bool {
        Command::new(self.file("bin", self.launcher)).arg("--version").output().is_ok()
    }

    /// Becomes the launcher, which starts this program twice with the arguments that it has.
    ///
    /// # Errors
    /// The launcher cannot be started.
    pub fn launch(&self) -> io::Error {
        self.launch_processes(2)
    }

    /// As [`launch`](Self::launch), so many times.
    ///
    /// # Errors
    /// As of `launch`.
    pub fn launch_processes(&self, processes: usize) -> io::Error {
        let program = match std::env::current_exe() {
            Ok(program) => program,
            Err(error) => return error,
        };
        let mut launcher = Command::new(self.file("bin", self.launcher));
        launcher
            .args(self.arguments)
            .args(["-n", &processes.to_string()])
            .arg(program)
            .args(std::env::args_os().skip(1))
            .stdin(Stdio::null())
            .exec()
    }

    /// A file of its own, by its path; of the system's one by its name.
    fn file(&self, of: &str, name: &str) -> PathBuf {
        let program = std::env::current_exe().unwrap_or_default();
        // Benchmarks are built in `release/deps` of the folder that has the tools.
        let built = program.ancestors().nth(3);
        match (self.folder, built) {
            (Some(folder), Some(built)) => built.join("tools/mpi").join(folder).join(of).join(name),
            _ => name.into(),
        }
    }
}

/// Whether this is one of the processes of an MPI.
pub fn is_launched() -> bool {
    ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE"].iter().any(|name| std::env::var_os(name).is_some())
}

/// Becomes the launcher of the MPI of this name, as [`Mpi::launch`].
///
/// # Errors
/// There is no such MPI, or its launcher cannot be started.
pub fn launch(mpi: &str) -> io::Error {
    let unknown = || io::Error::other(format!("no MPI is called `{mpi}`"));
    Mpi::named(mpi).map_or_else(unknown, Mpi::launch)
}

/// Whether the MPI of this name is here, as [`Mpi::is_here`].
pub fn is_here(mpi: &str) -> bool {
    Mpi::named(mpi).is_some_and(Mpi::is_here)
}
