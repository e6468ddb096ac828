//! What a known secret looks like where it was encoded on its way into a text.

use std::fmt::Write as _;

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The secret as it is, in base64 wherever it begins in what was encoded, in hexadecimal, in a URL and in a JSON string.
pub(super) fn of(secret: &str) -> Vec<String> {
    let bytes = secret.as_bytes();
    let mut forms = vec![secret.to_owned(), hexadecimal(bytes)];
    forms.push(forms[1].to_uppercase());
    let unreserved = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~');
    let percent: Vec<String> = bytes
        .iter()
        .map(|&byte| if unreserved(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect();
    forms.extend([percent.concat(), percent.concat().replace('%', "%25")]);
    forms.push(percent.iter().map(|it| if it.len() > 1 { it.to_lowercase() } else { it.clone() }).collect());
    if let Ok(quoted) = serde_json::to_string(secret) {
        let inner = &quoted[1..quoted.len() - 1];
        forms.extend([inner.to_owned(), inner.replace('/', "\\/")]);
    }
    for shift in 0..3 {
        let plain = base64(bytes, shift);
        forms.push(plain.replace('+', "-").replace('/', "_"));
        forms.push(plain);
    }
    forms
}

/// A path as it stands in text, in a URL and in a JSON string.
pub(super) fn of_path(path: &str) -> [String; 4] {
    [path.to_owned(), path.replace('/', "%2F"), path.replace('/', "%2f"), path.replace('/', "\\/")]
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}

/// The characters that these bytes alone decide, where as many others come before them.
fn base64(bytes: &[u8], before: usize) -> String {
    let bits = (before + bytes.len()) * 8;
    let bit = |at: usize| {
        let byte = (at / 8).checked_sub(before).and_then(|at| bytes.get(at)).copied().unwrap_or(0);
        usize::from(byte >> (7 - at % 8) & 1)
    };
    let first = (before * 8).div_ceil(6);
    (first..bits / 6)
        .map(|at| char::from(BASE64[(0..6).fold(0, |sextet, offset| sextet << 1 | bit(at * 6 + offset))]))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_known_wherever_it_begins_in_what_was_encoded() {
        // `printf s3cr3t-value | base64`, with one and with two characters before it.
        for (before, whole) in [(0, "czNjcjN0LXZhbHVl"), (1, "eHMzY3IzdC12YWx1ZQ=="), (2, "eHhzM2NyM3QtdmFsdWU=")] {
            let form = base64(b"s3cr3t-value", before);
            assert!(whole.contains(&form) && form.len() >= 14, "{form}");
        }
        let forms = of("a/b c\"+z");
        for form in ["a%2Fb%20c%22%2Bz", "a%2fb%20c%22%2bz", "a/b c\\\"+z", "612f622063222b7a", "612F622063222B7A"] {
            assert!(forms.contains(&form.to_owned()), "{form}: {forms:?}");
        }
    }
}
