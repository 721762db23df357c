//! Messages about seeds, all of them between PEs of one process.

use crate::model::envelope::{Create, SystemMessage};
use crate::model::ids::{ChareId, ServiceId};

/// The service's number.
pub(super) const ID: ServiceId = ServiceId(17);

pub(super) enum SeedMessage {
    /// Seeds are planted in this process from now on.
    Begin,
    /// The next seed of this PE has its turn, unless it was given away.
    Sprout,
    /// A seed for a PE that had nothing to do.
    Given(Create),
    /// To the home: the singleton has ended.
    Ended { id: ChareId },
}

impl SystemMessage for SeedMessage {
    fn service(&self) -> ServiceId {
        ID
    }

    fn describe(&self) -> String {
        match self {
            Self::Given(create) => format!("the creation of a {}", create.chare.name),
            _ => "the creation of singletons".to_owned(),
        }
    }

    fn is_counted(&self) -> bool {
        !matches!(self, Self::Begin)
    }
}
