//! Balancing as programs and tests use it: a balancer without a job, and loads in files.

use crate::model::ids::PeId;
use crate::model::loads::{Loads, Moves};
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
