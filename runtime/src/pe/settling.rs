//! Ends of journeys of elements, at their homes: an element that has come home, or has ended elsewhere, and of which nothing is under way
//! any more.

use super::early::Missing;
use super::{ChareEvent, Pe};
use crate::model::home::Settled;
use crate::model::ids::{CollectionId, Index, Target};

impl Pe {
    /// At the home of an element: sees whether its journey is over, or it has ended, and does what follows.
    pub(crate) fn settle(&self, id: CollectionId, index: Index) {
        let target = Target::Member(id, index);
        let settled = {
            let mut places = self.places.borrow_mut();
            let home = places.collection_mut(id).and_then(|collection| collection.home.as_mut());
            home.map_or(Settled::Nothing, |home| home.settle(index))
        };
        match settled {
            Settled::Nothing => {}
            Settled::AtHome(standing) => {
                let chare = self.places.borrow().look_up(target);
                chare.inspect(|chare| chare.identity().standing.set(standing));
            }
            Settled::Over(standing, mut parcel) => {
                self.places.borrow_mut().forget(target);
                self.tell(ChareEvent::Forgotten {
                    member: target,
                    afar: Some(standing),
                    parcel: &mut parcel,
                });
                self.release_early(Missing::Member(id, index));
            }
        }
    }
}
