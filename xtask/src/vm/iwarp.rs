//! soft-iWARP (`siw`): Debian's kernels lack it, their source has it. It is compiled against their headers, in a minute.

use super::tool::{self, Failure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The package among `apt-cache depends` lines whose name holds `part`.
fn dependency<'a>(lines: &'a str, part: &'a str) -> &'a str {
    let names = lines.lines().filter_map(|line| line.trim().strip_prefix("Depends: "));
    names.into_iter().find(|name| name.contains(part)).unwrap_or(part)
}

/// Compiles the module for a kernel, if it is not there.
///
/// # Errors
/// Which tool failed.
pub(super) fn build(cache: &Path, version: &str) -> Result<PathBuf, Failure> {
    let done = cache.join("siw.ko");
    if done.exists() {
        return Ok(done);
    }
    let tree = cache.join("siw.new");
    let _ = fs::remove_dir_all(&tree);
    let headers = format!("linux-headers-{version}");
    let needs = tool::output(Command::new("apt-cache").args(["depends", &headers]))?;
    let release = version.splitn(3, '.').take(2).collect::<Vec<_>>().join(".");
    let source = format!("linux-source-{release}");
    tool::unpack(
        cache,
        &tree,
        &[&headers, dependency(&needs, "-common"), dependency(&needs, "linux-kbuild"), &source],
    )?;
    let inside = format!("{source}/drivers/infiniband/sw/siw");
    let packed = tree.join("usr/src").join(format!("{source}.tar.xz"));
    tool::run(Command::new("tar").arg("-xJf").arg(&packed).arg("-C").arg(&tree).arg(&inside))?;
    // Headers name each other by absolute paths.
    let build = tree.join("usr/src").join(&headers);
    for file in ["Makefile", ".kernelvariables"] {
        let Ok(text) = fs::read_to_string(build.join(file)) else { continue };
        let here = tree.display();
        let text = text
            .replace("/usr/src/", &format!("{here}/usr/src/"))
            .replace("/usr/lib/", &format!("{here}/usr/lib/"));
        fs::write(build.join(file), text)?;
    }
    let mut make = Command::new("make");
    make.arg("-s").arg("-C").arg(&build).arg(format!("M={}", tree.join(&inside).display()));
    tool::run(make.args(["CONFIG_RDMA_SIW=m", "CONFIG_DEBUG_INFO_BTF_MODULES=", "modules"]))?;
    let module = tree.join(&inside).join("siw.ko");
    tool::run(Command::new("strip").arg("-g").arg(&module))?;
    fs::copy(&module, &done)?;
    fs::remove_dir_all(&tree)?;
    Ok(done)
}
