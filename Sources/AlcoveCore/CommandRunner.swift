/// Runs shell scripts for the agent: a confined process here, an interpreter in this process on a phone.
public protocol CommandRunner: Sendable {
    /// Runs a script to its end.
    ///
    /// - Parameter output: Called with what the script writes, as it comes, in order; from any one thread at a time.
    /// - Throws: when nothing could be run at all: the confinement cannot be had, a limit makes no sense.
    func run(
        _ request: CommandRequest, output: @escaping @Sendable (CommandOutput) -> Void
    ) async throws -> CommandResult
}

/// A script and what it may do.
public struct CommandRequest: Sendable {
    /// Shell source.
    public var script: String
    /// The folder it may write, and where it begins. Absolute.
    public var workspace: String
    /// Variables beside those the runner sets itself.
    public var environment: [String: String]
    public var input: [UInt8]
    public var limits: CommandLimits
    public var allowsNetwork: Bool
    public var stop: StopSignal

    public init(
        script: String, workspace: String, environment: [String: String] = [:], input: [UInt8] = [],
        limits: CommandLimits = CommandLimits(), allowsNetwork: Bool = false, stop: StopSignal = StopSignal()
    ) {
        self.script = script
        self.workspace = workspace
        self.environment = environment
        self.input = input
        self.limits = limits
        self.allowsNetwork = allowsNetwork
        self.stop = stop
    }
}

/// What a script may use.
public struct CommandLimits: Sendable, Hashable {
    /// Wall-clock time from start to end, in seconds.
    public var seconds = 120.0
    /// Bytes of output that are kept and passed on; more is counted and dropped.
    public var outputBytes = 1 << 20
    /// Address space of each process, in bytes.
    public var memoryBytes: UInt64 = 4 << 30
    /// Largest file it may write, in bytes.
    public var fileBytes: UInt64 = 1 << 30
    public var processes = 256

    public init() {}
}

public enum CommandOutput: Sendable, Hashable {
    case standardOutput([UInt8])
    case standardError([UInt8])
}

/// How a script ended.
public struct CommandResult: Sendable, Hashable {
    public enum End: Sendable, Hashable {
        case exited(Int32)
        case signalled(Int32)
        case timedOut
        case stopped
    }

    public var end: End
    public var seconds: Double
    /// Bytes it wrote in all, the dropped ones included.
    public var outputBytes: Int

    public init(end: End, seconds: Double, outputBytes: Int) {
        self.end = end
        self.seconds = seconds
        self.outputBytes = outputBytes
    }
}
