//! Room: what is sent home because its place has none for it.

use super::ledger::Ledger;
use super::level::Level;

/// Sends items home for which their places have no room: those that weigh least for their bytes. Returns whether there are any.
pub(super) fn settle(level: &Level, places: &mut [u32]) -> bool {
    let mut coming: Vec<usize> =
        (0..places.len()).filter(|item| level.items[*item].at != places[*item]).collect();
    let mut bytes = vec![0; level.domains.len()];
    coming.iter().for_each(|item| bytes[places[*item] as usize] += level.items[*item].bytes);
    if level.domains.iter().zip(bytes).all(|(domain, bytes)| bytes <= domain.room) {
        return false;
    }
    let mut ledger = Ledger::new(&level.domains);
    let gain = |item: &usize| level.items[*item].load / (level.items[*item].bytes as f64 + 1.0);
    coming.sort_by(|one, other| gain(other).total_cmp(&gain(one)).then(one.cmp(other)));
    let mut is_full = false;
    for number in coming {
        let item = &level.items[number];
        if ledger.has_room(item, places[number]) {
            ledger.enter(item, places[number]);
        } else {
            places[number] = item.at;
            is_full = true;
        }
    }
    is_full
}
