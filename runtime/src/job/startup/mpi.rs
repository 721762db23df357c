//! Programs among the processes of MPI: started by its launcher for `+lrts mpi`, or inside a communicator of their own.

#![expect(unsafe_code, reason = "takes a communicator's number from the program")]

use super::managed::startup_patience;
use super::{Program, Refusal, Role, refuse};
use chare_lrts::LrtsError;
use chare_lrts::bootstrap::managed::Managed;
use std::process::ExitCode;

impl Program {
    /// Runs the program among the processes of an MPI communicator, which the program itself made: all of them call this, from the thread
    /// that initialised MPI unless it was initialised with `MPI_THREAD_SERIALIZED` or more. `communicator` is the communicator's number
    /// in Fortran, which `MPI_Comm_c2f` tells in C. Processes are nodes, in the order of their ranks. MPI goes on afterwards.
    ///
    /// Messages take the paths that the options choose: `+lrts mpi` is one of them. Options that start processes are refused.
    ///
    /// # Safety
    /// The number is that of a live communicator of the MPI that this program is linked with or has loaded through
    /// `chare-mpi-sys`. Unless it was initialised with `MPI_THREAD_MULTIPLE`, nobody else in this process calls MPI meanwhile.
    pub unsafe fn run_in<F, Fut>(self, communicator: i32, main: F) -> ExitCode
    where
        F: FnOnce(Vec<String>) -> Fut + Send + 'static,
        Fut: Future<Output = ()> + 'static,
    {
        // SAFETY: the caller's.
        let adopted = unsafe { chare_lrts::mpi::start::adopt(communicator) };
        let joined = match self.config.nodes {
            1 => adopted
                .map_err(Refusal::from)
                .and_then(|among| Ok(Managed::in_communicator(among, startup_patience()?)?)),
            nodes => Err(Refusal::Options(LrtsError::Bootstrap(format!(
                "the processes of a communicator run already; leave out `+n {nodes}`"
            )))),
        };
        match joined {
            Ok(managed) => {
                let arguments = self.config.program_arguments.clone();
                self.run_managed(managed, Box::new(move || Box::pin(main(arguments))))
            }
            Err(error) => refuse(&error),
        }
    }

    pub(super) fn is_over_mpi(&self) -> bool {
        self.network.lrts.as_deref() == Some("mpi")
    }

    /// The role of this process under MPI's launcher. MPI says which processes are in the job: nobody else may ask its launcher.
    pub(super) fn find_role_in_mpi(&self) -> Result<Role, Refusal> {
        let nodes = self.config.nodes;
        if nodes > 1 {
            return Err(Refusal::Options(LrtsError::Bootstrap(format!(
                "`+lrts mpi` runs under MPI's own launcher: leave out `+n {nodes}` and start the program with `mpirun -n {nodes}`, \
                 `mpiexec -n {nodes}` or `srun -n {nodes}`"
            ))));
        }
        Ok(Managed::by_mpi(self.config.mpi.as_deref(), startup_patience()?).map(Role::Managed)?)
    }
}
