//! Device buffers over networks: every transfer over libfabric, over RDMA devices and over each MPI, as far as they are here.

#[cfg(feature = "ofi")]
#[test]
fn buffers_travel_over_libfabric() {
    for provider in chare_tests::providers(&["tcp;ofi_rxm", "net", "shm"], "device buffers") {
        // The network reads registered memory of the devices, or chunks of the host's.
        for way in ["+device software", "--staged"] {
            crate::travelling::pass(&format!("+n 2 +lrts ofi +ofi {provider} {way}"));
        }
    }
    for provider in chare_tests::providers(&["tcp;ofi_rxm"], "crowds of device buffers") {
        let layout = format!("+n 3 +lrts ofi +ofi {provider}");
        for way in ["", "--staged"] {
            crate::travelling::on_devices().pass(&format!("{layout} crowd --pinned 2097152 {way}"));
        }
    }
}

#[cfg(feature = "ofi")]
#[test]
fn direct_transfers_meet_faults_and_ends_over_libfabric() {
    for provider in chare_tests::providers(&["tcp;ofi_rxm"], "ends of jobs with device buffers") {
        let path = format!("+lrts ofi +ofi {provider}");
        let faults = "+fault refuse=5,delay=200,seed=1";
        crate::travelling::pass(&format!("+n 2 {path} {faults} --devices-only +device software"));
        crate::travelling::end_by_a_kill(&path);
        crate::travelling::end_by_a_lost_device(&path);
    }
}

/// `CHARE_TEST_CABLE` names two devices on the two ends of a cable; `cargo xtask vm` has them.
#[cfg(feature = "verbs")]
#[test]
fn buffers_travel_over_verbs() {
    match chare_lrts::verbs::devices() {
        Ok(devices) if !devices.is_empty() => {}
        Ok(_) => return println!("skipped: device buffers over verbs: no RDMA device"),
        Err(why) => return println!("skipped: device buffers over verbs: {why}"),
    }
    let cable =
        std::env::var("CHARE_TEST_CABLE").map_or_else(|_| String::new(), |cable| format!("+verbs {cable}"));
    // A guest whose processor is emulated takes its time.
    let program = crate::travelling::on_devices().within(std::time::Duration::from_secs(600));
    // The network reads registered memory of the devices; chunks of the host's have tests of their own on every machine, and here carry crowds.
    program.pass(&format!("+n 2 +lrts verbs {cable} +device software"));
    program.pass(&format!("+n 3 +lrts verbs {cable} crowd --pinned 2097152 --staged"));
}

#[cfg(feature = "mpi")]
#[test]
fn buffers_travel_over_mpi() {
    let program = crate::travelling::on_devices();
    for launcher in chare_tests::Launcher::of_mpi() {
        for (processes, arguments) in [(2, "+device software"), (3, "crowd --pinned 2097152")] {
            let command = format!("{} +lrts mpi {arguments}", program.path().display());
            let outcome = launcher.run(processes, &command);
            assert_eq!(outcome.code, Some(0), "{launcher} {command}: {outcome:?}");
        }
    }
}
