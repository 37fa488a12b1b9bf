internal import AlcoveCore
internal import CPosixShim
internal import Synchronization

/// The pipes of the system between a stage and the program it stands for.
final class ScriptPipes: Sendable {
    private let input: Int32
    private let inputReader: Int32
    let output: Int32
    let error: Int32
    /// What becomes 0, 1 and 2 of the program.
    let childSide: [Int32]
    let isWhole: Bool
    private let open: Mutex<Set<Int32>>

    init() {
        var ends = [[Int32]]()
        for _ in 0..<3 {
            var pair: [Int32] = [-1, -1]
            _ = alcove_pipe(&pair)
            ends.append(pair)
        }
        let all = ends.flatMap { $0 }
        isWhole = all.allSatisfy { $0 >= 0 }
        input = ends[0][1]
        output = ends[1][0]
        error = ends[2][0]
        childSide = [ends[0][0], ends[1][1], ends[2][1]]
        // Ours to the end: what is left in the pipe then was not read.
        inputReader = fcntl(ends[0][0], F_DUPFD_CLOEXEC, 3)
        for descriptor in [input, output, error] {
            _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        }
        open = Mutex(Set((all + [inputReader]).filter { $0 >= 0 }))
    }

    deinit { open.withLock { for descriptor in $0 { AlcoveCore.close(descriptor) } } }

    private func close(_ descriptor: Int32) {
        open.withLock { if $0.remove(descriptor) != nil { AlcoveCore.close(descriptor) } }
    }

    func closeChildSide() { for descriptor in childSide { close(descriptor) } }

    func closeInput() { close(input) }

    func read(_ descriptor: Int32) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 1 << 16) { buffer, count in
            count = max(0, AlcoveCore.read(descriptor, buffer.baseAddress, 1 << 16))
        }
    }

    /// Puts in what fits, and waits a moment when nothing does.
    func offer(_ bytes: [UInt8]) -> Int {
        var wish = pollfd(fd: input, events: Int16(POLLOUT), revents: 0)
        guard poll(&wish, 1, 20) > 0 else { return 0 }
        return max(0, bytes.withUnsafeBytes { alcove_write_quietly(input, $0.baseAddress, min($0.count, 1 << 16)) })
    }

    /// What is still in the pipe when the program has ended.
    func takeUnread() -> [UInt8] {
        closeInput()
        var all: [UInt8] = []
        while true {
            let piece = read(inputReader)
            if piece.isEmpty { return all }
            all += piece
        }
    }
}
