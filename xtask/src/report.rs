//! Final report: a table of the steps, the skipped tests with their reasons, and the exit code.

use crate::step::{Finished, Outcome};
use std::process::ExitCode;

/// The steps of one command.
#[derive(Default)]
pub(crate) struct Report {
    steps: Vec<Finished>,
}

impl Report {
    pub(crate) fn add(&mut self, step: Finished) {
        self.steps.push(step);
    }

    /// Adds the steps of another one behind its own.
    pub(crate) fn join(&mut self, other: Self) {
        self.steps.extend(other.steps);
    }

    fn count(&self, kind: fn(&Outcome) -> bool) -> usize {
        self.steps.iter().filter(|step| kind(&step.outcome)).count()
    }

    /// Prints what was skipped within steps, the table, what failed once more, and at last how many steps there were: whoever sees the end alone
    /// sees what matters.
    pub(crate) fn print(&self) {
        for step in &self.steps {
            for line in step.output.iter().filter_map(|line| skipped_within(line)) {
                println!("skipped within {}: {line}", step.name);
            }
        }
        println!("\n{:<16} {:>8}  result", "step", "seconds");
        for Finished { name, outcome, elapsed, .. } in &self.steps {
            let result = match outcome {
                Outcome::Passed => "passed".to_owned(),
                Outcome::Failed(why) => format!("FAILED ({why})"),
                Outcome::Skipped(why) => format!("skipped: {why}"),
            };
            println!("{name:<16} {:>8.1}  {result}", elapsed.as_secs_f64());
        }
        for step in &self.steps {
            if let Outcome::Failed(why) = &step.outcome {
                println!("error: {}: {why}", step.name);
                for line in of_failed_tests(&step.output) {
                    println!("error: {}: {line}", step.name);
                }
            }
        }
        println!(
            "{} passed, {} failed, {} skipped",
            self.count(|outcome| *outcome == Outcome::Passed),
            self.count(|outcome| matches!(outcome, Outcome::Failed(_))),
            self.count(|outcome| matches!(outcome, Outcome::Skipped(_))),
        );
    }

    /// Success unless a step failed.
    pub(crate) fn exit_code(&self) -> ExitCode {
        match self.count(|outcome| matches!(outcome, Outcome::Failed(_))) {
            0 => ExitCode::SUCCESS,
            _ => ExitCode::FAILURE,
        }
    }
}

/// The text of a line about a test that did not run: `skipped: why`, `NAME ... skipped: why`, or libtest's `test NAME ... ignored`.
fn skipped_within(line: &str) -> Option<String> {
    if let Some(why) = line.strip_prefix("skipped: ") {
        return Some(why.to_owned());
    }
    if let Some((test, why)) = line.split_once(" ... skipped: ") {
        return Some(format!("{test}: {why}"));
    }
    let (test, why) = line.strip_prefix("test ")?.split_once(" ... ignored")?;
    let why = why.strip_prefix(", ").unwrap_or("no reason is given");
    Some(format!("{test}: {why}"))
}

/// How many lines of one failed test are repeated.
const WORDS_MAX: usize = 40;

/// The lines that name a failed test, and those in which libtest repeats what the test has said: each test's under a line
/// `---- NAME stdout ----`, up to the next such line or the list of failures.
fn of_failed_tests(output: &[String]) -> Vec<&str> {
    let mut told = Vec::new();
    let mut room = 0;
    for line in output.iter().map(String::as_str) {
        if line.starts_with("---- ") && line.ends_with(" stdout ----") {
            room = WORDS_MAX;
        } else if line == "failures:" {
            room = 0;
        }
        if says_that_a_test_failed(line) {
            told.push(line);
        } else if room > 0 && !line.is_empty() {
            room -= 1;
            told.push(line);
        }
    }
    told
}

/// Whether a line names a test that failed: `NAME ... FAILED`, of libtest or of a suite of our own.
fn says_that_a_test_failed(line: &str) -> bool {
    line.contains(" ... FAILED")
}

#[cfg(test)]
mod tests {
    use super::{WORDS_MAX, of_failed_tests, says_that_a_test_failed, skipped_within};

    #[test]
    fn repeats_what_failed_tests_have_said() {
        let output = "test a ... ok\ntest b ... FAILED\n\nfailures:\n\n---- b stdout ----\nsaid\n\nthread 'b' panicked\n\nfailures:\n    b\n";
        let output: Vec<String> = output.lines().map(str::to_owned).collect();
        let told = ["test b ... FAILED", "---- b stdout ----", "said", "thread 'b' panicked"];
        assert_eq!(of_failed_tests(&output), told);
        let long = ["---- c stdout ----"].into_iter().chain(std::iter::repeat_n("more", 2 * WORDS_MAX));
        let long: Vec<String> = long.map(str::to_owned).collect();
        assert_eq!(of_failed_tests(&long).len(), WORDS_MAX);
    }

    #[test]
    fn finds_the_tests_that_failed() {
        assert!(says_that_a_test_failed("test tests::wrong ... FAILED"));
        assert!(says_that_a_test_failed("cma::get ... FAILED: refused"));
        assert!(!says_that_a_test_failed("cma::a_killed_process_is_lost ... ok"));
    }

    #[test]
    fn finds_what_tests_say_about_skipping() {
        let found = |line| skipped_within(line).unwrap_or_default();
        assert_eq!(found("skipped: no second host"), "no second host");
        assert_eq!(found("cma::get ... skipped: denied"), "cma::get: denied");
        assert_eq!(found("test tests::slow ... ignored, takes an hour"), "tests::slow: takes an hour");
        assert_eq!(found("test tests::slow ... ignored"), "tests::slow: no reason is given");
        assert_eq!(found("conformance: 3 passed, 1 skipped, 0 failed"), "");
        assert_eq!(found("test tests::quick ... ok"), "");
    }
}
