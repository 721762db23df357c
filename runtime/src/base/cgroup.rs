//! Control groups: the least limit of memory among a process's own group and all groups around it, the memory that they have left, and the
//! tightest quota of processor time, in both versions of the kernel's interface.
//!
//! A batch system sets the limit of a job on some group above the process's own, and may use version 1, version 2, or both side by side.
//! `/proc/self/cgroup` names the process's group in each hierarchy, `/proc/self/mountinfo` where the hierarchy is mounted and which of its
//! groups is the mount's root: in a container, that is the container's own, and what is above it cannot be seen.

use std::fs::read_to_string;
use std::path::{Component, Path, PathBuf};

/// What the control groups of this process answer to one of the questions below.
pub(super) fn with_groups<T>(
    ask: impl FnOnce(&str, &str, fn(&Path) -> Option<String>) -> Option<T>,
) -> Option<T> {
    let groups = read_to_string("/proc/self/cgroup").unwrap_or_default();
    let mounts = read_to_string("/proc/self/mountinfo").unwrap_or_default();
    ask(&groups, &mounts, |path| read_to_string(path).ok())
}

/// The least limit in bytes, if there is any: `read` gives the text of a file.
pub(super) fn limit_bytes(groups: &str, mounts: &str, read: impl Fn(&Path) -> Option<String>) -> Option<u64> {
    let limits = folders(groups, mounts, MEMORY);
    limits.filter_map(|(version, folder)| number(&read, &folder.join(files(version).limit))).min()
}

/// The least memory in bytes that any group has left, if there is a limit. Pages of files that have not been used for long count as left:
/// the kernel gives them up first.
pub(super) fn left_bytes(groups: &str, mounts: &str, read: impl Fn(&Path) -> Option<String>) -> Option<u64> {
    let left = folders(groups, mounts, MEMORY).filter_map(|(version, folder)| {
        let files = files(version);
        let limit = number(&read, &folder.join(files.limit))?;
        let used = number(&read, &folder.join(files.used))?;
        let stat = read(&folder.join("memory.stat")).unwrap_or_default();
        let idle = stat.lines().find_map(|line| line.strip_prefix(files.idle)?.trim().parse().ok());
        Some(limit.saturating_sub(used.saturating_sub(idle.unwrap_or(0))))
    });
    left.min()
}

/// The number in a file. A group without a limit says `max`, which is no number, or one beyond any memory.
fn number(read: &impl Fn(&Path) -> Option<String>, file: &Path) -> Option<u64> {
    read(file)?.trim().parse().ok()
}

/// The tightest quota of processor time, in thousandths of a processor, and the group that sets it, if any does.
pub(super) fn quota(
    groups: &str,
    mounts: &str,
    read: impl Fn(&Path) -> Option<String>,
) -> Option<(u64, PathBuf)> {
    let quotas = folders(groups, mounts, "cpu").filter_map(|(version, folder)| {
        let (quota_us, period_us) = match version {
            Version::One => (
                number(&read, &folder.join("cpu.cfs_quota_us"))?,
                number(&read, &folder.join("cpu.cfs_period_us"))?,
            ),
            Version::Two => {
                let text = read(&folder.join("cpu.max"))?;
                let (quota, period) = text.trim().split_once(' ')?;
                (quota.parse().ok()?, period.parse().ok()?)
            }
        };
        Some((quota_us.checked_mul(1000)?.checked_div(period_us)?, folder))
    });
    // The innermost of equals: its neighbours may have a quota of their own.
    quotas.min_by_key(|(thousandths, _)| *thousandths)
}

/// The folders of the process's groups in which a controller works, innermost first.
fn folders(groups: &str, mounts: &str, controller: &str) -> impl Iterator<Item = (Version, PathBuf)> {
    mounts.lines().filter_map(move |line| Mount::parse(line, controller)).flat_map(move |mount| {
        let folders = mount.folders(groups, controller);
        folders.into_iter().map(move |folder| (mount.version, folder))
    })
}

/// The kernel's name of what limits memory.
const MEMORY: &str = "memory";

/// The version of a hierarchy's interface.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Version {
    One,
    Two,
}

fn files(version: Version) -> &'static Files {
    match version {
        Version::One => &VERSION_1,
        Version::Two => &VERSION_2,
    }
}

/// The files of a group that say its limit and what it uses, and the line of its `memory.stat` that says how much of that is idle.
struct Files {
    limit: &'static str,
    used: &'static str,
    idle: &'static str,
}

const VERSION_1: Files =
    Files { limit: "memory.limit_in_bytes", used: "memory.usage_in_bytes", idle: "total_inactive_file " };
const VERSION_2: Files = Files { limit: "memory.max", used: "memory.current", idle: "inactive_file " };

/// A mounted hierarchy in which a controller works.
struct Mount {
    root: PathBuf,
    point: PathBuf,
    version: Version,
}

impl Mount {
    /// Reads a line such as `32 31 0:29 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory`.
    fn parse(line: &str, controller: &str) -> Option<Self> {
        let (place, kind) = line.split_once(" - ")?;
        let mut kind = kind.split(' ');
        let version = match (kind.next()?, kind.nth(1)) {
            ("cgroup2", _) => Version::Two,
            ("cgroup", Some(options)) if options.split(',').any(|option| option == controller) => {
                Version::One
            }
            _ => return None,
        };
        let mut place = place.split(' ').skip(3).map(|path| PathBuf::from(unescape(path)));
        Some(Self { root: place.next()?, point: place.next()?, version })
    }

    /// The folders of the process's group and of those around it, as far as they are mounted.
    fn folders(&self, groups: &str, controller: &str) -> Vec<PathBuf> {
        let group = groups.lines().find_map(|line| {
            let (_, rest) = line.split_once(':')?;
            let (controllers, path) = rest.split_once(':')?;
            let is_it = match self.version {
                Version::Two => controllers.is_empty(),
                Version::One => controllers.split(',').any(|known| known == controller),
            };
            is_it.then(|| Path::new(path))
        });
        let Some(group) = group else { return Vec::new() };
        // Outside of the mount's root, or of this process's namespace (`/..`): only the root can be seen.
        let below = group.strip_prefix(&self.root).unwrap_or(Path::new(""));
        let is_plain = below.components().all(|part| matches!(part, Component::Normal(_)));
        let below = if is_plain { below } else { Path::new("") };
        below.ancestors().map(|part| self.point.join(part)).collect()
    }
}

/// A path as `mountinfo` writes it: blanks and backslashes as three octal digits.
fn unescape(path: &str) -> String {
    [(r"\040", " "), (r"\011", "\t"), (r"\012", "\n"), (r"\134", r"\")]
        .iter()
        .fold(path.to_owned(), |path, (code, character)| path.replace(code, character))
}

#[cfg(test)]
mod tests {
    use super::*;

    const V1: &str = "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n\
                      32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu\n\
                      35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory\n";
    const V2: &str = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
    const HYBRID: &str = "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n\
                          41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n";

    /// The limit where these files exist.
    fn limit(groups: &str, mounts: &str, files: &[(&str, &str)]) -> Option<u64> {
        limit_bytes(groups, mounts, |path| {
            let found = files.iter().find(|(name, _)| Path::new(name) == path);
            found.map(|(_, text)| format!("{text}\n"))
        })
    }

    #[test]
    fn the_least_limit_on_the_way_to_the_root_counts() {
        let groups = "0::/slurm/job_7/step_0\n";
        let job = [
            ("/sys/fs/cgroup/slurm/job_7/step_0/memory.max", "max"),
            ("/sys/fs/cgroup/slurm/job_7/memory.max", "1000"),
            ("/sys/fs/cgroup/slurm/memory.max", "5000"),
            ("/sys/fs/cgroup/other/memory.max", "1"),
        ];
        assert_eq!(limit(groups, V2, &job), Some(1000));
        assert_eq!(limit(groups, V2, &job[..1]), None);
        assert_eq!(limit("0::/\n", V2, &job), None);
        assert_eq!(limit("", V2, &job), None);
    }

    #[test]
    fn version_1_names_its_controller() {
        let groups = "5:cpu,cpuacct:/cpus\n4:memory:/pbs/job\n0::/\n";
        let files = [
            ("/sys/fs/cgroup/memory/pbs/job/memory.limit_in_bytes", "9223372036854771712"),
            ("/sys/fs/cgroup/memory/pbs/memory.limit_in_bytes", "262144000"),
            ("/sys/fs/cgroup/memory/cpus/memory.limit_in_bytes", "1"),
            ("/sys/fs/cgroup/cpu/cpus/memory.limit_in_bytes", "1"),
        ];
        assert_eq!(limit(groups, V1, &files), Some(262_144_000));
    }

    #[test]
    fn side_by_side_both_versions_count() {
        let groups = "4:memory:/a\n0::/b\n";
        let files = [
            ("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "700"),
            ("/sys/fs/cgroup/unified/b/memory.max", "900"),
        ];
        assert_eq!(limit(groups, HYBRID, &files), Some(700));
        assert_eq!(limit(groups, HYBRID, &files[1..]), Some(900));
    }

    #[test]
    fn what_the_tightest_group_has_left_counts() {
        let files = [
            ("/sys/fs/cgroup/job/memory.max", "1000"),
            ("/sys/fs/cgroup/job/memory.current", "900"),
            ("/sys/fs/cgroup/job/memory.stat", "anon 700\ninactive_file 150\nactive_file 50"),
            ("/sys/fs/cgroup/job/step/memory.max", "max"),
            ("/sys/fs/cgroup/job/step/memory.current", "600"),
        ];
        let left = |files: &[(&str, &str)]| {
            left_bytes("0::/job/step\n", V2, |path| {
                let found = files.iter().find(|(name, _)| Path::new(name) == path);
                found.map(|(_, text)| format!("{text}\n"))
            })
        };
        assert_eq!(left(&files), Some(250));
        assert_eq!(left(&files[..2]), Some(100));
        assert_eq!(left(&files[3..]), None);
    }

    #[test]
    fn a_container_sees_its_own_group_and_what_is_below() {
        let mount = "35 31 0:32 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n";
        let own = ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "800");
        let below = ("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "300");
        assert_eq!(limit("4:memory:/docker/abc\n", mount, &[own, below]), Some(800));
        assert_eq!(limit("4:memory:/docker/abc/job\n", mount, &[own, below]), Some(300));
        // Another group's path, or one outside of the namespace: the mount's root is all that can be seen.
        assert_eq!(limit("4:memory:/elsewhere\n", mount, &[own, below]), Some(800));
        let outside = ("/sys/fs/cgroup/memory.max", "800");
        assert_eq!(
            limit("0::/../job\n", V2, &[outside, ("/sys/fs/cgroup/../job/memory.max", "1")]),
            Some(800)
        );
    }

    #[test]
    fn strange_paths_are_read_as_they_are_written() {
        let mount = r"30 23 0:26 / /sys/fs/c\040group rw - cgroup2 none rw";
        assert_eq!(limit("0::/a:b\n", mount, &[("/sys/fs/c group/a:b/memory.max", "5")]), Some(5));
        assert_eq!(limit("nonsense\n::\n", "nonsense - cgroup2\n - \n", &[]), None);
    }

    /// The quota where these files exist.
    fn quota_of(groups: &str, mounts: &str, files: &[(&str, &str)]) -> Option<(u64, String)> {
        let found = quota(groups, mounts, |path| {
            let found = files.iter().find(|(name, _)| Path::new(name) == path);
            found.map(|(_, text)| format!("{text}\n"))
        });
        found.map(|(thousandths, folder)| (thousandths, folder.display().to_string()))
    }

    #[test]
    fn the_tightest_quota_counts_and_names_its_group() {
        let files = [
            ("/sys/fs/cgroup/job/step/cpu.max", "max 100000"),
            ("/sys/fs/cgroup/job/cpu.max", "150000 100000"),
            ("/sys/fs/cgroup/cpu.max", "800000 100000"),
        ];
        assert_eq!(quota_of("0::/job/step\n", V2, &files), Some((1500, "/sys/fs/cgroup/job".to_owned())));
        let files = [
            ("/sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "200000"),
            ("/sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000"),
            ("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1"),
            ("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000"),
            ("/sys/fs/cgroup/memory/job/cpu.cfs_quota_us", "1"),
        ];
        let groups = "5:memory:/job\n4:cpu,cpuacct:/job\n";
        assert_eq!(quota_of(groups, V1, &files), Some((2000, "/sys/fs/cgroup/cpu/job".to_owned())));
        assert_eq!(quota_of("4:cpu:/other\n", V1, &files), None);
    }
}
