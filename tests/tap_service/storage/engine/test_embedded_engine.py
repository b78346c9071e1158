"""The embedded engine: the lock of its data directory, forks and ``close``, each in a new process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pyarrow as pa
import pytest

from tap_service.storage.engine import merge_priority, thread_priority
from tap_service.storage.engine.data_path import lock_data_path
from tap_service.storage.engine.embedded_engine import EmbeddedEngine
from tap_service.storage.engine.engine import EngineUnavailable


def run(script: str, *arguments: str) -> str:
    """Run a script and return its output."""
    command = [sys.executable, "-c", textwrap.dedent(script), *arguments]
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE, timeout=60).stdout


def test_a_second_process_gets_the_pid_of_the_holder(engine: EmbeddedEngine) -> None:
    said = run(
        """
        import sys
        from pathlib import Path
        from tap_service.storage.engine.embedded_engine import EmbeddedEngine
        from tap_service.storage.engine.engine import EngineUnavailable
        try:
            EmbeddedEngine(Path(sys.argv[1]))
        except EngineUnavailable as error:
            print(error)
        """,
        str(engine.data_path),
    )
    assert said.startswith(f"another process (pid {os.getpid()}) holds the data directory {engine.data_path}")


def test_the_lock_ends_with_its_file(tmp_path: Path) -> None:
    lock = lock_data_path(tmp_path)
    with pytest.raises(EngineUnavailable, match=f"pid {os.getpid()}"):
        lock_data_path(tmp_path)
    lock.close()
    lock_data_path(tmp_path).close()


def test_a_path_that_chdb_would_read_as_settings(tmp_path: Path) -> None:
    with pytest.raises(EngineUnavailable, match="contains a question mark: give it another name"):
        EmbeddedEngine(tmp_path / "data?max_threads=1")
    assert not list(tmp_path.iterdir())


def test_a_path_that_cannot_be_created(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(EngineUnavailable, match=r"cannot use .*file/data for data"):
        lock_data_path(tmp_path / "file" / "data")


_CAUGHT_SIGNALS = """
        import faulthandler, sys
        from pathlib import Path
        from tap_service.storage.engine.embedded_engine import EmbeddedEngine
        def caught():
            (line,) = [line for line in Path("/proc/self/status").read_text().splitlines() if "SigCgt" in line]
            return [number for number in range(1, 32) if int(line.split()[1], 16) >> number - 1 & 1]
        faulthandler.enable()
        before = caught()
        for _ in range(2):
            engine = EmbeddedEngine(Path(sys.argv[1]))
            engine.execute("CREATE DATABASE IF NOT EXISTS s")
            engine.execute("CREATE TABLE IF NOT EXISTS s.t (a Int64) ENGINE = MergeTree ORDER BY a")
            engine.execute("INSERT INTO s.t SELECT number FROM numbers(1000)")
            with engine.stream_batches("SELECT a FROM s.t") as one, engine.stream_batches("SELECT a FROM s.t") as other:
                next(one), next(other)
                print(caught() == before, caught())
            engine.close()
        print(caught() == before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_the_engine_catches_no_signal_of_the_process(tmp_path: Path) -> None:
    """Neither when imported nor when connected: its handlers would keep a crashed process alive."""
    said = run(_CAUGHT_SIGNALS, str(tmp_path))
    assert said.count("True") == 3, said


@pytest.mark.parametrize("error", ["terminate_with_exception", "libcxx_hardening_out_of_bounds_assertion"])
def test_a_fatal_error_of_the_engine_ends_the_process(tmp_path: Path, error: str) -> None:
    """Errors that ClickHouse has for tests, in a later statement: an uncaught exception, a failed assertion."""
    script = """
        import sys
        from pathlib import Path
        from tap_service.process_end import report_crashes
        from tap_service.storage.engine.embedded_engine import EmbeddedEngine
        report_crashes()
        engine = EmbeddedEngine(Path(sys.argv[1]))
        engine.execute(f"SYSTEM ENABLE FAILPOINT {sys.argv[2]}")
        engine.ping()
    """
    command = [sys.executable, "-c", textwrap.dedent(script), str(tmp_path), error]
    answer = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)
    assert answer.returncode == -signal.SIGABRT, answer.stderr
    assert "Fatal Python error: Aborted" in answer.stderr
    assert "in ping" in answer.stderr


def test_close_cancels_queries_and_releases_the_path(tmp_path: Path) -> None:
    said = run(
        """
        import sys, threading
        from pathlib import Path
        from tap_service.storage.engine.embedded_engine import EmbeddedEngine
        from tap_service.storage.engine.engine import EngineError
        engine = EmbeddedEngine(Path(sys.argv[1]))
        started = threading.Event()
        def read():
            try:
                with engine.stream_batches("SELECT number FROM numbers(1000000000000)") as batches:
                    for batch in batches:
                        started.set()
            except EngineError as error:
                print(type(error).__name__)
        thread = threading.Thread(target=read)
        thread.start()
        started.wait()
        engine.close()
        engine.close()
        thread.join()
        try:
            engine.ping()
        except EngineError as error:
            print(type(error).__name__)
        again = EmbeddedEngine(Path(sys.argv[1]))
        again.ping()
        again.close()
        print("reopened")
        """,
        str(tmp_path),
    )
    assert said.split() == ["QueryCancelled", "EngineUnavailable", "reopened"]


def test_a_forked_process_is_refused(tmp_path: Path) -> None:
    said = run(
        """
        import os, sys
        from pathlib import Path
        from tap_service.storage.engine.embedded_engine import EmbeddedEngine
        from tap_service.storage.engine.engine import EngineUnavailable
        engine = EmbeddedEngine(Path(sys.argv[1]))
        child = os.fork()
        if child == 0:
            try:
                engine.ping()
            except EngineUnavailable as error:
                print(error, flush=True)
            os._exit(0)
        os.waitpid(child, 0)
        engine.close()
        """,
        str(tmp_path),
    )
    assert "forked process" in said


def test_max_memory_bounds_each_query(tmp_path: Path) -> None:
    said = run(
        """
        import sys
        from pathlib import Path
        from tap_service.storage.engine.embedded_engine import EmbeddedEngine
        from tap_service.storage.engine.engine import ResourceLimit
        engine = EmbeddedEngine(Path(sys.argv[1]), max_memory=50_000_000)
        try:
            engine.fetch_table("SELECT length(groupArray(number)) FROM numbers(100000000)")
        except ResourceLimit as error:
            print(error)
        engine.close()
        """,
        str(tmp_path),
    )
    assert "memory limit" in said


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="no threads in /proc")
def test_merges_give_way_to_queries(engine: EmbeddedEngine) -> None:
    engine.execute("CREATE DATABASE IF NOT EXISTS merging")
    engine.execute("CREATE TABLE merging.numbers (n Int64) ENGINE = MergeTree ORDER BY n")
    engine.insert_batches("merging.numbers", [pa.record_batch({"n": pa.array([1, 2])})])
    engine.execute("DROP DATABASE merging SYNC")
    names = {int(thread.name): (thread / "comm").read_text().strip() for thread in Path("/proc/self/task").iterdir()}
    merging = [os.getpriority(os.PRIO_PROCESS, thread) for thread, name in names.items() if name == "MergeMutate"]
    assert merging
    assert set(merging) == {merge_priority.NICE}


_SET_NICENESS = """
    import os, sys
    from pathlib import Path
    from tap_service.models.engine_share import ENGINE_SHARES, Lane
    from tap_service.storage.engine.embedded_engine import EmbeddedEngine
    engine = EmbeddedEngine(Path(sys.argv[1]))
    settings = dict(ENGINE_SHARES[Lane.HEAVY].list_settings())
    for _ in range(3):
        print(engine.fetch_table("SELECT max(number) AS n FROM numbers_mt(10000000)", settings)["n"].to_pylist())
        with engine.stream_batches("SELECT 1 AS one", settings=settings) as batches:
            print([batch["one"].to_pylist() for batch in batches])
    print(os.getpriority(os.PRIO_PROCESS, 0))
    engine.close()
"""


@pytest.mark.parametrize("namespace", [[], ["unshare", "-rm"]], ids=["here", "in a user namespace"])
def test_niceness_does_not_end_the_process(tmp_path: Path, namespace: list[str]) -> None:
    """Root of a user namespace, as in a rootless container, may lower priorities, but not raise them again."""
    if namespace:
        try:
            subprocess.run([*namespace, "true"], check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError):
            pytest.skip("no user namespaces")
    command = [*namespace, sys.executable, "-c", textwrap.dedent(_SET_NICENESS), str(tmp_path)]
    answer = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.splitlines() == ["[9999999]", "[[1]]"] * 3 + ["0"]


def test_trying_priorities_leaves_them_alone() -> None:
    before = os.getpriority(os.PRIO_PROCESS, 0)
    thread_priority.can_restore_priority.cache_clear()
    thread_priority.can_restore_priority()
    assert os.getpriority(os.PRIO_PROCESS, 0) == before
