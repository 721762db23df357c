//! Fuzz targets: code that reads hostile bytes, and the rules that hold whatever they are: no panic, no memory beyond what the
//! bytes justify, nothing touched that was not registered.
//!
//! 1. A [`Target`] takes any bytes; a broken rule panics.
//! 2. Its seeds are messages of honest nodes, made afresh by this build; `corpus/NAME.inputs` adds what fuzzing found ([`corpus`]).
//! 3. `cargo test -p chare-fuzz` replays seeds and corpora and writes every interesting number at every place of every seed
//!    ([`lengths`]), where a whole program runs one in so many of them, and with `-- --ignored` those, too; `cargo xtask fuzz` lets libFuzzer
//!    search for more, and `cargo xtask fuzz --pack` keeps what it finds.

pub mod corpus;
pub mod lengths;

mod emulated;
mod envelope;
mod frame;
mod handle;
mod handshake;
mod layout;
mod options;

pub use chare::fuzzing::is_guarded;
use envelope::Program;

/// A place where the project reads bytes of others.
#[derive(Clone, Copy)]
pub struct Target {
    /// As in `cargo xtask fuzz NAME` and `corpus/NAME.inputs`.
    pub name: &'static str,
    /// Takes any bytes.
    pub run: fn(&[u8]),
    /// The messages of honest nodes there.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

/// All of them.
pub const TARGETS: [Target; 9] = [
    Target {
        name: "envelope",
        run: |bytes| drop(Program::Envelope.run(bytes)),
        seeds: || Program::Envelope.seeds(),
    },
    Target {
        name: "buffers",
        run: |bytes| drop(Program::Buffers.run(bytes)),
        seeds: || Program::Buffers.seeds(),
    },
    Target { name: "moves", run: |bytes| drop(Program::Moves.run(bytes)), seeds: || Program::Moves.seeds() },
    Target { name: "frame", run: frame::run, seeds: frame::seeds },
    Target { name: "emulated", run: emulated::run, seeds: emulated::seeds },
    Target { name: "handshake", run: handshake::run, seeds: handshake::seeds },
    Target { name: "handle", run: handle::run, seeds: handle::seeds },
    Target { name: "layout", run: layout::run, seeds: layout::seeds },
    Target { name: "options", run: options::run, seeds: options::seeds },
];

/// The words in which a node whose elements move refuses a message, if it does.
pub fn refusal_of_move(bytes: &[u8]) -> Option<String> {
    Program::Moves.run(bytes)
}

/// The target of this name.
///
/// # Panics
/// If there is none.
pub fn target(name: &str) -> Target {
    let found = TARGETS.into_iter().find(|target| target.name == name);
    found.unwrap_or_else(|| panic!("there is no target `{name}`"))
}
