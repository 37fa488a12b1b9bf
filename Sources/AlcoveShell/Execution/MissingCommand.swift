internal import AlcoveCore

/// What is said when a command is not there: never that alone.
enum MissingCommand {
    private static let answers: [([String], String)] = [
        (
            ["apt", "apt-get", "brew", "dnf", "yum", "apk", "sudo", "su", "doas", "snap"],
            "Nothing can be installed or changed on the system from here"
        ),
        (["bash", "zsh", "dash", "ksh", "fish"], "This is a POSIX shell already: run the script with sh or ."),
        (["git", "ssh", "docker", "make", "gcc", "cc", "clang"], "Programs cannot be started on this device"),
        (["bc", "expr", "dc"], "Calculate with $(( ))"),
        (
            ["perl", "ruby", "php", "node", "python", "python3", "awk"],
            "That language does not run in this shell yet; use the shell and its utilities"
        ),
    ]

    static func sentence(_ name: String, functions: [String]) -> String {
        if name.contains("/") {
            return "\(shown(Array(name.utf8))): files cannot be run as programs here; a script can be read with: . FILE"
        }
        let known = (Builtins.names + Utilities.names + functions).sorted()
        var text = "\(shown(Array(name.utf8))): this command is not here."
        if let answer = answers.first(where: { $0.0.contains(name) })?.1 {
            text += " \(answer)."
        } else if let near = didYouMean(name, among: known) {
            text += " \(near)"
        }
        return text
            + " What works: \(Utilities.names.joined(separator: " ")), and the shell's own commands (help lists them)."
    }
}
