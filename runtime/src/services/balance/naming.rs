//! Names of balancers, as `+balancer` takes them: the strategies that are here, functions of the program, and what Charm++ calls its own.

use super::strategies::Strategy;
use crate::model::registry::{BalancerRegistration, balancers};
use thiserror::Error;

/// How much of the average may be exceeded, where nothing is said: as little as can be reached with ten objects a PE, and a little more for those
/// that also bring together who calls whom.
const TOLERANCE: f64 = 1.02;
const TOLERANCE_OF_CALLS: f64 = 1.05;

/// Balancers as they are spelt.
const SPELLINGS: &str = "`greedy`, `greedy_refine[:TOLERANCE]`, `hilbert`, `rcb`, `bisect[:TOLERANCE]`, `diffuse[:TOLERANCE]`, `rotate`, `random[:SEED]`";

/// What Charm++'s balancers are here.
const OF_CHARM: [(&[&str], &str); 11] = [
    (&["GreedyLB", "GreedyCommLB", "CommLB"], "`greedy`"),
    (
        &[
            "GreedyRefineLB",
            "RefineLB",
            "RefineSwapLB",
            "RefineCommLB",
            "CommAwareRefineLB",
            "TempAwareRefineLB",
        ],
        "`greedy_refine`, with a tolerance of 5 % `greedy_refine:1.05`",
    ),
    (
        &[
            "RecBipartLB",
            "MetisLB",
            "ScotchLB",
            "ScotchRefineLB",
            "ScotchTopoLB",
            "ZoltanLB",
            "BlockLB",
            "GraphPartLB",
        ],
        "`bisect`",
    ),
    (&["OrbLB"], "`rcb`"),
    (&["DistributedLB", "DiffusionLB", "NeighborLB", "WSLB"], "`diffuse`"),
    (&["RotateLB"], "`rotate`"),
    (&["RandCentLB"], "`random`"),
    (&["ComboCentLB"], "several in turn, as `greedy,greedy_refine`"),
    (&["TreeLB", "HybridLB"], "any: each balances nodes first, then the PEs of each"),
    (&["EveryLB", "CommonLBs"], "nothing to link: all are there"),
    (&["DummyLB"], "none: leave `+balancer` out"),
];

/// A balancer that is not there, or is not spelt as it is.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum BalancerError {
    /// There is no such balancer.
    #[error(
        "there is no balancer `{name}`: write {SPELLINGS}, several in turn as `greedy,greedy_refine`, or the name of a function of the program with `#[chare::balancer]`{own}"
    )]
    Unknown {
        /// The name as it was given.
        name: String,
        /// The functions of this program, as a clause.
        own: String,
    },
    /// It is a balancer of Charm++.
    #[error("`{name}` is a balancer of Charm++; here, it is {instead}")]
    OfCharm {
        /// The name as it was given.
        name: String,
        /// What stands in its place.
        instead: &'static str,
    },
    /// What follows the name is not what it takes.
    #[error("`{given}`: {takes}")]
    Parameter {
        /// The balancer as it was given.
        given: String,
        /// What it takes.
        takes: &'static str,
    },
    /// A name is that of two balancers.
    #[error(
        "`{name}` is the name of two balancers, of which at least one is a function of this program: rename it"
    )]
    Duplicate {
        /// The name.
        name: String,
    },
}

/// Balancers that take turns: the first one has the first, and the last one all that are left.
#[derive(Clone, Debug)]
pub(crate) struct Strategies {
    first: Strategy,
    others: Vec<Strategy>,
}

impl Strategies {
    /// Those of a list, `greedy,greedy_refine:1.05`.
    ///
    /// # Errors
    /// When one of them is none, or not spelt as it is.
    pub(crate) fn named(list: &str) -> Result<Self, BalancerError> {
        let (first, others) =
            list.split_once(',').map_or((list, None), |(first, others)| (first, Some(others)));
        let others = others.into_iter().flat_map(|others| others.split(','));
        Ok(Self { first: strategy(first)?, others: others.map(strategy).collect::<Result<_, _>>()? })
    }

    /// The one whose turn it is in a balancing; they are counted from 0.
    pub(crate) fn turn(&self, balancing: u64) -> Strategy {
        let last = self.others.len() as u64;
        match balancing.min(last) {
            0 => self.first,
            other => self.others[other as usize - 1],
        }
    }

    /// Whether one of them looks at who calls whom.
    pub(crate) fn need_edges(&self) -> bool {
        self.first.needs_edges() || self.others.iter().any(|strategy| strategy.needs_edges())
    }
}

/// The strategy of a name, and of what follows it after a colon.
fn strategy(given: &str) -> Result<Strategy, BalancerError> {
    let given = given.trim();
    let (name, parameter) = given.split_once(':').map_or((given, None), |(name, rest)| (name, Some(rest)));
    let refused = |takes| Err(BalancerError::Parameter { given: given.to_owned(), takes });
    let alone = |strategy| match parameter {
        None => Ok(strategy),
        Some(_) => refused("it takes no parameter: leave out what follows the colon"),
    };
    let tolerant = |default: f64, strategy: fn(f64) -> Strategy| match parameter.map(str::parse::<f64>) {
        None => Ok(strategy(default)),
        Some(Ok(tolerance)) if tolerance >= 1.0 && tolerance.is_finite() => Ok(strategy(tolerance)),
        Some(_) => refused(
            "its tolerance says how much longer than the average a PE may take: a number from 1 on, as 1.02",
        ),
    };
    let own = balancers().find(&name);
    let built_in = match name {
        "greedy" => alone(Strategy::Greedy),
        "greedy_refine" => tolerant(TOLERANCE, |tolerance| Strategy::GreedyRefine { tolerance }),
        "hilbert" => alone(Strategy::Hilbert),
        "rcb" => alone(Strategy::Rcb),
        "bisect" => tolerant(TOLERANCE_OF_CALLS, |tolerance| Strategy::Bisect { tolerance }),
        "diffuse" => tolerant(TOLERANCE_OF_CALLS, |tolerance| Strategy::Diffuse { tolerance }),
        "rotate" => alone(Strategy::Rotate),
        "random" => match parameter.map(str::parse::<u64>) {
            None => Ok(Strategy::Random { seed: None }),
            Some(Ok(seed)) => Ok(Strategy::Random { seed: Some(seed) }),
            Some(Err(_)) => refused("what decides it is a number, as 17"),
        },
        _ => {
            return own.map_or_else(
                || Err(unknown(name)),
                |own| no_duplicate(own).and_then(|own| alone(Strategy::Own(own))),
            );
        }
    };
    if own.is_some() {
        return Err(BalancerError::Duplicate { name: name.to_owned() });
    }
    built_in
}

/// A function of the program, if no other one has its name.
fn no_duplicate(own: &'static BalancerRegistration) -> Result<&'static BalancerRegistration, BalancerError> {
    let alike = balancers().iter().filter(|other| other.name == own.name).count();
    if alike == 1 { Ok(own) } else { Err(BalancerError::Duplicate { name: own.name.to_owned() }) }
}

fn unknown(name: &str) -> BalancerError {
    let of_charm =
        OF_CHARM.iter().find(|(names, _)| names.iter().any(|known| known.eq_ignore_ascii_case(name)));
    if let Some((_, instead)) = of_charm {
        return BalancerError::OfCharm { name: name.to_owned(), instead };
    }
    let own: Vec<String> = balancers().iter().map(|own| format!("`{}`", own.name)).collect();
    let own = if own.is_empty() { String::new() } else { format!(" (this one has {})", own.join(", ")) };
    BalancerError::Unknown { name: name.to_owned(), own }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(list: &str) -> String {
        Strategies::named(list).expect_err("no such balancer").to_string()
    }

    #[test]
    fn each_name_that_an_error_lists_is_one() {
        for spelling in SPELLINGS.split(", ") {
            let name = spelling.trim_matches('`').split('[').next().expect("a name");
            Strategies::named(name).unwrap_or_else(|error| panic!("{error}"));
        }
    }

    #[test]
    fn a_list_is_taken_in_turn_and_its_last_one_stays() {
        let list = Strategies::named("greedy, greedy_refine:1.5,rotate").expect("three");
        assert!(matches!(list.turn(0), Strategy::Greedy));
        assert!(matches!(list.turn(1), Strategy::GreedyRefine { tolerance: 1.5 }));
        assert!(matches!((list.turn(2), list.turn(1000)), (Strategy::Rotate, Strategy::Rotate)));
        assert!(!list.need_edges());
        assert!(Strategies::named("greedy,diffuse").expect("two").need_edges());
    }

    #[test]
    fn parameters_are_checked() {
        assert!(matches!(
            Strategies::named("random:17").expect("one").turn(0),
            Strategy::Random { seed: Some(17) }
        ));
        assert!(matches!(
            Strategies::named("diffuse").expect("one").turn(0),
            Strategy::Diffuse { tolerance: 1.05 }
        ));
        for (list, part) in [
            ("greedy:2", "takes no parameter"),
            ("greedy_refine:0.9", "a number from 1 on"),
            ("greedy_refine:", "a number from 1 on"),
            ("diffuse:inf", "a number from 1 on"),
            ("random:x", "a number, as 17"),
        ] {
            assert!(error(list).contains(part), "{}", error(list));
        }
    }

    #[test]
    fn what_is_not_there_is_refused_by_what_is() {
        let text = error("gredy");
        assert!(
            text.starts_with("there is no balancer `gredy`: write `greedy`, `greedy_refine[:TOLERANCE]`"),
            "{text}"
        );
        assert!(error("greedy,").contains("there is no balancer ``"));
        assert_eq!(error("GreedyLB"), "`GreedyLB` is a balancer of Charm++; here, it is `greedy`");
        assert!(error("greedy,refinelb").contains("`greedy_refine`"));
        for (names, instead) in OF_CHARM {
            assert!(names.iter().all(|name| error(name).ends_with(instead)), "{names:?}");
        }
    }
}
