//! Collectives of buffers: every element where it belongs, whatever memory, path and number of nodes; and mistakes that end in words.

use chare_tests::Program;

fn collected() -> Program {
    Program::binary(env!("CARGO_BIN_EXE_collected"))
}

#[test]
fn buffers_are_dealt_out_and_collected_on_every_path() {
    for layout in [
        "",
        "+p 3",
        "+n 2",
        "+n 3 +p 2",
        "+n 8",
        "+n 2 +p 2 +shuffle 7",
        "+n 2 +noshm",
        "+n 4 +lrts shm +nocma",
    ]
    .into_iter()
    .chain(["+n 3 +lrts cma", "+n 2 +p 2 +lrts tcp +nolocal", "+n 4 +nolocal", "+n 3 +lrts emulated"])
    {
        let said = collected().pass(layout);
        assert_eq!(said.matches("All buffers were dealt out and collected").count(), 1, "{layout}: {said}");
    }
}

#[test]
fn mistakes_end_in_words() {
    for (mistake, words) in [
        ("twice", "puts part 0, which was put before, of a gather"),
        ("twice-filled", "puts part 0, which was put before, of a gather"),
        ("too-long", "puts 5 elements as part 1, which has 4, of a gather"),
        ("beyond", "puts part 3, which is none of the 3 parts of a gather"),
        ("late", "`Gather::put`, called on PE 0, failed on PE 0 (node 0): the gather is over"),
        ("late-filled", "the gather is over"),
        ("lost", "Culprit::err of member"),
        ("dies", "Culprit::look of member"),
        ("one", "`SendBuffer::only` sends one chare its part"),
        ("few", "a buffer is dealt out in 2 parts, none of which is that of member 2"),
        ("stranger", "an exchange of 3 members has no member 3"),
        ("uneven", "an exchange of 3 members by a partition of 2 parts"),
        ("longer", "which has 2, of round 0 of an exchange"),
        ("same", "member 0 begins round 0 of an exchange twice"),
        ("copied", "begins round 0 of an exchange twice, the second time by `all_gather`"),
        ("copied-later", "member 0 begins round 0 of an exchange twice"),
        ("kinds", "calls `show_all`"),
        ("order", "all members begin the same rounds, in the same order"),
        ("section", "a buffer is dealt out in 2 parts, none of which is that of member 2"),
    ] {
        for layout in ["+p 3", "+n 3", "+n 3 +nolocal"] {
            let outcome = collected().run(&format!("{mistake} {layout}"));
            assert_eq!(outcome.code, Some(1), "{mistake} {layout}: {outcome:?}");
            assert!(outcome.stderr.contains(words), "{mistake} {layout}: {outcome:?}");
        }
    }
}
