//! Seats of a job: how many PEs `+p auto` makes of the processors that a process was given, where they are pinned, and where nodes listen.

use crate::{probe, run};
use chare_tests::{Seat, own_processors};
use std::fs;
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::Command;

/// The probe, bound to these processors.
fn bound(processors: &[usize], arguments: &str) -> Vec<Seat> {
    let list = processors.iter().map(usize::to_string).collect::<Vec<_>>().join(",");
    let mut command = Command::new("taskset");
    command.args(["-c", &list, env!("CARGO_BIN_EXE_probe"), "seats"]).args(arguments.split_whitespace());
    Seat::all(&run(command))
}

#[test]
fn auto_makes_a_pe_for_each_processor_of_the_binding_and_pins_it_there() {
    let all = own_processors();
    for given in [&all[..], &all[all.len() - 1..]] {
        let seats = bound(given, "+p auto");
        let taken: Vec<usize> = seats.iter().flat_map(|seat| seat.processors.clone()).collect();
        assert_eq!(taken, given, "{seats:?}");
    }
}

#[test]
fn nodes_of_a_host_divide_what_they_were_all_given() {
    let all = own_processors();
    let seats = bound(&all, "+n 2 +p auto");
    let each = (all.len() / 2).max(1);
    assert_eq!(seats.len(), 2 * each, "{seats:?}");
    if seats.len() <= all.len() {
        let taken: Vec<usize> = seats.iter().flat_map(|seat| seat.processors.clone()).collect();
        assert_eq!(taken, all[..seats.len()], "{seats:?}");
    }
    let crowded = bound(&all[..1], "+n 2 +p auto");
    assert!(crowded.len() == 2 && crowded.iter().all(|seat| seat.processors == all[..1]), "{crowded:?}");
}

#[test]
fn a_list_is_refused_only_where_it_leads_outside_of_the_binding() {
    let all = own_processors();
    let last = *all.last().expect("one, at least");
    assert_eq!(bound(&[last], &format!("+pemap {last}"))[0].processors, [last]);
    let outcome = run(probe(&format!("seats +pemap {}", last + 1)));
    assert!(outcome.complaint().contains(&format!("names processor {}", last + 1)), "{outcome:?}");
}

/// A control group with a quota of processor time, gone with the value.
struct Group(PathBuf);

impl Group {
    /// One whose processes have the time of one processor.
    fn of_one_processor() -> Result<Self, String> {
        let name = format!("chare-seats-{}", std::process::id());
        let root = PathBuf::from("/sys/fs/cgroup");
        let version_1 = root.join("cpu/cpu.cfs_quota_us").exists();
        let group = Self(if version_1 { root.join("cpu").join(name) } else { root.join(name) });
        fs::create_dir(&group.0).map_err(|error| format!("{}: {error}", group.0.display()))?;
        let (file, quota) =
            if version_1 { ("cpu.cfs_quota_us", "100000") } else { ("cpu.max", "100000 100000") };
        fs::write(group.0.join(file), quota).map_err(|error| format!("{file}: {error}"))?;
        Ok(group)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // It is empty, since all that ran in it has ended; one left over harms nobody.
        let _ = fs::remove_dir(&self.0);
    }
}

#[test]
fn a_quota_counts_like_processors_and_pins_nobody() {
    let all = own_processors();
    let group = match Group::of_one_processor() {
        Ok(group) if all.len() > 1 => group,
        Ok(_) => return println!("skipped: a quota of one processor on a machine that has more"),
        Err(why) => return println!("skipped: a quota of processor time: {why}"),
    };
    for options in ["", "+n 2"] {
        let script = format!(
            "echo $$ > {}/cgroup.procs && exec {} seats +p auto {options}",
            group.0.display(),
            env!("CARGO_BIN_EXE_probe")
        );
        let mut command = Command::new("sh");
        command.args(["-c", &script]);
        let seats = Seat::all(&run(command));
        let nodes = if options.is_empty() { 1 } else { 2 };
        assert!(seats.len() == nodes && seats.iter().all(|seat| seat.processors == all), "{seats:?}");
    }
}

#[test]
fn nodes_listen_where_they_are_told() {
    // Both of a pair agree on one end: the lower node listens.
    for options in ["+interface lo +ports 20000-29999", "+interface 127.0.0.1 +ports 20000-29999"] {
        let outcome = run(probe(&format!("lend +n 3 +lrts tcp {options}")));
        assert_eq!(outcome.code, Some(0), "{options}: {outcome:?}");
    }
}

#[test]
fn a_range_of_ports_that_is_used_up_is_told() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = taken.local_addr().expect("it is bound").port();
    let outcome = run(probe(&format!("lend +n 2 +lrts tcp +ports {port}")));
    assert_ne!(outcome.code, Some(0), "{outcome:?}");
    let said = format!("`+ports {port}-{port}`: none of them is free on 127.0.0.1");
    assert!(outcome.complaint().contains(&said), "{outcome:?}");
}
