internal import AlcoveCore
internal import Synchronization
internal import llama

/// llama.cpp as a whole: started once, its log ours.
public enum LlamaLibrary {
    /// How much a line of the library's log matters.
    public enum LogLevel: Int, Sendable, Comparable {
        case debug, info, warning, error
        public static func < (a: LogLevel, b: LogLevel) -> Bool { a.rawValue < b.rawValue }
    }

    /// Where the log's lines go; errors are also remembered for the sentence of a failed call.
    public static func setLog(_ sink: @escaping @Sendable (LogLevel, String) -> Void) {
        start()
        state.withLock { $0.sink = sink }
    }

    /// As `setLog`, without starting the library now: that costs time a program without a model does not have.
    public static func setLogLater(_ sink: @escaping @Sendable (LogLevel, String) -> Void) {
        state.withLock { $0.sink = sink }
    }

    /// Starts the library; safe to call often.
    public static func start() { _ = started }

    /// What the library was built for, like `AVX512 = 1 | ...`.
    public static var systemDescription: String {
        start()
        return String(cString: llama_print_system_info())
    }

    /// Which build of the library this is: states written by another are not read.
    static var build: String {
        // The last number counts what `Native/llama/mend.py` changes of how numbers are computed.
        "\(String(cString: ggml_version())) \(String(cString: ggml_commit())) \(systemDescription) 1"
    }

    private struct State {
        var sink: @Sendable (LogLevel, String) -> Void = { _, _ in }
        var line = ""
        var level = LogLevel.info
        var lastError: String?
    }

    private static let state = Mutex(State())

    private static let started: Void = {
        // On an assertion ggml would run a debugger on this process to print a trace.
        setenv("GGML_NO_BACKTRACE", "1", 1)
        llama_log_set({ level, text, _ in LlamaLibrary.log(level, text) }, nil)
        mtmd_helper_log_set({ level, text, _ in LlamaLibrary.log(level, text) }, nil)
        llama_backend_init()
    }()

    /// Frees what the library holds for all models and makes it anew; no model may be loaded meanwhile. What a backend holds
    /// for one model goes with that model.
    public static func rebuild() {
        _ = started
        llama_backend_free()
        llama_backend_init()
    }

    /// The library writes pieces of lines; `CONT` goes on with the last one.
    private static func log(_ level: ggml_log_level, _ text: UnsafePointer<CChar>?) {
        guard let text else { return }
        let piece = String(cString: text)
        let (sink, done): (@Sendable (LogLevel, String) -> Void, [(LogLevel, String)]) = state.withLock { state in
            switch level {
            case GGML_LOG_LEVEL_ERROR: state.level = .error
            case GGML_LOG_LEVEL_WARN: state.level = .warning
            case GGML_LOG_LEVEL_DEBUG: state.level = .debug
            case GGML_LOG_LEVEL_CONT: break
            default: state.level = .info
            }
            state.line += piece
            var done: [(LogLevel, String)] = []
            while let end = state.line.firstIndex(of: "\n") {
                let line = String(state.line[..<end])
                state.line = String(state.line[state.line.index(after: end)...])
                if line.isEmpty { continue }
                if state.level == .error { state.lastError = LlamaLibrary.moreTelling(state.lastError, line) }
                done.append((state.level, line))
            }
            return (state.sink, done)
        }
        for (level, line) in done { sink(level, line) }
    }

    /// The library says why a load failed, and then once more that it did: the reason is what a person can use.
    static func moreTelling(_ before: String?, _ line: String) -> String {
        if let before, line.hasSuffix("failed to load model") || line.contains("Failed to load CLIP model") {
            return before
        }
        return line
    }

    /// The last error the library logged since this was last asked, without its function's name.
    static func takeLastError() -> String? {
        let line = state.withLock { state -> String? in
            defer { state.lastError = nil }
            return state.lastError
        }
        guard var text = line else { return nil }
        if let colon = text.firstIndex(of: ":"), !text[..<colon].contains(" ") {
            text = String(text[text.index(after: colon)...].drop { $0 == " " })
        }
        let repeated = "error loading model: "
        if text.hasPrefix(repeated) { text.removeFirst(repeated.count) }
        while text.last == "." || text.last == "\n" { text.removeLast() }
        return text.isEmpty ? nil : text
    }
}
