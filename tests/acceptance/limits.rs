//! Limits of the machine: little memory, a full disk. The job ends in words before the kernel ends it without.

use crate::denial::is_root;
use crate::{deprived, run};
use chare_tests::Outcome;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The memory of a small batch job.
const MEMORY_BYTES: u64 = 250 << 20;

/// A control group with little memory; it goes with the value.
struct Group(PathBuf);

impl Group {
    /// Within the hierarchy that this kernel has: version 1 or version 2.
    fn new() -> std::io::Result<Self> {
        let name = format!("chare-test-{}", std::process::id());
        let is_version_1 = Path::new("/sys/fs/cgroup/memory/memory.limit_in_bytes").exists();
        let (root, file) = match is_version_1 {
            true => ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"),
            false => ("/sys/fs/cgroup", "memory.max"),
        };
        let outer = Self(Path::new(root).join(name));
        std::fs::create_dir(&outer.0)?;
        if !is_version_1 {
            std::fs::write(outer.0.join("cgroup.subtree_control"), "+memory")?;
        }
        std::fs::write(outer.0.join(file), MEMORY_BYTES.to_string())?;
        // As a batch system does: the limit is the job's, and the processes are in a step of it.
        std::fs::create_dir(outer.0.join("step"))?;
        Ok(outer)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir(self.0.join("step"));
        let _ = std::fs::remove_dir(&self.0);
    }
}

/// Starts `pressed` within a group.
fn run_within(group: &Group, arguments: &str) -> Outcome {
    let (procs, program) = (group.0.join("step/cgroup.procs"), env!("CARGO_BIN_EXE_pressed"));
    let mut command = Command::new("sh");
    command.args(["-c", &format!("echo $$ >{} && exec {program} {arguments}", procs.display())]);
    run(command)
}

#[test]
fn a_batch_jobs_memory_is_what_counts() {
    let group = match Group::new() {
        Ok(group) => group,
        Err(cause) => return eprintln!("skipped: no control group can be made here: {cause}"),
    };
    for options in ["+n 2", "+n 2 +nolocal"] {
        let outcome = run_within(&group, &format!("hoard {options}"));
        assert_eq!(outcome.code, Some(1), "{options}: {outcome:?}");
        // A quarter for the two of them.
        let limit = format!("the {} bytes", MEMORY_BYTES / 4 / 2);
        for words in [&limit, "are used up", "by messages that other nodes have no room for"] {
            assert!(outcome.complaint().contains(words), "{options}: {outcome:?}");
        }
    }
    // The window of credit has room for as many lent bytes as the job has memory.
    for options in ["+n 2", "+n 2 +nolocal"] {
        let outcome = run_within(&group, &format!("lend {options}"));
        assert_eq!(outcome.code, Some(1), "{options}: {outcome:?}");
        assert!(outcome.complaint().contains("bytes of memory left"), "{options}: {outcome:?}");
    }
}

/// A batch system that limits addresses (Grid Engine's `h_vmem`) limits them for each process.
#[test]
fn a_limit_of_addresses_is_what_counts() {
    const KILOBYTES: u64 = 1 << 20;
    let limited = |arguments: &str| {
        let mut command = Command::new("sh");
        let program = env!("CARGO_BIN_EXE_pressed");
        command.args(["-c", &format!("ulimit -v {KILOBYTES} && exec {program} {arguments}")]);
        run(command)
    };
    for options in ["+n 2", "+n 2 +nolocal"] {
        let outcome = limited(&format!("hoard {options}"));
        assert_eq!(outcome.code, Some(1), "{options}: {outcome:?}");
        let limit = format!("the {} bytes", KILOBYTES * 1024 / 4);
        for words in [&limit, "are used up", "by messages that other nodes have no room for"] {
            assert!(outcome.complaint().contains(words), "{options}: {outcome:?}");
        }
        let outcome = limited(&format!("lend {options}"));
        assert_eq!(outcome.code, Some(1), "{options}: {outcome:?}");
        assert!(outcome.complaint().contains("bytes of addresses left"), "{options}: {outcome:?}");
    }
    let outcome = run(deprived("ulimit -v 300000", "handover +p 64"));
    assert_eq!(outcome.code, Some(2), "{outcome:?}");
    assert!(outcome.complaint().contains("64 PEs begin with 301989888: raise the limit"), "{outcome:?}");
}

#[test]
fn a_trace_that_finds_no_room_ends_the_job_in_words() {
    if !is_root() {
        return;
    }
    let place = tempfile::tempdir().expect("a temporary folder");
    let (place, program) = (place.path().display(), env!("CARGO_BIN_EXE_pressed"));
    let mut command = Command::new("unshare");
    let disk = format!("mount -t tmpfs -o size=64k none {place}");
    let job = format!("{program} answer 1000 +n 2 +nolocal +trace {place}/trace");
    command.args(["-m", "sh", "-c", &format!("{disk} && exec {job}")]);
    let outcome = run(command);
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    let complaint = outcome.complaint();
    assert!(
        complaint.contains("writing the trace's file") && complaint.contains("No space left"),
        "{complaint}"
    );
}
