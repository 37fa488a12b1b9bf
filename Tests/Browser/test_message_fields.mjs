import assert from "node:assert/strict";
import { test } from "node:test";
import { addressOf, attachmentFrom, attachmentsOf, messageFields, storedName } from "../../Web/attachment-fields.js";
import { inOrder, ownWords } from "../../Web/text.js";

test("an attachment is made of what the host said, by stored names alone", () => {
    assert.deepEqual(
        attachmentFrom({ ok: true, file: "a.heic", url: "/uploads/a.heic", mediaType: "image", fileName: "My photo.heic", previewUrl: "/uploads/a-preview.png" }),
        { file: "a.heic", fileName: "My photo.heic", mediaType: "image", previewFile: "a-preview.png" });
    assert.deepEqual(
        attachmentFrom({ url: "/uploads/b.pdf", mediaType: "pdf", fileName: "b.pdf", renderedAsImages: true, pageCount: 9, extractedPageCount: 4, frames: ["b-1.png"], textContent: "long" }),
        { file: "b.pdf", fileName: "b.pdf", mediaType: "pdf", frames: ["b-1.png"], pageCount: 9, extractedPageCount: 4, renderedAsImages: true });
});

test("addresses are made of the name and cannot leave the folder", () => {
    assert.equal(addressOf("a b#?.png"), "/uploads/a%20b%23%3F.png");
    assert.equal(addressOf("../../etc/passwd"), "/uploads/..%2F..%2Fetc%2Fpasswd");
});

test("each kind goes where the model or the tools look for it", () => {
    const of = (file, mediaType, more) => ({ file, fileName: file.toUpperCase(), mediaType, ...more });
    const list = [of("p.png", "image"), of("v.mp4", "video", { frames: ["v1.png", "v2.png"] }), of("s.wav", "audio"), of("t.txt", "text"),
        of("c.csv", "text", { fileBacked: true }), of("d.pdf", "pdf"), of("w.docx", "document"), of("scan.pdf", "pdf", { renderedAsImages: true, frames: ["s1.png"] })];
    assert.deepEqual(messageFields(list), {
        attachments: list, imagePaths: ["p.png", "v1.png", "v2.png", "s1.png"], stillImagePaths: ["p.png"], videoFilePaths: ["v.mp4"],
        audioPaths: ["s.wav"], textFilePaths: ["t.txt", "c.csv", "d.pdf", "w.docx"], textFileNames: ["T.TXT", "C.CSV", "D.PDF", "W.DOCX"], isVideo: true,
    });
    assert.deepEqual(messageFields([]), {});
});

test("what a kept message says of its files is read whatever it is", () => {
    assert.deepEqual(attachmentsOf({ attachments: [{ file: "a.txt" }, null, { file: 3 }, { file: "" }] }), [{ file: "a.txt" }]);
    assert.deepEqual(attachmentsOf({ imagePaths: null, textFilePaths: ["/old/x.txt"], textFileNames: ["n.txt"], videoFilePaths: "no" }),
        [{ file: "x.txt", fileName: "n.txt", mediaType: "text" }]);
    assert.deepEqual(attachmentsOf({ isVideo: true, imagePaths: ["f1.png"], videoFilePaths: ["v.mp4"] }).map(({ file }) => file), ["v.mp4"]);
    assert.deepEqual(attachmentsOf({}), []);
});

test("files inlined by an older host are not a person's words", () => {
    assert.equal(ownWords("[File: a]\nx\n[End of file]\n\n[File: b]\ny\n[End of file]\n\nWhy?"), "Why?");
    assert.equal(ownWords("[File: never closed"), "[File: never closed");
    assert.equal(ownWords("See [File: a] [End of file]"), "See [File: a] [End of file]");
});

test("text and steps come in the order they came about", () => {
    const text = "Look. Write.";
    const steps = [{ tool: "a", at: 5 }, { tool: "b", at: 5 }, { tool: "c", at: 12 }];
    assert.deepEqual(inOrder(text, steps), [
        { text: "Look.", steps: [] }, { text: " Write.", steps: [steps[0], steps[1]] }, { text: "", steps: [steps[2]] }]);
    assert.deepEqual(inOrder(text, [{ tool: "old" }]), [{ text, steps: [{ tool: "old" }] }]);
    assert.deepEqual(inOrder("ab", [{ tool: "x", at: 99 }, { tool: "y", at: -1 }]).map((piece) => piece.text).join(""), "ab");
    assert.deepEqual(inOrder("", []), [{ text: "", steps: [] }]);
});

test("a name that is no percent-encoding is taken as it stands", () => {
    assert.equal(storedName("/uploads/50%.txt"), "50%.txt");
    assert.deepEqual(attachmentsOf({ textFilePaths: ["%zz"] }).map(({ file }) => file), ["%zz"]);
});
