//! `cargo xtask test`: every check of the project, in the order in which a mistake is found soonest.

use crate::report::Report;
use crate::setup::{self, Tools};
use crate::step::{Step, flags_with, root};
use crate::vm;

/// Runs all checks; `quick` leaves out documentation and models.
pub(crate) fn run(quick: bool, report: &mut Report) {
    let tools = setup::prepare(report);
    report.add(Tools::run(&tools.rustfmt, Step::cargo("format", "fmt --all --check")));
    let lints = "clippy --workspace --all-targets --all-features -- -D warnings";
    report.add(Tools::run(&tools.clippy, Step::cargo("lints", lints)));
    // Backends that are features load their libraries at run time; their checks skip what is not there.
    // Tests start examples and programs as separate processes, so these are built before.
    report.add(Step::cargo("build", "build --workspace --features ofi,verbs --bins --examples").run());
    // Passing tests may have skipped something; their output says so.
    let tests = "test --workspace --features ofi,verbs --no-fail-fast --lib --bins --tests -- --show-output";
    report.add(Step::cargo("tests", tests).run());
    vm::suite::run("ofi,verbs", report);
    report.add(Step::cargo("doctests", "test --workspace --features ofi,verbs --no-fail-fast --doc").run());
    for step in [documentation(), models()] {
        report.add(if quick { step.skip("--quick".to_owned()) } else { step.run() });
    }
}

fn documentation() -> Step {
    let flags = std::env::var("RUSTDOCFLAGS").unwrap_or_default();
    Step::cargo("documentation", "doc --workspace --features ofi,verbs --no-deps")
        .environment("RUSTDOCFLAGS", format!("{flags} -D warnings"))
}

/// The lock-free protocols, in every order that the memory model allows. In release and in a build of their own: loom replaces the
/// atomics.
fn models() -> Step {
    Step::cargo("models", "test -p chare-lrts --lib --release model::")
        .environment("RUSTFLAGS", flags_with("--cfg loom"))
        .environment("CARGO_TARGET_DIR", root().join("target-loom"))
}
