package import AlcoveSandbox

/// Who runs Python and JavaScript for a shell, and where.
package struct ScriptUse: Sendable {
    package var runner: any ScriptRunner
    package var place: ScriptPlace
    package var allowsNetwork: Bool

    package init(runner: any ScriptRunner, place: ScriptPlace, allowsNetwork: Bool) {
        self.runner = runner
        self.place = place
        self.allowsNetwork = allowsNetwork
    }
}
