//! Threads that drive a simulated job: each makes the nodes of its district and runs their world, and the ends of all are one.

use super::drawn::{Drawn, Shape};
use super::end::End;
use super::made;
use super::meeting::{BrokenUp, Meeting, Said};
use super::world::World;
use crate::job::life::{Main, NodeOptions};
use crate::pe::Pe;
use std::iter;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::thread::Builder;

/// Stack of a thread that drives nodes beside the one that runs the job: entries run there.
const STACK_BYTES: usize = 64 << 20;

/// Runs a simulated job.
///
/// # Panics
/// If the calling thread runs a PE.
pub(super) fn run(shape: &Shape, options: &NodeOptions, main: Main) -> End {
    assert!(
        Pe::try_current(|_| ()).is_none(),
        "a simulation runs its PEs on this thread, which runs a PE itself"
    );
    let drawn = Drawn::draw(shape);
    let ground = match made::lay(shape, &drawn, options) {
        Ok(ground) => ground,
        Err(error) => return End::at_once(Err(error)),
    };
    let threads = ground.wires.districts();
    let meeting = &Meeting::of(threads);
    let drive = &|district, main| {
        let _attendance = meeting.attend();
        let made = made::make(shape, &drawn, options, &ground, district);
        let is_made = Said { goes_on: made.is_ok(), ..Said::NOTHING };
        let are_made = meeting.meet(is_made).goes_on;
        match made {
            Ok(made) if are_made => World::new(shape, &drawn, options, &made, meeting).run(shape, main),
            made => End::at_once(made.map(|_| 0)),
        }
    };
    let ends = std::thread::scope(|scope| {
        let _attendance = meeting.attend();
        let start = |district| {
            let thread = Builder::new().name(format!("district {district}")).stack_size(STACK_BYTES);
            thread
                .spawn_scoped(scope, move || drive(district, None))
                .expect("the machine has room for a thread")
        };
        let others: Vec<_> = (1..threads).map(start).collect();
        let first = catch_unwind(AssertUnwindSafe(|| drive(0, Some(main))));
        let others = others.into_iter().map(|other| other.join());
        iter::once(first).chain(others).collect::<Vec<_>>()
    });
    let (ends, panics): (Vec<_>, Vec<_>) = ends.into_iter().partition(Result::is_ok);
    // Who had to go since another thread has panicked knows nothing of why.
    let cause = panics.into_iter().filter_map(Result::err).min_by_key(|panic| panic.is::<BrokenUp>());
    if let Some(panic) = cause {
        resume_unwind(panic)
    }
    let all = ends.into_iter().flatten().reduce(End::with);
    all.expect("there is a district").of_all(shape.pes)
}
