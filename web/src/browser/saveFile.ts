/** Let the browser save a file. */
export function saveFile(file: Blob, name: string): void {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(file);
    link.download = name;
    link.click();
    // the browser reads it after this task
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** Make a file name from a title, of characters that every system accepts. */
export function fileName(title: string, extension: string): string {
    const name = title.replace(/[^\p{L}\p{N}._-]+/gu, '_').replace(/^[._]+|_+$/g, '');
    return `${name.slice(0, 80) || 'result'}.${extension}`;
}
