/** Copy to the clipboard, also where pages without TLS have no clipboard API. Return false if the browser refuses. */
export async function copyText(text: string): Promise<boolean> {
    if (navigator.clipboard) {
        try {
            await navigator.clipboard.writeText(text);
            return true;
        } catch (error) {
            if (!(error instanceof DOMException)) throw error;
        }
    }
    return copyBySelection(text);
}

function copyBySelection(text: string): boolean {
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
