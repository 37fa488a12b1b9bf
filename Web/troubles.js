// Says what went wrong, and offers what can be done about it.

import { host, HostError } from "./api.js";
import { t } from "./strings.js";

export class Troubles {
    #page;

    /** `page` is what app.js puts together; of it `notices`, `model` and `places` are used. */
    constructor(page) {
        this.#page = page;
    }

    failed(error) {
        const { notices } = this.#page;
        if (error.status === 401) this.showGate();
        // Parts of the page come from the host too: one that does not load means the same.
        else if (error.transport || error.name === "TimeoutError" || !(error instanceof HostError)) notices.add({ sentence: t("unreachable") });
        else notices.add({ sentence: error.message || t("refusedPlain", error.status), hint: error.hint });
    }

    /** Runs what loads a part of the page, which is told like everything else when it fails. */
    async attempt(run) {
        try {
            return await run();
        } catch (error) {
            this.failed(error);
            return null;
        }
    }

    /** What the transport has to say. */
    notice({ key, sentence, hint, status, code }) {
        if (status === 401) return;
        const { notices, places } = this.#page;
        const actions = {
            network_disabled: [[t("networkOn"), () => this.#turnOnNetwork()]],
            vision_not_ready: [[t("openModels"), places.models]],
            no_model: [[t("openModels"), places.models]],
            routed_workflow_unavailable: [[t("openSettings"), places.settings]],
        }[code];
        notices.add({ sentence: key ? t(key) : sentence, hint, actions });
    }

    /** An answer that met the switched-off network says where the switch is, once. */
    async offerNetwork({ message, outcome }) {
        const refusal = this.#page.model.networkDisabledMessage;
        const said = [message?.content, outcome.error, ...(message?.steps ?? []).map(({ detail }) => detail)];
        if (refusal === "" || !said.some((text) => typeof text === "string" && text.includes(refusal))) return;
        const settings = await host.settings().catch(() => null);
        if (settings?.allowNetwork !== false) return;
        this.#page.notices.add({ sentence: t("networkOff"), actions: [[t("networkOn"), () => this.#turnOnNetwork()]] });
    }

    async #turnOnNetwork() {
        await host.changeSettings({ allowNetwork: true }).catch((error) => this.failed(error));
    }

    /** The host does not know this browser. */
    showGate() {
        document.getElementById("gate").hidden = false;
        document.querySelector(".app").inert = true;
    }
}
