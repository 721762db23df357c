//! Remote hosts: here each is an agent on this machine, behind a remote shell that ignores the name.

use crate::endings::waiting_node;
use crate::harness::{NODE, await_death, children, end, run};
use chare_tests::Running;
use rustix::process::Signal;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

/// Two names of this machine: loopback addresses, so that no host needs an address.
const HOSTS: &str = "127.0.0.1,127.0.0.2";

/// A remote shell for a test: drops the name and does `script` with the command. Gone with the value.
struct Shell(PathBuf);

impl Shell {
    fn new(name: &str, script: &str) -> Self {
        let path = std::env::temp_dir().join(format!("chare-launch-{name}-{}", std::process::id()));
        fs::write(&path, format!("#!/bin/sh\nhost=$1\nshift\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        Self(path)
    }

    fn options(&self) -> [&str; 4] {
        ["--hosts", HOSTS, "--remote-shell", self.0.to_str().unwrap()]
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        // The directory is for temporary files: one left over is no failure.
        let _ = fs::remove_file(&self.0);
    }
}

#[test]
fn nodes_on_two_hosts_find_each_other() {
    // As ssh does it: a string for a shell.
    let shell = Shell::new("find", "exec sh -c \"$*\"");
    let mut options = shell.options().to_vec();
    options.push("--prefix");
    let ended = end(&mut run(5, &options, &[NODE, "gather"]));
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{ended:?}");
    for (node, line) in ended.sorted_lines().iter().enumerate() {
        let neighbours = if node < 3 { 2 } else { 1 };
        let words = format!("[{node}] node {node} of 5, {neighbours} neighbours, key ");
        assert!(line.starts_with(&words), "{ended:?}");
    }
}

#[test]
fn environment_directory_and_arguments_travel() {
    let shell = Shell::new("travel", "exec env -i PATH=\"$PATH\" \"$@\"");
    let place = std::env::temp_dir().canonicalize().unwrap();
    let script = "echo $CHARE_P $CHARE_TEST_X $OTHER \"$1\"; pwd";
    let mut command = run(2, &shell.options(), &["sh", "-c", script, "sh", "a  b'c"]);
    command.env("CHARE_TEST_X", "x").env("OTHER", "other").env("CHARE_P", "7").current_dir(&place);
    let ended = end(&mut command);
    let place = place.to_str().unwrap();
    let mut expected = vec!["7 x a  b'c", "7 x a  b'c", place, place];
    expected.sort_unstable();
    // None of the two shells is a node.
    assert_eq!((ended.code, ended.sorted_lines()), (Some(1), expected), "{ended:?}");
}

#[test]
fn a_node_killed_on_another_host_is_named_with_it() {
    let shell = Shell::new("kill", "exec \"$@\"");
    let running = Running::start(&mut run(4, &shell.options(), &[NODE, "wait"]));
    let mut lines: Vec<String> = (0..4).map(|_| running.line()).collect();
    lines.sort_unstable();
    let nodes: Vec<_> = lines.iter().map(|line| waiting_node(line)).collect();
    rustix::process::kill_process(nodes[3], Signal::KILL).unwrap();
    let ended = running.end();
    assert_eq!(ended.code, Some(137));
    let words =
        format!("chare: node 3 (pid {}) on host 127.0.0.2 was killed by signal 9 (SIGKILL)", nodes[3]);
    assert!(ended.complaint().starts_with(&words), "{ended:?}");
    nodes.into_iter().for_each(await_death);
}

#[test]
fn a_lost_remote_shell_takes_its_nodes_and_the_job_along() {
    // Not `exec`: the shell and the agent are two processes, as with ssh.
    let shell = Shell::new("lost", "\"$@\"; exit $?");
    let running = Running::start(&mut run(2, &shell.options(), &[NODE, "wait"]));
    let nodes = [waiting_node(&running.line()), waiting_node(&running.line())];
    // A broken connection ends both; the shell goes first, since it would say how the agent ended.
    let shells = children(running.pid());
    assert_eq!(shells.len(), 2);
    let agents = children(shells[1]);
    for process in [shells[1]].into_iter().chain(agents) {
        rustix::process::kill_process(process, Signal::KILL).unwrap();
    }
    let ended = running.end();
    assert_ne!(ended.code, Some(0));
    assert!(ended.complaint().contains("was lost: its remote shell"), "{ended:?}");
    nodes.into_iter().for_each(await_death);
}

#[test]
fn a_killed_launcher_takes_all_hosts_along() {
    let shell = Shell::new("all", "\"$@\"; exit $?");
    let running = Running::start(&mut run(2, &shell.options(), &[NODE, "wait"]));
    let nodes = [waiting_node(&running.line()), waiting_node(&running.line())];
    running.signal(Signal::KILL);
    nodes.into_iter().for_each(await_death);
}

#[test]
fn signals_and_codes_travel() {
    let shell = Shell::new("codes", "exec \"$@\"");
    assert_eq!(end(&mut run(2, &shell.options(), &[NODE, "finish", "0", "6"])).code, Some(6));
    let running = Running::start(&mut run(2, &shell.options(), &[NODE, "wait"]));
    let nodes = [waiting_node(&running.line()), waiting_node(&running.line())];
    running.signal(Signal::TERM);
    assert_eq!(running.end().code, Some(143));
    nodes.into_iter().for_each(await_death);
}

#[test]
fn hosts_that_do_not_answer_as_agents_are_named() {
    let refuses = Shell::new("refuses", "echo no route to $host >&2; exit 255");
    let ended = end(&mut run(2, &refuses.options(), &["true"]));
    assert_ne!(ended.code, Some(0));
    assert!(ended.stderr.contains("no route to 127.0.0.1"), "{ended:?}");
    assert!(ended.stderr.contains("was lost: its remote shell exited with code 255"), "{ended:?}");

    let chats = Shell::new("chats", "echo Welcome to this host; exec \"$@\"");
    let ended = end(&mut run(2, &chats.options(), &["true"]));
    assert_ne!(ended.code, Some(0));
    assert!(
        ended.complaint().contains("what came from there is no agent's (it begins with \"Welc\")"),
        "{ended:?}"
    );

    let sleeps = Shell::new("sleeps", "exec sleep 1000");
    let mut options = sleeps.options().to_vec();
    options.extend(["--timeout", "1"]);
    let ended = end(&mut run(2, &options, &["true"]));
    assert_ne!(ended.code, Some(0));
    assert!(ended.complaint().contains("host 127.0.0.1 has not answered after 1 s"), "{ended:?}");

    let ended = end(&mut run(2, &["--hosts", HOSTS, "--remote-shell", "/no/such/shell"], &["true"]));
    assert!(ended.complaint().contains("`/no/such/shell` cannot be started"), "{ended:?}");
}

#[test]
fn hosts_come_from_a_file_too() {
    let shell = Shell::new("file", "exec \"$@\"");
    let file = std::env::temp_dir().join(format!("chare-launch-hosts-{}", std::process::id()));
    fs::write(&file, "# two\n127.0.0.1\n\n127.0.0.2 # the other\n").unwrap();
    let options = ["--hostfile", file.to_str().unwrap(), "--remote-shell", shell.0.to_str().unwrap()];
    let ended = end(&mut run(2, &options, &[NODE, "gather"]));
    fs::remove_file(&file).unwrap();
    assert_eq!((ended.code, ended.sorted_lines().len()), (Some(0), 2), "{ended:?}");
    assert!(ended.stdout.contains("0 neighbours"), "{ended:?}");
}

#[test]
fn names_that_only_the_remote_shell_knows_will_do() {
    // As with aliases of ~/.ssh/config: nothing on this machine resolves them.
    let shell = Shell::new("alias", "case $host in alpha|beta) exec \"$@\";; *) exit 9;; esac");
    let options = ["--hosts", "alpha,beta", "--remote-shell", shell.0.to_str().unwrap()];
    let ended = end(&mut run(4, &options, &[NODE, "gather"]));
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{ended:?}");
    assert_eq!(ended.sorted_lines().len(), 4, "{ended:?}");
}

#[test]
fn slots_say_how_many_nodes_a_host_takes() {
    let shell = Shell::new("slots", "export CHARE_TEST_HOST=$host; exec \"$@\"");
    let file = tempfile::NamedTempFile::new().unwrap();
    let script = ["sh", "-c", "echo $CHARE_TEST_HOST"];
    for list in ["alpha slots=3\nbeta slots=2\n", "alpha:3\nbeta:2\n", "alpha\nalpha\nalpha\nbeta\nbeta\n"] {
        fs::write(file.path(), list).unwrap();
        let hosts =
            ["--hostfile", file.path().to_str().unwrap(), "--remote-shell", shell.0.to_str().unwrap()];
        let ended = end(&mut run(4, &hosts, &script));
        assert_eq!(ended.sorted_lines(), ["alpha", "alpha", "alpha", "beta"], "{list}: {ended:?}");
        let ended = end(&mut run(6, &hosts, &script));
        assert_eq!(ended.code, Some(2), "{list}: {ended:?}");
        assert!(ended.complaint().contains("6 nodes do not fit into the 5 slots"), "{list}: {ended:?}");
    }
    fs::write(file.path(), "alpha\nbeta max_slots=4\n").unwrap();
    let ended = end(&mut run(2, &["--hostfile", file.path().to_str().unwrap()], &script));
    assert!(ended.complaint().contains("`max_slots=4` is not understood"), "{ended:?}");
    let options = ["--hosts", "alpha:1,beta:1", "--remote-shell", shell.0.to_str().unwrap()];
    assert_eq!(end(&mut run(2, &options, &script)).sorted_lines(), ["alpha", "beta"]);
}
