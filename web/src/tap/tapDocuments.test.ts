import { DOMParser } from '@xmldom/xmldom';
import { describe, expect, it, vi } from 'vitest';
import { examplesOf } from './serviceExamples';
import { splitName, areSameNames, schemaOf, unquoteName } from '../adql/adqlNames';
import { toNumber, parseRows } from './jsonRows';
import { schemasOf, tableOf } from './vosiTables';
import { declaresFunction } from './serviceInfo.svelte';

// the module that asks takes the service's address from the page's
vi.hoisted(() => Object.assign(globalThis, { document: { baseURI: 'http://localhost/' } }));

const read = (source: string) => new DOMParser().parseFromString(source, 'application/xml') as unknown as Document;

describe('VOSI', () => {
    it('reads the list of tables', () => {
        const schemas = schemasOf(
            read(`<v:tableset xmlns:v="u"><schema><name>s</name><description>All &amp; more</description>
                <table><name>s.a</name><description>First</description></table>
                <table><name>s."b c"</name></table></schema><schema><name>empty</name></schema></v:tableset>`),
        );
        expect(schemas).toEqual([
            {
                name: 's',
                description: 'All & more',
                tables: [
                    { name: 's.a', description: 'First' },
                    { name: 's."b c"', description: '' },
                ],
            },
            { name: 'empty', description: '', tables: [] },
        ]);
    });

    it('reads columns, flags and keys of a table', () => {
        const table = tableOf(
            read(`<v:table xmlns:v="u" xmlns:x="w"><name>s.a</name><column><name>ra</name><unit>deg</unit><ucd>pos.eq.ra</ucd>
                <dataType x:type="T" arraysize="2" extendedType="point">double</dataType><flag>primary</flag><flag>indexed</flag></column>
                <foreignKey><targetTable>s.b</targetTable><fkColumn><fromColumn>id</fromColumn>
                <targetColumn>star</targetColumn></fkColumn><description>the star</description></foreignKey></v:table>`),
            '2027-01-01',
        );
        expect(table.columns[0]).toMatchObject({
            name: 'ra',
            unit: 'deg',
            datatype: 'double',
            arraysize: '2',
            xtype: 'point',
            primary: true,
            indexed: true,
            nullable: false,
            description: '',
        });
        expect(table.keys).toEqual([{ target: 's.b', columns: [{ from: 'id', to: 'star' }], description: 'the star' }]);
        expect(table.expires).toBe('2027-01-01');
    });

    it('knows what is declared', () => {
        const document = read('<c><feature><form>ivo_simbadpoint(identifier TEXT) -> POINT</form></feature></c>');
        expect(declaresFunction(document, 'IVO_simbadpoint')).toBe(true);
        expect(declaresFunction(document, 'ivo_simbad')).toBe(false);
    });
});

describe('names', () => {
    it('are cut at dots outside of quotes', () => {
        expect(splitName('a."b.c""d"')).toEqual(['a', '"b.c""d"']);
        expect(unquoteName('"b.c""d"')).toBe('b.c"d');
        expect(schemaOf('a."b.c"')).toBe('a');
        expect(schemaOf('alone')).toBe('');
    });

    it('differ by case in quotes alone', () => {
        expect(areSameNames('Tycho2.BRIGHT', 'tycho2.bright')).toBe(true);
        expect(areSameNames('a."B"', 'a."b"')).toBe(false);
    });
});

describe('examples', () => {
    it('have name, description, query and tables', () => {
        const found = examplesOf(
            read(`<html xmlns="http://www.w3.org/1999/xhtml"><body><h1>All</h1><div vocab="v">
                <div typeof="example" id="e1"><h2 property="name">Cone</h2><p>Stars near.</p>
                <pre property="query">SELECT 1
FROM t WHERE a &lt; 2</pre><p>Tables: <code property="table">s.t</code>, <code property="table">s.u</code></p></div>
                <div typeof="example" id="e2"><h2 property="name">No query</h2></div></div></body></html>`),
        );
        expect(found).toEqual([
            {
                id: 'e1',
                name: 'Cone',
                description: 'Stars near.',
                query: 'SELECT 1\nFROM t WHERE a < 2',
                tables: ['s.t', 's.u'],
            },
        ]);
    });
});

describe('rows', () => {
    it('keep integers beyond 2^53', () => {
        const found = parseRows(
            '{"columns":[{"name":"a"}],"data":[[4611686018427387905],[1e300],["NaN"]],"status":{"value":"OVERFLOW"}}',
        );
        expect(found.data).toEqual([[4611686018427387905n], [1e300], ['NaN']]);
        expect(found.overflow).toBe(true);
    });

    it('refuse what was broken off', () => {
        expect(() => parseRows('{"columns":[{"name":"a"}],"data":[[1],')).toThrow();
    });

    it('become numbers', () => {
        expect([toNumber('NaN'), toNumber('-Infinity'), toNumber(3n), toNumber(null), toNumber('')]).toEqual([
            NaN,
            -Infinity,
            3,
            NaN,
            NaN,
        ]);
    });
});
