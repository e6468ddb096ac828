//! Pytest in a virtual environment; made once for all cases.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use checks::{FileMap, Wanted};
use task::Verdict;

use crate::Case;
use crate::bench::{Bench, plain, with};

pub const CASES: &[Case] = &[
    ("pytest_tests_pass_fail_and_vanish", judged),
    ("a_pytest_process_that_ends_early_hides_nothing", exits),
    ("a_package_that_is_installed_editable_is_tested_from_the_tree", editable),
];

/// The developer's folder with a virtual environment in it, and a package of their own installed "editable".
fn workspace() -> &'static Path {
    static WORKSPACE: OnceLock<PathBuf> = OnceLock::new();
    WORKSPACE.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap().keep().canonicalize().unwrap();
        let run = |program: &Path, args: &[&str]| {
            let output = ::support::command(program).args(args).current_dir(&folder).output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        };
        run(Path::new("python3"), &["-m", "venv", ".venv"]);
        run(&folder.join(".venv/bin/pip"), &["install", "-q", "--disable-pip-version-check", "pytest==8.4.2"]);
        let source = folder.join("src");
        std::fs::create_dir_all(source.join("adder")).unwrap();
        std::fs::write(source.join("adder/__init__.py"), "raise Exception(\"the developer's file was imported\")\n")
            .unwrap();
        let packages = std::fs::read_dir(folder.join(".venv/lib")).unwrap().next().unwrap().unwrap().path();
        std::fs::write(packages.join("site-packages/__editable__.adder.pth"), source.to_str().unwrap()).unwrap();
        folder
    })
}

const TEST: &str = "import pytest\nfrom adder import add\n\ndef test_adds():\n    assert add(1, 2) == 3\n\n\
    class TestMore:\n    @pytest.mark.parametrize('n', [1, 2])\n    def test_each(self, n):\n        assert add(n, 0) == n\n";

fn project() -> FileMap {
    plain(&[
        (
            "pyproject.toml",
            "[project]\nname = \"adder\"\nversion = \"0.1\"\n[tool.pytest.ini_options]\naddopts = \"-q\"\n",
        ),
        ("src/adder/__init__.py", "def add(a, b):\n    return a + b\n"),
        ("tests/test_add.py", TEST),
    ])
}

fn judged() {
    let bench = Bench::in_workspace(workspace());
    let base = project();
    let judgement =
        bench.verified(&base, &with(&base, &[("src/adder/__init__.py", "def add(a, b):\n    return b + a\n")]));
    assert_eq!(judgement.comparisons[0].passed, 3);
    let wrong = with(&base, &[("src/adder/__init__.py", "def add(a, b):\n    return a - b\n")]);
    let judgement = bench.refused(&base, &wrong, "adder pytest tests/test_add.py::test_adds");
    let failure = &judgement.comparisons[0].new_failures[0];
    assert!(failure.excerpt.contains("assert -1 == 3"), "{failure:?}");
    assert_eq!(failure.at, Some(("tests/test_add.py".parse().unwrap(), 5)));
    for (edit, reason) in [
        (TEST.replace("def test_adds", "@pytest.mark.skip\ndef test_adds"), "1 test vanished"),
        (TEST.replace("def test_adds", "@pytest.mark.xfail\ndef test_adds"), "1 test vanished"),
        (TEST.replace("def test_adds", "def adds"), "1 test vanished"),
        (
            TEST.replace("import pytest\n", "import pytest\npytest.skip('all', allow_module_level=True)\n"),
            "3 tests vanished",
        ),
        (TEST.replace("from adder", "from gone"), "3 tests vanished"),
        (
            TEST.replace(
                "import pytest\n",
                "import pytest\n@pytest.fixture(autouse=True)\ndef f():\n    yield\n    assert 0\n",
            ),
            "new failure",
        ),
    ] {
        bench.refused(&base, &with(&base, &[("tests/test_add.py", &edit)]), reason);
    }
    // A file that could not be imported is mended: nothing vanished.
    let broken = with(&base, &[("tests/test_add.py", &TEST.replace("from adder", "from gone"))]);
    bench.verified(&broken, &base);
    let quiet = base.0[&"pyproject.toml".parse().unwrap()].clone();
    let quiet = String::from_utf8(quiet).unwrap().replace("-q", "-q -k each");
    bench.refused(&base, &with(&base, &[("pyproject.toml", &quiet)]), "1 test vanished");
    let bad = TEST.to_owned() + "\ndef test_bad():\n    assert add(1, 1) == 3\n";
    let failing = with(&base, &[("tests/test_add.py", &bad)]);
    let judgement = bench.verified(&failing, &with(&failing, &[("tests/test_add.py", &format!("\n\n{bad}"))]));
    assert_eq!(judgement.comparisons[0].verdict, Verdict::KnownFailure);
}

fn exits() {
    let bench = Bench::in_workspace(workspace());
    let base = project();
    for body in ["import os; os._exit(0)", "import os; os.kill(os.getpid(), 9)", "pytest.exit('enough', returncode=0)"]
    {
        let test = TEST.replace("    assert add(1, 2) == 3", &format!("    {body}"));
        bench.refused(&base, &with(&base, &[("tests/test_add.py", &test)]), "adder pytest (process)");
    }
    let forges = TEST.to_owned()
        + "\ndef test_forges():\n    import os\n    os.write(9, b'{\"kind\": \"end\", \"passed\": 4}\\n')\n    os._exit(0)\n";
    bench.refused(&base, &with(&base, &[("tests/test_add.py", &forges)]), "adder pytest (process)");
}

fn editable() {
    let bench = Bench::in_workspace(workspace());
    let base = project();
    let check = checks::find(&base, Wanted::default()).all().checks.remove(0);
    let ran = bench.run(&base, &check);
    assert_eq!(ran.verdict, Verdict::Passed, "{ran:?}");
    let read = ran.receipt.unwrap().read;
    for path in ["src/adder/__init__.py", "tests/test_add.py", "pyproject.toml"] {
        assert!(read.contains(&path.parse().unwrap()), "{path}: {read:?}");
    }
    let writes = TEST.replace(
        "    assert add(1, 2) == 3",
        "    with pytest.raises(OSError):\n        open(pytest.__file__, 'w')\n    assert not __import__('os').path.exists('/root/.ssh')",
    );
    bench.verified(&base, &with(&base, &[("tests/test_add.py", &writes)]));
}
