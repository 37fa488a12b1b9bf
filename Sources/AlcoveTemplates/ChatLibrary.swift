internal import AlcoveCore
internal import llama

/// The one place where text crosses to llama.cpp's common/ and back (Native/llama/alcove_chat.h).
enum ChatLibrary {
    /// Reads a result and frees it.
    ///
    /// - Throws: `TemplateError` when the library says so.
    static func take(_ result: UnsafeMutablePointer<CChar>?) throws(TemplateError) -> JSONValue {
        guard let result else { throw .fault(reason: "it needs more memory than there is", line: nil) }
        defer { alcove_chat_free(result) }
        let bytes = UnsafeRawBufferPointer(start: result, count: strlen(result))
        let document: JSONValue
        do throws(JSONError) {
            document = try JSONValue(parsing: bytes)
        } catch {
            throw .fault(reason: error.reason, line: nil)
        }
        if document["error"]?.string != nil, document["kind"]?.string != nil { throw TemplateError(failure: document) }
        return document
    }
}
