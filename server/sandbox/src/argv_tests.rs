//! The rules of the jail as properties: whatever a policy asks, what comes out keeps them or is refused.

use proptest::prelude::*;

use super::*;
use crate::streams::{Output, Stdin};

fn layout() -> Layout {
    Layout {
        folders: vec!["/usr".into(), "/lib64".into()],
        links: vec![("usr/bin".into(), "/bin".into()), ("usr/lib".into(), "/lib".into())],
        etc: vec!["/etc/ld.so.cache".into(), "/etc/ssl/certs".into()],
        hideable: vec!["/usr/local/cargo".into(), "/home/user".into()],
    }
}

fn jailed(mounts: Vec<Mount>) -> Jailed {
    let mut jailed = Jailed::new("true", "/");
    jailed.mounts = mounts;
    jailed
}

fn rendered(mounts: Vec<Mount>, bind_fd: bool) -> Result<Vec<String>, PolicyError> {
    let steps = plan(&jailed(mounts), &layout())?;
    let mut next = 10;
    let handles: Vec<Handle> = steps
        .iter()
        .filter_map(|step| match step {
            Step::Bind { .. } if !bind_fd => Some(Handle::Path),
            Step::Bind { .. } | Step::Data { .. } | Step::Copy { .. } => {
                next += 1;
                Some(Handle::Fd(next))
            }
            _ => None,
        })
        .collect();
    Ok(options(&steps, &handles, 9).into_iter().map(|option| option.into_string().unwrap()).collect())
}

/// Few names, so that paths meet each other and the system's own.
fn path() -> impl Strategy<Value = PathBuf> {
    let part =
        prop::sample::select(vec!["usr", "home", "agent", "tmp", "etc", "lib", "proc", "dev", "a", "b", "local"]);
    prop_oneof![
        9 => prop::collection::vec(part, 0..5).prop_map(|parts| PathBuf::from(format!("/{}", parts.join("/")))),
        1 => prop::sample::select(vec!["relative", "/a/../b", "/a/./b", "//a", "/a/", "", "/a\0b"]).prop_map(PathBuf::from),
    ]
}

fn mount() -> impl Strategy<Value = Mount> {
    prop_oneof![
        (path(), path()).prop_map(|(host, inside)| Mount::ReadOnly { host, inside }),
        (path(), path()).prop_map(|(host, inside)| Mount::Writable { host, inside }),
        path().prop_map(|inside| Mount::File { inside, data: b"x".as_slice().into() }),
        (path(), 0u64..3).prop_map(|(inside, bytes)| Mount::Scratch { inside, bytes }),
        (path(), path()).prop_map(|(inside, target)| Mount::Link { inside, target }),
        path().prop_map(|inside| Mount::Hidden { inside }),
    ]
}

/// How many words follow an option, and which of them is the place inside.
fn shape(option: &str) -> (usize, Option<usize>) {
    match option {
        "--dir" | "--tmpfs" | "--proc" | "--dev" => (1, Some(0)),
        "--symlink" | "--ro-bind-try" | "--bind" | "--ro-bind" | "--bind-fd" | "--ro-bind-fd" | "--ro-bind-data"
        | "--file" => (2, Some(1)),
        "--remount-ro" | "--perms" | "--size" | "--uid" | "--gid" | "--hostname" | "--cap-drop"
        | "--json-status-fd" => (1, None),
        "--unshare-user"
        | "--unshare-ipc"
        | "--unshare-pid"
        | "--unshare-net"
        | "--unshare-uts"
        | "--unshare-cgroup-try"
        | "--disable-userns"
        | "--assert-userns-disabled"
        | "--new-session"
        | "--as-pid-1"
        | "--clearenv" => (0, None),
        // In particular --dev-bind, --share-net, --cap-add, --setenv and --die-with-parent.
        other => panic!("an option that no jail may have: {other}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn every_mount_point_is_made_in_this_call_and_none_lies_below_the_host(
        mounts in prop::collection::vec(mount(), 0..7),
        bind_fd: bool,
    ) {
        let Ok(options) = rendered(mounts, bind_fd) else { return Ok(()) };
        let mut made: Vec<PathBuf> = vec!["/".into()];
        let mut from_host: Vec<PathBuf> = Vec::new();
        let mut rest = options.as_slice();
        while let Some((option, words)) = rest.split_first() {
            let (count, place) = shape(option);
            let (words, after) = words.split_at(count);
            rest = after;
            let Some(place) = place.map(|index| PathBuf::from(&words[index])) else { continue };
            let parent = place.parent().expect("nothing is mounted on /");
            // A hidden folder of the system is the one exception: it exists there, and only root can exchange it.
            let hides = option == "--tmpfs" && place == Path::new("/usr/local/cargo");
            let shm = option == "--tmpfs" && place == Path::new("/dev/shm");
            if !hides && !shm {
                prop_assert!(made.iter().any(|path| path == parent), "{option} {place:?}: {parent:?} is not ours");
                prop_assert!(!from_host.iter().any(|path| place.starts_with(path)), "{option} {place:?} below the host");
            }
            match option.as_str() {
                "--dir" | "--tmpfs" => made.push(place),
                _ => from_host.push(place),
            }
        }
        prop_assert_eq!(&options[options.len() - 2..], ["--remount-ro", "/"]);
        for place in ["/proc", "/dev"] {
            prop_assert!(options.windows(2).any(|words| words == ["--remount-ro", place]), "{place} can be written");
        }
        for needed in ["--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--disable-userns",
                       "--assert-userns-disabled", "--new-session", "--as-pid-1", "--clearenv"] {
            prop_assert!(options.iter().any(|option| option == needed), "{needed}");
        }
        if bind_fd {
            prop_assert!(!options.iter().any(|option| option == "--bind" || option == "--ro-bind"));
        }
    }
}

#[test]
fn parents_come_first_whatever_the_order() {
    let scratch = Mount::Scratch { inside: "/state/cargo".into(), bytes: 1 };
    let below = Mount::read_only("/state/cargo/registry/index");
    let options = rendered(vec![below, scratch], true).unwrap();
    let position = |place: &str| options.iter().position(|option| option == place).unwrap();
    assert!(position("/state/cargo") < position("/state/cargo/registry"));
    assert!(position("/state/cargo/registry") < position("/state/cargo/registry/index"));
}

#[test]
fn nothing_is_mounted_below_a_writable_folder() {
    let refused = rendered(vec![Mount::writable("/w/shadow"), Mount::read_only("/w/shadow/node_modules")], true);
    assert!(matches!(refused, Err(PolicyError::Below { below, .. }) if below == Path::new("/w/shadow")));
}

#[test]
fn places_of_the_system_are_refused() {
    for place in ["/", "/etc", "/etc/passwd", "/usr", "/usr/local/bin", "/bin", "/proc/self", "/dev/null", "/tmp", HOME]
    {
        assert!(rendered(vec![Mount::writable(place)], true).is_err(), "{place}");
    }
}

#[test]
fn the_same_place_twice_is_refused() {
    for other in [Mount::read_only("/a"), Mount::Scratch { inside: "/a".into(), bytes: 1 }] {
        assert!(rendered(vec![Mount::Scratch { inside: "/a".into(), bytes: 1 }, other], true).is_err());
    }
}

#[test]
fn only_folders_that_the_system_shows_are_hidden() {
    let hide = |place: &str| rendered(vec![Mount::Hidden { inside: place.into() }], true).unwrap().join(" ");
    assert!(hide("/usr/local/cargo").contains("--tmpfs /usr/local/cargo --remount-ro /usr/local/cargo"));
    assert!(!hide("/usr/local/none").contains("/usr/local/none"));
    assert!(!hide("/home/user").contains("/home/user"));
}

#[test]
fn the_command_follows_a_double_dash_and_shows_no_path() {
    let line = command_line(5, 6, 7, 8);
    assert_eq!(line, ["--args", "5", "--", "/proc/self/fd/6", "__sandbox-launcher", "7", "8"]);
}

#[test]
fn a_policy_that_no_process_can_have_is_refused() {
    let bad: [fn(&mut Jailed); 8] = [
        |jailed| jailed.program = "".into(),
        |jailed| jailed.args.push("a\0b".into()),
        |jailed| drop(jailed.env.insert("A=B".into(), "c".into())),
        |jailed| drop(jailed.env.insert("".into(), "c".into())),
        |jailed| jailed.cwd = "relative".into(),
        |jailed| jailed.nice = -1,
        |jailed| jailed.limits.processes = 0,
        |jailed| jailed.limits.tmp_bytes = 0,
    ];
    for change in bad {
        let mut policy = jailed(Vec::new());
        assert!(plan(&policy, &layout()).is_ok());
        change(&mut policy);
        assert!(plan(&policy, &layout()).is_err());
    }
    let mut fine = jailed(Vec::new());
    (fine.stdin, fine.stdout) = (Stdin::Piped, Output::Piped);
    assert!(plan(&fine, &layout()).is_ok());
}
