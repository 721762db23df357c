//! The side of an MPI: windows of `MPI_Isend` and `MPI_Irecv` of a committed datatype. What is sent one way is answered by a short message
//! when all of it has landed; both ways, a process goes on when its own sends and receives are over.

#![expect(unsafe_code, reason = "calls MPI as a C program would")]

use super::player::{Direction, WINDOW};
use crate::messages::mpi::play_as;
use crate::subject::{Placed, Subject};
use chare_benches::Batches;
use chare_benches::launcher::Mpi;
use chare_examples::ddtbench::End;
use chare_mpi_sys::{Committed, Communicator, MpiError, Request};
use std::io;
use std::process::ExitCode;
use std::time::Instant;

const TAG: u32 = 0;

/// One of the two processes, or the launcher that starts them.
pub(crate) fn play(mpi: &Mpi, subject: &str, direction: Direction, batches: Batches) -> ExitCode {
    play_as(mpi, subject, |world, subject| windows(world, subject, direction, batches))
}

fn windows(
    world: &Communicator,
    subject: &dyn Subject,
    direction: Direction,
    batches: Batches,
) -> io::Result<()> {
    let array = subject.arrays().map_err(io::Error::other)?.remove(0);
    let (source, landed) = (array.source(), array.landed());
    let mut targets: Vec<Vec<u8>> = (0..WINDOW).map(|_| array.target()).collect();
    let is_first = world.rank() == 0;
    let (sends, receives) = (direction.sends(is_first), direction.sends(!is_first));
    let committed = |end| -> Result<(Committed, usize), MpiError> {
        let Placed { datatype, start } = subject.datatypes(world.library(), end)?.remove(0);
        Ok((datatype.commit()?, start))
    };
    let mut play = || -> Result<(), MpiError> {
        let ((out, from), (into, to)) = (committed(End::Source)?, committed(End::Target)?);
        let mut window = || -> Result<(), MpiError> {
            let mut under_way = Vec::new();
            if receives {
                for target in &mut targets {
                    let to = target[to..].as_mut_ptr();
                    // SAFETY: the only thread; the datatype selects of an array that was allocated for it, and nobody touches that
                    // before `finish`.
                    under_way.push(unsafe { world.irecv_one(to, &into, 1 - world.rank(), TAG) }?);
                }
            }
            if sends {
                for _ in 0..WINDOW {
                    // SAFETY: as above; nobody writes it.
                    under_way.push(unsafe {
                        world.isend_one(source[from..].as_ptr(), &out, 1 - world.rank(), TAG)
                    }?);
                }
            }
            finish(world, under_way)?;
            // SAFETY: the only thread.
            unsafe {
                match direction {
                    Direction::One if is_first => world.recv(&mut [0; 4], 1, TAG),
                    Direction::One => world.send(&[0; 4], 0, TAG),
                    Direction::Both => Ok(()),
                }
            }
        };
        let windows = batches.operations / WINDOW as u64;
        if is_first {
            let mut result = Ok(());
            batches.run(|_| {
                let began = Instant::now();
                result = (0..windows).try_for_each(|_| window());
                began.elapsed()
            });
            return result;
        }
        // The first batch is not counted.
        (0..windows * u64::from(batches.count + 1)).try_for_each(|_| window())
    };
    play().map_err(io::Error::other)?;
    if receives && targets.iter().any(|target| *target != landed) {
        return Err(io::Error::other("what landed is not what was sent"));
    }
    Ok(())
}

/// Waits until all of them have ended.
fn finish(world: &Communicator, requests: Vec<Request>) -> Result<(), MpiError> {
    for mut request in requests {
        // SAFETY: the only thread; the request has not ended.
        while unsafe { world.test(&mut request) }?.is_none() {}
    }
    Ok(())
}
