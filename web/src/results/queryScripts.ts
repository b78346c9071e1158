/** Scripts, notebooks and references that repeat a query elsewhere and cite its tables. */

export interface ScriptSource {
    /** address of the service */
    readonly tap: string;
    readonly service: string;
    readonly query: string;
    readonly maxrec?: number | undefined;
    /** it takes longer than a synchronous query may */
    readonly isJob: boolean;
    /** uploaded files by table name, as Base64; the script contains them */
    readonly uploads: Readonly<Record<string, string>>;
    /** bibcodes or texts by which the tables want to be cited */
    readonly citations: readonly string[];
    /** the permanent link of the result; '' for none */
    readonly share: string;
    /** ISO 8601 */
    readonly date: string;
}

/** Return a Python literal of a text, over several lines where it has them. */
export function pythonText(text: string): string {
    const escaped = text.replace(/\\/g, '\\\\').replace(/"/g, '\\"').replace(/[\0\r]/g, (sign) => (sign === '\r' ? '\\r' : '\\x00')); // prettier-ignore
    return text.includes('\n') ? `"""${escaped}"""` : `"${escaped}"`;
}

/** Return a Python script that runs the query with pyvo, ready to run. */
export function pythonScript(source: ScriptSource): string {
    return `${pythonParts(source).join('\n\n')}\n\nprint(rows)\n`;
}

/** Return a Python script that runs the query and continues with its `rows`. */
export function pythonScriptWith(source: ScriptSource, rest: string): string {
    return `${pythonParts(source).join('\n\n')}\n\n${rest}\n`;
}

function pythonParts({ tap, query, maxrec, isJob, uploads, citations, share }: ScriptSource): string[] {
    const names = Object.keys(uploads);
    const options = [
        ...(maxrec === undefined ? [] : [`maxrec=${maxrec}`]),
        ...(names.length ? [`uploads={${names.map((name) => `"${name}": ${name}_file`).join(', ')}}`] : []),
    ];
    const imports = ['import pyvo', ...(names.length ? ['import base64', 'import io'] : [])];
    const files = names.map((name) => `${name}_file = io.BytesIO(base64.b64decode(\n    "${uploads[name]}"\n))`);
    const call = `tap.${isJob ? 'run_async' : 'run_sync'}(${['query', ...options].join(', ')})`;
    const cited = [...(share ? [share] : []), ...citations];
    return [
        [...cited.map((citation) => `# Cite ${citation.replace(/[\r\n]+/g, ' ')}`), ...imports.toSorted()].join('\n'),
        ...files,
        `tap = pyvo.dal.TAPService(${pythonText(tap)})\nquery = ${pythonText(query)}`,
        `rows = ${call}.to_table()`,
    ];
}

/** Return a Jupyter notebook (nbformat 4.5) that runs the query and plots its first columns. */
export function notebook(source: ScriptSource): string {
    const [head, ...rest] = pythonParts(source);
    const about = [
        `# ${source.service}`,
        `Query of ${source.date.slice(0, 10)} at <${source.tap}>.`,
        ...(source.share ? [`Cite <${source.share}>, where the rows and their checksum are kept.`] : []),
        ...source.citations.map((citation) => `Cite ${citation}`),
    ];
    const plot =
        'import matplotlib.pyplot as plt\n\n' +
        'numbers = [name for name in rows.colnames if rows[name].dtype.kind in "fiu"]\n' +
        'if len(numbers) >= 2:\n' +
        '    plt.scatter(rows[numbers[0]], rows[numbers[1]], s=4)\n' +
        '    plt.xlabel(numbers[0])\n    plt.ylabel(numbers[1])';
    const cells = [
        makeCell('markdown', about.join('\n\n'), 0),
        ...[[head, ...rest.slice(0, -1)].join('\n\n'), `${rest.at(-1)}\nrows`, plot].map((code, k) =>
            makeCell('code', code, k + 1),
        ),
    ];
    const kernel = { display_name: 'Python 3', language: 'python', name: 'python3' };
    const metadata = { kernelspec: kernel, language_info: { name: 'python' } };
    return `${JSON.stringify({ cells, metadata, nbformat: 4, nbformat_minor: 5 }, null, 1)}\n`;
}

function makeCell(type: 'markdown' | 'code', content: string, index: number): object {
    const source = content.split(/(?<=\n)/);
    const common = { cell_type: type, id: `cell-${index}`, metadata: {}, source };
    return type === 'code' ? { ...common, execution_count: null, outputs: [] } : common;
}

/** Quote a word for a POSIX shell. */
function shellQuote(word: string): string {
    return /^[\w./:=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** Return a command of STILTS that runs the query; undefined if the query has uploads, whose files it would not find. */
export function stiltsCommand({ tap, query, maxrec, isJob, uploads }: ScriptSource): string | undefined {
    if (Object.keys(uploads).length) return undefined;
    const limit = maxrec === undefined ? '' : ` maxrec=${maxrec}`;
    return `stilts tapquery tapurl=${shellQuote(tap)} sync=${!isJob}${limit} ofmt=votable out=result.vot \\\n    adql=${shellQuote(query)}\n`;
}

/** Return references in BibTeX: the citations of the tables, and the query. */
export function bibtex({ tap, service, query, citations, share, date }: ScriptSource): string {
    const entries = citations.map((citation, k) => {
        const bibcode = /^\d{4}[A-Za-z&.]{5}[\w.]{9}[A-Z:]$/.test(citation);
        const fields = bibcode
            ? [['note', `Bibcode ${citation}`], ['url', `https://ui.adsabs.harvard.edu/abs/${encodeURIComponent(citation)}`]] // prettier-ignore
            : [['note', citation]];
        return writeEntry(`table${k + 1}`, fields as [string, string][]);
    });
    const about: [string, string][] = [
        ['title', `Query of ${service}`],
        ['year', date.slice(0, 4)],
        ['url', share || tap],
        ['note', `ADQL: ${query.replace(/\s+/g, ' ')}. Retrieved on ${date.slice(0, 10)}`],
    ];
    return [...entries, writeEntry('query', about)].join('\n');
}

function writeEntry(key: string, fields: readonly (readonly [string, string])[]): string {
    const lines = fields.map(([name, value]) => `  ${name} = {${name === 'url' ? value : escapeTex(value)}}`);
    return `@misc{${key},\n${lines.join(',\n')}\n}\n`;
}

const SIGNS: Readonly<Record<string, string>> = {
    '\\': '\\textbackslash{}',
    '~': '\\textasciitilde{}',
    '^': '\\textasciicircum{}',
};
const escapeTex = (text: string): string => text.replace(/[\\~^]|[&%$#_{}]/g, (sign) => SIGNS[sign] ?? `\\${sign}`);
