//! Work queue: where a DSA takes descriptors from a process; finds one that serves this process, or says in words why there is none.

use super::portal::{self, Portal, Sharing};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use std::io;
use std::path::Path;

/// Where the kernel shows work queues that processes may open.
const DEVICES: &str = "/dev/dsa";

/// Where it says how they were set up.
const ATTRIBUTES: &str = "/sys/bus/dsa/devices";

/// Descriptors that a process has in a queue at a time: a quarter of what a device has for all.
const DEPTH_MAX: usize = 32;

/// A work queue that serves this process.
pub(super) struct WorkQueue {
    pub(super) portal: Box<dyn Portal>,
    /// Descriptors that may be in it.
    pub(super) depth: usize,
    /// Bytes that one descriptor may move.
    pub(super) bytes_max: usize,
    /// What it is and how it is reached, in words.
    pub(super) description: String,
}

/// Opens the first work queue that serves this process, beginning with the `turn`th, so that the nodes of a host spread over them.
///
/// # Errors
/// Why there is none, in words.
pub(super) fn find(turn: usize) -> Result<WorkQueue, String> {
    find_in(Path::new(DEVICES), Path::new(ATTRIBUTES), turn)
}

fn find_in(devices: &Path, attributes: &Path, turn: usize) -> Result<WorkQueue, String> {
    let entries = std::fs::read_dir(devices).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => format!(
            "there is no {}: this host has no such device, or none of its work queues is enabled (`accel-config`)",
            devices.display()
        ),
        _ => format!("{} cannot be read: {error}", devices.display()),
    })?;
    let mut names: Vec<String> =
        entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
    names.sort();
    if names.is_empty() {
        return Err(format!("no work queue in {} is enabled (`accel-config`)", devices.display()));
    }
    let first = turn % names.len();
    names.rotate_left(first);
    let mut reasons = Vec::new();
    for name in &names {
        match open(name, &devices.join(name), &attributes.join(name)) {
            Ok(queue) => return Ok(queue),
            Err(reason) => reasons.push(format!("{name}: {reason}")),
        }
    }
    Err(reasons.join("; "))
}

fn open(name: &str, device: &Path, attributes: &Path) -> Result<WorkQueue, String> {
    let attribute = |what: &str| {
        let read = std::fs::read_to_string(attributes.join(what));
        read.map(|text| text.trim().to_owned())
            .map_err(|error| format!("its `{what}` cannot be read: {error}"))
    };
    let number = |what: &str| {
        let text = attribute(what)?;
        text.parse::<u64>().map_err(|_| format!("its `{what}` is \"{text}\", which is no number"))
    };
    match attribute("type")?.as_str() {
        "user" => {}
        other => return Err(format!("it is of type \"{other}\", and processes need one of type \"user\"")),
    }
    let (sharing, mode) = match attribute("mode")?.as_str() {
        "dedicated" => (Sharing::Dedicated, "dedicated"),
        "shared" => (Sharing::Shared, "shared"),
        other => return Err(format!("its mode is \"{other}\"")),
    };
    let (size, bytes_max) = (number("size")?, number("max_transfer_size")?);
    let queue =
        rustix::fs::open(device, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty()).map_err(
            |errno| match errno {
                Errno::ACCESS | Errno::PERM => format!("this user may not open {}", device.display()),
                Errno::BUSY => "another process has it, and it is dedicated".to_owned(),
                _ => format!("{} cannot be opened: {errno}", device.display()),
            },
        )?;
    let (portal, by) = portal::open(queue, sharing);
    Ok(WorkQueue {
        portal,
        depth: usize::try_from(size).unwrap_or(DEPTH_MAX).min(DEPTH_MAX),
        bytes_max: usize::try_from(bytes_max).unwrap_or(usize::MAX).min(u32::MAX as usize),
        description: format!("DSA {name} ({mode}, by {by})"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A host whose kernel shows these attributes of one queue.
    fn host(name: &str, attributes: &[(&str, &str)]) -> (std::path::PathBuf, std::path::PathBuf) {
        let root = std::env::temp_dir().join(format!("chare-dsa-{}-{name}", std::process::id()));
        let (devices, shown) = (root.join("dev"), root.join("sys"));
        std::fs::create_dir_all(&devices).expect("a folder");
        std::fs::create_dir_all(shown.join("wq0.0")).expect("a folder");
        std::fs::write(devices.join("wq0.0"), "").expect("a file");
        for (attribute, value) in attributes {
            std::fs::write(shown.join("wq0.0").join(attribute), format!("{value}\n")).expect("a file");
        }
        (devices, shown)
    }

    fn reason(name: &str, attributes: &[(&str, &str)]) -> String {
        let (devices, shown) = host(name, attributes);
        let reason = find_in(&devices, &shown, 3).err().expect("it cannot be used");
        std::fs::remove_dir_all(devices.parent().expect("it has one")).expect("it is there");
        reason
    }

    #[test]
    fn what_cannot_be_used_is_told_in_words() {
        let missing =
            find_in(Path::new("/dev/none"), Path::new("/sys/none"), 0).err().expect("there is none");
        assert!(missing.contains("there is no /dev/none") && missing.contains("accel-config"), "{missing}");
        let untold = reason("untold", &[]);
        assert!(untold.starts_with("wq0.0: its `type` cannot be read"), "{untold}");
        let kernel = reason("kernel", &[("type", "kernel")]);
        assert!(kernel.contains("it is of type \"kernel\""), "{kernel}");
        let mode = reason("mode", &[("type", "user"), ("mode", "odd")]);
        assert!(mode.contains("its mode is \"odd\""), "{mode}");
        let size = reason("size", &[("type", "user"), ("mode", "shared"), ("size", "many")]);
        assert!(size.contains("its `size` is \"many\""), "{size}");
    }
}
