/** Words of ADQL that the editor highlights and completes. */

const splitWords = (list: string): string[] => list.trim().split(/\s+/);

/** Words with a meaning in this service; other reserved words are not offered. */
export const KEYWORDS: readonly string[] = splitWords(`
    SELECT DISTINCT ALL TOP FROM AS WHERE AND OR NOT IN IS NULL BETWEEN LIKE ILIKE EXISTS CASE WHEN THEN ELSE END
    GROUP BY HAVING ORDER ASC DESC OFFSET UNION EXCEPT INTERSECT WITH INNER LEFT RIGHT FULL OUTER CROSS NATURAL JOIN
    ON USING CAST TRUE FALSE`);

/** Words of extensions, which are names everywhere else. */
export const CONTEXTUAL: readonly string[] = splitWords(`
    OVER PARTITION RANGE UNBOUNDED PRECEDING FOLLOWING ROW TABLESAMPLE BERNOULLI REPEATABLE`);

export const TYPES: readonly string[] = splitWords(
    'SMALLINT INTEGER BIGINT REAL DOUBLE PRECISION CHAR VARCHAR TIMESTAMP',
);

/** Completed together. */
export const PHRASES: readonly string[] = [
    'GROUP BY',
    'ORDER BY',
    'PARTITION BY',
    'LEFT JOIN',
    'CROSS JOIN',
    'UNION ALL',
    'IS NULL',
    'IS NOT NULL',
];
