//! What a command reads from a file or from standard input.

use std::io::Read as _;
use std::path::Path;

use crate::failure::Failure;

/// All bytes of a file, of standard input where it is called `-`; `what` it is, for the sentence where it cannot be read.
pub fn read(what: &str, path: &Path, most: u64) -> Result<Vec<u8>, Failure> {
    let shown = task::printable(&path.to_string_lossy());
    let failed = |error: std::io::Error| Failure::usage(format!("the {what} {shown} cannot be read: {error}"));
    let mut bytes = Vec::new();
    let read = if path.as_os_str() == "-" {
        std::io::stdin().lock().take(most + 1).read_to_end(&mut bytes)
    } else {
        std::fs::File::open(path).and_then(|file| file.take(most + 1).read_to_end(&mut bytes))
    };
    read.map_err(failed)?;
    if bytes.len() as u64 > most {
        let size = if most >= 1 << 20 { format!("{} MiB", most >> 20) } else { format!("{} KiB", most >> 10) };
        return Err(Failure::usage(format!("the {what} {shown} is larger than {size}")));
    }
    Ok(bytes)
}

/// The same as text that says something.
pub fn read_text(what: &str, path: &Path, most: u64) -> Result<String, Failure> {
    let shown = task::printable(&path.to_string_lossy());
    let text = String::from_utf8(read(what, path, most)?)
        .ok()
        .filter(|text| !text.contains('\0'))
        .ok_or_else(|| Failure::usage(format!("the {what} {shown} is not UTF-8 text")))?;
    if text.trim().is_empty() {
        return Err(Failure::usage(format!("the {what} {shown} is empty")));
    }
    Ok(text)
}
