//! What to do about a jail that cannot be built: bubblewrap's own words, matched to their cause.

/// (what bubblewrap says, what to do). The first match counts. The texts were collected from bubblewrap 0.8 and 0.12.
const REMEDIES: [(&str, &str); 9] = [
    (
        "setting up uid map: Permission denied",
        "AppArmor restricts user namespaces (Ubuntu 23.10 and later): run `sudo apt install bubblewrap apparmor-profiles`; \
         on 24.04 also copy /usr/share/apparmor/extra-profiles/bwrap-userns-restrict to /etc/apparmor.d and load it with \
         `sudo apparmor_parser -r`",
    ),
    (
        "loopback: Failed RTM_NEWADDR",
        "AppArmor restricts user namespaces (Ubuntu 23.10 and later): run `sudo apt install bubblewrap apparmor-profiles`; \
         on 24.04 also copy /usr/share/apparmor/extra-profiles/bwrap-userns-restrict to /etc/apparmor.d and load it with \
         `sudo apparmor_parser -r`",
    ),
    (
        "No permissions to create",
        "user namespaces are forbidden here: in a container its runtime blocks them, so run on the host; elsewhere allow \
         them with `sudo sysctl kernel.unprivileged_userns_clone=1`",
    ),
    (
        "nesting depth or /proc/sys/user/max_",
        "the machine allows no more user namespaces: raise /proc/sys/user/max_user_namespaces and its siblings",
    ),
    (
        "Creating new namespace failed: Resource temporarily unavailable",
        "the user's process limit is reached: end processes or raise `ulimit -u`",
    ),
    (
        "mount proc on",
        "a container with a masked /proc does not allow a new one inside: run on the host, or start the container without \
         masked paths",
    ),
    ("Unknown option", "the installed bubblewrap is too old: update the package `bubblewrap`"),
    (
        "Operation not permitted",
        "something on this machine forbids namespaces or mounts: in a container, run on the host instead",
    ),
    ("No space left on device", "a namespace or memory limit of the machine is used up"),
];

/// What to do about a failure that bubblewrap described in these words; `None` if they are not known.
pub fn remedy_for(said: &str) -> Option<&'static str> {
    REMEDIES.iter().find(|(words, _)| said.contains(words)).map(|(_, remedy)| *remedy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_known_failure_has_its_own_remedy() {
        for (said, expected) in [
            ("bwrap: setting up uid map: Permission denied", "AppArmor"),
            ("bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted", "AppArmor"),
            (
                "bwrap: No permissions to create new namespace, likely because the kernel does not allow",
                "user namespaces",
            ),
            ("bwrap: No permissions to create a new namespace, likely because the kernel", "user namespaces"),
            (
                "bwrap: Creating new namespace failed: nesting depth or /proc/sys/user/max_*_namespaces exceeded (ENOSPC)",
                "max_user_namespaces",
            ),
            ("bwrap: Creating new namespace failed: Resource temporarily unavailable", "process limit"),
            ("bwrap: Can't mount proc on /newroot/proc: Operation not permitted", "masked"),
            ("bwrap: Can't mount proc on /proc: Operation not permitted", "masked"),
            ("bwrap: Unknown option --tmp-overlay", "too old"),
        ] {
            assert!(remedy_for(said).is_some_and(|remedy| remedy.contains(expected)), "{said}");
        }
        assert_eq!(remedy_for("something else"), None);
    }
}
