#if os(Linux)
import AlcoveCore
import TestFolder
import Testing

@testable import AlcoveSandbox

extension OneAtATime {
    /// The decoder with readers that do their worst, in the place of ours: what a hijacked one could do.
    struct ConfinedMediaDecoderTests {
        let folder: TemporaryFolder

        init() throws { folder = try TemporaryFolder(in: "/var/tmp") }

        private func look(_ python: String) async throws -> DocumentText {
            let reader = try folder.file("reader.py", python)
            let file = try folder.file("input.pdf", "the file")
            try folder.file("secret.txt", "nobody's business")
            let packages = folder.path + "/packages"
            mkdir(packages, 0o755)
            return try await ConfinedMediaDecoder(reader: reader, packages: packages)
                .text(of: MediaFile(path: file, kind: "pdf"), limit: 1_000)
        }

        private func answer(_ text: String) -> String {
            """
            import json, os, socket, sys
            words = \(text)
            words = words.encode()
            sys.stdout.buffer.write(json.dumps({"complete": True, "blobs": [len(words)]}).encode() + b"\\n" + words)
            """
        }

        @Test func itSeesTheOneFileAndNothingElse() async throws {
            #expect(try await look(answer("open('/run/file').read()")).text == "the file")
            let seen = try await look(
                answer("' '.join(sorted(os.listdir('/workspace') + os.listdir('/run') + os.listdir('/')))"))
            #expect(!seen.text.contains("secret") && !seen.text.contains("home") && !seen.text.contains("root"))
            #expect(try await look(answer("str(os.path.exists('\(folder.path)/secret.txt'))")).text == "False")
        }

        @Test func itWritesNothingAndReachesNobody() async throws {
            let tries = [
                "os.write(os.open('/workspace/x', os.O_CREAT | os.O_WRONLY), b'x')",
                "os.write(os.open('/tmp/x', os.O_CREAT | os.O_WRONLY), b'x')",
                "open('/run/file', 'w')", "socket.create_connection(('127.0.0.1', 1), 1)", "socket.socket()",
            ]
            for attempt in tries {
                await #expect(throws: MediaError.self, "\(attempt)") {
                    _ = try await look(answer("(lambda: (\(attempt), 'done')[1])()"))
                }
            }
            #expect(folder.text("input.pdf") == "the file")
        }

        @Test func whatItAnswersIsBounded() async throws {
            let answers: [(String, String)] = [
                ("import sys; sys.stdout.write('x' * 10_000_000)", "file_needs_too_much"),
                ("print('not JSON')", "file_unreadable"), ("print('[]')", "file_unreadable"),
                ("pass", "file_unreadable"),
                ("print('{\"blobs\": [5]}')", "file_unreadable"), ("print('{\"blobs\": []}')", "file_unreadable"),
                ("raise SystemExit(3)", "file_unreadable"), ("import os; os.abort()", "file_unreadable"),
                ("x = bytearray(8 << 30)", "file_unreadable"),
                ("print('{\"error\": \"protected\"}')", "file_protected"),
                ("print('{\"error\": \"missing\", \"detail\": \"x\\\\ny\"}')", "decoder_unavailable"),
            ]
            for (python, code) in answers {
                do {
                    _ = try await look(python)
                    Issue.record("\(python) was taken")
                } catch let error as MediaError {
                    #expect(error.code == code, "\(python)")
                    #expect(!error.message.contains("\n"))
                }
            }
        }

        @Test func aPictureMustBeginLikeOne() async throws {
            let html = "{\"width\": 1, \"height\": 1, \"format\": \"png\", \"blobs\": [6]}\\n<html>"
            let reader = try folder.file("reader.py", "import sys; sys.stdout.write('\(html)')")
            let file = try folder.file("input.png", "x")
            mkdir(folder.path + "/packages", 0o755)
            let decoder = ConfinedMediaDecoder(reader: reader, packages: folder.path + "/packages")
            await #expect(throws: MediaError.unreadable(.notRead)) {
                _ = try await decoder.picture(of: MediaFile(path: file, kind: "png"), area: 100, format: .png)
            }
        }

        @Test func aTaskThatIsCancelledEndsIt() async throws {
            let task = Task { try await look("import time\nwhile True: time.sleep(1)") }
            task.cancel()
            await #expect(throws: CancellationError.self) { _ = try await task.value }
        }
    }
}
#endif
