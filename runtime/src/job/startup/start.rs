//! Programs that go on beside their job: the job runs on threads of its own, and `fn main` has its handle.

#![expect(clippy::disallowed_methods, reason = "the job runs beside `fn main`, on a thread of the machine's")]

use super::Program;
use crate::api::job_handle::{JobHandle, job_handle};
use chare_lrts::events;
use std::process::ExitCode;
use std::sync::mpsc;

impl Program {
    /// Starts the program's job, as [`run`](Self::run) does, and returns its handle on node 0, by which any thread or task gives it work
    /// and ends it. `fn main` goes on beside the job, and returns when the job is over.
    ///
    /// ```no_run
    /// use std::process::ExitCode;
    ///
    /// fn main() -> ExitCode {
    ///     let job = match chare::Program::from_environment().and_then(chare::Program::start) {
    ///         Ok(job) => job,
    ///         Err(code) => return code,
    ///     };
    ///     println!("{} PEs", job.run(async || chare::pes()).wait().unwrap());
    ///     job.shut_down(0);
    ///     job.join().map_or(ExitCode::FAILURE, |code| ExitCode::from(code as u8))
    /// }
    /// ```
    ///
    /// # Errors
    /// The exit code to return, once all is over: in the launcher of several processes, on all nodes but node 0, and if the job cannot
    /// start, which was said on the terminal.
    pub fn start(self) -> Result<JobHandle, ExitCode> {
        let (tell, started) = mpsc::channel();
        let over = tell.clone();
        let started_thread = std::thread::Builder::new().name("chare-job".to_owned()).spawn(move || {
            let code = self.run(move |_arguments| {
                // The caller waits for it.
                let _ = tell.send(Ok(job_handle()));
                std::future::pending()
            });
            // Nobody hears it on node 0, where the handle tells how the job ended.
            let _ = over.send(Err(code));
        });
        if let Err(error) = started_thread {
            events::error(format_args!("no thread for the job: {error}"));
            return Err(ExitCode::FAILURE);
        }
        started.recv().expect("the job's thread says how it went")
    }
}
