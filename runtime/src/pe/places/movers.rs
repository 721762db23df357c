//! Elements that move, on one PE: those that have their home elsewhere and live here, and what this PE knows as the home of others.

use super::LocalCollection;
use crate::model::home::{SeekCopy, Whereabouts};
use crate::model::ids::{Index, PeId, Target};
use crate::model::registry::{AnyChare, Standing};
use crate::model::travel::{Journey, Sought, Stay, Traveller};
use std::rc::Rc;

impl LocalCollection {
    /// Where a member lives that has its home here.
    pub(crate) fn whereabouts(&self, index: Index) -> Whereabouts {
        match (&self.home, self.away.get(&index)) {
            (Some(home), _) => home.find(index),
            (None, Some(elsewhere)) => Whereabouts::On(*elsewhere),
            (None, None) => Whereabouts::AtHomeOrNowhere,
        }
    }

    /// Whether a member that lives here has its home here, too. Asked for each contribution.
    #[inline]
    pub(crate) fn is_at_home(&self, member: &Rc<dyn AnyChare>) -> bool {
        if self.travellers.is_empty() {
            return true;
        }
        match member.identity().target {
            Target::Member(_, index) => !self.travellers.contains_key(&index),
            Target::Chare(_) => true,
        }
    }

    /// The stay of an element that lives here and has its home elsewhere.
    pub(crate) fn stay(&self, index: Index) -> Option<Stay> {
        self.travellers.get(&index).map(|traveller| traveller.stay)
    }

    /// Takes note that an element leaves for a PE, for a stay that its home has granted if the home is another PE. `standing` is the one
    /// with which it leaves.
    pub(crate) fn let_go(
        &mut self,
        index: Index,
        to: PeId,
        granted: Option<Stay>,
        standing: Standing,
    ) -> Traveller {
        match (self.travellers.remove(&index), granted) {
            (Some(mut traveller), Some(stay)) => {
                traveller.stay = stay;
                traveller
            }
            _ => self.home.as_mut().expect("its elements move").leave(index, to, standing),
        }
    }

    /// Takes note that an element has come to PE `here`. Returns the standing that it has here.
    ///
    /// # Errors
    /// When it cannot have come, in words: other nodes may say anything.
    pub(crate) fn take_in(
        &mut self,
        here: PeId,
        index: Index,
        traveller: Traveller,
    ) -> Result<Standing, String> {
        let home = self.home.as_mut().ok_or("its elements do not move")?;
        if self.members.include(index) {
            return Err("there is such an element already".to_owned());
        }
        if self.info.home(index) == here {
            home.come_home(index, here, &traveller)?;
        } else {
            self.travellers.insert(index, traveller);
        }
        Ok(Standing::AFAR)
    }

    /// Takes note that a member is to be constructed on another PE than its home, this one. Returns what goes along, if it may move.
    pub(crate) fn send_newborn(&mut self, index: Index, to: PeId) -> Option<Traveller> {
        match &mut self.home {
            Some(home) => Some(home.send_newborn(index, to, self.contributions.add_member(index))),
            None => {
                self.away.insert(index, to);
                None
            }
        }
    }

    /// Whether the element with an index hears a copy of a broadcast that has come here, where it lives; its journey may be over after that.
    pub(crate) fn hears(&mut self, index: Index, journey: Journey, sought: Option<Sought>) -> bool {
        if let Some(traveller) = self.travellers.get_mut(&index) {
            return traveller.hear(journey);
        }
        let home = self.home.as_mut();
        home.is_some_and(|home| home.seek_copy(index, journey, sought) == SeekCopy::Hear)
    }
}
