//! Cases: what is sent, from where, by which layout, and how it is taken.

use chare::layout::Layout;
use serde::{Deserialize, Serialize};

/// Which elements are meant.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum Selection {
    All,
    /// The first ones, of a longer buffer or offer.
    First,
    EveryOther,
    /// By a list, backwards, at growing distances.
    Listed,
}

/// The parameter that takes it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum Parameter {
    DeviceReceived,
    /// Where it is to land; and whether a stream waits for it instead of the entry.
    DevicePosted(Selection, bool),
    Received,
    View,
    Posted(Selection),
}

/// One argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Case {
    pub(crate) is_on_device: bool,
    pub(crate) selection: Selection,
    pub(crate) parameter: Parameter,
    /// Elements that are meant.
    pub(crate) len: usize,
}

/// Nothing, a few, as many as travel with no message, and more than two chunks.
const LENGTHS: [usize; 4] = [0, 5, 1_500, 300_001];

impl Case {
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        let parameters = || {
            let selections = [Selection::All, Selection::First, Selection::EveryOther, Selection::Listed];
            let posted = selections.into_iter().flat_map(|selection| {
                [Parameter::DevicePosted(selection, false), Parameter::Posted(selection)]
            });
            [
                Parameter::DeviceReceived,
                Parameter::DevicePosted(Selection::All, true),
                Parameter::Received,
                Parameter::View,
            ]
            .into_iter()
            .chain(posted)
        };
        let sources = [Selection::All, Selection::EveryOther, Selection::Listed];
        let sources = sources.into_iter().flat_map(|selection| [(true, selection), (false, selection)]);
        sources.flat_map(move |(is_on_device, selection)| {
            parameters().flat_map(move |parameter| {
                let is_of_device =
                    matches!(parameter, Parameter::DeviceReceived | Parameter::DevicePosted(..));
                // What has no device at either end, other tests have.
                let lengths = LENGTHS.into_iter().filter(move |_| is_on_device || is_of_device);
                lengths.map(move |len| Self { is_on_device, selection, parameter, len })
            })
        })
    }

    /// Whether both ends lie on devices.
    pub(crate) fn is_between_devices(self) -> bool {
        let lands_on_device =
            matches!(self.parameter, Parameter::DeviceReceived | Parameter::DevicePosted(..));
        self.is_on_device && lands_on_device
    }

    /// The elements of the sender's buffer, and which of them are meant.
    pub(crate) fn source(self) -> (Vec<u32>, Vec<usize>) {
        let places = self.selection.places(self.len);
        let room = self.selection.room(self.len);
        ((0..room as u32).map(|at| at.wrapping_mul(2_654_435_761) ^ self.len as u32).collect(), places)
    }

    /// The meant elements, in their order.
    pub(crate) fn packed(self) -> Vec<u32> {
        let (elements, places) = self.source();
        places.into_iter().map(|at| elements[at]).collect()
    }

    /// How many elements are taken.
    pub(crate) fn taken(self) -> usize {
        match self.parameter {
            Parameter::DevicePosted(Selection::First, _) | Parameter::Posted(Selection::First) => {
                self.len / 2
            }
            _ => self.len,
        }
    }

    /// What the receiver has in the end.
    pub(crate) fn expected(self) -> Vec<u32> {
        let packed = self.packed();
        let (Parameter::DevicePosted(selection, _) | Parameter::Posted(selection)) = self.parameter else {
            return packed;
        };
        let mut room = vec![UNTOUCHED; selection.room(self.len)];
        let places = selection.places(self.len).into_iter().take(self.taken());
        places.zip(packed).for_each(|(at, element)| room[at] = element);
        room
    }
}

/// What a room holds before something lands there.
pub(crate) const UNTOUCHED: u32 = 0xdead_beef;

impl Selection {
    /// The layout; none for all or the first ones.
    pub(crate) fn layout(self, len: usize) -> Option<Layout<u32>> {
        match self {
            Self::All | Self::First => None,
            Self::EveryOther => Some(Layout::vector(len as u64, 1, 2).expect("it fits")),
            Self::Listed => {
                let places: Vec<i64> = self.places(len).into_iter().map(|at| at as i64).collect();
                Some(Layout::indexed_block(1, &places).expect("it fits"))
            }
        }
    }

    /// Elements of a buffer from which, or in which, so many are meant.
    pub(crate) fn room(self, len: usize) -> usize {
        match self {
            Self::All => len,
            Self::First => len + 3,
            Self::EveryOther => 2 * len,
            Self::Listed => 3 * len,
        }
    }

    /// Which elements are meant, in their order.
    pub(crate) fn places(self, len: usize) -> Vec<usize> {
        match self {
            Self::All | Self::First => (0..len).collect(),
            Self::EveryOther => (0..len).map(|at| 2 * at).collect(),
            Self::Listed => (0..len).rev().map(|at| 2 * at + at % 7 / 5).collect(),
        }
    }
}
