//! Git's binary patches: deflated bytes in base 85, and its delta format.

use std::io::{Read as _, Write as _};

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;

const DIGITS: &[u8; 85] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~";
/// Bytes in a line.
const LINE: usize = 52;

/// Writes a `literal` section, its closing empty line included.
pub(crate) fn write_literal(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend_from_slice(format!("literal {}\n", bytes.len()).as_bytes());
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    // Writing to memory cannot fail.
    let _ = encoder.write_all(bytes);
    let deflated = encoder.finish().unwrap_or_default();
    for line in deflated.chunks(LINE) {
        let length = line.len() as u8;
        out.push(if length <= 26 { b'A' + length - 1 } else { b'a' + length - 27 });
        for group in line.chunks(4) {
            let mut word = [0; 4];
            word[..group.len()].copy_from_slice(group);
            let mut number = u32::from_be_bytes(word);
            let mut digits = [0; 5];
            for digit in digits.iter_mut().rev() {
                *digit = DIGITS[(number % 85) as usize];
                number /= 85;
            }
            out.extend_from_slice(&digits);
        }
        out.push(b'\n');
    }
    out.push(b'\n');
}

/// Reads one line of a section; `None` when it is malformed.
pub(super) fn read_line(line: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let (&first, digits) = line.split_first()?;
    let length = match first {
        b'A'..=b'Z' => usize::from(first - b'A') + 1,
        b'a'..=b'z' => usize::from(first - b'a') + 27,
        _ => return None,
    };
    if digits.len() % 5 != 0 || digits.len() / 5 != length.div_ceil(4) {
        return None;
    }
    let end = out.len() + length;
    for group in digits.chunks(5) {
        let mut number = 0u32;
        for digit in group {
            let value = DIGITS.iter().position(|known| known == digit)?;
            number = number.checked_mul(85)?.checked_add(value as u32)?;
        }
        out.extend_from_slice(&number.to_be_bytes());
    }
    out.truncate(end);
    Some(())
}

/// Inflates what must come out at exactly this size.
pub(super) fn inflate(deflated: &[u8], size: usize) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    ZlibDecoder::new(deflated).take(size as u64 + 1).read_to_end(&mut out).ok()?;
    (out.len() == size).then_some(out)
}

/// Applies a delta to what it was made from; `None` when it does not fit.
pub(super) fn apply_delta(source: &[u8], mut delta: &[u8], most: usize) -> Option<Vec<u8>> {
    if varint(&mut delta)? != source.len() {
        return None;
    }
    let size = varint(&mut delta)?;
    if size > most {
        return None;
    }
    let mut out = Vec::with_capacity(size);
    while let Some((&code, rest)) = delta.split_first() {
        delta = rest;
        if code & 0x80 == 0 {
            let (bytes, rest) = delta.split_at_checked(usize::from(code)).filter(|_| code != 0)?;
            out.extend_from_slice(bytes);
            delta = rest;
            continue;
        }
        let mut number = |bits: std::ops::Range<u8>| {
            let mut value = 0usize;
            for (shift, bit) in bits.enumerate() {
                if code & (1 << bit) != 0 {
                    let (&byte, rest) = delta.split_first()?;
                    delta = rest;
                    value |= usize::from(byte) << (8 * shift);
                }
            }
            Some(value)
        };
        let (offset, length) = (number(0..4)?, number(4..7)?);
        let length = if length == 0 { 0x10000 } else { length };
        out.extend_from_slice(source.get(offset..offset.checked_add(length)?)?);
        if out.len() > size {
            return None;
        }
    }
    (out.len() == size).then_some(out)
}

fn varint(bytes: &mut &[u8]) -> Option<usize> {
    let (mut value, mut shift) = (0usize, 0);
    loop {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= usize::from(byte & 0x7f).checked_shl(shift)?;
        shift += 7;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_written_is_read_back(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let mut out = Vec::new();
            write_literal(&mut out, &bytes);
            let mut deflated = Vec::new();
            for line in out.split(|&byte| byte == b'\n').skip(1).take_while(|line| !line.is_empty()) {
                read_line(line, &mut deflated).unwrap();
            }
            prop_assert_eq!(inflate(&deflated, bytes.len()).unwrap(), bytes);
        }

        #[test]
        fn garbage_is_refused_and_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            let _ = apply_delta(b"source", &bytes, 1000);
            let _ = read_line(&bytes, &mut Vec::new());
            let _ = inflate(&bytes, 10);
        }
    }
}
