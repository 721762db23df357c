//! The peer: two processes that use MPI and nothing else.

#![expect(unsafe_code, reason = "calls MPI as a C program would")]

use crate::ours::Task;
use chare_benches::{processor, take_seat, tell_library};
use chare_lrts::mpi::start;
use chare_mpi_sys::{Communicator, MpiError, Threads};
use std::io;
use std::time::Instant;

const TAG: u32 = 0;

/// One of the two processes: the first sends, the second sends back, as often as the first has batches for.
pub(crate) fn play(task: Task<'_>, threads: Threads) -> io::Result<()> {
    let (world, _) = start::start(Some(&task.mpi.library()), threads).map_err(io::Error::other)?;
    take_seat(processor(world.rank() as usize));
    if world.rank() == 0 {
        tell_library(world.library().version());
    }
    // Not zero: untouched memory would be one page of zeroes, read from the nearest cache.
    let (out, mut into) = (vec![7_u8; task.bytes], vec![7_u8; task.bytes]);
    let mut result = Ok(());
    let rounds = task.batches.operations / 2;
    if world.rank() == 0 {
        task.batches.run(|_| {
            let began = Instant::now();
            result = (0..rounds).try_for_each(|_| {
                send(&world, &out)?;
                receive(&world, &mut into)
            });
            began.elapsed()
        });
    } else {
        // The first batch is not counted.
        let all = rounds * u64::from(task.batches.count + 1);
        result = (0..all).try_for_each(|_| {
            receive(&world, &mut into)?;
            send(&world, &out)
        });
    }
    // SAFETY: the thread that initialised it; nobody uses it any more.
    unsafe { start::end(world.library()) };
    result.map_err(io::Error::other)
}

fn send(world: &Communicator, bytes: &[u8]) -> Result<(), MpiError> {
    // SAFETY: the only thread; the bytes are borrowed until it returns.
    unsafe { world.send(bytes, 1 - world.rank(), TAG) }
}

fn receive(world: &Communicator, bytes: &mut [u8]) -> Result<(), MpiError> {
    // SAFETY: the only thread; the bytes are borrowed until it returns.
    unsafe { world.recv(bytes, 1 - world.rank(), TAG) }
}
