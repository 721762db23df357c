//! Chance of a simulated job: the parts of it that a seed decides, each of which may be switched off.

use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// A part of what a seed decides about a simulated job, beside what its own dice draw.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Chance {
    /// How long frames are on their way.
    Weather,
    /// Some frames come much later than others.
    Late,
    /// How many frames of one node to another there is room for.
    Room,
    /// How long turns of PEs take, and which nodes are slow.
    Turns,
    /// In which order messages of equal priority run, and how many wait between the PEs of a node.
    Order,
    /// For a while there is no room for frames of one node to another.
    Bursts,
    /// For a while a node does nothing at all.
    Pauses,
    /// Registrations of lent memory are refused although there is room.
    Refusals,
    /// Constants of the runtime are at an extreme: windows, batches, lengths.
    Knobs,
    /// A node is lost at some moment, as a process that was killed: what it has sent may come or not, and its peers are told. The job ends with
    /// an error that names it, unless it was over.
    Losses,
    /// One frame is changed on its way: a bit, a byte, its end. Where frames have tags (`+tags`) the job ends with an error that names who sent it;
    /// where they have none it may also go on with what has come, and end as it will, but no bytes of a peer make the runtime panic.
    Corruption,
    /// Nodes may keep little memory because of others. The job ends with an error that says what has used it up, unless it gets along.
    Memory,
}

/// A word that names no part of chance.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
#[error(
    "`{0}` is no part of chance; these are: weather, late, room, turns, order, bursts, pauses, refusals, knobs, losses, corruption, memory"
)]
pub struct ChanceError(String);

impl Chance {
    /// All parts that change nothing of what a program comes to.
    pub const ALL: [Self; 9] = [
        Self::Weather,
        Self::Late,
        Self::Room,
        Self::Turns,
        Self::Order,
        Self::Bursts,
        Self::Pauses,
        Self::Refusals,
        Self::Knobs,
    ];

    /// The parts that end a job.
    pub const FATAL: [Self; 3] = [Self::Losses, Self::Corruption, Self::Memory];

    /// What every network and every machine has.
    pub const USUAL: [Self; 4] = [Self::Weather, Self::Late, Self::Room, Self::Turns];
}

impl fmt::Display for Chance {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Weather => "weather",
            Self::Late => "late",
            Self::Room => "room",
            Self::Turns => "turns",
            Self::Order => "order",
            Self::Bursts => "bursts",
            Self::Pauses => "pauses",
            Self::Refusals => "refusals",
            Self::Knobs => "knobs",
            Self::Losses => "losses",
            Self::Corruption => "corruption",
            Self::Memory => "memory",
        })
    }
}

impl FromStr for Chance {
    type Err = ChanceError;

    fn from_str(word: &str) -> Result<Self, ChanceError> {
        (Self::ALL.into_iter().chain(Self::FATAL))
            .find(|part| part.to_string() == word)
            .ok_or_else(|| ChanceError(word.to_owned()))
    }
}

/// Some parts of chance.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Chances(u16);

impl Chances {
    /// Whether this part is among them.
    pub fn has(self, part: Chance) -> bool {
        self.0 & (1 << part as u16) != 0
    }
}

impl FromIterator<Chance> for Chances {
    fn from_iter<I: IntoIterator<Item = Chance>>(parts: I) -> Self {
        Self(parts.into_iter().fold(0, |set, part| set | (1 << part as u16)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_has_a_word_and_a_place_of_its_own() {
        let parts = || Chance::ALL.into_iter().chain(Chance::FATAL);
        for part in parts() {
            assert_eq!(part.to_string().parse(), Ok(part));
            let alone = Chances::from_iter([part]);
            assert!(parts().all(|other| alone.has(other) == (other == part)));
        }
        let refused = "rain".parse::<Chance>().unwrap_err().to_string();
        assert!(parts().all(|part| refused.contains(&part.to_string())), "{refused}");
    }
}
