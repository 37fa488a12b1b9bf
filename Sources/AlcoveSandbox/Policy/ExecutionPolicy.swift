package import AlcoveCore

/// What one chat's tools may do. A value: read where it is used, so that a switch counts from the next command on.
///
/// Processes and the interpreters in this process obey the same one.
package struct ExecutionPolicy: Sendable, Hashable {
    package enum Network: Sendable, Hashable {
        case off
        /// These hosts and their subdomains.
        case hosts([String])
        case open
    }

    /// Where scripts run.
    package enum Mode: String, Sendable, Hashable {
        /// In a process within the system's sandbox, where there is one.
        case auto
        case inProcess = "in-process"
    }

    package enum Action: Sendable, Hashable {
        case runCode
        case connect(host: String)
        case startSubAgent
        case installPackages
    }

    package var runsCode = true
    package var network = Network.off
    package var startsSubAgents = false
    package var installsPackages = false
    package var mode = Mode.auto
    package var limits = CommandLimits()
    package var workspace: String
    package var readOnly: [ConfinedPaths.Mount] = []
    package var deniedNames: [String] = []

    package init(workspace: String) { self.workspace = workspace }

    package var paths: ConfinedPaths { ConfinedPaths(workspace: workspace, readOnly: readOnly, denied: deniedNames) }

    /// Whether a process may be started with the network. Not with a list of hosts: nothing here could hold a process
    /// to it.
    package var allowsNetworkToProcesses: Bool { network == .open }

    package func check(_ action: Action) throws(PolicyRefusal) {
        switch action {
        case .runCode: if !runsCode { throw .codeOff }
        case .startSubAgent: if !startsSubAgents { throw .subAgentsOff }
        case .installPackages:
            if !installsPackages { throw .installsOff }
            if network == .off { throw .networkOff(host: nil) }
        case .connect(let host):
            switch network {
            case .open: return
            case .off: throw .networkOff(host: host)
            case .hosts(let list):
                if !list.contains(where: { ExecutionPolicy.host(host, isWithin: $0) }) {
                    throw .hostNotListed(host: host, list: list)
                }
            }
        }
    }

    /// Checks where a connection really goes, after the name was looked up: a name may point anywhere.
    ///
    /// - Parameter address: 4 or 16 bytes in network order.
    package func check(host: String, connectedTo address: [UInt8]) throws(PolicyRefusal) {
        try check(.connect(host: host))
        guard NetworkAddress.isPublic(address) else { throw .privateAddress(host: host) }
    }

    static func host(_ host: String, isWithin listed: String) -> Bool {
        func plain(_ name: String) -> String {
            let lower = name.lowercased()
            return lower.hasSuffix(".") ? String(lower.dropLast()) : lower
        }
        let host = plain(host)
        let listed = plain(listed)
        return !listed.isEmpty && (host == listed || host.hasSuffix("." + listed))
    }
}

/// Why the policy says no. The sentences name the switch.
package enum PolicyRefusal: UserFacingError, Equatable {
    case codeOff
    case networkOff(host: String?)
    case hostNotListed(host: String, list: [String])
    /// The device itself, or its neighbours.
    case privateAddress(host: String)
    case subAgentsOff
    case installsOff

    package var code: String {
        switch self {
        case .codeOff: "code_off"
        case .networkOff: "network_off"
        case .hostNotListed: "host_not_listed"
        case .privateAddress: "private_address"
        case .subAgentsOff: "sub_agents_off"
        case .installsOff: "installs_off"
        }
    }

    package var message: String {
        switch self {
        case .codeOff: "No code was run: the switch \"Run code\" is off."
        case .networkOff(let host):
            "\(host.map { "There is no connection to \($0)" } ?? "Nothing was fetched"): "
                + "network access is disabled by the user (the switch \"Network\" is off)."
        case .hostNotListed(let host, let list):
            "There is no connection to \(host): the switch \"Network\" allows only \(list.joined(separator: ", "))."
        case .privateAddress(let host):
            "There is no connection to \(host): it is an address of this device or of its own network."
        case .subAgentsOff: "No sub-agent was started: the switch \"Sub-agents\" is off."
        case .installsOff: "Nothing was installed: the switch \"Install packages\" is off."
        }
    }

    package var hint: String? {
        switch self {
        case .codeOff, .networkOff, .subAgentsOff, .installsOff: "Only the user can switch it on, in the settings."
        case .hostNotListed: "Only the user can add a host, in the settings."
        case .privateAddress: nil
        }
    }

    package var place: ErrorPlace { .request }
}
