"""Tells what pytest collected and what became of it, one JSON object a line, and notes which files were read."""

import json
import os
import sys

_REPORT = 9
_seen = set()
_notes = None


def _start_notes():
    global _notes
    folder = os.environ.get("UNDERSTUDY_SEEN")
    if not folder:
        return
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_CLOEXEC", 0)
    _notes = os.open(os.path.join(folder, "py-%d" % os.getpid()), flags, 0o600)
    write, fspath, absolute = os.write, os.fspath, os.path.abspath

    def opened(event, args):
        if event != "open" or not isinstance(args[0], (str, bytes)):
            return
        flags = args[2]
        if isinstance(flags, int) and flags & os.O_ACCMODE == os.O_WRONLY:
            return
        path = fspath(args[0])
        if path in _seen:
            return
        _seen.add(path)
        try:
            full = absolute(path)
            write(_notes, (full if isinstance(full, bytes) else full.encode("utf-8", "surrogateescape")) + b"\0")
        except (OSError, ValueError):
            pass

    # The notes are made by the code that is judged: good enough to say what a check looked at.
    if hasattr(sys, "addaudithook"):
        sys.addaudithook(opened)


_start_notes()


def _file(path):
    return os.path.join(_state.root, path) if _state.root else path


class _State:
    def __init__(self):
        self.root = ""
        self.active = True
        self.outcomes = {}
        self.order = []
        self.report = None


_state = _State()


def _tell(**line):
    data = (json.dumps(line) + "\n").encode("ascii")
    while data:
        data = data[os.write(_state.report, data):]


def _id(nodeid):
    file, _, rest = nodeid.partition("::")
    return {"file": _file(file), "names": rest.split("::") if rest else []}


def pytest_load_initial_conftests(early_config):
    # How much of the code was reached is not what is asked, and a limit for it would fail runs without failing tests.
    options = early_config.known_args_namespace
    if hasattr(options, "cov_source"):
        options.no_cov = True


pytest_load_initial_conftests.pytest_impl = {"tryfirst": True}


def pytest_configure(config):
    _state.root = str(getattr(config, "rootpath", None) or getattr(config, "rootdir", ""))
    # Workers of a plugin that spreads tests over processes report to the one that started them.
    _state.active = not hasattr(config, "workerinput")
    if _state.active:
        # Commands that tests start do not inherit it.
        os.set_inheritable(_REPORT, False)
        _state.report = _REPORT


def pytest_collection_finish(session):
    if _state.active:
        for item in session.items:
            _list(item.nodeid)


def pytest_xdist_node_collection_finished(node, ids):
    for nodeid in ids:
        if nodeid not in _state.outcomes:
            _list(nodeid)


pytest_xdist_node_collection_finished.pytest_impl = {"optionalhook": True}


def _list(nodeid):
    _state.outcomes[nodeid] = None
    _tell(kind="listed", **_id(nodeid))


def pytest_deselected(items):
    if _state.active:
        for item in items:
            _list(item.nodeid)
            _result(item.nodeid, "ignored", None)


def _result(nodeid, said, report):
    line = dict(kind="result", said=said, **_id(nodeid))
    if report is not None and said == "failed":
        line.update(_why(report))
    _state.outcomes[nodeid] = said
    _tell(**line)


def _why(report):
    crash = getattr(report.longrepr, "reprcrash", None)
    text = getattr(report, "longreprtext", "") or str(report.longrepr)
    why = {"message": getattr(crash, "message", None) or text, "stack": text}
    entries = getattr(getattr(report.longrepr, "reprtraceback", None), "reprentries", [])
    places = [entry.reprfileloc for entry in entries if getattr(entry, "reprfileloc", None)]
    if places:
        why["place"] = [_file(places[0].path), places[0].lineno]
    return why


def pytest_runtest_logreport(report):
    if not _state.active:
        return
    if report.outcome == "rerun":
        return
    known = _state.outcomes.get(report.nodeid)
    if report.when == "call" or (report.when == "setup" and report.outcome != "passed"):
        # Expected to fail, and did: nothing was shown either way.
        said = {"passed": "passed", "failed": "failed"}.get(report.outcome, "ignored")
        if hasattr(report, "wasxfail") and said == "passed":
            said = "ignored"
        if known is None:
            _result(report.nodeid, said, report)
    elif report.when == "teardown" and report.outcome == "failed":
        _tell(kind="broken", **_id(report.nodeid), **_why(report))


def pytest_collectreport(report):
    if not _state.active:
        return
    if report.outcome == "failed":
        _tell(kind="broken", **_id(report.nodeid), **_why(report))
    elif report.outcome == "skipped":
        # A module that skips itself: what is in it is not even listed.
        line = dict(kind="result", said="ignored", **_id(report.nodeid))
        _state.outcomes[report.nodeid] = "ignored"
        _tell(kind="listed", **_id(report.nodeid))
        _tell(**line)


def pytest_internalerror(excrepr):
    if _state.active and _state.report is not None:
        _tell(kind="broken", message=str(excrepr), stack="")


def pytest_unconfigure(config):
    if not _state.active or _state.report is None:
        return
    said = list(_state.outcomes.values())
    _tell(kind="end", passed=said.count("passed"), failed=said.count("failed"), ignored=said.count("ignored"))
