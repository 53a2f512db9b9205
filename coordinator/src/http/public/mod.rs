//! Handlers that need no session: the search over crawled pages, health and the dashboard's files.

pub mod health;
pub mod pages;
pub mod search;
pub mod search_dto;
