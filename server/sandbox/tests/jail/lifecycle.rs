//! Start, end, limits on time and output, and that nothing outlives its run.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use sandbox::{
    CancelToken, Inherited, Jailed, Keep, Limits, Mount, OWN_PROGRAM, OnLine, Outcome, Output, PolicyError, SpawnStage,
    StartError, Stdin, Stream,
};

use crate::Case;
use crate::support::{Place, length, processes_with, sandbox, unique_sleep, until};

pub const CASES: &[Case] = &[
    ("exit_codes_are_exact", exit_codes_are_exact),
    ("signals_are_told_from_exit_codes", signals_are_told_from_exit_codes),
    ("a_missing_program_is_a_spawn_error", a_missing_program_is_a_spawn_error),
    ("a_missing_folder_is_a_spawn_error", a_missing_folder_is_a_spawn_error),
    ("a_program_that_starts_with_a_dash_is_a_program", a_program_that_starts_with_a_dash_is_a_program),
    ("input_ends_at_once_unless_given", input_ends_at_once_unless_given),
    ("input_bytes_arrive_whole", input_bytes_arrive_whole),
    ("arguments_and_variables_keep_their_bytes", arguments_and_variables_keep_their_bytes),
    ("a_time_limit_ends_everything", a_time_limit_ends_everything),
    ("a_flood_of_output_is_cut_and_ended", a_flood_of_output_is_cut_and_ended),
    ("beginning_and_end_of_long_output_are_kept", beginning_and_end_of_long_output_are_kept),
    ("all_output_is_kept_when_asked", all_output_is_kept_when_asked),
    ("lines_are_reported_while_the_command_runs", lines_are_reported_while_the_command_runs),
    ("a_daemon_that_holds_the_output_does_not_hold_us", a_daemon_that_holds_the_output_does_not_hold_us),
    ("cancelling_ends_the_run_and_its_orphans", cancelling_ends_the_run_and_its_orphans),
    ("a_run_obeys_its_newest_token_only", a_run_obeys_its_newest_token_only),
    ("a_token_cancelled_before_the_start_ends_the_run", a_token_cancelled_before_the_start_ends_the_run),
    ("dropping_a_run_ends_it", dropping_a_run_ends_it),
    ("nothing_writes_after_the_end_of_a_run", nothing_writes_after_the_end_of_a_run),
    ("the_end_of_the_thread_that_started_a_run_changes_nothing", the_end_of_the_starting_thread_changes_nothing),
    ("many_runs_at_once_keep_their_own_outcomes", many_runs_at_once_keep_their_own_outcomes),
    ("a_piped_process_answers_line_by_line", a_piped_process_answers_line_by_line),
    ("two_jails_talk_through_inherited_pipes", two_jails_talk_through_inherited_pipes),
    ("our_own_program_runs_inside_in_another_role", our_own_program_runs_inside_in_another_role),
    ("a_folder_cannot_be_inherited", a_folder_cannot_be_inherited),
    ("usage_counts_children", usage_counts_children),
    ("killing_bubblewrap_from_outside_ends_the_jail", killing_bubblewrap_from_outside_ends_the_jail),
    ("the_end_of_our_process_ends_the_jail", the_end_of_our_process_ends_the_jail),
    ("the_end_of_our_process_before_the_word_starts_nothing", the_end_before_the_word_starts_nothing),
    ("runs_leave_no_descriptors_and_no_zombies", runs_leave_no_descriptors_and_no_zombies),
];

fn exit_codes_are_exact() {
    let place = Place::new();
    for code in [0, 1, 2, 125, 126, 127, 128, 137, 255] {
        let finished = place.run(&format!("echo out; echo err >&2; exit {code}"));
        assert_eq!(finished.outcome, Outcome::Exit { code }, "{}", finished.stderr.lossy());
        assert_eq!((finished.stdout.lossy().as_str(), finished.stderr.lossy().as_str()), ("out\n", "err\n"));
    }
}

fn signals_are_told_from_exit_codes() {
    let place = Place::new();
    for signal in [6, 9, 11, 13, 15] {
        assert_eq!(place.run(&format!("kill -{signal} $$")).outcome, Outcome::Signal { signal });
    }
}

fn a_missing_program_is_a_spawn_error() {
    let place = Place::new();
    for program in ["/usr/bin/no-such-program", "no-such-program", "/etc/passwd"] {
        let mut jailed = place.script("");
        jailed.program = program.into();
        let outcome = sandbox().run(jailed, &CancelToken::new()).outcome;
        let Outcome::SpawnError { stage: SpawnStage::Program, errno, message } = outcome else { panic!("{outcome}") };
        assert!(errno > 0 && message.contains(program), "{message}");
    }
}

fn a_missing_folder_is_a_spawn_error() {
    let place = Place::new();
    let mut jailed = place.script("");
    jailed.cwd = place.root.join("elsewhere");
    let outcome = sandbox().run(jailed, &CancelToken::new()).outcome;
    assert!(matches!(outcome, Outcome::SpawnError { stage: SpawnStage::Folder, .. }), "{outcome}");
}

fn a_program_that_starts_with_a_dash_is_a_program() {
    let place = Place::new();
    let mut jailed = place.script("");
    jailed.program = "--bind".into();
    jailed.args = vec!["/".into(), "/host".into()];
    let outcome = sandbox().run(jailed, &CancelToken::new()).outcome;
    assert!(matches!(outcome, Outcome::SpawnError { stage: SpawnStage::Program, .. }), "{outcome}");
}

fn input_ends_at_once_unless_given() {
    assert_eq!(Place::new().says("if read line; then echo read; else echo end; fi"), "end");
}

fn input_bytes_arrive_whole() {
    let place = Place::new();
    let mut jailed = place.script("wc -c; ls -l /proc/self/fd/0 | grep -c /dev/pts");
    jailed.stdin = Stdin::Bytes(vec![b'x'; 3_000_000].into());
    let finished = sandbox().run(jailed, &CancelToken::new());
    assert_eq!(finished.stdout.lossy(), "3000000\n0\n");
}

fn arguments_and_variables_keep_their_bytes() {
    use std::os::unix::ffi::OsStrExt;
    let place = Place::new();
    let odd = std::ffi::OsStr::from_bytes(b"a \"b\" $c\n\xff'");
    let mut jailed = place.script("printf %s \"$1|$ODD\"; printf '|%s' \"$#\"").arg("sh").arg(odd).arg("");
    jailed.env.insert("ODD".into(), odd.into());
    let finished = sandbox().run(jailed, &CancelToken::new());
    let expected = [odd.as_bytes(), b"|", odd.as_bytes(), b"|2"].concat();
    assert_eq!(&*finished.stdout.bytes(), &*expected);
}

fn a_time_limit_ends_everything() {
    let place = Place::new();
    let sleep = unique_sleep();
    let script = format!("trap '' TERM INT HUP; (setsid sleep {sleep} &); echo started; sleep {sleep}");
    let mut jailed = place.script(&script);
    let mut patient = place.script("true");
    patient.limits.wall = Some(Duration::MAX);
    assert!(sandbox().run(patient, &CancelToken::new()).outcome.success(), "the control");
    jailed.limits.wall = Some(Duration::from_millis(700));
    let finished = sandbox().run(jailed, &CancelToken::new());
    assert_eq!(finished.outcome, Outcome::Timeout);
    assert_eq!(finished.stdout.lossy(), "started\n");
    assert!(finished.duration >= Duration::from_millis(700) && finished.duration < Duration::from_secs(5));
    assert_eq!(processes_with(&sleep), Vec::<u32>::new());
}

fn a_flood_of_output_is_cut_and_ended() {
    let place = Place::new();
    let begin = Instant::now();
    let finished = place.run("yes AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA");
    assert_eq!(finished.outcome, Outcome::OutputCap);
    assert!(finished.stdout.total > 64 << 20 && finished.stdout.total < 80 << 20, "{}", finished.stdout.total);
    assert!(finished.stdout.head.len() + finished.stdout.tail.len() <= 1 << 20);
    assert!(begin.elapsed() < Duration::from_secs(10));

    let mut quiet = place.script("head -c 100000 /dev/zero");
    quiet.limits.output_bytes = 100_000;
    assert_eq!(sandbox().run(quiet, &CancelToken::new()).outcome, Outcome::Exit { code: 0 });
    // Also a command that ends before we have read it all: the limit does not depend on who is faster.
    let mut short = place.script("head -c 50001 /dev/zero; head -c 50000 /dev/zero >&2");
    short.limits.output_bytes = 100_000;
    assert_eq!(sandbox().run(short, &CancelToken::new()).outcome, Outcome::OutputCap);
}

fn beginning_and_end_of_long_output_are_kept() {
    let place = Place::new();
    let finished = place.run("echo first; seq 1 300000; echo last");
    assert_eq!(finished.outcome, Outcome::Exit { code: 0 });
    assert!(finished.stdout.truncated());
    assert!(finished.stdout.head.starts_with(b"first\n1\n") && finished.stdout.tail.ends_with(b"\n300000\nlast\n"));
    assert_eq!(finished.stdout.total, 6 + 1_988_895 + 5);
}

fn all_output_is_kept_when_asked() {
    let place = Place::new();
    let mut jailed = place.script("head -c 20000000 /dev/zero | tr '\\0' x; echo end");
    jailed.stdout = Output::Captured(Keep::all());
    let finished = sandbox().run(jailed, &CancelToken::new());
    assert!(!finished.stdout.truncated() && finished.stdout.bytes().len() == 20_000_004);
}

fn lines_are_reported_while_the_command_runs() {
    let place = Place::new();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&seen);
    let fifo = place.shadow.join("fifo");
    let mut jailed = place.script("mkfifo fifo; echo one; echo two >&2; read word <fifo; printf '%s' \"$word\"");
    jailed.on_line = Some(OnLine::new(move |stream, line| {
        sink.lock().unwrap().push((stream, String::from_utf8_lossy(line).into_owned()));
    }));
    let running = sandbox().start(jailed, &CancelToken::new()).unwrap();
    until("two lines", || seen.lock().unwrap().len() == 2);
    assert!(!running.is_finished(), "it waits for our word, so the lines came while it ran");
    std::fs::write(&fifo, "three\n").unwrap();
    assert!(running.wait().outcome.success());
    let mut seen = seen.lock().unwrap().clone();
    seen[..2].sort_by_key(|(_, line)| line.clone());
    let expected = [(Stream::Stdout, "one"), (Stream::Stderr, "two"), (Stream::Stdout, "three")];
    assert_eq!(seen, expected.map(|(stream, line)| (stream, line.to_owned())));
}

fn a_daemon_that_holds_the_output_does_not_hold_us() {
    let place = Place::new();
    let sleep = unique_sleep();
    let begin = Instant::now();
    let finished = place.run(&format!("(setsid sleep {sleep} &); echo done; exit 7"));
    assert_eq!(finished.outcome, Outcome::Exit { code: 7 });
    assert_eq!(finished.stdout.lossy(), "done\n");
    assert!(begin.elapsed() < Duration::from_secs(5));
    assert_eq!(processes_with(&sleep), Vec::<u32>::new());
}

fn cancelling_ends_the_run_and_its_orphans() {
    let place = Place::new();
    let sleep = unique_sleep();
    let cancel = CancelToken::new();
    let running = sandbox().start(place.script(&format!("(setsid sleep {sleep} &); sleep {sleep}")), &cancel).unwrap();
    // The shells name the number too: two processes are certain once it runs, and the positive control for the scan.
    until("the command runs", || processes_with(&sleep).len() >= 2);
    let begin = Instant::now();
    cancel.cancel();
    assert_eq!(running.wait().outcome, Outcome::Cancelled);
    assert!(begin.elapsed() < Duration::from_secs(2));
    assert_eq!(processes_with(&sleep), Vec::<u32>::new());
}

fn a_run_obeys_its_newest_token_only() {
    let place = Place::new();
    let sleep = unique_sleep();
    let (first, second) = (CancelToken::new(), CancelToken::new());
    let mut running = sandbox().start(place.script(&format!("sleep {sleep}")), &first).unwrap();
    until("the command runs", || !processes_with(&sleep).is_empty());
    running.obey(&second);
    first.cancel();
    let other = place.run("true");
    assert!(other.outcome.success() && !running.is_finished(), "the first token does not count any more");
    running.obey(&CancelToken::new());
    running.obey(&second);
    second.cancel();
    assert_eq!(running.wait().outcome, Outcome::Cancelled);
}

fn a_token_cancelled_before_the_start_ends_the_run() {
    let place = Place::new();
    let cancel = CancelToken::new();
    cancel.cancel();
    let finished = sandbox().run(place.script("sleep 1000"), &cancel);
    assert_eq!(finished.outcome, Outcome::Cancelled);
}

fn dropping_a_run_ends_it() {
    let place = Place::new();
    let sleep = unique_sleep();
    let running = sandbox().start(place.script(&format!("sleep {sleep}")), &CancelToken::new()).unwrap();
    until("the command runs", || !processes_with(&sleep).is_empty());
    drop(running);
    assert_eq!(processes_with(&sleep), Vec::<u32>::new());
}

/// Forty writers, each ended in the middle of its work: the file must not grow by a byte after the end is reported.
fn nothing_writes_after_the_end_of_a_run() {
    let place = Place::new();
    for round in 0..40 {
        let name = format!("file{round}");
        let file = place.shadow.join(&name);
        let writer = format!("while :; do echo xxxxxxxxxxxxxxxxxxxxxxxx; done >>{name}");
        let cancel = CancelToken::new();
        let script = format!("( {writer} ) & setsid sh -c '{writer}' & {writer}");
        let running = sandbox().start(place.script(&script), &cancel).unwrap();
        until("the writers write", || length(&file) > 1000);
        cancel.cancel();
        assert_eq!(running.wait().outcome, Outcome::Cancelled);
        let at_the_end = length(&file);
        let watched = Instant::now();
        while watched.elapsed() < Duration::from_millis(60) {
            assert_eq!(length(&file), at_the_end, "round {round}");
        }
    }
}

fn the_end_of_the_starting_thread_changes_nothing() {
    let place = Place::new();
    let jailed = place.script("mkfifo fifo; read word <fifo; echo \"$word\"; exit 3");
    let running = std::thread::spawn(move || sandbox().start(jailed, &CancelToken::new()).unwrap()).join().unwrap();
    let fifo = place.shadow.join("fifo");
    until("the command waits", || fifo.exists());
    std::fs::write(fifo, "go\n").unwrap();
    let finished = running.wait();
    assert_eq!((finished.outcome, finished.stdout.lossy().as_str()), (Outcome::Exit { code: 3 }, "go\n"));
}

fn many_runs_at_once_keep_their_own_outcomes() {
    let place = Place::new();
    let sandbox = sandbox();
    std::thread::scope(|scope| {
        for code in 0..16 {
            let (sandbox, place) = (&sandbox, &place);
            scope.spawn(move || {
                for _ in 0..4 {
                    let finished = sandbox.run(place.script(&format!("echo {code}; exit {code}")), &CancelToken::new());
                    assert_eq!(finished.outcome, Outcome::Exit { code }, "{}", finished.stderr.lossy());
                    assert_eq!(finished.stdout.lossy(), format!("{code}\n"));
                }
            });
        }
    });
}

fn a_piped_process_answers_line_by_line() {
    let place = Place::new();
    let mut jailed = place.script("while read line; do echo \"got $line\"; done; echo bye >&2");
    (jailed.stdin, jailed.stdout, jailed.limits.wall) = (Stdin::Piped, Output::Piped, None);
    let mut running = sandbox().start(jailed, &CancelToken::new()).unwrap();
    let mut stdin = running.take_stdin().unwrap();
    let mut stdout = BufReader::new(running.take_stdout().unwrap());
    for word in ["one", "two", "three"] {
        writeln!(stdin, "{word}").unwrap();
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        assert_eq!(line, format!("got {word}\n"));
    }
    drop(stdin);
    let finished = running.wait();
    assert_eq!((finished.outcome, finished.stderr.lossy().as_str()), (Outcome::Exit { code: 0 }, "bye\n"));
    let mut rest = String::new();
    stdout.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "");
}

/// A server in one jail, its client in another, on pipes that only they hold: the shape of a worker that uses a
/// proc-macro server.
fn two_jails_talk_through_inherited_pipes() {
    let place = Place::new();
    let (question_end, question) = std::io::pipe().unwrap();
    let (answer, answer_end) = std::io::pipe().unwrap();
    let fd = |end: OwnedFd| Arc::new(end);
    let mut server = place.script("while read line <&5; do echo \"answer to $line\" >&6; done");
    server.inherited =
        vec![Inherited { fd: fd(question_end.into()), number: 5 }, Inherited { fd: fd(answer_end.into()), number: 6 }];
    let mut client =
        place.script("echo question >/proc/self/fd/4; read line <&3; echo \"$line\"; ls /proc/self/fd | tr '\\n' ' '");
    client.inherited =
        vec![Inherited { fd: fd(answer.into()), number: 3 }, Inherited { fd: fd(question.into()), number: 4 }];
    let server = sandbox().start(server, &CancelToken::new()).unwrap();
    let client = sandbox().run(client, &CancelToken::new());
    assert_eq!(client.stdout.lossy().trim_end(), "answer to question\n0 1 2 3 4 5", "5 is the listing itself");
    // The client's end, the only one, is gone: the server sees the end of its input.
    assert!(server.wait().outcome.success());
}

/// What the test binary does as the worker of the following case.
pub fn worker() -> ! {
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).expect("a line");
    println!("worker {} got {line}", std::process::id());
    std::process::exit(5);
}

fn our_own_program_runs_inside_in_another_role() {
    let place = Place::new();
    let mut jailed = Jailed::new(OWN_PROGRAM, "/").env(WORKER, "1");
    jailed.stdin = Stdin::Bytes(b"work".as_slice().into());
    let finished = sandbox().run(jailed, &CancelToken::new());
    assert_eq!(
        (finished.outcome, finished.stdout.lossy().as_str()),
        (Outcome::Exit { code: 5 }, "worker 2 got work\n")
    );
    let own = std::env::current_exe().unwrap();
    assert_eq!(place.says(&format!("ls {} 2>/dev/null; true", own.display())), "", "it is not visible");
}

fn a_folder_cannot_be_inherited() {
    let place = Place::new();
    let mut jailed = place.script("ls /proc/self/fd/3/");
    let folder = std::fs::File::open(&place.root).unwrap();
    jailed.inherited = vec![Inherited { fd: Arc::new(folder.into()), number: 3 }];
    let refused = sandbox().start(jailed, &CancelToken::new());
    assert!(matches!(refused, Err(StartError::Policy(PolicyError::Descriptor { number: 3 }))));
}

fn usage_counts_children() {
    let place = Place::new();
    let python = "x = bytearray(150_000_000)\nwhile __import__('time').process_time() < 0.3: pass";
    let finished = place.run(&format!("sh -c \"python3 -c \\\"{python}\\\"\"; true"));
    assert!(finished.outcome.success(), "{}", finished.stderr.lossy());
    let usage = finished.usage.unwrap();
    assert!(usage.peak_bytes > 140_000_000 && usage.peak_bytes < 1_000_000_000, "{usage:?}");
    assert!(usage.user + usage.system > Duration::from_millis(250), "{usage:?}");
}

fn killing_bubblewrap_from_outside_ends_the_jail() {
    let place = Place::new();
    let sleep = unique_sleep();
    let running = sandbox().start(place.script(&format!("sleep {sleep}")), &CancelToken::new()).unwrap();
    until("the command runs", || !processes_with(&sleep).is_empty());
    for child in children_of(std::process::id()) {
        kill(child);
    }
    let finished = running.wait();
    assert!(matches!(finished.outcome, Outcome::Infrastructure { .. }), "{}", finished.outcome);
    assert_eq!(processes_with(&sleep), Vec::<u32>::new());
}

/// The name of the variable that makes the test binary a worker.
pub const WORKER: &str = "JAIL_TEST_WORKER";
/// The name of the variable that makes the test binary start a jail and then wait to be killed.
pub const VICTIM: &str = "JAIL_TEST_VICTIM";

/// What the second process of the following cases does: starts a jail and waits to be killed.
pub fn victim(sleep: &str) -> ! {
    let mut jailed = Jailed::new("/bin/sh", "/").args(["-c", &format!("sleep {sleep}")]);
    jailed.limits = Limits { wall: None, ..Limits::default() };
    let running = sandbox().start(jailed, &CancelToken::new()).expect("a jail");
    running.wait();
    std::process::exit(1);
}

#[expect(clippy::disallowed_methods, reason = "the process to be killed must be one outside of any jail")]
fn start_victim(sleep: &str) -> std::process::Child {
    let own = std::env::current_exe().unwrap();
    std::process::Command::new(own).env(VICTIM, sleep).process_group(0).spawn().unwrap()
}

fn the_end_of_our_process_ends_the_jail() {
    for _ in 0..5 {
        let sleep = unique_sleep();
        let mut victim = start_victim(&sleep);
        until("the command runs", || !processes_with(&sleep).is_empty());
        kill(victim.id());
        victim.wait().unwrap();
        let took = until("the jail is empty", || processes_with(&sleep).is_empty());
        assert!(took < Duration::from_secs(1), "{took:?}");
    }
}

/// Kills the process at ever later moments of the start: whatever the moment, nothing remains.
fn the_end_before_the_word_starts_nothing() {
    for delay in 0..30 {
        let sleep = unique_sleep();
        let mut victim = start_victim(&sleep);
        let begin = Instant::now();
        while begin.elapsed() < Duration::from_millis(delay) {
            std::hint::spin_loop();
        }
        kill(victim.id());
        victim.wait().unwrap();
        // Half-built jails are still in the group of the victim; built ones run this very program.
        let half_built = || in_group(victim.id());
        until("the jail is empty", || {
            processes_with(&sleep).is_empty() && half_built().is_empty() && launchers_of_ours().is_empty()
        });
    }
}

fn runs_leave_no_descriptors_and_no_zombies() {
    let place = Place::new();
    let count = || std::fs::read_dir("/proc/self/fd").unwrap().count();
    place.run("true");
    let before = count();
    for script in ["true", "exit 3", "kill -9 $$", "(sleep 100 &)"] {
        place.run(script);
    }
    let mut missing = place.script("true");
    missing.mounts.push(Mount::read_only(place.root.join("missing")));
    assert!(matches!(sandbox().run(missing, &CancelToken::new()).outcome, Outcome::Infrastructure { .. }));
    assert_eq!(count(), before);
    assert_eq!(children_of(std::process::id()), Vec::<u32>::new());
}

fn kill(pid: u32) {
    let pid = rustix::process::Pid::from_raw(pid.try_into().unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
}

/// Processes of a process group, without those that only wait for the machine to take note of their end.
fn in_group(group: u32) -> Vec<u32> {
    let is_in_it = |pid: &u32| -> Option<bool> {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
        Some(fields.next()? != "Z" && fields.nth(1)?.parse() == Ok(group))
    };
    processes_with("").into_iter().filter(|pid| is_in_it(pid) == Some(true)).collect()
}

/// Launchers that are this program; those of other programs on this machine are none of our business.
fn launchers_of_ours() -> Vec<u32> {
    let own = std::env::current_exe().unwrap();
    let is_own = |pid: &u32| std::fs::read_link(format!("/proc/{pid}/exe")).is_ok_and(|exe| exe == own);
    processes_with("__sandbox-launcher").into_iter().filter(is_own).collect()
}

/// Children of a process, zombies included, over all of its threads.
fn children_of(pid: u32) -> Vec<u32> {
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).unwrap().flatten();
    let lists = threads.map(|thread| std::fs::read_to_string(thread.path().join("children")).unwrap_or_default());
    lists.flat_map(|list| list.split_whitespace().map(|child| child.parse().unwrap()).collect::<Vec<_>>()).collect()
}
