//! A Slurm cluster of one host: `munged`, `slurmctld` and `slurmd`, all in a folder of the test, on ports of their own. Needs root.

use chare_tests::{Launcher, Outcome, Running, find, own_processors};
use rustix::process::{Pid, Signal, kill_process};
use std::fs::{self, Permissions};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How long the daemons may take until the host is ready for jobs.
const PATIENCE: Duration = Duration::from_secs(60);

/// The cluster. It ends with its value.
pub(crate) struct Cluster {
    folder: TempDir,
    srun: String,
    daemons: Vec<Child>,
}

impl Cluster {
    /// Starts it, with more processors than there are, which it binds nothing to; prints a skip where that is not possible.
    pub(crate) fn start() -> Option<Self> {
        Self::start_with("CPUs=8", "task/none")
    }

    /// Starts it with two processors, to which it binds tasks; prints a skip where that is not possible.
    pub(crate) fn start_binding() -> Option<Self> {
        if own_processors().len() < 2 {
            println!("skipped: a binding to two processors on a machine that has one");
            return None;
        }
        Self::start_with("CPUs=2", "task/affinity")
    }

    fn start_with(processors: &str, plugin: &str) -> Option<Self> {
        if !rustix::process::geteuid().is_root() {
            println!("skipped: Slurm's daemons want to be started by root");
            return None;
        }
        let [munged, controller, node, srun, sinfo] =
            ["munged", "slurmctld", "slurmd", "srun", "sinfo"].map(|name| find(&[name], "slurm-wlm"));
        let (munged, controller, node, srun, sinfo) = (munged?, controller?, node?, srun?, sinfo?);
        let folder = tempfile::tempdir().expect("a folder for the cluster");
        let place = folder.path();
        let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
        let host = host.split('.').next().unwrap_or_default().to_owned();
        for name in ["state", "spool", "munge"] {
            fs::create_dir(place.join(name)).expect("a new folder");
        }
        // munged and its clients of other users meet in these.
        for name in ["", "munge"] {
            fs::set_permissions(place.join(name), Permissions::from_mode(0o755)).expect("our folder");
        }
        let key = place.join("munge/key");
        fs::write(&key, rand::random::<[u8; 64]>()).expect("a key");
        fs::set_permissions(&key, Permissions::from_mode(0o600)).expect("our file");
        let settings = place.join("slurm.conf");
        fs::write(&settings, describe(place, &host, processors, plugin)).expect("the settings");
        let mut cluster = Self { folder, srun, daemons: Vec::new() };
        let file = |name: &str| cluster.folder.path().join(name).display().to_string();
        let munge = [
            "--foreground".to_owned(),
            "--force".to_owned(),
            format!("--socket={}", file("munge/socket")),
            format!("--key-file={}", file("munge/key")),
            format!("--pid-file={}", file("munge/pid")),
            format!("--log-file={}", file("munge/log")),
            format!("--seed-file={}", file("munge/seed")),
        ];
        let conf = file("slurm.conf");
        cluster.start_daemon(&munged, &munge);
        cluster.start_daemon(&controller, &["-D", "-i", "-f", &conf].map(str::to_owned));
        cluster.start_daemon(&node, &["-D", "-f", &conf, "-N", &host].map(str::to_owned));
        cluster.wait_until_idle(&sinfo);
        Some(cluster)
    }

    fn start_daemon(&mut self, program: &str, arguments: &[String]) {
        let log = self.folder.path().join(format!("daemon-{}.log", self.daemons.len()));
        let log = fs::File::create(log).expect("a log");
        let daemon = Command::new(program)
            .args(arguments)
            .env("SLURM_CONF", self.settings())
            .stdin(Stdio::null())
            .stdout(log.try_clone().expect("a descriptor"))
            .stderr(log)
            .spawn()
            .unwrap_or_else(|cause| panic!("{program} does not start: {cause}"));
        self.daemons.push(daemon);
    }

    fn settings(&self) -> PathBuf {
        self.folder.path().join("slurm.conf")
    }

    fn wait_until_idle(&self, sinfo: &str) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let answer = Command::new(sinfo)
                .args(["--noheader", "--format=%t"])
                .env("SLURM_CONF", self.settings())
                .output()
                .expect("sinfo runs");
            let state = String::from_utf8_lossy(&answer.stdout).trim().to_owned();
            if state == "idle" {
                return;
            }
            assert!(Instant::now() < deadline, "the host is `{state}`: {}", self.logs());
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    fn logs(&self) -> String {
        let files = fs::read_dir(self.folder.path()).expect("our folder");
        files
            .filter_map(|file| Some(file.ok()?.path()))
            .filter(|path| path.extension().is_some_and(|extension| extension == "log"))
            .map(|path| format!("\n{}:\n{}", path.display(), fs::read_to_string(&path).unwrap_or_default()))
            .collect()
    }

    /// Runs a batch script in a folder, with more options, which win over those of the script, and more folders in `PATH`; what it writes goes
    /// to a file there. Returns when it has ended.
    pub(crate) fn submit(&self, script: &Path, folder: &Path, options: &str) -> Outcome {
        let output = folder.join("output");
        let sbatch = PathBuf::from(&self.srun).with_file_name("sbatch");
        let mut command = Command::new(sbatch);
        command.args(["--wait", "--output"]).arg(&output).args(options.split_whitespace()).arg(script);
        let path = std::env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{}:{path}", folder.display())).env("SLURM_CONF", self.settings());
        // Open MPI's launcher asks root for this.
        command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
        let mut outcome = Running::start(command.current_dir(folder)).end();
        outcome.stdout += &fs::read_to_string(output).unwrap_or_default();
        outcome
    }

    /// `srun` of this cluster with one of its plugins, bound as it is told.
    pub(crate) fn binding_launcher(&self, plugin: &str, options: &str) -> Launcher {
        let settings = self.settings().display().to_string();
        Launcher::srun(format!("/usr/bin/env SLURM_CONF={settings} {} --mpi={plugin} {options}", self.srun))
    }

    /// `srun` of this cluster with one of its plugins.
    pub(crate) fn launcher(&self, plugin: &str) -> Launcher {
        self.binding_launcher(plugin, "--overcommit")
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // The node first: it has children of its own to end.
        for daemon in self.daemons.iter_mut().rev() {
            let _ = kill_process(Pid::from_child(daemon), Signal::TERM);
            let deadline = Instant::now() + Duration::from_secs(5);
            while !matches!(daemon.try_wait(), Ok(Some(_))) && Instant::now() < deadline {
                std::thread::sleep(Duration::from_millis(20));
            }
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
    }
}

/// Two ports that nobody uses right now.
fn ports() -> [u16; 2] {
    let listeners = [(); 2].map(|()| TcpListener::bind(("127.0.0.1", 0)).expect("a port"));
    listeners.map(|listener| listener.local_addr().expect("it is bound").port())
}

fn describe(place: &Path, host: &str, processors: &str, plugin: &str) -> String {
    let (place, [controller, node]) = (place.display(), ports());
    format!(
        "ClusterName=chare
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
SlurmdPort={node}
AuthType=auth/munge
AuthInfo=socket={place}/munge/socket
SlurmUser=root
SlurmdUser=root
StateSaveLocation={place}/state
SlurmdSpoolDir={place}/spool
SlurmctldPidFile={place}/slurmctld.pid
SlurmdPidFile={place}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin={plugin}
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MpiDefault=none
SwitchType=switch/none
ReturnToService=2
SlurmdParameters=config_overrides
NodeName={host} NodeAddr=127.0.0.1 {processors} State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"
    )
}
