//! Buffers of devices between nodes: the same transfers with each kind of device, by two processes at least; every element is where it
//! belongs, and every sender was told.

use crate::runner::{Check, Outcome};
use chare_device::{Cuda, DeviceError};
use chare_tests::Program;

/// Where the nodes are, and how they are told.
const LAYOUTS: [(&str, &str); 4] = [
    ("between_processes_of_a_host", "+n 2"),
    ("without_copies_by_the_kernel", "+n 2 +nocma"),
    ("between_hosts", "+n 2 +nolocal"),
    ("between_pes_of_three_processes", "+n 3 +p 2"),
];

/// The checks of both kinds.
pub(crate) fn checks() -> Vec<Check> {
    let kinds = ["software", "cuda"].into_iter();
    let all = kinds.flat_map(|kind| LAYOUTS.map(|(name, layout)| (kind, name, layout)));
    all.map(|(kind, name, layout)| Check::new(format!("device::{kind}::{name}"), move || run(kind, layout)))
        .collect()
}

fn run(kind: &str, layout: &str) -> Outcome {
    if kind == "cuda"
        && let Err(why @ DeviceError::NoDevice { .. }) = Cuda::count()
    {
        return Outcome::Skipped(why.to_string());
    }
    let program = Program::binary(env!("CARGO_BIN_EXE_on_devices"));
    let said = program.pass(&format!("{layout} +device {kind}"));
    let last = said.lines().last().unwrap_or_default();
    let (came, all) = last.split_once(" of ").expect("it says how many buffers came");
    assert!(all.starts_with(&format!("{came} buffers")), "{said}");
    Outcome::Passed
}
