/** What goes from the page to the user: text to the clipboard, files to the disk. */

/** To the clipboard, also where the browser gives pages without TLS none of their own. False if it does not let us. */
export async function copyText(text: string): Promise<boolean> {
    if (navigator.clipboard) {
        try {
            await navigator.clipboard.writeText(text);
            return true;
        } catch (error) {
            if (!(error instanceof DOMException)) throw error;
        }
    }
    return copiedByHand(text);
}

function copiedByHand(text: string): boolean {
    const focused = document.activeElement;
    const area = document.createElement('textarea');
    area.value = text;
    area.className = 'unseen';
    document.body.append(area);
    area.select();
    const done = document.execCommand('copy');
    area.remove();
    if (focused instanceof HTMLElement) focused.focus();
    return done;
}

/** Have the browser save a file. */
export function save(file: Blob, name: string): void {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(file);
    link.download = name;
    link.click();
    // the browser reads it after this turn
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
