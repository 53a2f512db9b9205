//! Writes rows into tables by COPY, in the text format of Postgres.

use std::fmt::Write;

use hierarchy::{Companies, CompanyId, Hierarchy, Subnet};
use sqlx::PgConnection;

use crate::StoreError;

/// Bytes collected before they are sent.
const CHUNK: usize = 256 * 1024;

pub(super) async fn copy_companies(
    db: &mut PgConnection,
    generation: i32,
    companies: &Companies,
    copied: &(dyn Fn(u64) + Sync),
) -> Result<u64, StoreError> {
    let rows = companies.iter().map(|(id, company)| {
        move |row: &mut Row<'_>| {
            row.number(generation)
                .number(id.get())
                .text(company.registry.as_str())
                .text(company.handle);
            row.maybe(company.name, Row::text);
        }
    });
    let statement = "COPY companies (generation, ordinal, registry, handle, name) FROM STDIN";
    copy(db, statement, rows, copied).await.map_err(StoreError::doing("copy the companies"))
}

pub(super) async fn copy_subnets(
    db: &mut PgConnection,
    generation: i32,
    hierarchy: &Hierarchy,
    copied: &(dyn Fn(u64) + Sync),
) -> Result<u64, StoreError> {
    let rows = hierarchy
        .iter()
        .map(|subnet| move |row: &mut Row<'_>| write_subnet(row, generation, &subnet));
    let statement =
        "COPY subnets (generation, ordinal, parent, first, last, kind, registry, company, country)
                     FROM STDIN";
    copy(db, statement, rows, copied).await.map_err(StoreError::doing("copy the subnets"))
}

fn write_subnet(row: &mut Row<'_>, generation: i32, subnet: &Subnet<'_>) {
    let range = subnet.range();
    row.number(generation).number(subnet.id().get());
    row.maybe(subnet.parent(), |row, parent| row.number(parent.get()));
    row.number(range.first()).number(range.last()).text(subnet.kind().as_str());
    row.maybe(subnet.registry(), |row, registry| row.text(registry.as_str()));
    row.maybe(subnet.company().map(CompanyId::get), Row::number);
    row.maybe(subnet.country(), |row, country| row.text(country.as_str()));
}

/// Sends one row per writer and returns how many there were.
async fn copy<W: FnOnce(&mut Row<'_>)>(
    db: &mut PgConnection,
    statement: &str,
    rows: impl Iterator<Item = W>,
    copied: &(dyn Fn(u64) + Sync),
) -> Result<u64, sqlx::Error> {
    let mut sink = db.copy_in_raw(statement).await?;
    let mut chunk = String::with_capacity(CHUNK + 1024);
    let mut count = 0;
    for write in rows {
        write(&mut Row::new(&mut chunk));
        count += 1;
        if chunk.len() >= CHUNK {
            sink.send(chunk.as_bytes()).await?;
            chunk.clear();
            copied(count);
        }
    }
    sink.send(chunk.as_bytes()).await?;
    sink.finish().await?;
    copied(count);
    Ok(count)
}

/// One row being written; ends its line when it goes.
struct Row<'c> {
    chunk: &'c mut String,
    begun: bool,
}

impl<'c> Row<'c> {
    fn new(chunk: &'c mut String) -> Self {
        Self { chunk, begun: false }
    }

    fn next_field(&mut self) {
        if self.begun {
            self.chunk.push('\t');
        }
        self.begun = true;
    }

    /// A value whose text has nothing to escape: a number or an address.
    fn number(&mut self, value: impl std::fmt::Display) -> &mut Self {
        self.next_field();
        // Writing to a string cannot fail.
        let _ = write!(self.chunk, "{value}");
        self
    }

    fn text(&mut self, value: &str) -> &mut Self {
        self.next_field();
        for letter in value.chars() {
            match letter {
                '\\' => self.chunk.push_str("\\\\"),
                '\t' => self.chunk.push_str("\\t"),
                '\n' => self.chunk.push_str("\\n"),
                '\r' => self.chunk.push_str("\\r"),
                // A text of Postgres cannot contain it.
                '\0' => {}
                other => self.chunk.push(other),
            }
        }
        self
    }

    fn maybe<T>(&mut self, value: Option<T>, write: impl FnOnce(&mut Self, T) -> &mut Self) {
        if let Some(value) = value {
            write(self, value);
        } else {
            self.next_field();
            self.chunk.push_str("\\N");
        }
    }
}

impl Drop for Row<'_> {
    fn drop(&mut self) {
        self.chunk.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_copy_takes_for_syntax_is_escaped() {
        let mut chunk = String::new();
        let mut row = Row::new(&mut chunk);
        row.number(7).text("a\tb\\N\nc\r\0");
        row.maybe(None::<&str>, Row::text);
        row.maybe(Some("d"), Row::text);
        drop(row);
        assert_eq!(chunk, "7\ta\\tb\\\\N\\nc\\r\t\\N\td\n");
    }
}
