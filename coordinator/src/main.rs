//! Decides, receives, indexes, answers.

fn main() {}
