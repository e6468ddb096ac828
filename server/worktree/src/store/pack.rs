//! Writing git packs: many objects become one file with an index, in one sequential write.
//!
//! Objects are stored uncompressed (zlib's "stored" blocks): they are read again within moments to fill a shadow, and
//! compressing them would cost more than everything else a snapshot does. The index is version 1, which needs no CRCs.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use git2::{ObjectType, Oid};
use sha1::{Digest as _, Sha1};

use crate::durable;

/// A pack is written when it has grown to this many bytes, which bounds memory and keeps offsets within 32 bits.
pub(super) const FULL: usize = 64 << 20;

/// A pack in the making.
#[derive(Debug, Default)]
pub(super) struct Pack {
    /// Encoded objects in the order of their offsets; never copied until they are written.
    parts: Vec<Encoded>,
    size: usize,
    offsets: BTreeMap<Oid, u32>,
}

/// An object as a pack holds it.
#[derive(Debug)]
pub(super) struct Encoded(Vec<u8>);

impl Encoded {
    pub(super) fn new(kind: ObjectType, bytes: &[u8]) -> Self {
        let code: u8 = match kind {
            ObjectType::Tree => 2,
            ObjectType::Commit => 1,
            _ => 3,
        };
        let mut out = Vec::with_capacity(bytes.len() + bytes.len() / 6000 + 32);
        object_header(&mut out, code, bytes.len());
        stored(&mut out, bytes);
        Self(out)
    }
}

const HEADER: usize = 12;

impl Pack {
    pub(super) fn is_empty(&self) -> bool {
        self.offsets.is_empty()
    }

    pub(super) fn is_full(&self) -> bool {
        self.size >= FULL
    }

    pub(super) fn contains(&self, id: Oid) -> bool {
        self.offsets.contains_key(&id)
    }

    /// Adds an object. An object of 4 GB or more does not fit the index and is refused by who reads files.
    pub(super) fn add(&mut self, id: Oid, object: Encoded) {
        if self.contains(id) {
            return;
        }
        // The offset fits: a pack is written as soon as it is full.
        let offset = u32::try_from(HEADER + self.size).unwrap_or(u32::MAX);
        self.offsets.insert(id, offset);
        self.size += object.0.len();
        self.parts.push(object);
    }

    /// The ids of everything in it.
    pub(super) fn ids(&self) -> impl Iterator<Item = Oid> {
        self.offsets.keys().copied()
    }

    /// Writes pack and index into `objects/pack`, synced; the index comes last, so a torn write is no pack at all.
    pub(super) fn write(self, objects: &Path) -> io::Result<Option<PathBuf>> {
        if self.is_empty() {
            return Ok(None);
        }
        let folder = objects.join("pack");
        fs::create_dir_all(&folder)?;
        let count = u32::try_from(self.offsets.len()).map_err(io::Error::other)?;
        let mut head = Vec::with_capacity(HEADER);
        head.extend_from_slice(b"PACK");
        head.extend_from_slice(&2u32.to_be_bytes());
        head.extend_from_slice(&count.to_be_bytes());
        let mut hasher = Sha1::new();
        hasher.update(&head);
        self.parts.iter().for_each(|part| hasher.update(&part.0));
        let checksum = hasher.finalize();
        let name: String = checksum.iter().map(|byte| format!("{byte:02x}")).collect();
        let index = index(&self.offsets, &checksum);
        let pack = folder.join(format!("pack-{name}.pack"));
        let mut parts: Vec<&[u8]> = Vec::with_capacity(self.parts.len() + 2);
        parts.push(&head);
        parts.extend(self.parts.iter().map(|part| &part.0[..]));
        parts.push(&checksum);
        durable::write_file(&pack, &parts, 0o400)?;
        durable::write_file(&folder.join(format!("pack-{name}.idx")), &[&index], 0o400)?;
        durable::sync_folder(&folder)?;
        Ok(Some(pack))
    }
}

/// The ids in an index that [`Pack::write`] wrote; `None` when it is of another kind.
pub(super) fn ids(index: &[u8]) -> Option<impl Iterator<Item = Oid>> {
    let count = u32::from_be_bytes(index.get(1020..1024)?.try_into().ok()?) as usize;
    let rows = index.get(1024..1024 + count.checked_mul(24)?)?;
    // The other kind begins with these bytes, which no count of ours reaches.
    if index.starts_with(b"\xfftOc") || index.len() != 1024 + count * 24 + 40 {
        return None;
    }
    Some(rows.chunks_exact(24).filter_map(|row| Oid::from_bytes(&row[4..]).ok()))
}

fn index(offsets: &BTreeMap<Oid, u32>, checksum: &[u8]) -> Vec<u8> {
    let mut counts = [0u32; 256];
    for id in offsets.keys() {
        counts[usize::from(id.as_bytes()[0])] += 1;
    }
    let mut out = Vec::with_capacity(1024 + offsets.len() * 24 + 40);
    let mut sum = 0;
    for count in counts {
        sum += count;
        out.extend_from_slice(&sum.to_be_bytes());
    }
    for (id, offset) in offsets {
        out.extend_from_slice(&offset.to_be_bytes());
        out.extend_from_slice(id.as_bytes());
    }
    out.extend_from_slice(checksum);
    let own = Sha1::digest(&out);
    out.extend_from_slice(&own);
    out
}

/// Kind and size, the size in 4 bits and then groups of 7.
fn object_header(out: &mut Vec<u8>, kind: u8, mut size: usize) {
    let mut byte = (kind << 4) | (size & 0xf) as u8;
    size >>= 4;
    while size > 0 {
        out.push(byte | 0x80);
        byte = (size & 0x7f) as u8;
        size >>= 7;
    }
    out.push(byte);
}

/// A zlib stream that holds the bytes as they are.
fn stored(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend_from_slice(&[0x78, 0x01]);
    let mut blocks = bytes.chunks(0xffff).peekable();
    if blocks.peek().is_none() {
        out.extend_from_slice(&[1, 0, 0, 0xff, 0xff]);
    }
    while let Some(block) = blocks.next() {
        let length = block.len() as u16;
        out.push(u8::from(blocks.peek().is_none()));
        out.extend_from_slice(&length.to_le_bytes());
        out.extend_from_slice(&(!length).to_le_bytes());
        out.extend_from_slice(block);
    }
    out.extend_from_slice(&adler32(bytes).to_be_bytes());
}

pub(crate) fn adler32(bytes: &[u8]) -> u32 {
    const MODULUS: u32 = 65521;
    let (mut low, mut high) = (1u32, 0u32);
    // 5552 is the longest run whose sums cannot overflow 32 bits.
    for run in bytes.chunks(5552) {
        // Sixteen bytes at a time, which the compiler turns into vector instructions.
        let mut groups = run.chunks_exact(16);
        for group in &mut groups {
            let (mut sum, mut weighted) = (0, 0);
            for (at, &byte) in group.iter().enumerate() {
                sum += u32::from(byte);
                weighted += u32::from(byte) * (16 - at as u32);
            }
            high += 16 * low + weighted;
            low += sum;
        }
        for &byte in groups.remainder() {
            low += u32::from(byte);
            high += low;
        }
        low %= MODULUS;
        high %= MODULUS;
    }
    (high << 16) | low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn git_reads_what_was_packed() {
        let folder = tempfile::tempdir().unwrap();
        let repo = git2::Repository::init_bare(folder.path()).unwrap();
        let mut pack = Pack::default();
        let mut ids = Vec::new();
        for size in [0usize, 1, 15, 16, 70_000, 200_000] {
            let bytes: Vec<u8> = (0..size).map(|n| (n * 7 % 251) as u8).collect();
            let id = Oid::hash_object(ObjectType::Blob, &bytes).unwrap();
            pack.add(id, Encoded::new(ObjectType::Blob, &bytes));
            pack.add(id, Encoded::new(ObjectType::Blob, &bytes));
            ids.push((id, bytes));
        }
        pack.write(&folder.path().join("objects")).unwrap().unwrap();
        let odb = repo.odb().unwrap();
        for (id, bytes) in ids {
            assert_eq!(odb.read(id).unwrap().data(), bytes);
        }
    }

    #[test]
    fn checksums_are_those_of_zlib() {
        assert_eq!(adler32(b"Wikipedia"), 0x11e6_0398);
        let long: Vec<u8> = (0..100_000u32).map(|n| (n % 256) as u8 | 0xc0).collect();
        let (mut low, mut high) = (1u64, 0u64);
        for byte in &long {
            low = (low + u64::from(*byte)) % 65521;
            high = (high + low) % 65521;
        }
        assert_eq!(u64::from(adler32(&long)), (high << 16) | low);
    }
}
