//! Foreign launchers: which of them started this process, and as one of how many, by their variables. How it finds the others never stands
//! here.

#[cfg(feature = "net")]
use super::variables;
use crate::error::LrtsError;

/// How many processes a foreign launcher says that it started; `None`: this process was not started by one.
///
/// # Errors
/// When a launcher started several processes but left no way to find the others; the message says what to do.
pub fn processes() -> Result<Option<u32>, LrtsError> {
    Ok(ManagerFound::of_this_process()?.map(|found| found.processes()))
}

/// A process manager that says it started this process.
#[derive(PartialEq, Eq, Debug)]
pub(super) enum ManagerFound {
    /// Open MPI's `mpirun`, PRRTE, `srun --mpi=pmix`.
    Pmix { processes: Option<u32> },
    /// MPICH's and Intel's `mpiexec`, `srun --mpi=pmi2`: an open socket that speaks PMI-1.
    Pmi1 { descriptor: i32, processes: u32 },
}

/// The variable in which a node tells its children whose place theirs is not: the place, as the node found it. Others of its
/// launcher's variables cannot be taken away from them.
pub const TAKEN: &str = "CHARE_TAKEN_PLACE";

/// What tells one process of foreign launchers from all others, as far as children inherit it.
fn place(variable: impl Fn(&str) -> Option<String>) -> String {
    ["PMIX_NAMESPACE", "PMIX_RANK", "SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_PROCID"]
        .map(|name| variable(name).unwrap_or_default())
        .join(" ")
}

impl ManagerFound {
    /// What the variables say.
    ///
    /// # Errors
    /// When there are several processes and no way to the others.
    pub(super) fn from_environment(
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Option<Self>, String> {
        let number = |name: &str| variable(name).and_then(|text| text.parse::<u32>().ok());
        let is_taken = variable(TAKEN).is_some_and(|taken| taken == place(&variable));
        if !is_taken && variable("PMIX_NAMESPACE").is_some() && variable("PMIX_RANK").is_some() {
            return Ok(Some(Self::Pmix {
                processes: number("OMPI_COMM_WORLD_SIZE").or(number("SLURM_STEP_NUM_TASKS")),
            }));
        }
        if let Some(text) = variable("PMI_FD") {
            let descriptor =
                text.parse().map_err(|_| format!("PMI_FD is `{text}`, which no launcher sets; unset it"))?;
            return Ok(Some(Self::Pmi1 { descriptor, processes: number("PMI_SIZE").unwrap_or(1) }));
        }
        if is_taken {
            return Ok(None);
        }
        let several = |name: &str| number(name).filter(|processes| *processes > 1);
        if let Some(tasks) = several("SLURM_STEP_NUM_TASKS").filter(|_| variable("SLURM_PROCID").is_some()) {
            return Err(format!(
                "srun started {tasks} tasks without a process manager that lets them find each other; use `srun --mpi=pmix` or `srun --mpi=pmi2`"
            ));
        }
        if let Some((name, processes)) = ["PMI_SIZE", "OMPI_COMM_WORLD_SIZE"]
            .into_iter()
            .find_map(|name| several(name).map(|processes| (name, processes)))
        {
            return Err(format!(
                "{name} says that a launcher started {processes} processes, but it left neither PMI_FD nor PMIX_NAMESPACE, through which they find each other"
            ));
        }
        Ok(None)
    }

    /// What the variables of this process say.
    ///
    /// # Errors
    /// As [`ManagerFound::from_environment`].
    pub(super) fn of_this_process() -> Result<Option<Self>, LrtsError> {
        Self::from_environment(|name| std::env::var(name).ok()).map_err(LrtsError::Bootstrap)
    }

    /// How many processes the launcher says it started; 1 if it does not say.
    fn processes(&self) -> u32 {
        match self {
            Self::Pmix { processes } => processes.unwrap_or(1),
            Self::Pmi1 { processes, .. } => *processes,
        }
    }
}

/// Tells children of this process, where that is sound, that its place is taken.
#[cfg(feature = "net")]
pub(super) fn take_place() {
    variables::set(TAKEN, &place(|name| std::env::var(name).ok()));
}

/// Refuses to be one of several processes, which this build could not find.
///
/// # Errors
/// There are several: each would be a job of its own.
#[cfg(not(feature = "net"))]
pub fn refuse_company(processes: Option<u32>) -> Result<(), LrtsError> {
    match processes {
        Some(processes @ 2..) => Err(LrtsError::Bootstrap(format!(
            "a launcher started {processes} processes, and this program was built without the feature `net` of the crate `chare`, by which \
             they would find each other; build it with `--features chare/net`"
        ))),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(not(feature = "net"))]
    #[test]
    fn processes_that_would_not_find_each_other_do_not_start() {
        assert!(refuse_company(None).is_ok() && refuse_company(Some(1)).is_ok());
        let error = refuse_company(Some(2)).expect_err("there is another one").to_string();
        assert!(error.contains("started 2 processes") && error.contains("`--features chare/net`"), "{error}");
    }

    fn found(variables: &[(&str, &str)]) -> Result<Option<ManagerFound>, String> {
        ManagerFound::from_environment(|name| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn each_launcher_is_told_by_its_variables() {
        assert_eq!(found(&[]), Ok(None));
        let open_mpi = [("PMIX_NAMESPACE", "7"), ("PMIX_RANK", "1"), ("OMPI_COMM_WORLD_SIZE", "4")];
        assert_eq!(found(&open_mpi), Ok(Some(ManagerFound::Pmix { processes: Some(4) })));
        let hydra = [("PMI_FD", "6"), ("PMI_RANK", "1"), ("PMI_SIZE", "2")];
        assert_eq!(found(&hydra), Ok(Some(ManagerFound::Pmi1 { descriptor: 6, processes: 2 })));
    }

    #[test]
    fn several_processes_without_a_way_to_each_other_are_an_error() {
        let bare_srun = [("SLURM_PROCID", "0"), ("SLURM_STEP_NUM_TASKS", "2")];
        assert!(found(&bare_srun).unwrap_err().contains("srun --mpi=pmix"));
        assert!(found(&[("PMI_RANK", "0"), ("PMI_SIZE", "2")]).is_err());
        assert!(found(&[("OMPI_COMM_WORLD_SIZE", "2")]).is_err());
        assert!(found(&[("PMI_FD", "x")]).is_err());
    }

    #[test]
    fn children_of_a_node_are_no_nodes_unless_a_launcher_started_them_anew() {
        let slurm = [("SLURM_JOB_ID", "7"), ("SLURM_STEP_ID", "0"), ("SLURM_PROCID", "1")];
        let pmix = [("PMIX_NAMESPACE", "a"), ("PMIX_RANK", "1"), ("OMPI_COMM_WORLD_SIZE", "2")];
        let node = [&pmix[..], &slurm, &[("SLURM_STEP_NUM_TASKS", "2")]].concat();
        let of_node =
            |name: &str| node.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        let taken = place(of_node);
        let child = [&node[..], &[(TAKEN, &taken[..])]].concat();
        assert_eq!(found(&child), Ok(None));
        let under_hydra = [&child[..], &[("PMI_FD", "5"), ("PMI_SIZE", "3")]].concat();
        assert_eq!(found(&under_hydra), Ok(Some(ManagerFound::Pmi1 { descriptor: 5, processes: 3 })));
        let under_pmix = [&[("PMIX_NAMESPACE", "b"), ("PMIX_RANK", "1")], &child[3..]].concat();
        assert_eq!(found(&under_pmix), Ok(Some(ManagerFound::Pmix { processes: Some(2) })));
    }

    #[test]
    fn one_process_and_batch_scripts_run_alone() {
        assert_eq!(found(&[("SLURM_PROCID", "0"), ("SLURM_STEP_NUM_TASKS", "1")]), Ok(None));
        assert_eq!(found(&[("SLURM_PROCID", "0"), ("SLURM_NTASKS", "8")]), Ok(None), "a batch script");
        assert_eq!(found(&[("OMPI_COMM_WORLD_SIZE", "1")]), Ok(None));
    }
}
