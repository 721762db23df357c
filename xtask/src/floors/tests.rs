//! Small crates, each with one thing to find or to leave alone.

use super::check::{self, Checked};
use super::files::Texts;
use super::{names, report};

/// Checks a crate of (path, text) and returns what is printed.
fn lines(files: &[(&str, &str)], floors: Option<&str>) -> Vec<String> {
    report::errors(&checked(files, floors))
}

fn checked(files: &[(&str, &str)], floors: Option<&str>) -> Checked {
    let files = files.iter().map(|(path, text)| (format!("src/{path}"), (*text).to_owned()));
    Checked::new("house", &files.collect(), floors)
}

/// What stands before the last line.
fn errors(files: &[(&str, &str)], floors: &str) -> Vec<String> {
    let mut lines = lines(files, Some(floors));
    lines.pop();
    lines
}

/// Where an import of `low.rs` leads, from line 1 of it: up, if it leads into `high.rs`.
fn low_is(text: &str) -> Vec<String> {
    let root = "mod low; mod high; pub mod prelude; extern crate self as house; pub use high::High;";
    let high = "pub struct High; impl High { pub fn new() {} } pub enum Kind { Odd } pub fn high() {}";
    let files =
        [("lib.rs", root), ("prelude.rs", "pub use crate::high::*;"), ("high.rs", high), ("low.rs", text)];
    errors(&files, "low\nhigh\ndoors: lib prelude")
}

const UP: &str = "house/src/low.rs:1: low must not know high";

#[test]
fn an_import_upwards_is_told_with_file_line_and_floor() {
    let told = low_is("use std::fmt;\n\nuse crate::{high::{High, high as other}};");
    assert_eq!(told, ["house/src/low.rs:3: low must not know high (High, high)"]);
}

#[test]
fn the_module_that_holds_the_importer_draws_no_arrow() {
    let files = [
        ("lib.rs", "mod low;"),
        ("low/mod.rs", "mod one;"),
        ("low/one.rs", "use crate::low; use super::one;"),
    ];
    assert!(errors(&files, "low\ndoors: lib").is_empty());
}

#[test]
fn every_way_of_naming_draws_the_arrow() {
    for text in [
        "fn low() { crate::high::high() }",
        "fn low() { house::high::high() }",
        "fn low() { ::house::high::high() }",
        "fn low() { super::high::high() }",
        "fn low() { self::super::high::high() }",
        "fn low() { format!(\"{}\", crate::high::high()); }",
        "fn low() { assert!(matches!(1, 1 if crate::high::high()), \"a\"); }",
        "fn low() { let _ = vec![crate::high::high(); 2]; }",
        "fn low() { unknown!(a => crate::high::high()); }",
        "macro_rules! low { () => { $crate::high::high() } }",
        "struct Low(crate::high::High);",
        "trait Low where crate::high::High: Sized {}",
        "#[crate::high::high] struct Low;",
        "fn low() { let _ = crate::high::Kind::Odd; }",
        "fn low() { if let crate::high::Kind::Odd = low() {} }",
        "mod inner { fn low() { super::super::high::high() } }",
        "fn low() { use crate::high::high; }",
        "use crate::high;",
        "use super::{high as other};",
        "use crate::high; fn low() { high::high() }",
        "use crate::high as up; fn low() { up::high() }",
        "use crate::high::{self}; fn low() { high::High::new() }",
        "use crate::High;",
        "use crate::prelude::High;",
        "use crate::prelude::*; fn low() { high() }",
        "use crate::prelude::*; fn low(_: High) {}",
        "use crate::prelude::Kind::*; fn low() { let Odd = 1; }",
        "pub use crate::high::High;",
        "use crate::high::WrittenByAMacro;",
        "#[cfg(feature = \"fast\")] use crate::high::High;",
        "#[cfg(any(feature = \"fast\", test))] use crate::high::High;",
        "#[cfg(not(loom))] use crate::high::High;",
    ] {
        let told = low_is(text);
        assert!(told.len() == 1 && told[0].starts_with(UP), "{text}: {told:?}");
    }
}

#[test]
fn tests_models_and_documentation_draw_no_arrow() {
    for text in [
        "#[cfg(test)] use crate::high::High;",
        "#[cfg(all(test, unix))] mod tests { use crate::high::High; }",
        "#[cfg(loom)] use crate::high::High;",
        "struct Low; impl Low { #[cfg(test)] fn low() { crate::high::high() } }",
        "fn low() { #[cfg(test)] crate::high::high(); }",
        "/// See [`crate::high::high`].\nstruct Low;",
        "pub(in crate::high) struct Low;",
        "use other::high::High;",
        "fn low(high: u32) -> u32 { high }",
        "use crate::prelude::*; struct High; fn low(_: High) {}",
    ] {
        assert_eq!(low_is(text), [""; 0], "{text}");
    }
}

#[test]
fn a_circle_is_told_with_all_that_ties_it() {
    let files = [
        ("lib.rs", "mod one; mod two; mod three;"),
        ("one.rs", "use crate::two::{Second, second}; pub struct First;"),
        ("two.rs", "\nuse crate::three::Third; pub struct Second; pub fn second() {}"),
        ("three.rs", "use crate::one::First; pub struct Third;"),
    ];
    let told = lines(&files, None);
    assert!(told[0].starts_with("house/FLOORS is missing: write it"), "{told:?}");
    let circle = [
        "house: a circle of 3 files, 3 arrows:",
        "  house/src/one.rs:1: two (Second, second)",
        "  house/src/three.rs:1: one (First)",
        "  house/src/two.rs:2: three (Third)",
        "house: 4 files, 3 arrows, 0 up, 1 circles, 0 from outside",
    ];
    assert_eq!(told[1..], circle);
}

#[test]
fn a_reexport_leads_to_the_definition_over_many_hops() {
    let files = [
        ("lib.rs", "mod user; mod face; mod home;"),
        ("face/mod.rs", "mod inner; pub use inner::*;"),
        ("face/inner.rs", "pub use crate::home::deep::Thing as Renamed;"),
        ("home/mod.rs", "pub mod deep;"),
        ("home/deep.rs", "pub struct Thing;"),
        ("user.rs", "use crate::face::Renamed;"),
    ];
    let told = errors(&files, "user\nhome\nface\ndoors: lib");
    assert_eq!(told, ["house/src/user.rs:1: user must not know home/deep (Thing)"]);
}

#[test]
fn a_face_that_defines_what_its_rooms_need_is_in_a_circle_with_them() {
    let face = |reexport: &str| {
        let text = format!("mod inner; {reexport} pub struct Outer;");
        let inner = "use super::Outer; pub struct Inner;";
        errors(&[("lib.rs", "mod face;"), ("face/mod.rs", &text), ("face/inner.rs", inner)], "face\nlib")
    };
    assert_eq!(face(""), [""; 0]);
    assert_eq!(face("pub use inner::Inner;")[0], "house: a circle of 2 files, 2 arrows:");
    assert_eq!(face("pub use inner::*;")[0], "house: a circle of 2 files, 2 arrows:");
}

#[test]
fn what_a_door_defines_is_for_nobody_below() {
    let files = [
        ("lib.rs", "mod low; mod door;"),
        ("door.rs", "pub fn own() {}"),
        ("low.rs", "use crate::door::own;"),
    ];
    assert_eq!(errors(&files, "low\ndoors: lib door"), ["house/src/low.rs:1: low must not know door (own)"]);
}

#[test]
fn an_inherent_impl_for_a_lower_type_needs_a_permit() {
    let files = [
        ("lib.rs", "mod low; mod high;"),
        ("low.rs", "pub struct Low<T>(T);"),
        ("high.rs", "use crate::low::Low;\nimpl<T> Low<T> {}\nimpl<T> Clone for Low<T> {}"),
    ];
    let told = errors(&files, "low\nhigh\nlib");
    assert_eq!(told.len(), 1);
    assert!(
        told[0].starts_with("house/src/high.rs:2: an inherent `impl` for Low, which low defines"),
        "{told:?}"
    );
    assert!(told[0].ends_with("or `may extend: high.rs Low` in house/FLOORS"), "{told:?}");
    let floors = "low\nhigh\nlib\nmay extend: high.rs Low";
    assert_eq!(errors(&files, floors), [""; 0]);
    let told = errors(&files, &format!("{floors} High"));
    assert_eq!(told, ["house/FLOORS:4: high.rs does not extend High of a lower floor: take it away"]);
}

#[test]
fn rooms_of_a_folder_stand_in_order() {
    let wing = |floors: &str| {
        let files = [
            ("lib.rs", "mod wing;"),
            ("wing/mod.rs", "pub mod base; pub mod mid; pub mod top; use base::Base;"),
            ("wing/base.rs", "use super::top::tower::Tower; pub struct Base;"),
            ("wing/mid.rs", "use super::base::Base;"),
            ("wing/top/mod.rs", "pub mod tower;"),
            ("wing/top/tower.rs", "pub struct Tower;"),
        ];
        errors(&files, floors)
    };
    let told = "house/src/wing/base.rs:1: wing/base must not know wing/top/tower (Tower)";
    assert_eq!(wing("wing: base * top\nlib"), [told]);
    assert_eq!(wing("wing: top/tower base *\nlib"), [""; 0]);
    assert_eq!(wing("wing: *\nlib"), [""; 0]);
    assert_eq!(wing("wing: top base mid\nlib"), [""; 0]);
    let told = "house/src/wing/mod.rs:1: wing/mod must not know wing/base (Base)";
    assert_eq!(wing("wing: top mod base mid\nlib"), [told]);
    let told = "house/src/wing/mid.rs: house/FLOORS has no place for it: write `mid` where it belongs";
    assert_eq!(wing("wing: top base\nlib"), [told]);
}

#[test]
fn two_on_one_line_may_not_know_each_other() {
    let files =
        [("lib.rs", "mod one; mod two;"), ("one.rs", "use crate::two::Two;"), ("two.rs", "pub struct Two;")];
    assert_eq!(errors(&files, "one two\nlib"), ["house/src/one.rs:1: one must not know two (Two)"]);
    assert_eq!(errors(&files, "two\none\nlib"), [""; 0]);
}

#[test]
fn each_file_has_a_place_and_each_entry_a_file() {
    let files =
        [("lib.rs", "mod one; mod two;"), ("one.rs", ""), ("two/mod.rs", "mod part;"), ("two/part.rs", "")];
    let told = errors(&files, "# floors\n\nown\ntwo: parts *\nlib\n");
    assert_eq!(
        told,
        [
            "house/FLOORS:3: `own` names no module: correct it, or take it away",
            "house/FLOORS:4: `parts` names no file or folder there: correct it, or take it away",
            "house/src/one.rs: house/FLOORS has no place for it: write `one` where it belongs",
        ]
    );
}

#[test]
fn lines_that_say_nothing_are_errors() {
    let files = [("lib.rs", "mod one;"), ("one.rs", "")];
    let told = errors(&files, "one\none\nlib:\nlib one: a\ntwo/three\nmay extend: one.rs\ndoors: lib");
    let lines: Vec<&str> = told.iter().map(|line| line.split(": ").next().unwrap_or_default()).collect();
    assert_eq!(lines, [2, 3, 4, 5, 6].map(|line| format!("house/FLOORS:{line}")), "{told:?}");
}

#[test]
fn files_of_tests_need_no_place_and_strays_are_errors() {
    let root = "#[cfg(test)] mod testing; #[cfg(all(test, loom))] mod model; mod tests; mod gone;\n#[path = \"x.rs\"] mod odd;";
    let files = [
        ("lib.rs", root),
        ("testing/mod.rs", "use crate::stray::Stray;"),
        ("testing/more.rs", ""),
        ("model.rs", ""),
        ("tests.rs", ""),
        ("stray.rs", ""),
    ];
    let told = errors(&files, "doors: lib");
    assert_eq!(
        told,
        [
            "house/src/gone.rs or src/gone/mod.rs is missing: write it, or take its `mod` away",
            "house/src/lib.rs:2: `#[path]` hides where a module lies: move the file to where its name says",
            "house/src/stray.rs: no `mod` leads here: declare it, or take the file away",
        ]
    );
}

#[test]
fn a_file_that_does_not_parse_is_told_with_its_line() {
    let files = [("lib.rs", "mod one;"), ("one/mod.rs", "\nfn {}\nmod part;"), ("one/part.rs", "")];
    let told = errors(&files, "one\nlib");
    assert!(told[0].starts_with("house/src/one/mod.rs:2: this does not parse ("), "{told:?}");
    assert_eq!(told.len(), 1, "{told:?}");
}

#[test]
fn the_table_counts_and_why_explains() {
    let files = [
        ("lib.rs", "mod low; mod high; pub use high::High;"),
        ("low/mod.rs", "pub mod a; pub mod b;"),
        ("low/a.rs", "pub struct A;"),
        ("low/b.rs", "use super::a::A; pub struct B;"),
        ("high.rs", "\nuse crate::low::{a::A, b::B}; pub struct High;"),
    ];
    let checked = checked(&files, Some("low\nhigh\ndoors: lib"));
    assert_eq!(
        report::table(&checked)[1..],
        [
            "              1     2     3",
            "   3 lib      .     1     .",
            "   2 high     2     .     .",
            "   1 low      1     .     .",
        ]
    );
    let both = ["house/src/high.rs:2: low/a (A)", "house/src/high.rs:2: low/b (B)"].map(str::to_owned);
    assert_eq!(report::why(&checked, "high", "low"), Some(both.to_vec()));
    assert_eq!(report::why(&checked, "high", "low/b"), Some(both[1..].to_vec()));
    assert_eq!(report::why(&checked, "low", "high"), Some(Vec::new()));
    assert_eq!(report::why(&checked, "low", "attic"), None);
}

/// What is said of `low.rs` and `high.rs` when `low` must not take threads, the clock or anything of `wild`.
fn low_takes(text: &str) -> Vec<String> {
    let root = "mod low; mod high; mod clock;";
    let clock = "pub use std::time::Instant;";
    let files = [("lib.rs", root), ("low.rs", text), ("high.rs", text), ("clock.rs", clock)];
    let never = "never in low: std::thread std::time::Instant thread_local wild";
    errors(&files, &format!("clock\nlow\nhigh\ndoors: lib\n{never}"))
}

#[test]
fn what_a_floor_must_not_take_is_told_with_file_and_line() {
    for (text, taken, kept_out) in [
        ("use std::time::Instant;", "std::time::Instant", "std::time::Instant"),
        ("use std::time::*;", "std::time::*", "std::time::Instant"),
        ("use std::thread;", "std::thread", "std::thread"),
        ("fn low() { std::thread::spawn(|| ()); }", "std::thread::spawn", "std::thread"),
        ("fn low() { ::std::thread::spawn(|| ()); }", "std::thread::spawn", "std::thread"),
        (
            "use std as s; fn low() { s::time::Instant::now(); }",
            "std::time::Instant::now",
            "std::time::Instant",
        ),
        ("use std::time as t; fn low(_: t::Instant) {}", "std::time::Instant", "std::time::Instant"),
        ("use crate::clock::Instant;", "std::time::Instant", "std::time::Instant"),
        ("fn low() { crate::clock::Instant::now(); }", "std::time::Instant::now", "std::time::Instant"),
        ("thread_local! { static A: u8 = 0; }", "thread_local", "thread_local"),
        ("macro_rules! low { () => { std::thread::park() } }", "std::thread::park", "std::thread"),
        ("use wild::{tame::*}; fn low(_: Beast) {}", "wild::tame::Beast", "wild"),
    ] {
        let line = format!("house/src/low.rs:1: {taken} is not for it: house/FLOORS:5 keeps {kept_out} out");
        let told = low_takes(text);
        assert!(told.contains(&line), "{text}: {told:?}");
        assert!(told.iter().all(|line| line.starts_with("house/src/low.rs:1: ")), "{text}: {told:?}");
    }
    for text in [
        "use std::time::Duration;",
        "use std::{fmt, time};",
        "fn low(thread: u8) -> u8 { thread }",
        "mod thread { pub fn spawn() {} } fn low() { thread::spawn() }",
        "#[cfg(test)] mod tests { use std::time::Instant; }",
        "/// As [`std::thread::spawn`].\nstruct Low;",
    ] {
        assert_eq!(low_takes(text), [""; 0], "{text}");
    }
}

#[test]
fn what_only_one_place_takes_is_for_no_other() {
    let now = "use std::time::Instant; pub fn now() -> Instant { Instant::now() }";
    let files =
        [("lib.rs", "mod ambient; mod low;"), ("ambient/mod.rs", "mod clock;"), ("ambient/clock.rs", now)];
    let said = |low: &str, only: &str| {
        let files = [&files[..], &[("low.rs", low)]].concat();
        errors(&files, &format!("ambient\nlow\ndoors: lib\nonly in {only}: std::time::Instant::now"))
    };
    assert_eq!(said("use std::time::Instant; fn low(_: Instant) {}", "ambient"), [""; 0]);
    let told = "house/src/low.rs:1: std::time::Instant::now is not for it: house/FLOORS:4 keeps std::time::Instant::now out";
    assert_eq!(said(now, "ambient"), [told]);
    assert_eq!(said(now, "ambient/clock low"), [""; 0]);
    let told = "house/FLOORS:4: low takes nothing of it: take it away";
    assert_eq!(said("", "ambient low"), [told]);
}

#[test]
fn rules_name_places_and_paths() {
    let files = [("lib.rs", "mod low;"), ("low.rs", "use std::fs;")];
    let told = "house/src/low.rs:1: std::fs is not for it: house/FLOORS:2 keeps std::fs out";
    assert_eq!(errors(&files, "low lib\nnever in *: std::fs std::net"), [told]);
    let told = errors(&files, "low lib\nnever in attic: std::fs\nnever in low:\nonly in : std::fs");
    let lines: Vec<&str> = told.iter().map(|line| line.split(": ").next().unwrap_or_default()).collect();
    assert_eq!(lines, [2, 3, 4].map(|line| format!("house/FLOORS:{line}")), "{told:?}");
}

#[test]
fn a_name_that_is_kept_for_one_type_is_given_to_no_other() {
    let house = |name: &str, low: &str, floors: &str| {
        let files = [("src/lib.rs", "mod low;"), ("src/low.rs", low)];
        let texts: Texts = files.map(|(path, text)| (path.to_owned(), text.to_owned())).into();
        Checked::new(name, &texts, Some(&format!("low\ndoors: lib\n{floors}")))
    };
    let faults = |other: &str, own: &str| {
        let own = house("house", own, "defined once: low.rs Place");
        let mut both = [own, house("shed", other, "")];
        check::compare_names(&mut both);
        both.iter().flat_map(report::errors).filter(|line| !line.contains(" arrows,")).collect::<Vec<_>>()
    };
    assert_eq!(faults("pub struct Spot; fn Place() {}", "pub struct Place;"), [""; 0]);
    let told = "shed/src/low.rs:1: a second Place, beside that of house/src/low.rs: find a name of its own";
    for text in ["struct Place;", "pub enum Place {}", "type Place = u8;", "mod inner { trait Place {} }"] {
        assert_eq!(faults(text, "pub struct Place;"), [told], "{text}");
    }
    let told = "house/FLOORS:3: low.rs defines no type Place: correct it, or take it away";
    assert_eq!(faults("", ""), [told]);
}

#[test]
fn names_of_several_types_are_listed_with_their_files() {
    let files = [
        ("lib.rs", "mod one; mod two; mod three;"),
        ("one.rs", "struct Twice; struct Thrice; mod inner { struct Twice; }"),
        ("two.rs", "enum Twice {} trait Thrice {} struct Once;"),
        ("three.rs", "type Thrice = u8;"),
    ];
    let checked = checked(&files, Some("one two three\nlib"));
    assert_eq!(names::repeated(&checked.source), ["house: Thrice: one three two", "house: Twice: one two"]);
}

#[test]
fn each_program_is_a_crate_of_its_own() {
    let files = [
        ("src/lib.rs", "pub mod low;"),
        ("src/low.rs", "pub struct Low;"),
        ("src/bin/tool.rs", "fn main() {}"),
        ("benches/long/main.rs", "mod rows; fn main() { rows::rows() } pub struct Task;"),
        ("benches/long/rows.rs", "use crate::Task; pub fn rows() {}"),
        ("benches/short.rs", "#[path = \"../other/x.rs\"] mod x; fn main() { x::x() }"),
    ];
    let texts: Texts = files.map(|(path, text)| (path.to_owned(), text.to_owned())).into();
    let mut told = report::errors(&Checked::new("house", &texts, Some("low\nshort long\ndoors: lib bin")));
    told.pop();
    assert_eq!(
        told,
        [
            "house/benches/short.rs:1: `#[path]` hides where a module lies: move the file to where its name says",
            "house: a circle of 2 files, 2 arrows:",
            "  house/benches/long/main.rs:1: long/rows (rows)",
            "  house/benches/long/rows.rs:1: long/main (Task)",
        ]
    );
}

#[test]
fn a_folder_and_its_own_file_lie_together() {
    let files = [("lib.rs", "mod wing;"), ("wing.rs", "mod part;"), ("wing/part.rs", "")];
    let told = "house/src/wing.rs: it lies beside its folder: move it to src/wing/mod.rs, as all others";
    assert_eq!(errors(&files, "wing\nlib"), [told]);
}
