//! Readonly side: large data that all PEs need from the start: `side readonly BYTES WAY`. One sample: it happens once in a job.

use chare::Program;
use chare::prelude::*;
use chare_benches::tell;
use clap::{Parser, ValueEnum};
use std::process::ExitCode;
use std::time::Instant;

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// As a readonly value.
    Value,
    /// As an argument of the constructors.
    Argument,
}

#[derive(Parser)]
#[command(no_binary_name = true)]
struct Options {
    #[arg(value_parser = ["side"])]
    _side: String,
    _readonly: String,
    bytes: usize,
    #[arg(value_enum)]
    way: Way,
}

struct Reader;

#[chare(group)]
impl Reader {
    #[entry]
    fn new(argument: Option<Buffer<u8>>, bytes: usize, done: Callback<()>) -> Self {
        let len = argument.map_or_else(|| chare::readonly::<Buffer<u8>>().len(), |argument| argument.len());
        assert_eq!(len, bytes);
        Self.contribute(barrier(), done);
        Self
    }
}

/// Tells the time from `main` until all members have the data.
pub(crate) fn measure() -> ExitCode {
    let program = match Program::from_environment() {
        Ok(program) => program,
        Err(code) => return code,
    };
    let Options { way, bytes, .. } = Options::parse_from(program.arguments());
    program.run(move |_| async move {
        let data: Buffer<u8> = vec![7; bytes].into();
        let begun = Instant::now();
        let argument = match way {
            Way::Value => {
                chare::set_readonly(data);
                None
            }
            Way::Argument => Some(data),
        };
        let (all_have_it, done) = chare::future();
        ReaderProxy::create(argument, bytes, done);
        all_have_it.await;
        tell(begun.elapsed().as_nanos() as f64);
        chare::exit(0);
    })
}
