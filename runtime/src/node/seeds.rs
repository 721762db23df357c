//! Seeds: how the PEs are chosen on which singletons are created of which the program does not say where.

use std::str::FromStr;

/// The choice of the PE on which a singleton is created by `create`; `create_on` is never overruled. The choices are those of Charm++'s seed
/// balancers (`-balance`).
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub enum Seeds {
    /// Any PE of the job, each as likely as any other.
    #[default]
    Random,
    /// Of two random PEs of the job the one for which fewer messages wait, by what each last said. Other processes are asked for that while
    /// singletons are created: half a message more for each creation that another process might get.
    Least,
    /// This PE, until it comes to create the singleton: a PE of this process that has nothing to do gets it before. Any PE of another process.
    Steal,
}

impl FromStr for Seeds {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "random" => Ok(Self::Random),
            "least" => Ok(Self::Least),
            "steal" => Ok(Self::Steal),
            _ => Err("write random, least or steal".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_words_are_refused() {
        assert_eq!("steal".parse(), Ok(Seeds::Steal));
        assert_eq!("neighbor".parse::<Seeds>(), Err("write random, least or steal".to_owned()));
    }
}
