//! Servers of ssh, one in each host of a laboratory, and a client that knows the hosts by aliases.

use crate::lab::Lab;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

/// sshd starts itself again for each connection, by its absolute path.
const SERVER: &str = "/usr/sbin/sshd";

/// The port on which the servers listen.
const PORT: u16 = 2222;

/// The servers and the client's configuration; the servers end with the value.
pub(crate) struct Ssh {
    servers: Vec<Child>,
    directory: TempDir,
}

impl Ssh {
    /// Starts the servers.
    ///
    /// # Errors
    /// What is missing on this machine.
    pub(crate) fn serve(lab: &Lab) -> Result<Self, String> {
        if !Path::new(SERVER).exists() {
            return Err(format!("no {SERVER} (Debian: openssh-server)"));
        }
        // Where the server confines what serves a connection; a service manager makes it otherwise.
        std::fs::create_dir_all("/run/sshd").map_err(|error| format!("/run/sshd: {error}"))?;
        let mut ssh = Self { servers: Vec::new(), directory: tempfile::tempdir().expect("there is room") };
        let [host_key, user_key] = ["host", "user"].map(|name| ssh.path(name));
        make_key(&host_key)?;
        make_key(&user_key)?;
        let public = std::fs::read_to_string(host_key.with_extension("pub")).expect("it was made");
        let (mut config, mut known) = (String::new(), String::new());
        for host in 1..=lab.hosts() {
            let (alias, address) = (alias(host), Lab::address(host));
            config += &format!("Host {alias}\n  HostName {address}\n");
            known += &format!("[{address}]:{PORT} {public}");
            ssh.servers.push(start_server(lab, host, [&host_key, &user_key])?);
        }
        std::fs::write(ssh.path("known"), known).expect("there is room");
        let (key, known) = (user_key.display(), ssh.path("known"));
        config += &format!(
            "Host *\n  Port {PORT}\n  IdentityFile {key}\n  BatchMode yes\n  UserKnownHostsFile {}\n",
            known.display()
        );
        std::fs::write(ssh.path("config"), config).expect("there is room");
        // The client stands on the first host, from which all are reached.
        let (space, config) = (lab.space(1), ssh.path("config"));
        let client = format!("#!/bin/sh\nexec ip netns exec {space} ssh -x -F {} \"$@\"\n", config.display());
        std::fs::write(ssh.client(), client).expect("there is room");
        std::fs::set_permissions(ssh.client(), std::fs::Permissions::from_mode(0o755)).expect("it is ours");
        Ok(ssh)
    }

    /// A remote shell, as `chare-run --remote-shell` takes it.
    pub(crate) fn client(&self) -> PathBuf {
        self.path("ssh")
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }
}

impl Drop for Ssh {
    fn drop(&mut self) {
        for server in &mut self.servers {
            let _ = server.kill();
            let _ = server.wait();
        }
    }
}

/// The name of a host that the client alone knows.
pub(crate) fn alias(host: u32) -> String {
    format!("machine-{host}")
}

fn make_key(path: &Path) -> Result<(), String> {
    let made = Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(path).status();
    match made {
        Ok(status) if status.success() => Ok(()),
        other => Err(format!("ssh-keygen made no key: {other:?}")),
    }
}

/// Starts the server of a host and waits until it listens.
fn start_server(lab: &Lab, host: u32, [host_key, user_key]: [&Path; 2]) -> Result<Child, String> {
    let (space, address) = (lab.space(host), Lab::address(host));
    let options = [
        format!("ListenAddress={address}:{PORT}"),
        format!("HostKey={}", host_key.display()),
        format!("AuthorizedKeysFile={}.pub", user_key.display()),
        "StrictModes=no".to_owned(),
        "UsePAM=no".to_owned(),
        "PidFile=none".to_owned(),
        // A shell that begins reads what the user has it do then, which may speak, and at once with another may fail.
        "SetEnv=HOME=/nonexistent".to_owned(),
    ];
    let mut command = Command::new("ip");
    command.args(["netns", "exec", &space, SERVER, "-D", "-e", "-f", "/dev/null"]);
    options.iter().for_each(|option| {
        command.args(["-o", option]);
    });
    let mut server = command.stderr(Stdio::piped()).spawn().map_err(|error| format!("{SERVER}: {error}"))?;
    let mut said = BufReader::new(server.stderr.take().expect("it is piped"));
    let mut heard = String::new();
    while !heard.contains("Server listening on") {
        if said.read_line(&mut heard).map_err(|error| error.to_string())? == 0 {
            let _ = server.wait();
            return Err(format!("{SERVER} on host {host} ended: {}", heard.trim()));
        }
    }
    // What it says later has a reader as long as it runs: a server that nobody reads gets a signal for it.
    std::thread::spawn(move || std::io::copy(&mut said, &mut std::io::sink()));
    Ok(server)
}
