// Storing a file in the host. Loaded with the first file.

import { HostError } from "./api.js";
import { hostWords, t } from "./strings.js";

/** Stores a file in the host. Not fetch, which cannot tell how much of a body has gone. */
export function upload(file, { signal, progress }) {
    signal.throwIfAborted();
    return new Promise((resolve, reject) => {
        const sending = new XMLHttpRequest();
        const form = new FormData();
        form.append("file", file, file.name);
        signal.addEventListener("abort", () => sending.abort(), { once: true });
        sending.upload.onprogress = ({ loaded, total }) => progress(total > 0 ? loaded / total : 0);
        sending.onabort = () => reject(new DOMException("The upload was given up.", "AbortError"));
        sending.onerror = () => reject(new HostError("", { transport: true }));
        sending.onload = () => {
            let reply = {};
            try {
                reply = JSON.parse(sending.responseText);
            } catch {
                // What cannot be read is told by its status.
            }
            // With several files in a request a host answers a list; this page sends one at a time.
            const [stored] = Array.isArray(reply.files) ? reply.files : [reply];
            const { status } = sending;
            if (status >= 200 && status < 300 && (stored?.file || stored?.url)) return resolve(stored);
            hostWords(reply).then(({ error, hint }) =>
                reject(new HostError(error || t("refusedPlain", status), { status, code: reply.code ?? null, hint })));
        };
        sending.open("POST", "/api/upload");
        sending.send(form);
    });
}
