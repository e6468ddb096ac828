//! Receipts as rows: the latest under a key is the one that counts.

use rusqlite::{Connection, OptionalExtension, params};
use task::{Digest, Receipt};

use crate::problem::Refusal;

pub(crate) fn put(connection: &Connection, receipt: &Receipt) -> Result<Digest, Refusal> {
    let key = receipt.key();
    let data = serde_json::to_string(receipt)?;
    connection.execute(
        "INSERT INTO receipt (key, data) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET data = excluded.data",
        params![key.as_str(), data],
    )?;
    Ok(key)
}

/// A receipt that this version does not understand is as good as none: its check runs again.
pub(crate) fn get(connection: &Connection, key: &Digest) -> Result<Option<Receipt>, Refusal> {
    let data: Option<String> =
        connection.query_row("SELECT data FROM receipt WHERE key = ?1", [key.as_str()], |row| row.get(0)).optional()?;
    Ok(data.and_then(|data| serde_json::from_str(&data).ok()))
}
