//! Dealing: which elements are whose of what members gather and exchange.

use chare_layout::{Layout, Partition};

/// Rows and columns of the matrix of doubles of which each of so many members has a slab of so many bytes.
pub(crate) fn side_of(members: usize, bytes: usize) -> usize {
    (bytes * members / 8).isqrt()
}

/// How a slab is dealt out, and where parts land in one: the matrix is transposed, or its columns are exchanged as they are.
pub(crate) fn of_slabs(members: usize, bytes: usize, is_transposed: bool) -> [Partition<f64>; 2] {
    if !is_transposed {
        let parts = Partition::rows([members, bytes / 8 / members], members).expect("parts");
        return [parts.clone(), parts];
    }
    let width = side_of(members, bytes);
    let height = width / members;
    let first = Layout::strided(&[height, height], &[1, width as isize]).expect("columns");
    let slabs = 0..members as i64;
    let columns: Vec<_> = slabs.map(|slab| first.shifted(slab * height as i64).expect("columns")).collect();
    let dealt = Partition::table(height * width, &columns).expect("columns share nothing");
    [dealt, Partition::columns([height, width], members).expect("blocks")]
}

/// Where the buffers of all land in one: one after the other, or runs of all in turn.
pub(crate) fn of_gathered(members: usize, bytes: usize, run: usize) -> Partition<f64> {
    let parts = match run {
        0 => Partition::rows([members, bytes / 8], members),
        _ => Partition::columns([bytes / run, members * run / 8], members),
    };
    parts.expect("a part for each")
}
