// How a download stands, as its frames tell it, and which models come first. Pure: no DOM, no fetch.

/** A job as the card shows it: `state` is running, done, cancelled or failed. */
export function begun() {
    return { state: "running", verifying: false, received: 0, total: 0, fraction: null, speed: 0, left: null, index: 1, count: 1, error: null };
}

/** The job after one frame of its stream. */
export function afterFrame(job, frame) {
    if (frame.done === true) return { ...job, state: "done", fraction: 1 };
    if (frame.cancelled === true) return { ...job, state: "cancelled" };
    if (typeof frame.error === "string") return { ...job, state: "failed", error: frame.error };
    const known = (value, otherwise) => (Number.isFinite(value) && value >= 0 ? value : otherwise);
    const total = known(frame.total, job.total);
    const received = known(frame.received, job.received);
    return {
        ...job, total, received,
        state: "running",
        verifying: frame.phase === "verifying",
        // Why nothing comes: the host tries again by itself.
        waiting: frame.phase === "waiting" && typeof frame.reason === "string" ? frame.reason : null,
        fraction: Math.min(1, known(frame.fraction, total > 0 ? received / total : 0)),
        speed: known(frame.bytesPerSecond, 0),
        left: known(frame.etaSeconds, null),
        index: known(frame.fileIndex, job.index),
        count: known(frame.fileCount, job.count),
    };
}

/** What an entry of `GET /api/agent/downloads` says of a job, for a sheet that opens while it runs. */
export function fromListing({ running, state, error, progress }) {
    const job = progress ? afterFrame(begun(), progress) : begun();
    if (running) return { ...job, state: "running" };
    const ended = { Completed: "done", Cancelled: "cancelled", Failed: "failed" }[state];
    return { ...job, state: ended ?? "cancelled", error: error ?? null };
}

/**
 * A catalogue entry with what the card needs of its memory: `fits`, `tight` (the device is large enough, and too much of
 * it is taken now), `needsBytes`, `freeBytes`, `deviceBytes`.
 */
export function withMemory(entry) {
    const { verdict, needBytes, freeBytes, deviceBytes } = entry.fit ?? {};
    return {
        ...entry,
        fits: entry.fits ?? verdict !== "tooBig", tight: verdict === "tight",
        needsBytes: entry.needsBytes ?? needBytes ?? null, freeBytes: entry.freeBytes ?? freeBytes ?? null,
        deviceBytes: entry.deviceBytes ?? deviceBytes ?? null,
    };
}

/**
 * The entries in two piles: at most three to begin with, and the rest. What is on the device always belongs to the
 * first; what runs here comes before what does not, then small devices' models, then small files.
 */
export function sorted(entries) {
    const rank = (entry) => [entry.fits === false ? 1 : 0, entry.minDeviceMemoryGB ?? 0, entry.totalBytes ?? 0];
    const order = [...entries].sort((a, b) => {
        const [left, right] = [rank(a), rank(b)];
        const place = left.findIndex((value, index) => value !== right[index]);
        return place < 0 ? 0 : left[place] - right[place];
    });
    const here = order.filter(isHere);
    const advised = order.filter((entry) => entry.recommended && !isHere(entry)).slice(0, 3);
    const first = [...here, ...advised];
    return { first, rest: order.filter((entry) => !first.includes(entry)) };
}

export const isHere = (entry) => entry.installed === true || entry.state === "Installed" || entry.state === "Partial";
