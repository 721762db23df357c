//! A program of MPI's own that starts jobs inside a communicator: `in_communicator LEVEL`, with MPI's level of thread support.
//!
//! It initialises MPI, runs a job among all its processes, another one after it, and goes on with MPI.

#![expect(unsafe_code, reason = "calls MPI as a C program would")]

use chare::prelude::*;
use chare_mpi_sys::{Communicator, Library, Threads};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Bytes that no message carries.
const BULK: usize = 3_000_000;

struct Member;

#[chare(group)]
impl Member {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry]
    fn hear(&mut self, #[nocopy] values: Received<u64>, done: Callback<u64>) {
        assert!(values.iter().all(|value| *value == 7));
        self.contribute(sum(1_u64), done);
    }
}

fn main() -> ExitCode {
    let level = match std::env::args().nth(1).as_deref() {
        Some("funneled") => Threads::Funneled,
        Some("serialized") => Threads::Serialized,
        _ => Threads::Multiple,
    };
    // As `mpirun` or `mpiexec` started it.
    let is_open_mpi = std::env::var_os("OMPI_COMM_WORLD_SIZE").is_some();
    let file = if is_open_mpi { "libmpi.so.40" } else { "libmpich.so.12" };
    let library = Library::load(&[file]).expect("its MPI is here");
    // SAFETY: nobody else has initialised it; there are no other threads.
    let granted = unsafe { library.init(level) }.expect("MPI starts");
    assert_eq!(granted, level, "an MPI that knows this level grants it");
    // SAFETY: MPI is initialised, by this thread.
    let world = unsafe { Communicator::world(library) }.expect("there are processes");

    for job in 1..=2 {
        let program = match chare::Program::from_environment() {
            Ok(program) => program,
            Err(code) => return code,
        };
        // SAFETY: a communicator of this MPI, which nobody else calls meanwhile.
        let code = unsafe { program.run_in(world.to_fortran(), |_| play()) };
        assert_eq!(code, ExitCode::SUCCESS, "job {job}");
    }

    let deadline = Instant::now() + Duration::from_secs(30);
    // SAFETY: this thread initialised MPI.
    let ranks = unsafe { world.all_gather(&world.rank().to_le_bytes(), deadline) };
    let ranks = ranks.expect("MPI goes on").expect("all processes do");
    let expected: Vec<u8> = (0..world.size()).flat_map(u32::to_le_bytes).collect();
    assert_eq!(ranks, expected);
    println!("MPI goes on in process {} of {}", world.rank(), world.size());
    // SAFETY: this thread initialised it, and nobody uses it any more.
    unsafe { library.finalize() }.expect("MPI ends");
    ExitCode::SUCCESS
}

async fn play() {
    let members = MemberProxy::create();
    for _ in 0..20 {
        let (heard, done) = chare::future();
        members.hear(BufferMut::from_fn(BULK / 8, |_| 7_u64), done);
        assert_eq!(heard.await, u64::from(chare::pes()));
    }
    chare::exit(0);
}
