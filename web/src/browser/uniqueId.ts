let made = 0;

/** Unique in this browser, in the order of time; crypto.randomUUID is missing on pages without TLS. */
export function newId(): string {
    const number = (made++ % 36 ** 3).toString(36).padStart(3, '0');
    return Date.now().toString(36) + number + Math.random().toString(36).slice(2, 8);
}
