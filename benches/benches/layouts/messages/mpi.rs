//! The side of an MPI: two processes that send a subject to and fro by `MPI_Send` and `MPI_Recv` with its committed datatype.

#![expect(unsafe_code, reason = "calls MPI as a C program would")]

use super::rows::named;
use crate::subject::{Array, Placed, Subject};
use chare_benches::launcher::{Mpi, is_launched};
use chare_benches::{Batches, code_of, processor, take_seat, tell_library};
use chare_examples::ddtbench::End;
use chare_lrts::mpi::start;
use chare_mpi_sys::{Committed, Communicator, Datatype, MpiError, Threads};
use std::io;
use std::process::ExitCode;
use std::time::Instant;

const TAG: u32 = 0;

/// One of the two processes of a ping-pong, or the launcher that starts them.
pub(crate) fn play(mpi: &Mpi, subject: &str, batches: Batches) -> ExitCode {
    play_as(mpi, subject, |world, subject| to_and_fro(world, subject, batches))
}

/// One of the two processes, which `measure`, or the launcher that starts them.
pub(crate) fn play_as(
    mpi: &Mpi,
    subject: &str,
    measure: impl FnOnce(&Communicator, &dyn Subject) -> io::Result<()>,
) -> ExitCode {
    if !is_launched() {
        return code_of(Err(mpi.launch()));
    }
    let started = start::start(Some(&mpi.library()), Threads::Single).map_err(io::Error::other);
    code_of(started.and_then(|(world, _)| {
        take_seat(processor(world.rank() as usize));
        if world.rank() == 0 {
            tell_library(world.library().version());
        }
        let subject = named(subject).ok_or_else(|| io::Error::other("no such subject"))?;
        let result = measure(&world, &*subject);
        // SAFETY: the thread that initialised it; nobody uses it any more.
        unsafe { start::end(world.library()) };
        result
    }))
}

/// The first sends, the second sends back, as often as the first has batches for.
fn to_and_fro(world: &Communicator, subject: &dyn Subject, batches: Batches) -> io::Result<()> {
    let arrays = subject.arrays().map_err(io::Error::other)?;
    let sources: Vec<Vec<u8>> = arrays.iter().map(Array::source).collect();
    let mut targets: Vec<Vec<u8>> = arrays.iter().map(Array::target).collect();
    let from: Vec<*const u8> = sources.iter().map(|source| source.as_ptr()).collect();
    let to: Vec<*mut u8> = targets.iter_mut().map(|target| target.as_mut_ptr()).collect();
    let there: Vec<*const u8> = to.iter().map(|target| target.cast_const()).collect();
    let other = 1 - world.rank();
    let play = || -> Result<(), MpiError> {
        let (out, out_from) = of_all(subject.datatypes(world.library(), End::Source)?, &from)?;
        let (into, into_from) = of_all(subject.datatypes(world.library(), End::Target)?, &there)?;
        // SAFETY: the only thread; the datatypes select of the arrays that were allocated for them, or of each at its address, and nobody
        // touches these meanwhile.
        let send = || unsafe { world.send_one(out_from, &out, other, TAG) };
        // SAFETY: as above; the addresses are of exclusive pointers.
        let receive = || unsafe { world.recv_one(into_from.cast_mut(), &into, other, TAG) };
        let rounds = batches.operations / 2;
        if world.rank() == 0 {
            let mut result = Ok(());
            batches.run(|_| {
                let began = Instant::now();
                result = (0..rounds).try_for_each(|_| send().and_then(|()| receive()));
                began.elapsed()
            });
            result
        } else {
            // The first batch is not counted.
            let all = rounds * u64::from(batches.count + 1);
            (0..all).try_for_each(|_| receive().and_then(|()| send()))
        }
    };
    play().map_err(io::Error::other)?;
    for (array, target) in arrays.iter().zip(&targets) {
        if *target != array.landed() {
            return Err(io::Error::other("what landed is not what was sent"));
        }
    }
    Ok(())
}

/// The datatype of all arrays, and the address from which its places count: of one array itself, of several a struct of addresses.
fn of_all(mut each: Vec<Placed>, arrays: &[*const u8]) -> Result<(Committed, *const u8), MpiError> {
    if each.len() == 1 {
        let Placed { datatype, start } = each.remove(0);
        return Ok((datatype.commit()?, arrays[0].wrapping_add(start)));
    }
    let place =
        |(placed, array): (&'_ Placed, &*const u8)| (array.expose_provenance() + placed.start) as isize;
    let places: Vec<_> = each.iter().zip(arrays).map(|pair| (1, place(pair), &pair.0.datatype)).collect();
    Ok((Datatype::structure(&places)?.commit()?, std::ptr::null()))
}
