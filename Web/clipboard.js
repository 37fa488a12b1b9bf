// What is copied.

import { make } from "./elements.js";

/** The clipboard interface needs a secure origin; loopback is one, but an embedded view may still say no. */
export async function copyText(text) {
    try {
        await navigator.clipboard.writeText(text);
        return true;
    } catch {
        const field = make("textarea", "offstage");
        field.value = text;
        document.body.append(field);
        field.select();
        const copied = document.execCommand("copy");
        field.remove();
        return copied;
    }
}
