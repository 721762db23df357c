//! Bad input and bad surroundings: one clear line, or the job works all the same.

use crate::{deprived, probe, run};
use std::process::Command;

/// Whatever finds that an option is wrong, and whenever: nothing has run, and the code says so.
fn refused(arguments: &str, clues: &[&str]) {
    let outcome = run(probe(arguments));
    assert_eq!((outcome.code, &*outcome.stdout), (Some(2), ""), "`{arguments}`: {outcome:?}");
    let message = outcome.complaint();
    for clue in clues {
        assert!(message.contains(clue), "`{arguments}` mentions `{clue}`: {message}");
    }
}

#[test]
fn wrong_options_are_answered_with_the_right_ones() {
    refused("handover +stat", &["+stat", "+stats"]);
    refused("handover +nodes 2", &["+nodes"]);
    refused("handover +n 0", &["0"]);
    refused("handover +p 0", &["0"]);
    refused("handover +p 1000000", &["1000000"]);
    refused("handover +n", &["+n"]);
    refused("handover +lrts carrier-pigeon", &["carrier-pigeon", "shm", "tcp"]);
    refused("handover +pemap 9999", &["9999"]);
    refused("handover +interface nowhere0", &["`+interface nowhere0`", "it has lo (127.0.0.1)"]);
    refused(
        "handover +n 2 +interface 240.0.0.0/8",
        &["`+interface 240.0.0.0/8`", "no address in this network"],
    );
    refused("handover +n 2 +lrts memcpy", &["memcpy"]);
    refused("handover +n 2 +lrts shm +nolocal", &["+nolocal"]);
    refused("handover +n 2 +encrypt +clear", &["`+encrypt` and `+clear` exclude each other"]);
    refused("handover +n 2 +tags +clear", &["`+tags` and `+clear` exclude each other"]);
    refused(
        "handover +n 2 +tags",
        &["`+tags` puts tags on what goes over ofi, verbs or mpi", "leave it out"],
    );
    refused("handover +n 2 +clear +fault flip=9", &["`+fault flip` and `+clear` exclude each other"]);
    refused("handover ++ppn 2", &["`++ppn` is an option of Charm++", "`+p N`"]);
    refused("handover +balancer GreedyLB", &["`GreedyLB` is a balancer of Charm++", "`greedy`"]);
    refused("handover +balancer gredy", &["no balancer `gredy`", "`greedy_refine"]);
}

#[cfg(feature = "sim")]
#[test]
fn what_a_simulated_job_has_not_is_refused() {
    refused("handover +sim 2 +n 2", &["leave out `+n`"]);
    refused("handover +sim 2 +p auto", &["`+p N`"]);
    refused("handover +sim 2 +noshm", &["a network of its own"]);
    refused("handover +sim 2 +pemap 0", &["leave out `+pemap`"]);
    refused("handover +sim 20000", &["20000", "16384"]);
    refused("handover +seed 2", &["+sim"]);
    refused("handover +hosts 2", &["+sim"]);
    refused("handover +model loggops:L=1", &["+sim"]);
    refused("handover +sim 2 +threads 2", &["+model"]);
    refused("handover +fidelity leased", &["+sim"]);
    refused("handover +sim 2 +fidelity rdma", &["rdma", "emulated, leased or direct"]);
    refused("handover +sim 2000 +fidelity leased", &["1024", "2000", "`+fidelity direct`"]);
    refused("handover +sim 2 +threads 2 +model loggops:o=1", &["several threads", "`L`"]);
    refused("handover +sim 2 +model logp:L=1", &["logp:L=1 is no model", "loggops:L=2500"]);
    refused("handover +sim 2 +costs nowhere", &["`+costs` takes nanoseconds, or a file", "nowhere"]);
}

#[test]
fn processors_that_no_pe_will_use_are_told_of() {
    for (options, is_told) in [("", true), ("+p 1", false), ("+p 2", false), ("+n 2", false)] {
        let mut command = probe(&format!("exit 0 {options}"));
        command.env("SLURM_CPUS_PER_TASK", "8");
        let outcome = run(command);
        assert_eq!(outcome.code, Some(0), "{options}: {outcome:?}");
        let told = outcome.stderr.contains("given 8 processors and runs 1 PE: `+p auto`");
        assert_eq!((told, outcome.stderr.is_empty()), (is_told, !is_told), "{options}: {outcome:?}");
    }
}

#[test]
fn help_prints_the_table_and_succeeds() {
    let outcome = run(probe("+help"));
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    for option in ["+p", "+n", "+lrts", "+nolocal", "+nocma", "+noshm", "+pemap", "+stats", "CHARE_P"] {
        assert!(outcome.stdout.contains(option), "`{option}` in:\n{}", outcome.stdout);
    }
}

#[test]
fn a_panic_on_any_node_is_told_once_with_its_place() {
    for (options, node) in [("+p 2", 0), ("+n 2", 1), ("+n 2 +nolocal", 1)] {
        let outcome = run(probe(&format!("panic 1 {options}")));
        assert_ne!(outcome.code, Some(0), "{options}: {outcome:?}");
        let message = outcome.complaint();
        for clue in ["Member::fail", "PE 1", &format!("node {node}"), "as asked", "probe.rs"] {
            assert!(message.contains(clue), "{options} mentions `{clue}`: {message}");
        }
    }
}

#[test]
fn a_drop_that_panics_at_the_end_is_told_and_fails_the_job() {
    for (options, node) in [("+p 2", 0), ("+n 2", 1), ("+n 2 +nolocal", 1)] {
        let outcome = run(probe(&format!("drop 1 {options}")));
        assert_eq!(outcome.code, Some(1), "{options}: {outcome:?}");
        let message = outcome.complaint();
        for clue in ["Member::drop", "PE 1", &format!("node {node}"), "as asked", "probe.rs"] {
            assert!(message.contains(clue), "{options} mentions `{clue}`: {message}");
        }
    }
}

#[test]
fn the_exit_code_of_any_pe_is_the_jobs() {
    for options in ["", "+p 3", "+n 2", "+n 3 +p 2"] {
        let outcome = run(probe(&format!("exit 42 {options}")));
        assert_eq!(outcome.code, Some(42), "{options}: {outcome:?}");
    }
}

#[test]
fn a_closed_standard_output_ends_the_job_without_a_hang() {
    for options in ["+p 2", "+n 2"] {
        let mut command = Command::new("sh");
        let line = format!("'{}' print 20000 {options} | head -n 1", env!("CARGO_BIN_EXE_probe"));
        command.args(["-c", &line]);
        let outcome = run(command);
        assert!(outcome.stdout.lines().count() == 1, "{options}: {outcome:?}");
    }
}

#[test]
fn a_failure_that_nobody_can_hear_ends_the_job_all_the_same() {
    for options in ["+p 2", "+n 2"] {
        let mut command = Command::new("sh");
        let probe = env!("CARGO_BIN_EXE_probe");
        let line =
            format!("exec 3>&1; {{ '{probe}' panic 1 {options} 2>&1 >&3; echo \"code $?\" >&3; }} | true");
        command.args(["-c", &line]);
        let outcome = run(command);
        assert!(outcome.stdout.ends_with("code 1\n"), "{options}: {outcome:?}");
    }
}

#[test]
fn lines_of_all_nodes_arrive_whole() {
    let outcome = run(probe("print 200 +n 3 +p 2"));
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    let lines = outcome.stdout.lines().filter(|line| line.ends_with(" of 200")).count();
    assert_eq!(lines, 6 * 200, "every line of every PE, none mixed");
}

#[test]
fn with_little_or_no_locked_memory_everything_works() {
    for limit in [0, 64] {
        for options in ["+n 2", "+n 2 +lrts cma", "+n 2 +nolocal"] {
            let outcome = run(deprived(&format!("ulimit -l {limit}"), &format!("lend {options}")));
            assert_eq!(outcome.code, Some(0), "{limit} KiB, {options}: {outcome:?}");
        }
    }
}

#[test]
fn a_full_shared_memory_file_system_does_not_matter() {
    let mut command = Command::new("unshare");
    let line = format!(
        "mount -t tmpfs -o size=4k none /dev/shm && head -c 4096 /dev/zero > /dev/shm/full && exec '{}' lend +n 2",
        env!("CARGO_BIN_EXE_probe")
    );
    command.args(["--mount", "sh", "-c", &line]);
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: mounting a small /dev/shm needs root");
        return;
    }
    let outcome = run(command);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
}

#[test]
fn too_few_descriptors_are_an_error_in_words() {
    let outcome = run(deprived("ulimit -n 24", "lend +n 8"));
    assert_ne!(outcome.code, Some(0), "{outcome:?}");
    assert!(
        outcome.stderr.contains("open files") || outcome.stderr.contains("descriptor"),
        "{}",
        outcome.stderr
    );
}

/// The first bytes of an executable's build id: a note of 20 bytes, of type 3, by `GNU`.
const BUILD_ID_NOTE: [u8; 16] = *b"\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0";

/// A copy of the probe that was built another time, as far as its build id tells.
fn another_build() -> std::path::PathBuf {
    let mut program = std::fs::read(env!("CARGO_BIN_EXE_probe")).unwrap();
    let note =
        program.windows(16).position(|bytes| *bytes == BUILD_ID_NOTE).expect("linkers write build ids");
    program[note + BUILD_ID_NOTE.len()] ^= 1;
    let path = std::env::temp_dir().join(format!("chare-another-build-{}", std::process::id()));
    std::fs::write(&path, program).unwrap();
    std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    path
}

#[test]
fn nodes_of_different_builds_do_not_meet_unless_they_may() {
    let other = another_build();
    let first = other.with_extension("first");
    // Whoever makes the directory is the first.
    let script = r#"if mkdir "$0" 2>/dev/null; then exec "$1" exit 7; else exec "$2" exit 7; fi"#;
    let job = |program: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_launch-run"));
        command.args(["-n", "2", "--", "sh", "-c", script]).arg(&first).arg(&other).arg(program);
        command
    };
    let probe = env!("CARGO_BIN_EXE_probe");
    let mut endings = Vec::new();
    for (program, allowed) in [(probe, ""), (probe, "1"), (other.to_str().unwrap(), "0")] {
        endings.push(run({
            let mut command = job(program);
            command.env("CHARE_OTHER_BUILDS", allowed);
            command
        }));
        std::fs::remove_dir(&first).unwrap();
    }
    std::fs::remove_file(other).unwrap();
    let codes: Vec<_> = endings.iter().map(|outcome| outcome.code).collect();
    assert_eq!(codes, [Some(1), Some(7), Some(7)], "{endings:?}");
    for clue in ["another build", "CHARE_OTHER_BUILDS=1"] {
        assert!(endings[0].stderr.contains(clue), "mentions `{clue}`: {:?}", endings[0]);
    }
}
