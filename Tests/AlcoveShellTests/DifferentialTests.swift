import Testing

/// The same script here and in dash: the same bytes, the same status.
@Suite(.serialized) struct DifferentialTests {
    @Test(arguments: Scripts.all) func likeDash(_ script: String) throws {
        let (ours, theirs) = (ScratchFolder(), ScratchFolder())
        let wanted = try ScriptRun.reference(
            "/usr/bin/dash", script, in: theirs.path, input: Scripts.input, arguments: ["one", "t w o", ""])
        let (run, error, _) = ScriptRun.here(
            script, in: ours.path, input: Scripts.input, arguments: ["one", "t w o", ""])
        #expect(run == wanted, "\(script)\nhere: \(run.shown)\ndash: \(wanted.shown)\nerror: \(error)")
    }
}
