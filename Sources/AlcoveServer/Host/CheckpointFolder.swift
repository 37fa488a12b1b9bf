internal import AlcoveCore

/// Where beginnings of prompts of one model file are kept between starts.
package enum CheckpointFolder {
    package static func path(root: String, model: String) -> String {
        "\(root)/checkpoints/\(SHA256.hex(model.utf8).prefix(16))"
    }

    /// The model goes, and with it what was only of use to it.
    package static func remove(root: String, model: String) { Folder.remove(path(root: root, model: model)) }
}
