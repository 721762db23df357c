//! Choices of devices: which devices the nodes of a host are to have, and where it is kept what they were measured to take.

use chare_device::Software;
use std::env;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use thiserror::Error;

/// Which devices the PEs of a host are dealt, in blocks: what `+device` says.
///
/// | `+device` | the devices of each host |
/// |---|---|
/// | left out | those of NVIDIA, if the program was built with the feature `cuda` and there are any; else none |
/// | `cuda` | those of NVIDIA; a job whose program or host has none does not start |
/// | `software`, `software:N` | one software device, or N: for development and tests, without speed |
/// | `none` | none |
///
/// Devices are opened when a PE first asks for its own ([`mine`](crate::devices::mine)): a job that never does opens none.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum DeviceChoice {
    /// Those that are found.
    #[default]
    Found,
    /// Those of NVIDIA.
    Cuda,
    /// These software devices, whose numbers are set to their places among them.
    Software(Vec<Software>),
    /// None.
    None,
}

/// The most software devices of one host.
const SOFTWARE_MAX: u32 = 64;

/// A text that names no devices.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
#[error("it is none of `cuda`, `software`, `software:N` with N from 1 to {SOFTWARE_MAX}, and `none`")]
pub struct DeviceChoiceError;

impl DeviceChoice {
    /// So many software devices of the usual size, in which nothing goes wrong.
    ///
    /// # Panics
    /// If there are to be none.
    pub fn software(devices: u32) -> Self {
        assert!(devices > 0, "a host that has devices has at least one");
        Self::Software((0..devices).map(|_| Software::default()).collect())
    }
}

impl FromStr for DeviceChoice {
    type Err = DeviceChoiceError;

    fn from_str(text: &str) -> Result<Self, DeviceChoiceError> {
        let (name, number) = text.split_once(':').map_or((text, None), |(name, number)| (name, Some(number)));
        match (name, number) {
            ("cuda", None) => Ok(Self::Cuda),
            ("none", None) => Ok(Self::None),
            ("software", None) => Ok(Self::software(1)),
            ("software", Some(number)) => match number.parse() {
                Ok(number) if (1..=SOFTWARE_MAX).contains(&number) => Ok(Self::software(number)),
                _ => Err(DeviceChoiceError),
            },
            _ => Err(DeviceChoiceError),
        }
    }
}

impl fmt::Display for DeviceChoice {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Found => out.write_str("those found"),
            Self::Cuda => out.write_str("cuda"),
            Self::Software(devices) if devices.len() == 1 => out.write_str("software"),
            Self::Software(devices) => write!(out, "software:{}", devices.len()),
            Self::None => out.write_str("none"),
        }
    }
}

/// Where a job finds, and leaves for later ones, what its devices were [measured](crate::devices::measure) to take: what `+device_models` says.
///
/// | `+device_models` | the folder |
/// |---|---|
/// | left out | `chare/devices` among the user's caches: in `XDG_CACHE_HOME`, else in `.cache` of `HOME`; none where neither is said |
/// | a path | that one, made when there is something to leave |
/// | `none` | none: each job measures for itself |
///
/// A file has the name of its device's identity, and is of one version of its driver and of `chare`: delete it to have the device measured anew.
/// Software devices have no driver, and leave nothing.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum DeviceModels {
    /// Among the user's caches.
    #[default]
    Cached,
    /// In this folder.
    In(PathBuf),
    /// Nowhere.
    Nowhere,
}

/// What the option `+device_models` says: `none`, or a folder.
impl From<&str> for DeviceModels {
    fn from(text: &str) -> Self {
        if text == "none" { Self::Nowhere } else { Self::In(text.into()) }
    }
}

impl DeviceModels {
    /// The folder, if there is one.
    pub(crate) fn folder(&self) -> Option<PathBuf> {
        self.folder_by(|variable| env::var_os(variable).map(PathBuf::from))
    }

    /// The folder, where `said` is what variables of the environment say.
    fn folder_by(&self, said: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
        // The rules of the caches have who reads them ignore all other paths.
        let absolute = |variable| said(variable).filter(|path| path.is_absolute());
        match self {
            Self::In(folder) => Some(folder.clone()),
            Self::Nowhere => None,
            Self::Cached => {
                let home = || Some(absolute("HOME")?.join(".cache"));
                Some(absolute("XDG_CACHE_HOME").or_else(home)?.join("chare/devices"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_among_the_users_caches_or_where_it_is_said() {
        let by = |models: DeviceModels, xdg: Option<&str>, home: Option<&str>| {
            let said = |variable: &str| if variable == "HOME" { home } else { xdg }.map(PathBuf::from);
            models.folder_by(said).map(|folder| folder.display().to_string())
        };
        let cached = |xdg, home| by(DeviceModels::Cached, xdg, home);
        assert_eq!(cached(Some("/x"), Some("/h")).as_deref(), Some("/x/chare/devices"));
        assert_eq!(cached(None, Some("/h")).as_deref(), Some("/h/.cache/chare/devices"));
        assert_eq!(
            cached(Some("x"), Some("/h")).as_deref(),
            Some("/h/.cache/chare/devices"),
            "no absolute path"
        );
        assert_eq!(cached(Some(""), None), None);
        assert_eq!(by(DeviceModels::from("here"), Some("/x"), None).as_deref(), Some("here"));
        assert_eq!(by(DeviceModels::from("none"), Some("/x"), Some("/h")), None);
    }

    #[test]
    fn choices_are_read_as_they_are_written() {
        for text in ["cuda", "software", "software:3", "none"] {
            let choice: DeviceChoice = text.parse().expect("it is a choice");
            assert_eq!(choice.to_string(), text);
        }
        for text in ["gpu", "software:0", "software:65", "software:x", "cuda:1", ""] {
            assert_eq!(text.parse::<DeviceChoice>(), Err(DeviceChoiceError), "{text}");
        }
    }
}
