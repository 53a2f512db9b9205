//! Handlers that need no session: the search over crawled pages, health and the dashboard's files.

pub mod dashboard;
mod dto;
pub mod health;
pub mod search;
