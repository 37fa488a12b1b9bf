"""Runs one program as python3 would, in an interpreter that was started before and may run others afterwards."""

import atexit
import codecs
import encodings.idna
import encodings.latin_1
import encodings.utf_8_sig
import gc
import io
import json
import linecache
import os
import re
import runpy
import signal
import sys
import tempfile
import threading
import time
import traceback
import types

USAGE = """python3 [-c CODE | -m MODULE | FILE | -] [ARGUMENTS]
Python runs within Alcove: files of the workspace, no other programs, and no network unless it has been switched on."""
KNOWN = set(sys.modules)


def make_streams(streams):
    """Standard input, output and error on these descriptors, as python3 makes them; lines leave at once."""
    out = []
    for number, descriptor in enumerate(streams):
        raw = io.FileIO(descriptor, "rb" if number == 0 else "wb", closefd=False)
        raw.name = ("<stdin>", "<stdout>", "<stderr>")[number]
        buffer = io.BufferedReader(raw) if number == 0 else io.BufferedWriter(raw)
        errors = "backslashreplace" if number == 2 else "surrogateescape"
        text = io.TextIOWrapper(buffer, encoding="utf-8", errors=errors, line_buffering=number > 0)
        text.mode = "r" if number == 0 else "w"
        out.append(text)
    sys.stdin, sys.stdout, sys.stderr = out
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = out


def own_temporary_folder():
    """Temporary files lie in the workspace; the folder is made when it is first wanted."""

    def folder():
        if tempfile.tempdir is None:
            place = os.path.join(os.environ.get("HOME") or os.getcwd(), ".tmp")
            os.makedirs(place, exist_ok=True)
            tempfile.tempdir = place
        return tempfile.tempdir

    tempfile._gettempdir = folder
    tempfile._get_default_tempdir = folder


class Words:
    """What stands after python3."""

    def __init__(self, words):
        self.kind, self.what, self.rest, self.said, self.optimize = "input", "-", [], None, -1
        words = list(words)
        while words and words[0].startswith("-") and words[0] != "-":
            word = words.pop(0)
            if word in ("-V", "--version"):
                self.said = (0, "Python " + sys.version.split()[0])
                return
            if word in ("-h", "--help", "-?"):
                self.said = (0, USAGE)
                return
            if word in ("-W", "-X", "--check-hash-based-pycs") and words:
                words.pop(0)
                continue
            if word.startswith(("-W", "-X")):
                continue
            letters = word[1:]
            while letters:
                letter, letters = letters[0], letters[1:]
                if letter in "cm":
                    if not letters and not words:
                        self.said = (2, f"Argument expected for the -{letter} option\n{USAGE}")
                        return
                    self.kind = "code" if letter == "c" else "module"
                    self.what = letters or words.pop(0)
                    self.rest = ["-c" if letter == "c" else "-m"] + words
                    return
                if letter not in "uBEIsSqvdbxOP":
                    self.said = (2, f"unknown option -{letter}\n{USAGE}")
                    return
        if words and words[0] != "-":
            self.kind, self.what = "file", words[0]
        self.rest = words or [""]


def skip_own_frames(trace):
    while trace is not None and trace.tb_frame.f_code.co_filename == "<alcove>":
        trace = trace.tb_next
    return trace


def show(error):
    """A fault nobody caught, as python3 shows it."""
    error.__traceback__ = skip_own_frames(error.__traceback__)
    try:
        sys.excepthook(type(error), error, error.__traceback__)
    except BaseException as other:
        traceback.print_exception(other)
        traceback.print_exception(error)


def status_of(leaving):
    if leaving.code is None:
        return 0
    if isinstance(leaving.code, int):
        return leaving.code & 0xFF
    print(leaving.code, file=sys.stderr)
    return 1


def run_program(words, main):
    sys.argv = list(words.rest)
    names = main.__dict__
    if words.kind == "code":
        sys.path.insert(0, "")
        exec(compile(words.what + "\n", "<string>", "exec"), names)
    elif words.kind == "input":
        sys.path.insert(0, "")
        exec(compile(sys.stdin.buffer.read(), "<stdin>", "exec"), names)
    elif words.kind == "module":
        sys.path.insert(0, os.getcwd())
        runpy._run_module_as_main(words.what)
    elif os.path.isdir(words.what) or words.what.endswith((".zip", ".pyz")):
        sys.path.insert(0, words.what)
        runpy._run_module_as_main("__main__", False)
    else:
        try:
            with open(words.what, "rb") as file:
                source = file.read()
        except OSError as error:
            reason = f"[Errno {error.errno}] {error.strerror}"
            print(f"python3: can't open file {os.path.abspath(words.what)!r}: {reason}", file=sys.stderr)
            return 2
        path = os.path.abspath(words.what)
        names["__file__"] = path
        sys.path.insert(0, os.path.dirname(os.path.realpath(path)))
        exec(compile(source, path, "exec"), names)
    return 0


def wait_for_threads(is_alone):
    if is_alone:
        return threading._shutdown()
    # That can be done once; here other programs follow.
    while True:
        others = [one for one in threading.enumerate() if one is not threading.current_thread() and not one.daemon]
        if not others:
            return
        others[0].join()


def finish(status, is_alone):
    """What python3 does at its end: it waits for threads, calls what was registered, writes what is held back."""
    try:
        wait_for_threads(is_alone)
    except BaseException as error:
        show(error)
        status = 130 if isinstance(error, KeyboardInterrupt) else status
    try:
        atexit._run_exitfuncs()
    except BaseException:
        pass
    try:
        if not sys.stdout.closed:
            sys.stdout.flush()
    except (OSError, ValueError) as error:
        if not isinstance(error, BrokenPipeError):
            print(f"Exception ignored in: <stdout>\n{type(error).__name__}: {error}", file=sys.stderr)
        status = status or 120
    try:
        sys.stderr.flush()
    except (OSError, ValueError):
        pass
    return status


def own_signals():
    """Where programs follow one another, each can be asked to end, and the last one's end is not this one's."""
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    except KeyboardInterrupt:
        pass

    def leave(status):
        raise SystemExit(status)

    os._exit = leave
    os.abort = lambda: leave(134)


def run(text):
    """Runs what the host asks for: arguments, folder, environment, streams. Its exit status."""
    wish = json.loads(text)
    if not wish["isAlone"]:
        own_signals()
    make_streams(wish["streams"])
    os.environ.clear()
    os.environ.update(wish["environment"])
    time.tzset()
    os.chdir(wish["folder"])
    tempfile.tempdir = None
    path, modules = list(sys.path), dict(sys.modules)
    words = Words(wish["arguments"])
    if words.said:
        print(words.said[1], file=sys.stderr if words.said[0] else sys.stdout)
        return finish(words.said[0], wish["isAlone"])
    main = types.ModuleType("__main__")
    main.__builtins__ = __builtins__
    main.__annotations__ = {}
    sys.modules["__main__"] = main
    try:
        status = run_program(words, main)
    except SystemExit as leaving:
        status = status_of(leaving)
    except KeyboardInterrupt as error:
        show(error)
        status = 130
    except BaseException as error:
        show(error)
        status = 1
    status = finish(status, wish["isAlone"])
    if not wish["isAlone"]:
        # The next program begins with what this one found.
        for name in set(sys.modules) - set(modules):
            place = getattr(sys.modules[name], "__file__", None) or ""
            if place.startswith(wish["workspace"]) or name == "__main__":
                del sys.modules[name]
        sys.path[:] = path
        linecache.clearcache()
        gc.collect()
    return status


own_temporary_folder()
