/** The words of ADQL 2.1 and of the service's extensions, and the signatures of the functions that it builds in. */

const ADQL_WORDS = `
    ABS ACOS AREA ASIN ATAN ATAN2 BIGINT BOX CEILING CENTROID CIRCLE CONTAINS COORD1 COORD2 COORDSYS COS COT
    DEGREES DISTANCE EXP FLOOR ILIKE INTERSECTS IN_UNIT LOG LOG10 MOD OFFSET PI POINT POLYGON POWER RADIANS
    REGION RAND ROUND SIN SQRT TOP TAN TRUNCATE`;

const SQL_WORDS = `
    ABSOLUTE ACTION ADD ALL ALLOCATE ALTER AND ANY ARE AS ASC ASSERTION AT AUTHORIZATION AVG BEGIN BETWEEN BIT
    BIT_LENGTH BOTH BY CASCADE CASCADED CASE CAST CATALOG CHAR CHARACTER CHAR_LENGTH CHARACTER_LENGTH CHECK
    CLOSE COALESCE COLLATE COLLATION COLUMN COMMIT CONNECT CONNECTION CONSTRAINT CONSTRAINTS CONTINUE CONVERT
    CORRESPONDING COUNT CREATE CROSS CURRENT CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP CURRENT_USER CURSOR
    DATE DAY DEALLOCATE DECIMAL DECLARE DEFAULT DEFERRABLE DEFERRED DELETE DESC DESCRIBE DESCRIPTOR DIAGNOSTICS
    DISCONNECT DISTINCT DOMAIN DOUBLE DROP ELSE END ESCAPE EXCEPT EXCEPTION EXEC EXECUTE EXISTS EXTERNAL EXTRACT
    FALSE FETCH FIRST FLOAT FOR FOREIGN FOUND FROM FULL GET GLOBAL GO GOTO GRANT GROUP HAVING HOUR IDENTITY
    IMMEDIATE IN INDICATOR INITIALLY INNER INPUT INSENSITIVE INSERT INT INTEGER INTERSECT INTERVAL INTO IS
    ISOLATION JOIN KEY LANGUAGE LAST LEADING LEFT LEVEL LIKE LOCAL LOWER MATCH MAX MIN MINUTE MODULE MONTH NAMES
    NATIONAL NATURAL NCHAR NEXT NO NOT NULL NULLIF NUMERIC OCTET_LENGTH OF ON ONLY OPEN OPTION OR ORDER OUTER
    OUTPUT OVERLAPS PAD PARTIAL POSITION PRECISION PREPARE PRESERVE PRIMARY PRIOR PRIVILEGES PROCEDURE PUBLIC
    READ REAL REFERENCES RELATIVE RESTRICT REVOKE RIGHT ROLLBACK ROWS SCHEMA SCROLL SECOND SECTION SELECT
    SESSION SESSION_USER SET SIZE SMALLINT SOME SPACE SQL SQLCODE SQLERROR SQLSTATE SUBSTRING SUM SYSTEM_USER
    TABLE TEMPORARY THEN TIME TIMESTAMP TIMEZONE_HOUR TIMEZONE_MINUTE TO TRAILING TRANSACTION TRANSLATE
    TRANSLATION TRIM TRUE UNION UNIQUE UNKNOWN UPDATE UPPER USAGE USER USING VALUE VALUES VARCHAR VARYING VIEW
    WHEN WHENEVER WHERE WITH WORK WRITE YEAR ZONE`;

const words = (list: string): string[] => list.trim().split(/\s+/);

/** The reserved words: no names unless in double quotes. */
export const RESERVED: ReadonlySet<string> = new Set([...words(ADQL_WORDS), ...words(SQL_WORDS)]);

/** Words that mean something in ADQL here: they are highlighted and completed. The others are reserved only. */
export const KEYWORDS: readonly string[] = words(`
    SELECT DISTINCT ALL TOP FROM AS WHERE AND OR NOT IN IS NULL BETWEEN LIKE ILIKE EXISTS CASE WHEN THEN ELSE END
    GROUP BY HAVING ORDER ASC DESC OFFSET UNION EXCEPT INTERSECT WITH INNER LEFT RIGHT FULL OUTER CROSS NATURAL JOIN
    ON USING CAST TRUE FALSE`);

/** Words of the extensions, which are names everywhere else. */
export const CONTEXTUAL: readonly string[] = words(`
    OVER PARTITION RANGE UNBOUNDED PRECEDING FOLLOWING ROW TABLESAMPLE BERNOULLI REPEATABLE`);

export const TYPES: readonly string[] = words('SMALLINT INTEGER BIGINT REAL DOUBLE PRECISION CHAR VARCHAR TIMESTAMP');

/** Completed as one, for they stand together. */
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

/** Forms of the built-in functions; the service declares the others in /capabilities. `[...]` may be left out. */
export const BUILT_IN: readonly string[] = [
    ...['ABS(x)', 'CEILING(x)', 'DEGREES(radians)', 'EXP(x)', 'FLOOR(x)', 'LOG(x)', 'LOG10(x)', 'MOD(x, y)', 'PI()'],
    ...[
        'POWER(x, y)',
        'RADIANS(degrees)',
        'RAND([seed])',
        'ROUND(x[, decimals])',
        'SQRT(x)',
        'TRUNCATE(x[, decimals])',
    ],
    ...['ACOS(x)', 'ASIN(x)', 'ATAN(x)', 'ATAN2(y, x)', 'COS(radians)', 'COT(radians)', 'SIN(radians)', 'TAN(radians)'],
    ...['LOWER(text)', 'UPPER(text)', 'COALESCE(value, value, ...)', "IN_UNIT(value, 'unit')", 'CAST(value AS type)'],
    ...['COUNT(x)', 'SUM(x)', 'AVG(x)', 'MIN(x)', 'MAX(x)'],
    ...['POINT(lon, lat)', 'CIRCLE(lon, lat, radius)', 'CIRCLE(point, radius)', 'BOX(lon, lat, width, height)'],
    ...['BOX(point, width, height)', 'POLYGON(lon, lat, lon, lat, lon, lat, ...)', 'POLYGON(point, point, point, ...)'],
    ...["REGION('shape')", 'CONTAINS(shape, shape)', 'INTERSECTS(shape, shape)', 'DISTANCE(point, point)'],
    ...['DISTANCE(lon, lat, lon, lat)', 'COORD1(point)', 'COORD2(point)', 'COORDSYS(shape)', 'AREA(shape)'],
    ...['CENTROID(shape)', 'ROW_NUMBER() OVER (...)', 'RANK() OVER (...)', 'DENSE_RANK() OVER (...)'],
    ...[
        'PERCENT_RANK() OVER (...)',
        'CUME_DIST() OVER (...)',
        'NTILE(n) OVER (...)',
        'LAG(x[, n][, default]) OVER (...)',
    ],
    ...['LEAD(x[, n][, default]) OVER (...)', 'FIRST_VALUE(x) OVER (...)', 'LAST_VALUE(x) OVER (...)'],
    'NTH_VALUE(x, n) OVER (...)',
];

/** A name as a query has to write it: in double quotes unless it is a regular identifier and no reserved word. */
export function published(name: string): string {
    const regular = /^[A-Za-z][A-Za-z0-9_]*$/.test(name) && !RESERVED.has(name.toUpperCase());
    return regular ? name : `"${name.replaceAll('"', '""')}"`;
}
