//! The toolchain reader on made-up installations.

use super::*;

struct Fixture {
    _folder: tempfile::TempDir,
    home: RustHome,
}

const TRIPLE: &str = "x86_64-unknown-linux-gnu";

fn install(root: &Path) {
    for file in ["bin/cargo", "bin/rustc", "lib/rustlib/src/rust/library/core/src/lib.rs"] {
        let path = root.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }
}

fn fixture(names: &[&str]) -> Fixture {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let home = RustHome { rustup: root.join("rustup"), system: root.join("usr"), forced: None };
    for name in names {
        install(&home.rustup.join("toolchains").join(name));
    }
    fs::create_dir_all(&home.rustup).unwrap();
    let settings = format!(
        "default_toolchain = \"stable-{TRIPLE}\"\ndefault_host_triple = \"{TRIPLE}\"\n[overrides]\n\"/house\" = \"nightly\"\n"
    );
    fs::write(home.rustup.join("settings.toml"), settings).unwrap();
    Fixture { _folder: folder, home }
}

const ALL: &[&str] = &[
    "stable-x86_64-unknown-linux-gnu",
    "nightly-x86_64-unknown-linux-gnu",
    "nightly-2026-01-01-x86_64-unknown-linux-gnu",
    "1.95.0-x86_64-unknown-linux-gnu",
    "1.95.2-x86_64-unknown-linux-gnu",
    "1.9.0-x86_64-unknown-linux-gnu",
];

fn name(fixture: &Fixture, folder: &str, pinned: Option<&str>) -> Result<String, ToolchainError> {
    rust_toolchain(&fixture.home, Path::new(folder), pinned.map(str::as_bytes)).map(|toolchain| toolchain.name)
}

#[test]
fn the_default_is_used_where_nothing_else_is_said() {
    let fixture = fixture(ALL);
    let toolchain = rust_toolchain(&fixture.home, Path::new("/elsewhere"), None).unwrap();
    assert_eq!(toolchain.name, ALL[0]);
    assert_eq!(toolchain.root, fixture.home.rustup.join("toolchains").join(ALL[0]));
    assert_eq!(toolchain.cargo, toolchain.root.join("bin/cargo"));
    assert!(toolchain.library.is_some() && toolchain.proc_macro_server.is_none());
    assert_eq!(toolchain.mounts(), [Mount::read_only(&toolchain.root)]);
}

#[test]
fn a_pinned_channel_must_be_installed() {
    let fixture = fixture(ALL);
    for (pinned, expected) in [
        ("nightly\n", ALL[1]),
        ("[toolchain]\nchannel = \"nightly-2026-01-01\"", ALL[2]),
        ("[toolchain]\nchannel = \"1.95.0\"\ncomponents = [\"rustfmt\"]", ALL[3]),
        ("1.95", ALL[4]),
        ("[toolchain]\ncomponents = [\"rust-src\"]", ALL[0]),
    ] {
        assert_eq!(name(&fixture, "/", Some(pinned)).unwrap(), expected, "{pinned}");
    }
    let missing = name(&fixture, "/", Some("1.80")).unwrap_err();
    assert!(missing.to_string().contains("rustup toolchain install 1.80"), "{missing}");
}

#[test]
fn a_path_is_refused_in_every_disguise() {
    let fixture = fixture(ALL);
    for pinned in [
        "[toolchain]\npath = \"/evil\"",
        "[toolchain]\nchannel = \"stable\"\npath = \"tc\"",
        "../../evil",
        "/evil",
        ".",
        "..",
        "[toolchain]\nchannel = \"../evil\"",
        "[toolchain]\nchannel = \"a/../../evil\"",
    ] {
        assert!(matches!(name(&fixture, "/", Some(pinned)), Err(ToolchainError::PathRefused)), "{pinned}");
    }
    // Even where the user's own choice would win.
    assert!(matches!(
        name(&fixture, "/house", Some("[toolchain]\npath = \"/evil\"")),
        Err(ToolchainError::PathRefused)
    ));
}

#[test]
fn nonsense_is_an_error_and_not_the_default() {
    let fixture = fixture(ALL);
    for pinned in
        ["", "\n", "a b", "[toolchain", "[other]\nchannel = \"stable\"", "[toolchain]\nchannel = 3", "stable\0"]
    {
        assert!(matches!(name(&fixture, "/", Some(pinned)), Err(ToolchainError::Malformed { .. })), "{pinned:?}");
    }
    assert!(rust_toolchain(&fixture.home, Path::new("/"), Some(b"\xff")).is_err());
}

#[test]
fn the_users_choices_win_over_the_repositorys() {
    let mut fixture = fixture(ALL);
    assert_eq!(name(&fixture, "/house/deep/down", Some("1.95.0")).unwrap(), ALL[1]);
    assert_eq!(name(&fixture, "/houseboat", Some("1.95.0")).unwrap(), ALL[3]);
    fixture.home.forced = Some("1.9.0".into());
    assert_eq!(name(&fixture, "/house", Some("1.95.0")).unwrap(), ALL[5]);
}

#[test]
fn the_system_is_the_fallback_but_not_its_proxies() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let home = RustHome { rustup: root.join("none"), system: root.join("usr"), forced: None };
    assert!(matches!(rust_toolchain(&home, Path::new("/"), None), Err(ToolchainError::None { .. })));
    install(&home.system);
    assert_eq!(rust_toolchain(&home, Path::new("/"), Some(b"nightly")).unwrap().name, "system");
    fs::rename(home.system.join("bin/cargo"), home.system.join("bin/rustup")).unwrap();
    std::os::unix::fs::symlink("rustup", home.system.join("bin/cargo")).unwrap();
    assert!(rust_toolchain(&home, Path::new("/"), None).is_err());
}

#[test]
fn an_incomplete_toolchain_names_what_is_missing() {
    let fixture = fixture(ALL);
    let root = fixture.home.rustup.join("toolchains").join(ALL[0]);
    fs::remove_dir_all(root.join("lib")).unwrap();
    let toolchain = rust_toolchain(&fixture.home, Path::new("/"), None).unwrap();
    assert_eq!(toolchain.library, None);
    assert!(toolchain.rust_src_remedy().starts_with("rustup component add rust-src"));
    fs::remove_file(root.join("bin/rustc")).unwrap();
    let error = rust_toolchain(&fixture.home, Path::new("/"), None).unwrap_err();
    assert!(matches!(error, ToolchainError::Incomplete { program: "rustc", .. }));
}

#[test]
fn a_linked_toolchain_is_named_by_its_real_folder() {
    let fixture = fixture(ALL);
    let real = fixture.home.rustup.join("built");
    install(&real);
    std::os::unix::fs::symlink(&real, fixture.home.rustup.join("toolchains/mine")).unwrap();
    assert_eq!(rust_toolchain(&fixture.home, Path::new("/"), Some(b"mine")).unwrap().root, real);
}
