internal import llama

/// Where a worker listens: a process of llama.cpp's RPC on this or another machine that computes layers of a model.
///
/// The address is numeric: the library would look a name up by itself, and might find another one than was looked at.
package struct WorkerAddress: Sendable, Hashable {
    /// As the person wrote it, `HOST:PORT`.
    package var name: String
    /// IPv4, such as `10.0.0.2`; the library knows no other.
    package var address: String
    package var port: UInt16

    package init(name: String, address: String, port: UInt16) {
        self.name = name
        self.address = address
        self.port = port
    }

    /// How long any worker may take for one piece of a computation; for connections made from now on.
    package static func setTimeout(seconds: Int) { alcove_rpc_set_seconds(Int32(clamping: seconds)) }

    var endpoint: String { "\(address):\(port)" }
}
