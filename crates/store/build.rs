//! A new or changed migration must be embedded anew; cargo sees only what it is told.

fn main() {
    println!("cargo:rerun-if-changed=../../migrations");
}
