//! Providers of libfabric that this machine has.

use chare_lrts::ofi;

/// Those of `wanted` that are here; a line says what is skipped where there is no libfabric at all.
pub fn providers(wanted: &[&'static str], what: &str) -> Vec<&'static str> {
    let here = ofi::providers().unwrap_or_else(|why| {
        println!("skipped: {what} over libfabric: {why}");
        Vec::new()
    });
    wanted.iter().copied().filter(|one| here.iter().any(|name| name == one)).collect()
}
