//! Emulated hosts: network namespaces of this machine, each with an address of its own on one switch.
//!
//! ```text
//!   namespace h1                 namespace switch                 namespace h2
//!   port 10.203.0.1 ---- veth ---- p1 [bridge] p2 ---- veth ---- port 10.203.0.2     ...
//! ```
//!
//! They share a kernel and its shared memory, and nothing of the network: what goes from one to another crosses the switch.

use crate::middle::PORTS;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use tempfile::TempDir;

/// Laboratories of this process so far: tests have theirs at the same time.
static LABORATORIES: AtomicU32 = AtomicU32::new(0);

/// Some hosts and their switch; gone with the value.
pub(crate) struct Lab {
    name: String,
    hosts: u32,
    directory: TempDir,
}

/// Runs `ip` with these words.
///
/// # Errors
/// What it says.
fn ip(words: &str) -> Result<String, String> {
    run("ip", words)
}

fn run(program: &str, words: &str) -> Result<String, String> {
    let output = Command::new(program)
        .args(words.split_whitespace())
        .output()
        .map_err(|error| format!("`{program}`: {error} (Debian: iproute2)"))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(format!("`{program} {words}`: {}", String::from_utf8_lossy(&output.stderr).trim())),
    }
}

impl Lab {
    /// Sets up some hosts; `None`, after a line that says what is skipped, where this machine does not allow it.
    pub(crate) fn new(hosts: u32) -> Option<Self> {
        let name = format!("chare-{}-{}", std::process::id(), LABORATORIES.fetch_add(1, Ordering::Relaxed));
        let directory = tempfile::tempdir().expect("there is room for a script");
        let lab = Self { name, hosts, directory };
        match lab.set_up() {
            Ok(()) => Some(lab),
            Err(why) => {
                println!("skipped: hosts as network namespaces: {why}");
                None
            }
        }
    }

    fn set_up(&self) -> Result<(), String> {
        let switch = format!("{}-s", self.name);
        ip(&format!("netns add {switch}"))?;
        ip(&format!("-n {switch} link add bridge type bridge"))?;
        ip(&format!("-n {switch} link set bridge up"))?;
        for host in 1..=self.hosts {
            let space = self.space(host);
            ip(&format!("netns add {space}"))?;
            ip(&format!("link add port netns {space} type veth peer name p{host} netns {switch}"))?;
            ip(&format!("-n {switch} link set p{host} master bridge up"))?;
            ip(&format!("-n {space} address add {}/24 dev port", Self::address(host)))?;
            ip(&format!("-n {space} link set lo up"))?;
            ip(&format!("-n {space} link set port up"))?;
        }
        // As ssh does it: the command is a string for the other host's shell.
        let script = format!(
            "#!/bin/sh\nhost=${{1##*.}}\nshift\nexec ip netns exec {}-$host sh -c \"$*\"\n",
            self.name
        );
        let shell = self.shell();
        std::fs::write(&shell, script).map_err(|error| error.to_string())?;
        std::fs::set_permissions(&shell, std::fs::Permissions::from_mode(0o755))
            .map_err(|error| error.to_string())
    }

    /// Puts a namespace where the switch was between the first two hosts, and gives its ends their addresses, so that what they say to each
    /// other goes to who listens there ([`crate::middle`]).
    ///
    /// # Errors
    /// Why this machine does not allow it.
    pub(crate) fn interpose(&self) -> Result<(), String> {
        let [outer, inner] = self.middle();
        ip(&format!("netns add {inner}"))?;
        ip(&format!("-n {outer} link set p1 nomaster"))?;
        ip(&format!("-n {outer} link set p2 netns {inner}"))?;
        for (space, port, other) in [(&outer, "p1", 2), (&inner, "p2", 1)] {
            ip(&format!("-n {space} address add {}/24 dev {port}", Self::address(other)))?;
            ip(&format!("-n {space} link set {port} up"))?;
        }
        let range = format!("{} {}", PORTS.start, PORTS.end - 1);
        let set = format!("echo {range} > /proc/sys/net/ipv4/ip_local_port_range");
        let space = self.space(1);
        let done = Command::new("ip").args(["netns", "exec", &space, "sh", "-c", &set]).status();
        match done {
            Ok(status) if status.success() => Ok(()),
            other => Err(format!("the ports of {space} cannot be chosen: {other:?}")),
        }
    }

    /// The namespaces at the ends of host 1 and host 2, where somebody is between them.
    pub(crate) fn middle(&self) -> [String; 2] {
        [format!("{}-s", self.name), format!("{}-m", self.name)]
    }

    /// The number of hosts, which are numbered from 1 on.
    pub(crate) fn hosts(&self) -> u32 {
        self.hosts
    }

    /// The address of a host.
    pub(crate) fn address(host: u32) -> String {
        format!("10.203.0.{host}")
    }

    /// The network namespace of a host.
    pub(crate) fn space(&self, host: u32) -> String {
        format!("{}-{host}", self.name)
    }

    /// A remote shell that leads to them.
    pub(crate) fn shell(&self) -> PathBuf {
        self.directory.path().join("shell")
    }

    /// Their addresses, as `chare-run --hosts` takes them.
    pub(crate) fn addresses(&self) -> String {
        (1..=self.hosts).map(Self::address).collect::<Vec<_>>().join(",")
    }

    /// Bytes that a host has sent so far, by the count of its port.
    pub(crate) fn sent_bytes(&self, host: u32) -> u64 {
        let table = ip(&format!("netns exec {} cat /proc/net/dev", self.space(host))).expect("it is there");
        let line = table.lines().find_map(|line| line.trim().strip_prefix("port:")).expect("its port");
        // Eight numbers of what came, then what left.
        line.split_whitespace().nth(8).and_then(|bytes| bytes.parse().ok()).expect("a number")
    }

    /// Pulls a host's cable.
    pub(crate) fn cut(&self, host: u32) {
        ip(&format!("-n {} link set port down", self.space(host))).expect("it is there");
    }

    /// Has a host's interface have its carrier, and the kernel not call it running: as for a while after it was set up.
    pub(crate) fn hold_back(&self, host: u32) {
        for what in ["mode", "state"] {
            ip(&format!("-n {} link set port {what} dormant", self.space(host))).expect("it is there");
        }
    }

    /// Makes what a host sends late or lost, as netem's words say: `delay 2ms loss 1%`.
    ///
    /// # Errors
    /// Why this kernel cannot.
    pub(crate) fn impair(&self, host: u32, how: &str) -> Result<(), String> {
        run("tc", &format!("-n {} qdisc add dev port root netem {how}", self.space(host))).map(drop)
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        // Those that could not be made cannot be deleted.
        for space in (1..=self.hosts).map(|host| self.space(host)).chain(self.middle()) {
            let _ = ip(&format!("netns delete {space}"));
        }
    }
}
