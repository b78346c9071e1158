/** Signatures of the built-in functions; /capabilities declares the others. `[...]` is optional. */
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
