//! Attempts to read, change or reach something outside, each beside a control that shows the same act allowed inside.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;

use sandbox::{CancelToken, Mount, Outcome, PolicyError, StartError};

use crate::Case;
use crate::support::{Place, sandbox};

pub const CASES: &[Case] = &[
    ("files_outside_are_not_there", files_outside_are_not_there),
    ("home_is_empty", home_is_empty),
    ("the_system_cannot_be_written", the_system_cannot_be_written),
    ("kernel_settings_cannot_be_written", kernel_settings_cannot_be_written),
    ("links_lead_nowhere_outside", links_lead_nowhere_outside),
    ("mounts_and_namespaces_cannot_be_changed", mounts_and_namespaces_cannot_be_changed),
    ("every_namespace_is_its_own", every_namespace_is_its_own),
    ("odd_paths_are_mounted_as_they_are", odd_paths_are_mounted_as_they_are),
    ("privileges_cannot_be_gained", privileges_cannot_be_gained),
    ("only_the_variables_of_the_policy_are_seen", only_the_variables_of_the_policy_are_seen),
    ("the_environment_of_the_host_is_in_no_process", the_environment_of_the_host_is_in_no_process),
    ("command_lines_show_no_host_path", command_lines_show_no_host_path),
    ("only_three_descriptors_are_open", only_three_descriptors_are_open),
    ("process_one_cannot_be_looked_into", process_one_cannot_be_looked_into),
    ("keys_of_the_session_are_not_there", keys_of_the_session_are_not_there),
    ("the_network_is_a_loopback_of_its_own", the_network_is_a_loopback_of_its_own),
    ("sockets_of_the_host_cannot_be_reached", sockets_of_the_host_cannot_be_reached),
    ("well_known_sockets_are_absent", well_known_sockets_are_absent),
    ("devices_are_the_minimal_set", devices_are_the_minimal_set),
    ("host_processes_cannot_be_seen_or_signalled", host_processes_cannot_be_seen_or_signalled),
    ("process_one_cannot_be_killed_from_inside", process_one_cannot_be_killed_from_inside),
    ("the_identity_inside_is_always_the_same", the_identity_inside_is_always_the_same),
    ("a_read_only_mount_cannot_be_written", a_read_only_mount_cannot_be_written),
    ("a_mount_source_that_became_a_link_is_refused", a_mount_source_that_became_a_link_is_refused),
    ("a_planted_link_does_not_lead_a_mount_point_outside", a_planted_link_does_not_lead_a_mount_point_outside),
    ("a_hidden_folder_of_the_system_is_empty", a_hidden_folder_of_the_system_is_empty),
    ("files_of_the_policy_are_readable_only", files_of_the_policy_are_readable_only),
];

const CANARY: &str = "CANARY-7f3a";
/// Guards what would harm the machine if there were no jail around it.
const IN_JAIL: &str = "grep -q sandbox-launcher /proc/1/cmdline";

fn files_outside_are_not_there() {
    let place = Place::new();
    let secret = place.root.join("model_key");
    fs::write(&secret, CANARY).unwrap();
    fs::write(place.shadow.join("own"), "own text").unwrap();
    let script = format!(
        "cat own; cat {} /root/.ssh/* /etc/shadow 2>&1; ls -a {} /root /var /run 2>&1; find / -xdev -name model_key 2>/dev/null",
        secret.display(),
        place.root.display()
    );
    let said = place.run(&script).stdout.lossy();
    assert!(said.starts_with("own text"), "the control: {said}");
    assert!(!said.contains(CANARY) && !said.contains("model_key\n"), "{said}");
    assert_eq!(place.says(&format!("ls {}", place.root.display())), "shadow");
    assert_eq!(place.says("ls -d /oldroot /newroot /boot /sys /srv /mnt /media /root 2>/dev/null; true"), "");
}

fn home_is_empty() {
    let place = Place::new();
    assert_eq!(place.says("ls /home; ls -A /home/agent; echo $HOME"), "agent\n/home/agent");
    assert_eq!(place.says("touch ~/x && echo written"), "written");
    assert_eq!(place.says("ls -A /home/agent"), "", "what was written is gone with the run");
}

fn the_system_cannot_be_written() {
    let place = Place::new();
    for target in ["/usr/bin/x", "/etc/x", "/x", "/dev/x", "/usr/x", "/etc/passwd", "/etc/hosts", "/bin/x", "/home/x/y"]
    {
        place.denies(&format!("echo x >{target}"));
    }
    assert_eq!(
        place.says("echo x >own; echo x >/tmp/own; echo x >/dev/shm/own; cat own /tmp/own /dev/shm/own"),
        "x\nx\nx"
    );
    assert_eq!(fs::read_to_string(place.shadow.join("own")).unwrap(), "x\n");
}

fn kernel_settings_cannot_be_written() {
    let place = Place::new();
    // Opened for writing without writing anything: a jail that is broken must not break the machine that tests it.
    for target in [
        "/proc/sys/kernel/core_pattern",
        "/proc/sys/kernel/modprobe",
        "/proc/sys/vm/overcommit_memory",
        "/proc/sys/user/max_user_namespaces",
        "/proc/sysrq-trigger",
        "/proc/irq/default_smp_affinity",
        "/proc/self/oom_score_adj",
    ] {
        place.denies(&format!(": >>{target}"));
    }
    assert_eq!(place.says("cat /proc/sys/kernel/ostype; : >>own && echo opened"), "Linux\nopened");
}

fn links_lead_nowhere_outside() {
    let place = Place::new();
    let secret = place.root.join("secret");
    fs::write(&secret, CANARY).unwrap();
    symlink(&secret, place.shadow.join("absolute")).unwrap();
    symlink("../secret", place.shadow.join("relative")).unwrap();
    symlink("own", place.shadow.join("fine")).unwrap();
    fs::write(place.shadow.join("own"), "own text").unwrap();
    let said = place.run(&format!(
        "cat fine absolute relative /proc/self/root{0} /proc/1/root{0} /proc/1/cwd/../secret /proc/self/cwd/../secret",
        secret.display()
    ));
    assert_eq!(said.stdout.lossy(), "own text");
    place.denies("ln /usr/bin/true hard");
    assert_eq!(place.says("ln own hard; cat hard"), "own text");
}

fn mounts_and_namespaces_cannot_be_changed() {
    let place = Place::new();
    for attempt in [
        "mount -t tmpfs none /tmp",
        "umount /tmp",
        "mount --bind /usr /tmp",
        "mount -o remount,rw /",
        "unshare -U true",
        "unshare -Urm true",
        "mknod /tmp/device c 1 3",
        "mknod disk b 254 0",
        "chroot / /bin/true",
    ] {
        place.denies(attempt);
    }
    assert_eq!(place.says("mkfifo fifo && echo made; unshare --help >/dev/null && echo there"), "made\nthere");
}

fn every_namespace_is_its_own() {
    let place = Place::new();
    for namespace in ["user", "pid", "net", "mnt", "ipc", "uts", "cgroup"] {
        let link = format!("/proc/self/ns/{namespace}");
        let outside = fs::read_link(&link).unwrap();
        let inside = place.says(&format!("readlink {link}"));
        assert!(inside.starts_with(namespace) && inside != outside.to_str().unwrap(), "{inside}");
    }
}

fn odd_paths_are_mounted_as_they_are() {
    use std::os::unix::ffi::OsStrExt;
    let place = Place::new();
    for name in [&b"--bind"[..], b"a b", b"new\nline", b"\xff\xfe", b"quote'\"$(id)", b"a\\040b"] {
        let folder = place.root.join(std::ffi::OsStr::from_bytes(name));
        fs::create_dir(&folder).unwrap();
        let mut jailed = place.script("echo x >file; pwd");
        jailed.cwd = folder.clone();
        let finished = sandbox().run(jailed.mount(Mount::writable(&folder)), &CancelToken::new());
        assert_eq!(finished.outcome, Outcome::Exit { code: 0 }, "{folder:?}: {}", finished.stderr.lossy());
        assert_eq!(finished.stdout.bytes().trim_ascii_end(), folder.as_os_str().as_bytes());
        assert_eq!(fs::read(folder.join("file")).unwrap(), b"x\n");
    }
}

fn privileges_cannot_be_gained() {
    let place = Place::new();
    let said = place.says(
        "cp /usr/bin/id own; chmod 4755 own; ./own -u; grep -E 'NoNewPrivs|Cap(Eff|Prm|Bnd|Inh|Amb)' /proc/self/status",
    );
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines[0], "1000");
    assert_eq!(lines.len(), 7, "{said}");
    for line in &lines[1..] {
        let (name, value) = line.split_once(":\t").unwrap();
        let expected = if name == "NoNewPrivs" { "1" } else { "0000000000000000" };
        assert_eq!(value, expected, "{line}");
    }
}

fn only_the_variables_of_the_policy_are_seen() {
    let place = Place::new();
    let jailed = place.script("env").env("OWN", "value");
    let mut expected: Vec<String> = jailed.env.keys().map(|name| name.to_str().unwrap().to_owned()).collect();
    // The shell adds these.
    expected.extend(["PWD", "OLDPWD", "SHLVL", "_"].map(str::to_owned));
    let said = sandbox().run(jailed, &CancelToken::new()).stdout.lossy();
    assert!(said.contains("OWN=value"), "{said}");
    for line in said.lines() {
        let name = line.split('=').next().unwrap();
        assert!(expected.iter().any(|expected| expected == name), "{name}");
    }
}

fn the_environment_of_the_host_is_in_no_process() {
    let place = Place::new();
    let own = place.script("").env;
    let foreign = std::env::vars_os().filter(|(name, value)| own.get(name) != Some(value));
    let foreign: Vec<String> = foreign.map(|(name, value)| format!("{}={}", name.display(), value.display())).collect();
    assert!(!foreign.is_empty());
    let finished = place.run("OWN=visible sh -c 'cat /proc/[0-9]*/environ' | tr '\\0' '\\n'; cat /proc/1/environ");
    let said = finished.stdout.lossy();
    assert!(said.lines().any(|line| line == "OWN=visible"), "the control");
    for line in said.lines() {
        assert!(!foreign.iter().any(|pair| pair == line), "{line}");
    }
    assert!(finished.stderr.lossy().contains("Permission denied"), "{}", finished.stderr.lossy());
}

fn command_lines_show_no_host_path() {
    let place = Place::new();
    let said = place.says("tr '\\0' ' ' </proc/1/cmdline");
    assert!(said.contains("__sandbox-launcher") && !said.contains("var/tmp"), "{said}");
}

fn only_three_descriptors_are_open() {
    let place = Place::new();
    // Inheritable on purpose, as a careless library leaves them: of a folder and of a file with a secret.
    let secret = place.root.join("secret");
    fs::write(&secret, CANARY).unwrap();
    let open = [fs::File::open(&place.root).unwrap(), fs::File::open(&secret).unwrap()];
    for file in &open {
        rustix::io::fcntl_setfd(file, rustix::io::FdFlags::empty()).unwrap();
    }
    assert_eq!(place.says("ls /proc/self/fd | tr '\\n' ' '"), "0 1 2 3", "3 is the listing itself");
    assert_eq!(place.says("exec 7</etc/hosts; ls /proc/self/fd | tr '\\n' ' '"), "0 1 2 3 7");
}

fn process_one_cannot_be_looked_into() {
    let place = Place::new();
    for file in ["environ", "maps", "fd/2", "cwd/", "root/", "exe", "mem", "syscall", "stack"] {
        place.denies(&format!("ls -L /proc/1/{file} && head -c 1 /proc/1/{file} | grep ."));
    }
    place.denies("readlink /proc/1/fd/* /proc/1/exe /proc/1/root /proc/1/cwd");
    // The control: the same acts on a process of its own.
    place.says(
        "readlink /proc/self/fd/0 /proc/self/exe && head -c 1 /proc/self/environ | grep . && head -c 1 /proc/self/maps",
    );
}

fn keys_of_the_session_are_not_there() {
    const SESSION: libc::c_int = -3;
    // SAFETY: plain system calls with texts that end in NUL; the keyring belongs to this thread, which starts the jail.
    let key = unsafe {
        if libc::syscall(libc::SYS_keyctl, 1, std::ptr::null::<u8>()) < 0 {
            return; // No keys on this machine.
        }
        let text = CANARY.as_bytes();
        libc::syscall(libc::SYS_add_key, c"user".as_ptr(), c"canary".as_ptr(), text.as_ptr(), text.len(), SESSION)
    };
    assert!(key > 0, "the control: {}", std::io::Error::last_os_error());
    let place = Place::new();
    let said = place.says(&python(&format!(
        "import ctypes; call = ctypes.CDLL(None).syscall; text = ctypes.create_string_buffer(99)\n\
         for key in ({key}, call({search}, 10, {SESSION}, b'user', b'canary', 0)): call({search}, 11, key, text, 99)\n\
         print(text.value.decode(), 'end')",
        search = libc::SYS_keyctl,
    )));
    assert_eq!(said.trim(), "end");
}

fn the_network_is_a_loopback_of_its_own() {
    let place = Place::new();
    // Only lists; nothing is ever sent, so that a broken jail reaches nobody.
    let script = "tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '; tail -n +2 /proc/net/route | wc -l";
    assert_eq!(place.says(script), "lo\n0");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::net::TcpStream::connect(("127.0.0.1", port)).expect("the control: it can be reached outside");
    place.denies(&python(&format!("import socket; socket.create_connection(('127.0.0.1', {port}), 3)")));
    let both = "s = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen(); socket.create_connection(s.getsockname())";
    place.says(&python(&format!("import socket; {both}")));
    place.denies("getent hosts name.invalid");
    assert!(place.says("getent hosts localhost").contains("localhost"));
}

fn sockets_of_the_host_cannot_be_reached() {
    let place = Place::new();
    let path = place.root.join("socket");
    let _listener = UnixListener::bind(&path).unwrap();
    let connect = |path: &str| python(&format!("import socket; socket.socket(socket.AF_UNIX).connect({path:?})"));
    place.denies(&connect(path.to_str().unwrap()));
    // An abstract name belongs to the network namespace.
    use std::os::linux::net::SocketAddrExt;
    let name = format!("jail-test-{}", std::process::id());
    let address = std::os::unix::net::SocketAddr::from_abstract_name(&name).unwrap();
    let _abstract = UnixListener::bind_addr(&address).unwrap();
    place.denies(&python(&format!("import socket; socket.socket(socket.AF_UNIX).connect(chr(0) + {name:?})")));
    let both =
        "s = socket.socket(socket.AF_UNIX); s.bind('own'); s.listen(); socket.socket(socket.AF_UNIX).connect('own')";
    place.says(&python(&format!("import socket; {both}")));
}

fn well_known_sockets_are_absent() {
    let place = Place::new();
    let sockets =
        "/run/docker.sock /var/run/docker.sock /run/user /tmp/.X11-unix /run/dbus/system_bus_socket /run/systemd";
    assert_eq!(place.says(&format!("ls -d {sockets} 2>/dev/null; ls -d /tmp")), "/tmp");
}

fn devices_are_the_minimal_set() {
    let known = [
        "console", "core", "fd", "full", "null", "ptmx", "pts", "random", "shm", "stderr", "stdin", "stdout", "tty",
        "urandom", "zero",
    ];
    let said = Place::new().says("ls /dev");
    assert!(said.lines().any(|device| device == "null"));
    for device in said.lines() {
        assert!(known.contains(&device), "{device}");
    }
}

fn host_processes_cannot_be_seen_or_signalled() {
    let place = Place::new();
    let own = std::process::id();
    // Numbers inside are small; ours names nobody there unless it is as small.
    assert!(own > 50);
    place.denies(&format!("kill -0 {own}"));
    let said = place.says("sleep 100 & kill -9 $! && echo killed; ls -d /proc/[0-9]* | wc -l");
    let (killed, count) = said.split_once('\n').unwrap();
    assert_eq!(killed, "killed");
    assert!(count.trim().parse::<u32>().unwrap() < 8, "{count}");
    assert!(matches!(
        place.run(&format!("{IN_JAIL} && kill -9 -1; echo still")).outcome,
        Outcome::Exit { .. } | Outcome::Signal { .. }
    ));
}

fn process_one_cannot_be_killed_from_inside() {
    let said = Place::new()
        .says(&format!("{IN_JAIL} || exit 9; for signal in 9 15 2 1 17; do kill -$signal 1; done; echo still"));
    assert_eq!(said, "still");
}

fn the_identity_inside_is_always_the_same() {
    assert_eq!(
        Place::new().says("id -u; id -g; id -un; uname -n; umask"),
        "1000\n1000\nagent\nsandbox\n0022",
        "neither the user's number nor the machine's name shows"
    );
}

fn a_read_only_mount_cannot_be_written() {
    let place = Place::new();
    let data = place.root.join("data");
    fs::create_dir(&data).unwrap();
    fs::write(data.join("file"), "text").unwrap();
    let attempt =
        format!("cat {0}/file; echo x >{0}/file; echo x >{0}/new; rm -f {0}/file; cat {0}/file", data.display());
    let finished = sandbox().run(place.script(&attempt).mount(Mount::read_only(&data)), &CancelToken::new());
    assert_eq!(finished.stdout.lossy(), "texttext");
    assert_eq!(fs::read_dir(&data).unwrap().count(), 1);
}

fn a_mount_source_that_became_a_link_is_refused() {
    let place = Place::new();
    let jailed = place.script("ls -a");
    assert!(sandbox().run(jailed.clone(), &CancelToken::new()).outcome.success(), "the control");
    fs::create_dir(place.root.join("elsewhere")).unwrap();
    fs::rename(&place.shadow, place.root.join("aside")).unwrap();
    symlink("elsewhere", &place.shadow).unwrap();
    let refused = sandbox().start(jailed, &CancelToken::new());
    assert!(matches!(refused, Err(StartError::MountSource { .. })), "{refused:?}");
}

/// The hole of old bubblewraps (CVE-2026-87766): a link in a writable mount that leads to the old root, and a mount
/// point below it. The policy is refused; and the ordinary run on such a folder creates nothing outside.
fn a_planted_link_does_not_lead_a_mount_point_outside() {
    let place = Place::new();
    let victim = place.root.join("victim");
    fs::create_dir(&victim).unwrap();
    symlink(format!("/oldroot{}", victim.display()), place.shadow.join("sub")).unwrap();
    let below = Mount::File { inside: place.shadow.join("sub/config"), data: b"x".as_slice().into() };
    let refused = sandbox().start(place.script("true").mount(below), &CancelToken::new());
    assert!(matches!(refused, Err(StartError::Policy(PolicyError::Below { .. }))));
    place.run("echo x >sub/config; mkdir -p sub/folder; true");
    assert_eq!(fs::read_dir(&victim).unwrap().count(), 0);
}

fn a_hidden_folder_of_the_system_is_empty() {
    let place = Place::new();
    let hidden = Mount::Hidden { inside: "/usr/share".into() };
    assert_ne!(place.says("ls -A /usr/share | wc -l"), "0", "the control");
    let script = "ls -A /usr/share | wc -l; (: >/usr/share/x) 2>/dev/null || echo denied; ls -d /usr/bin";
    let finished = sandbox().run(place.script(script).mount(hidden), &CancelToken::new());
    assert_eq!(finished.stdout.lossy(), "0\ndenied\n/usr/bin\n");
}

fn files_of_the_policy_are_readable_only() {
    let place = Place::new();
    let inside = place.root.join("made/config");
    let jailed = place
        .script(&format!("cat {0}; echo y >{0}; cat {0}", inside.display()))
        .mount(Mount::File { inside, data: b"text".as_slice().into() });
    assert_eq!(sandbox().run(jailed, &CancelToken::new()).stdout.lossy(), "texttext");
}

fn python(program: &str) -> String {
    format!("python3 -c {}", shell_quoted(program))
}

fn shell_quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}
