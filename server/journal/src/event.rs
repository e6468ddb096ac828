//! Events as rows: `{v, kind, data}`. Only additions happen to the schema, so what cannot be read is newer than we are.

use rusqlite::Row;
use rusqlite::types::Type;
use serde_json::{Value, json};
use task::{Epoch, Event, EventVersion, Record, Sequence, TaskId, UnixMillis, UnknownEvent};

use crate::problem::{Problem, Refusal};
use crate::store::{unsigned, version};

/// Splits an event into kind and data.
pub(crate) fn encode(event: &Event) -> Result<(String, String), Problem> {
    let value = serde_json::to_value(event)?;
    let data = value.get("data").cloned().unwrap_or_else(|| json!({}));
    Ok((event.kind(), serde_json::to_string(&data)?))
}

/// Puts a row together again. An event of a later version, of an unknown kind or with data that this version does not
/// understand comes back as it is.
fn decode(version: EventVersion, kind: String, data: Value) -> Result<Event, UnknownEvent> {
    if version <= EventVersion::CURRENT
        && let Ok(event) = serde_json::from_value(json!({ "kind": kind, "data": data }))
    {
        return Ok(event);
    }
    Err(UnknownEvent { version, kind, data })
}

/// Reads one row of `sequence, epoch, at, version, kind, data`.
pub(crate) fn record(task: &TaskId, row: &Row<'_>) -> Result<Record, Refusal> {
    let data: String = row.get(5)?;
    let data = serde_json::from_str(&data)
        .map_err(|source| rusqlite::Error::FromSqlConversionFailure(5, Type::Text, Box::new(source)))?;
    Ok(Record {
        task: task.clone(),
        sequence: Sequence(unsigned(row.get(0)?)),
        epoch: Epoch(unsigned(row.get(1)?)),
        at: UnixMillis(unsigned(row.get(2)?)),
        event: decode(version(row.get(3)?), row.get(4)?, data),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_later_version_wrote_comes_back_as_it_is() {
        let data = json!({ "reason": "ok" });
        for (version, kind) in [(1, "teleported"), (2, "closed")] {
            let unknown = decode(EventVersion(version), kind.into(), data.clone()).unwrap_err();
            assert_eq!(unknown, UnknownEvent { version: EventVersion(version), kind: kind.into(), data: data.clone() });
        }
        decode(EventVersion(1), "admitted".into(), json!({ "notes": 7 })).unwrap_err();
    }

    #[test]
    fn fields_that_were_added_later_do_not_hide_an_event() {
        let data = json!({ "notes": ["a"], "since": "version 9" });
        let event = decode(EventVersion(1), "admitted".into(), data).unwrap();
        assert_eq!(event, Event::Admitted { notes: vec!["a".into()] });
        assert_eq!(encode(&event).unwrap(), ("admitted".into(), r#"{"notes":["a"]}"#.into()));
        assert_eq!(encode(&Event::Closed {}).unwrap(), ("closed".into(), "{}".into()));
    }
}
