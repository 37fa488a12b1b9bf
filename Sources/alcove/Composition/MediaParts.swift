internal import AlcoveCore
internal import AlcoveSandbox

/// What looks into uploaded files on this system.
enum MediaParts {
    static var decoder: any MediaDecoder {
        #if os(Linux)
        guard let folder = checkout else {
            return NoMediaDecoder(
                cause: "Native/media is not beside the program", hint: "Start Alcove from its checkout with `make run`."
            )
        }
        let packages = (8...20).map { "\(folder)/.deps/venv/lib/python3.\($0)/site-packages" }
        guard let found = packages.first(where: { access($0, R_OK) == 0 }) else {
            return NoMediaDecoder(
                cause: "the Python packages that read it are not installed",
                hint: "Run `make bootstrap` in the checkout.")
        }
        return ConfinedMediaDecoder(reader: folder + "/Native/media/look_into.py", packages: found)
        #else
        return NoMediaDecoder(cause: "there is nothing yet that reads it on this system")
        #endif
    }

    /// The folder that holds `Native/media`: `$ALCOVE_MEDIA`, else one above the program.
    private static var checkout: String? {
        if let named = Folders.environment("ALCOVE_MEDIA") {
            return access(named + "/Native/media/look_into.py", R_OK) == 0 ? named : nil
        }
        var folder = Resources().program
        for _ in 0..<6 {
            guard let slash = folder.lastIndex(of: "/"), slash > folder.startIndex else { return nil }
            folder = String(folder[..<slash])
            for candidate in [folder, folder + "/share/alcove"]
            where access(candidate + "/Native/media/look_into.py", R_OK) == 0 {
                return candidate
            }
        }
        return nil
    }
}
