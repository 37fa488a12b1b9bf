import AlcoveCore
import Synchronization

/// Serves the files of one folder; `/` is its `index.html`.
///
/// Small files are kept in memory and checked against the file's stamp at every request: an edit shows at once, and
/// nothing but an open and a stat is asked of the disk.
package final class StaticFiles: Sendable {
    private struct Entry {
        let stamp: OpenFile.Stamp
        let headers: HTTPHeaders
        let entityTag: String
        let bytes: [UInt8]
    }

    private static let largestKept = 512 * 1024
    private static let mostKept = 8 * 1024 * 1024

    private let folder: ConfinedFolder
    private let kept = Mutex<(entries: [String: Entry], bytes: Int)>(([:], 0))

    package init(_ folder: ConfinedFolder) { self.folder = folder }

    /// The file a GET or HEAD asks for; nil when there is none, or the method is another.
    package func response(to request: HTTPRequest) -> HTTPResponse? {
        guard request.method == "GET" || request.method == "HEAD" else { return nil }
        let segments = request.target.segments.isEmpty ? ["index.html"] : request.target.segments
        guard let file = folder.open(segments) else { return nil }
        let size = file.stamp.size
        guard size <= StaticFiles.largestKept, request.headers["range"] == nil else {
            return FileResponse(request: request, file: file).response(headers(file, segments))
        }
        guard let entry = entry(file, segments) else { return nil }
        if Conditions.isNotModified(request, entityTag: entry.entityTag, modified: entry.stamp.modifiedSeconds) {
            return HTTPResponse(status: 304, headers: entry.headers)
        }
        return HTTPResponse(headers: entry.headers, body: .bytes(entry.bytes))
    }

    private func headers(_ file: OpenFile, _ segments: [String]) -> HTTPHeaders {
        var headers = FileResponse.validators(file)
        headers.add("Content-Type", ContentType.of(fileName: segments.last ?? ""))
        return headers
    }

    private func entry(_ file: OpenFile, _ segments: [String]) -> Entry? {
        let path = segments.count == 1 ? segments[0] : segments.joined(separator: "/")
        if let entry = kept.withLock({ $0.entries[path] }), entry.stamp == file.stamp { return entry }
        guard let bytes = FileRange(file: file, offset: 0, count: file.stamp.size).bytes() else { return nil }
        let entry = Entry(
            stamp: file.stamp, headers: headers(file, segments), entityTag: file.entityTag, bytes: bytes)
        kept.withLock { kept in
            kept.bytes += bytes.count - (kept.entries.updateValue(entry, forKey: path)?.bytes.count ?? 0)
            if kept.bytes > StaticFiles.mostKept { kept = ([path: entry], bytes.count) }
        }
        return entry
    }
}
