//! Choices of devices: which devices the nodes of a host are to have.

use chare_device::Software;
use std::fmt;
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

#[cfg(test)]
mod tests {
    use super::*;

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
