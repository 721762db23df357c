//! Layouts of a peer: what is accepted is a value like any other, and copies between two of them touch what they select.
//!
//! An input is the length of the first layout in one byte, that layout, and a second one.

use chare_layout::{LayoutError, Order, Plan, Raw, copy, pack, unpack};

/// Layouts of at most so many bytes, within at most so many, are looked at byte by byte.
const SMALL_BYTES: u64 = 2_048;
const SMALL_SPAN: u64 = 1 << 16;

/// A loop of eight short steps, five bytes, may become a list of eight pieces of twenty bytes each.
const GROWTH: usize = 32;

pub(crate) fn run(bytes: &[u8]) {
    let Some((len, bytes)) = bytes.split_first() else { return };
    let (first, second) = bytes.split_at(bytes.len().min(usize::from(*len)));
    let (first, second) = (accepted(first), accepted(second));
    let (Some(first), Some(second)) = (first.and_then(Small::new), second.and_then(Small::new)) else {
        return;
    };
    check_plan(&first, &second);
    check_plan(&second, &first);
}

/// The layout that these bytes say, if they say one.
fn accepted(bytes: &[u8]) -> Option<Raw> {
    let layout = Raw::decode(bytes).ok()?;
    let told = layout.encode();
    assert!(told.len() <= GROWTH * bytes.len(), "{} bytes became {}: {layout:?}", bytes.len(), told.len());
    let again = Raw::decode(&told).expect("what was accepted can be told");
    assert_eq!(again, layout, "told as {told:?}");
    assert_eq!((again.encode(), again.digest()), (told, layout.digest()));
    Some(layout)
}

/// A layout that starts at byte 0 of its buffer, and the place of each byte of its stream.
struct Small {
    layout: Raw,
    places: Vec<usize>,
}

impl Small {
    /// None if it is large.
    fn new(layout: Raw) -> Option<Self> {
        if layout.bytes() > SMALL_BYTES || layout.span() > SMALL_SPAN {
            return None;
        }
        // Bounds that were said may not bear to be moved.
        let layout = layout.shifted(layout.origin().checked_neg()?).ok()?;
        let runs: Vec<(i64, u64)> = layout.runs().collect();
        assert_eq!(runs.len() as u64, layout.run_count(), "{layout:?}");
        let places = runs.iter().flat_map(|(at, len)| *at..*at + *len as i64);
        let places: Vec<usize> =
            places.map(|place| usize::try_from(place).expect("none lies before the origin")).collect();
        let small = Self { layout, places };
        small.check_bounds();
        small.check_target();
        small.check_streams();
        Some(small)
    }

    fn end(&self) -> usize {
        self.places.iter().max().map_or(0, |last| last + 1)
    }

    /// A buffer in which no two neighbours, and few others, are alike.
    fn buffer(&self) -> Vec<u8> {
        (0..self.end()).map(|place| (place * 37 + place / 251) as u8).collect()
    }

    fn check_bounds(&self) {
        let (layout, end) = (&self.layout, self.end() as u64);
        assert_eq!((layout.bytes(), layout.span()), (self.places.len() as u64, end), "{layout:?}");
        assert_eq!(layout.check_bounds(end), Ok(()), "{layout:?}");
        assert_eq!(layout.check_bounds(end.wrapping_sub(1)).is_ok(), end == 0, "{layout:?}");
    }

    fn check_target(&self) {
        let mut sorted = self.places.clone();
        sorted.sort_unstable();
        let overlaps = sorted.windows(2).any(|pair| pair[0] == pair[1]);
        match self.layout.check_target() {
            Ok(()) => assert!(!overlaps, "{:?}", self.layout),
            Err(LayoutError::Overlaps { byte }) => {
                let (before, rest) = self.places.split_at(byte as usize);
                assert!(before.contains(&rest[0]), "byte {byte} lands alone: {:?}", self.layout);
            }
            Err(error) => panic!("few pieces can be looked through: {error}"),
        }
    }

    /// All at once and from a place in the middle on.
    fn check_streams(&self) {
        let (layout, buffer) = (&self.layout, self.buffer());
        let expected: Vec<u8> = self.places.iter().map(|place| buffer[*place]).collect();
        let mut stream = vec![0; expected.len()];
        pack(layout, &buffer, &mut stream).expect("the buffer holds it");
        assert_eq!(stream, expected, "{layout:?}");
        let mut runs = layout.runs_within(expected.len() as u64 / 3, u64::MAX);
        let rest = runs.try_fold(0, |bytes, (_, len)| u64::checked_add(bytes, len));
        assert_eq!(rest, Some((expected.len() - expected.len() / 3) as u64), "{layout:?}");
        if layout.check_target().is_ok() {
            let mut back = vec![0; buffer.len()];
            unpack(layout, &stream, &mut back).expect("the buffer holds it");
            assert!(self.places.iter().all(|place| back[*place] == buffer[*place]), "{layout:?}");
        }
    }
}

/// The plan copies what copying byte by byte does, and leaves the rest alone.
fn check_plan(source: &Small, target: &Small) {
    let plan = match Plan::new(&source.layout, &target.layout) {
        Ok(plan) => plan,
        Err(LayoutError::TooLong { .. }) => {
            assert!(source.places.len() > target.places.len());
            return;
        }
        Err(error) => {
            assert_eq!(target.layout.check_target(), Err(error));
            return;
        }
    };
    let from = source.buffer();
    let mut expected = vec![0xa5; target.end()];
    let mut found = expected.clone();
    for (from_place, to_place) in source.places.iter().zip(&target.places) {
        expected[*to_place] = from[*from_place];
    }
    copy(&plan, &from, &mut found).expect("both buffers hold what is selected");
    assert!(found == expected, "from {:?} to {:?}", source.layout, target.layout);
}

fn pairs() -> Result<Vec<[Raw; 2]>, LayoutError> {
    let double = Raw::bytes_of(8)?;
    let column = double.vector(6, 1, 7)?;
    let rows = double.subarray(&[5, 6, 7], &[3, 2, 4], &[1, 1, 2], Order::C)?;
    let columns = double.subarray(&[5, 6, 7], &[3, 2, 4], &[1, 1, 2], Order::Fortran)?;
    let listed = double.indexed_block(1, &[3, 0, 9, 4, 11, 20])?;
    let lengths = Raw::bytes_of(1)?.indexed(&[3, 1, 0, 9], &[30, 2, 7, -9])?;
    let particle = Raw::structure(&[(1, 0, &lengths), (2, 64, &double)])?.resized(-16, 160)?;
    let group = particle.hindexed(&[1, 2, 1], &[0, 400, 1_000])?;
    let backwards = Raw::bytes_of(4)?.hvector(12, 1, -12)?;
    let overlapping = Raw::bytes_of(8)?.hvector(6, 1, 3)?;
    Ok(vec![
        [Raw::bytes_of(48)?, column.then(&Raw::bytes_of(0)?)?],
        [rows, columns],
        [listed, column],
        [particle.contiguous(4)?, group],
        [overlapping, backwards],
    ])
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let pairs = pairs().expect("they are layouts");
    let told = pairs.iter().map(|pair| pair.each_ref().map(Raw::encode));
    told.map(|[first, second]| [&[first.len() as u8][..], &first, &second].concat()).collect()
}
