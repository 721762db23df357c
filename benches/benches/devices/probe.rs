//! Probe: what the device and its machine are, and what they let two processes do.

use crate::bed::{Bed, Fallible, Kind};
use crate::peer::Peer;
use std::fs;

/// Says all of it.
pub(crate) fn describe(bed: &Bed) -> Fallible {
    let info = bed.device.info();
    println!("device: {info}, {}", info.uuid);
    println!("of its kind: {}; engines that copy: {}", count(bed.kind)?, info.copy_engines);
    println!("memory for blocks: {} MiB; pinned: {} MiB", info.memory_bytes >> 20, info.pinned_bytes >> 20);
    println!("driver: {}", driver(bed.kind)?);
    println!(
        "MPS, by which processes share a device at a time: {}",
        if mps_runs() { "runs" } else { "does not run" }
    );
    let scope = fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope");
    println!("ptrace scope: {}", scope.as_deref().map_or("none (no Yama)", str::trim));
    println!("memory of another process, by pidfd_getfd: {}", Peer::start(bed.kind)?.look(bed)?);
    let rang = bed.time(1, || Ok(()))?;
    println!("a stream that has nothing to do rings after {rang} ns");
    Ok(())
}

fn count(kind: Kind) -> Fallible<u32> {
    Ok(match kind {
        Kind::Software => 1,
        #[cfg(feature = "cuda")]
        Kind::Cuda => chare_device::Cuda::count()?,
    })
}

fn driver(kind: Kind) -> Fallible<String> {
    Ok(match kind {
        Kind::Software => "none, threads of the host".to_owned(),
        #[cfg(feature = "cuda")]
        Kind::Cuda => {
            let version = crate::grid::driver_version()?;
            let kernel = fs::read_to_string("/proc/driver/nvidia/version").unwrap_or_default();
            let kernel =
                kernel.lines().next().unwrap_or("its kernel module says no version").trim().to_owned();
            format!("CUDA {}.{}; {kernel}", version / 1000, version % 1000 / 10)
        }
    })
}

/// Whether a process of that name runs here.
fn mps_runs() -> bool {
    let processes = fs::read_dir("/proc").into_iter().flatten().filter_map(Result::ok);
    processes
        .filter_map(|process| fs::read_to_string(process.path().join("comm")).ok())
        .any(|name| name.starts_with("nvidia-cuda-mps"))
}
