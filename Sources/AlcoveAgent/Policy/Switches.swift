/// What the person has switched on. Read where it is used, so that a change applies to the very next call.
package struct Switches: Sendable, Hashable {
    package var runCode = true
    package var network = false
    package var subAgents = false
    /// Whether a bounded run ends when nobody has followed it for a while.
    package var stopsUnattended = false
    /// Whether a person may allow something for a whole chat; off, every action is asked about anew.
    package var remembersApprovals = true
    /// Longest a command may take that does not say itself, in seconds.
    package var commandSeconds = 120.0

    package init() {}
}
