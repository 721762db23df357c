//! Random nests of layouts, compared with the datatypes of an MPI: `nests LIBRARY SEED LAST`, under the launcher of that MPI.
//!
//! 1. A nest is drawn (`oracle`, which the tests of `chare-layout` have, too) and made both by `chare-layout` and by MPI.
//! 2. Every part of it must have MPI's size, bounds and true bounds (`translated`). Where it has not, a fault of that MPI may be
//!    the reason, which has a name and covers one constructor (`faults`); the nest is left out and counted by that name then.
//! 3. The bytes packed and unpacked must be MPI's (`translated`); what is known to be a fault is left out in the same way.
//!
//! A nest that differs is made smaller as long as it differs, and printed so that it can be built by hand. The file `LAST` has the
//! nest that is being compared: an MPI may crash.

#![expect(unsafe_code, reason = "calls MPI as a C program would")]

mod faults;
#[path = "../../../layout/tests/oracle/mod.rs"]
mod oracle;
mod parts;
mod translated;

use chare_mpi_sys::{Datatype, Library, Threads};
use oracle::{Type, types};
use parts::Stop;
use proptest::test_runner::{Config, RngSeed, TestCaseError, TestError, TestRunner};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::process::ExitCode;

/// Nests to be compared; those left out are not among them.
const NESTS: u32 = 10_000;

/// What was done, so far.
#[derive(Default)]
struct Counts {
    /// Of more than three pieces of memory.
    rich: Cell<u32>,
    unpacked: Cell<u32>,
    /// By reason.
    left_out: RefCell<BTreeMap<&'static str, u32>>,
}

impl Counts {
    fn leave_out(&self, why: &'static str) -> TestCaseError {
        *self.left_out.borrow_mut().entry(why).or_default() += 1;
        TestCaseError::reject(why)
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, file, seed, last] = &arguments[..] else { panic!("nests LIBRARY SEED LAST") };
    let seed: u64 = seed.parse().expect("a seed is a number");
    let last = File::create(last).unwrap_or_else(|why| panic!("{last}: {why}"));
    let library = Library::load(&[file]).unwrap_or_else(|why| panic!("{why}"));
    // SAFETY: nobody else has initialised it; there are no other threads.
    unsafe { library.init(Threads::Single) }.expect("MPI starts");
    let code = check(library, seed, &last);
    // SAFETY: this thread initialised it, and all datatypes are gone.
    unsafe { library.finalize() }.expect("MPI ends");
    code
}

/// Compares as many nests as it must, and says what came out.
fn check(library: &'static Library, seed: u64, last: &File) -> ExitCode {
    // SAFETY: MPI is initialised by this thread, which is the only one, and ended after this function.
    let byte = unsafe { Datatype::bytes(library, 1) }.expect("MPI knows bytes");
    let counts = Counts::default();
    let config = Config {
        cases: NESTS,
        max_global_rejects: NESTS,
        rng_seed: RngSeed::Fixed(seed),
        failure_persistence: None,
        ..Config::default()
    };
    let compared = TestRunner::new(config).run(&types(), |of| {
        last.set_len(0).and_then(|()| last.write_all_at(format!("{of:?}").as_bytes(), 0))?;
        compare(library, &byte, &of, &counts)
    });
    let name = library.version();
    match compared {
        Ok(()) => {
            println!(
                "{name} agrees on {NESTS} nests of seed {seed}; {} have more than three pieces, {} were unpacked, too",
                counts.rich.get(),
                counts.unpacked.get()
            );
            for (why, count) in counts.left_out.take() {
                println!("{name}: {count} more left out: {why}");
            }
            ExitCode::SUCCESS
        }
        Err(TestError::Fail(how, of)) => {
            eprintln!("{name} differs, seed {seed}: {how}\nthe nest: {of:?}");
            ExitCode::FAILURE
        }
        Err(TestError::Abort(why)) => {
            eprintln!("{name}, seed {seed}: {why}; left out: {:?}", counts.left_out.take());
            ExitCode::FAILURE
        }
    }
}

fn compare(
    library: &'static Library,
    byte: &Datatype,
    of: &Type,
    counts: &Counts,
) -> Result<(), TestCaseError> {
    let Some(map) = of.map() else { return Err(counts.leave_out("it has too many bytes for a test")) };
    let abi = library.abi();
    let compared = translated::translate(abi, byte, of).and_then(|datatype| {
        let compared = translated::compare(datatype, &parts::raw(of), map.is_injective());
        compared.map_err(|how| Stop::at(faults::stream(abi, of), how))
    });
    compared.map_err(|stop| match stop {
        Stop::Excused(why) => counts.leave_out(why),
        Stop::Differs(how) => TestCaseError::fail(how),
    })?;
    counts.rich.update(|rich| rich + u32::from(map.runs().len() > 3));
    counts.unpacked.update(|unpacked| unpacked + u32::from(map.is_injective()));
    Ok(())
}
