//! Bonds: the elements of one index of arrays that are bound to each other, as their home knows them. They live on one PE and move together.
//!
//! Each of them has an entry of its own, with the stays and the rules of [`super`]; a bond has none. Three rules hold them together:
//!
//! 1. **Joint grants.** A wish of one is a wish of all. It is granted when all that live elsewhere may go, and each gets a number of its own.
//!    The PE where they live lets all go that it has, by one message, or none. Who has ended there meanwhile is *moving* until the news of
//!    the end have come, as any element is that ends when it is let go.
//! 2. **Births.** An element is born where the others of its bond live. While one of them is under way the birth is kept, and while a birth
//!    is under way no move is granted.
//! 3. **Home.** Those that are at home leave it together, by function calls. So all that live are on one PE, or on the way to one.

use super::answers::{BondWish, LetGo, Lives, Wish};
use super::entry::Residence;
use super::rules::Rule;
use super::{Home, grant};
use crate::model::ids::{Index, PeId};
use crate::model::travel::Stay;

/// Says where the elements live that have an index in these homes' collections; those at home or nowhere the home's PE knows.
pub(crate) fn find<'a, C: 'a, E: 'a>(homes: impl Iterator<Item = &'a Home<C, E>>, index: Index) -> Lives {
    let mut lives = Lives::AtHomeOrNowhere;
    for (number, home) in homes.enumerate().filter(|(_, home)| home.rules.hold(Rule::BornBesideBond)) {
        match home.entries.get(&index).map(|entry| &entry.residence) {
            Some(Residence::Coming { .. } | Residence::Moving { .. }) => return Lives::UnderWay(number),
            Some(Residence::Elsewhere { at, .. }) => lives = Lives::On(*at),
            Some(Residence::Home | Residence::Lost { .. } | Residence::Ended(_)) | None => {}
        }
    }
    lives
}

/// Takes the wish of an element on PE `from`, that of the collection with the number `asks` among those whose homes these are, to go to another
/// PE.
pub(crate) fn wish<C, E>(
    homes: &mut [&mut Home<C, E>],
    asks: usize,
    index: Index,
    (from, stay): (PeId, Stay),
    to: PeId,
) -> BondWish {
    match homes[asks].may_go(index, (from, stay), to) {
        Wish::Allowed => {}
        Wish::Keep => return BondWish::Keep(asks),
        Wish::Obsolete => return BondWish::Obsolete,
    }
    let all = homes[asks].rules.hold(Rule::JointGrants);
    let mut others = homes.iter().enumerate().filter(|(number, _)| all && *number != asks);
    if let Some((other, _)) = others.find(|(_, home)| home.holds_bond(index)) {
        return BondWish::Keep(other);
    }
    let let_go = homes.iter_mut().enumerate().filter(|(number, _)| all || *number == asks);
    BondWish::Granted(let_go.filter_map(|(number, home)| home.let_go(number, index, from, to)).collect())
}

impl<C, E> Home<C, E> {
    /// Whether the others of a bond wait for its element in this collection.
    fn holds_bond(&self, index: Index) -> bool {
        let Some(entry) = self.entries.get(&index) else { return false };
        match entry.residence {
            Residence::Coming { .. } => {
                let holds = self.rules.hold(Rule::BirthHoldsBond);
                if holds {
                    chare_lrts::sometimes!("a wish to move waited for a birth in the bond");
                }
                holds
            }
            Residence::Moving { .. } => self.rules.hold(Rule::OneThingUnderWay),
            Residence::Elsewhere { .. } => entry.pins > 0,
            Residence::Home | Residence::Lost { .. } | Residence::Ended(_) => false,
        }
    }

    /// Lets the element go that lives on PE `from`, if there is one.
    fn let_go(&mut self, number: usize, index: Index, from: PeId, to: PeId) -> Option<LetGo> {
        let entry = self.entries.get_mut(&index)?;
        let left = match entry.residence {
            Residence::Elsewhere { at, stay } if at == from => stay,
            // Where rules are left out.
            Residence::Moving { from: at, left, .. } if at == from => left,
            Residence::Moving { to: at, stay, .. } if at == from => stay,
            _ => return None,
        };
        let stay = grant(&mut self.granted);
        entry.residence = Residence::Moving { from, left, to, stay };
        Some(LetGo { number, left, stay })
    }
}
