//! Balancing as programs and tests use it: balancers by name, one of the program's own without a job, and loads in files.

use crate::base::json;
use crate::model::ids::PeId;
use crate::model::loads::{BalanceRecord, Loads, Moves};
pub use crate::services::balance::BalancerError;
use crate::services::balance::Strategies;
use chare_lrts::codec;
use std::io;
use std::path::Path;

/// Plans moves with a balancer, of the program or not, and without a job: the objects that would move, by their numbers in [`Loads::objects`],
/// and where to.
///
/// ```
/// use chare::{Loads, Moves, PeId};
///
/// /// Has who takes longer than the average give to who takes the shortest time.
/// #[chare::balancer]
/// fn spread(loads: &Loads, moves: &mut Moves) {
///     let target = loads.average();
///     for (number, object) in loads.objects().iter().enumerate().filter(|(_, object)| object.may_move) {
///         if moves.load_of(object.at) > target {
///             moves.to(number, moves.lightest());
///         }
///     }
/// }
///
/// let even = Loads::sample(2, [(PeId(0), 1.0), (PeId(1), 1.0)]);
/// assert_eq!(chare::balance_by(spread, &even), []);
/// let uneven = Loads::sample(2, [(PeId(0), 1.0), (PeId(0), 1.0)]);
/// assert_eq!(chare::balance_by(spread, &uneven), [(0, PeId(1))]);
/// ```
pub fn balance_by(balancer: impl FnOnce(&Loads, &mut Moves), loads: &Loads) -> Vec<(usize, PeId)> {
    let mut moves = Moves::new(loads);
    balancer(loads, &mut moves);
    moves.planned()
}

/// A balancer, or several in turn, by the name that `+balancer` takes: to try it on loads of which there is no job, beside others or beside one of
/// the program's own.
///
/// | name | what it does |
/// |---|---|
/// | `greedy` | the heaviest object to the lightest PE, then the next: the best balance, and nearly everything moves |
/// | `greedy_refine[:TOLERANCE]` | moves only what is over the tolerance times the average (1.02), and of that what has few bytes for its load |
/// | `hilbert` | cuts a curve through the [positions](crate::Object::position) into stretches: neighbours come together |
/// | `rcb` | halves the space of the positions again and again: boxes |
/// | `bisect[:TOLERANCE]` | halves the graph of calls again and again: who calls whom comes together, up to the tolerance (1.05) |
/// | `diffuse[:TOLERANCE]` | what is too much goes to those whom it calls, from one to the next, up to the tolerance (1.05) |
/// | `rotate`, `random[:SEED]` | every object to the next PE, or to any: for tests |
///
/// Positions that nobody says, and calls that nobody makes, leave an object to `greedy_refine`. A balancer of the program's own has the name of its
/// function.
///
/// All but the last two first balance nodes, then the PEs of each, never plan more for a node than it has room for, and plan nothing that is not
/// worth it.
///
/// ```
/// use chare::{Balancer, Loads, PeId};
///
/// let loads = Loads::sample(2, [(PeId(0), 1.0), (PeId(0), 1.0), (PeId(0), 2.0)]);
/// let balancer = Balancer::named("greedy_refine:1.05")?;
/// assert_eq!(balancer.plan(0, &loads).planned(), [(2, PeId(1))]);
/// # Ok::<(), chare::BalancerError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Balancer {
    strategies: Strategies,
}

impl Balancer {
    /// The balancer of this name, or those of a list, `greedy,greedy_refine`: each has one turn, and the last one all that follow.
    ///
    /// # Errors
    /// When there is no such balancer, or it takes no such parameter; the error says what there is. Names of Charm++'s balancers are answered by what
    /// stands in their place.
    pub fn named(list: &str) -> Result<Self, BalancerError> {
        Ok(Self { strategies: Strategies::named(list)? })
    }

    /// Whether it, or one of several, looks at [who calls whom](Loads::edges).
    pub fn needs_edges(&self) -> bool {
        self.strategies.need_edges()
    }

    /// Plans moves. `balancing` counts the balancings from 0 on: it says whose turn it is.
    ///
    /// Cost: that of the balancer; 10^6 objects on 10^5 PEs take tenths of a second without calls, and seconds with them.
    pub fn plan(&self, balancing: u64, loads: &Loads) -> Moves {
        self.strategies.turn(balancing).plan(loads)
    }
}

/// Reads the balancings that a job with `+balance_dump FILE` has written, in their order: to try other balancers on its loads, and one's own.
///
/// # Errors
/// When the file cannot be read, or a line of it is no balancing; the error names the line. And in a build without the features `launch` and
/// `dashboard`, which has no JSON.
///
/// ```
/// use chare::prelude::*;
/// use chare::{Balancer, Job, ThisMigrant};
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Serialize, Deserialize)]
/// struct Block;
///
/// #[chare(array, migrate)]
/// impl Block {
///     #[entry]
///     fn new() -> Self {
///         Self
///     }
///
///     #[load]
///     fn load(&self) -> f64 {
///         1.0 + self.this_index() as f64
///     }
/// }
///
/// let file = std::env::temp_dir().join(format!("balancings-{}", std::process::id()));
/// let job = Job::in_process(1, 2).balancer("greedy_refine").balance_dump(&file).run(|| async {
///     BlockProxy::create(4);
///     chare::quiescence().await;
///     chare::balance();
///     chare::quiescence().await;
/// });
/// assert_eq!(job.unwrap(), 0);
///
/// let balancings = chare::read_balancings(&file)?;
/// assert_eq!(balancings.len(), 1);
/// let again = Balancer::named("greedy_refine").unwrap().plan(0, &balancings[0].loads);
/// assert_eq!(again.planned(), balancings[0].moves);
/// # std::fs::remove_file(&file)?;
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn read_balancings(path: impl AsRef<Path>) -> io::Result<Vec<BalanceRecord>> {
    let path = path.as_ref();
    let text = std::fs::read_to_string(path)?;
    let read = |(number, line): (usize, &str)| {
        json::read(line).map_err(|error| {
            let why = format!("line {} of {} is no balancing: {error}", number + 1, path.display());
            io::Error::new(io::ErrorKind::InvalidData, why)
        })
    };
    text.lines().enumerate().map(read).collect()
}

impl Loads {
    /// Reads loads from a file of [`Loads::write`].
    ///
    /// # Errors
    /// When the file cannot be read, or holds no loads; the error says why.
    pub fn read(path: impl AsRef<Path>) -> io::Result<Self> {
        let path = path.as_ref();
        let refused =
            |why: String| io::Error::new(io::ErrorKind::InvalidData, format!("{}: {why}", path.display()));
        codec::decode(&std::fs::read(path)?).map_err(|error| refused(error.to_string()))
    }

    /// Writes the loads to a file, from which this version of the crate reads them. Other formats are a serializer away.
    ///
    /// # Errors
    /// When the file cannot be written.
    ///
    /// ```
    /// use chare::{Loads, PeId};
    ///
    /// let loads = Loads::sample(2, [(PeId(0), 1.0), (PeId(1), 2.0)]);
    /// let file = std::env::temp_dir().join(format!("loads-{}", std::process::id()));
    /// loads.write(&file)?;
    /// assert_eq!(Loads::read(&file)?, loads);
    /// # std::fs::remove_file(&file)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn write(&self, path: impl AsRef<Path>) -> io::Result<()> {
        let mut bytes = Vec::new();
        codec::encode_into(self, &mut bytes).map_err(io::Error::other)?;
        std::fs::write(path, bytes)
    }
}
