//! Files that are not plain text with plain names: each is carried, written and taken back byte for byte.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use support::{Project, assert_same};

use super::{Change, assert_answers};
use crate::stage::{Edit, Stage, contents, patch_of};

/// What the crate includes is read by the compiler, whatever it is.
const ODD: &str = "\
-- Cargo.toml --
[package]
name = \"odd\"
version = \"0.1.0\"
edition = \"2024\"
-- Cargo.lock --
version = 4

[[package]]
name = \"odd\"
version = \"0.1.0\"
-- src/lib.rs [crlf] --
//! Odd.

pub fn one() -> u32 {
    1
}

pub static BINARY: &[u8] = include_bytes!(\"../data.bin\");
pub static LATIN: &[u8] = include_bytes!(\"../latin.txt\");
pub static MARKED: &str = include_str!(\"../marked.txt\");
pub static OPEN: &str = include_str!(\"../open.txt\");
pub static LINKED: &str = include_str!(\"../link.txt\");

#[test]
fn is_one() {
    assert_eq!(one(), 1);
    assert_eq!(OPEN.len() + LINKED.len(), 14);
}
-- data.bin [hex] --
00 01 02 ff 0a 00
-- latin.txt [hex] --
63 61 66 e9 0a 6f 6e 65 0a 74 77 6f 0a
-- marked.txt [bom crlf] --
one
two
-- open.txt [open] --
one
two
-- link.txt [symlink] --
open.txt
-- other.txt --
1234567
-- caf%E9.txt --
one
two
-- tool.sh --
#!/bin/sh
";

fn odd_name() -> &'static Path {
    Path::new(OsStr::from_bytes(b"caf\xE9.txt"))
}

fn change_mode(project: &Project, path: &str, mode: u32) {
    std::fs::set_permissions(project.path().join(path), std::fs::Permissions::from_mode(mode)).unwrap();
}

const CHANGES: &[Change] = &[
    Change {
        name: "one line of a file whose lines end in CR LF",
        edit: |it| it.replace("src/lib.rs", "    1\r\n", "    2 - 1\r\n"),
        verdict: "verified",
        because: "",
    },
    Change {
        name: "other line ends for a whole file",
        edit: |it| it.write("src/lib.rs", it.text("src/lib.rs").replace("\r\n", "\n")),
        verdict: "verified",
        because: "",
    },
    Change {
        name: "a binary file",
        edit: |it| it.write("data.bin", b"\x00\x01\x02\xfe\n\x00\x00"),
        verdict: "verified",
        because: "",
    },
    Change {
        name: "text that is not UTF-8",
        edit: |it| it.write("latin.txt", b"caf\xe9\nuno\ntwo\n"),
        verdict: "verified",
        because: "",
    },
    Change {
        name: "a file with a byte order mark",
        edit: |it| it.replace("marked.txt", "two\r\n", "due\r\n"),
        verdict: "verified",
        because: "",
    },
    Change {
        name: "a final line ending",
        edit: |it| {
            it.replace("open.txt", "one\ntwo", "one\ntwo\n");
            it.replace("src/lib.rs", "14", "16");
        },
        verdict: "verified",
        because: "",
    },
    Change {
        name: "a link that leads elsewhere",
        edit: |it| {
            it.remove("link.txt");
            symlink("other.txt", it.path().join("link.txt")).unwrap();
            it.replace("src/lib.rs", "14", "15");
        },
        verdict: "verified",
        because: "",
    },
    Change {
        name: "a link that becomes a file",
        edit: |it| {
            it.remove("link.txt");
            it.write("link.txt", "one\nten");
        },
        verdict: "verified",
        because: "",
    },
    Change {
        name: "a new link",
        edit: |it| symlink("src/lib.rs", it.path().join("lib")).unwrap(),
        verdict: "not verified",
        because: "no passing check read the changed file lib",
    },
    Change {
        name: "a file that becomes executable",
        edit: |it| change_mode(it, "tool.sh", 0o755),
        verdict: "not verified",
        because: "no passing check read the changed file tool.sh",
    },
    Change {
        name: "a new file with spaces, quotes and letters of other alphabets in its name",
        edit: |it| it.write("a \"b\" 'ж' c", "x\n"),
        verdict: "not verified",
        because: "no passing check read the changed file a ",
    },
    Change {
        name: "an empty new file and an emptied old one",
        edit: |it| {
            it.write("empty", "");
            it.write("tool.sh", "");
        },
        verdict: "not verified",
        because: "no passing check read any of the 2 changed files",
    },
];

#[test]
fn odd_files_are_judged_written_and_taken_back_byte_for_byte() {
    assert_answers(&Stage::text(ODD), CHANGES);
}

#[test]
fn all_odd_changes_at_once_are_one_diff_that_git_applies() {
    let stage = Stage::text(ODD);
    let edited = stage.edited(|it| {
        for name in ["a binary file", "text that is not UTF-8", "a file with a byte order mark"] {
            (CHANGES.iter().find(|change| change.name == name).unwrap().edit)(it);
        }
        for change in CHANGES.iter().filter(|change| change.verdict == "not verified") {
            (change.edit)(it);
        }
        it.replace("src/lib.rs", "    1\r\n", "    2 - 1\r\n");
    });
    let answer = stage.prove(0, &patch_of(&edited));
    answer.says("verified", "");
    let copy = stage.edited(|_| {});
    std::fs::write(copy.beside("said.patch"), answer.text("diff")).unwrap();
    copy.git(["apply", "--whitespace=nowarn", copy.beside("said.patch").to_str().unwrap()]);
    assert_same(&contents(edited.fingerprint()), &contents(copy.fingerprint()));
    stage.apply_and_undo(&answer, &edited);
}

#[test]
fn names_and_links_that_deceive_are_refused() {
    let stage = Stage::text(ODD);
    let edits: [(&str, Edit, &str); 5] = [
        ("a name that is not UTF-8", |it| it.write(odd_name(), "one\n"), "its name is not UTF-8"),
        ("a line feed in a name", |it| it.write("a\nb", "x\n"), "control character"),
        ("a letter that cannot be seen", |it| it.write("a\u{200b}b", "x\n"), "invisible"),
        (
            "a link to an absolute path",
            |it| symlink("/etc/hostname", it.path().join("host")).unwrap(),
            "absolute target",
        ),
        ("a link out of the folder", |it| symlink("../../up", it.path().join("up")).unwrap(), "up"),
    ];
    for (name, edit, because) in edits {
        let answer = stage.prove(8, &stage.patch(edit));
        assert!(answer.differs("stopped", because).is_none(), "{name}: {answer:?}");
    }
}

#[test]
fn a_name_that_is_not_utf8_is_carried_in_the_working_tree() {
    let stage = Stage::text(ODD);
    stage.project.write(odd_name(), "one\ntwo\nthree\n");
    stage.project.replace("src/lib.rs", "    1\r\n", "    2 - 1\r\n");
    let answer = stage.ask(0, &["prove"]);
    answer.says("verified", "caf");
    assert_eq!(answer.hunks().len(), 2, "{answer:?}");
}

#[test]
fn a_file_that_looks_like_a_secret_enters_only_where_it_is_allowed() {
    let mut stage = Stage::text("-- .env --\nPASSWORD=hunter2\n-- a.txt --\na\n");
    let patch = stage.patch(|it| it.replace("a.txt", "a", "b"));
    let says = |stage: &Stage| stage.prove(3, &patch).limitations().contains(".env");
    assert!(says(&stage));
    stage.understudy = stage.understudy.with("UNDERSTUDY_ALLOW_FILES", "keys/*, .env");
    assert!(!says(&stage));
}
