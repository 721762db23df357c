//! The conformance suite of the low-level runtime system: one set of checks, run unchanged against every backend.
//!
//! `cargo test -p chare-tests --test conformance [-- WORD...]` runs the checks whose name (`backend::check`)
//! contains every word. A check of something that the backend's capabilities deny is printed as `skipped: why` and
//! counted. After each check the number of open descriptors must be what it was before.

mod backends;
mod child;
mod claims;
#[cfg(feature = "cuda")]
mod device;
mod direct;
mod engine;
mod forged;
mod group;
mod hostile;
mod layouts;
mod lifetimes;
mod loopback;
mod messages;
#[cfg(feature = "mpi")]
mod mpi;
mod paths;
#[cfg(feature = "mpi")]
mod ranks;
mod refusals;
mod runner;
mod runs;
mod secret;
#[cfg(feature = "sim")]
mod simulated;
mod startup;
mod transfers;
mod unruly;

use group::Backend;
use runner::{Check, Outcome};
use std::process::ExitCode;

/// A check that runs against any backend.
type RunOn = fn(&dyn Backend) -> Outcome;

/// Every check of the trait, by the name it is reported under.
const CHECKS: &[(&str, RunOn)] = &[
    ("frames_of_every_size_arrive_whole", messages::frames_of_every_size_arrive_whole),
    ("a_frame_too_long_is_a_bug_of_the_caller", messages::a_frame_too_long_is_a_bug_of_the_caller),
    ("many_to_one", messages::many_to_one),
    ("both_directions_at_once", messages::both_directions_at_once),
    (
        "frames_of_a_transfer_keep_the_order_of_all_threads",
        messages::frames_of_a_transfer_keep_the_order_of_all_threads,
    ),
    ("a_refused_frame_leaves_no_trace", messages::a_refused_frame_leaves_no_trace),
    ("get_and_put_of_every_size", transfers::get_and_put_of_every_size),
    ("a_few_bytes_across_the_end_of_a_page", transfers::a_few_bytes_across_the_end_of_a_page),
    ("a_get_leaves_the_rest_of_its_memory_alone", transfers::a_get_leaves_the_rest_of_its_memory_alone),
    ("a_get_into_too_little_memory_fails", refusals::a_get_into_too_little_memory_fails),
    ("ranges_outside_fail", refusals::ranges_outside_fail),
    ("stale_and_forged_keys_fail", refusals::stale_and_forged_keys_fail),
    ("forged_handles_reach_nothing", forged::forged_handles_reach_nothing),
    ("a_source_cannot_be_written", refusals::a_source_cannot_be_written),
    ("a_claimed_region_makes_operations_wait", claims::a_claimed_region_makes_operations_wait),
    ("a_node_sleeps_while_a_claim_is_in_the_way", claims::a_node_sleeps_while_a_claim_is_in_the_way),
    ("memory_comes_back_after_the_last_operation", claims::memory_comes_back_after_the_last_operation),
    ("many_operations_at_many_peers", transfers::many_operations_at_many_peers),
    ("many_threads_at_one_peer", transfers::many_threads_at_one_peer),
    ("a_view_shows_the_peers_own_bytes", transfers::a_view_shows_the_peers_own_bytes),
    ("transfers_within_a_node", transfers::transfers_within_a_node),
    ("runs_of_layouts_land_each_in_its_place", runs::runs_of_layouts_land_each_in_its_place),
    ("runs_of_layouts_outside_fail", runs::runs_of_layouts_outside_fail),
    ("memory_of_devices_goes_by_networks_alone", direct::memory_of_devices_goes_by_networks_alone),
    ("goodbye_with_traffic_in_flight", lifetimes::goodbye_with_traffic_in_flight),
    ("a_sleeper_wakes", lifetimes::a_sleeper_wakes),
    ("a_dropped_endpoint_is_lost", lifetimes::a_dropped_endpoint_is_lost),
    ("a_killed_process_is_lost", lifetimes::a_killed_process_is_lost),
];

fn main() -> ExitCode {
    if let Some(code) = child::play_role() {
        return code;
    }
    #[cfg(feature = "mpi")]
    if let Some(code) = mpi::play_role() {
        return code;
    }
    // The connection manager's library keeps devices open: before descriptors are counted, not after.
    #[cfg(feature = "verbs")]
    drop(chare_lrts::verbs::devices());
    // So does the driver of CUDA devices.
    #[cfg(feature = "cuda")]
    drop(chare_device::Cuda::count());
    let mut checks = Vec::new();
    #[cfg(feature = "mpi")]
    let backends = [mpi::backends(), backends::all()].concat();
    #[cfg(not(feature = "mpi"))]
    let backends = backends::all();
    for backend in backends {
        for (name, run) in CHECKS {
            let backend = backend.clone();
            checks.push(Check::new(format!("{}::{name}", backend.name()), move || run(&*backend)));
        }
    }
    checks.extend(hostile::checks());
    checks.extend(startup::checks());
    checks.extend(paths::checks());
    checks.extend(direct::checks());
    checks.extend(engine::checks());
    checks.extend(secret::checks());
    checks.extend(layouts::checks());
    #[cfg(feature = "cuda")]
    checks.extend(device::checks());
    #[cfg(feature = "mpi")]
    checks.extend(mpi::checks());
    let code = runner::run(checks);
    #[cfg(feature = "mpi")]
    mpi::end();
    code
}
