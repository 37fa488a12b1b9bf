"""alcove sh: the real program, a real folder."""

import gzip
import io
import os
import tarfile
import zipfile

import pytest


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


def hostile_archives(folder):
    """Archives whose names and links lead out, in the ways that unpackers have fallen for."""
    with tarfile.open(folder / "evil.tar", "w") as archive:
        for name in ["../above", "/tmp/alcove-above", "a/../../above", "./../above"]:
            entry = tarfile.TarInfo(name)
            entry.size = 4
            archive.addfile(entry, io.BytesIO(b"evil"))
        for name, target in [("out", str(folder.parent / "outside")), ("up", "../outside"), ("self", ".")]:
            link = tarfile.TarInfo(name)
            link.type, link.linkname = tarfile.SYMTYPE, target
            archive.addfile(link)
        for name in ["out/through", "up/through", "self/kept"]:
            entry = tarfile.TarInfo(name)
            entry.size = 4
            archive.addfile(entry, io.BytesIO(b"evil"))
        hard = tarfile.TarInfo("hard")
        hard.type, hard.linkname = tarfile.LNKTYPE, "../outside/secret"
        archive.addfile(hard)
        device = tarfile.TarInfo("device")
        device.type = tarfile.CHRTYPE
        archive.addfile(device)
    with zipfile.ZipFile(folder / "evil.zip", "w") as archive:
        for name in ["../above", "/tmp/alcove-above", "a/../../above", "fine/inside"]:
            archive.writestr(zipfile.ZipInfo(name), "evil")
        link = zipfile.ZipInfo("zipout")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, str(folder.parent / "outside"))
        archive.writestr(zipfile.ZipInfo("zipout/through"), "evil")


@pytest.mark.parametrize("command", ["tar xf evil.tar", "unzip evil.zip", "tar xf evil.tar; tar xf evil.tar", "unzip evil.zip; unzip evil.zip"])
def test_archives_write_nothing_outside(alcove, tmp_path, command):
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir()
    outside.mkdir()
    (outside / "secret").write_text("secret")
    hostile_archives(inside)

    done = alcove("sh", "--root", str(inside), "-c", command + "; cat hard out/secret up/secret")

    assert sorted(path.name for path in outside.iterdir()) == ["secret"] and (outside / "secret").read_text() == "secret"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["inside", "outside"]
    assert not os.path.exists("/tmp/alcove-above")
    assert "secret" not in done.stdout and "lead out" in done.stderr
    if "unzip" in command:
        assert (inside / "fine" / "inside").read_text() == "evil"


def test_damaged_archives_end_with_a_sentence(alcove, tmp_path):
    (tmp_path / "a.txt").write_text("some words\n" * 500)
    made = alcove("sh", "--root", str(tmp_path), "-c", "tar cf a.tar a.txt; gzip -k a.txt; zip -q a.zip a.txt; tar czf a.tgz a.txt")
    assert made.returncode == 0, made.stderr
    for name, command in [("a.tar", "tar tf"), ("a.txt.gz", "zcat"), ("a.zip", "unzip -p"), ("a.tgz", "tar xzOf")]:
        data = (tmp_path / name).read_bytes()
        for place in range(0, len(data), max(1, len(data) // 12)):
            for broken in [data[:place], data[:place] + bytes([data[place] ^ 0x55]) + data[place + 1:]]:
                (tmp_path / "broken").write_bytes(broken)
                done = alcove("sh", "--root", str(tmp_path), "-c", f"{command} broken > /dev/null; echo $?")
                assert done.returncode == 0 and done.stdout.strip().isdigit(), (name, place, done)


def test_python_reads_what_is_packed_and_the_other_way(alcove, tmp_path):
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "a.txt").write_bytes(os.urandom(70_000))
    (tmp_path / "d" / ("n" * 150)).write_text("long name")
    done = alcove("sh", "--root", str(tmp_path), "-c", "tar czf d.tgz d && zip -qr d.zip d && gzip -kc d/a.txt > a.gz")
    assert done.returncode == 0, done.stderr
    with tarfile.open(tmp_path / "d.tgz") as archive:
        assert archive.extractfile("d/a.txt").read() == (tmp_path / "d" / "a.txt").read_bytes()
        assert "d/" + "n" * 150 in archive.getnames()
    with zipfile.ZipFile(tmp_path / "d.zip") as archive:
        assert archive.testzip() is None and archive.read("d/a.txt") == (tmp_path / "d" / "a.txt").read_bytes()
    assert gzip.decompress((tmp_path / "a.gz").read_bytes()) == (tmp_path / "d" / "a.txt").read_bytes()
    with tarfile.open(tmp_path / "p.tar", "w", format=tarfile.PAX_FORMAT) as archive:
        archive.add(tmp_path / "d", "e")
    with zipfile.ZipFile(tmp_path / "p.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(tmp_path / "d" / "a.txt", "z/a.txt")
    done = alcove("sh", "--root", str(tmp_path), "-c", "tar xf p.tar && unzip -q p.zip && cmp d/a.txt e/a.txt && cmp d/a.txt z/a.txt && ls e")
    assert done.returncode == 0 and "n" * 150 in done.stdout, done.stderr
