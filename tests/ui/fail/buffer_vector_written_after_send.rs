use chare::prelude::*;

struct Cell {
    row: Vec<f64>,
}

#[chare]
impl Cell {
    #[entry]
    fn new() -> Self {
        Self { row: Vec::new() }
    }

    #[entry]
    fn take(&mut self, #[nocopy] row: Received<f64>) {
        drop(row);
    }

    #[entry]
    fn land(&mut self, #[nocopy(post)] row: Posted<f64>) {
        self.row = row.into_vec();
    }

    #[post(land)]
    fn post_land(&mut self, row: Post<f64>) {
        row.post(std::mem::take(&mut self.row)).expect("it is as long");
    }
}

fn misuse(cell: CellProxy) {
    let mut row = vec![1.0, 2.0];
    cell.take(row);
    row[0] = 3.0;
}

fn main() {
    let _ = misuse;
}
