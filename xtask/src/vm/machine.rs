//! Guests under qemu: started, watched and ended.
//!
//! 1. Hosts and guests speak through one directory per guest, shared by 9p: `settings` and `job` go in, `out`, `err` and `status`
//!    come out. So no output is lost when a guest dies.
//! 2. Directories of the host are shared at their own paths: programs built here run there.
//! 3. The guest is emulated unless the processor and the kernel can do better. A guest that spins takes whole processors of this host.

use super::image::Image;
use super::options::Machine;
use super::script::{quote, script};
use super::tool::Failure;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Memory of a guest, in MiB.
const MEMORY_MIB: u32 = 2_048;

/// One guest.
pub(super) struct Guest {
    qemu: Child,
    pub(super) control: PathBuf,
}

impl Guest {
    /// Starts a guest, the `rank`th of its group.
    ///
    /// # Errors
    /// qemu does not start, or the file system's.
    pub(super) fn start(
        image: &Image,
        machine: &Machine,
        rank: u32,
        group: &Path,
        shares: &[&Path],
    ) -> Result<Self, Failure> {
        let control = group.join(rank.to_string());
        fs::create_dir_all(&control)?;
        let Machine { hosts, rdma, .. } = machine;
        let rdma = rdma.name();
        let mut settings =
            format!("VM_RANK={rank}\nVM_HOSTS={hosts}\nVM_RDMA={rdma}\nSHARES={}\n", shares.len());
        for (index, share) in shares.iter().enumerate() {
            settings += &format!("SHARE{index}={}\n", quote(&share.to_string_lossy()));
        }
        fs::write(control.join("settings"), settings)?;
        fs::write(control.join("job"), script(machine))?;
        for stream in ["out", "err"] {
            fs::File::create(control.join(stream))?;
        }
        let mut qemu = Command::new("qemu-system-x86_64");
        qemu.args([
            "-nodefaults",
            "-no-user-config",
            "-display",
            "none",
            "-no-reboot",
            "-M",
            "q35,usb=off",
            "-smp",
            "2",
        ]);
        let (accelerator, clock) = match can_virtualize() {
            true => (["-accel", "kvm", "-cpu", "host"], ""),
            // The time-stamp counter is the host's own; the guest would not believe that.
            false => {
                (["-accel", "tcg,thread=multi,tb-size=512", "-cpu", "max"], "tsc=reliable no_timer_check")
            }
        };
        qemu.args(accelerator).args(["-m", &MEMORY_MIB.to_string()]);
        qemu.arg("-kernel").arg(&image.kernel).arg("-initrd").arg(&image.initrd);
        let quiet = "console=ttyS0 quiet loglevel=4 panic=-1 oops=panic mitigations=off cryptomgr.notests audit=0 apparmor=0 nowatchdog";
        qemu.arg("-append").arg(format!("{quiet} {clock}"));
        qemu.arg("-serial").arg(format!("file:{}", control.join("console").display()));
        qemu.args(["-device", "isa-debug-exit,iobase=0x501,iosize=2", "-device", "virtio-rng-pci"]);
        let root = image.root.display();
        qemu.arg("-drive")
            .arg(format!("if=none,id=root,file={root},format=raw,readonly=on,file.locking=off"));
        qemu.args(["-device", "virtio-blk-pci,drive=root"]);
        share(&mut qemu, "control", &control);
        for (index, directory) in shares.iter().enumerate() {
            share(&mut qemu, &format!("share{index}"), directory);
        }
        if *hosts > 1 {
            let end = |rank: u32| group.join(format!("wire{rank}")).display().to_string();
            let (own, other) = (end(rank), end(1 - rank));
            qemu.arg("-netdev").arg(format!(
                "dgram,id=wire,local.type=unix,local.path={own},remote.type=unix,remote.path={other}"
            ));
            let card =
                format!("virtio-net-pci,netdev=wire,mac=52:54:00:77:00:0{rank},host_mtu=9000,romfile=");
            qemu.arg("-device").arg(card);
        }
        let log = fs::File::create(control.join("qemu"))?;
        let qemu = qemu.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log).spawn();
        let qemu = qemu.map_err(|error| Failure(format!("qemu-system-x86_64: {error}")))?;
        Ok(Self { qemu, control })
    }

    /// The job's exit status, once it has one.
    pub(super) fn status(&self) -> Option<i32> {
        fs::read_to_string(self.control.join("status")).ok()?.trim().parse().ok()
    }

    /// Whether it ended without a status: why, as far as it said.
    pub(super) fn death(&mut self) -> Option<String> {
        let ended = self.qemu.try_wait().ok().flatten()?;
        if self.status().is_some() {
            return None;
        }
        let words = |name: &str| fs::read(self.control.join(name)).unwrap_or_default();
        let all = [words("qemu"), words("console")].concat();
        let text = String::from_utf8_lossy(&all);
        let lines: Vec<&str> = text.lines().collect();
        Some(format!("qemu ended ({ended}):\n{}", lines[lines.len().saturating_sub(20)..].join("\n")))
    }

    /// The complaints of its kernel.
    pub(super) fn complaints(&self) -> Vec<String> {
        let console = fs::read(self.control.join("console")).unwrap_or_default();
        let text = String::from_utf8_lossy(&console);
        let marks = ["BUG:", "WARNING:", "Oops", "stall", "blocked for more"];
        text.lines().filter(|line| marks.iter().any(|mark| line.contains(mark))).map(str::to_owned).collect()
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        // Fails when it ended before.
        let _ = self.qemu.kill();
        let _ = self.qemu.wait();
    }
}

fn share(qemu: &mut Command, tag: &str, directory: &Path) {
    // Commas separate qemu's options; doubled ones stand for themselves.
    let path = directory.display().to_string().replace(',', ",,");
    let mode = if tag == "control" { "none" } else { "passthrough" };
    qemu.arg("-fsdev").arg(format!("local,id={tag},path={path},security_model={mode},multidevs=remap"));
    qemu.arg("-device").arg(format!("virtio-9p-pci,fsdev={tag},mount_tag={tag}"));
}

/// Whether this host runs guests on its processor. `/dev/kvm` alone proves nothing: nested in some hypervisors it opens and
/// then hangs; so the processor must say so, too.
fn can_virtualize() -> bool {
    let flags = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let has_flag = flags.split_whitespace().any(|word| word == "vmx" || word == "svm");
    has_flag && fs::File::options().read(true).write(true).open("/dev/kvm").is_ok()
}
