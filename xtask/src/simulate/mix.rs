//! Mix of programs: the runtime's test binaries, and runs of them in simulated jobs.

use super::failure::Failure;
use crate::step::target_directory;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Some hundred programs of some milliseconds each.
const PATIENCE_PER_SEED: Duration = Duration::from_secs(60);

/// The least time that a run is given: building up a test binary's own jobs takes some, and machines are busy.
const PATIENCE_MIN: Duration = Duration::from_secs(300);

/// Time between two looks at a process.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// A test binary.
pub(super) struct Binary {
    pub(super) name: String,
    executable: PathBuf,
}

/// The test binaries of the runtime in one tree.
pub(super) struct Mix {
    tree: PathBuf,
    binaries: Vec<Binary>,
}

/// What to run of a test binary, and how.
pub(super) struct Run {
    pub(super) seeds: (u64, u64),
    /// Parts of the names of tests; none: all tests.
    pub(super) filter: Vec<String>,
    /// Whether the filter has whole names.
    pub(super) is_exact: bool,
    /// Parts of chance, with commas between them, if it is not to be all.
    pub(super) chance: Option<String>,
    pub(super) shape: Option<(u32, u32)>,
    /// Whether the first failure suffices.
    pub(super) stops: bool,
    /// The fault that is to be there, in a tree with planted faults.
    pub(super) planted: Option<String>,
}

impl Run {
    /// All tests, with so many seeds from the first on.
    pub(super) fn of_seeds(first: u64, seeds: u64) -> Self {
        let seeds = (first, seeds);
        let (filter, is_exact, stops) = (Vec::new(), false, false);
        Self { seeds, filter, is_exact, stops, chance: None, shape: None, planted: None }
    }
}

/// The outcome of a run.
#[derive(Default)]
pub(super) struct Ran {
    pub(super) failures: Vec<Failure>,
    /// Lines of hits and marks, and of the tests that ran simulated jobs.
    pub(super) marks: String,
}

impl Ran {
    /// The tests that ran simulated jobs, others of a binary run jobs on the machine; and how long they took, in milliseconds.
    pub(super) fn tests(&self) -> BTreeMap<String, u64> {
        let mut tests = BTreeMap::new();
        for line in self.marks.lines().filter_map(|line| line.strip_prefix("test ")) {
            if let Some((took, test)) = line.split_once(' ') {
                *tests.entry(test.to_owned()).or_default() += took.parse().unwrap_or(0);
            }
        }
        tests
    }
}

impl Mix {
    /// Builds the test binaries of the tree at `tree` in `target`, all or those of these names. Two trees need two targets: Cargo does not tell
    /// their packages apart.
    ///
    /// # Errors
    /// Why they cannot be built, in words.
    pub(super) fn build(
        (tree, target): (&Path, &Path),
        profile: &str,
        wanted: &[String],
    ) -> Result<Self, String> {
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo.current_dir(tree).env("CARGO_TARGET_DIR", target);
        cargo.args(["test", "--package", "chare", "--features", "sim", "--no-run", "--profile", profile]);
        match wanted {
            [] => _ = cargo.arg("--tests"),
            wanted => wanted.iter().for_each(|name| _ = cargo.args(["--test", name])),
        }
        cargo.args(["--message-format", "json-render-diagnostics"]).stderr(Stdio::inherit());
        let output = cargo.output().map_err(|error| format!("cargo: {error}"))?;
        if !output.status.success() {
            return Err(format!("the test binaries were not built: {}", output.status));
        }
        let said = String::from_utf8_lossy(&output.stdout);
        let of_test = |line: &str| {
            let artifact: Value = serde_json::from_str(line).ok()?;
            let is_test = artifact["target"]["kind"].as_array()?.iter().any(|kind| kind == "test");
            let executable = PathBuf::from(artifact["executable"].as_str()?);
            let name = artifact["target"]["name"].as_str()?.to_owned();
            is_test.then_some(Binary { name, executable })
        };
        Ok(Self { tree: tree.to_owned(), binaries: said.lines().filter_map(of_test).collect() })
    }

    pub(super) fn binaries(&self) -> impl Iterator<Item = &Binary> {
        self.binaries.iter()
    }

    /// The binary of a name.
    pub(super) fn binary(&self, name: &str) -> Option<&Binary> {
        self.binaries.iter().find(|binary| binary.name == name)
    }

    /// Runs a test binary.
    pub(super) fn run(&self, binary: &Binary, run: &Run) -> Ran {
        self.try_to_run(binary, run).unwrap_or_else(|cause| {
            let (test, said) = (run.filter.join(", "), cause);
            let failure = Failure { binary: binary.name.clone(), test, job: None, said };
            Ran { failures: vec![failure], ..Ran::default() }
        })
    }

    /// # Errors
    /// Why it did not come to its end, in words.
    fn try_to_run(&self, binary: &Binary, run: &Run) -> Result<Ran, String> {
        let folder = target_directory().join("simulate");
        fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let (said, marks) = (folder.join("said"), folder.join("marks"));
        _ = fs::remove_file(&marks);
        let file = File::create(&said).map_err(|error| format!("{}: {error}", said.display()))?;
        let mut command = Command::new(&binary.executable);
        command.current_dir(self.tree.join("runtime")).args(&run.filter);
        if run.is_exact {
            command.arg("--exact");
        }
        let (first, seeds) = run.seeds;
        command.env("CHARE_TEST_SEEDS", format!("{first}+{seeds}")).env("CHARE_TEST_MARKS", &marks);
        command.env("RUST_BACKTRACE", "0");
        run.chance.iter().for_each(|chance| _ = command.env("CHARE_TEST_CHANCE", chance));
        run.shape
            .iter()
            .for_each(|(nodes, pes)| _ = command.env("CHARE_TEST_SHAPE", format!("{nodes}x{pes}")));
        run.planted.iter().for_each(|fault| _ = command.env("CHARE_PLANTED", fault));
        command.stdout(file).stderr(Stdio::null());
        let patience = (PATIENCE_PER_SEED * u32::try_from(seeds).unwrap_or(u32::MAX)).max(PATIENCE_MIN);
        let told = || fs::read_to_string(&marks).unwrap_or_default();
        let suffices = || run.stops && told().contains("\nfailed ");
        let has_passed = wait(&mut command, patience, suffices)?;
        let (output, marks) = (fs::read(&said).unwrap_or_default(), told());
        let mut failures = Failure::told(&binary.name, &marks);
        failures.extend(Failure::others(&binary.name, &String::from_utf8_lossy(&output), &failures));
        if !has_passed && failures.is_empty() {
            return Err("the process died, and named no test".to_owned());
        }
        Ok(Ran { failures, marks })
    }
}

/// Waits for a process, until what it has done `suffices`; returns whether it ended well.
///
/// # Errors
/// When it did not start or took too long, in words.
fn wait(command: &mut Command, patience: Duration, suffices: impl Fn() -> bool) -> Result<bool, String> {
    let mut child = command.spawn().map_err(|error| format!("it did not start: {error}"))?;
    let began = Instant::now();
    loop {
        match child.try_wait().map_err(|error| error.to_string())? {
            Some(status) => return Ok(status.success()),
            None if began.elapsed() > patience => {
                _ = child.kill();
                _ = child.wait();
                return Err(format!("it hung for {} s of the machine's time", patience.as_secs()));
            }
            None if suffices() => {
                _ = child.kill();
                _ = child.wait();
                return Ok(false);
            }
            None => thread::sleep(LOOK_EVERY),
        }
    }
}
