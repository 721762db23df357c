//! Parts of a run in order of worth: what the machine is, whether devices do what they promise, and what they take; and their programs: what
//! they are called in the folder, and where that lies.

use super::part::{Keeps, Part};
use super::rows;
use crate::step::target_directory;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Parts of the benchmark that have figures.
const MEASURED: [&str; 8] = ["pack", "unpack", "step", "pipeline", "halo", "overlap", "stage", "unstage"];

/// How the processes of jobs lie, and what their parts are called.
const PING_PONGS: [(&str, &str); 2] =
    [("pingpong_one_process", "--path memcpy +p 2"), ("pingpong_two_processes", "+n 2")];
const STENCILS: [(&str, &str); 2] = [("stencil_one_process", "+p 4"), ("stencil_two_processes", "+n 2 +p 2")];
const HALOS: [(&str, &str); 2] = [("halo_one_process", "+p 2"), ("halo_two_processes", "+n 2")];
const KERNELS: [(&str, &str); 2] = [("ddtbench_one_process", "+p 2"), ("ddtbench_two_processes", "+n 2")];
const OBJECTS: [(&str, &str); 2] = [("objects_one_process", "+p 2"), ("objects_two_processes", "+n 2")];

/// All parts, for a kind of device, of the programs in a folder; `quick` has few lengths and samples.
pub(super) fn all(folder: &Path, kind: &str, quick: bool) -> Vec<Part> {
    let program = |name: &str, arguments: &str| {
        let mut command = Command::new(folder.join(name));
        command.args(arguments.split_whitespace());
        command
    };
    let words = |name, command| Part { name, command, keeps: Keeps::Words };
    let brief = if quick { "--quick" } else { "" };
    let mut parts = Vec::new();
    if smi_is_here() {
        let mut smi = Command::new("nvidia-smi");
        smi.arg("-q");
        parts.push(words("nvidia-smi", smi));
    }
    parts.push(words("probe", program(DEVICES, &format!("--device {kind} probe"))));
    // Only those of this kind; those that start processes start this program.
    parts.push(words(CONFORMANCE, program(CONFORMANCE, &format!("{kind}::"))));
    parts.push(words(BETWEEN_NODES, program(BETWEEN_NODES, &format!("device::{kind}"))));
    parts.push(words(IN_CHARES, program(IN_CHARES, "--show-output")));
    let handover = program(DEVICES, &format!("--device {kind} {brief} handover"));
    parts.push(Part { name: "handover", command: handover, keeps: Keeps::Figures });
    // What all tiles, and all players, stage at first fits the pinned memory of one process.
    for (name, layout) in STENCILS {
        let size = if quick { "--size 256 256 --steps 10" } else { "--size 4096 1024 --steps 200" };
        let command = program(STENCIL, &format!("{size} --compare {layout} +device {kind}"));
        parts.push(Part { name, command, keeps: Keeps::Said(rows::of_exchanges) });
    }
    for (name, layout) in PING_PONGS {
        let sizes = if quick { "--min 32 --max 64KiB --iterations 20" } else { "--min 32 --max 8MiB" };
        let command = program(PING_PONG, &format!("--memory device --csv {sizes} {layout} +device {kind}"));
        parts.push(Part { name, command, keeps: Keeps::Said(rows::of_ping_pong) });
    }
    for (name, layout) in HALOS {
        let size = if quick { "--side 16 --exchanges 4" } else { "--side 256 --exchanges 20" };
        let command =
            program(HALO, &format!("--memory device {size} --blocks 2 1 1 {layout} +device {kind}"));
        parts.push(Part { name, command, keeps: Keeps::Said(rows::of_exchanges) });
    }
    for (name, layout) in KERNELS {
        let some = if quick { "--kernel MILC_su3_zd --repeats 5" } else { "--repeats 50" };
        let command = program(DDTBENCH, &format!("--memory device --verify {some} {layout} +device {kind}"));
        parts.push(Part { name, command, keeps: Keeps::Said(rows::of_kernels) });
    }
    for (name, layout) in OBJECTS {
        let some = if quick { "--kernel object_1KiB --repeats 5" } else { "--repeats 100" };
        let some = format!("--size objects --memory device --verify {some} {layout} +device {kind}");
        parts.push(Part { name, command: program(DDTBENCH, &some), keeps: Keeps::Said(rows::of_kernels) });
    }
    parts.extend(MEASURED.map(|name| {
        let command = program(DEVICES, &format!("--device {kind} {brief} {name}"));
        Part { name, command, keeps: Keeps::Figures }
    }));
    parts
}

fn smi_is_here() -> bool {
    Command::new("nvidia-smi").arg("-L").output().is_ok_and(|listed| listed.status.success())
}

/// The programs of the folder: the suite of devices, that of devices between nodes, the tests of devices in chares, the benchmark, and four
/// examples.
pub(super) const CONFORMANCE: &str = "conformance";
pub(super) const BETWEEN_NODES: &str = "between_nodes";
pub(super) const IN_CHARES: &str = "in_chares";
pub(super) const DEVICES: &str = "devices";
pub(super) const STENCIL: &str = "stencil2d";
pub(super) const PING_PONG: &str = "pingpong";
pub(super) const HALO: &str = "halo";
pub(super) const DDTBENCH: &str = "ddtbench";

/// Where what was gathered lies: beside this program, if it was gathered, too.
pub(super) fn folder() -> PathBuf {
    let here = std::env::current_exe().ok().and_then(|program| Some(program.parent()?.to_owned()));
    let has =
        |here: &Path, name: &str| here.join(name).is_file() || here.join(name).with_extension("gz").is_file();
    let gathered = here.filter(|here| has(here, DEVICES) && has(here, CONFORMANCE));
    gathered.unwrap_or_else(|| target_directory().join("device"))
}
