//! Decides, receives, indexes, answers.
