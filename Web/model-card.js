// What a model's card says: its size and kinds, the memory it needs, how far its download is.

import { make } from "./elements.js";
import { duration, fileSize, listed } from "./formats.js";
import { number, percent, t } from "./strings.js";

export function facts(entry) {
    const kinds = String(entry.modalities || "Text").split(",").map((kind) => kind.trim());
    const all = kinds.includes("Text") ? kinds : ["Text", ...kinds];
    return [
        entry.parameters, entry.totalBytes > 0 && fileSize(entry.totalBytes), listed(all.map((kind) => t("modelKinds")[kind] ?? kind)),
        entry.license && t("modelLicense", entry.license),
    ].filter(Boolean).join(" · ");
}

export function memoryWords({ fits, tight, needsBytes, freeBytes, deviceBytes, minDeviceMemoryGB, state, installedBytes, totalBytes }) {
    const known = needsBytes > 0 && Number.isFinite(freeBytes);
    if (!fits) {
        // What is too big for the device may still be less than what is free on it: then its makers' word counts.
        if (known && needsBytes > freeBytes) return t("modelTooBigWhy", fileSize(needsBytes), fileSize(freeBytes));
        const made = fileSize(1e9 * (minDeviceMemoryGB ?? 0));
        return deviceBytes > 0 ? t("modelTooBigDevice", made, fileSize(deviceBytes)) : t("modelTooBigPlain", made);
    }
    const lines = [];
    if (known) lines.push(t(tight ? "modelTight" : "modelFits", fileSize(needsBytes), fileSize(freeBytes)));
    if (state === "Partial" && totalBytes > 0) lines.push(`${t("modelPartly", fileSize(installedBytes ?? 0), fileSize(totalBytes))}.`);
    return lines.join(" ");
}

export function progress(job, entry) {
    const box = make("div", "progress");
    if (job.state === "failed") {
        box.append(make("p", "failure", job.error ?? t("modelsFailed")));
        return box;
    }
    if (job.state === "cancelled") {
        box.append(make("p", "about", t("downloadPaused")));
        return box;
    }
    const bar = make("progress");
    bar.max = 1;
    bar.setAttribute("aria-label", `${t("modelDownload")}: ${entry.name ?? entry.id}`);
    if (job.fraction !== null) bar.value = job.fraction;
    const words = job.fraction === null ? t("downloadStarting") : job.verifying ? t("downloadVerifying") : [
        percent(job.fraction), job.total > 0 && t("downloadProgress", fileSize(job.received), fileSize(job.total)),
        job.speed > 0 && t("downloadSpeed", fileSize(job.speed)),
        job.left !== null && t("downloadLeft", duration(job.left)),
        job.count > 1 && t("downloadFile", number(job.index), number(job.count)),
    ].filter(Boolean).join(" · ");
    box.append(bar, make("p", "about", words));
    if (job.waiting) box.append(make("p", "about", t("downloadWaiting", job.waiting)));
    return box;
}
