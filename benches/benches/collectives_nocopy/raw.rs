//! The side of an MPI: its own collectives.

#![expect(unsafe_code, reason = "calls MPI as a C program would")]

use crate::dealing::side_of;
use chare_benches::{Batches, processor, take_seat};
use chare_lrts::mpi::start;
use chare_mpi_sys::{Basic, Bounds, Committed, Communicator, Datatype, MpiError, Threads};
use std::ffi::c_int;
use std::io;
use std::time::{Duration, Instant};

pub(crate) fn play(what: &str, batches: Batches, bytes: usize) -> io::Result<()> {
    let (world, _) = start::start(None, Threads::Single).map_err(io::Error::other)?;
    take_seat(processor(world.rank() as usize));
    let result = measure(&world, what, batches, bytes);
    // SAFETY: the thread that initialised it; all datatypes are gone, and nobody uses it any more.
    unsafe { start::end(world.library()) };
    result.map_err(io::Error::other)
}

/// What goes to each process of a slab, and what comes from each: a transposed block and a block of columns, or so many bytes.
fn datatypes(world: &Communicator, is_transposed: bool, bytes: usize) -> Result<[Committed; 2], MpiError> {
    let processes = world.size() as usize;
    // SAFETY: the only thread initialised it, and ends it when all datatypes are gone.
    let double = unsafe { Datatype::of(world.library(), Basic::Double, 1) }?;
    if !is_transposed {
        let part = || double.contiguous((bytes / 8 / processes) as c_int)?.commit();
        return Ok([part()?, part()?]);
    }
    let width = side_of(processes, bytes) as c_int;
    let height = width / processes as c_int;
    let bounds = |doubles: c_int| Bounds { lower: 0, extent: doubles as isize * 8 };
    let column = double.vector(height, 1, width)?.resized(bounds(1))?;
    let columns = column.contiguous(height)?.resized(bounds(height))?;
    let block = double.vector(height, height, width)?.resized(bounds(height))?;
    Ok([columns.commit()?, block.commit()?])
}

fn measure(world: &Communicator, what: &str, batches: Batches, bytes: usize) -> Result<(), MpiError> {
    let [sent, received] = datatypes(world, what == "transposition", bytes)?;
    let (mut source, mut target) = (vec![0_u8; bytes], vec![0_u8; bytes * world.size() as usize]);
    let mut number = 0_u8;
    let mut operate = || -> Result<Duration, MpiError> {
        number = number.wrapping_add(1);
        // A broadcast overwrites it elsewhere.
        source.fill(number);
        // SAFETY: the only thread; the datatypes are of slabs of so many bytes, as the buffers are or longer.
        unsafe {
            world.barrier()?;
            let began = Instant::now();
            match what {
                "broadcast" => world.broadcast(&mut source, 0)?,
                "gather" => world.gather(&source, &mut target, 0)?,
                _ => world.all_to_all((&source, &sent), (&mut target, &received))?,
            }
            // The gather is over where the root has all.
            if what != "gather" {
                world.barrier()?;
            }
            Ok(began.elapsed())
        }
    };
    let mut result = Ok(());
    let mut batch = |operations| {
        let mut elapsed = Duration::ZERO;
        for _ in 0..operations {
            match operate() {
                Ok(once) => elapsed += once,
                Err(error) => result = Err(error),
            }
        }
        elapsed
    };
    if world.rank() == 0 {
        batches.run(batch);
    } else {
        // The first batch is not told.
        batch(batches.operations * u64::from(batches.count + 1));
    }
    result
}
