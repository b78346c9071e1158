/** Unique in this browser; crypto.randomUUID is missing on pages without TLS. */
export function newId(): string {
    return Date.now().toString(36) + Math.random().toString(36).slice(2, 8);
}
