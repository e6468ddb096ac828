//! What a command may consume: memory, files, descriptors, processes.

use sandbox::{CancelToken, Jailed, Outcome};

use crate::Case;
use crate::support::{Place, length, sandbox};

pub const CASES: &[Case] = &[
    ("memory_of_a_process_is_bounded", memory_of_a_process_is_bounded),
    ("memory_folders_are_bounded", memory_folders_are_bounded),
    ("size_of_files_is_bounded", size_of_files_is_bounded),
    ("descriptors_are_bounded", descriptors_are_bounded),
    ("processor_time_is_bounded", processor_time_is_bounded),
    ("processes_are_bounded_unless_we_are_root", processes_are_bounded_unless_we_are_root),
    ("commands_yield_to_the_rest_of_the_machine", commands_yield_to_the_rest_of_the_machine),
];

const MIB: u64 = 1 << 20;

fn python(place: &Place, program: &str) -> Jailed {
    let mut jailed = place.script("");
    jailed.program = "python3".into();
    jailed.args = vec!["-c".into(), program.into()];
    jailed
}

fn memory_of_a_process_is_bounded() {
    let place = Place::new();
    let mut jailed = python(&place, "x = bytearray(300 << 20); print('had it')");
    jailed.limits.data_bytes = 400 * MIB;
    assert_eq!(sandbox().run(jailed.clone(), &CancelToken::new()).stdout.lossy(), "had it\n");
    jailed.limits.data_bytes = 200 * MIB;
    let finished = sandbox().run(jailed, &CancelToken::new());
    assert_eq!(finished.outcome, Outcome::Exit { code: 1 });
    assert!(finished.stderr.lossy().contains("MemoryError"));
}

fn memory_folders_are_bounded() {
    let place = Place::new();
    for (folder, size) in [("/tmp", 20), ("/home/agent", 30), ("/dev/shm", 64)] {
        let mut jailed = place.script(&format!(
            "head -c 1000000 /dev/zero >{folder}/small && echo fits; head -c 100000000 /dev/zero >{folder}/big; du -sm {folder} | cut -f1"
        ));
        (jailed.limits.tmp_bytes, jailed.limits.home_bytes) = (20 * MIB, 30 * MIB);
        let finished = sandbox().run(jailed, &CancelToken::new());
        let said = finished.stdout.lossy();
        let (fits, used) = said.trim().split_once('\n').unwrap();
        assert_eq!(fits, "fits");
        assert!(used.parse::<u64>().unwrap() <= size, "{folder}: {used}");
        assert!(finished.stderr.lossy().contains("No space left"), "{}", finished.stderr.lossy());
    }
}

fn size_of_files_is_bounded() {
    let place = Place::new();
    let mut jailed = place
        .script("head -c 9000000 /dev/zero >fits && echo fits; head -c 20000000 /dev/zero >big; truncate -s 1T sparse");
    jailed.limits.file_bytes = 10 * MIB;
    assert_eq!(sandbox().run(jailed, &CancelToken::new()).stdout.lossy(), "fits\n");
    assert_eq!(length(&place.shadow.join("fits")), 9_000_000);
    assert!(length(&place.shadow.join("big")) <= 10 * MIB && length(&place.shadow.join("sparse")) <= 10 * MIB);
}

fn descriptors_are_bounded() {
    let place = Place::new();
    let program = "import os\nn = 0\ntry:\n  while True: os.dup(0); n += 1\nexcept OSError: print(n)";
    let mut jailed = python(&place, program);
    jailed.limits.open_files = 400;
    let count: u64 = sandbox().run(jailed, &CancelToken::new()).stdout.lossy().trim().parse().unwrap();
    assert!((390..400).contains(&count), "{count}");
}

fn processor_time_is_bounded() {
    let place = Place::new();
    let mut jailed = place.script("while :; do :; done");
    jailed.limits.cpu = Some(std::time::Duration::from_millis(900));
    let outcome = sandbox().run(jailed, &CancelToken::new()).outcome;
    assert!(matches!(outcome, Outcome::Signal { signal: 9 | 24 }), "{outcome}");
}

/// The kernel does not count processes of root; there the time limit bounds a bomb, and the probe says so.
fn processes_are_bounded_unless_we_are_root() {
    let place = Place::new();
    let program = "import os, time\nn = 0\ntry:\n  while n < 300:\n    if os.fork() == 0: time.sleep(60); os._exit(0)\n    n += 1\nexcept OSError: pass\nprint(n)";
    let mut jailed = python(&place, program);
    jailed.limits.processes = 100;
    let count: u64 = sandbox().run(jailed, &CancelToken::new()).stdout.lossy().trim().parse().unwrap();
    if rustix::process::getuid().is_root() {
        assert_eq!(count, 300);
    } else {
        assert!((90..=100).contains(&count), "{count}");
    }
}

fn commands_yield_to_the_rest_of_the_machine() {
    let place = Place::new();
    let own: i32 = place.says("cut -d' ' -f19 /proc/self/stat").parse().unwrap();
    assert_eq!(own, 10);
    let mut eager = place.script("cut -d' ' -f19 /proc/self/stat");
    eager.nice = 3;
    assert_eq!(sandbox().run(eager, &CancelToken::new()).stdout.lossy(), "3\n");
}
