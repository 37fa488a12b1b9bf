// Sizes, times and lists as the person's language writes them: what only messages and sheets say.

import { locale, t } from "./strings.js";

export function fileSize(bytes) {
    const units = ["byte", "kilobyte", "megabyte", "gigabyte"];
    let value = bytes;
    let unit = 0;
    while (value >= 1000 && unit < units.length - 1) {
        value /= 1000;
        unit += 1;
    }
    const digits = unit < 2 || value >= 100 ? 0 : 1;
    return new Intl.NumberFormat(locale, {
        style: "unit", unit: units[unit], unitDisplay: "short", maximumFractionDigits: digits,
    }).format(value);
}

export function seconds(value) {
    return t("seconds", Math.round(value || 0));
}

/** Minutes once there are some, hours once there are many. */
export function duration(value) {
    const whole = Math.max(0, Math.round(value || 0));
    const part = (amount, unit) =>
        new Intl.NumberFormat(locale, { style: "unit", unit, unitDisplay: "short" }).format(amount);
    if (whole < 90) return part(whole, "second");
    return whole < 5_400 ? part(Math.round(whole / 60), "minute") : part(Math.round(whole / 360) / 10, "hour");
}

export function clockTime(iso) {
    const then = new Date(iso);
    return Number.isNaN(then.getTime()) ? "" : new Intl.DateTimeFormat(locale, { timeStyle: "medium" }).format(then);
}

/** A day as its own heading: today and yesterday by name, others by date. */
export function dayName(milliseconds, now = new Date()) {
    const today = new Date(now.getFullYear(), now.getMonth(), now.getDate());
    const days = Math.round((milliseconds - today.getTime()) / 86_400_000);
    if (days === 0 || days === -1) {
        const words = new Intl.RelativeTimeFormat(locale, { numeric: "auto" }).format(days, "day");
        return words[0].toLocaleUpperCase(locale) + words.slice(1);
    }
    return new Intl.DateTimeFormat(locale, { dateStyle: "full" }).format(new Date(milliseconds));
}

/** Names one after another, as the language lists them. */
export function listed(names) {
    return new Intl.ListFormat(locale, { type: "conjunction" }).format(names);
}

/** What the host computes with and may do now, from what it said of its engine; "" when it said nothing. */
export function nowWords({ engine, now, endpointHost } = {}) {
    // An older host has only a line of its own.
    if (typeof now !== "object" || now === null) return typeof engine === "string" ? engine : "";
    const place = now.device ?? t("nowServer", endpointHost ?? "");
    return [place, t(now.code ? "nowCodeOn" : "nowCodeOff"), t(now.network ? "nowNetworkOn" : "nowNetworkOff")].join(" · ");
}
