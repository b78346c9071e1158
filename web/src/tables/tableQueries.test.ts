import { DOMParser } from '@xmldom/xmldom';
import { describe, expect, it, vi } from 'vitest';
import type { Column } from '../tap/vosiTables';
import { factsOf, rowCountOf } from './tableFacts';
import { openCatalogCall } from '../tap/hatsCollection';
import { coneQuery, firstRowsQuery, clientSnippet } from './tableQueries';

// the module that asks takes the service's address from the page's
vi.hoisted(() => Object.assign(globalThis, { document: { baseURI: 'http://localhost/' } }));

const columns = (...names: string[]) => names.map((name) => ({ name }) as Column);

describe('queries', () => {
    it('take all columns of a narrow table, the principal ones of a wide one', () => {
        expect(firstRowsQuery('s.t', columns('a', 'b'), new Set())).toBe('SELECT TOP 100 *\nFROM s.t');
        const wide = columns(...Array.from({ length: 500 }, (_, at) => `c${at}`));
        expect(firstRowsQuery('s.t', wide, new Set(['c7', 'c400']))).toBe('SELECT TOP 100 c7, c400\nFROM s.t');
        expect(firstRowsQuery('s.t', wide, new Set()).split(',')).toHaveLength(40);
    });

    it('search around positions and names', () => {
        const [ra, dec] = columns('ra', '"dec"');
        expect(coneQuery('s.t', [ra!, dec!], [56.75, 24.12], 1 / 3600)).toContain(
            'WHERE DISTANCE(POINT(ra, "dec"), POINT(56.75, 24.12)) <= 0.000277777777778\n',
        );
        expect(coneQuery('s.t', [ra!, dec!], "Barnard's star", 1)).toContain("skyhouse_resolve('Barnard''s star')");
    });

    it('are written for other programs', () => {
        const tap = 'http://h/tap';
        expect(clientSnippet('pyvo', tap, 's."a b"')).toContain(
            'tap.search(\n    "SELECT TOP 100 * FROM s.\\"a b\\"")',
        );
        expect(clientSnippet('curl', tap, 's."it\'s"')).toContain(`'QUERY=SELECT TOP 100 * FROM s."it'\\''s"'`);
        expect(clientSnippet('stilts', tap, 's.t')).toContain("adql='SELECT TOP 100 * FROM s.t'");
        expect(clientSnippet('topcat', tap, 's.t')).toBe(tap);
        const address = 'http://x/hats/s."a b"';
        expect(openCatalogCall(address, false)).toContain('lsdb.open_catalog("http://x/hats/s.\\"a b\\"")');
        expect(openCatalogCall(address, false)).not.toContain('TOKEN');
        expect(openCatalogCall(address, true)).toContain('storage_options={"headers": headers})');
    });
});

describe('what is said of a table', () => {
    it('has links, services, citations', () => {
        const votable = `<VOTABLE xmlns="v"><RESOURCE><INFO name="citation" value="2000A"/><INFO name="rights" value="BSD"/>
            <TABLE><FIELD ID="did" name="DID" datatype="char"><LINK href="http://x/\${did}" title="Page" content-type="text/html"/></FIELD></TABLE>
            </RESOURCE><RESOURCE type="meta" utype="adhoc:service" name="links"><DESCRIPTION>Files</DESCRIPTION>
            <PARAM name="standardID" value="ivo://ivoa.net/std/DataLink#links-1.1"/><PARAM name="accessURL" value="http://x/l"/>
            <GROUP name="inputParams"><PARAM name="ID" ref="did" value=""/></GROUP></RESOURCE></VOTABLE>`;
        const read = new DOMParser().parseFromString(votable, 'application/xml') as unknown as Document;
        expect(factsOf(read)).toEqual({
            links: [{ column: 'DID', title: 'Page', href: 'http://x/${did}', contentType: 'text/html' }],
            services: [
                {
                    name: 'links',
                    description: 'Files',
                    address: 'http://x/l',
                    standard: 'DataLink links 1.1',
                    columns: ['DID'],
                },
            ],
            citations: ['2000A'],
            rights: ['BSD'],
        });
    });

    it('has a density only with positions', () => {
        expect(rowCountOf({ rows: 5, order: null })).toEqual({ rows: 5 });
        expect(
            rowCountOf({ rows: 5, order: 0, cells: [3], counts: [4], withoutPosition: 1 }).density?.withoutPosition,
        ).toBe(1);
    });

    it('has the address of a HATS collection where there is one', () => {
        const located = { rows: 5, order: 0, cells: [3], counts: [5] };
        expect(rowCountOf({ ...located, hats: 'http://x/hats/s.t' }).hats).toBe('http://x/hats/s.t');
        expect('hats' in rowCountOf({ ...located, hats: null })).toBe(false);
    });
});
