//! Handlers that need no session: the search over crawled pages, health and the dashboard's files.

pub mod dashboard;
pub mod downloads;
mod dto;
pub mod health;
pub mod invitations;
pub mod join_requests;
pub mod search;
