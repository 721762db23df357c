//! Build script: in this package the protocols are always played by loom.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-cfg=loom");
    // A feature of the crates whose files are included, which the models never have.
    println!("cargo::rustc-check-cfg=cfg(feature, values(\"sim\"))");
}
