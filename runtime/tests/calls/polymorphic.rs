//! Polymorphic arguments: several types in one, as an enum and as a trait object.

use crate::every_path::on_every_path;
use chare::prelude::*;
use dyn_clone::DynClone;
use serde::{Deserialize, Serialize};

/// Commands of a closed set of types, all in one place.
#[derive(Clone, Serialize, Deserialize)]
enum Command {
    Add(u64),
    Multiply { by: u64 },
    Apply(Vec<Box<dyn Operation>>),
}

/// An open set of types: anybody may add one.
#[typetag::serde]
trait Operation: DynClone + Send {
    fn apply(&self, value: u64) -> u64;
}

dyn_clone::clone_trait_object!(Operation);

#[derive(Clone, Serialize, Deserialize)]
struct Square;

#[typetag::serde]
impl Operation for Square {
    fn apply(&self, value: u64) -> u64 {
        value * value
    }
}

#[derive(Clone, Serialize, Deserialize)]
struct Polynomial {
    coefficients: Vec<u64>,
}

#[typetag::serde]
impl Operation for Polynomial {
    fn apply(&self, value: u64) -> u64 {
        self.coefficients.iter().rev().fold(0, |sum, coefficient| sum * value + coefficient)
    }
}

struct Machine {
    value: u64,
}

#[chare(group)]
impl Machine {
    #[entry]
    fn new() -> Self {
        Self { value: 1 }
    }

    #[entry]
    fn run(&mut self, program: Vec<Command>) -> u64 {
        for command in program {
            self.value = match command {
                Command::Add(summand) => self.value + summand,
                Command::Multiply { by } => self.value * by,
                Command::Apply(operations) => {
                    operations.iter().fold(self.value, |value, operation| operation.apply(value))
                }
            };
        }
        self.value
    }

    #[entry]
    fn apply(&mut self, operation: Box<dyn Operation>, done: Callback<u64>) {
        self.contribute(sum(operation.apply(self.value)), done);
    }
}

#[test]
fn enums_and_trait_objects_are_arguments() {
    on_every_path(&[(1, 1), (1, 2), (2, 2)], || async {
        let machines = MachineProxy::create();
        let last = PeId(chare::pes() - 1);
        let operations: Vec<Box<dyn Operation>> =
            vec![Box::new(Square), Box::new(Polynomial { coefficients: vec![3, 0, 2] })];
        let program = vec![Command::Add(2), Command::Multiply { by: 2 }, Command::Apply(operations)];
        assert_eq!(machines.on(last).run(program).await, 3 + 2 * 36 * 36);
        // Cloned for each member, encoded for each node.
        let (total, done) = chare::future();
        machines.apply(Box::new(Polynomial { coefficients: vec![0, 1] }), done);
        assert_eq!(total.await, u64::from(chare::pes()) - 1 + 2595);
    });
}
