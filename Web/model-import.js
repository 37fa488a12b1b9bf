// The form that takes in a model file of this device: copied into Alcove's folder, or used where it lies.

import { make, makeFold } from "./elements.js";
import { fileSize } from "./formats.js";
import { t, together } from "./strings.js";

/** `send(path, copy)` asks the host; `added(name)` hears what the list calls it, `failed(error)` what only the page handles. */
export function importForm({ send, added, failed }) {
    const fold = makeFold("import", t("importModel"));
    const form = make("form");
    const path = field("importPath");
    Object.assign(path.input, { required: true, autocomplete: "off", spellcheck: false, dir: "ltr", placeholder: t("importExample") });
    path.input.setAttribute("autocapitalize", "off");
    const copy = field("importCopy");
    Object.assign(copy.input, { type: "checkbox", checked: true, className: "switch" });
    copy.input.setAttribute("role", "switch");
    copy.row.className = "setting";
    const told = make("p", "about");
    told.setAttribute("role", "status");
    const button = make("button", "primary", t("importAdd"));
    const actions = make("div", "actions");
    actions.append(make("span", "gap"), button);
    form.append(make("p", "hint", t("importModelHint")), path.row, copy.row, told, actions);
    path.input.addEventListener("input", () => path.input.setCustomValidity(""));
    form.addEventListener("submit", async (event) => {
        event.preventDefault();
        if (button.disabled) return;
        const wanted = path.input.value.trim();
        button.disabled = true;
        tell(t(copy.input.checked ? "importCopying" : "importLooking"));
        try {
            const { model, bytes, copied } = await send(wanted, copy.input.checked);
            path.input.value = "";
            tell(t(copied ? "importCopied" : "importInPlace", model, fileSize(bytes)));
            added(model);
        } catch (error) {
            if (error.status === 401) return failed(error);
            tell(error.status > 0 ? together(error.message || t("refusedPlain", error.status), error.hint) : t("unreachable"), true);
            path.input.focus();
        } finally {
            button.disabled = false;
        }
    });
    fold.append(form);
    return fold;

    function tell(words, wrong = false) {
        told.className = wrong ? "failure" : "about";
        told.textContent = words;
        path.input.setAttribute("aria-invalid", String(wrong));
    }
}

function field(key) {
    const row = make("label");
    const words = make("span", "words", t(key));
    words.append(make("small", "", t(`${key}Hint`)));
    const input = make("input");
    input.name = key;
    row.append(words, input);
    return { row, input };
}
