internal import AlcoveAgent
internal import AlcoveCore
internal import AlcoveStorage

/// Makes a chat's attachments ready for a turn: there, staged for tools, and as text for the model.
struct AttachmentOrder: Sendable {
    let host: HostServices

    /// What came of it.
    struct Ready: Sendable {
        /// The texts of messages that show files, by place.
        var contents: [Int: String] = [:]
        /// Names in the workspace.
        var staged: [String] = []
        /// What the model sees and hears, by the place of its message.
        var media: [Int: [MediaInput]] = [:]
    }

    /// - Parameters:
    ///   - chat: Whose workspace tools will work in; nil in a turn without tools, or without a chat.
    ///   - model: Who will answer.
    /// - Throws: `InputError` for a file of the newest message that is not there, for what the model cannot see or hear.
    func prepare(
        _ messages: [Int: MessageAttachments], texts: [String], chat: ChatID?, model: ModelDescription
    ) async throws -> Ready {
        let order = messages.keys.sorted()
        guard let newest = order.last else { return Ready() }
        let there = await host.uploads.touch(messages.values.flatMap { $0.files.map(\.name) + $0.sounds })
        // Of older messages a file may be gone; the chat goes on without it.
        if newest == texts.count - 1, let gone = messages[newest]?.files.first(where: { !there.contains($0.name) }) {
            throw InputError(
                code: "attachment_missing", message: "The file \(gone.shownName) is not here any more.",
                hint: "Attach it again.")
        }
        let files = order.flatMap { messages[$0]?.files ?? [] }.filter { there.contains($0.name) }
        var staged: [String: String] = [:]
        if let chat { staged = try await stage(files, in: chat) }
        try await check(messages, staged: staged, model.media)
        let shown = try await ShownMedia(abilities: model.media, folder: host.uploads.folder, shelf: host.shelf).shown(
            messages, there: Set(there), newest: texts.count - 1, hasTools: chat != nil)

        var ready = Ready()
        var blocks = FileBlocks(contextLength: model.contextLength)
        for index in order {
            var items: [FileBlocks.Item] = []
            let seen = shown[index]
            for file in messages[index]?.files ?? [] where seen?.drawn.contains(file.name) != true {
                if let item = try await item(file, blocks.room, &staged, chat, isThere: there.contains(file.name)) {
                    items.append(item)
                }
            }
            let text = texts[index]
            let content = ((seen?.notes ?? []) + [blocks.content(text, with: items)]).joined(separator: "\n")
            if content != text { ready.contents[index] = content }
            ready.media[index] = seen?.media
        }
        var seen: Set<String> = []
        ready.staged = files.flatMap { [staged[$0.name.text], staged[$0.name.derivedText]] }.compactMap { $0 }
            .filter { seen.insert($0).inserted }
        return ready
    }

    /// Where a model does not see or hear but tools can work on the files, that is enough; all of them, or it is refused.
    private func check(
        _ messages: [Int: MessageAttachments], staged: [String: String], _ abilities: MediaAbilities
    ) async throws(InputError) {
        let families = Set(staged.keys.compactMap { UploadName.family(of: $0) })
        func isStaged(_ name: String) -> Bool { UploadName.family(of: name).map(families.contains) ?? false }
        if !abilities.sees, messages.values.contains(where: { $0.pictures.contains { !isStaged($0) } }) {
            throw InputError(
                code: "vision_not_ready", message: "The loaded model cannot see pictures.",
                hint: await host.projector.advice
                    ?? "Remove them, or turn tools on so that they can be worked on as files.")
        }
        if !abilities.hears, messages.values.contains(where: { $0.sounds.contains { !isStaged($0.text) } }) {
            throw InputError(
                code: "audio_not_ready", message: "The loaded model cannot hear sound.",
                hint: "Remove it, or turn tools on so that it can be worked on as a file.")
        }
    }

    // MARK: Staging

    private func stage(_ files: [Attachment], in chat: ChatID) async throws -> [String: String] {
        var list: [AttachmentStaging.File] = []
        for file in files {
            list.append(await source(of: file))
            list += pages(of: file)
        }
        _ = host.workspace(of: chat)
        return try await host.staging.stage(list, in: chat.text)
    }

    /// The pictures of a scan's pages, which tools can work on where its words cannot be had.
    private func pages(of file: Attachment) -> [AttachmentStaging.File] {
        guard file.name.kind == .pdf else { return [] }
        var pages: [AttachmentStaging.File] = []
        for number in 1...UploadDigest.pageCount {
            let path = host.uploads.folder + "/" + file.name.page(number)
            guard access(path, R_OK) == 0 else { break }
            pages.append(
                AttachmentStaging.File(
                    key: file.name.page(number), shownName: "\(file.shownName)-page-\(number).jpg", path: path))
        }
        return pages
    }

    /// The file that tools get: HEIC, which few of them can read, as PNG of the same size.
    private func source(of file: Attachment) async -> AttachmentStaging.File {
        let plain = AttachmentStaging.File(
            key: file.name.text, shownName: file.shownName, path: host.uploads.folder + "/" + file.name.text)
        guard ["heic", "heif"].contains(file.name.ending) else { return plain }
        let decoded = host.uploads.folder + "/" + file.name.derivedPicture
        if access(decoded, R_OK) != 0 {
            do {
                let picture = try await host.decoder.picture(
                    of: MediaFile(path: plain.path, kind: file.name.ending), area: nil, format: .png)
                try await host.uploads.derive(file.name.derivedPicture, picture.bytes)
            } catch {
                // As it is, it may still be of use to somebody.
                return plain
            }
        }
        let ending = UploadNaming.ending(ofName: file.shownName).map { $0.utf8.count + 1 } ?? 0
        return AttachmentStaging.File(
            key: plain.key, shownName: file.shownName.dropLast(ending) + ".png", path: decoded)
    }

    // MARK: Text

    private func item(
        _ file: Attachment, _ room: Int, _ staged: inout [String: String], _ chat: ChatID?, isThere: Bool
    ) async throws -> FileBlocks.Item? {
        let isText = file.name.kind == .text
        guard isText || file.name.kind == .pdf || file.name.kind == .document else { return nil }
        let source = isText ? file.name.text : file.name.derivedText
        let found = isThere ? await host.uploads.text(source, limit: room) : nil
        var stagedName = staged[file.name.text]
        if !isText, let found, let chat, !found.text.isComplete {
            // Tools that read text cannot read the document itself.
            let text = AttachmentStaging.File(
                key: source, shownName: file.shownName + ".txt", path: host.uploads.folder + "/" + source)
            stagedName = try await host.staging.stage([text], in: chat.text)[source]
            staged[source] = stagedName
        }
        return FileBlocks.Item(
            shownName: file.shownName, text: found?.text, bytes: found?.bytes ?? 0, stagedName: stagedName,
            isTable: file.name.ending == "csv")
    }
}
