//! Entries that are awaited: with every kind of argument, name and visibility.
#![deny(warnings, missing_docs)]

use chare::prelude::*;

/// Awaits.
pub struct Cell;

#[chare(array, index = (u32, u32))]
impl Cell {
    /// Makes it.
    #[entry]
    pub fn new() -> Self {
        Self
    }

    /// Without arguments.
    #[entry(awaited)]
    pub fn go();

    /// With one.
    #[entry(awaited, expedited)]
    pub fn r#move(#[reference] to: (u32, u32));

    /// With names like what is generated.
    #[entry(awaited, create_home)]
    pub fn ghost(calls: Self2, awaited: String, #[reference] this: u64, #[nocopy] nocopy: Received<f64>);

    /// With a buffer of its own, answered.
    #[entry(awaited, priority = 3)]
    fn land(#[nocopy(post)] row: Posted<u8>, len: usize) -> Option<u64>;

    #[post(land)]
    fn give(&mut self, row: Post<u8>, len: &usize) {
        let _ = row.post(vec![0; *len]);
    }

    /// Here, or not.
    #[cfg(any())]
    #[entry(awaited)]
    pub fn absent(number: NoSuchType);

    #[entry]
    async fn run(this: This<Self>) {
        this.when(Self::go).await;
        let to: (u32, u32) = this.when(Self::r#move).reference((1, 2)).await;
        let (argument, _, _, row) =
            this.when(Self::ghost).reference(7).matching(|ghost| ghost.3.len() > 3).await;
        let ((row, len, answer), ()) = {
            let _: (Self2, Received<f64>) = (argument, row);
            this.when(Self::land).and(this.when(Self::go)).await
        };
        answer.send((row.transferred() == len).then_some(u64::from(to.0)));
        wait_elsewhere(&this).await;
    }
}

/// An argument.
#[derive(Clone, serde::Serialize, serde::Deserialize)]
pub struct Self2;

async fn wait_elsewhere(this: &This<Cell>) {
    chare::select! {
        biased;
        () = this.when(Cell::go) => {}
        _ = this.when(Cell::r#move) => {}
    }
    chare::join!(this.when(Cell::go), this.when(Cell::go));
}

async fn use_proxies(cells: CellProxy) {
    cells.go();
    cells.at((1, 2)).r#move((3, 4));
    cells.ghost(Self2, String::new(), 7, vec![1.0]);
    let answer: Option<u64> = cells.at((1, 2)).land(vec![1], 1).await;
    let _ = (answer, cells.move_callback());
}
