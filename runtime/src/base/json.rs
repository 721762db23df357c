//! JSON of records, a line each: where a build has the feature `launch` or `dashboard`, which bring the crate for it.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// The line of a record, without its end.
///
/// # Errors
/// When the record refuses, or the build has no JSON, in words.
#[cfg(any(feature = "launch", feature = "dashboard"))]
pub(crate) fn write(record: &impl Serialize) -> Result<Vec<u8>, String> {
    serde_json::to_vec(record).map_err(|error| error.to_string())
}

/// The record of a line.
///
/// # Errors
/// When the line is none, or the build has no JSON, in words.
#[cfg(any(feature = "launch", feature = "dashboard"))]
pub(crate) fn read<T: DeserializeOwned>(line: &str) -> Result<T, String> {
    serde_json::from_str(line).map_err(|error| error.to_string())
}

/// Why a build without the crate writes and reads none.
#[cfg(not(any(feature = "launch", feature = "dashboard")))]
const NONE_HERE: &str =
    "this build has no JSON; give `chare` the feature `launch`, which is among those by default";

/// The line of a record, without its end.
///
/// # Errors
/// Always: the build has no JSON.
#[cfg(not(any(feature = "launch", feature = "dashboard")))]
pub(crate) fn write(_: &impl Serialize) -> Result<Vec<u8>, String> {
    Err(NONE_HERE.to_owned())
}

/// The record of a line.
///
/// # Errors
/// Always: the build has no JSON.
#[cfg(not(any(feature = "launch", feature = "dashboard")))]
pub(crate) fn read<T: DeserializeOwned>(_: &str) -> Result<T, String> {
    Err(NONE_HERE.to_owned())
}
