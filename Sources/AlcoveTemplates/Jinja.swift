public import AlcoveCore
internal import llama

/// The template language by itself, for tools and tests.
///
/// It runs in this process with no limits of its own: what is not trusted goes through `TemplateWorker`.
public enum Jinja {
    /// Renders any source with any context.
    ///
    /// - Parameter now: What `strftime_now` sees, in seconds since 1970; nil is now.
    public static func render(
        template: String, context: JSONValue, now: Int64? = nil
    ) throws(TemplateError) -> String {
        var request: JSONObject = ["template": .string(template), "context": context]
        if let now { request["now"] = .integer(now) }
        let document = try ChatLibrary.take(alcove_jinja_render(JSONValue.object(request).text()))
        return document["output"]?.string ?? ""
    }
}
