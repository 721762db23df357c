//! Check of the dependencies by `cargo deny`, as `deny.toml` asks: licences, bans and sources of crates, and advisories against them
//! where RustSec's data can be had.

use crate::report::Report;
use crate::setup::answers;
use crate::step::Step;

const ADVISORIES: &str = "https://github.com/RustSec/advisory-db";

/// Runs the check, with `cargo deny` or, where RustSec's data can be had, after installing it: building it takes minutes.
pub(crate) fn run(report: &mut Report) {
    // A network that drops packets answers nothing, for minutes.
    let has_advisories = answers("timeout", &["30", "git", "ls-remote", "--quiet", ADVISORIES, "HEAD"]);
    let is_there = || answers("cargo", &["deny", "--version"]);
    let is_there = is_there() || has_advisories && answers("cargo", &["install", "--locked", "cargo-deny"]);
    let unreachable = || format!("{ADVISORIES} cannot be reached");
    for (name, checks, obstacle) in [
        ("dependencies", "licenses bans sources", None),
        ("advisories", "advisories", (!has_advisories).then(unreachable)),
    ] {
        let step = Step::cargo(name, &format!("deny check --hide-inclusion-graph {checks}"));
        let missing = || format!("`cargo deny` is not installed, and {}", unreachable());
        report.add(match obstacle.or_else(|| (!is_there).then(missing)) {
            Some(why) => step.skip(why),
            None => step.run(),
        });
    }
}
