//! Text from agents and servers, as a column may hold it.

/// Longest text that is kept, in characters.
const CHARS: usize = 300;

/// `text` as one line of bounded length. Postgres text holds no NUL, and a reason is shown in one
/// line.
pub fn one_line(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(CHARS).collect()
}
