import { expect, it } from 'vitest';
import type { RunningWork } from '../tap/adminClient';
import { describeWork } from './describeWork';

const work: RunningWork = {
    work_id: '1',
    kind: 'sync',
    client: 'alice',
    lane: 'scan',
    state: 'running',
    since: '2099-03-01T06:00:00.000Z',
    query: 'SELECT 1',
    read_rows: 0,
    read_bytes: 0,
    memory: 0,
    sent_bytes: 0,
};
const start = Date.parse(work.since);

it('tell what it has used so far', () => {
    const used = { read_rows: 12_000, read_bytes: 2_000_000, memory: 5000, sent_bytes: 10 };
    expect(describeWork({ ...work, ...used }, start + 200_000)).toEqual([
        'running',
        'scan',
        'for 3 min 20 s',
        '12,000 rows read, 2 MB',
        '5 kB of memory',
        '10 B sent',
    ]);
});

it('leave out what is not known, and do not count backwards where clocks differ', () => {
    expect(describeWork({ ...work, lane: '' }, start - 5000)).toEqual(['running', 'for 0 s']);
});
