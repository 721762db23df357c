//! Compiler messages to users of `#[chare]`.
//!
//! `ui/pass` holds programs that must build and run; `ui/fail` holds one program per message, and beside it the
//! compiler's exact output. The `.stderr` files are generated, never edited: run with `TRYBUILD=overwrite` after a change of
//! a message, and read the difference.

#[test]
fn what_the_compiler_says() {
    let cases = trybuild::TestCases::new();
    cases.pass("ui/pass/*.rs");
    cases.compile_fail("ui/fail/*.rs");
}
