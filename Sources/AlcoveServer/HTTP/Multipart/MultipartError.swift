package import AlcoveCore

/// Why a multipart body was not taken.
package enum MultipartError: HTTPStatusProviding, Equatable {
    case noBoundary
    case badBoundary
    /// The body ended before its closing boundary.
    case incomplete
    case tooManyParts(limit: Int)
    case headerTooLarge(part: Int, limit: Int)
    case badHeader(part: Int, problem: String)
    case transferEncoding(part: Int, name: String)

    package var httpStatus: Int { 400 }

    package var code: String {
        switch self {
        case .noBoundary, .badBoundary: "bad_boundary"
        case .incomplete: "multipart_incomplete"
        case .tooManyParts: "too_many_parts"
        case .headerTooLarge: "part_header_too_large"
        case .badHeader: "bad_part_header"
        case .transferEncoding: "unsupported_transfer_encoding"
        }
    }

    package var message: String {
        switch self {
        case .noBoundary: "The content type is not multipart/form-data with a boundary."
        case .badBoundary: "The boundary should be 1 to 200 visible ASCII characters."
        case .incomplete: "The form ended before its closing boundary."
        case .tooManyParts(let limit): "The form has more than \(limit) parts."
        case .headerTooLarge(let part, let limit): "The header of part \(part) is longer than \(limit) bytes."
        case .badHeader(let part, let problem): "The header of part \(part) cannot be read: \(problem)."
        case .transferEncoding(let part, let name):
            "Part \(part) is encoded as \(name); a form's parts are sent as they are."
        }
    }

    package var hint: String? {
        switch self {
        case .incomplete: "Send it again."
        case .tooManyParts: "Send them in several requests."
        default: nil
        }
    }

    package var place: ErrorPlace { .request }
}
