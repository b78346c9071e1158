/** The page's address after `#`: `#/tables/tycho2.bright`, `#/query?adql=...`. It is never sent to a server. */

export interface Route {
    /** the name of a page in App.svelte; any other is not found */
    readonly page: string;
    /** the decoded rest of the path: a table's name, a job's id; '' if none */
    readonly item: string;
    readonly parameters: URLSearchParams;
}

function parseRoute(hash: string): Route {
    const [path = '', query = ''] = hash.replace(/^#\/?/, '').split(/\?(.*)/s);
    const [page = '', ...item] = path.split('/');
    return { page: page || 'home', item: decodePart(item.join('/')), parameters: new URLSearchParams(query) };
}

function decodePart(part: string): string {
    try {
        return decodeURIComponent(part);
    } catch {
        return part;
    }
}

/** Return the address of a page, for links. */
export function pageAddress(page: string, item = '', parameters: Record<string, string> = {}): string {
    const query = new URLSearchParams(parameters).toString();
    return `#/${page}${item && `/${encodeURIComponent(item)}`}${query && `?${query}`}`;
}

class Router {
    route = $state.raw(parseRoute(location.hash));

    constructor() {
        addEventListener('hashchange', () => (this.route = parseRoute(location.hash)));
    }

    go(page: string, item = '', parameters: Record<string, string> = {}): void {
        location.hash = pageAddress(page, item, parameters);
    }
}

export const router = new Router();
