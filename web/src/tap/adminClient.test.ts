import { afterEach, expect, it, vi } from 'vitest';
import { addNote, removeDowntime, selectionPath } from './adminClient';
import { announcedNow } from './announcedNow.svelte';
import { TapError } from './tapRequest';

vi.hoisted(() => Object.assign(globalThis, { document: { baseURI: 'http://localhost/' } }));

afterEach(() => vi.unstubAllGlobals());

it('selects jobs by user and phase', () => {
    expect(selectionPath({ user: ' ', phases: [], last: 50 })).toBe('admin/jobs?LAST=50');
    expect(selectionPath({ user: 'a&b', phases: ['QUEUED', 'EXECUTING'], last: 50 })).toBe(
        'admin/jobs?LAST=50&USER=a%26b&PHASE=QUEUED&PHASE=EXECUTING',
    );
});

it('shows what was announced at once', async () => {
    const all = { draining: '', downtimes: [], notes: [{ id: '1', text: 'new' }] };
    const fetch = vi.fn(() => Promise.resolve(Response.json(all, { status: 201 })));
    vi.stubGlobal('fetch', fetch);
    await addNote('new');
    expect(announcedNow.all).toEqual(all);
    const [[address, request]] = fetch.mock.calls as unknown as [[string, RequestInit]];
    expect([address, request.method, request.body]).toEqual([
        'http://localhost/tap/admin/notes',
        'POST',
        '{"text":"new"}',
    ]);
});

it("passes on the service's own words, and changes nothing then", async () => {
    const before = announcedNow.all;
    vi.stubGlobal('fetch', () => Promise.resolve(new Response("there is no downtime 'x'", { status: 404 })));
    await expect(removeDowntime('x')).rejects.toThrow(new TapError("there is no downtime 'x'", 404));
    expect(announcedNow.all).toBe(before);
});
