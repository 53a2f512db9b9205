//! Search over integrated pages.
