//! Entries that return something, run inline, or when idle; a reducer.
#![deny(warnings, missing_docs)]

use chare::prelude::*;

/// Counts.
#[derive(Clone, serde::Serialize, serde::Deserialize)]
pub struct Count(u64);

#[reducer]
impl Reducer for Count {
    fn fold(&mut self, other: Self) {
        self.0 += other.0;
    }
}

/// Answers.
pub struct Oracle;

#[chare(array)]
impl Oracle {
    /// Makes it.
    #[entry]
    pub fn new() -> Self {
        Self
    }

    /// Parameters may be called like what is generated.
    #[entry]
    pub fn ask(&mut self, future: u64, reply: String) -> Result<Self2, String> {
        if reply.is_empty() { Err(reply) } else { Ok(Self2(future)) }
    }

    /// Without arguments.
    #[entry(inline)]
    pub fn look(&self) -> u64 {
        1
    }

    /// Waits.
    #[entry]
    pub async fn think(this: This<Self>, #[nocopy] row: Received<f64>, one: u8) -> (u64, f64) {
        (this.this_index() + u64::from(one), row[0])
    }

    /// Sees the arguments before, and not where the answer goes.
    #[entry]
    pub fn land(&mut self, #[nocopy(post)] row: Posted<f64>, width: usize) -> usize {
        row.transferred() + width
    }

    #[post(land)]
    fn give(&mut self, row: Post<f64>, width: &usize) {
        let _ = row.post(vec![0.0; *width]);
    }

    /// Rests.
    #[entry(when_idle)]
    pub fn rest(&mut self) -> bool {
        false
    }
}

/// An answer.
#[derive(Clone, serde::Serialize, serde::Deserialize)]
pub struct Self2(u64);

async fn use_proxies(oracles: OracleProxy) {
    let answer: Result<Self2, String> = oracles.at(1).ask(7, "why".to_owned()).await;
    let _ = answer;
    let _: (u64, f64) = oracles.at(2).think(vec![1.0], 3).await;
    let _: usize = oracles.at(2).land(vec![1.0], 3).await;
    let everyone: Callback<chare::Reply<u64>> = oracles.look_callback();
    let _ = everyone;
    oracles.rest();
}
