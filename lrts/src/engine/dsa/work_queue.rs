//! Work queue: where a DSA takes descriptors from a process; finds those that are near and serve this process, or says in words why there is none.

use super::portal::{self, Portal, Sharing};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::thread::sched_getaffinity;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;

/// Where the kernel shows work queues that processes may open.
const DEVICES: &str = "/dev/dsa";

/// Where it says how they were set up.
const ATTRIBUTES: &str = "/sys/bus/dsa/devices";

/// Where it shows which memory is near which processors.
const NUMA_NODES: &str = "/sys/devices/system/node";

/// NUMA nodes that a kernel for x86 knows at most (`CONFIG_NODES_SHIFT` of 10).
const NUMA_NODES_MAX: usize = 1 << 10;

/// How far a NUMA node is from itself (ACPI's `SLIT`).
const NEAR: u32 = 10;

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

/// Places where the kernel shows what a host has.
#[derive(Clone, Copy)]
struct Shown<'a> {
    devices: &'a Path,
    attributes: &'a Path,
    /// NUMA nodes: their processors, and how far they are from each other.
    numa_nodes: &'a Path,
}

/// Opens the work queues that serve this process: of the nearest devices that have any, each queue that processes share, and one that they do not
/// share. The nodes of a host begin with different ones, in turn, so that they spread over them.
///
/// # Errors
/// Why there is none, in words.
pub(super) fn find(turn: usize) -> Result<Vec<WorkQueue>, String> {
    let shown = Shown {
        devices: Path::new(DEVICES),
        attributes: Path::new(ATTRIBUTES),
        numa_nodes: Path::new(NUMA_NODES),
    };
    let allowed = sched_getaffinity(None).ok();
    let runs_on = |processor| allowed.is_none_or(|allowed| allowed.is_set(processor));
    find_in(shown, runs_on, turn)
}

fn find_in(shown: Shown<'_>, runs_on: impl Fn(usize) -> bool, turn: usize) -> Result<Vec<WorkQueue>, String> {
    let Shown { devices, attributes, numa_nodes } = shown;
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
    let distances = distances(numa_nodes, runs_on);
    let distance = |name: &String| distance_of(name, attributes, &distances);
    let mut reasons = Vec::new();
    for names in by_distance(names.into_iter().map(|name| (distance(&name), name)), turn) {
        let (mut found, mut has_own) = (Vec::new(), false);
        for name in &names {
            match open(name, &devices.join(name), &attributes.join(name), has_own) {
                Ok((queue, sharing)) => {
                    has_own |= sharing == Sharing::Dedicated;
                    found.push(queue);
                }
                Err(reason) => reasons.push(format!("{name}: {reason}")),
            }
        }
        if !found.is_empty() {
            return Ok(found);
        }
    }
    Err(reasons.join("; "))
}

/// Names of queues by how far they are, the nearest first; those equally far begin with the `turn`th.
fn by_distance(queues: impl Iterator<Item = (u32, String)>, turn: usize) -> Vec<Vec<String>> {
    let mut at_distance = BTreeMap::<u32, Vec<String>>::new();
    queues.for_each(|(distance, name)| at_distance.entry(distance).or_default().push(name));
    let in_turn = |mut names: Vec<String>| {
        let first = turn % names.len();
        names.rotate_left(first);
        names
    };
    at_distance.into_values().map(in_turn).collect()
}

/// How far each NUMA node of a host is from the one on which most of the processors lie that run this process; empty where that is not shown.
fn distances(numa_nodes: &Path, runs_on: impl Fn(usize) -> bool) -> BTreeMap<usize, u32> {
    let read = |node: usize, what: &str| {
        std::fs::read_to_string(numa_nodes.join(format!("node{node}")).join(what)).ok()
    };
    let processors = |node| Some(numbers(&read(node, "cpulist")?).filter(|cpu| runs_on(*cpu)).count());
    // Numbers of NUMA nodes may have gaps.
    let shown: Vec<_> = (0..NUMA_NODES_MAX).filter_map(|node| Some((node, processors(node)?))).collect();
    // Of nodes with as many, the first.
    let home = shown.iter().copied().reduce(|most, one| if one.1 > most.1 { one } else { most });
    let text = home.and_then(|(node, _)| read(node, "distance")).unwrap_or_default();
    // One for each node that there is.
    let distances = text.split_whitespace().map_while(|distance| distance.parse().ok());
    shown.into_iter().map(|(node, _)| node).zip(distances).collect()
}

/// The numbers of a list as the kernel writes it: `0-3,8`.
fn numbers(list: &str) -> impl Iterator<Item = usize> {
    list.trim()
        .split(',')
        .filter_map(|range| {
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            Some(first.parse().ok()?..=last.parse().ok()?)
        })
        .flatten()
}

/// How far the device of a queue `wq0.1` is, which is `dsa0`; one of which that is not known counts as near.
fn distance_of(name: &str, attributes: &Path, distances: &BTreeMap<usize, u32>) -> u32 {
    let numa_node = || {
        let (device, _) = name.strip_prefix("wq")?.split_once('.')?;
        let text = std::fs::read_to_string(attributes.join(format!("dsa{device}")).join("numa_node")).ok()?;
        // -1 where the kernel does not know.
        text.trim().parse::<usize>().ok()
    };
    numa_node().and_then(|node| distances.get(&node).copied()).unwrap_or(NEAR)
}

/// Opens a queue; no dedicated one if this process `has_own` already.
fn open(name: &str, device: &Path, attributes: &Path, has_own: bool) -> Result<(WorkQueue, Sharing), String> {
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
    if has_own && sharing == Sharing::Dedicated {
        return Err("it is dedicated, and left to another process".to_owned());
    }
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
    let queue = WorkQueue {
        portal,
        depth: usize::try_from(size).unwrap_or(DEPTH_MAX).min(DEPTH_MAX),
        bytes_max: usize::try_from(bytes_max).unwrap_or(usize::MAX).min(u32::MAX as usize),
        description: format!("DSA {name} ({mode}, by {by})"),
    };
    Ok((queue, sharing))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    /// Files that a kernel might show, for as long as it lives.
    struct MadeUp(PathBuf);

    impl MadeUp {
        fn new(name: &str, files: &[(&str, &str)]) -> Self {
            let root = std::env::temp_dir().join(format!("chare-dsa-{}-{name}", std::process::id()));
            for (file, text) in files {
                let file = root.join(file);
                std::fs::create_dir_all(file.parent().expect("it has one")).expect("a folder");
                std::fs::write(file, format!("{text}\n")).expect("a file");
            }
            Self(root)
        }

        fn find(&self, runs_on: impl Fn(usize) -> bool, turn: usize) -> Result<Vec<String>, String> {
            let [devices, attributes, numa_nodes] = ["dev", "sys", "node"].map(|of| self.0.join(of));
            let shown = Shown { devices: &devices, attributes: &attributes, numa_nodes: &numa_nodes };
            let found = find_in(shown, runs_on, turn)?;
            let name = |queue: &WorkQueue| queue.description.split(' ').nth(1).map(str::to_owned);
            Ok(found.iter().filter_map(name).collect())
        }
    }

    impl Drop for MadeUp {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    /// Why the one queue of a host with these attributes serves nobody.
    fn reason(name: &str, attributes: &[(&str, &str)]) -> String {
        let attributes: Vec<_> =
            attributes.iter().map(|(what, value)| (format!("sys/wq0.0/{what}"), *value)).collect();
        let mut files = vec![("dev/wq0.0", "")];
        files.extend(attributes.iter().map(|(file, value)| (&**file, *value)));
        MadeUp::new(name, &files).find(|_| true, 3).expect_err("it cannot be used")
    }

    /// Two sockets of four processors, whose numbers have a gap, a device on each with two queues that processes share and one that they do not; and a third device, of
    /// which nothing is known but its queue.
    fn two_sockets(name: &str) -> MadeUp {
        let mut files = vec![
            ("node/node0/cpulist".to_owned(), "0-1,4-5"),
            ("node/node0/distance".to_owned(), "10 21"),
            ("node/node2/cpulist".to_owned(), "2-3,6-7"),
            ("node/node2/distance".to_owned(), "21 10"),
            ("sys/dsa0/numa_node".to_owned(), "0"),
            ("sys/dsa2/numa_node".to_owned(), "2"),
        ];
        for (device, number, mode) in [
            (0, 0, "shared"),
            (0, 1, "dedicated"),
            (0, 2, "shared"),
            (2, 0, "shared"),
            (2, 1, "dedicated"),
            (2, 2, "dedicated"),
        ] {
            let queue = format!("wq{device}.{number}");
            files.push((format!("dev/{queue}"), ""));
            let attributes =
                [("type", "user"), ("mode", mode), ("size", "16"), ("max_transfer_size", "2097152")];
            files.extend(attributes.map(|(what, value)| (format!("sys/{queue}/{what}"), value)));
        }
        let files: Vec<_> = files.iter().map(|(file, text)| (&**file, *text)).collect();
        MadeUp::new(name, &files)
    }

    #[test]
    fn a_process_has_the_queues_that_are_near_it_and_begins_with_another_one_than_its_neighbour() {
        let host = two_sockets("near");
        let on_first = |processor| processor == 0 || processor == 4;
        let on_second = |processor: usize| (1..4).contains(&processor);
        assert_eq!(host.find(on_first, 0).expect("queues"), ["wq0.0", "wq0.1", "wq0.2"]);
        assert_eq!(host.find(on_first, 4).expect("queues"), ["wq0.1", "wq0.2", "wq0.0"]);
        // One processor of the first socket, two of the second. Only one queue of a process for itself.
        assert_eq!(host.find(on_second, 0).expect("queues"), ["wq2.0", "wq2.1"]);
        assert_eq!(host.find(on_second, 2).expect("queues"), ["wq2.2", "wq2.0"]);
    }

    #[test]
    fn a_process_has_queues_of_another_socket_where_the_near_ones_serve_nobody() {
        let host = two_sockets("far");
        for queue in ["wq0.0", "wq0.1", "wq0.2"] {
            std::fs::write(host.0.join("sys").join(queue).join("type"), "kernel\n").expect("a file");
        }
        assert_eq!(host.find(|processor| processor == 0, 0).expect("queues"), ["wq2.0", "wq2.1"]);
    }

    #[test]
    fn where_nothing_is_said_of_distances_all_queues_are_near() {
        let host = two_sockets("unknown");
        std::fs::remove_dir_all(host.0.join("node")).expect("it is there");
        let found = host.find(|_| true, 0).expect("queues");
        assert_eq!(found, ["wq0.0", "wq0.1", "wq0.2", "wq2.0"]);
        assert_eq!(numbers("0-2,7\n").collect::<Vec<_>>(), [0, 1, 2, 7]);
    }

    #[test]
    fn what_cannot_be_used_is_told_in_words() {
        let missing = MadeUp::new("missing", &[]).find(|_| true, 0).expect_err("there is none");
        assert!(missing.contains("there is no /") && missing.contains("accel-config"), "{missing}");
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
