//! A chare that takes, looks at, posts for, reads and writes what layouts select.

use crate::squares::{face, values};
use chare::layout::Layout;
use chare::prelude::*;
use chare::{Landing, SourceHandle, SourceSelection, TargetSelection, rget, rput};

pub(crate) struct Sink {
    /// What buffers to be posted look like before.
    landing: Option<(Layout<u32>, usize)>,
}

#[chare(array)]
impl Sink {
    #[entry]
    pub(crate) fn new() -> Self {
        Self { landing: None }
    }

    #[entry]
    pub(crate) fn take(&mut self, #[nocopy] data: Received<u32>, done: Callback<Vec<u32>>) {
        done.send(data.to_vec());
    }

    #[entry]
    pub(crate) fn look(&mut self, #[nocopy] data: ReceivedView<u32>, done: Callback<Vec<u32>>) {
        let rows: Vec<u32> = data.rows().flatten().copied().collect();
        assert_eq!((data.to_vec(), data.len()), (rows.clone(), rows.len()));
        let mut backwards = vec![0; data.len()];
        let reversed = Layout::strided(&[data.len()], &[-1]).expect("it fits");
        let reversed = reversed.shifted(data.len() as i64 - 1).expect("it fits");
        data.copy_to(&reversed, &mut backwards).expect("as long");
        assert!(backwards.iter().rev().eq(&rows));
        done.send(rows);
    }

    #[entry]
    pub(crate) fn look_at_pairs(
        &mut self,
        #[nocopy] data: ReceivedView<[u32; 2]>,
        done: Callback<Vec<[u32; 2]>>,
    ) {
        done.send(data.iter().copied().collect());
    }

    #[entry]
    pub(crate) fn take_pairs(&mut self, #[nocopy] data: Received<[u32; 2]>, done: Callback<Vec<[u32; 2]>>) {
        done.send(data.to_vec());
    }

    #[entry]
    pub(crate) fn prepare(&mut self, edge: usize, landing: u64) -> usize {
        self.landing = Some((face(edge, landing), edge * edge));
        edge
    }

    #[entry]
    pub(crate) fn land(&mut self, #[nocopy(post)] data: Posted<u32>, done: Callback<(u64, Vec<u32>)>) {
        assert_eq!(data.len(), data.iter().len());
        done.send((data.transferred() as u64, data.into_vec()));
    }

    #[entry]
    pub(crate) fn read(
        &mut self,
        from: SourceHandle<u32>,
        edge: usize,
        which: u64,
        done: Callback<BufferMut<u32>>,
    ) {
        let landing = Landing::at(&face(edge, which), vec![u32::MAX; edge * edge]);
        rget(&from, landing, done).expect("as long");
    }

    /// Reads a selection into a selection.
    #[entry]
    pub(crate) fn read_by(
        &mut self,
        from: SourceSelection<u32>,
        edge: usize,
        which: Option<u64>,
        done: Callback<BufferMut<u32>>,
    ) {
        let values = vec![u32::MAX; edge * edge];
        let landing: Landing<u32> = match which {
            Some(which) => Landing::at(&face(edge, which), values),
            None => values.into(),
        };
        rget(&from, landing, done).expect("as long");
    }

    /// Writes its own numbers to a selection.
    #[entry]
    pub(crate) fn write_by(&mut self, to: TargetSelection<u32>, len: usize, done: Callback<Buffer<u32>>) {
        let values: Vec<u32> = (1000..).take(len).collect();
        rput(values, &to, done).expect("as long");
    }

    /// Writes a selection of its own numbers to a selection.
    #[entry]
    pub(crate) fn write_selected(
        &mut self,
        to: TargetSelection<u32>,
        edge: usize,
        which: u64,
        done: Callback<Buffer<u32>>,
    ) {
        rput(Buffer::from(values(edge)).only(&face(edge, which)), &to, done).expect("as long");
    }

    #[post(land)]
    fn post_land(&mut self, data: Post<u32>, _done: &Callback<(u64, Vec<u32>)>) {
        let (layout, len) = self.landing.clone().expect("it was prepared");
        data.post(Landing::at(&layout, vec![u32::MAX; len])).expect("as long as what is sent");
    }
}
