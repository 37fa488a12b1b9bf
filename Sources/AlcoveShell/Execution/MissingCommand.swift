internal import AlcoveCore

/// What is said when a command is not there: never that alone.
enum MissingCommand {
    private static let answers: [([String], String)] = [
        (
            ["apt", "apt-get", "brew", "dnf", "yum", "apk", "sudo", "su", "doas", "snap", "pacman", "systemctl"],
            "Nothing can be installed or changed on the system from here"
        ),
        (["zsh", "ksh", "fish", "csh"], "This shell knows what bash knows: run the script with sh or ."),
        (
            ["git", "ssh", "docker", "make", "gcc", "cc", "clang", "cmake", "cargo", "go", "swift", "java"],
            "Programs cannot be started on this device"
        ),
        (["dc"], "Calculate with bc, or with $(( ))"),
        (
            ["perl", "ruby", "php", "lua", "Rscript", "deno", "bun", "ts-node", "tsc", "python2", "ipython", "pypy3"],
            "That language does not run here: python3, node, awk, sed and jq do"
        ),
        (
            ["npm", "npx", "pnpm", "yarn", "corepack"],
            "Packages of npm cannot be installed here; node runs files, and finds what lies in node_modules"
        ),
        (
            ["vi", "vim", "nano", "emacs", "ed"],
            "There is no editor: sed -i changes a file, and cat > FILE <<'EOF' writes one"
        ),
        (
            ["curl", "wget", "nc", "ping", "dig", "host", "nslookup", "ssh", "scp", "rsync"],
            "Nothing in this shell reaches the network"
        ),
        (["rg", "ag", "ack"], "grep -rn PATTERN . searches files"),
        (["bzip2", "xz", "zstd", "7z", "bunzip2", "unxz"], "gzip, tar and their like are here; that format is not"),
        (
            ["ps", "top", "htop", "pkill", "killall", "pgrep"],
            "There are no processes here: jobs lists what runs, kill $! ends it"
        ),
        (["select", "fg", "bg", "alias", "unalias"], "This shell has no terminal of its own, so that has no use"),
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
