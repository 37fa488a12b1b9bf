"""alcove sh: the real program, a real folder."""


def test_a_script_sees_its_folder_and_nothing_else(alcove, tmp_path):
    (tmp_path / "a.txt").write_text("b\na\n")
    done = alcove("sh", "--root", str(tmp_path), "-c", 'sort a.txt | tr a-z A-Z; pwd; echo "$0 $1"; exit 3', "name", "arg")
    assert (done.returncode, done.stdout) == (3, "A\nB\n/workspace\nname arg\n")
    done = alcove("sh", "--root", str(tmp_path), "-c", "cat /etc/passwd")
    assert done.returncode == 1 and done.stdout == "" and "outside the workspace" in done.stderr


def test_a_file_and_its_arguments(alcove, tmp_path):
    (tmp_path / "s.sh").write_text('echo "$# $2"\n')
    done = alcove("sh", "--root", str(tmp_path), "s.sh", "a", "b c")
    assert (done.returncode, done.stdout) == (0, "2 b c\n")
