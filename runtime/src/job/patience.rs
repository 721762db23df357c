//! Patience at start-up: how long nodes wait for each other.

use std::ffi::OsString;
use std::time::Duration;
use thiserror::Error;

/// The environment variable that sets how many seconds nodes may wait for each other at start-up.
pub const TIMEOUT_VARIABLE: &str = "CHARE_STARTUP_TIMEOUT";

/// The seconds that nodes may wait for each other at start-up, if the environment sets no other number.
const TIMEOUT_S: u64 = 30;

/// The most seconds that the environment may set: a longer time is a mistyped one.
const TIMEOUT_S_MAX: u64 = 86_400;

/// The time for start-up is no number of seconds.
#[derive(Debug, Error)]
#[error("`{TIMEOUT_VARIABLE}` is {0:?}; it takes 1 to {TIMEOUT_S_MAX} seconds")]
pub struct TimeoutError(OsString);

/// How long nodes may wait for each other at start-up, from the environment.
///
/// # Errors
/// When the variable is no such number.
pub fn startup_timeout() -> Result<Duration, TimeoutError> {
    let Some(value) = std::env::var_os(TIMEOUT_VARIABLE).filter(|value| !value.is_empty()) else {
        return Ok(Duration::from_secs(TIMEOUT_S));
    };
    let seconds = value.to_str().and_then(|value| value.parse().ok());
    match seconds.filter(|seconds| (1..=TIMEOUT_S_MAX).contains(seconds)) {
        Some(seconds) => Ok(Duration::from_secs(seconds)),
        None => Err(TimeoutError(value)),
    }
}
