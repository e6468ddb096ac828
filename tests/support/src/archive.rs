//! Archives: many files in one readable text, one section a file.
//!
//! ```text
//! What stands before the first section says what the archive is for.
//! -- src/lib.rs --
//! pub fn one() -> u32 { 1 }
//! -- build.sh [exec] --
//! #!/bin/sh
//! -- here [symlink] --
//! src/lib.rs
//! -- dos.txt [crlf] --
//! every line of this one ends in CR LF
//! -- picture.bin [hex] --
//! 00 ff 1b
//! -- caf%E9.txt [bom open] --
//! a name that is not UTF-8; begins with a byte order mark and has no final line ending
//! -- empty [folder] --
//! ```
//!
//! Attributes stand in brackets behind the path and combine. In a path `%XX` is one byte. A line of content that would
//! itself be a section begins with a backslash, which is taken away: `\-- not a section --`.

use std::ffi::OsString;
use std::fs::{self, Permissions};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};

/// A parsed archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Archive {
    pub description: String,
    pub entries: Vec<Entry>,
}

/// One section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub path: PathBuf,
    pub kind: Kind,
    /// The bytes of a file, the target of a link.
    pub bytes: Vec<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    File,
    Executable,
    Symlink,
    Folder,
}

impl Archive {
    /// # Panics
    /// On a section that is not well formed, naming its line.
    pub fn parse(text: &str) -> Self {
        let mut archive = Self { description: String::new(), entries: Vec::new() };
        let mut section: Option<(Section, String)> = None;
        for line in text.split_inclusive('\n') {
            if let Some(header) = header(line) {
                archive.entries.extend(section.take().map(|(section, body)| section.entry(&body)));
                section = Some((Section::parse(header), String::new()));
                continue;
            }
            let line = line.strip_prefix('\\').filter(|rest| header_like(rest)).unwrap_or(line);
            section.as_mut().map_or(&mut archive.description, |(_, body)| body).push_str(line);
        }
        archive.entries.extend(section.map(|(section, body)| section.entry(&body)));
        archive
    }

    /// Writes every entry below `folder`.
    ///
    /// # Panics
    /// When a file cannot be written.
    pub fn unpack(&self, folder: &Path) {
        for entry in &self.entries {
            let path = folder.join(&entry.path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            match entry.kind {
                Kind::Folder => fs::create_dir_all(&path).unwrap(),
                Kind::Symlink => {
                    std::os::unix::fs::symlink(PathBuf::from(OsString::from_vec(entry.bytes.clone())), &path).unwrap();
                }
                Kind::File | Kind::Executable => {
                    fs::write(&path, &entry.bytes).unwrap();
                    // Said outright, so that the umask of whoever runs the tests does not show in a fingerprint.
                    let mode = if entry.kind == Kind::Executable { 0o755 } else { 0o644 };
                    fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
                }
            }
        }
    }

    /// Takes out one text, such as a script that is no part of the project.
    ///
    /// # Panics
    /// When there is none with this path.
    pub fn take(&mut self, path: &str) -> String {
        let text = String::from_utf8(self.bytes(path).to_vec()).unwrap();
        self.entries.retain(|entry| entry.path != Path::new(path));
        text
    }

    /// The bytes of one entry.
    ///
    /// # Panics
    /// When there is none with this path.
    pub fn bytes(&self, path: &str) -> &[u8] {
        let found = self.entries.iter().find(|entry| entry.path == Path::new(path));
        &found.unwrap_or_else(|| panic!("the archive has no `{path}`")).bytes
    }
}

#[derive(Debug)]
struct Section {
    path: PathBuf,
    attributes: Vec<String>,
}

impl Section {
    fn parse(header: &str) -> Self {
        let (path, attributes) = match header.strip_suffix(']').and_then(|header| header.rsplit_once(" [")) {
            Some((path, attributes)) => (path, attributes.split(' ').map(str::to_owned).collect()),
            None => (header, Vec::new()),
        };
        for attribute in &attributes {
            let known = ["exec", "symlink", "folder", "hex", "crlf", "bom", "open"];
            assert!(known.contains(&attribute.as_str()), "`{attribute}` in `-- {header} --` is none of {known:?}");
        }
        let path = PathBuf::from(OsString::from_vec(unescape(path)));
        let inside = path.components().all(|part| matches!(part, Component::Normal(_)));
        assert!(inside && path.components().count() > 0, "`-- {header} --` leaves the archive");
        Self { path, attributes }
    }

    fn has(&self, attribute: &str) -> bool {
        self.attributes.iter().any(|found| found == attribute)
    }

    fn entry(self, body: &str) -> Entry {
        let kind = match () {
            () if self.has("symlink") => Kind::Symlink,
            () if self.has("folder") => Kind::Folder,
            () if self.has("exec") => Kind::Executable,
            () => Kind::File,
        };
        let mut text = body.to_owned();
        if (self.has("open") || kind == Kind::Symlink) && text.ends_with('\n') {
            text.pop();
        }
        if self.has("crlf") {
            text = text.replace('\n', "\r\n");
        }
        let mut bytes = if self.has("hex") { unhex(&text) } else { text.into_bytes() };
        if self.has("bom") {
            bytes.splice(0..0, *b"\xEF\xBB\xBF");
        }
        Entry { path: self.path, kind, bytes }
    }
}

fn header(line: &str) -> Option<&str> {
    line.trim_end_matches(['\n', '\r']).strip_prefix("-- ")?.strip_suffix(" --").map(str::trim)
}

/// Also a line that already begins with the escape, so that every line can be written.
fn header_like(line: &str) -> bool {
    header(line.trim_start_matches('\\')).is_some()
}

fn unescape(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = tail;
        if *first == b'%' {
            let (digits, tail) = tail.split_at_checked(2).unwrap_or_else(|| panic!("`{text}` ends in half a byte"));
            bytes.extend(unhex(std::str::from_utf8(digits).unwrap()));
            rest = tail;
        } else {
            bytes.push(*first);
        }
    }
    bytes
}

fn unhex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text
        .chars()
        .filter(|character| !character.is_ascii_whitespace())
        .map(|character| character.to_digit(16).unwrap_or_else(|| panic!("`{character}` is not a hex digit")) as u8)
        .collect();
    assert!(digits.len().is_multiple_of(2), "half a byte in `{text}`");
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    const TEXT: &str = "\
What it is for.
-- a.txt --
one
\\-- not a section --
-- bin/run [exec] --
#!/bin/sh
-- link [symlink] --
a.txt
-- dos [crlf open] --
one
two
-- raw [hex] --
00 ff
1B
-- caf%E9 [bom] --
x
-- nothing --
-- hollow [folder] --
";

    #[test]
    fn sections_become_exactly_the_bytes_they_describe() {
        let archive = Archive::parse(TEXT);
        assert_eq!(archive.description, "What it is for.\n");
        assert_eq!(archive.bytes("a.txt"), b"one\n-- not a section --\n");
        assert_eq!(archive.bytes("dos"), b"one\r\ntwo");
        assert_eq!(archive.bytes("raw"), [0, 255, 27]);
        assert_eq!(archive.bytes("nothing"), b"");
        let odd = archive.entries.iter().find(|entry| entry.path.as_os_str().as_bytes() == b"caf\xE9").unwrap();
        assert_eq!(odd.bytes, b"\xEF\xBB\xBFx\n");
    }

    #[test]
    fn unpacked_files_have_their_kind() {
        let folder = tempfile::tempdir().unwrap();
        Archive::parse(TEXT).unpack(folder.path());
        let mode = |name: &str| fs::metadata(folder.path().join(name)).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode("a.txt"), mode("bin/run")), (0o644, 0o755));
        assert_eq!(fs::read_link(folder.path().join("link")).unwrap(), Path::new("a.txt"));
        assert!(folder.path().join("hollow").is_dir());
    }

    #[test]
    fn what_was_taken_is_not_unpacked() {
        let mut archive = Archive::parse(TEXT);
        assert_eq!(archive.take("a.txt"), "one\n-- not a section --\n");
        assert!(archive.entries.iter().all(|entry| entry.path != Path::new("a.txt")));
    }

    #[test]
    #[should_panic = "leaves the archive"]
    fn no_section_leads_out_of_the_folder() {
        Archive::parse("-- ../up --\n");
    }

    #[test]
    #[should_panic = "`exe` in `-- a [exe] --` is none of"]
    fn a_mistyped_attribute_is_named() {
        Archive::parse("-- a [exe] --\n");
    }
}
