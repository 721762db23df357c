//! Events in the lives of chares and collections: what a PE tells everybody who keeps something by chare or by collection.
//!
//! 1. A chare leaves its PE at one place, `delivery/lifecycle`, which tells of it here. Everybody hears it, in this order: the services, then
//!    the PE's own tables in `pe/clearing`. Services keep nothing by singleton, so of the end of one they do not hear,
//!    but for one that lived away from its home.
//! 2. Whoever keeps a table whose keys are chares, elements or collections stands in one of the two, and takes out of the table what is
//!    over: another element may come with the same index. The test below reads all files and knows every such table.

use crate::model::ids::{AudienceId, BroadcastId, ChareId, CollectionId, Index, Target};
use crate::model::parcel::Parcel;
use crate::model::registry::{Identity, Standing};
use crate::model::travel::{Sought, Stay, Traveller};

/// An event in the life of a chare or a collection.
pub(crate) enum ChareEvent<'a> {
    /// All initial elements of a collection on this PE have been constructed.
    Born { collection: CollectionId },
    /// The elements of a collection on this PE, which may grow, are about to hear a broadcast.
    Called { broadcast: BroadcastId },
    /// A chare that lived on this PE is gone. Services put their news for the home of an element into the parcel.
    Gone {
        chare: &'a Identity,
        /// The standing with which it left.
        left: Standing,
        /// What was kept of it as one that has its home elsewhere, if it may move.
        traveller: Option<Traveller>,
        parcel: &'a mut Parcel,
    },
    /// A singleton has ended that lived here and has its home on another PE.
    StrayEnded { id: ChareId },
    /// An element has been constructed here, which has its home elsewhere and may move.
    Constructed { member: (CollectionId, Index), stay: Stay },
    /// An element that a balancer wished to move is not free and stays, or wishes otherwise itself.
    Detained { member: Target },
    /// An element leaves this PE for another one. Services put into the parcel what they keep of it.
    Leaves { chare: &'a Identity, parcel: &'a mut Parcel },
    /// An element has come to this PE, where its tables know it. Services take out of the parcel what they have put in.
    Arrives { member: Target, parcel: &'a mut Parcel },
    /// A copy of a broadcast that somebody counts has come to its element, or the element has ended.
    Copied { audience: AudienceId, is_heard: bool },
    /// A call has come to its element that the element's home waits for.
    Found { member: Target, sought: Sought },
    /// At the element's home: the element is gone, wherever it lived. `afar`: the standing with which the home has counted it meanwhile, if
    /// it was on a journey.
    Forgotten { member: Target, afar: Option<Standing>, parcel: &'a mut Parcel },
    /// At a collection's root: no element is left anywhere, none will come, and all reductions are over.
    Over { collection: CollectionId },
    /// A collection has ended and is forgotten here.
    Ended { collection: CollectionId },
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    /// The tables whose keys are chares, elements or collections: the file, how many stand there, and who takes out what is over.
    const TABLES: [(&str, usize, &str); 16] = [
        ("model/reduction/contributions/mod.rs", 1, "services/reduction"),
        ("model/reduction/newborns.rs", 1, "services/reduction"),
        ("pe/creations/strays.rs", 1, "services/seeds"),
        ("pe/early.rs", 1, "messages wait there for what is to come, and nobody who was there is among it"),
        ("pe/mod.rs", 1, "`drop_renewal`"),
        ("pe/places/collections.rs", 2, "`Collections::end`, from services/array"),
        (
            "pe/places/members.rs",
            3,
            "`Places::remove`, `Places::take_traveller`, and services/array at the home",
        ),
        ("pe/places/mod.rs", 1, "`Places::remove`"),
        ("pe/wishes.rs", 2, "services/migration"),
        ("services/again/state.rs", 1, "services/again"),
        ("services/aggregation/buffers.rs", 1, "services/aggregation"),
        ("services/broadcast/mod.rs", 1, "services/broadcast"),
        ("services/section/members.rs", 1, "services/section"),
        ("services/section/members_at_home.rs", 3, "services/section: who is gone is remembered there"),
        ("services/sync/carrying_out.rs", 1, "a message's own"),
        ("services/sync/state.rs", 2, "services/sync"),
    ];

    /// The types of such keys.
    const KEYS: [&str; 6] = ["Target", "Index", "ChareId", "CollectionId", "(CollectionId", "Missing"];

    /// How many tables of such keys a text names, ahead of its tests.
    fn count(text: &str) -> usize {
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        let is_key = |after: &str| {
            let is_whole = |rest: &str| !rest.starts_with(|next: char| next.is_alphanumeric() || next == '_');
            KEYS.iter().any(|key| after.strip_prefix(key).is_some_and(is_whole))
        };
        ["Map<", "Set<"]
            .iter()
            .map(|table| code.split(table).skip(1).filter(|after| is_key(after)).count())
            .sum()
    }

    fn walk(folder: &Path, found: &mut Vec<(String, usize)>, root: &Path) {
        for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            let is_test = entry.ends_with("tests.rs") || entry.ends_with("every_order");
            if entry.is_dir() && !is_test {
                walk(&entry, found, root);
            } else if entry.extension().is_some_and(|extension| extension == "rs") && !is_test {
                let tables = count(&fs::read_to_string(&entry).unwrap());
                if tables > 0 {
                    found.push((entry.strip_prefix(root).unwrap().display().to_string(), tables));
                }
            }
        }
    }

    #[test]
    fn every_table_by_chare_or_collection_hears_what_is_over() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let mut found = Vec::new();
        walk(&root, &mut found, &root);
        found.sort();
        let known = TABLES.map(|(file, tables, _)| (file.to_owned(), tables));
        assert_eq!(
            found, known,
            "a table whose keys are chares, elements or collections hears when they are gone, by its service's row or in `pe/clearing`, and stands \
             in `TABLES`"
        );
    }

    #[test]
    fn tables_are_known_by_their_keys() {
        let tables = "a: FxHashMap<Target, u8>, b: BTreeMap<PeId, Vec<Target>>, c: FxHashSet<Index>, d: BTreeMap<IndexRange, u8>,
            e: FxHashMap<(CollectionId, TypeId), u8>, f: FxHashMap<SectionId, FxHashMap<Target, u64>>";
        assert_eq!(count(tables), 4);
        assert_eq!(count(&format!("#[cfg(test)] {tables}")), 0);
    }
}
