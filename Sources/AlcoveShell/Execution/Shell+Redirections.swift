internal import AlcoveCore
internal import AlcoveSandbox

extension Shell {
    /// Opens what a command asks for; false, and said, when something cannot be.
    func redirect(_ redirections: [Redirection]) throws(Flow) -> Bool {
        for redirection in redirections {
            do throws(Flow) { try redirect(redirection) } catch {
                guard case .failed(let what) = error else { throw error }
                try complain(what)
                return false
            }
        }
        return true
    }

    private func redirect(_ redirection: Redirection) throws(Flow) {
        let number = redirection.descriptor
        switch redirection.kind {
        case .read(let word): state.files[number] = try open(try text(word), for: .reading)
        case .write(let word, let clobbers):
            let path = try text(word)
            if state.options.has("C"), !clobbers, let name = String(validating: path, as: UTF8.self),
                (try? here.stat(name))?.kind == .file
            {
                throw .failed("\(shown(path)): there is already such a file, and set -C keeps it")
            }
            state.files[number] = try open(path, for: .truncating)
        case .append(let word): state.files[number] = try open(try text(word), for: .appending)
        case .readWrite(let word): state.files[number] = try open(try text(word), for: .both)
        case .string(let word):
            state.files[number] = OpenFile(source: StoredInput(try text(word) + [10]))
        case .both(let word, let appends):
            let file = try open(try text(word), for: appends ? .appending : .truncating)
            state.files[1] = file
            state.files[2] = file
        case .text(let document):
            let isVerbatim = document.isQuoted
            state.files[number] = OpenFile(source: StoredInput(try text(document.parts, isQuoted: !isVerbatim)))
        case .duplicate(let word, let isInput):
            let target = try text(word)
            if target == [45] {
                state.files[number] = nil
                return
            }
            guard !target.isEmpty, target.allSatisfy(\.isDigit), let other = Int(target.text) else {
                throw .failed("\(shown(target)): a descriptor's number belongs after \(isInput ? "<&" : ">&")")
            }
            guard let file = state.files[other] else { throw .failed("\(other): this descriptor is not open") }
            state.files[number] = file
        }
    }

    enum Access {
        case reading
        case truncating
        case appending
        case both
    }

    /// Opens a path, or one of the devices a script may expect.
    func open(_ path: [UInt8], for access: Access) throws(Flow) -> OpenFile {
        switch path.text {
        case "/dev/null": return OpenFile(source: NullStream(), sink: NullStream())
        case "/dev/zero": return OpenFile(source: ZeroStream(), sink: NullStream())
        case "/dev/stdin", "/dev/fd/0": return try opened(0)
        case "/dev/stdout", "/dev/fd/1": return try opened(1)
        case "/dev/stderr", "/dev/fd/2": return try opened(2)
        default: break
        }
        if path.starts(with: Array("/dev/fd/".utf8)), let number = Int(path.dropFirst(8).map { $0 }.text) {
            return try opened(number)
        }
        let name = try name(path)
        do throws(ConfinementError) {
            switch access {
            case .reading:
                return OpenFile(source: FileStream(try here.openForReading(name), control))
            case .truncating, .appending:
                let file = try here.openForWriting(name, access == .appending ? .append : .truncate)
                return OpenFile(sink: FileStream(file, control))
            case .both:
                let stream = FileStream(try here.openForUpdating(name), control)
                return OpenFile(source: stream, sink: stream)
            }
        } catch { throw .failed(error.sentence) }
    }

    private func opened(_ number: Int) throws(Flow) -> OpenFile {
        guard let file = state.files[number] else { throw .failed("\(number): this descriptor is not open") }
        return file
    }

    /// A path as text. Names that are no UTF-8 cannot be reached.
    func name(_ path: [UInt8]) throws(Flow) -> String {
        guard let name = String(validating: path, as: UTF8.self) else {
            throw .failed("\(shown(path)): a path must be UTF-8")
        }
        return name
    }
}
