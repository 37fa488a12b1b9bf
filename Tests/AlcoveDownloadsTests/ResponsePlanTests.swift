import AlcoveCore
import Testing

@testable import AlcoveDownloads

struct ResponsePlanTests {
    private func plan(
        _ status: Int, _ fields: [(String, String)] = [], position: UInt64 = 0, expected: UInt64? = nil,
        isRedirected: Bool = false
    ) throws -> ResponsePlan {
        var state = RequestState(address: try WebAddress("https://example.org/m"), name: "m")
        state.position = position
        state.validator = position > 0 ? Validator(kind: .entityTag, text: "\"1\"") : nil
        state.knownTotal = position > 0 ? 100 : nil
        state.expectedBytes = expected
        state.isRedirected = isRedirected
        return ResponsePlan(ResponseHead(status: status, fields: fields.map { (name: $0, value: $1) }), state)
    }

    @Test func aPartIsTakenOnlyWhereItFits() throws {
        let tag = Validator(kind: .entityTag, text: "\"1\"")
        func part(_ range: String, tag: String = "\"1\"") throws -> ResponsePlan {
            try plan(206, [("content-range", range), ("ETag", tag)], position: 40)
        }

        #expect(try part("bytes 40-99/100") == .write(from: 40, end: 100, total: 100, validator: tag))
        #expect(try part("bytes 30-59/100") == .write(from: 30, end: 60, total: 100, validator: tag))
        #expect(try part("bytes 40-99/*") == .write(from: 40, end: 100, total: 100, validator: tag))
        #expect(try part("bytes 41-99/100") == .restart)
        #expect(try part("bytes 40-99/101") == .restart)
        #expect(try part("bytes 40-99/100", tag: "\"2\"") == .restart)
        #expect(try part("bytes */100") == .restart)
        #expect(try plan(206, position: 40) == .restart)
        #expect(
            try plan(206, [("Content-Range", "bytes 40-99/100")], position: 40, expected: 90)
                == .fail(.wrongSize(name: "m", expected: 90, actual: 100)))
    }

    @Test func aRefusalBehindARedirectMayHaveExpired() throws {
        #expect(
            try plan(403, isRedirected: true) == .retry(reason: "the server answered with status 403", after: nil))
        #expect(try plan(403) == .fail(.refused(url: "https://example.org/m", status: 403)))
        #expect(
            try plan(503, [("Retry-After", "7")]) == .retry(reason: "the server answered with status 503", after: 7))
    }

    @Test(
        arguments: [
            ("bytes 0-0/1", 0...0, 1), ("BYTES  5-9/*", 5...9, nil), ("bytes */7", nil, 7),
        ] as [(String, ClosedRange<UInt64>?, UInt64?)])
    func contentRangesAreRead(_ text: String, _ bytes: ClosedRange<UInt64>?, _ total: UInt64?) {
        #expect(ContentRange(text)?.bytes == bytes)
        #expect(ContentRange(text)?.total == total)
    }

    @Test(arguments: [
        "", "bytes", "bytes 1-2", "bytes 2-1/9", "bytes 0-9/9", "bytes -1-2/9", "bytes 0-9/", "items 0-1/2",
        "bytes 0-99999999999999999999/*", "bytes +0-1/2", "bytes 0-1/2/3", "bytes 0 - 1/2", "bytes 1-/9",
    ]) func contentRangesThatAreNoneAreNot(_ text: String) {
        #expect(ContentRange(text) == nil)
    }

    @Test func onlyStrongValidatorsJoin() {
        func validator(_ fields: [(name: String, value: String)]) -> Validator? {
            Validator(ResponseHead(status: 200, fields: fields))
        }
        let old = "Mon, 30 Nov 2026 09:00:00 GMT", now = "Mon, 30 Nov 2026 10:00:00 GMT"

        #expect(validator([("ETag", "\"a\""), ("Last-Modified", old)])?.kind == .entityTag)
        #expect(validator([("ETag", "W/\"a\""), ("Last-Modified", old), ("Date", now)])?.text == old)
        #expect(validator([("Last-Modified", now), ("Date", now)]) == nil)
        #expect(validator([("Last-Modified", old)]) == nil)
        #expect(validator([("ETag", "bare")]) == nil)
    }
}
