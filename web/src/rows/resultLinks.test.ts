import { DOMParser } from '@xmldom/xmldom';
import { expect, test, vi } from 'vitest';
import { fillTemplate, isWebAddress, readResultLinks, serviceAddress } from './resultLinks';

// the module that asks takes the service's address from the page's
vi.hoisted(() => Object.assign(globalThis, { document: { baseURI: 'http://localhost/' } }));

const ABOUT = `<VOTABLE xmlns="http://www.ivoa.net/xml/VOTable/v1.3"><RESOURCE type="results"><TABLE>
<FIELD ID="col_did" name="did" datatype="char" arraysize="*"><LINK title="Page" href="https://a.org/p?id=\${col_did}&amp;v=\${v}"/></FIELD>
<FIELD ID="v" name="version" datatype="int"><LINK href="javascript:alert(\${v})"/><LINK href="https://a.org/about"/><LINK href="https://a.org/\${gone}"/></FIELD>
</TABLE></RESOURCE>
<RESOURCE type="meta" utype="adhoc:service" name="links"><DESCRIPTION>Files</DESCRIPTION>
<PARAM name="standardID" value="ivo://ivoa.net/std/DataLink#links-1.1"/><PARAM name="accessURL" value="https://a.org/links?x=1"/>
<GROUP name="inputParams"><PARAM name="ID" ref="col_did" value=""/><PARAM name="RESPONSEFORMAT" value="votable"/><PARAM name="POL" value=""/></GROUP>
</RESOURCE>
<RESOURCE type="meta" utype="adhoc:service" name="bad"><PARAM name="accessURL" value="javascript:1"/></RESOURCE></VOTABLE>`;

const { links, services } = readResultLinks(
    new DOMParser().parseFromString(ABOUT, 'application/xml') as unknown as Document,
);

test('a link takes the values of its row, encoded', () => {
    const [link] = links.get(0)!;
    const row = ['ivo://x?a&b#1', 3];
    expect(fillTemplate(link!, (column) => row[column])).toBe('https://a.org/p?id=ivo%3A%2F%2Fx%3Fa%26b%231&v=3');
    expect(fillTemplate(link!, (column) => ['a', null][column])).toBeUndefined();
});

test('scripts, fixed addresses and unknown columns make no link of a row', () => {
    expect([...links.keys()]).toEqual([0]);
    expect(['javascript:alert(1)', 'http://a b', 'ftp://a.org', 'http://[', 5, null].filter(isWebAddress)).toEqual([]);
    expect(isWebAddress('https://example.org/a?b=c')).toBe(true);
});

test('a service is called with columns and constants; the rest is asked', () => {
    expect(services).toHaveLength(1);
    expect(services[0]).toMatchObject({ name: 'links', description: 'Files', isDatalink: true, asked: ['POL'] });
    expect(serviceAddress(services[0]!, () => 'ivo://x?1')).toBe(
        'https://a.org/links?x=1&ID=ivo%3A%2F%2Fx%3F1&RESPONSEFORMAT=votable',
    );
    expect(serviceAddress(services[0]!, () => null)).toBeUndefined();
});
