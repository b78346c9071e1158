import { describe, expect, it } from 'vitest';
import { describeAnnouncements } from './announcedTexts';

describe('announcements', () => {
    it('become sentences, the most urgent first', () => {
        const found = describeAnnouncements({
            draining: 'new disks',
            downtimes: [
                { id: '1', from: '2099-03-01T06:00:00.000Z', to: '2099-03-01T12:30:00.000Z', note: '' },
                { id: '2', from: '2099-04-01T06:00:00.000Z', to: '2099-04-02T06:00:00.000Z', note: '<b>power</b>' },
            ],
            notes: [{ id: '3', text: 'new tables' }],
        });
        expect(found).toEqual([
            { kind: 'warn', text: 'The service is not accepting new queries: new disks' },
            { kind: 'warn', text: 'Downtime from 2099-03-01 06:00 to 2099-03-01 12:30 UTC' },
            { kind: 'warn', text: 'Downtime from 2099-04-01 06:00 to 2099-04-02 06:00 UTC: <b>power</b>' },
            { kind: 'info', text: 'new tables' },
        ]);
    });

    it('are none most of the time', () => {
        expect(describeAnnouncements({ draining: '', downtimes: [], notes: [] })).toEqual([]);
    });
});
