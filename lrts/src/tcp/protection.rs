//! Protection: what guards the frames of a connection on their way, as two nodes agree on it.

use crate::wrappers::FaultPlan;

/// What frames between hosts carry against those who are on their path. The same on all nodes of a job.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Protection {
    /// Nothing: whoever can change packets can change messages.
    Clear = 0,
    /// A tag that nobody without the connection's keys can make. Everybody on the path can read.
    #[default]
    Tags = 1,
    /// The tag, and bodies that nobody else can read.
    Seals = 2,
}

impl Protection {
    const ALL: [Self; 3] = [Self::Clear, Self::Tags, Self::Seals];

    pub(super) fn from_byte(byte: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|one| *one as u8 == byte)
    }

    /// The option that asks for it, in words.
    fn asked(self) -> &'static str {
        match self {
            Self::Clear => "was started with `+clear`",
            Self::Tags => "was started with neither `+encrypt` nor `+clear`",
            Self::Seals => "was started with `+encrypt`",
        }
    }
}

/// What a node wants of its connections. The same on all nodes of a job.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct TcpOptions {
    /// What frames between hosts carry.
    pub protection: Protection,
    /// `+nolocal`: connections within a host are protected like others. Else they are not: nobody is on their path.
    pub nolocal: bool,
    /// `+fault LIST`, of which `flip` is done here: below the tags.
    pub fault: Option<FaultPlan>,
}

/// One node's view of a connection, which it tells the other in the handshake.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Terms {
    pub(super) protection: Protection,
    /// Both ends have one address, and that may count: nobody is on the path.
    pub(super) is_near: bool,
}

/// What was agreed on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Agreed {
    pub(super) protection: Protection,
    /// In words, behind the backend's name.
    pub(super) words: &'static str,
}

impl Terms {
    /// What both nodes do. Only where each sees the other on its own host, nothing is done.
    ///
    /// # Errors
    /// They were started unlike, in words about the other.
    pub(super) fn settle(self, theirs: Self) -> Result<Agreed, String> {
        if self.protection != theirs.protection {
            let (its, ours) = (theirs.protection.asked(), self.protection.asked());
            return Err(format!("it {its}, and this node {ours}; start all nodes with the same options"));
        }
        if self.is_near && theirs.is_near {
            return Ok(Agreed { protection: Protection::Clear, words: "" });
        }
        let words = match self.protection {
            Protection::Clear => " (in clear)",
            Protection::Tags => " (authenticated)",
            Protection::Seals => " (sealed)",
        };
        Ok(Agreed { protection: self.protection, words })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_left_out_unless_both_see_one_host() {
        for protection in Protection::ALL {
            for near in [[false, false], [false, true], [true, false], [true, true]] {
                let [ours, theirs] = near.map(|is_near| Terms { protection, is_near });
                let agreed = ours.settle(theirs).expect("they were started alike").protection;
                let expected = if near == [true, true] { Protection::Clear } else { protection };
                assert_eq!(agreed, expected);
                for other in Protection::ALL.into_iter().filter(|other| *other != protection) {
                    let cause = ours.settle(Terms { protection: other, ..theirs }).expect_err("they differ");
                    assert!(cause.contains("the same options"), "{cause}");
                }
            }
        }
    }
}
