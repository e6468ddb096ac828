//! Interpreters on made-up installations.

use super::*;

fn program(path: &Path) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, b"\x7fELF and more").unwrap();
}

fn fixture() -> (tempfile::TempDir, Interpreters) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let home = root.join("home/u");
    for version in ["v18.20.1", "v20.9.0", "v20.11.1"] {
        program(&home.join(".nvm/versions/node").join(version).join("bin/node"));
    }
    program(&home.join(".pyenv/versions/3.12.1/bin/python3.12"));
    std::os::unix::fs::symlink("python3.12", home.join(".pyenv/versions/3.12.1/bin/python3")).unwrap();
    fs::create_dir_all(home.join(".pyenv/versions/3.12.1/lib/python3.12/site-packages")).unwrap();
    program(&root.join("opt/tools/bin/node"));
    fs::create_dir_all(home.join(".pyenv/shims")).unwrap();
    fs::write(home.join(".pyenv/shims/python3"), "#!/bin/sh\nexec pyenv exec python3\n").unwrap();
    fs::write(home.join(".pyenv/version"), "3.12.1\n").unwrap();
    let manager = |program, versions: &str, bin| Manager { program, versions: home.join(versions), bin, chosen: None };
    let managers = vec![
        manager("node", ".nvm/versions/node", "bin"),
        Manager { chosen: Some(home.join(".pyenv/version")), ..manager("python3", ".pyenv/versions", "bin") },
    ];
    let path =
        vec!["bin".into(), home.join("ws/node_modules/.bin"), home.join(".pyenv/shims"), root.join("opt/tools/bin")];
    program(&home.join("ws/node_modules/.bin/node"));
    (folder, Interpreters { home, path, managers })
}

#[test]
fn the_repository_may_choose_among_what_is_installed_and_nothing_else() {
    let (_folder, found) = fixture();
    let workspace = found.home.join("ws");
    let node = |pinned: Option<&str>| found.node(pinned, &workspace).unwrap().program;
    let versions = found.home.join(".nvm/versions/node");
    assert_eq!(node(Some("20\n")), versions.join("v20.11.1/bin/node"));
    assert_eq!(node(Some("v18")), versions.join("v18.20.1/bin/node"));
    // What is not installed, not a version, or a path: what the user has, and never what lies in the workspace.
    for pinned in [None, Some("22"), Some("lts/*"), Some("../../../ws/evil")] {
        assert!(!node(pinned).starts_with(&workspace), "{pinned:?}");
    }
}

#[test]
fn shims_lead_to_the_version_that_was_chosen_and_are_never_run() {
    let (_folder, found) = fixture();
    let python = found.python(None, &found.home.join("ws")).unwrap();
    let root = found.home.join(".pyenv/versions/3.12.1");
    assert_eq!(python.program, root.join("bin/python3.12"));
    assert_eq!(python.mounts, [Mount::read_only(&root)]);
    assert_eq!(python.packages, [root.join("lib/python3.12/site-packages")]);
}

#[test]
fn an_installation_around_the_workspace_shows_nothing_but_its_program() {
    let (folder, mut found) = fixture();
    let around = folder.path().canonicalize().unwrap().join("opt/tools");
    found.path = vec![around.join("bin")];
    let node = found.node(None, &around.join("project")).unwrap();
    assert_eq!(node.mounts, [Mount::read_only(around.join("bin/node"))]);
    let node = found.node(None, &folder.path().join("elsewhere")).unwrap();
    assert_eq!(node.mounts, [Mount::read_only(around)]);
}

#[test]
fn an_environment_shows_the_installation_that_it_was_made_with_and_no_home() {
    let (_folder, found) = fixture();
    let folder = found.home.join("ws/.venv");
    fs::create_dir_all(folder.join("bin")).unwrap();
    let root = found.home.join(".pyenv/versions/3.12.1");
    std::os::unix::fs::symlink(root.join("bin/python3"), folder.join("bin/python")).unwrap();
    fs::write(folder.join("pyvenv.cfg"), format!("home = {}\n", root.join("bin").display())).unwrap();
    let python = found.environment(&folder).unwrap();
    assert_eq!(python.program, folder.join("bin/python"));
    assert_eq!(python.mounts, [Mount::read_only(&root), Mount::read_only(&folder)]);
    // A python in `~/bin`, or a file that says so: the home is not shown for it.
    fs::write(folder.join("pyvenv.cfg"), format!("home = {}\n", found.home.join("bin").display())).unwrap();
    let python = found.environment(&folder).unwrap();
    assert!(python.mounts.iter().all(|mount| mount.inside() != found.home), "{python:?}");
    assert!(matches!(found.environment(&found.home), Err(InterpreterError::Environment { .. })));
}
