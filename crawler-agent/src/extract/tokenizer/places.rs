//! Places inside of tags and comments.

use super::is_space;

/// Place inside of a tag, after its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    BeforeName,
    AfterSlash,
    Name,
    AfterName,
    BeforeValue,
    Unquoted,
    Quoted(u8),
}

impl Place {
    /// The place after `byte`, which does not end the tag. In a quoted value it must be the closing
    /// quotation mark.
    pub(super) fn after(self, byte: u8) -> Self {
        match (self, byte) {
            (Self::Quoted(_), _) => Self::BeforeName,
            (Self::Name | Self::AfterName, byte) if is_space(byte) => Self::AfterName,
            (Self::BeforeValue, byte) if is_space(byte) => Self::BeforeValue,
            (_, byte) if is_space(byte) => Self::BeforeName,
            (Self::BeforeValue, mark @ (b'"' | b'\'')) => Self::Quoted(mark),
            (Self::BeforeValue | Self::Unquoted, _) => Self::Unquoted,
            (_, b'/') => Self::AfterSlash,
            (Self::Name | Self::AfterName, b'=') => Self::BeforeValue,
            _ => Self::Name,
        }
    }
}

/// How much of the end of a comment was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CommentEnd {
    /// Nothing, directly after the start.
    Start,
    /// A dash directly after the start.
    StartDash,
    None,
    Dash,
    Dashes,
    /// An exclamation mark after two dashes.
    Bang,
}

impl CommentEnd {
    /// Whether a `>` ends the comment here.
    pub(super) fn is_complete(self) -> bool {
        !matches!(self, Self::None | Self::Dash)
    }

    /// How much was read after `byte`, which does not end the comment.
    pub(super) fn after(self, byte: u8) -> Self {
        match (self, byte) {
            (Self::Start, b'-') => Self::StartDash,
            (Self::None | Self::Bang, b'-') => Self::Dash,
            (Self::StartDash | Self::Dash | Self::Dashes, b'-') => Self::Dashes,
            (Self::Dashes, b'!') => Self::Bang,
            _ => Self::None,
        }
    }
}
