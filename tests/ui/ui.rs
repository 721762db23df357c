//! Compiler messages to users of the macros.
//!
//! `pass` holds modules that must build without a warning. `fail` holds a program for each subject, with a module for each fault, and beside it
//! the compiler's exact output. The `.stderr` files are generated, never edited: run with `TRYBUILD=overwrite` after a change of a message,
//! and read the difference.
//!
//! 1. Errors of one program come from phases that do not stop each other: macros, types and borrows are apart from private types and from
//!    constants, which the compiler looks at only when nothing else is wrong.
//! 2. Nothing here has to be linked: so all programs are checked by one call of Cargo's, which a single one to be run would forbid.

/// What must build: each setting, name and condition that generated code might get wrong.
#[allow(dead_code, reason = "it is enough that it compiles")]
pub mod pass {
    pub mod aggregate;
    pub mod answers;
    pub mod array;
    pub mod awaited;
    pub mod balancer;
    pub mod conditions;
    pub mod devices;
    pub mod entries;
    pub mod generic;
    pub mod group;
    pub mod layouts;
    pub mod local;
    pub mod migrate;
    pub mod names;
    pub mod nodegroup;
    pub mod singleton;
}

#[test]
fn what_the_compiler_says() {
    trybuild::TestCases::new().compile_fail("fail/*.rs");
}
