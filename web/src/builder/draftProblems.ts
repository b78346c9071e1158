/** What a draft lacks before it can run. */

import { text } from '../text';
import { writeCondition } from './conditionSql';
import type { DraftTable, QueryDraft, TableSide } from './queryDraft';
import { readAngle } from './typedValues';

const texts = text.builder.missing;

/** Return what is missing or wrong, as sentences. A condition without a value is left out, and is not a problem. */
export function findProblems(draft: QueryDraft, sides: readonly TableSide[]): string[] {
    if (draft.tables.length === 0) return [texts.table];
    const unknown = draft.tables.some(({ alias }) => !sides.some((side) => side.alias === alias));
    if (unknown) return [texts.reading];
    return [
        ...draft.tables.flatMap((table) => joinProblems(table, sides)),
        ...regionProblems(draft, sides),
        ...conditionProblems(draft, sides),
        ...(draft.result === 'rows' && draft.tables.length > 1 && draft.columns.length === 0 ? [texts.columns] : []),
        ...(/^\d*$/.test(draft.limit.trim()) ? [] : [texts.limit]),
    ];
}

function joinProblems({ table, alias, join }: DraftTable, sides: readonly TableSide[]): string[] {
    if (!join) return [];
    if (join.by === 'columns')
        return join.pairs.some(({ own, other }) => own && other) && join.pairs.every(({ own, other }) => own && other)
            ? []
            : [texts.pair(table)];
    const unplaced = sides.filter((side) => [alias, join.with].includes(side.alias) && !side.position);
    const radius = readAngle(join.radius, 'arcsec');
    return [
        ...unplaced.map((side) => texts.position(side.table)),
        ...('problem' in radius ? [texts.radius(table, radius.problem)] : []),
    ];
}

function regionProblems({ region }: QueryDraft, sides: readonly TableSide[]): string[] {
    if (region.shape === 'everywhere') return [];
    const side = sides.find(({ alias }) => alias === region.alias);
    if (!side?.position) return [texts.position(side?.table ?? '')];
    const sizes = [region.size, ...(region.shape === 'box' ? [region.height] : [])].map((size) =>
        readAngle(size, 'deg'),
    );
    return [
        ...(region.centre ? [] : [texts.centre]),
        ...sizes.flatMap((size) => ('problem' in size ? [size.problem] : [])),
        ...(sizes.some(({ degrees = 0 }) => region.shape === 'box' && degrees >= 180) ? [texts.wide] : []),
    ];
}

function conditionProblems(draft: QueryDraft, sides: readonly TableSide[]): string[] {
    return draft.conditions.flatMap((condition) => {
        const side = sides.find(({ alias }) => alias === condition.alias);
        const column = side?.columns.find(({ name }) => name === condition.column);
        if (!side || !column) return condition.column ? [texts.gone(condition.column)] : [];
        const written = writeCondition(condition, column, '');
        return written && 'problem' in written ? [`${column.name}: ${written.problem}`] : [];
    });
}
