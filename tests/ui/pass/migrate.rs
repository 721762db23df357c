//! Chares that migrate: with every hook, with awaited entries of every kind, and generic.
#![deny(warnings, missing_docs)]

use chare::prelude::*;
use chare::{DevicePosted, DeviceReceived, Message, Migrates};
use serde::{Deserialize, Serialize};

/// The coordinates of a place.
const DIMENSIONS: usize = 2;

/// Moves.
#[derive(Serialize, Deserialize)]
pub struct Cell {
    row: Vec<f64>,
    #[serde(skip)]
    half: Option<f64>,
}

#[chare(array, index = (u32, u32), migrate, on_panic = renew)]
impl Cell {
    /// Makes it.
    #[entry]
    pub fn new(width: usize) -> Self {
        Self { row: vec![0.0; width], half: None }
    }

    /// Without arguments.
    #[entry(awaited)]
    pub fn go();

    /// With one.
    #[entry(awaited)]
    pub fn r#move(#[reference] to: (u32, u32));

    /// With names like what is generated.
    #[entry(awaited)]
    pub fn ghost(
        out: String,
        #[nocopy] bytes: Received<f64>,
        #[nocopy] parameters: ReceivedView<u8>,
        #[reference] this: u64,
    ) -> u64;

    /// A single buffer.
    #[entry(awaited)]
    fn land(#[nocopy(post)] row: Posted<u8>);

    #[post(land)]
    fn give(&mut self, row: Post<u8>) {
        let len = row.len();
        let _ = row.post(vec![0; len]);
    }

    /// On devices.
    #[entry(awaited)]
    fn device(#[nocopy] one: DeviceReceived<f32>, #[nocopy(post)] two: DevicePosted<f32>);

    #[post(device)]
    fn give_device(&mut self, two: Post<f32>) {
        drop(two);
    }

    /// Here, or not.
    #[cfg(any())]
    #[entry(awaited)]
    pub fn absent(number: NoSuchType);

    #[about_to_move]
    fn pack(&mut self) {
        self.half = None;
    }

    #[moved]
    fn settle(&mut self, _from: PeId) {
        self.half = self.row.first().map(|first| first / 2.0);
    }

    #[load]
    fn work(&self) -> f64 {
        self.row.len() as f64
    }

    #[position]
    fn place(&self) -> [f64; DIMENSIONS] {
        let (x, y) = self.this_index();
        [f64::from(x), f64::from(y)]
    }

    #[entry]
    async fn run(this: This<Self>) {
        this.when(Self::go).await;
        let _: (u32, u32) = this.when(Self::r#move).await;
        let (_, _, _, _, reply) = this.when(Self::ghost).reference(7).await;
        reply.send(8);
        drop((this.when(Self::land).await, this.when(Self::device).await));
    }
}

/// Moves, of many types.
#[derive(Serialize, Deserialize)]
pub struct Stack<T> {
    values: Vec<T>,
}

#[chare(array, migrate)]
impl<T: Message> Stack<T> {
    /// Makes it.
    #[entry]
    pub fn new() -> Self {
        Self { values: Vec::new() }
    }

    /// Awaited.
    #[entry(awaited)]
    pub fn push(value: T);

    #[about_to_move]
    fn pack(&self) {}

    #[cfg(any())]
    #[moved]
    fn settle(&mut self, _from: chare::PeId) {
        NoSuchType
    }

    #[load]
    #[cfg(unix)]
    fn work(&self) -> f64 {
        self.values.len() as f64
    }

    #[entry]
    async fn run(this: This<Self>) {
        let value = this.when(Self::push).await;
        this.with(|stack| stack.values.push(value));
    }

    /// May be called again.
    #[entry]
    pub async fn again(this: chare::Again<Self>, again: T, kept: u8) -> T {
        let _ = (this.at_rest(this.when(Self::push)).await, kept);
        this.movable().await;
        again
    }

    /// Without arguments, or with an answer alone.
    #[entry]
    pub async fn once_more(this: Again<Stack<T>>) {
        let _ = this.clone();
        this.migrate_to(PeId(0)).await;
    }

    /// With an answer alone.
    #[entry]
    pub async fn count(this: Again<Self>) -> usize {
        this.with(|stack| stack.values.len())
    }
}

chare::instantiate!(Stack<u32>, Stack<String>);

fn moves<C: Migrates>() {}

fn all_move() {
    moves::<Cell>();
    moves::<Stack<u32>>();
}
