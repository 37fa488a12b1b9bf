// What this is, and whose work it stands on.

import { make } from "./elements.js";
import { nowWords } from "./formats.js";
import { openSheet } from "./sheet.js";
import { t } from "./strings.js";

/** `server` answers in place of this device; null when none does. */
export function openAbout(engine, server) {
    return openSheet({ id: "about", title: t("about") }, (body) => {
        const licences = make("a", "text", t("aboutLicenses"));
        Object.assign(licences, { href: "vendor/LICENSES.txt", target: "_blank", rel: "noopener" });
        body.append(make("p", "", server === null ? t("aboutBody") : t("aboutBodyServer", server)));
        const now = nowWords(engine ?? {});
        if (now !== "") body.append(make("p", "now", t("settingsNow", now)));
        body.append(make("p", "hint", t("aboutLibraries")), licences);
    });
}
