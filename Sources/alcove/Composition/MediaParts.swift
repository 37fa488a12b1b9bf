internal import AlcoveCore
internal import AlcoveSandbox

/// What looks into uploaded files on this system.
enum MediaParts {
    /// The live decoder, or one that says what is missing.
    static var decoder: any MediaDecoder {
        switch found {
        case .success(let decoder): decoder
        case .failure(let missing): NoMediaDecoder(cause: missing.cause, hint: missing.hint)
        }
    }

    /// Nil when everything is there.
    static var missing: Missing? {
        if case .failure(let missing) = found { return missing }
        return nil
    }

    struct Missing: Error {
        var cause: String
        var hint: String?
    }

    private static var found: Result<any MediaDecoder, Missing> {
        #if os(Linux)
        guard let folder = checkout else {
            return .failure(
                Missing(
                    cause: "Native/media is not beside the program",
                    hint: "Start Alcove from its checkout with `make run`."))
        }
        guard access(ConfinedMediaDecoder.python, X_OK) == 0 else {
            return .failure(
                Missing(
                    cause: "\(ConfinedMediaDecoder.python) is missing",
                    hint: "Install it with `sudo apt install python3`."))
        }
        guard let found = packages(in: folder) else {
            return .failure(
                Missing(
                    cause: "the Python packages that read it are not installed",
                    hint: "Run `make bootstrap` in the checkout."))
        }
        return .success(ConfinedMediaDecoder(reader: folder + "/Native/media/look_into.py", packages: found))
        #else
        return .failure(Missing(cause: "there is nothing yet that reads it on this system", hint: nil))
        #endif
    }

    /// The Python packages that came with Alcove, where they are installed.
    static var packages: String? { checkout.flatMap(packages(in:)) }

    private static func packages(in folder: String) -> String? {
        (8...20).map { "\(folder)/.deps/venv/lib/python3.\($0)/site-packages" }.first {
            access($0 + "/pypdfium2", R_OK) == 0
        }
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
