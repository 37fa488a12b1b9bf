"""alcove python and alcove node: the real program, a real folder."""

import os
import subprocess
import time

import pytest
from program import PROGRAM

pytestmark = pytest.mark.usefixtures("sandbox")


def test_programs_see_their_folder_and_nothing_else(alcove, tmp_path):
    (tmp_path / "a.txt").write_text("hello")
    done = alcove("python", "--root", tmp_path, "-c", "import os, sys; print(os.listdir(), os.getcwd(), sys.argv)", "-x", "--root")
    assert (done.returncode, done.stdout) == (0, "['a.txt'] /workspace ['-c', '-x', '--root']\n"), done.stderr
    done = alcove("node", "--root", tmp_path, "-p", "fs.readFileSync('a.txt', 'utf8') + process.cwd()")
    assert (done.returncode, done.stdout) == (0, "hello/workspace\n"), done.stderr
    done = alcove("python", "--root", tmp_path, "-c", "open('/etc/passwd')")
    assert done.returncode == 1 and "outside the workspace" in done.stderr
    done = alcove("node", "--root", tmp_path, "-e", "fs.readFileSync('/etc/passwd')")
    assert done.returncode == 1 and "outside the workspace" in done.stderr


def test_input_streams_and_status_are_the_programs(alcove, tmp_path):
    done = alcove("python", "--root", tmp_path, "-c", "import sys; print(sys.stdin.read().upper()); sys.exit(5)", input="abc")
    assert (done.returncode, done.stdout) == (5, "ABC\n")
    done = alcove("node", "--root", tmp_path, input="console.error('e'); process.exitCode = 6")
    assert (done.returncode, done.stdout, done.stderr) == (6, "", "e\n")


def test_output_comes_as_it_is_written(tmp_path):
    code = "import time; print('first'); time.sleep(30)"
    process = subprocess.Popen(
        [PROGRAM, "python", "--root", str(tmp_path), "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    start = time.monotonic()
    assert process.stdout.readline() == "first\n"
    process.terminate()
    assert process.wait(20) == 130
    assert time.monotonic() - start < 20


def test_a_missing_folder_is_named(alcove, tmp_path):
    done = alcove("node", "--root", tmp_path / "nope", "-e", "1")
    assert done.returncode == 66 and "nope is not a folder" in done.stderr


def test_help_does_not_start_anything(alcove):
    for name in ["python", "node"]:
        done = alcove(name, "--help")
        assert done.returncode == 0 and "--root" in done.stdout and "[ARGUMENTS]" in done.stdout


@pytest.mark.parametrize("network, reached", [((), False), (("--network",), True)])
def test_only_the_switch_opens_the_network_to_python(alcove, tmp_path, range_server, network, reached):
    server = range_server(b"over the wire")
    code = f"import urllib.request; print(urllib.request.urlopen('{server.url}').read().decode())"
    done = alcove("python", "--root", tmp_path, *network, "-c", code)
    assert ("over the wire" in done.stdout) == reached, done.stderr
    if not reached:
        assert 'the switch "Network" is off' in done.stderr


def test_packages_that_came_with_alcove_can_be_imported(alcove, tmp_path):
    code = (
        "import openpyxl, docx, pptx, lxml.etree, PIL.Image\n"
        "book = openpyxl.Workbook(); book.active.append([1, 'two']); book.save('a.xlsx')\n"
        "print([cell.value for cell in openpyxl.load_workbook('a.xlsx').active[1]])\n"
        "PIL.Image.new('RGB', (4, 4), 'red').save('a.png'); print(PIL.Image.open('a.png').size)"
    )
    done = alcove("python", "--root", tmp_path, "-c", code)
    assert (done.returncode, done.stdout) == (0, "[1, 'two']\n(4, 4)\n"), done.stderr
    assert (tmp_path / "a.xlsx").exists() and (tmp_path / "a.png").exists()
    done = alcove("python", "--root", tmp_path, "-c", "import PIL; open(PIL.__file__, 'a')")
    assert "can only be read" in done.stderr


def test_the_time_zone_reaches_programs(tmp_path):
    for words, expected in [
        (["python", "-c", "import time; print(time.ctime(0))"], "Thu Jan  1 01:00:00 1970"),
        (["node", "-p", "new Date(0).getHours()"], "1"),
        (["sh", "-c", "python3 -c 'import time; print(time.ctime(0))'"], "Thu Jan  1 01:00:00 1970"),
        (["sh", "-c", "TZ=Asia/Tokyo node -p 'new Date(0).getHours()'"], "9"),
    ]:
        result = subprocess.run(
            [PROGRAM, words[0], "--root", str(tmp_path), *words[1:]], capture_output=True, text=True, timeout=60,
            env={**os.environ, "TZ": "Europe/Berlin"})
        assert result.stdout.strip() == expected, (words, result)
