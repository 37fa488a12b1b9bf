package import AlcoveCore
internal import AlcoveSandbox

/// Shows lines of a text file of the workspace.
package struct ReadFileTool: Tool {
    package init() {}
    package let effect = ToolEffect.reads
    package let aliases = ["read", "cat", "open_file", "view_file"]
    package let observationLimit = FileText.pageLimit + 2_000

    package var declaration: ToolDeclaration {
        ToolDeclaration(
            name: "read_file",
            description: """
                Show lines of a text file in the working folder, numbered. Long files are shown in pages: ask again with \
                a later offset. Read a file before changing lines you have not seen.
                """, parameters: FileText.readSchema)
    }

    package func rewrite(_ arguments: JSONObject) -> JSONObject { ToolAliases.readFile(arguments) }
    package func detail(of arguments: JSONObject) -> String { arguments["path"]?.string ?? "" }

    package func run(_ arguments: JSONObject, in context: ToolContext) async -> ToolResult {
        guard let workspace = context.workspace else { return .failed("This conversation has no files of its own.") }
        let paths = ConfinedPaths(workspace: workspace), path = arguments["path"]?.string ?? ""
        do {
            let bytes = try paths.read(path, limit: FileText.fileLimit)
            let page = try FileText.page(
                of: bytes, path: path, offset: arguments["offset"]?.int ?? 1,
                limit: arguments["limit"]?.int ?? FileText.usualLines)
            return ToolResult(succeeded: true, text: page.text)
        } catch let error as ConfinementError where error.place == .missing {
            let files = WorkspaceScan.files(paths).map(\.path)
            return .failed(FileText.missing(path, among: files).sentence)
        } catch {
            return .failed(sentence(of: error))
        }
    }
}

/// Makes a new file in the workspace.
package struct WriteFileTool: Tool {
    package init() {}
    package let effect = ToolEffect.writesWorkspace
    package let aliases = ["create_file", "write"]

    package var declaration: ToolDeclaration {
        ToolDeclaration(
            name: "write_file",
            description: """
                Create a new text file in the working folder, with its folders. A file that exists with other contents is \
                not overwritten: change it with apply_patch.
                """, parameters: FileText.writeSchema)
    }

    package func rewrite(_ arguments: JSONObject) -> JSONObject { ToolAliases.writeFile(arguments) }

    package func detail(of arguments: JSONObject) -> String {
        "\(arguments["path"]?.string ?? "") (\(arguments["content"]?.string?.utf8.count ?? 0) bytes)"
    }

    package func run(_ arguments: JSONObject, in context: ToolContext) async -> ToolResult {
        guard let workspace = context.workspace else { return .failed("This conversation has no files of its own.") }
        let paths = ConfinedPaths(workspace: workspace), path = arguments["path"]?.string ?? ""
        do {
            var existing: [UInt8]?
            do throws(ConfinementError) { existing = try paths.read(path, limit: FileText.fileLimit) } catch {
                guard error.place == .missing else { throw error }
            }
            switch try FileText.writing(
                arguments["content"] ?? "", to: path, existing: existing,
                overwrites: arguments["overwrite"]?.bool ?? false)
            {
            case .create(let bytes):
                try paths.create(path, bytes, makingFolders: true)
                return ToolResult(succeeded: true, text: "Created \(path) (\(bytes.count) bytes).", files: [path])
            case .replace(let bytes):
                try paths.replace(path, bytes)
                return ToolResult(succeeded: true, text: "Replaced \(path) (\(bytes.count) bytes).", files: [path])
            case .nothing: return ToolResult(succeeded: true, text: "\(path) holds just this already.")
            }
        } catch {
            return .failed(sentence(of: error))
        }
    }
}

/// Changes files of the workspace by a patch: all of it or nothing.
package struct ApplyPatchTool: Tool {
    package init() {}
    package let effect = ToolEffect.writesWorkspace
    package let aliases = ["apply-patch", "applypatch", "apply_patch_tool", "edit_file", "patch"]

    package var declaration: ToolDeclaration {
        ToolDeclaration(
            name: "apply_patch",
            description: """
                Change, add, move or delete text files in the working folder by a patch. Form: a line "*** Begin Patch", \
                then for each file "*** Update File: PATH" with hunks that begin with "@@" and hold lines beginning with a \
                space (kept), - (removed) or + (added); or "*** Add File: PATH" with + lines; or "*** Delete File: PATH"; \
                then "*** End Patch". Copy the kept and removed lines exactly. Either the whole patch is applied or \
                nothing is.
                """,
            parameters: [
                "type": "object",
                "properties": ["patch": ["type": "string", "description": "The whole patch.", "minLength": 1]],
                "required": ["patch"], "additionalProperties": false,
            ])
    }

    package func rewrite(_ arguments: JSONObject) -> JSONObject { ToolAliases.applyPatch(arguments) }

    package func detail(of arguments: JSONObject) -> String {
        let text = arguments["patch"]?.string ?? ""
        let files = text.split(separator: "\n").compactMap { line -> Substring? in
            for mark in ["*** Update File: ", "*** Add File: ", "*** Delete File: "] where line.hasPrefix(mark) {
                return line.dropFirst(mark.count)
            }
            return nil
        }
        return "\(files.joined(separator: ", ")) (\(text.count) characters)"
    }

    package func run(_ arguments: JSONObject, in context: ToolContext) async -> ToolResult {
        guard let workspace = context.workspace else { return .failed("This conversation has no files of its own.") }
        do throws(PatchError) {
            let outcome = try Patch(.object(arguments)).apply(to: PatchFolder(workspace))
            let files = outcome.files.filter { $0.kind != .deleted }.map { $0.movedTo ?? $0.path }
            return ToolResult(succeeded: true, text: outcome.text, files: files)
        } catch {
            return .failed(error.report)
        }
    }
}

/// The files of a workspace, for hints and for seeing what a command made.
enum WorkspaceScan {
    struct Found: Hashable {
        var path: String
        var bytes: Int
        var modified: Int64
    }

    /// At most `limit` files, hidden ones left out, folders in order of their names.
    static func files(_ paths: ConfinedPaths, limit: Int = 2_000) -> [Found] {
        var found: [Found] = []
        var folders = ["."]
        while let folder = folders.popLast(), found.count < limit {
            guard let entries = try? paths.list(folder, limit: limit) else { continue }
            for entry in entries.sorted(by: { $0.name < $1.name }) where !entry.name.hasPrefix(".") {
                let path = folder == "." ? entry.name : "\(folder)/\(entry.name)"
                switch entry.kind {
                case .folder: folders.append(path)
                case .file: found.append(Found(path: path, bytes: entry.bytes, modified: entry.modified))
                default: continue
                }
            }
        }
        return found
    }

    /// Paths that are new or differ since an earlier look.
    static func changed(since before: [Found], in paths: ConfinedPaths) -> [String] {
        let known = Set(before)
        return files(paths).filter { !known.contains($0) }.map(\.path)
    }
}
