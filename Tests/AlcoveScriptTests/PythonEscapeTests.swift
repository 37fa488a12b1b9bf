import AlcoveSandbox
import Foundation
import Testing

/// Nothing outside the folder is read, made, changed or reached by a Python program: in this process as far as the
/// interpreter announces what it does, in the sandbox whatever it does.
@Suite(.serialized) struct PythonEscapeTests {
    /// Tried in both ways.
    static let attempts = [
        "open('OUT/secret').read()", "open('../NAME/secret').read()", "open('link/secret').read()",
        "open('filelink').read()",
        "open('/etc/passwd').read()", "open(b'OUT/secret').read()", "__import__('io').open('OUT/secret').read()",
        "__import__('pathlib').Path('OUT/secret').read_text()", "os.read(os.open('OUT/secret', 0), 99)",
        "os.read(os.open('secret', 0, dir_fd=os.open('OUT', 0)), 99)",
        "open('OUT/made', 'w').write('bad')", "open('filelink', 'w').write('bad')",
        "open('link/made', 'a').write('bad')", "os.mkdir('OUT/made')",
        "os.makedirs('link/made')", "os.remove('OUT/secret')", "os.rmdir('link/empty')",
        "os.rename('OUT/secret', 'mine')", "os.rename('x.txt', 'OUT/made')",
        "os.replace('x.txt', 'link/made')", "os.link('OUT/secret', 'h'), open('h').read()",
        "os.symlink('OUT/secret', 's'), open('s').read()",
        "os.symlink('../NAME', 's'), open('s/secret').read()", "os.chmod('OUT/secret', 0o777)",
        "os.truncate('OUT/secret', 0)", "os.utime('OUT/secret', (1, 1))",
        "os.listdir('OUT')", "list(os.scandir('link'))[0].name", "os.chdir('OUT'), open('secret').read()",
        "os.chdir('..'), open('NAME/secret').read()",
        "__import__('shutil').copy('OUT/secret', 'mine'), open('mine').read()",
        "__import__('shutil').copytree('OUT', 'mine'), open('mine/secret').read()",
        "__import__('shutil').rmtree('OUT')", "__import__('sqlite3').connect('OUT/made').execute('create table t (a)')",
        "__import__('zipfile').ZipFile('OUT/made', 'w')",
        "__import__('tarfile').open('OUT/made', 'w')", "__import__('fileinput').input('OUT/secret').readline()",
        "__import__('linecache').getline('OUT/secret', 1)",
        "exec(open('OUT/stolen.py').read())", "__import__('runpy').run_path('OUT/stolen.py')",
        "sys.path.insert(0, 'OUT'), __import__('stolen')",
        "__import__('importlib.util').util.spec_from_file_location('s', 'OUT/stolen.py').loader.load_module()",
        "os.system('cat OUT/secret')",
        "os.popen('cat OUT/secret').read()",
        "__import__('subprocess').run(['cat', 'OUT/secret'], capture_output=True).stdout",
        "os.execv('/bin/cat', ['cat', 'OUT/secret'])",
        "os.posix_spawn('/bin/cat', ['cat', 'OUT/secret'], {})", "os.spawnv(0, '/bin/cat', ['cat', 'OUT/secret'])",
        "os.fork()", "__import__('pty').spawn('/bin/sh')",
        "__import__('ctypes').CDLL('libc.so.6').system(b'cat OUT/secret')",
        "__import__('ctypes').CDLL(None).system(b'cat OUT/secret')",
        "__import__('multiprocessing').Process(target=print).start()",
        "__import__('socket').create_connection(('127.0.0.1', 80), 1)", "__import__('socket').socket()",
        "__import__('urllib.request').request.urlopen('http://127.0.0.1/')",
        "__import__('urllib.request').request.urlopen('file://OUT/secret').read()",
        "__import__('http.client').client.HTTPConnection('127.0.0.1').request('GET', '/')",
        "__import__('asyncio').run(__import__('asyncio').open_connection('127.0.0.1', 80))",
        "os.kill(1, 9)", "__import__('mmap').mmap(os.open('filelink', os.O_RDWR), 0)[:]",
        "[c for c in ().__class__.__base__.__subclasses__() if c.__name__ == 'FileLoader'][0]('x', 'OUT/secret').get_data('OUT/secret')",
        "type('P', (), {'__fspath__': lambda self: 'OUT/secret'})() and open(type('P', (), {'__fspath__': lambda self: 'OUT/secret'})()).read()",
        "__import__('_io').FileIO('OUT/secret').read()", "__import__('posix').open('OUT/secret', 0)",
    ]

    /// What the interpreter says nothing of: only the sandbox is in the way.
    static let silent = [
        "os.path.exists('OUT/secret') and 'secret-there'", "os.stat('OUT/secret') and 'secret-there'",
        "os.access('OUT/secret', 4) and 'secret-there'",
        "os.mkfifo('OUT/made')", "os.mknod('OUT/made')", "os.path.getsize('link/secret') and 'secret-there'",
        "__import__('_posixsubprocess').fork_exec([b'/bin/sh', b'-c', b'echo > OUT/made'], [b'/bin/sh'], True, (), None, None, -1, -1, -1, -1, -1, -1, -1, -1, False, False, 0, None, None, None, -1, None, False)",
        "__import__('sqlite3').connect(':memory:').execute(\"attach 'OUT/made' as x\").execute('create table x.t (a)')",
        "sys.addaudithook(lambda *a: None) or open('OUT/secret').read()",
        "__import__('gc').collect() or open('/proc/1/root/etc/passwd').read()",
        "os.open('/proc/1/mem', os.O_RDWR)", "os.setuid(0)", "os.chroot('/')",
        "__import__('resource').setrlimit(__import__('resource').RLIMIT_NPROC, (9999, 9999))",
        "os.killpg(0, 0) and 0", "os.getpriority(os.PRIO_PROCESS, 1) and 0",
    ]

    struct Case: Sendable, CustomTestStringConvertible {
        let way: ScriptTrial.Way
        let attempt: String
        var testDescription: String { "\(attempt), \(way.rawValue)" }
    }

    static let cases =
        SandboxHere.ways.flatMap { way in attempts.map { Case(way: way, attempt: $0) } }
        + (SandboxHere.isPossible ? silent.map { Case(way: .sandbox, attempt: $0) } : [])

    @Test(arguments: cases) func nothingOutsideIsReached(_ given: Case) throws {
        let place = try HostilePlace()
        let code = """
            import os, sys
            open('x.txt', 'w').close()
            try: print(eval(\(place.quoted(given.attempt))))
            except BaseException as error: print(type(error).__name__)
            """

        let run = try ScriptTrial.run(given.way, .python, ["-c", code], in: place.inside.path, seconds: 20)

        try place.check(run.output, given.attempt)
        #expect(run.status == 0, "\(given.attempt): \(run)")
    }

    @Test(.enabled(if: SandboxHere.isPossible)) func oneThatLooksForCapabilitiesFindsNone() throws {
        let folder = ScratchFolder()
        let code = """
            import os
            fields = dict(line.split(':', 1) for line in os.popen.__globals__['__builtins__']['open']('/proc/self/status'))
            """
        let run = try ScriptTrial.run(.sandbox, .python, ["-c", code], in: folder.path)
        #expect(run.error.contains("/proc/self/status is outside the workspace"))
    }
}
