//! Task ids: eight characters that a person can read out and type.

use std::fs::File;
use std::io::Read;

use task::TaskId;
use task::port::JournalError;

use crate::problem::Problem;

/// Digits and lower-case letters without `i`, `l`, `o` and `u`, which are mistaken for others.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
const SOURCE: &str = "/dev/urandom";

/// A random id of 40 bits. `begin` replaces it should another task have it already.
///
/// # Errors
/// [`JournalError::Storage`] where the system gives no random bytes.
pub fn fresh_id() -> Result<TaskId, JournalError> {
    let mut bytes = [0_u8; 8];
    File::open(SOURCE)
        .and_then(|mut file| file.read_exact(&mut bytes))
        .map_err(|source| Problem::files(SOURCE.as_ref(), source).reading())?;
    let text: String = bytes.iter().map(|byte| char::from(ALPHABET[usize::from(byte % 32)])).collect();
    TaskId::try_from(text).map_err(|source| JournalError::Storage { what: "extended", source: Box::new(source) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fresh_ids_are_short_and_differ() {
        let (one, two) = (fresh_id().unwrap(), fresh_id().unwrap());
        assert_eq!(one.as_str().len(), 8);
        assert_ne!(one, two);
    }
}
