//! Programs of the folder: what they are called there, and where it lies.

use crate::step::target_directory;
use std::path::PathBuf;

/// The programs of the folder: the suite of devices, that of devices between nodes, the tests of devices in chares, the benchmark, and two
/// examples.
pub(super) const CONFORMANCE: &str = "conformance";
pub(super) const BETWEEN_NODES: &str = "between_nodes";
pub(super) const IN_CHARES: &str = "in_chares";
pub(super) const DEVICES: &str = "devices";
pub(super) const STENCIL: &str = "stencil2d";
pub(super) const PING_PONG: &str = "pingpong";

/// Where what was gathered lies: beside this program, if it was gathered, too.
pub(super) fn folder() -> PathBuf {
    let here = std::env::current_exe().ok().and_then(|program| Some(program.parent()?.to_owned()));
    let gathered = here.filter(|here| here.join(DEVICES).is_file() && here.join(CONFORMANCE).is_file());
    gathered.unwrap_or_else(|| target_directory().join("device"))
}
