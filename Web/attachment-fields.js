// What the host says of a stored file, and what a message says of its files. Pure: no DOM, no fetch.

/** The name a stored file has in the host: the last part of its address, or the name itself. */
export function storedName(url) {
    const last = String(url).split("/").at(-1);
    try {
        return decodeURIComponent(last);
    } catch {
        return last;
    }
}

/** Every address is made of the stored name, never kept. */
export const addressOf = (name) => `/uploads/${encodeURIComponent(name)}`;

/** An attachment, as a message keeps it, of what `POST /api/upload` answered. */
export function attachmentFrom(reply) {
    const attachment = {
        file: storedName(reply.file ?? reply.url), fileName: reply.fileName ?? "", mediaType: reply.mediaType ?? "text",
    };
    if (reply.fileBacked) attachment.fileBacked = true;
    if (reply.previewUrl) attachment.previewFile = storedName(reply.previewUrl);
    if (reply.frames?.length > 0) attachment.frames = reply.frames.map(storedName);
    for (const key of ["pageCount", "extractedPageCount"]) {
        if (Number.isInteger(reply[key])) attachment[key] = reply[key];
    }
    if (reply.renderedAsImages) attachment.renderedAsImages = true;
    return attachment;
}

/** The members that a message with these attachments has, for the model's eyes and ears and for the tools. */
export function messageFields(attachments) {
    const of = (kind) => attachments.filter(({ mediaType }) => mediaType === kind);
    const files = (list) => list.map(({ file }) => file);
    const pictures = of("image");
    const videos = of("video");
    const pages = attachments.filter(({ renderedAsImages }) => renderedAsImages);
    const texts = attachments.filter(({ mediaType, renderedAsImages }) =>
        !renderedAsImages && !["image", "video", "audio"].includes(mediaType));
    const fields = {
        attachments,
        imagePaths: [...files(pictures), ...[...videos, ...pages].flatMap(({ frames }) => frames ?? [])],
        stillImagePaths: files(pictures),
        videoFilePaths: files(videos),
        audioPaths: files(of("audio")),
        textFilePaths: files(texts),
        textFileNames: texts.map(({ fileName }) => fileName),
    };
    if (videos.length > 0) fields.isVideo = true;
    return Object.fromEntries(Object.entries(fields).filter(([, value]) => value === true || value.length > 0));
}

/** A message's files, also of one kept before attachments were. What has no usable stored name is left out. */
export function attachmentsOf(message) {
    if (Array.isArray(message.attachments)) return message.attachments.filter((one) => typeof one?.file === "string" && one.file !== "");
    const list = (key) => (Array.isArray(message[key]) ? message[key].filter((name) => typeof name === "string") : []);
    const named = (mediaType) => (file) => ({ file: storedName(file), fileName: storedName(file), mediaType });
    const pictures = list("stillImagePaths").length > 0 ? list("stillImagePaths") : message.isVideo ? [] : list("imagePaths");
    const names = list("textFileNames");
    return [
        ...pictures.map(named("image")), ...list("videoFilePaths").map(named("video")), ...list("audioPaths").map(named("audio")),
        ...list("textFilePaths").map((file, index) => ({ ...named("text")(file), fileName: names[index] ?? storedName(file) })),
    ];
}
