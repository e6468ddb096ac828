//! Checks that hang or print for ever end with their limits, and nothing of them stays.

use crate::stage::Stage;

#[test]
fn a_check_that_hangs_ends_with_the_time_limit() {
    let stage = Stage::data("sums");
    let patch = stage.patch(|it| {
        it.write("tests/hangs.rs", "#[test]\nfn hangs() {\n    loop {\n        std::thread::park();\n    }\n}\n");
    });
    stage.prove(0, &stage.patch(|it| it.replace("src/lib.rs", "a + b", "b + a")));
    let path = stage.project.beside("hang.patch");
    std::fs::write(&path, patch).unwrap();
    let begun = std::time::Instant::now();
    let answer = stage.ask_any(&["prove", "--patch", path.to_str().unwrap(), "--timeout", "12"]);
    assert!(begun.elapsed().as_secs() < 60, "it took {:?}", begun.elapsed());
    assert!(matches!(answer.code, Some(3 | 4)), "{answer:?}");
    assert!(answer.reasons().contains("time"), "{answer:?}");
    // What was reached is returned.
    assert_eq!(answer.hunks().len(), 1);
}

#[test]
fn a_check_that_starts_processes_and_goes_leaves_none_behind() {
    let stage = Stage::data("sums");
    let edited = stage.edited(|it| {
        let body = "    std::process::Command::new(\"setsid\").args([\"sleep\", \"1000\"]).stdin(std::process::Stdio::null()).stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).spawn().unwrap();\n";
        it.write("tests/leaves.rs", format!("#[test]\nfn leaves() {{\n{body}}}\n"));
    });
    let answer = stage.prove(0, &crate::stage::patch_of(&edited));
    answer.says("verified", "");
}

#[test]
fn a_check_that_prints_for_ever_is_no_pass() {
    let stage = Stage::data("sums");
    let edited = stage.edited(|it| {
        let body = "    use std::io::Write;\n    let line = [b'x'; 65536];\n    let mut out = std::io::stdout();\n    while out.write_all(&line).is_ok() {}\n";
        it.write("tests/prints.rs", format!("#[test]\nfn prints() {{\n{body}}}\n"));
    });
    let path = stage.project.beside("print.patch");
    std::fs::write(&path, crate::stage::patch_of(&edited)).unwrap();
    let answer = stage.ask_any(&["prove", "--patch", path.to_str().unwrap(), "--timeout", "60"]);
    assert_eq!((answer.code, answer.verdict().as_str()), (Some(3), "not verified"), "{answer:?}");
}
