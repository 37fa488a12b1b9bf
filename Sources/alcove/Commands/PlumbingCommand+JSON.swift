internal import AlcoveCore

extension PlumbingCommand {
    /// `op` parse answers whether the bytes are JSON, `op` canonical gives their RFC 8785 form; `json` is Base64, since
    /// a document that is not UTF-8 is a case too.
    static func json(_ line: JSONValue) throws -> JSONValue {
        guard let bytes = line["json"]?.string.flatMap(Base64.bytes) else {
            throw InputError(code: "bad_base64", message: "\"json\" should be the document in Base64.")
        }
        switch line["op"]?.string {
        case "parse":
            do throws(JSONError) {
                _ = try JSONValue(parsing: bytes)
                return ["ok": true]
            } catch {
                return ["ok": false, "reason": .string(error.message)]
            }
        case "canonical":
            let document = try JSONValue(parsing: bytes, rules: .interchange)
            return ["output": .string(Base64.text(try document.canonicalBytes()))]
        default: throw InputError(code: "bad_op", message: "\"op\" is \"parse\" or \"canonical\".")
        }
    }
}
