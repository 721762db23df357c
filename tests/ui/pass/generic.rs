//! Generic chares, with bounds, constants, and every kind of entry.
#![deny(warnings, missing_docs)]

use chare::prelude::*;

/// Keeps rows.
pub struct Rows<T, const WIDTH: usize>
where
    T: Clone,
{
    rows: Vec<Vec<T>>,
}

/// What a row is made of.
pub trait Value: chare::Element + chare::Message {}

impl Value for f32 {}

impl Value for u8 {}

#[chare(array, index = (u32, u32))]
impl<T: Value, const WIDTH: usize> Rows<T, WIDTH>
where
    T: PartialOrd,
{
    /// Makes it.
    #[entry]
    pub fn new(first: Vec<T>) -> Self {
        Self { rows: vec![first] }
    }

    /// Adds one.
    #[entry]
    pub fn add(&mut self, #[nocopy] row: Received<T>) -> Option<T> {
        self.rows.push(row.into_vec());
        self.rows[0].first().cloned()
    }

    /// Awaited.
    #[entry(awaited)]
    pub fn ghost(#[reference] iteration: u32, value: T);

    /// A buffer of its own.
    #[entry]
    pub fn land(&mut self, #[nocopy(post)] row: Posted<T>) {
        self.rows.push(row.into_vec());
    }

    #[post(land)]
    fn give(&mut self, row: Post<T>) {
        let _ = row.post(vec![T::zeroed(); WIDTH]);
    }

    /// Awaits.
    #[entry]
    pub async fn run(this: This<Self>, others: RowsProxy<T, WIDTH>) -> Vec<T> {
        others.at((1, 2)).ghost(3, this.when(Self::ghost).reference(2).await.1);
        this.with(|rows| rows.rows.concat())
    }

    /// Like a function.
    #[entry(local)]
    pub fn find<U: PartialEq<T>>(&self, value: &U) -> Option<usize> {
        self.rows.iter().position(|row| row.iter().any(|one| *value == *one))
    }

    /// Itself.
    #[entry]
    pub fn introduce(&self, to: Callback<RowsElementProxy<T, WIDTH>>) {
        let _ = self.this_collection();
        to.send(self.this_chare());
    }
}

chare::instantiate!(Rows<f32, 4>, Rows<u8, 2>);

async fn use_proxies(rows: RowsProxy<f32, 4>, others: RowsProxy<u8, 2>) {
    let _: Option<f32> = rows.at((1, 1)).add(vec![1.0]).await;
    let _: Vec<u8> = others.at((0, 0)).run(others.clone()).await;
    others.land(vec![1u8]);
    let _ = others.at((3, 2)).find(&3u8);
}
