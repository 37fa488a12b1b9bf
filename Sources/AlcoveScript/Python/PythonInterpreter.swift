internal import AlcoveCore
internal import CPython
internal import CScriptModules
internal import Synchronization

/// The interpreter of Python in this process. There is one; it is started once and never ended, because numpy and its like
/// cannot be loaded twice.
///
/// It belongs to the thread that starts it: every other call comes from there, too.
package enum PythonInterpreter {
    private static let isStarted = Mutex(false)

    /// Where Python's own library is: its prefix, as `sys.prefix` has it.
    package static let prefix = "/usr"

    static var library: String { "\(prefix)/lib/python\(PY_MAJOR_VERSION).\(PY_MINOR_VERSION)" }

    /// Starts it, unless it runs already. Some 60 ms.
    ///
    /// - Parameter packages: Folders of packages that programs may import besides.
    /// - Returns: false when it cannot be started, for which only a broken installation is known as a reason.
    package static func start(packages: [String] = []) -> Bool {
        isStarted.withLock { isStarted in
            if isStarted { return true }
            let paths = [library, library + "/lib-dynload"] + packages
            let words: [UnsafeMutablePointer<CChar>?] = paths.map { strdup($0) }
            defer { for word in words { free(word) } }
            let list: [UnsafePointer<CChar>?] = words.map { UnsafePointer($0) } + [nil]
            let code = alcove_py_start(list, prefix, { name, arguments, _ in PythonPolicy.hook(name, arguments) })
            guard code == 0, let source = runner, alcove_py_add_module("_alcove", source) == 0 else { return false }
            isStarted = true
            return true
        }
    }

    /// Makes a copy of the process, which must have this one thread: 0 in the copy, -1 when there can be none.
    package static func fork(_ body: () -> Int32) -> Int32 {
        PyOS_BeforeFork()
        let process = body()
        if process == 0 { PyOS_AfterFork_Child() } else { PyOS_AfterFork_Parent() }
        return process
    }

    private static var runner: String? {
        var count = 0
        guard let bytes = alcove_script_module("run.py", &count) else { return nil }
        return String(decoding: UnsafeRawBufferPointer(start: bytes, count: count), as: UTF8.self)
    }
}
