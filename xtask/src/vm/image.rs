//! Guest images: kernel, modules and root file system, built from Debian's packages into a cache.
//!
//! Nothing is installed on the host but the tools themselves; the kernel is downloaded and unpacked. Each part is built when it
//! is missing. The root file system needs root (`debootstrap`).

use super::tool::{self, Failure};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The release whose kernel has soft-RoCE; cloud kernels have not.
const RELEASE: &str = "bookworm";
const KERNEL: &str = "linux-image-amd64";

/// Packages that programs of this project, and their observers, need in the guest.
const PACKAGES: &str = "iproute2,kmod,rdma-core,ibverbs-providers,ibverbs-utils,librdmacm1,rdmacm-utils,libfabric1,libfabric-bin,perftest,\
openssh-server,openssh-client,util-linux,procps,libgcc-s1,netbase";

/// Modules, and what they need goes first. Checksums are among them because nothing is loaded later: the root has none.
const MODULES: [&str; 17] = [
    "virtio_pci",
    "virtio_blk",
    "crc32c_generic",
    "crc32_generic",
    "libcrc32c",
    "ext4",
    "overlay",
    "9pnet_virtio",
    "9p",
    "virtio_net",
    "veth",
    "bridge",
    "dummy",
    "sch_netem",
    "ib_uverbs",
    "rdma_ucm",
    "rdma_rxe",
];

/// A guest's parts.
pub(super) struct Image {
    pub(super) kernel: PathBuf,
    pub(super) initrd: PathBuf,
    pub(super) root: PathBuf,
}

/// Builds what is not there.
///
/// # Errors
/// Which tool failed.
pub(super) fn prepare(cache: &Path, wants_iwarp: bool) -> Result<Image, Failure> {
    fs::create_dir_all(cache).map_err(|error| Failure(format!("{}: {error}", cache.display())))?;
    let unpacked = unpack_kernel(cache)?;
    let iwarp = match wants_iwarp {
        true => Some(super::iwarp::build(cache, &version(&unpacked)?)?),
        false => None,
    };
    Ok(Image {
        kernel: unpacked.join("vmlinux"),
        initrd: pack_initrd(cache, &unpacked, iwarp.as_deref())?,
        root: build_root(cache)?,
    })
}

/// The kernel's version: the name of its only directory of modules.
fn version(unpacked: &Path) -> Result<String, Failure> {
    let versions = fs::read_dir(unpacked.join("lib/modules"))?;
    let first =
        versions.filter_map(Result::ok).next().ok_or_else(|| Failure("the kernel has no modules".into()))?;
    Ok(first.file_name().to_string_lossy().into_owned())
}

fn unpack_kernel(cache: &Path) -> Result<PathBuf, Failure> {
    let done = cache.join("kernel");
    if done.exists() {
        return Ok(done);
    }
    let new = cache.join("kernel.new");
    let _ = fs::remove_dir_all(&new);
    let package = tool::output(Command::new("apt-cache").args(["depends", "--important", KERNEL]))?;
    let package = package
        .lines()
        .find_map(|line| line.trim().strip_prefix("Depends: "))
        .ok_or_else(|| Failure(format!("apt knows no {KERNEL}; run `apt-get update`")))?;
    tool::unpack(cache, &new, &[package])?;
    let version = version(&new)?;
    tool::run(Command::new("depmod").arg("-b").arg(&new).arg(&version))?;
    decompress(&new.join("boot").join(format!("vmlinuz-{version}")), &new.join("vmlinux"))?;
    fs::rename(&new, &done)?;
    Ok(done)
}

/// Takes the kernel out of its envelope: decompressing it in the guest would take seconds of every start.
fn decompress(packed: &Path, to: &Path) -> Result<(), Failure> {
    const XZ: &[u8] = b"\xfd7zXZ\0";
    let bytes = fs::read(packed)?;
    let at = bytes.windows(XZ.len()).position(|window| window == XZ);
    let at = at.ok_or_else(|| Failure(format!("{} holds no xz stream", packed.display())))?;
    // The tool complains of the bytes after the stream; so the result is judged.
    let mut xz = Command::new("xz")
        .args(["--decompress", "--stdout", "--single-stream"])
        .stdin(Stdio::piped())
        .stdout(fs::File::create(to)?)
        .stderr(Stdio::null())
        .spawn()?;
    let mut input = xz.stdin.take().expect("it is piped");
    let fed = input.write_all(&bytes[at..]);
    drop(input);
    xz.wait()?;
    match fs::read(to)?.starts_with(b"\x7fELF") {
        true => Ok(()),
        false => Err(Failure(format!("{} is no kernel once decompressed ({fed:?})", packed.display()))),
    }
}

/// The first file system: a shell, the modules in their order, and the scripts. Quick, so it is packed each time.
fn pack_initrd(cache: &Path, unpacked: &Path, iwarp: Option<&Path>) -> Result<PathBuf, Failure> {
    let modules = unpacked.join("lib/modules").join(version(unpacked)?);
    let needs = fs::read_to_string(modules.join("modules.dep"))?;
    let mut order: Vec<&str> = Vec::new();
    for wanted in MODULES {
        let file = format!("/{wanted}.ko:");
        // A module that is built in has no line.
        let Some((module, others)) =
            needs.lines().find(|line| line.contains(&file)).and_then(|line| line.split_once(':'))
        else {
            continue;
        };
        for one in others.split_whitespace().rev().chain([module]) {
            if !order.contains(&one) {
                order.push(one);
            }
        }
    }
    let tree = cache.join("initrd.new");
    let _ = fs::remove_dir_all(&tree);
    for directory in ["bin", "modules", "proc", "sys", "dev", "control", "image", "upper", "root"] {
        fs::create_dir_all(tree.join(directory))?;
    }
    let files = order.iter().map(|module| modules.join(module)).chain(iwarp.map(Path::to_path_buf));
    let mut names = String::new();
    for file in files {
        let name = file.file_name().unwrap_or_default();
        fs::copy(&file, tree.join("modules").join(name))?;
        names += &format!("{}\n", name.to_string_lossy());
    }
    fs::write(tree.join("modules/order"), names)?;
    fs::copy("/bin/busybox", tree.join("bin/busybox"))?;
    tool::write_program(&tree.join("init"), include_str!("guest/init"))?;
    tool::write_program(&tree.join("start"), include_str!("guest/start"))?;
    let packed = cache.join("initrd");
    let script = "cd \"$1\" && find . | busybox cpio -o -H newc 2>/dev/null >\"$2\"";
    tool::run(Command::new("sh").args(["-c", script, "sh"]).arg(&tree).arg(&packed))?;
    fs::remove_dir_all(&tree)?;
    Ok(packed)
}

fn build_root(cache: &Path) -> Result<PathBuf, Failure> {
    let (image, wanted) = (cache.join("root.ext4"), cache.join("root.packages"));
    if image.exists() && fs::read_to_string(&wanted).is_ok_and(|built| built == PACKAGES) {
        return Ok(image);
    }
    let tree = cache.join("root.new");
    let _ = fs::remove_dir_all(&tree);
    let include = format!("--include={PACKAGES}");
    tool::run(Command::new("debootstrap").args(["--variant=minbase", &include, RELEASE]).arg(&tree))?;
    for waste in ["var/cache/apt/archives", "var/lib/apt/lists", "usr/share/doc", "usr/share/locale"] {
        let _ = fs::remove_dir_all(tree.join(waste));
    }
    // Guests of one image trust each other, and nobody else knows the key.
    let keys = tree.join("root/.ssh");
    fs::create_dir_all(&keys)?;
    let mut keygen = Command::new("chroot");
    keygen.arg(&tree).args(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", "/root/.ssh/id_ed25519"]);
    tool::run(&mut keygen)?;
    fs::rename(keys.join("id_ed25519.pub"), keys.join("authorized_keys"))?;
    fs::write(
        keys.join("config"),
        "StrictHostKeyChecking no\nUserKnownHostsFile /dev/null\nLogLevel ERROR\n",
    )?;
    fs::create_dir_all(tree.join("control"))?;
    let _ = fs::remove_file(&image);
    let new = cache.join("root.ext4.new");
    fs::File::create(&new)?.set_len(2 << 30)?;
    let features = ["-q", "-F", "-O", "^has_journal,^metadata_csum", "-m", "0", "-d"];
    tool::run(Command::new("mkfs.ext4").args(features).arg(&tree).arg(&new))?;
    fs::remove_dir_all(&tree)?;
    fs::rename(&new, &image)?;
    fs::write(&wanted, PACKAGES)?;
    Ok(image)
}
