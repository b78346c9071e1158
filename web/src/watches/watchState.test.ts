import { expect, test } from 'vitest';
import type { Watch, WatchRun } from '../tap/watchClient';
import { canRunAgain, describeDeliveries, describeRun, suggestName } from './watchState';

const RUN: WatchRun = {
    addition: 3,
    added: '2026-11-25T08:00:00.000Z',
    added_rows: 3000,
    state: 'DONE',
    since: '2026-11-25T08:00:02.000Z',
    rows: 1,
    job: 'j',
    error: null,
    deliveries: {},
};

const watchOf = (...runs: WatchRun[]): Watch => ({
    ...{ id: 'w', name: 'bright', table: 'sky.alerts', result: 'mydb.bright', query: 'SELECT 1' },
    ...{ webhook: null, mail: false, state: 'active', created: RUN.added, rows: 0, runs_done: 0 },
    ...{ last_run: null, last_error: null },
    runs,
});

test('a name comes from the table, and is not taken', () => {
    expect(suggestName('SELECT * FROM sky.alerts WHERE mag < 2', [])).toBe('new_alerts');
    expect(suggestName('select * from "sky" . "alerts" as a', ['New_Alerts'])).toBe('new_alerts_2');
    expect(suggestName('SELECT * FROM alerts', ['new_alerts', 'new_alerts_2'])).toBe('new_alerts_3');
    expect(suggestName('SELECT 1', [])).toBe('');
});

test('a run says what it has found, or why it has not', () => {
    expect(describeRun(RUN)).toBe('1 row of 3,000 new rows');
    expect(describeRun({ ...RUN, state: 'FAILED', error: 'the query is wrong' })).toBe('Failed: the query is wrong');
    expect(describeRun({ ...RUN, state: 'WAITING', added_rows: null })).toBe('Waiting');
});

test('what could not be delivered can be tried again', () => {
    const given = { webhook: { state: 'GIVEN_UP', attempts: 9, error: 'the server answered 500' } } as const;
    const told = { ...RUN, deliveries: given };
    expect(describeDeliveries(told)).toBe(
        'the message to the webhook could not be delivered (the server answered 500)',
    );
    expect(describeDeliveries(RUN)).toBe('');
    expect(canRunAgain(watchOf(RUN))).toBe(false);
    expect(canRunAgain(watchOf(RUN, told))).toBe(true);
    expect(canRunAgain(watchOf({ ...RUN, state: 'FAILED' }))).toBe(true);
});
