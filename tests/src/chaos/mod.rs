//! The kill campaign: many jobs, each broken at a random message, each ending as it must.
//!
//! 1. A seed means a job ([`plan`]): path, nodes, fault, victims, moment. The program (`tests/programs/checked.rs`) raises
//!    the fault itself, exactly there.
//! 2. A job whose fault did not strike, and one whose stopped node goes on, ends with the right result. Any other ends within
//!    [`END_PATIENCE`](run::END_PATIENCE) of its fault (after its last stop, with one that is stopped) with one line that names a victim.
//!    Over MPI its launcher ends the job, and has words of its own; somebody says ours, too.
//! 3. Then no process, no file of it is left ([`run`]). The runs that follow are the proof that the host is none the worse.

pub mod campaign;
pub mod fault;
pub mod plan;
pub mod run;
