import AlcoveCore
import AlcoveShell
import Testing

struct ParserTests {
    @Test(arguments: [
        ("echo a\nif true\nfi", "line 3: \"fi\" was not expected. \"then\" belongs here."),
        ("echo 'a", "line 1: the quote ' is never closed."),
        ("echo a\necho \"b\n", "line 2: the quote \" is never closed."),
        (
            "a=1\n[[ a -foo b ]]",
            "line 2: \"-foo\" is no comparison of [[ ]]. It has = == != =~ < > -eq -ne -lt -le -gt -ge -nt -ot -ef."
        ),
        ("\n\n[[ a == b", "line 3: the script ends too early; \"]]\" is missing."),
        ("a=(1\n2", "line 2: the script ends too early; \")\" is missing."),
        ("echo a )", "line 1: \")\" was not expected."),
        ("if true; then echo", "line 1: the script ends too early; \"fi\" is missing."),
        (
            "echo ${x!y}",
            "line 1: \"${...!y}\" is not an expansion of this shell. It knows ${v-w}, ${v=w}, ${v?w}, ${v+w}, each also with a colon, ${#v}, ${v#p}, ${v##p}, ${v%p}, ${v%%p}, ${v/p/w}, ${v//p/w}, ${v:n:m}, ${v^^}, ${v,,}, ${!v}, ${a[i]} and ${a[@]}."
        ),
    ])
    func errorsNameTheLineAndTheWord(_ script: String, _ sentence: String) {
        let error = #expect(throws: SyntaxError.self) { try ScriptParser.parse(Array(script.utf8)) }
        #expect(error?.sentence == sentence)
    }

    @Test(arguments: [
        "(", "$(", "\"$(", "{ ", "if ", "while ", "${x-", "$((", "$(( (", "case x in x) ", "! ", "<<A $(",
    ])
    func endlessNestingEndsWithASentence(_ piece: String) async throws {
        let script = Array(String(repeating: piece, count: 20_000).utf8)
        let error = await onLargeStack { () -> SyntaxError? in
            do throws(SyntaxError) { _ = try ScriptParser.parse(script) } catch { return error }
            return nil
        }
        #expect(error != nil)
    }
}

/// Runs something where the shell would run it: on a thread with a large stack.
func onLargeStack<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
        let hasStarted = startThread(name: "large stack", stackBytes: 64 << 20) {
            continuation.resume(returning: body())
        }
        precondition(hasStarted, "no thread for a test")
    }
}
