//! The book's chapters, and the examples of the macros' reference, so that `cargo test --doc` compiles and runs every block of code in them.
//!
//! Each block stands for itself; what is needed to run it and says nothing to a reader is hidden behind `# `, which the book's HTML
//! leaves out, too. The chapter on the ping-pong is another matter: its blocks are one program, `pingpong.rs`.

macro_rules! chapters {
    ($($chapter:ident: $path:literal;)*) => {
        $(
            #[cfg(doctest)]
            #[doc = include_str!($path)]
            mod $chapter {}
        )*
    };
}

chapters! {
    introduction: "src/introduction.md";
    first_hour: "src/first-hour.md";
    which: "src/which.md";
    model: "src/model.md";
    collections: "src/collections.md";
    control_flow: "src/control-flow.md";
    beside_tokio: "src/beside-tokio.md";
    zero_copy: "src/zero-copy.md";
    layouts: "src/layouts.md";
    collective_buffers: "src/collective-buffers.md";
    devices: "src/devices.md";
    reductions: "src/reductions.md";
    elements_that_move: "src/elements-that-move.md";
    balancing: "src/balancing.md";
    ten_thousand_pes: "src/ten-thousand-pes.md";
    performance: "src/performance.md";
    cluster: "src/cluster.md";
    options: "src/options.md";
    watching: "src/watching.md";
    porting: "src/porting.md";
    idioms: "src/idioms.md";
    glossary: "src/glossary.md";
    // Macros cannot depend on `chare`, not even for their tests: all of it would be built once more, for the compiler.
    macro_balancer: "../../macros/docs/balancer.md";
    macro_chare: "../../macros/docs/chare.md";
    macro_entries: "../../macros/docs/entries.md";
    macro_migrate: "../../macros/docs/migrate.md";
    macro_layout: "../../macros/docs/layout.md";
}
