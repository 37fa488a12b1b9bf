internal import AlcoveCore
#if canImport(JavaScriptCore)
internal import JavaScriptCore
#else
internal import CJavaScriptCore
#endif

/// Standard input, output and error of a program: three descriptors that belong to somebody else.
final class JavaScriptStreams {
    private let descriptors: [Int32]

    init(_ descriptors: [Int32]) { self.descriptors = descriptors }

    /// Writes everything, waiting where it must.
    ///
    /// - Returns: false when nobody reads any more.
    func write(_ number: Int, _ bytes: [UInt8]) -> Bool {
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes {
                AlcoveCore.write(descriptors[number], $0.baseAddress! + done, $0.count - done)
            }
            if count < 0 {
                if errno == EINTR { continue }
                guard errno == EAGAIN else { return false }
                var wish = pollfd(fd: descriptors[number], events: Int16(POLLOUT), revents: 0)
                _ = poll(&wish, 1, 1000)
                continue
            }
            done += count
        }
        return true
    }

    /// Waits for bytes; empty at the end.
    func read(_ most: Int) -> [UInt8] {
        while true {
            var code: Int32 = 0
            let wanted = max(1, min(most, 1 << 18))
            let bytes = [UInt8](unsafeUninitializedCapacity: wanted) { buffer, count in
                let got = AlcoveCore.read(descriptors[0], buffer.baseAddress, wanted)
                code = got < 0 ? errno : 0
                count = max(0, got)
            }
            if code == EINTR { continue }
            if code == EAGAIN {
                _ = canRead(1000)
                continue
            }
            return bytes
        }
    }

    func readAll() -> [UInt8] {
        var all: [UInt8] = []
        while true {
            let piece = read(1 << 18)
            if piece.isEmpty { return all }
            all += piece
        }
    }

    private func canRead(_ milliseconds: Int32) -> Bool {
        var wish = pollfd(fd: descriptors[0], events: Int16(POLLIN), revents: 0)
        return poll(&wish, 1, milliseconds) > 0
    }

    func members(_ machine: JavaScriptMachine) -> [(String, JSValueRef?)] {
        [
            (
                "write",
                machine.function { [self] machine, given in
                    let number = machine.count(given[0], fallback: 1) == 2 ? 2 : 1
                    guard write(number, machine.bytes(given[1])) else {
                        throw JavaScriptMachine.Fault(
                            message: "EPIPE: broken pipe, write",
                            properties: [("code", "EPIPE"), ("syscall", "write")],
                            number: -32)
                    }
                    return nil
                }
            ),
            ("read", machine.function { [self] machine, given in machine.make(read(machine.count(given[0]))) }),
            (
                "poll",
                machine.function { [self] machine, given in
                    machine.make(canRead(Int32(min(machine.count(given[0]), 60_000))))
                }
            ),
            (
                "isTerminal",
                machine.function { [self] machine, given in
                    machine.make(isatty(descriptors[min(machine.count(given[0]), 2)]) == 1)
                }
            ),
        ]
    }
}
