-- All columns
SELECT * FROM sky.bands
=>
SELECT t1.`name` AS c1, t1.`nm` AS c2
FROM `sky`.`bands` AS t1

-- Columns with aliases
SELECT name AS band, nm FROM sky.bands
=>
SELECT t1.`name` AS c1, t1.`nm` AS c2
FROM `sky`.`bands` AS t1

-- TOP and OFFSET
SELECT TOP 10 id FROM sky.objects ORDER BY id OFFSET 20
=>
SELECT t1.`id` AS c1
FROM `sky`.`objects` AS t1
ORDER BY t1.`id` ASC NULLS LAST
LIMIT 10 OFFSET 20

-- DISTINCT
SELECT DISTINCT class FROM sky.objects
=>
SELECT DISTINCT t1.`class` AS c1
FROM `sky`.`objects` AS t1

-- Order by several values
SELECT id FROM sky.objects ORDER BY g_mag DESC, 1
=>
SELECT t1.`id` AS c1
FROM `sky`.`objects` AS t1
ORDER BY t1.`g_mag` DESC NULLS LAST, t1.`id` ASC NULLS LAST

-- Look-up by id
SELECT ra, dec FROM sky.objects WHERE id = 4711
=>
SELECT t1.`ra` AS c1, t1.`dec` AS c2
FROM `sky`.`objects` AS t1
PREWHERE (t1.`id` = 4711)
SETTINGS min_table_rows_to_use_projection_index = 8192, preferred_optimize_projection_name = by_id

-- Look-up by several ids
SELECT ra, dec FROM sky.objects WHERE id IN (1, 2, 3) OR id = 4
=>
SELECT t1.`ra` AS c1, t1.`dec` AS c2
FROM `sky`.`objects` AS t1
WHERE ((t1.`id` IN (1, 2, 3)) OR (t1.`id` = 4))
SETTINGS min_table_rows_to_use_projection_index = 8192, preferred_optimize_projection_name = by_id

-- Look-up by an index
SELECT id FROM sky.objects WHERE class = 'QSO'
=>
SELECT t1.`id` AS c1
FROM `sky`.`objects` AS t1
PREWHERE (t1.`class` = 'QSO')
SETTINGS min_table_rows_to_use_projection_index = 8192, preferred_optimize_projection_name = by_index_class

-- Comparisons and BETWEEN
SELECT id FROM sky.objects WHERE g_mag BETWEEN 10 AND 12 AND r_mag <> 11 AND NOT parallax >= 5
=>
SELECT t1.`id` AS c1
FROM `sky`.`objects` AS t1
WHERE (t1.`g_mag` >= 10) AND (t1.`g_mag` <= 12) AND (t1.`r_mag` <> 11) AND (NOT (t1.`parallax` >= 5))

-- NULL and three-valued logic
SELECT id FROM sky.objects WHERE parallax IS NULL OR NOT (class IN ('A', NULL))
=>
SELECT t1.`id` AS c1
FROM `sky`.`objects` AS t1
WHERE (isNull(t1.`parallax`) OR (NOT ((t1.`class` IN ('A')) OR (t1.`class` = NULL))))

-- LIKE and ILIKE
SELECT name FROM sky.bands WHERE name LIKE 'g\_%' OR name ILIKE '%Johnson%'
=>
SELECT t1.`name` AS c1
FROM `sky`.`bands` AS t1
WHERE (like(t1.`name`, 'g\\\\_%') OR ilike(t1.`name`, '%Johnson%'))

-- A backslash in a literal
SELECT id FROM sky.objects WHERE class = 'back\slash''s'
=>
SELECT t1.`id` AS c1
FROM `sky`.`objects` AS t1
PREWHERE (t1.`class` = 'back\\slash\'s')
SETTINGS min_table_rows_to_use_projection_index = 8192, preferred_optimize_projection_name = by_index_class

-- Boolean columns
SELECT id FROM sky.objects WHERE variable AND NOT n_obs > 3
=>
SELECT t1.`id` AS c1
FROM `sky`.`objects` AS t1
WHERE t1.`variable` AND (NOT (t1.`n_obs` > 3))

-- Conditions as values
SELECT g_mag < 6 AS visible FROM sky.objects
=>
SELECT (t1.`g_mag` < 6) AS c1
FROM `sky`.`objects` AS t1

-- Arithmetic
SELECT g_mag - r_mag, n_obs / 2, n_obs / 2.0, MOD(n_obs, 7), -n_obs, n_obs * n_obs FROM sky.objects
=>
SELECT (t1.`g_mag` - t1.`r_mag`) AS c1, intDivOrNull(toInt64(t1.`n_obs`), toInt64(2)) AS c2, divideOrNull(t1.`n_obs`, 2.0) AS c3,
    moduloOrNull(toInt64(t1.`n_obs`), if(7 = -1, 1, toInt64(7))) AS c4, (-toInt64(t1.`n_obs`)) AS c5, (toInt64(t1.`n_obs`) * toInt64(t1.`n_obs`)) AS c6
FROM `sky`.`objects` AS t1

-- Bitwise operators
SELECT n_obs & 3 | 4 ^ 1, ~n_obs FROM sky.objects
=>
SELECT bitOr(toInt64(bitAnd(toInt64(t1.`n_obs`), toInt64(3))), toInt64(bitXor(toInt64(4), toInt64(1)))) AS c1, bitNot(toInt64(t1.`n_obs`)) AS c2
FROM `sky`.`objects` AS t1

-- Mathematical functions
SELECT POWER(g_mag, 2), SQRT(parallax), LOG10(parallax), ROUND(parallax, 2), TRUNCATE(parallax), CEILING(ra) FROM sky.objects
=>
SELECT pow(t1.`g_mag`, 2) AS c1, sqrt(t1.`parallax`) AS c2, log10(t1.`parallax`) AS c3, ((trunc((t1.`parallax` * pow(10, 2))) + if(abs((t1.`parallax` * pow(10,
    2)) - trunc((t1.`parallax` * pow(10, 2)))) >= 0.5, sign((t1.`parallax` * pow(10, 2))), 0)) / pow(10, 2)) AS c4, trunc(toFloat64(t1.`parallax`)) AS c5,
    ceil(toFloat64(t1.`ra`)) AS c6
FROM `sky`.`objects` AS t1

-- Text functions
SELECT UPPER(class), LOWER(class) || '-' || 'x' FROM sky.objects
=>
SELECT upperUTF8(t1.`class`) AS c1, concat(concat(lowerUTF8(t1.`class`), '-'), 'x') AS c2
FROM `sky`.`objects` AS t1

-- CASE with conditions
SELECT CASE WHEN g_mag < 6 THEN 'bright' WHEN g_mag < 12 THEN 'medium' ELSE 'faint' END FROM sky.objects
=>
SELECT multiIf((t1.`g_mag` < 6), 'bright', (t1.`g_mag` < 12), 'medium', 'faint') AS c1
FROM `sky`.`objects` AS t1

-- CASE as a look-up
SELECT CASE class WHEN 'STAR' THEN 1 WHEN 'QSO' THEN 2 WHEN 'GALAXY' THEN 3 END FROM sky.objects
=>
SELECT multiIf((t1.`class` = 'STAR'), 1, (t1.`class` = 'QSO'), 2, (t1.`class` = 'GALAXY'), 3, CAST(NULL, 'Nullable(Int32)')) AS c1
FROM `sky`.`objects` AS t1

-- COALESCE
SELECT COALESCE(g_mag, r_mag, 99) FROM sky.objects
=>
SELECT coalesce(CAST(t1.`g_mag`, 'Nullable(Float64)'), CAST(t1.`r_mag`, 'Nullable(Float64)'), CAST(99, 'Nullable(Float64)')) AS c1
FROM `sky`.`objects` AS t1

-- Casts
SELECT CAST(g_mag AS INTEGER), CAST(id AS VARCHAR), CAST('2020-01-01' AS TIMESTAMP), CAST(class AS DOUBLE PRECISION) FROM sky.objects
=>
SELECT if(isNull(t1.`g_mag`), NULL, accurateCast(trunc(ifNull(t1.`g_mag`, 0)), 'Int32')) AS c1, toString(t1.`id`) AS c2, toDateTime64('2020-01-01
    00:00:00.000000', 6, 'UTC') AS c3, if(isNull(t1.`class`), NULL, accurateCast(trimBoth(ifNull(t1.`class`, '0')), 'Float64')) AS c4
FROM `sky`.`objects` AS t1

-- Units
SELECT IN_UNIT(parallax, 'arcsec'), IN_UNIT(pmra, 'deg/yr') FROM sky.objects
=>
SELECT (t1.`parallax` * 0.001) AS c1, (t1.`pmra` * 2.7777777777777776e-07) AS c2
FROM `sky`.`objects` AS t1

-- Elements of arrays and arithmetic on them
SELECT flux[1], flux * 2, -flux FROM sky.objects
=>
SELECT arrayElementOrNull(t1.`flux`, 1) AS c1, arrayMap(v -> if(isNull(v.2), [], arrayMap(x -> (toFloat64(x) * toFloat64(assumeNotNull(v.2))), v.1)),
    [(t1.`flux`, 2)])[1] AS c2, arrayMap(x -> -toFloat64(x), t1.`flux`) AS c3
FROM `sky`.`objects` AS t1

-- Timestamps
SELECT ivo_to_mjd(seen) FROM sky.objects WHERE seen > '2020-01-01T00:00:00'
=>
SELECT (toUnixTimestamp64Micro(t1.`seen`) / 86400000000. + 40587.) AS c1
FROM `sky`.`objects` AS t1
PREWHERE (t1.`seen` > toDateTime64('2020-01-01 00:00:00.000000', 6, 'UTC'))

-- Sexagesimal
SELECT ivo_hms_to_degrees(class) FROM sky.objects
=>
SELECT if(empty(arrayConcat(extractGroups(ifNull(t1.`class`, ''), '^\\s*()(\\d|[01]\\d|2[0-4])(?:\\s*:\\s*)([0-5]?\\d)\\s*:\\s*([0-5]?\\d(?:\\.\\d*)?)\\s*$'),
    extractGroups(ifNull(t1.`class`, ''), '^\\s*()(\\d|[01]\\d|2[0-4])\\s+([0-5]?\\d)\\s+([0-5]?\\d(?:\\.\\d*)?)\\s*$'), extractGroups(ifNull(t1.`class`, ''),
    '^\\s*()(\\d|[01]\\d|2[0-4])\\s*[hH]\\s*([0-5]?\\d)\\s*[mM]\\s*([0-5]?\\d(?:\\.\\d*)?)\\s*[sS]\\s*$'), extractGroups(ifNull(t1.`class`, ''),
    '^\\s*()([01]\\d|2[0-4])([0-5]\\d)([0-5]\\d(?:\\.\\d*)?)\\s*$'))), NULL, if(arrayConcat(extractGroups(ifNull(t1.`class`, ''),
    '^\\s*()(\\d|[01]\\d|2[0-4])(?:\\s*:\\s*)([0-5]?\\d)\\s*:\\s*([0-5]?\\d(?:\\.\\d*)?)\\s*$'), extractGroups(ifNull(t1.`class`, ''),
    '^\\s*()(\\d|[01]\\d|2[0-4])\\s+([0-5]?\\d)\\s+([0-5]?\\d(?:\\.\\d*)?)\\s*$'), extractGroups(ifNull(t1.`class`, ''),
    '^\\s*()(\\d|[01]\\d|2[0-4])\\s*[hH]\\s*([0-5]?\\d)\\s*[mM]\\s*([0-5]?\\d(?:\\.\\d*)?)\\s*[sS]\\s*$'), extractGroups(ifNull(t1.`class`, ''),
    '^\\s*()([01]\\d|2[0-4])([0-5]\\d)([0-5]\\d(?:\\.\\d*)?)\\s*$'))[1] = '-', -(toFloat64OrZero(arrayConcat(extractGroups(ifNull(t1.`class`, ''),
    '^\\s*()(\\d|[01]\\d|2[0-4])(?:\\s*:\\s*)([0-5]?\\d)\\s*:\\s*([0-5]?\\d(?:\\.\\d*)?)\\s*$'), extractGroups(ifNull(t1.`class`, ''),
    '^\\s*()(\\d|[01]\\d|2[0-4])\\s+([0-5]?\\d)\\s+([0-5]?\\d(?:\\.\\d*)?)\\s*$'), extractGroups(ifNull(t1.`class`, ''),
    '^\\s*()(\\d|[01]\\d|2[0-4])\\s*[hH]\\s*([0-5]?\\d)\\s*[mM]\\s*([0-5]?\\d(?:\\.\\d*)?)\\s*[sS]\\s*$'), extractGroups(ifNull(t1.`class`, ''),
    '^\\s*()([01]\\d|2[0-4])([0-5]\\d)([0-5]\\d(?:\\.\\d*)?)\\s*$'))[2]) * 3600 + toFloat64OrZero(arrayConcat(extractGroups(ifNull(t1.`class`, ''),
    '^\\s*()(\\d|[01]\\d|2[0-4])(?:\\s*:\\s*)([0-5]?\\d)\\s*:\\s*([0-5]?\\d(?:\\.\\d*)?)\\s*$'), extractGroups(ifNull(t1.`class`, ''),
    '^\\s*()(\\d|[01]\\d|2[0-4])\\s+([0-5]?\\d)\\s+([0-5]?\\d(?:\\.\\d*)?)\\s*$'), extractGroups(ifNull(t1.`class`, ''),
    '^\\s*()(\\d|[01]\\d|2[0-4])\\s*[hH]\\s*([0-5]?\\d)\\s*[mM]\\s*([0-5]?\\d(?:\\.\\d*)?)\\s*[sS]\\s*$'), extractGroups(ifNull(t1.`class`, ''),
    '^\\s*()([01]\\d|2[0-4])([0-5]\\d)([0-5]\\d(?:\\.\\d*)?)\\s*$'))[3]) * 60 + toFloat64OrZero(arrayConcat(extractGroups(ifNull(t1.`class`, ''),
    '^\\s*()(\\d|[01]\\d|2[0-4])(?:\\s*:\\s*)([0-5]?\\d)\\s*:\\s*([0-5]?\\d(?:\\.\\d*)?)\\s*$'), extractGroups(ifNull(t1.`class`, ''),
    '^\\s*()(\\d|[01]\\d|2[0-4])\\s+([0-5]?\\d)\\s+([0-5]?\\d(?:\\.\\d*)?)\\s*$'), extractGroups(ifNull(t1.`class`, ''),
    '^\\s*()(\\d|[01]\\d|2[0-4])\\s*[hH]\\s*([0-5]?\\d)\\s*[mM]\\s*([0-5]?\\d(?:\\.\\d*)?)\\s*[sS]\\s*$'), extractGroups(ifNull(t1.`class`, ''),
    '^\\s*()([01]\\d|2[0-4])([0-5]\\d)([0-5]\\d(?:\\.\\d*)?)\\s*$'))[4])) / 240, (toFloat64OrZero(arrayConcat(extractGroups(ifNull(t1.`class`, ''),
    '^\\s*()(\\d|[01]\\d|2[0-4])(?:\\s*:\\s*)([0-5]?\\d)\\s*:\\s*([0-5]?\\d(?:\\.\\d*)?)\\s*$'), extractGroups(ifNull(t1.`class`, ''),
    '^\\s*()(\\d|[01]\\d|2[0-4])\\s+([0-5]?\\d)\\s+([0-5]?\\d(?:\\.\\d*)?)\\s*$'), extractGroups(ifNull(t1.`class`, ''),
    '^\\s*()(\\d|[01]\\d|2[0-4])\\s*[hH]\\s*([0-5]?\\d)\\s*[mM]\\s*([0-5]?\\d(?:\\.\\d*)?)\\s*[sS]\\s*$'), extractGroups(ifNull(t1.`class`, ''),
    '^\\s*()([01]\\d|2[0-4])([0-5]\\d)([0-5]\\d(?:\\.\\d*)?)\\s*$'))[2]) * 3600 + toFloat64OrZero(arrayConcat(extractGroups(ifNull(t1.`class`, ''),
    '^\\s*()(\\d|[01]\\d|2[0-4])(?:\\s*:\\s*)([0-5]?\\d)\\s*:\\s*([0-5]?\\d(?:\\.\\d*)?)\\s*$'), extractGroups(ifNull(t1.`class`, ''),
    '^\\s*()(\\d|[01]\\d|2[0-4])\\s+([0-5]?\\d)\\s+([0-5]?\\d(?:\\.\\d*)?)\\s*$'), extractGroups(ifNull(t1.`class`, ''),
    '^\\s*()(\\d|[01]\\d|2[0-4])\\s*[hH]\\s*([0-5]?\\d)\\s*[mM]\\s*([0-5]?\\d(?:\\.\\d*)?)\\s*[sS]\\s*$'), extractGroups(ifNull(t1.`class`, ''),
    '^\\s*()([01]\\d|2[0-4])([0-5]\\d)([0-5]\\d(?:\\.\\d*)?)\\s*$'))[3]) * 60 + toFloat64OrZero(arrayConcat(extractGroups(ifNull(t1.`class`, ''),
    '^\\s*()(\\d|[01]\\d|2[0-4])(?:\\s*:\\s*)([0-5]?\\d)\\s*:\\s*([0-5]?\\d(?:\\.\\d*)?)\\s*$'), extractGroups(ifNull(t1.`class`, ''),
    '^\\s*()(\\d|[01]\\d|2[0-4])\\s+([0-5]?\\d)\\s+([0-5]?\\d(?:\\.\\d*)?)\\s*$'), extractGroups(ifNull(t1.`class`, ''),
    '^\\s*()(\\d|[01]\\d|2[0-4])\\s*[hH]\\s*([0-5]?\\d)\\s*[mM]\\s*([0-5]?\\d(?:\\.\\d*)?)\\s*[sS]\\s*$'), extractGroups(ifNull(t1.`class`, ''),
    '^\\s*()([01]\\d|2[0-4])([0-5]\\d)([0-5]\\d(?:\\.\\d*)?)\\s*$'))[4])) / 240)) AS c1
FROM `sky`.`objects` AS t1
SETTINGS compile_aggregate_expressions = 0, compile_expressions = 0

-- Photometry
SELECT nanojanskyToAbMag(flux) FROM sky.sources
=>
SELECT if((isFinite((-2.5 * log10(t1.`flux`) + 31.4))), (-2.5 * log10(t1.`flux`) + 31.4), NULL) AS c1
FROM `sky`.`sources` AS t1

-- Proper motion
SELECT ivo_epoch_prop_pos(ra, dec, parallax, pmra, pmdec, 0, 2016, 2000) FROM sky.objects
=>
SELECT if(isNull((positiveModulo(toFloat64(t1.`ra`) + degrees(atan2((ifNull(toFloat64(t1.`pmra`), 0) * 4.8481368110953594e-09 * (toFloat64(2000) -
    toFloat64(2016))), (1 + ifNull(toFloat64(0), 0) * ifNull(toFloat64(t1.`parallax`), 0) * 1.022712165045695e-09 * (toFloat64(2000) - toFloat64(2016))) *
    cos(radians(t1.`dec`)) - (ifNull(toFloat64(t1.`pmdec`), 0) * 4.8481368110953594e-09 * (toFloat64(2000) - toFloat64(2016))) * sin(radians(t1.`dec`)))), 360.)
    + throwIf(isNull(t1.`ra`) OR isNull(t1.`dec`) OR isNull(2016) OR isNull(2000), 'ivo_epoch_prop_pos takes no NULL as ra, dec, ref_epoch or out_epoch; leave
    such rows out, with IS NOT NULL'))) OR isNull((degrees(atan2(((1 + ifNull(toFloat64(0), 0) * ifNull(toFloat64(t1.`parallax`), 0) * 1.022712165045695e-09 *
    (toFloat64(2000) - toFloat64(2016))) * sin(radians(t1.`dec`)) + (ifNull(toFloat64(t1.`pmdec`), 0) * 4.8481368110953594e-09 * (toFloat64(2000) -
    toFloat64(2016))) * cos(radians(t1.`dec`))), sqrt(((1 + ifNull(toFloat64(0), 0) * ifNull(toFloat64(t1.`parallax`), 0) * 1.022712165045695e-09 *
    (toFloat64(2000) - toFloat64(2016))) * cos(radians(t1.`dec`)) - (ifNull(toFloat64(t1.`pmdec`), 0) * 4.8481368110953594e-09 * (toFloat64(2000) -
    toFloat64(2016))) * sin(radians(t1.`dec`))) * ((1 + ifNull(toFloat64(0), 0) * ifNull(toFloat64(t1.`parallax`), 0) * 1.022712165045695e-09 * (toFloat64(2000)
    - toFloat64(2016))) * cos(radians(t1.`dec`)) - (ifNull(toFloat64(t1.`pmdec`), 0) * 4.8481368110953594e-09 * (toFloat64(2000) - toFloat64(2016))) *
    sin(radians(t1.`dec`))) + (ifNull(toFloat64(t1.`pmra`), 0) * 4.8481368110953594e-09 * (toFloat64(2000) - toFloat64(2016))) * (ifNull(toFloat64(t1.`pmra`),
    0) * 4.8481368110953594e-09 * (toFloat64(2000) - toFloat64(2016)))))) + throwIf(isNull(t1.`ra`) OR isNull(t1.`dec`) OR isNull(2016) OR isNull(2000),
    'ivo_epoch_prop_pos takes no NULL as ra, dec, ref_epoch or out_epoch; leave such rows out, with IS NOT NULL'))), CAST([], 'Array(Float64)'),
    [assumeNotNull(toFloat64((positiveModulo(toFloat64(t1.`ra`) + degrees(atan2((ifNull(toFloat64(t1.`pmra`), 0) * 4.8481368110953594e-09 * (toFloat64(2000) -
    toFloat64(2016))), (1 + ifNull(toFloat64(0), 0) * ifNull(toFloat64(t1.`parallax`), 0) * 1.022712165045695e-09 * (toFloat64(2000) - toFloat64(2016))) *
    cos(radians(t1.`dec`)) - (ifNull(toFloat64(t1.`pmdec`), 0) * 4.8481368110953594e-09 * (toFloat64(2000) - toFloat64(2016))) * sin(radians(t1.`dec`)))), 360.)
    + throwIf(isNull(t1.`ra`) OR isNull(t1.`dec`) OR isNull(2016) OR isNull(2000), 'ivo_epoch_prop_pos takes no NULL as ra, dec, ref_epoch or out_epoch; leave
    such rows out, with IS NOT NULL')))), assumeNotNull(toFloat64((degrees(atan2(((1 + ifNull(toFloat64(0), 0) * ifNull(toFloat64(t1.`parallax`), 0) *
    1.022712165045695e-09 * (toFloat64(2000) - toFloat64(2016))) * sin(radians(t1.`dec`)) + (ifNull(toFloat64(t1.`pmdec`), 0) * 4.8481368110953594e-09 *
    (toFloat64(2000) - toFloat64(2016))) * cos(radians(t1.`dec`))), sqrt(((1 + ifNull(toFloat64(0), 0) * ifNull(toFloat64(t1.`parallax`), 0) *
    1.022712165045695e-09 * (toFloat64(2000) - toFloat64(2016))) * cos(radians(t1.`dec`)) - (ifNull(toFloat64(t1.`pmdec`), 0) * 4.8481368110953594e-09 *
    (toFloat64(2000) - toFloat64(2016))) * sin(radians(t1.`dec`))) * ((1 + ifNull(toFloat64(0), 0) * ifNull(toFloat64(t1.`parallax`), 0) * 1.022712165045695e-09
    * (toFloat64(2000) - toFloat64(2016))) * cos(radians(t1.`dec`)) - (ifNull(toFloat64(t1.`pmdec`), 0) * 4.8481368110953594e-09 * (toFloat64(2000) -
    toFloat64(2016))) * sin(radians(t1.`dec`))) + (ifNull(toFloat64(t1.`pmra`), 0) * 4.8481368110953594e-09 * (toFloat64(2000) - toFloat64(2016))) *
    (ifNull(toFloat64(t1.`pmra`), 0) * 4.8481368110953594e-09 * (toFloat64(2000) - toFloat64(2016)))))) + throwIf(isNull(t1.`ra`) OR isNull(t1.`dec`) OR
    isNull(2016) OR isNull(2000), 'ivo_epoch_prop_pos takes no NULL as ra, dec, ref_epoch or out_epoch; leave such rows out, with IS NOT NULL'))))]) AS c1
FROM `sky`.`objects` AS t1
SETTINGS allow_reorder_prewhere_conditions = 0

-- Pixel index
SELECT ivo_healpix_index(6, ra, dec), COUNT(*) FROM sky.objects GROUP BY ivo_healpix_index(6, ra, dec)
=>
SELECT toInt64(nullIf(bitShiftRight(((bitShiftLeft(toUInt64(bitAnd(least((bitShiftRight((toUInt32(greatest(least(((((positiveModulo((toFloat64(ifNull(t1.`ra`,
    nan))), 360) / 90) - (least(floor((positiveModulo((toFloat64(ifNull(t1.`ra`, nan))), 360) / 90)), 3)) - 0.5) * (least(2.449489742783178 * (sin((90 -
    abs((toFloat64(ifNull(t1.`dec`, nan))))) * 0.008726646259971648)), 1)) + (least(floor((positiveModulo((toFloat64(ifNull(t1.`ra`, nan))), 360) / 90)), 3)) +
    1) - (sign((toFloat64(ifNull(t1.`dec`, nan)))) * (least(0.75 - 1.5 * (sin((90 - abs((toFloat64(ifNull(t1.`dec`, nan))))) * 0.008726646259971648)) * (sin((90
    - abs((toFloat64(ifNull(t1.`dec`, nan))))) * 0.008726646259971648)), 0.5) + 0.5 - 0.5 * (least(2.449489742783178 * (sin((90 -
    abs((toFloat64(ifNull(t1.`dec`, nan))))) * 0.008726646259971648)), 1))))) * 536870912, (((least(floor((positiveModulo((toFloat64(ifNull(t1.`ra`, nan))),
    360) / 90)), 3)) + 2) * 536870912 - 1)), ((least(floor((positiveModulo((toFloat64(ifNull(t1.`ra`, nan))), 360) / 90)), 3)) * 536870912)))), 29)),
    (bitShiftRight((toUInt32(greatest(least(((((positiveModulo((toFloat64(ifNull(t1.`ra`, nan))), 360) / 90) -
    (least(floor((positiveModulo((toFloat64(ifNull(t1.`ra`, nan))), 360) / 90)), 3)) - 0.5) * (least(2.449489742783178 * (sin((90 -
    abs((toFloat64(ifNull(t1.`dec`, nan))))) * 0.008726646259971648)), 1)) + (least(floor((positiveModulo((toFloat64(ifNull(t1.`ra`, nan))), 360) / 90)), 3)) +
    1) + (sign((toFloat64(ifNull(t1.`dec`, nan)))) * (least(0.75 - 1.5 * (sin((90 - abs((toFloat64(ifNull(t1.`dec`, nan))))) * 0.008726646259971648)) * (sin((90
    - abs((toFloat64(ifNull(t1.`dec`, nan))))) * 0.008726646259971648)), 0.5) + 0.5 - 0.5 * (least(2.449489742783178 * (sin((90 -
    abs((toFloat64(ifNull(t1.`dec`, nan))))) * 0.008726646259971648)), 1))))) * 536870912, (((least(floor((positiveModulo((toFloat64(ifNull(t1.`ra`, nan))),
    360) / 90)), 3)) + 2) * 536870912 - 1)), ((least(floor((positiveModulo((toFloat64(ifNull(t1.`ra`, nan))), 360) / 90)), 3)) * 536870912)))), 29))), 3) + 4 *
    (1 + (bitShiftRight((toUInt32(greatest(least(((((positiveModulo((toFloat64(ifNull(t1.`ra`, nan))), 360) / 90) -
    (least(floor((positiveModulo((toFloat64(ifNull(t1.`ra`, nan))), 360) / 90)), 3)) - 0.5) * (least(2.449489742783178 * (sin((90 -
    abs((toFloat64(ifNull(t1.`dec`, nan))))) * 0.008726646259971648)), 1)) + (least(floor((positiveModulo((toFloat64(ifNull(t1.`ra`, nan))), 360) / 90)), 3)) +
    1) - (sign((toFloat64(ifNull(t1.`dec`, nan)))) * (least(0.75 - 1.5 * (sin((90 - abs((toFloat64(ifNull(t1.`dec`, nan))))) * 0.008726646259971648)) * (sin((90
    - abs((toFloat64(ifNull(t1.`dec`, nan))))) * 0.008726646259971648)), 0.5) + 0.5 - 0.5 * (least(2.449489742783178 * (sin((90 -
    abs((toFloat64(ifNull(t1.`dec`, nan))))) * 0.008726646259971648)), 1))))) * 536870912, (((least(floor((positiveModulo((toFloat64(ifNull(t1.`ra`, nan))),
    360) / 90)), 3)) + 2) * 536870912 - 1)), ((least(floor((positiveModulo((toFloat64(ifNull(t1.`ra`, nan))), 360) / 90)), 3)) * 536870912)))), 29)) -
    (bitShiftRight((toUInt32(greatest(least(((((positiveModulo((toFloat64(ifNull(t1.`ra`, nan))), 360) / 90) -
    (least(floor((positiveModulo((toFloat64(ifNull(t1.`ra`, nan))), 360) / 90)), 3)) - 0.5) * (least(2.449489742783178 * (sin((90 -
    abs((toFloat64(ifNull(t1.`dec`, nan))))) * 0.008726646259971648)), 1)) + (least(floor((positiveModulo((toFloat64(ifNull(t1.`ra`, nan))), 360) / 90)), 3)) +
    1) + (sign((toFloat64(ifNull(t1.`dec`, nan)))) * (least(0.75 - 1.5 * (sin((90 - abs((toFloat64(ifNull(t1.`dec`, nan))))) * 0.008726646259971648)) * (sin((90
    - abs((toFloat64(ifNull(t1.`dec`, nan))))) * 0.008726646259971648)), 0.5) + 0.5 - 0.5 * (least(2.449489742783178 * (sin((90 -
    abs((toFloat64(ifNull(t1.`dec`, nan))))) * 0.008726646259971648)), 1))))) * 536870912, (((least(floor((positiveModulo((toFloat64(ifNull(t1.`ra`, nan))),
    360) / 90)), 3)) + 2) * 536870912 - 1)), ((least(floor((positiveModulo((toFloat64(ifNull(t1.`ra`, nan))), 360) / 90)), 3)) * 536870912)))), 29)))), 58)) +
    (mortonEncode(bitAnd((toUInt32(greatest(least(((((positiveModulo((toFloat64(ifNull(t1.`ra`, nan))), 360) / 90) -
    (least(floor((positiveModulo((toFloat64(ifNull(t1.`ra`, nan))), 360) / 90)), 3)) - 0.5) * (least(2.449489742783178 * (sin((90 -
    abs((toFloat64(ifNull(t1.`dec`, nan))))) * 0.008726646259971648)), 1)) + (least(floor((positiveModulo((toFloat64(ifNull(t1.`ra`, nan))), 360) / 90)), 3)) +
    1) + (sign((toFloat64(ifNull(t1.`dec`, nan)))) * (least(0.75 - 1.5 * (sin((90 - abs((toFloat64(ifNull(t1.`dec`, nan))))) * 0.008726646259971648)) * (sin((90
    - abs((toFloat64(ifNull(t1.`dec`, nan))))) * 0.008726646259971648)), 0.5) + 0.5 - 0.5 * (least(2.449489742783178 * (sin((90 -
    abs((toFloat64(ifNull(t1.`dec`, nan))))) * 0.008726646259971648)), 1))))) * 536870912, (((least(floor((positiveModulo((toFloat64(ifNull(t1.`ra`, nan))),
    360) / 90)), 3)) + 2) * 536870912 - 1)), ((least(floor((positiveModulo((toFloat64(ifNull(t1.`ra`, nan))), 360) / 90)), 3)) * 536870912)))), 536870911),
    bitXor(bitAnd((toUInt32(greatest(least(((((positiveModulo((toFloat64(ifNull(t1.`ra`, nan))), 360) / 90) -
    (least(floor((positiveModulo((toFloat64(ifNull(t1.`ra`, nan))), 360) / 90)), 3)) - 0.5) * (least(2.449489742783178 * (sin((90 -
    abs((toFloat64(ifNull(t1.`dec`, nan))))) * 0.008726646259971648)), 1)) + (least(floor((positiveModulo((toFloat64(ifNull(t1.`ra`, nan))), 360) / 90)), 3)) +
    1) - (sign((toFloat64(ifNull(t1.`dec`, nan)))) * (least(0.75 - 1.5 * (sin((90 - abs((toFloat64(ifNull(t1.`dec`, nan))))) * 0.008726646259971648)) * (sin((90
    - abs((toFloat64(ifNull(t1.`dec`, nan))))) * 0.008726646259971648)), 0.5) + 0.5 - 0.5 * (least(2.449489742783178 * (sin((90 -
    abs((toFloat64(ifNull(t1.`dec`, nan))))) * 0.008726646259971648)), 1))))) * 536870912, (((least(floor((positiveModulo((toFloat64(ifNull(t1.`ra`, nan))),
    360) / 90)), 3)) + 2) * 536870912 - 1)), ((least(floor((positiveModulo((toFloat64(ifNull(t1.`ra`, nan))), 360) / 90)), 3)) * 536870912)))), 536870911),
    536870911)))) * (isFinite((toFloat64(ifNull(t1.`ra`, nan)))) * (abs((toFloat64(ifNull(t1.`dec`, nan)))) <= 90)) + 3458764513820540928 *
    bitXor((isFinite((toFloat64(ifNull(t1.`ra`, nan)))) * (abs((toFloat64(ifNull(t1.`dec`, nan)))) <= 90)), 1), 46), 49152)) AS c1, toInt64(count()) AS c2
FROM `sky`.`objects` AS t1
GROUP BY toInt64(nullIf(bitShiftRight(((bitShiftLeft(toUInt64(bitAnd(least((bitShiftRight((toUInt32(greatest(least(((((positiveModulo((toFloat64(ifNull(t1.`ra`,
    nan))), 360) / 90) - (least(floor((positiveModulo((toFloat64(ifNull(t1.`ra`, nan))), 360) / 90)), 3)) - 0.5) * (least(2.449489742783178 * (sin((90 -
    abs((toFloat64(ifNull(t1.`dec`, nan))))) * 0.008726646259971648)), 1)) + (least(floor((positiveModulo((toFloat64(ifNull(t1.`ra`, nan))), 360) / 90)), 3)) +
    1) - (sign((toFloat64(ifNull(t1.`dec`, nan)))) * (least(0.75 - 1.5 * (sin((90 - abs((toFloat64(ifNull(t1.`dec`, nan))))) * 0.008726646259971648)) * (sin((90
    - abs((toFloat64(ifNull(t1.`dec`, nan))))) * 0.008726646259971648)), 0.5) + 0.5 - 0.5 * (least(2.449489742783178 * (sin((90 -
    abs((toFloat64(ifNull(t1.`dec`, nan))))) * 0.008726646259971648)), 1))))) * 536870912, (((least(floor((positiveModulo((toFloat64(ifNull(t1.`ra`, nan))),
    360) / 90)), 3)) + 2) * 536870912 - 1)), ((least(floor((positiveModulo((toFloat64(ifNull(t1.`ra`, nan))), 360) / 90)), 3)) * 536870912)))), 29)),
    (bitShiftRight((toUInt32(greatest(least(((((positiveModulo((toFloat64(ifNull(t1.`ra`, nan))), 360) / 90) -
    (least(floor((positiveModulo((toFloat64(ifNull(t1.`ra`, nan))), 360) / 90)), 3)) - 0.5) * (least(2.449489742783178 * (sin((90 -
    abs((toFloat64(ifNull(t1.`dec`, nan))))) * 0.008726646259971648)), 1)) + (least(floor((positiveModulo((toFloat64(ifNull(t1.`ra`, nan))), 360) / 90)), 3)) +
    1) + (sign((toFloat64(ifNull(t1.`dec`, nan)))) * (least(0.75 - 1.5 * (sin((90 - abs((toFloat64(ifNull(t1.`dec`, nan))))) * 0.008726646259971648)) * (sin((90
    - abs((toFloat64(ifNull(t1.`dec`, nan))))) * 0.008726646259971648)), 0.5) + 0.5 - 0.5 * (least(2.449489742783178 * (sin((90 -
    abs((toFloat64(ifNull(t1.`dec`, nan))))) * 0.008726646259971648)), 1))))) * 536870912, (((least(floor((positiveModulo((toFloat64(ifNull(t1.`ra`, nan))),
    360) / 90)), 3)) + 2) * 536870912 - 1)), ((least(floor((positiveModulo((toFloat64(ifNull(t1.`ra`, nan))), 360) / 90)), 3)) * 536870912)))), 29))), 3) + 4 *
    (1 + (bitShiftRight((toUInt32(greatest(least(((((positiveModulo((toFloat64(ifNull(t1.`ra`, nan))), 360) / 90) -
    (least(floor((positiveModulo((toFloat64(ifNull(t1.`ra`, nan))), 360) / 90)), 3)) - 0.5) * (least(2.449489742783178 * (sin((90 -
    abs((toFloat64(ifNull(t1.`dec`, nan))))) * 0.008726646259971648)), 1)) + (least(floor((positiveModulo((toFloat64(ifNull(t1.`ra`, nan))), 360) / 90)), 3)) +
    1) - (sign((toFloat64(ifNull(t1.`dec`, nan)))) * (least(0.75 - 1.5 * (sin((90 - abs((toFloat64(ifNull(t1.`dec`, nan))))) * 0.008726646259971648)) * (sin((90
    - abs((toFloat64(ifNull(t1.`dec`, nan))))) * 0.008726646259971648)), 0.5) + 0.5 - 0.5 * (least(2.449489742783178 * (sin((90 -
    abs((toFloat64(ifNull(t1.`dec`, nan))))) * 0.008726646259971648)), 1))))) * 536870912, (((least(floor((positiveModulo((toFloat64(ifNull(t1.`ra`, nan))),
    360) / 90)), 3)) + 2) * 536870912 - 1)), ((least(floor((positiveModulo((toFloat64(ifNull(t1.`ra`, nan))), 360) / 90)), 3)) * 536870912)))), 29)) -
    (bitShiftRight((toUInt32(greatest(least(((((positiveModulo((toFloat64(ifNull(t1.`ra`, nan))), 360) / 90) -
    (least(floor((positiveModulo((toFloat64(ifNull(t1.`ra`, nan))), 360) / 90)), 3)) - 0.5) * (least(2.449489742783178 * (sin((90 -
    abs((toFloat64(ifNull(t1.`dec`, nan))))) * 0.008726646259971648)), 1)) + (least(floor((positiveModulo((toFloat64(ifNull(t1.`ra`, nan))), 360) / 90)), 3)) +
    1) + (sign((toFloat64(ifNull(t1.`dec`, nan)))) * (least(0.75 - 1.5 * (sin((90 - abs((toFloat64(ifNull(t1.`dec`, nan))))) * 0.008726646259971648)) * (sin((90
    - abs((toFloat64(ifNull(t1.`dec`, nan))))) * 0.008726646259971648)), 0.5) + 0.5 - 0.5 * (least(2.449489742783178 * (sin((90 -
    abs((toFloat64(ifNull(t1.`dec`, nan))))) * 0.008726646259971648)), 1))))) * 536870912, (((least(floor((positiveModulo((toFloat64(ifNull(t1.`ra`, nan))),
    360) / 90)), 3)) + 2) * 536870912 - 1)), ((least(floor((positiveModulo((toFloat64(ifNull(t1.`ra`, nan))), 360) / 90)), 3)) * 536870912)))), 29)))), 58)) +
    (mortonEncode(bitAnd((toUInt32(greatest(least(((((positiveModulo((toFloat64(ifNull(t1.`ra`, nan))), 360) / 90) -
    (least(floor((positiveModulo((toFloat64(ifNull(t1.`ra`, nan))), 360) / 90)), 3)) - 0.5) * (least(2.449489742783178 * (sin((90 -
    abs((toFloat64(ifNull(t1.`dec`, nan))))) * 0.008726646259971648)), 1)) + (least(floor((positiveModulo((toFloat64(ifNull(t1.`ra`, nan))), 360) / 90)), 3)) +
    1) + (sign((toFloat64(ifNull(t1.`dec`, nan)))) * (least(0.75 - 1.5 * (sin((90 - abs((toFloat64(ifNull(t1.`dec`, nan))))) * 0.008726646259971648)) * (sin((90
    - abs((toFloat64(ifNull(t1.`dec`, nan))))) * 0.008726646259971648)), 0.5) + 0.5 - 0.5 * (least(2.449489742783178 * (sin((90 -
    abs((toFloat64(ifNull(t1.`dec`, nan))))) * 0.008726646259971648)), 1))))) * 536870912, (((least(floor((positiveModulo((toFloat64(ifNull(t1.`ra`, nan))),
    360) / 90)), 3)) + 2) * 536870912 - 1)), ((least(floor((positiveModulo((toFloat64(ifNull(t1.`ra`, nan))), 360) / 90)), 3)) * 536870912)))), 536870911),
    bitXor(bitAnd((toUInt32(greatest(least(((((positiveModulo((toFloat64(ifNull(t1.`ra`, nan))), 360) / 90) -
    (least(floor((positiveModulo((toFloat64(ifNull(t1.`ra`, nan))), 360) / 90)), 3)) - 0.5) * (least(2.449489742783178 * (sin((90 -
    abs((toFloat64(ifNull(t1.`dec`, nan))))) * 0.008726646259971648)), 1)) + (least(floor((positiveModulo((toFloat64(ifNull(t1.`ra`, nan))), 360) / 90)), 3)) +
    1) - (sign((toFloat64(ifNull(t1.`dec`, nan)))) * (least(0.75 - 1.5 * (sin((90 - abs((toFloat64(ifNull(t1.`dec`, nan))))) * 0.008726646259971648)) * (sin((90
    - abs((toFloat64(ifNull(t1.`dec`, nan))))) * 0.008726646259971648)), 0.5) + 0.5 - 0.5 * (least(2.449489742783178 * (sin((90 -
    abs((toFloat64(ifNull(t1.`dec`, nan))))) * 0.008726646259971648)), 1))))) * 536870912, (((least(floor((positiveModulo((toFloat64(ifNull(t1.`ra`, nan))),
    360) / 90)), 3)) + 2) * 536870912 - 1)), ((least(floor((positiveModulo((toFloat64(ifNull(t1.`ra`, nan))), 360) / 90)), 3)) * 536870912)))), 536870911),
    536870911)))) * (isFinite((toFloat64(ifNull(t1.`ra`, nan)))) * (abs((toFloat64(ifNull(t1.`dec`, nan)))) <= 90)) + 3458764513820540928 *
    bitXor((isFinite((toFloat64(ifNull(t1.`ra`, nan)))) * (abs((toFloat64(ifNull(t1.`dec`, nan)))) <= 90)), 1), 46), 49152))
SETTINGS compile_aggregate_expressions = 0, compile_expressions = 0

-- Greatest and least
SELECT greatest(g_mag, r_mag), least(g_mag, 5) FROM sky.objects
=>
SELECT arrayReverseSort([t1.`g_mag`, t1.`r_mag`])[1] AS c1, arraySort([CAST(t1.`g_mag`, 'Nullable(Float64)'), CAST(5, 'Nullable(Float64)')])[1] AS c2
FROM `sky`.`objects` AS t1

-- Words
SELECT id FROM sky.objects WHERE 1 = ivo_hasword(class, 'broad absorption') AND 1 = gavo_match('^Q', class)
=>
SELECT t1.`id` AS c1
FROM `sky`.`objects` AS t1
WHERE if(isNull(t1.`class`) OR isNull('broad absorption'), NULL, hasAll(extractAll(lowerUTF8(t1.`class`), '[\\p{L}\\p{N}]+'), extractAll(lowerUTF8('broad
    absorption'), '[\\p{L}\\p{N}]+'))) AND match(t1.`class`, '^Q')

-- A sample of the rows
SELECT id FROM sky.objects TABLESAMPLE (1)
=>
SELECT t1.`c1` AS c14
FROM (SELECT t2.`id` AS c1, t2.`ra` AS c2, t2.`dec` AS c3, t2.`parallax` AS c4, t2.`pmra` AS c5, t2.`pmdec` AS c6, t2.`g_mag` AS c7, t2.`r_mag` AS c8,
    t2.`n_obs` AS c9, t2.`class` AS c10, t2.`variable` AS c11, t2.`seen` AS c12, t2.`flux` AS c13
FROM `sky`.`objects` AS t2
WHERE (cityHash64(tuple(t2.`id`, 0)) < 184467440737095520)) AS t1

-- Count of all rows
SELECT COUNT(*) FROM sky.objects
=>
SELECT toInt64(count()) AS c1
FROM `sky`.`objects` AS t1

-- Set functions
SELECT COUNT(parallax), SUM(n_obs), AVG(g_mag), MIN(g_mag), MAX(class), COUNT(DISTINCT class) FROM sky.objects
=>
SELECT toInt64(count(t1.`parallax`)) AS c1, accurateCast(sumOrNull(toInt128(t1.`n_obs`)), 'Nullable(Int64)') AS c2, avgOrNull(toFloat64(t1.`g_mag`)) AS c3,
    minOrNull(t1.`g_mag`) AS c4, maxOrNull(t1.`class`) AS c5, toInt64(count(DISTINCT t1.`class`)) AS c6
FROM `sky`.`objects` AS t1

-- Statistics
SELECT STDDEV(g_mag), VAR_POP(g_mag), CORR(g_mag, r_mag), MEDIAN(g_mag), skyhouse_quantile(g_mag, 0.9) FROM sky.objects
=>
SELECT if(count(t1.`g_mag`) > 1, stddevSampStable(toFloat64(t1.`g_mag`)), NULL) AS c1, varPopStableOrNull(toFloat64(t1.`g_mag`)) AS c2, if(countIf((NOT (NOT
    (isNotNull(t1.`g_mag`)) OR NOT (isNotNull(t1.`r_mag`))))) < 2 OR (NOT (NOT (isNaN(corrStable(toFloat64(t1.`g_mag`), toFloat64(t1.`r_mag`)))) OR NOT (NOT
    isNaN(covarPopStable(toFloat64(t1.`g_mag`), toFloat64(t1.`r_mag`)))))), NULL, corrStable(toFloat64(t1.`g_mag`), toFloat64(t1.`r_mag`))) AS c3,
    quantileExactInclusiveOrNull(0.5)(toFloat64(t1.`g_mag`)) AS c4, quantileExactInclusiveOrNull(0.9)(toFloat64(t1.`g_mag`)) AS c5
FROM `sky`.`objects` AS t1

-- Histogram and joined texts
SELECT ivo_histogram(g_mag, 5, 20, 15), ivo_string_agg(class, ',') FROM sky.objects
=>
SELECT arrayMap(n -> accurateCast(n, 'Int32'), countResample(0, 17, 1)(toUInt32(assumeNotNull(multiIf(isNull(toFloat64(t1.`g_mag`)) OR
    isNaN(toFloat64(t1.`g_mag`)) OR toFloat64(t1.`g_mag`) < toFloat64(5), 0, toFloat64(t1.`g_mag`) > toFloat64(20), 16, 1 + least(floor((toFloat64(t1.`g_mag`) -
    toFloat64(5)) / (toFloat64(20) - toFloat64(5)) * 15), 14)))))) AS c1, if(count(t1.`class`) = 0, NULL, arrayStringConcat(arraySort(groupArray(t1.`class`)),
    ',')) AS c2
FROM `sky`.`objects` AS t1

-- Groups
SELECT class, COUNT(*) AS n FROM sky.objects GROUP BY class ORDER BY n DESC
=>
SELECT t1.`class` AS c1, toInt64(count()) AS c2
FROM `sky`.`objects` AS t1
GROUP BY t1.`class`
ORDER BY toInt64(count()) DESC NULLS LAST

-- Groups by an expression with HAVING
SELECT FLOOR(g_mag) AS m, AVG(parallax) FROM sky.objects GROUP BY FLOOR(g_mag) HAVING COUNT(*) > 10
=>
SELECT if(isNaN(floor(toFloat64(t1.`g_mag`))), reinterpretAsFloat64(materialize(0x7ff8000000000000)), floor(toFloat64(t1.`g_mag`)) + toFloat64(0)) AS c1,
    avg(toFloat64(t1.`parallax`)) AS c2
FROM `sky`.`objects` AS t1
GROUP BY if(isNaN(floor(toFloat64(t1.`g_mag`))), reinterpretAsFloat64(materialize(0x7ff8000000000000)), floor(toFloat64(t1.`g_mag`)) + toFloat64(0))
HAVING (toInt64(count()) > 10)

-- Groups by floating-point values: one zero
SELECT parallax, COUNT(*) FROM sky.objects GROUP BY parallax
=>
SELECT if(isNaN(t1.`parallax`), reinterpretAsFloat64(materialize(0x7ff8000000000000)), t1.`parallax` + toFloat64(0)) AS c1, toInt64(count()) AS c2
FROM `sky`.`objects` AS t1
GROUP BY if(isNaN(t1.`parallax`), reinterpretAsFloat64(materialize(0x7ff8000000000000)), t1.`parallax` + toFloat64(0))

-- Window functions
SELECT id, RANK() OVER (PARTITION BY class ORDER BY g_mag), LAG(mjd) OVER (ORDER BY mjd) FROM sky.objects JOIN sky.sources USING (id)
=>
SELECT t1.`id` AS c1, toInt64(rank() OVER (PARTITION BY t1.`class`
ORDER BY t1.`g_mag` ASC NULLS LAST)) AS c2, lag(CAST(t2.`mjd`, 'Nullable(Float64)')) OVER (ORDER BY t2.`mjd` ASC NULLS LAST) AS c3
FROM `sky`.`objects` AS t1
INNER JOIN `sky`.`sources` AS t2
ON (t1.`id` = t2.`id`)

-- A set function over a frame
SELECT AVG(flux) OVER (PARTITION BY object ORDER BY mjd ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) FROM sky.sources
=>
SELECT avgOrNull(toFloat64(t1.`flux`)) OVER (PARTITION BY t1.`object`
ORDER BY t1.`mjd` ASC NULLS LAST ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS c1
FROM `sky`.`sources` AS t1

-- UNION
SELECT id FROM sky.objects UNION SELECT object FROM sky.sources
=>
SELECT t3.`c1` AS c3
FROM ((SELECT accurateCast(t1.`id`, 'Nullable(Int64)') AS c1
FROM `sky`.`objects` AS t1)
UNION DISTINCT (SELECT accurateCast(t2.`object`, 'Nullable(Int64)') AS c2
FROM `sky`.`sources` AS t2)) AS t3

-- UNION ALL with ORDER BY
SELECT id, ra FROM sky.objects UNION ALL SELECT id, ra FROM sky.sources ORDER BY ra
=>
SELECT t3.`c1` AS c5, t3.`c2` AS c6
FROM ((SELECT accurateCast(t1.`id`, 'Nullable(Int64)') AS c1, CAST(t1.`ra`, 'Nullable(Float64)') AS c2
FROM `sky`.`objects` AS t1)
UNION ALL (SELECT accurateCast(t2.`id`, 'Nullable(Int64)') AS c3, CAST(t2.`ra`, 'Nullable(Float64)') AS c4
FROM `sky`.`sources` AS t2)) AS t3
ORDER BY t3.`c2` ASC NULLS LAST

-- EXCEPT and INTERSECT
SELECT id FROM sky.objects EXCEPT SELECT id FROM sky.sources INTERSECT SELECT object FROM sky.sources
=>
SELECT t5.`c1` AS c5
FROM ((SELECT accurateCast(t1.`id`, 'Nullable(Int64)') AS c1
FROM `sky`.`objects` AS t1)
EXCEPT DISTINCT (SELECT accurateCast(t4.`c2`, 'Nullable(Int64)') AS c4
FROM ((SELECT accurateCast(t2.`id`, 'Nullable(Int64)') AS c2
FROM `sky`.`sources` AS t2)
INTERSECT DISTINCT (SELECT accurateCast(t3.`object`, 'Nullable(Int64)') AS c3
FROM `sky`.`sources` AS t3)) AS t4)) AS t5

-- WITH
WITH bright AS (SELECT * FROM sky.objects WHERE g_mag < 6) SELECT COUNT(*) FROM bright
=>
SELECT toInt64(count()) AS c14
FROM (SELECT t1.`id` AS c1, t1.`ra` AS c2, t1.`dec` AS c3, t1.`parallax` AS c4, t1.`pmra` AS c5, t1.`pmdec` AS c6, t1.`g_mag` AS c7, t1.`r_mag` AS c8,
    t1.`n_obs` AS c9, t1.`class` AS c10, t1.`variable` AS c11, t1.`seen` AS c12, t1.`flux` AS c13
FROM `sky`.`objects` AS t1
PREWHERE (t1.`g_mag` < 6)) AS t2

-- A derived table
SELECT c FROM (SELECT class AS c, COUNT(*) AS n FROM sky.objects GROUP BY class) AS x WHERE n > 5
=>
SELECT t2.`c1` AS c3
FROM (SELECT t1.`class` AS c1, toInt64(count()) AS c2
FROM `sky`.`objects` AS t1
GROUP BY t1.`class`) AS t2
WHERE (t2.`c2` > 5)

-- Condition pushed into a derived table
SELECT * FROM (SELECT id, ra, dec FROM sky.objects) AS x WHERE 1 = CONTAINS(POINT(ra, dec), CIRCLE(10, 20, 0.001))
=>
SELECT t2.`c1` AS c4, t2.`c2` AS c5, t2.`c3` AS c6
FROM (SELECT t1.`id` AS c1, t1.`ra` AS c2, t1.`dec` AS c3
FROM `sky`.`objects` AS t1
PREWHERE (intDiv(t1.`hpx29`, 268435456) IN (5207065307, 5207065310, 5207065311, 5207065329, 5207065331, 5207065332, 5207065333, 5207065334, 5207065335))) AS t2
WHERE (pow(sin((t2.`c3` - 20.0) * 0.008726646259971648), 2) + 0.9396926207859084 * cos(radians(t2.`c3`)) * pow(sin((t2.`c2` % 360. - 10.0) *
    0.008726646259971648), 2) <= 7.615435495347065e-11)

-- Inner join by id
SELECT o.id, s.flux FROM sky.objects AS o JOIN sky.sources AS s ON s.object = o.id
=>
SELECT t1.`id` AS c1, t2.`flux` AS c2
FROM `sky`.`objects` AS t1
INNER JOIN `sky`.`sources` AS t2
ON (t2.`object` = t1.`id`)

-- Left join with a condition on one side
SELECT o.id, s.flux FROM sky.objects AS o LEFT JOIN sky.sources AS s ON s.object = o.id AND s.flux > 5
=>
SELECT t1.`id` AS c1, t2.`flux` AS c2
FROM `sky`.`objects` AS t1
LEFT JOIN `sky`.`sources` AS t2
ON (t2.`object` = t1.`id`) AND (t2.`flux` > 5)

-- Right join
SELECT o.id, s.flux FROM sky.sources AS s RIGHT JOIN sky.objects AS o ON s.object = o.id
=>
SELECT t2.`id` AS c1, t1.`flux` AS c2
FROM `sky`.`objects` AS t2
LEFT JOIN `sky`.`sources` AS t1
ON (t1.`object` = t2.`id`)

-- Full join
SELECT o.id, s.id FROM sky.objects AS o FULL JOIN sky.sources AS s ON s.object = o.id
=>
SELECT t1.`id` AS c1, t2.`id` AS c2
FROM `sky`.`objects` AS t1
FULL JOIN `sky`.`sources` AS t2
ON (t2.`object` = t1.`id`)

-- Natural join and USING
SELECT ra FROM sky.targets NATURAL JOIN sky.bands
=>
SELECT t1.`ra` AS c1
FROM `sky`.`targets` AS t1
INNER JOIN `sky`.`bands` AS t2
ON (t1.`name` = t2.`name`)

-- Product with a condition
SELECT o.id FROM sky.objects AS o, sky.sources AS s WHERE o.id = s.object AND o.g_mag < 5
=>
SELECT t1.`id` AS c1
FROM `sky`.`objects` AS t1
INNER JOIN `sky`.`sources` AS t2
ON (t1.`id` = t2.`object`)
WHERE (t1.`g_mag` < 5)

-- Cross join
SELECT a.name, b.name FROM sky.bands AS a CROSS JOIN sky.bands AS b
=>
SELECT t1.`name` AS c1, t2.`name` AS c2
FROM `sky`.`bands` AS t1
CROSS JOIN `sky`.`bands` AS t2
SETTINGS query_plan_optimize_join_order_limit = 1, query_plan_remove_unused_columns = 0

-- Join by an inequality
SELECT a.name FROM sky.bands AS a LEFT JOIN sky.bands AS b ON a.nm < b.nm
=>
SELECT t1.`name` AS c1
FROM `sky`.`bands` AS t1
LEFT JOIN (SELECT t2.`nm` AS c2, 1 AS c3
FROM `sky`.`bands` AS t2) AS t3
ON ((1 + ignore(t1.`name`)) = t3.`c3`) AND (t1.`nm` < t3.`c2`)
SETTINGS query_plan_optimize_join_order_limit = 1, query_plan_remove_unused_columns = 0

-- Join that is never true
SELECT a.name FROM sky.bands AS a JOIN sky.bands AS b ON 1 = 2
=>
SELECT t1.`name` AS c1
FROM `sky`.`bands` AS t1
CROSS JOIN (SELECT 1 AS c2
FROM `sky`.`bands` AS t2
PREWHERE false) AS t3
SETTINGS query_plan_optimize_join_order_limit = 1, query_plan_remove_unused_columns = 0

-- Join of a small table by id
SELECT o.ra FROM sky.objects AS o JOIN sky.observations AS x ON o.id = x.id
=>
SELECT t1.`ra` AS c1
FROM `sky`.`objects` AS t1
INNER JOIN `sky`.`observations` AS t2
ON (t1.`id` = t2.`id`)

-- IN of a subquery
SELECT id FROM sky.objects WHERE id IN (SELECT object FROM sky.sources WHERE flux > 100)
=>
SELECT t1.`id` AS c2
FROM `sky`.`objects` AS t1
WHERE (t1.`id` IN (SELECT accurateCast(t2.`object`, 'Nullable(Int64)') AS c1
FROM `sky`.`sources` AS t2
PREWHERE (t2.`flux` > 100)))

-- NOT IN of a subquery
SELECT id FROM sky.objects WHERE id NOT IN (SELECT object FROM sky.sources)
=>
SELECT t1.`id` AS c2
FROM `sky`.`objects` AS t1
WHERE (NOT multiIf((SELECT (count(), countIf(isNull(t0.c1)))
FROM (SELECT accurateCast(t2.`object`, 'Nullable(Int64)') AS c1
FROM `sky`.`sources` AS t2) AS t0).1 = 0, false, isNull(t1.`id`), NULL, ifNull(t1.`id` IN (SELECT accurateCast(t2.`object`, 'Nullable(Int64)') AS c1
FROM `sky`.`sources` AS t2), false), true, (SELECT (count(), countIf(isNull(t0.c1)))
FROM (SELECT accurateCast(t2.`object`, 'Nullable(Int64)') AS c1
FROM `sky`.`sources` AS t2) AS t0).2 > 0, NULL, false))

-- EXISTS
SELECT id FROM sky.objects AS o WHERE EXISTS (SELECT * FROM sky.sources AS s WHERE s.object = o.id)
=>
SELECT t1.`id` AS c8
FROM `sky`.`objects` AS t1
LEFT
SEMI JOIN (SELECT t2.`object` AS c9
FROM `sky`.`sources` AS t2) AS t3
ON (t3.`c9` = t1.`id`)

-- NOT EXISTS near a position
SELECT id FROM sky.objects AS o WHERE NOT EXISTS (SELECT * FROM sky.targets AS t WHERE DISTANCE(POINT(o.ra, o.dec), POINT(t.ra, t.dec)) < 0.1)
=>
SELECT t4.`c10` AS c5
FROM (SELECT t1.`ra` AS c8, t1.`dec` AS c9, t1.`id` AS c10,
    bitOr(bitOr(bitShiftLeft(toUInt64(floor(ifNotFinite((cos(radians(toFloat64(ifNull(toFloat64(t1.`dec`), nan)))) *
    cos(radians(toFloat64(ifNull(toFloat64(t1.`ra`), nan)) % 360.))) / 0.0017453290304702991, 0.)) + 524288), 40),
    bitShiftLeft(toUInt64(floor(ifNotFinite((cos(radians(toFloat64(ifNull(toFloat64(t1.`dec`), nan)))) * sin(radians(toFloat64(ifNull(toFloat64(t1.`ra`), nan))
    % 360.))) / 0.0017453290304702991, 0.)) + 524288), 20)), toUInt64(floor(ifNotFinite(sin(radians(toFloat64(ifNull(toFloat64(t1.`dec`), nan)))) /
    0.0017453290304702991, 0.)) + 524288)) AS c13, (cos(radians(toFloat64(ifNull(toFloat64(t1.`dec`), nan)))) * cos(radians(toFloat64(ifNull(toFloat64(t1.`ra`),
    nan)) % 360.))) AS c15, (cos(radians(toFloat64(ifNull(toFloat64(t1.`dec`), nan)))) * sin(radians(toFloat64(ifNull(toFloat64(t1.`ra`), nan)) % 360.))) AS
    c16, sin(radians(toFloat64(ifNull(toFloat64(t1.`dec`), nan)))) AS c17
FROM `sky`.`objects` AS t1) AS t4
LEFT
ANTI JOIN (SELECT t3.`c6` AS c11, t3.`c7` AS c12,
    bitOr(bitOr(bitShiftLeft(arrayJoin(range(toUInt64(floor(ifNotFinite(((cos(radians(toFloat64(ifNull(toFloat64(t3.`c7`), nan)))) *
    cos(radians(toFloat64(ifNull(toFloat64(t3.`c6`), nan)) % 360.))) - 0.0017453290304702991 - 1e-12) / 0.0017453290304702991, 0.)) + 524288),
    toUInt64(floor(ifNotFinite(((cos(radians(toFloat64(ifNull(toFloat64(t3.`c7`), nan)))) * cos(radians(toFloat64(ifNull(toFloat64(t3.`c6`), nan)) % 360.))) +
    0.0017453290304702991 + 1e-12) / 0.0017453290304702991, 0.)) + 524288) + 1)), 40),
    bitShiftLeft(arrayJoin(range(toUInt64(floor(ifNotFinite(((cos(radians(toFloat64(ifNull(toFloat64(t3.`c7`), nan)))) *
    sin(radians(toFloat64(ifNull(toFloat64(t3.`c6`), nan)) % 360.))) - 0.0017453290304702991 - 1e-12) / 0.0017453290304702991, 0.)) + 524288),
    toUInt64(floor(ifNotFinite(((cos(radians(toFloat64(ifNull(toFloat64(t3.`c7`), nan)))) * sin(radians(toFloat64(ifNull(toFloat64(t3.`c6`), nan)) % 360.))) +
    0.0017453290304702991 + 1e-12) / 0.0017453290304702991, 0.)) + 524288) + 1)), 20)),
    arrayJoin(range(toUInt64(floor(ifNotFinite((sin(radians(toFloat64(ifNull(toFloat64(t3.`c7`), nan)))) - 0.0017453290304702991 - 1e-12) /
    0.0017453290304702991, 0.)) + 524288), toUInt64(floor(ifNotFinite((sin(radians(toFloat64(ifNull(toFloat64(t3.`c7`), nan)))) + 0.0017453290304702991 + 1e-12)
    / 0.0017453290304702991, 0.)) + 524288) + 1))) AS c14, (cos(radians(toFloat64(ifNull(toFloat64(t3.`c7`), nan)))) *
    cos(radians(toFloat64(ifNull(toFloat64(t3.`c6`), nan)) % 360.))) AS c18, (cos(radians(toFloat64(ifNull(toFloat64(t3.`c7`), nan)))) *
    sin(radians(toFloat64(ifNull(toFloat64(t3.`c6`), nan)) % 360.))) AS c19, sin(radians(toFloat64(ifNull(toFloat64(t3.`c7`), nan)))) AS c20
FROM (SELECT t2.`ra` AS c6, t2.`dec` AS c7
FROM `sky`.`targets` AS t2) AS t3
WHERE (NOT (NOT (isFinite(t3.`c6`)) OR NOT (isFinite(t3.`c7`))))) AS t5
ON (t4.`c13` = t5.`c14`) AND ((t4.`c15` - t5.`c18`) * (t4.`c15` - t5.`c18`) + (t4.`c16` - t5.`c19`) * (t4.`c16` - t5.`c19`) + (t4.`c17` - t5.`c20`) * (t4.`c17`
    - t5.`c20`) < 3.0461734246023945e-06)
SETTINGS enable_join_runtime_filters = 0

-- Scalar subquery
SELECT id FROM sky.objects WHERE g_mag = (SELECT MIN(g_mag) FROM sky.objects)
=>
SELECT t1.`id` AS c2
FROM `sky`.`objects` AS t1
WHERE (t1.`g_mag` = (SELECT minOrNull(t2.`g_mag`) AS c1
FROM `sky`.`objects` AS t2))

-- Correlated scalar subquery
SELECT o.id, (SELECT COUNT(*) FROM sky.sources AS s WHERE s.object = o.id) AS n FROM sky.objects AS o
=>
SELECT t1.`id` AS c1, multiIf(isNull(t3.`c4`), 0, t3.`c2`) AS c3
FROM `sky`.`objects` AS t1
LEFT JOIN (SELECT t2.`object` AS c5, toInt64(count()) AS c2, toInt64(count()) AS c4
FROM `sky`.`sources` AS t2
GROUP BY t2.`object`) AS t3
ON (t1.`id` = t3.`c5`)

-- Cone
SELECT id FROM sky.objects WHERE 1 = CONTAINS(POINT(ra, dec), CIRCLE(100.5, -33.2, 0.002))
=>
SELECT t1.`id` AS c1
FROM `sky`.`objects` AS t1
PREWHERE (intDiv(t1.`hpx29`, 1073741824) IN (2600013566, 2600013567, 2600013738, 2600019028, 2600019029, 2600019030)) AND (pow(sin((t1.`dec` - (-33.2)) *
    0.008726646259971648), 2) + 0.8367643134589616 * cos(radians(t1.`dec`)) * pow(sin((t1.`ra` % 360. - 100.5) * 0.008726646259971648), 2) <=
    3.046174197732314e-10)

-- Cone by DISTANCE
SELECT id FROM sky.objects WHERE DISTANCE(POINT(ra, dec), POINT(10, 20)) < 0.002
=>
SELECT t1.`id` AS c1
FROM `sky`.`objects` AS t1
PREWHERE (intDiv(t1.`hpx29`, 1073741824) IN (1301766326, 1301766327, 1301766332, 1301766333, 1301766334, 1301766335, 1301766370, 1301766376)) AND
    (pow(sin((t1.`dec` - 20.0) * 0.008726646259971648), 2) + 0.9396926207859084 * cos(radians(t1.`dec`)) * pow(sin((t1.`ra` % 360. - 10.0) *
    0.008726646259971648), 2) < 3.046174197557781e-10)

-- Cone at a pole
SELECT id FROM sky.objects WHERE 1 = CONTAINS(POINT(ra, dec), CIRCLE(0, 90, 0.01))
=>
SELECT t1.`id` AS c1
FROM `sky`.`objects` AS t1
PREWHERE (intDiv(t1.`hpx29`, 68719476736) IN (4194303, 8388607, 12582911, 16777215)) AND (pow(sin((t1.`dec` - 90.0) * 0.008726646259971648), 2) +
    6.123233995736766e-17 * cos(radians(t1.`dec`)) * pow(sin((t1.`ra` % 360. - 0.0) * 0.008726646259971648), 2) <= 7.615435475423361e-09)

-- Not in a cone
SELECT id FROM sky.objects WHERE 0 = CONTAINS(POINT(ra, dec), CIRCLE(10, 20, 0.002)) AND id < 100
=>
SELECT t1.`id` AS c1
FROM `sky`.`objects` AS t1
WHERE (NOT if(isNaN(toFloat64(t1.`ra`) + toFloat64(t1.`dec`)), NULL, (pow(sin((t1.`dec` - 20.0) * 0.008726646259971648), 2) + 0.9396926207859084 *
    cos(radians(t1.`dec`)) * pow(sin((t1.`ra` % 360. - 10.0) * 0.008726646259971648), 2) <= 3.046174197732314e-10))) AND (t1.`id` < 100)

-- Large circle
SELECT COUNT(*) FROM sky.objects WHERE 1 = CONTAINS(POINT(ra, dec), CIRCLE(10, 20, 89))
=>
SELECT toInt64(count()) AS c1
FROM `sky`.`objects` AS t1
WHERE (intDiv(t1.`hpx29`, 288230376151711744) IN (0, 4) OR intDiv(t1.`hpx29`, 72057594037927936) IN (12, 13, 15, 22, 35) OR intDiv(t1.`hpx29`,
    18014398509481984) IN (56, 57, 59, 94, 95, 117, 137, 138, 139, 181, 182, 183, 188, 189, 191) OR intDiv(t1.`hpx29`, 4503599627370496) IN (96, 97, 98, 99,
    100, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112, 113, 114, 115, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127, 148, 149, 150, 151,
    156, 157, 158, 159, 179, 180, 181, 182, 183, 185, 186, 187, 188, 189, 190, 191, 232, 233, 234, 235, 320, 321, 322, 323, 326, 327, 328, 329, 330, 331, 332,
    333, 334, 335, 344, 345, 346, 347, 350, 351, 368, 369, 370, 371, 372, 373, 374, 375, 453, 455, 464, 465, 466, 467, 472, 473, 474, 475, 476, 477, 478, 479,
    497, 499, 500, 501, 502, 503, 508, 509, 510, 511, 515, 518, 519, 520, 521, 522, 523, 524, 525, 526, 527, 530, 531, 532, 533, 534, 535, 536, 537, 538, 539,
    540, 541, 542, 543, 544, 545, 546, 547, 708, 709, 710, 711, 716, 717, 718, 719, 720, 721, 722, 723, 740, 741, 742, 743, 748, 749, 750, 751, 760, 761, 762,
    763)) AND ((intDiv(t1.`hpx29`, 288230376151711744) IN (0, 4) OR intDiv(t1.`hpx29`, 72057594037927936) IN (12, 13, 15, 22, 35) OR intDiv(t1.`hpx29`,
    18014398509481984) IN (56, 57, 59, 94, 95, 117, 138, 137, 139, 182, 181, 183, 188, 189, 191) OR intDiv(t1.`hpx29`, 4503599627370496) IN (104, 106, 107, 108,
    110, 109, 111, 120, 122, 121, 123, 124, 126, 125, 127, 181, 183, 190, 189, 191, 232, 234, 233, 235, 328, 330, 331, 334, 368, 370, 371, 374, 465, 467, 476,
    478, 477, 479, 501, 503, 526, 527, 544, 546, 545, 547, 536, 538, 537, 539, 540, 542, 541, 543, 722, 721, 723, 760, 762, 761, 763)) OR (pow(sin((t1.`dec` -
    20.0) * 0.008726646259971648), 2) + 0.9396926207859084 * cos(radians(t1.`dec`)) * pow(sin((t1.`ra` % 360. - 10.0) * 0.008726646259971648), 2) <=
    0.491273796781359))

-- Box
SELECT id FROM sky.objects WHERE 1 = CONTAINS(POINT(ra, dec), BOX(10, 20, 0.004, 0.002))
=>
SELECT t1.`id` AS c1
FROM `sky`.`objects` AS t1
PREWHERE (intDiv(t1.`hpx29`, 16777216) IN (83313044966, 83313044967, 83313044969, 83313044970, 83313044971, 83313044972, 83313044973, 83313044974, 83313044975,
    83313044984, 83313044986, 83313044987, 83313045269, 83313045270, 83313045271, 83313045273, 83313045274, 83313045275, 83313045276, 83313045277, 83313045278,
    83313045279, 83313045296, 83313045297, 83313045299, 83313045300, 83313045301, 83313045302, 83313045303, 83313045308, 83313045309, 83313045311, 83313045312,
    83313045313, 83313045314, 83313045315, 83313045316, 83313045317, 83313045318, 83313045319, 83313045320, 83313045321, 83313045322, 83313045323, 83313045324,
    83313045325, 83313045326, 83313045327, 83313045328, 83313045329, 83313045330, 83313045331, 83313045332, 83313045334, 83313045336, 83313045337, 83313045338,
    83313045344, 83313045345, 83313045346, 83313045347, 83313045348, 83313045349, 83313045350, 83313045352, 83313045353, 83313045354)) AND (NOT (NOT
    (((cos(radians(toFloat64(t1.`dec`))) * cos(radians(toFloat64(t1.`ra`) % 360.))) * 0.17368048069367126 + (cos(radians(toFloat64(t1.`dec`))) *
    sin(radians(toFloat64(t1.`ra`) % 360.))) * (-0.9848020564984018) + sin(radians(toFloat64(t1.`dec`))) * 1.1938755079682333e-05) >= (-1e-15)) OR NOT
    (((cos(radians(toFloat64(t1.`dec`))) * cos(radians(toFloat64(t1.`ra`) % 360.))) * 0.3368402403484345 + (cos(radians(toFloat64(t1.`dec`))) *
    sin(radians(toFloat64(t1.`ra`) % 360.))) * 0.059394022561602235 + sin(radians(toFloat64(t1.`dec`))) * (-0.9396866512651763)) >= (-1e-15)) OR NOT
    (((cos(radians(toFloat64(t1.`dec`))) * cos(radians(toFloat64(t1.`ra`) % 360.))) * (-0.1736158744288881) + (cos(radians(toFloat64(t1.`dec`))) *
    sin(radians(toFloat64(t1.`ra`) % 360.))) * 0.9848134483260059 + sin(radians(toFloat64(t1.`dec`))) * 1.1938755871224629e-05) >= (-1e-15)) OR NOT
    (((cos(radians(toFloat64(t1.`dec`))) * cos(radians(toFloat64(t1.`ra`) % 360.))) * (-0.3368079372159083) + (cos(radians(toFloat64(t1.`dec`))) *
    sin(radians(toFloat64(t1.`ra`) % 360.))) * (-0.0593883266479913) + sin(radians(toFloat64(t1.`dec`))) * 0.9396985900203939) >= (-1e-15))))

-- Polygon
SELECT id FROM sky.objects WHERE 1 = CONTAINS(POINT(ra, dec), POLYGON(10, 20, 10.004, 20, 10, 20.004))
=>
SELECT t1.`id` AS c1
FROM `sky`.`objects` AS t1
PREWHERE (intDiv(t1.`hpx29`, 16777216) IN (83313044975, 83313044979, 83313044980, 83313044981, 83313044982, 83313044983, 83313044984, 83313044985, 83313044986,
    83313044987, 83313044988, 83313044989, 83313044990, 83313044991, 83313045315, 83313045316, 83313045317, 83313045318, 83313045319, 83313045320, 83313045321,
    83313045323, 83313045324, 83313045325, 83313045326, 83313045327, 83313045328, 83313045329, 83313045330, 83313045331, 83313045332, 83313045333, 83313045334,
    83313045335, 83313045336, 83313045337, 83313045338, 83313045339, 83313045340, 83313045341, 83313045342, 83313045343, 83313045348, 83313045349, 83313045351,
    83313045360, 83313045361, 83313045362, 83313045363, 83313045364, 83313045365, 83313045366, 83313045367, 83313045368, 83313045369, 83313045371, 83313045372,
    83313045373, 83313045374, 83313045375, 83313045460, 83313045461, 83313045463, 83313047722, 83313048064, 83313048066, 83313048072, 83313048074, 83313048096,
    83313048098, 83313048104, 83313048106, 83313048192, 83313048194)) AND (NOT (NOT (((cos(radians(toFloat64(t1.`dec`))) * cos(radians(toFloat64(t1.`ra`) %
    360.))) * (-0.336822015666361) + (cos(radians(toFloat64(t1.`dec`))) * sin(radians(toFloat64(t1.`ra`) % 360.))) * (-0.05940293198842309) +
    sin(radians(toFloat64(t1.`dec`))) * 0.9396926207189393) >= (-1e-15)) OR NOT (((cos(radians(toFloat64(t1.`dec`))) * cos(radians(toFloat64(t1.`ra`) % 360.)))
    * 0.3572433578291177 + (cos(radians(toFloat64(t1.`dec`))) * sin(radians(toFloat64(t1.`ra`) % 360.))) * (-0.6769858889771743) +
    sin(radians(toFloat64(t1.`dec`))) * (-0.64348060531205)) >= (-1e-15)) OR NOT (((cos(radians(toFloat64(t1.`dec`))) * cos(radians(toFloat64(t1.`ra`) % 360.)))
    * (-0.1736481776669669) + (cos(radians(toFloat64(t1.`dec`))) * sin(radians(toFloat64(t1.`ra`) % 360.))) * 0.9848077530122018 +
    sin(radians(toFloat64(t1.`dec`))) * 1.0196449876670093e-13) >= (-1e-15))))

-- Region of STC-S
SELECT id FROM sky.objects WHERE 1 = CONTAINS(POINT(ra, dec), REGION('Union ICRS (Circle 10 20 0.001 Box 11 20 0.002 0.002)'))
=>
SELECT t1.`id` AS c1
FROM `sky`.`objects` AS t1
PREWHERE (intDiv(t1.`hpx29`, 67108864) IN (20828261231, 20828261242, 20828261243, 20828261317, 20828261319, 20828261325, 20828261328, 20828261329, 20828261330,
    20828261331, 20828261332, 20828261334, 20828261336, 20828261337, 20828261340, 20871411631, 20871411640, 20871411642, 20871411643, 20871412996, 20871412997,
    20871412998, 20871412999, 20871413005, 20871413008, 20871413009, 20871413010, 20871413011, 20871413012, 20871413014, 20871413016, 20871413017, 20871413018,
    20871413019, 20871413020)) AND if(isNull(toFloat64(t1.`ra`) + toFloat64(t1.`dec`)) OR isNaN(toFloat64(t1.`ra`) + toFloat64(t1.`dec`)), NULL,
    ((((cos(radians(toFloat64(t1.`dec`))) * cos(radians(toFloat64(t1.`ra`) % 360.))) - 0.9254165783983234) * ((cos(radians(toFloat64(t1.`dec`))) *
    cos(radians(toFloat64(t1.`ra`) % 360.))) - 0.9254165783983234) + ((cos(radians(toFloat64(t1.`dec`))) * sin(radians(toFloat64(t1.`ra`) % 360.))) -
    0.16317591116653482) * ((cos(radians(toFloat64(t1.`dec`))) * sin(radians(toFloat64(t1.`ra`) % 360.))) - 0.16317591116653482) +
    (sin(radians(toFloat64(t1.`dec`))) - 0.3420201433256687) * (sin(radians(toFloat64(t1.`dec`))) - 0.3420201433256687) <= 3.046174198138826e-10) OR (NOT (NOT
    (((cos(radians(toFloat64(t1.`dec`))) * cos(radians(toFloat64(t1.`ra`) % 360.))) * 0.19082509475005527 + (cos(radians(toFloat64(t1.`dec`))) *
    sin(radians(toFloat64(t1.`ra`) % 360.))) * (-0.9816240538913046) + sin(radians(toFloat64(t1.`dec`))) * 5.969377634502861e-06) >= (-1e-15)) OR NOT
    (((cos(radians(toFloat64(t1.`dec`))) * cos(radians(toFloat64(t1.`ra`) % 360.))) * 0.33575236932676256 + (cos(radians(toFloat64(t1.`dec`))) *
    sin(radians(toFloat64(t1.`ra`) % 360.))) * 0.06526364934252812 + sin(radians(toFloat64(t1.`dec`))) * (-0.9396866512651763)) >= (-1e-15)) OR NOT
    (((cos(radians(toFloat64(t1.`dec`))) * cos(radians(toFloat64(t1.`ra`) % 360.))) * (-0.1907928959453581) + (cos(radians(toFloat64(t1.`dec`))) *
    sin(radians(toFloat64(t1.`ra`) % 360.))) * 0.9816303127049155 + sin(radians(toFloat64(t1.`dec`))) * 5.969378886919491e-06) >= (-1e-15)) OR NOT
    (((cos(radians(toFloat64(t1.`dec`))) * cos(radians(toFloat64(t1.`ra`) % 360.))) * (-0.33572017052207864) + (cos(radians(toFloat64(t1.`dec`))) *
    sin(radians(toFloat64(t1.`ra`) % 360.))) * (-0.0652573905263625) + sin(radians(toFloat64(t1.`dec`))) * 0.9396985900203939) >= (-1e-15))))))

-- MOC
SELECT COUNT(*) FROM sky.objects WHERE 1 = CONTAINS(POINT(ra, dec), REGION('6/30 7/5'))
=>
SELECT toInt64(count()) AS c1
FROM `sky`.`objects` AS t1
PREWHERE (intDiv(t1.`hpx29`, 70368744177664) IN (30) OR intDiv(t1.`hpx29`, 17592186044416) IN (5))

-- Ranges of coordinates
SELECT id FROM sky.objects WHERE ra BETWEEN 10 AND 10.002 AND dec BETWEEN 20 AND 20.002
=>
SELECT t1.`id` AS c1
FROM `sky`.`objects` AS t1
PREWHERE (intDiv(t1.`hpx29`, 16777216) IN (83313044975, 83313044984, 83313044986, 83313044987, 83313045315, 83313045316, 83313045317, 83313045318, 83313045319,
    83313045320, 83313045321, 83313045323, 83313045324, 83313045325, 83313045326, 83313045327, 83313045328, 83313045329, 83313045330, 83313045331, 83313045332,
    83313045334, 83313045335, 83313045336, 83313045337, 83313045338, 83313045339, 83313045340, 83313045341, 83313045342, 83313045343, 83313045348, 83313045349,
    83313045351, 83313045360, 83313045361, 83313045362, 83313045363, 83313045364, 83313045368, 83313048072)) AND (t1.`ra` >= 10) AND (t1.`ra` <= 10.002) AND
    (t1.`dec` >= 20) AND (t1.`dec` <= 20.002)

-- Two cones under OR
SELECT id FROM sky.objects WHERE 1 = CONTAINS(POINT(ra, dec), CIRCLE(10, 20, 0.001)) OR 1 = CONTAINS(POINT(ra, dec), CIRCLE(50, 20, 0.001))
=>
SELECT t1.`id` AS c1
FROM `sky`.`objects` AS t1
WHERE (intDiv(t1.`hpx29`, 16777216) IN (1769863190, 1769863191, 1769863193, 1769863194, 1769863195, 1769863196, 1769863197, 1769863198, 1769863199, 1769863216,
    1769863217, 1769863219, 1769863220, 1769863221, 1769863222, 1769863223, 1769863228, 1769863229, 1769863234, 1769863235, 1769863240, 1769863241, 1769863242,
    1769863243, 1769863246, 1769863264, 1769863265, 1769863266, 1769863267, 1769863268, 1769863270, 1769863272, 1769863273, 83313044970, 83313044971,
    83313044974, 83313045269, 83313045270, 83313045271, 83313045276, 83313045277, 83313045278, 83313045279, 83313045301, 83313045312, 83313045313, 83313045314,
    83313045315, 83313045316, 83313045317, 83313045318, 83313045319, 83313045320, 83313045321, 83313045322, 83313045323, 83313045324, 83313045325, 83313045326,
    83313045327, 83313045330, 83313045336, 83313045338, 83313045344, 83313045345, 83313045347, 83313045348, 83313045349, 83313045350)) AND ((pow(sin((t1.`dec` -
    20.0) * 0.008726646259971648), 2) + 0.9396926207859084 * cos(radians(t1.`dec`)) * pow(sin((t1.`ra` % 360. - 10.0) * 0.008726646259971648), 2) <=
    7.615435495347065e-11) OR (pow(sin((t1.`dec` - 20.0) * 0.008726646259971648), 2) + 0.9396926207859084 * cos(radians(t1.`dec`)) * pow(sin((t1.`ra` % 360. -
    50.0) * 0.008726646259971648), 2) <= 7.615435495347065e-11))

-- Cone and a condition under AND
SELECT id FROM sky.objects WHERE 1 = CONTAINS(POINT(ra, dec), CIRCLE(10, 20, 0.001)) AND g_mag < 15
=>
SELECT t1.`id` AS c1
FROM `sky`.`objects` AS t1
PREWHERE (intDiv(t1.`hpx29`, 268435456) IN (5207065307, 5207065310, 5207065311, 5207065329, 5207065331, 5207065332, 5207065333, 5207065334, 5207065335)) AND
    (pow(sin((t1.`dec` - 20.0) * 0.008726646259971648), 2) + 0.9396926207859084 * cos(radians(t1.`dec`)) * pow(sin((t1.`ra` % 360. - 10.0) *
    0.008726646259971648), 2) <= 7.615435495347065e-11) AND (t1.`g_mag` < 15)

-- Galactic coordinates of a constant
SELECT id FROM sky.objects WHERE 1 = CONTAINS(POINT(ra, dec), CIRCLE('GALACTIC', 120, 5, 0.001))
=>
SELECT t1.`id` AS c1
FROM `sky`.`objects` AS t1
PREWHERE (intDiv(t1.`hpx29`, 268435456) IN (984928641, 984928643, 984928644, 984928645, 984928646, 984928647)) AND (pow(sin((t1.`dec` - 67.69588330225666) *
    0.008726646259971648), 2) + 0.37952263480293047 * cos(radians(t1.`dec`)) * pow(sin((t1.`ra` % 360. - 5.143635538380316) * 0.008726646259971648), 2) <=
    7.615435495347065e-11)

-- Galactic coordinates of rows
SELECT id, ivo_geom_transform('ICRS', 'GALACTIC', POINT(ra, dec)) FROM sky.objects WHERE id = 1
=>
SELECT t1.`id` AS c1, if(isNull(positiveModulo(positiveModulo(degrees(atan2(((cos(radians(toFloat64(t1.`dec`))) * cos(radians(toFloat64(t1.`ra`) % 360.))) *
    (0.4941094371927275) + (cos(radians(toFloat64(t1.`dec`))) * sin(radians(toFloat64(t1.`ra`) % 360.))) * (-0.44482972122329534) +
    sin(radians(toFloat64(t1.`dec`))) * (0.7469821839866675)), ((cos(radians(toFloat64(t1.`dec`))) * cos(radians(toFloat64(t1.`ra`) % 360.))) *
    (-0.0548756577125917) + (cos(radians(toFloat64(t1.`dec`))) * sin(radians(toFloat64(t1.`ra`) % 360.))) * (-0.8734370519556163) +
    sin(radians(toFloat64(t1.`dec`))) * (-0.4838350736167155)))), 360.), 360.)) OR isNull(degrees(atan2(((cos(radians(toFloat64(t1.`dec`))) *
    cos(radians(toFloat64(t1.`ra`) % 360.))) * (-0.8676661375596588) + (cos(radians(toFloat64(t1.`dec`))) * sin(radians(toFloat64(t1.`ra`) % 360.))) *
    (-0.19807633727300059) + sin(radians(toFloat64(t1.`dec`))) * (0.4559838136873017)), sqrt(((cos(radians(toFloat64(t1.`dec`))) *
    cos(radians(toFloat64(t1.`ra`) % 360.))) * (-0.0548756577125917) + (cos(radians(toFloat64(t1.`dec`))) * sin(radians(toFloat64(t1.`ra`) % 360.))) *
    (-0.8734370519556163) + sin(radians(toFloat64(t1.`dec`))) * (-0.4838350736167155)) * ((cos(radians(toFloat64(t1.`dec`))) * cos(radians(toFloat64(t1.`ra`) %
    360.))) * (-0.0548756577125917) + (cos(radians(toFloat64(t1.`dec`))) * sin(radians(toFloat64(t1.`ra`) % 360.))) * (-0.8734370519556163) +
    sin(radians(toFloat64(t1.`dec`))) * (-0.4838350736167155)) + ((cos(radians(toFloat64(t1.`dec`))) * cos(radians(toFloat64(t1.`ra`) % 360.))) *
    (0.4941094371927275) + (cos(radians(toFloat64(t1.`dec`))) * sin(radians(toFloat64(t1.`ra`) % 360.))) * (-0.44482972122329534) +
    sin(radians(toFloat64(t1.`dec`))) * (0.7469821839866675)) * ((cos(radians(toFloat64(t1.`dec`))) * cos(radians(toFloat64(t1.`ra`) % 360.))) *
    (0.4941094371927275) + (cos(radians(toFloat64(t1.`dec`))) * sin(radians(toFloat64(t1.`ra`) % 360.))) * (-0.44482972122329534) +
    sin(radians(toFloat64(t1.`dec`))) * (0.7469821839866675)))))), CAST([], 'Array(Float64)'),
    [assumeNotNull(toFloat64(positiveModulo(positiveModulo(degrees(atan2(((cos(radians(toFloat64(t1.`dec`))) * cos(radians(toFloat64(t1.`ra`) % 360.))) *
    (0.4941094371927275) + (cos(radians(toFloat64(t1.`dec`))) * sin(radians(toFloat64(t1.`ra`) % 360.))) * (-0.44482972122329534) +
    sin(radians(toFloat64(t1.`dec`))) * (0.7469821839866675)), ((cos(radians(toFloat64(t1.`dec`))) * cos(radians(toFloat64(t1.`ra`) % 360.))) *
    (-0.0548756577125917) + (cos(radians(toFloat64(t1.`dec`))) * sin(radians(toFloat64(t1.`ra`) % 360.))) * (-0.8734370519556163) +
    sin(radians(toFloat64(t1.`dec`))) * (-0.4838350736167155)))), 360.), 360.))), assumeNotNull(toFloat64(degrees(atan2(((cos(radians(toFloat64(t1.`dec`))) *
    cos(radians(toFloat64(t1.`ra`) % 360.))) * (-0.8676661375596588) + (cos(radians(toFloat64(t1.`dec`))) * sin(radians(toFloat64(t1.`ra`) % 360.))) *
    (-0.19807633727300059) + sin(radians(toFloat64(t1.`dec`))) * (0.4559838136873017)), sqrt(((cos(radians(toFloat64(t1.`dec`))) *
    cos(radians(toFloat64(t1.`ra`) % 360.))) * (-0.0548756577125917) + (cos(radians(toFloat64(t1.`dec`))) * sin(radians(toFloat64(t1.`ra`) % 360.))) *
    (-0.8734370519556163) + sin(radians(toFloat64(t1.`dec`))) * (-0.4838350736167155)) * ((cos(radians(toFloat64(t1.`dec`))) * cos(radians(toFloat64(t1.`ra`) %
    360.))) * (-0.0548756577125917) + (cos(radians(toFloat64(t1.`dec`))) * sin(radians(toFloat64(t1.`ra`) % 360.))) * (-0.8734370519556163) +
    sin(radians(toFloat64(t1.`dec`))) * (-0.4838350736167155)) + ((cos(radians(toFloat64(t1.`dec`))) * cos(radians(toFloat64(t1.`ra`) % 360.))) *
    (0.4941094371927275) + (cos(radians(toFloat64(t1.`dec`))) * sin(radians(toFloat64(t1.`ra`) % 360.))) * (-0.44482972122329534) +
    sin(radians(toFloat64(t1.`dec`))) * (0.7469821839866675)) * ((cos(radians(toFloat64(t1.`dec`))) * cos(radians(toFloat64(t1.`ra`) % 360.))) *
    (0.4941094371927275) + (cos(radians(toFloat64(t1.`dec`))) * sin(radians(toFloat64(t1.`ra`) % 360.))) * (-0.44482972122329534) +
    sin(radians(toFloat64(t1.`dec`))) * (0.7469821839866675)))))))]) AS c2
FROM `sky`.`objects` AS t1
PREWHERE (t1.`id` = 1)
SETTINGS compile_aggregate_expressions = 0, compile_expressions = 0, min_table_rows_to_use_projection_index = 8192, preferred_optimize_projection_name = by_id

-- Separation as a value
SELECT DISTANCE(POINT(ra, dec), POINT(10, 20)) FROM sky.objects WHERE id = 1
=>
SELECT degrees((2 * atan2(sqrt(((cos(radians(toFloat64(t1.`dec`))) * cos(radians(toFloat64(t1.`ra`) % 360.))) - (0.9254165783983234)) *
    ((cos(radians(toFloat64(t1.`dec`))) * cos(radians(toFloat64(t1.`ra`) % 360.))) - (0.9254165783983234)) + ((cos(radians(toFloat64(t1.`dec`))) *
    sin(radians(toFloat64(t1.`ra`) % 360.))) - (0.16317591116653482)) * ((cos(radians(toFloat64(t1.`dec`))) * sin(radians(toFloat64(t1.`ra`) % 360.))) -
    (0.16317591116653482)) + (sin(radians(toFloat64(t1.`dec`))) - (0.3420201433256687)) * (sin(radians(toFloat64(t1.`dec`))) - (0.3420201433256687))),
    sqrt(((cos(radians(toFloat64(t1.`dec`))) * cos(radians(toFloat64(t1.`ra`) % 360.))) + (0.9254165783983234)) * ((cos(radians(toFloat64(t1.`dec`))) *
    cos(radians(toFloat64(t1.`ra`) % 360.))) + (0.9254165783983234)) + ((cos(radians(toFloat64(t1.`dec`))) * sin(radians(toFloat64(t1.`ra`) % 360.))) +
    (0.16317591116653482)) * ((cos(radians(toFloat64(t1.`dec`))) * sin(radians(toFloat64(t1.`ra`) % 360.))) + (0.16317591116653482)) +
    (sin(radians(toFloat64(t1.`dec`))) + (0.3420201433256687)) * (sin(radians(toFloat64(t1.`dec`))) + (0.3420201433256687)))))) AS c1
FROM `sky`.`objects` AS t1
PREWHERE (t1.`id` = 1)
SETTINGS min_table_rows_to_use_projection_index = 8192, preferred_optimize_projection_name = by_id

-- Coordinates, area and centroid
SELECT COORD1(POINT(ra, dec)), AREA(CIRCLE(ra, dec, 1)), CENTROID(field) FROM sky.objects AS o JOIN sky.observations AS x ON x.id = o.id
=>
SELECT t1.`ra` AS c1, if(isNull(toFloat64(t1.`ra`) + toFloat64(t1.`dec`)) OR isNaN(toFloat64(t1.`ra`) + toFloat64(t1.`dec`)), NULL, (41252.96124941928 *
    pow(sin(radians(least(greatest(assumeNotNull(toFloat64(1)), 0), 180)) / 2), 2))) AS c2, if(isNull(if(empty(t2.`field`), nan, arraySum(t2.`field`))) OR
    isNaN(if(empty(t2.`field`), nan, arraySum(t2.`field`))), CAST([], 'Array(Float64)'), arrayMap((edges1) -> arrayMap((weight1, reach1, area1) -> arrayMap((x,
    y, z) -> [positiveModulo(positiveModulo(degrees(atan2(y, x)), 360.), 360.), degrees(atan2(z, sqrt(x * x + y * y)))], [if(reach1 < 0.0001, edges1[1].1 +
    arraySum((e, o) -> (e.1 + e.4 - 2 * o.1) * (o.1 * ((e.2 - o.2) * (e.6 - o.3) - (e.3 - o.3) * (e.5 - o.2)) + o.2 * ((e.3 - o.3) * (e.4 - o.1) - (e.1 - o.1) *
    (e.6 - o.3)) + o.3 * ((e.1 - o.1) * (e.5 - o.2) - (e.2 - o.2) * (e.4 - o.1))), edges1, arrayMap(d -> edges1[1], edges1)) / weight1, arraySum(e -> e.7 * (2 *
    atan2(sqrt((e.1 - e.4) * (e.1 - e.4) + (e.2 - e.5) * (e.2 - e.5) + (e.3 - e.6) * (e.3 - e.6)), sqrt((e.1 + e.4) * (e.1 + e.4) + (e.2 + e.5) * (e.2 + e.5) +
    (e.3 + e.6) * (e.3 + e.6)))) / greatest(sqrt((e.7 * e.7 + e.8 * e.8 + e.9 * e.9)), 1e-300), edges1) * sign(area1))], [if(reach1 < 0.0001, edges1[1].2 +
    arraySum((e, o) -> (e.2 + e.5 - 2 * o.2) * (o.1 * ((e.2 - o.2) * (e.6 - o.3) - (e.3 - o.3) * (e.5 - o.2)) + o.2 * ((e.3 - o.3) * (e.4 - o.1) - (e.1 - o.1) *
    (e.6 - o.3)) + o.3 * ((e.1 - o.1) * (e.5 - o.2) - (e.2 - o.2) * (e.4 - o.1))), edges1, arrayMap(d -> edges1[1], edges1)) / weight1, arraySum(e -> e.8 * (2 *
    atan2(sqrt((e.1 - e.4) * (e.1 - e.4) + (e.2 - e.5) * (e.2 - e.5) + (e.3 - e.6) * (e.3 - e.6)), sqrt((e.1 + e.4) * (e.1 + e.4) + (e.2 + e.5) * (e.2 + e.5) +
    (e.3 + e.6) * (e.3 + e.6)))) / greatest(sqrt((e.7 * e.7 + e.8 * e.8 + e.9 * e.9)), 1e-300), edges1) * sign(area1))], [if(reach1 < 0.0001, edges1[1].3 +
    arraySum((e, o) -> (e.3 + e.6 - 2 * o.3) * (o.1 * ((e.2 - o.2) * (e.6 - o.3) - (e.3 - o.3) * (e.5 - o.2)) + o.2 * ((e.3 - o.3) * (e.4 - o.1) - (e.1 - o.1) *
    (e.6 - o.3)) + o.3 * ((e.1 - o.1) * (e.5 - o.2) - (e.2 - o.2) * (e.4 - o.1))), edges1, arrayMap(d -> edges1[1], edges1)) / weight1, arraySum(e -> e.9 * (2 *
    atan2(sqrt((e.1 - e.4) * (e.1 - e.4) + (e.2 - e.5) * (e.2 - e.5) + (e.3 - e.6) * (e.3 - e.6)), sqrt((e.1 + e.4) * (e.1 + e.4) + (e.2 + e.5) * (e.2 + e.5) +
    (e.3 + e.6) * (e.3 + e.6)))) / greatest(sqrt((e.7 * e.7 + e.8 * e.8 + e.9 * e.9)), 1e-300), edges1) * sign(area1))])[1], [3 * arraySum((e, o) -> (o.1 *
    ((e.2 - o.2) * (e.6 - o.3) - (e.3 - o.3) * (e.5 - o.2)) + o.2 * ((e.3 - o.3) * (e.4 - o.1) - (e.1 - o.1) * (e.6 - o.3)) + o.3 * ((e.1 - o.1) * (e.5 - o.2) -
    (e.2 - o.2) * (e.4 - o.1))), edges1, arrayMap(d -> edges1[1], edges1))], [arrayMax((e, o) -> (2 * atan2(sqrt((e.1 - o.1) * (e.1 - o.1) + (e.2 - o.2) * (e.2
    - o.2) + (e.3 - o.3) * (e.3 - o.3)), sqrt((e.1 + o.1) * (e.1 + o.1) + (e.2 + o.2) * (e.2 + o.2) + (e.3 + o.3) * (e.3 + o.3)))), edges1, arrayMap(d ->
    edges1[1], edges1))], [arrayMap((s) -> s - 12.566370614359172 * round(s / 12.566370614359172), [arraySum((e, o) -> 2 * atan2((o.1 * ((e.2 - o.2) * (e.6 -
    o.3) - (e.3 - o.3) * (e.5 - o.2)) + o.2 * ((e.3 - o.3) * (e.4 - o.1) - (e.1 - o.1) * (e.6 - o.3)) + o.3 * ((e.1 - o.1) * (e.5 - o.2) - (e.2 - o.2) * (e.4 -
    o.1))), 1 + (e.1 * e.4 + e.2 * e.5 + e.3 * e.6) + (e.1 * o.1 + e.2 * o.2 + e.3 * o.3) + (e.4 * o.1 + e.5 * o.2 + e.6 * o.3)), edges1, arrayMap(d ->
    edges1[1], edges1))])[1]])[1], [arrayMap((c) -> arrayMap((v) -> arrayMap((a, b) -> (a.1, a.2, a.3, b.1, b.2, b.3, ((a.2 - b.2) * (a.3 + b.3) - (a.3 - b.3) *
    (a.2 + b.2)) / 2, ((a.3 - b.3) * (a.1 + b.1) - (a.1 - b.1) * (a.3 + b.3)) / 2, ((a.1 - b.1) * (a.2 + b.2) - (a.2 - b.2) * (a.1 + b.1)) / 2), v,
    arrayRotateLeft(v, 1)), [arrayMap(i -> ((cos(radians(c[2 * i])) * cos(radians(c[2 * i - 1] % 360.))), (cos(radians(c[2 * i])) * sin(radians(c[2 * i - 1] %
    360.))), sin(radians(c[2 * i]))), range(1, intDiv(length(c), 2) + 1))])[1], [t2.`field`])[1]])[1]) AS c3
FROM `sky`.`objects` AS t1
INNER JOIN `sky`.`observations` AS t2
ON (t2.`id` = t1.`id`)
SETTINGS compile_aggregate_expressions = 0, compile_expressions = 0

-- Circle of a row around a constant position
SELECT name FROM sky.targets WHERE 1 = CONTAINS(POINT(10, 20), CIRCLE(ra, dec, radius))
=>
SELECT t1.`name` AS c1
FROM `sky`.`targets` AS t1
PREWHERE ((2 * atan2(sqrt(((0.9254165783983234) - (cos(radians(toFloat64(t1.`dec`))) * cos(radians(toFloat64(t1.`ra`) % 360.)))) * ((0.9254165783983234) -
    (cos(radians(toFloat64(t1.`dec`))) * cos(radians(toFloat64(t1.`ra`) % 360.)))) + ((0.16317591116653482) - (cos(radians(toFloat64(t1.`dec`))) *
    sin(radians(toFloat64(t1.`ra`) % 360.)))) * ((0.16317591116653482) - (cos(radians(toFloat64(t1.`dec`))) * sin(radians(toFloat64(t1.`ra`) % 360.)))) +
    ((0.3420201433256687) - sin(radians(toFloat64(t1.`dec`)))) * ((0.3420201433256687) - sin(radians(toFloat64(t1.`dec`))))), sqrt(((0.9254165783983234) +
    (cos(radians(toFloat64(t1.`dec`))) * cos(radians(toFloat64(t1.`ra`) % 360.)))) * ((0.9254165783983234) + (cos(radians(toFloat64(t1.`dec`))) *
    cos(radians(toFloat64(t1.`ra`) % 360.)))) + ((0.16317591116653482) + (cos(radians(toFloat64(t1.`dec`))) * sin(radians(toFloat64(t1.`ra`) % 360.)))) *
    ((0.16317591116653482) + (cos(radians(toFloat64(t1.`dec`))) * sin(radians(toFloat64(t1.`ra`) % 360.)))) + ((0.3420201433256687) +
    sin(radians(toFloat64(t1.`dec`)))) * ((0.3420201433256687) + sin(radians(toFloat64(t1.`dec`))))))) <= if(t1.`radius` < 0, -1, radians(t1.`radius`) + 1e-15))

-- Two shapes of one row
SELECT id FROM sky.observations WHERE 1 = INTERSECTS(field, beam)
=>
SELECT t1.`id` AS c1
FROM `sky`.`observations` AS t1
WHERE if(isNull(if(empty(t1.`field`), nan, arraySum(t1.`field`)) + if(empty(t1.`beam`), nan, arraySum(t1.`beam`))) OR isNaN(if(empty(t1.`field`), nan,
    arraySum(t1.`field`)) + if(empty(t1.`beam`), nan, arraySum(t1.`beam`))), NULL, (arrayMap((array1, x2, y2, z2, r2) -> ((abs(arraySum(e -> atan2(-(x2 * e.7 +
    y2 * e.8 + z2 * e.9), (e.1 - x2) * (e.4 - x2) + (e.2 - y2) * (e.5 - y2) + (e.3 - z2) * (e.6 - z2)), array1)) > 3.141592653589793 OR arrayExists(e -> (NOT
    (NOT ((e.7 * e.7 + e.8 * e.8 + e.9 * e.9) > 4e-30) OR NOT (abs((x2 * e.7 + y2 * e.8 + z2 * e.9)) <= 1e-15 * sqrt((e.7 * e.7 + e.8 * e.8 + e.9 * e.9))) OR
    NOT ((x2 * (e.8 * e.3 - e.9 * e.2) + y2 * (e.9 * e.1 - e.7 * e.3) + z2 * (e.7 * e.2 - e.8 * e.1)) >= -1e-15 * sqrt((e.7 * e.7 + e.8 * e.8 + e.9 * e.9))) OR
    NOT ((x2 * (e.5 * e.9 - e.6 * e.8) + y2 * (e.6 * e.7 - e.4 * e.9) + z2 * (e.4 * e.8 - e.5 * e.7)) >= -1e-15 * sqrt((e.7 * e.7 + e.8 * e.8 + e.9 * e.9))))),
    array1)) OR (NOT (NOT (r2 > 0) OR NOT (arrayMin(e -> if((NOT (NOT ((x2 * (e.8 * e.3 - e.9 * e.2) + y2 * (e.9 * e.1 - e.7 * e.3) + z2 * (e.7 * e.2 - e.8 *
    e.1)) > 0) OR NOT ((x2 * (e.5 * e.9 - e.6 * e.8) + y2 * (e.6 * e.7 - e.4 * e.9) + z2 * (e.4 * e.8 - e.5 * e.7)) > 0))), atan2(abs((x2 * e.7 + y2 * e.8 + z2
    * e.9)), sqrt((e.7 * e.7 + e.8 * e.8 + e.9 * e.9) * (x2 * e.1 + y2 * e.2 + z2 * e.3) * (x2 * e.1 + y2 * e.2 + z2 * e.3) + (x2 * (e.8 * e.3 - e.9 * e.2) + y2
    * (e.9 * e.1 - e.7 * e.3) + z2 * (e.7 * e.2 - e.8 * e.1)) * (x2 * (e.8 * e.3 - e.9 * e.2) + y2 * (e.9 * e.1 - e.7 * e.3) + z2 * (e.7 * e.2 - e.8 * e.1)))),
    least((2 * atan2(sqrt((x2 - e.1) * (x2 - e.1) + (y2 - e.2) * (y2 - e.2) + (z2 - e.3) * (z2 - e.3)), sqrt((x2 + e.1) * (x2 + e.1) + (y2 + e.2) * (y2 + e.2) +
    (z2 + e.3) * (z2 + e.3)))), (2 * atan2(sqrt((x2 - e.4) * (x2 - e.4) + (y2 - e.5) * (y2 - e.5) + (z2 - e.6) * (z2 - e.6)), sqrt((x2 + e.4) * (x2 + e.4) + (y2
    + e.5) * (y2 + e.5) + (z2 + e.6) * (z2 + e.6)))))), array1) <= radians(r2) + 1e-15)))), [arrayMap((c) -> arrayMap((v) -> arrayMap((a, b) -> (a.1, a.2, a.3,
    b.1, b.2, b.3, ((a.2 - b.2) * (a.3 + b.3) - (a.3 - b.3) * (a.2 + b.2)) / 2, ((a.3 - b.3) * (a.1 + b.1) - (a.1 - b.1) * (a.3 + b.3)) / 2, ((a.1 - b.1) * (a.2
    + b.2) - (a.2 - b.2) * (a.1 + b.1)) / 2), v, arrayRotateLeft(v, 1)), [arrayMap(i -> ((cos(radians(c[2 * i])) * cos(radians(c[2 * i - 1] % 360.))),
    (cos(radians(c[2 * i])) * sin(radians(c[2 * i - 1] % 360.))), sin(radians(c[2 * i]))), range(1, intDiv(length(c), 2) + 1))])[1], [t1.`field`])[1]],
    [(cos(radians(toFloat64(t1.`beam`[2]))) * cos(radians(toFloat64(t1.`beam`[1]) % 360.)))], [(cos(radians(toFloat64(t1.`beam`[2]))) *
    sin(radians(toFloat64(t1.`beam`[1]) % 360.)))], [sin(radians(toFloat64(t1.`beam`[2])))], [toFloat64(t1.`beam`[3])])[1] = 1))

-- Stored polygon and a constant circle
SELECT id FROM sky.observations WHERE 1 = INTERSECTS(field, CIRCLE(10, 20, 0.5))
=>
SELECT t1.`id` AS c1
FROM `sky`.`observations` AS t1
WHERE (t1.`__cover_field` IN (108086391056891905, 0, 27021597764222976, 36028797018963968, 72057594037927936, 1, 4503599627370497, 29273397577908225,
    36028797018963969, 40532396646334465, 38280596832649217, 42784196460019713, 4503599627370498, 5629499534213122, 39406496739491842, 39969446692913154,
    42784196460019714, 43910096366862338, 43347146413441026, 44473046320283650, 42924933948375043, 43206408925085699, 43347146413441027, 43628621390151683,
    43487883901796355, 43769358878507011, 44473046320283651, 44613783808638979, 43417515157618692, 43452699529707524, 43628621390151684, 43663805762240516,
    43734174506418180, 43558252645974020, 43769358878507012, 43839727622684676, 43804543250595844, 43470291715751941, 43479087808774149, 43663805762240517,
    43681397948284933, 43672601855262725, 43690194041307141, 43575844832018437, 43769358878507013, 43786951064551429, 43778154971529221, 43483485855285254,
    43485684878540806, 43670402832007174, 43672601855262726, 43676999901773830, 43674800878518278, 43679198925029382, 43690194041307142, 43692393064562694,
    43769358878507014, 43773756925018118, 43775955948273670, 43786951064551430, 43673151611076615, 43674251122704391, 43676999901773831, 43677549657587719,
    43678649169215495, 43674800878518279, 43675900390146055, 43675350634332167, 43676450145959943, 43679198925029383, 43680298436657159, 43679748680843271,
    43680848192471047, 43690743797121031, 43692393064562695, 43692942820376583, 43769358878507015, 43770458390134791, 43773756925018119, 43774856436645895,
    43774306680832007, 43775406192459783, 43786951064551431, 43674388561657864, 43674663439564808, 43677549657587720, 43677824535494664, 43677687096541192,
    43677961974448136, 43678786608168968, 43679061486075912, 43675900390146056, 43676175268053000, 43676037829099528, 43676312707006472, 43676450145959944,
    43676725023866888, 43676587584913416, 43676862462820360, 43679198925029384, 43679473802936328, 43679336363982856, 43679611241889800, 43680298436657160,
    43680573314564104, 43680435875610632, 43680710753517576, 43679748680843272, 43680023558750216, 43679886119796744, 43680160997703688, 43680848192471048,
    43681123070377992, 43680985631424520, 43681260509331464, 43692393064562696, 43692530503516168, 43692942820376584, 43693080259330056, 43770458390134792,
    43770733268041736, 43773756925018120, 43774031802925064, 43773894363971592, 43774169241878536, 43774856436645896, 43775131314552840, 43774993875599368) OR
    intDiv(t1.`__cover_field`, 34359738368) IN (1271103, 1271190, 1271189, 1271191, 1271196, 1271198, 1271197, 1271199, 1271221, 1271223, 1271139, 1271144,
    1271146, 1271145, 1271147, 1271142, 1271143, 1271148, 1271150, 1271149, 1271151, 1271154, 1271155, 1271160, 1271162, 1271161, 1271163, 1271158, 1271164,
    1271166, 1271165, 1271167, 1271232, 1271234, 1271233, 1271235, 1271240, 1271242, 1271241, 1271243, 1271236, 1271238, 1271237, 1271239, 1271244, 1271246,
    1271245, 1271247, 1271264, 1271266, 1271265, 1271267, 1271272, 1271273, 1271275, 1271268, 1271270, 1271269, 1271271, 1271276, 1271278, 1271277, 1271279,
    1271248, 1271250, 1271249, 1271251, 1271256, 1271258, 1271257, 1271259, 1271252, 1271254, 1271253, 1271255, 1271260, 1271262, 1271261, 1271263, 1271280,
    1271282, 1271281, 1271283, 1271288, 1271290, 1271289, 1271291, 1271284, 1271286, 1271285, 1271287, 1271292, 1271294, 1271293, 1273898, 1273984, 1273986,
    1273985, 1273987, 1273992, 1273994, 1273993, 1273995, 1274016, 1274018, 1274017, 1274024)) AND multiIf((t1.`__cover_field` IN (108086391056891905, 0,
    27021597764222976, 36028797018963968, 72057594037927936, 1, 4503599627370497, 29273397577908225, 36028797018963969, 40532396646334465, 38280596832649217,
    42784196460019713, 4503599627370498, 5629499534213122, 39406496739491842, 39969446692913154, 42784196460019714, 43910096366862338, 43347146413441026,
    44473046320283650, 42924933948375043, 43206408925085699, 43347146413441027, 43628621390151683, 43487883901796355, 43769358878507011, 44473046320283651,
    44613783808638979, 43417515157618692, 43452699529707524, 43628621390151684, 43663805762240516, 43734174506418180, 43558252645974020, 43769358878507012,
    43839727622684676, 43804543250595844, 43470291715751941, 43479087808774149, 43663805762240517, 43681397948284933, 43672601855262725, 43690194041307141,
    43575844832018437, 43769358878507013, 43786951064551429, 43778154971529221, 43483485855285254, 43485684878540806, 43670402832007174, 43672601855262726,
    43676999901773830, 43674800878518278, 43679198925029382, 43690194041307142, 43692393064562694, 43769358878507014, 43773756925018118, 43775955948273670,
    43786951064551430, 43673151611076615, 43674251122704391, 43676999901773831, 43677549657587719, 43678649169215495, 43674800878518279, 43675900390146055,
    43675350634332167, 43676450145959943, 43679198925029383, 43680298436657159, 43679748680843271, 43680848192471047, 43690743797121031, 43692393064562695,
    43692942820376583, 43769358878507015, 43770458390134791, 43773756925018119, 43774856436645895, 43774306680832007, 43775406192459783, 43786951064551431,
    43674388561657864, 43674663439564808, 43677549657587720, 43677824535494664, 43677687096541192, 43677961974448136, 43678786608168968, 43679061486075912,
    43675900390146056, 43676175268053000, 43676037829099528, 43676312707006472, 43676450145959944, 43676725023866888, 43676587584913416, 43676862462820360,
    43679198925029384, 43679473802936328, 43679336363982856, 43679611241889800, 43680298436657160, 43680573314564104, 43680435875610632, 43680710753517576,
    43679748680843272, 43680023558750216, 43679886119796744, 43680160997703688, 43680848192471048, 43681123070377992, 43680985631424520, 43681260509331464,
    43692393064562696, 43692530503516168, 43692942820376584, 43693080259330056, 43770458390134792, 43770733268041736, 43773756925018120, 43774031802925064,
    43773894363971592, 43774169241878536, 43774856436645896, 43775131314552840, 43774993875599368) OR intDiv(t1.`__cover_field`, 34359738368) IN (1271103,
    1271190, 1271189, 1271191, 1271196, 1271198, 1271197, 1271199, 1271221, 1271223, 1271139, 1271144, 1271146, 1271145, 1271147, 1271142, 1271143, 1271148,
    1271150, 1271149, 1271151, 1271154, 1271155, 1271160, 1271162, 1271161, 1271163, 1271158, 1271164, 1271166, 1271165, 1271167, 1271232, 1271234, 1271233,
    1271235, 1271240, 1271242, 1271241, 1271243, 1271236, 1271238, 1271237, 1271239, 1271244, 1271246, 1271245, 1271247, 1271264, 1271266, 1271265, 1271267,
    1271272, 1271273, 1271275, 1271268, 1271270, 1271269, 1271271, 1271276, 1271278, 1271277, 1271279, 1271248, 1271250, 1271249, 1271251, 1271256, 1271258,
    1271257, 1271259, 1271252, 1271254, 1271253, 1271255, 1271260, 1271262, 1271261, 1271263, 1271280, 1271282, 1271281, 1271283, 1271288, 1271290, 1271289,
    1271291, 1271284, 1271286, 1271285, 1271287, 1271292, 1271294, 1271293, 1273898, 1273984, 1273986, 1273985, 1273987, 1273992, 1273994, 1273993, 1273995,
    1274016, 1274018, 1274017, 1274024)), if(isNull(if(empty(t1.`field`), nan, arraySum(t1.`field`))) OR isNaN(if(empty(t1.`field`), nan,
    arraySum(t1.`field`))), NULL, (NOT (NOT (0.5 >= 0) OR NOT ((arrayMap((array1, x2, y2, z2, r2) -> ((abs(arraySum(e -> atan2(-(x2 * e.7 + y2 * e.8 + z2 *
    e.9), (e.1 - x2) * (e.4 - x2) + (e.2 - y2) * (e.5 - y2) + (e.3 - z2) * (e.6 - z2)), array1)) > 3.141592653589793 OR arrayExists(e -> (NOT (NOT ((e.7 * e.7 +
    e.8 * e.8 + e.9 * e.9) > 4e-30) OR NOT (abs((x2 * e.7 + y2 * e.8 + z2 * e.9)) <= 1e-15 * sqrt((e.7 * e.7 + e.8 * e.8 + e.9 * e.9))) OR NOT ((x2 * (e.8 * e.3
    - e.9 * e.2) + y2 * (e.9 * e.1 - e.7 * e.3) + z2 * (e.7 * e.2 - e.8 * e.1)) >= -1e-15 * sqrt((e.7 * e.7 + e.8 * e.8 + e.9 * e.9))) OR NOT ((x2 * (e.5 * e.9
    - e.6 * e.8) + y2 * (e.6 * e.7 - e.4 * e.9) + z2 * (e.4 * e.8 - e.5 * e.7)) >= -1e-15 * sqrt((e.7 * e.7 + e.8 * e.8 + e.9 * e.9))))), array1)) OR (NOT (NOT
    (r2 > 0) OR NOT (arrayMin(e -> if((NOT (NOT ((x2 * (e.8 * e.3 - e.9 * e.2) + y2 * (e.9 * e.1 - e.7 * e.3) + z2 * (e.7 * e.2 - e.8 * e.1)) > 0) OR NOT ((x2 *
    (e.5 * e.9 - e.6 * e.8) + y2 * (e.6 * e.7 - e.4 * e.9) + z2 * (e.4 * e.8 - e.5 * e.7)) > 0))), atan2(abs((x2 * e.7 + y2 * e.8 + z2 * e.9)), sqrt((e.7 * e.7
    + e.8 * e.8 + e.9 * e.9) * (x2 * e.1 + y2 * e.2 + z2 * e.3) * (x2 * e.1 + y2 * e.2 + z2 * e.3) + (x2 * (e.8 * e.3 - e.9 * e.2) + y2 * (e.9 * e.1 - e.7 *
    e.3) + z2 * (e.7 * e.2 - e.8 * e.1)) * (x2 * (e.8 * e.3 - e.9 * e.2) + y2 * (e.9 * e.1 - e.7 * e.3) + z2 * (e.7 * e.2 - e.8 * e.1)))), least((2 *
    atan2(sqrt((x2 - e.1) * (x2 - e.1) + (y2 - e.2) * (y2 - e.2) + (z2 - e.3) * (z2 - e.3)), sqrt((x2 + e.1) * (x2 + e.1) + (y2 + e.2) * (y2 + e.2) + (z2 + e.3)
    * (z2 + e.3)))), (2 * atan2(sqrt((x2 - e.4) * (x2 - e.4) + (y2 - e.5) * (y2 - e.5) + (z2 - e.6) * (z2 - e.6)), sqrt((x2 + e.4) * (x2 + e.4) + (y2 + e.5) *
    (y2 + e.5) + (z2 + e.6) * (z2 + e.6)))))), array1) <= radians(r2) + 1e-15)))), [arrayMap((c) -> arrayMap((v) -> arrayMap((a, b) -> (a.1, a.2, a.3, b.1, b.2,
    b.3, ((a.2 - b.2) * (a.3 + b.3) - (a.3 - b.3) * (a.2 + b.2)) / 2, ((a.3 - b.3) * (a.1 + b.1) - (a.1 - b.1) * (a.3 + b.3)) / 2, ((a.1 - b.1) * (a.2 + b.2) -
    (a.2 - b.2) * (a.1 + b.1)) / 2), v, arrayRotateLeft(v, 1)), [arrayMap(i -> ((cos(radians(c[2 * i])) * cos(radians(c[2 * i - 1] % 360.))), (cos(radians(c[2 *
    i])) * sin(radians(c[2 * i - 1] % 360.))), sin(radians(c[2 * i]))), range(1, intDiv(length(c), 2) + 1))])[1], [t1.`field`])[1]], [(0.9254165783983234)],
    [(0.16317591116653482)], [(0.3420201433256687)], [toFloat64(assumeNotNull(toFloat64(0.5)))])[1] = 1))))), false)
SETTINGS compile_aggregate_expressions = 0, compile_expressions = 0

-- Stored region and a position
SELECT id FROM sky.observations WHERE 1 = CONTAINS(POINT(10, 20), s_region)
=>
SELECT t1.`id` AS c1
FROM `sky`.`observations` AS t1
WHERE (t1.`__cover_s_region` IN (108086391056891905, 0, 27021597764222976, 36028797018963968, 72057594037927936, 1, 4503599627370497, 29273397577908225,
    36028797018963969, 40532396646334465, 38280596832649217, 42784196460019713, 4503599627370498, 39406496739491842, 39969446692913154, 42784196460019714,
    43910096366862338, 43347146413441026, 44473046320283650, 43206408925085699, 43347146413441027, 43628621390151683, 43487883901796355, 43769358878507011,
    44473046320283651, 44613783808638979, 43452699529707524, 43628621390151684, 43663805762240516, 43734174506418180, 43558252645974020, 43769358878507012,
    43839727622684676, 43479087808774149, 43663805762240517, 43672601855262725, 43690194041307141, 43575844832018437, 43769358878507013, 43786951064551429,
    43672601855262726, 43676999901773830, 43674800878518278, 43679198925029382, 43692393064562694, 43769358878507014, 43773756925018118, 43786951064551430,
    43675900390146055, 43676450145959943, 43679198925029383, 43680298436657159, 43679748680843271, 43680848192471047, 43773756925018119, 43679336363982856,
    43679611241889800, 43680435875610632, 43679748680843272, 43680023558750216, 43680160997703688, 43680848192471048, 43679439443197961, 43679645601628169,
    43679714321104905, 43679817400320009, 43680023558750217, 43680092278226953, 43680057918488585, 43679654191562762, 43679671371431946, 43679834580189194,
    43680023558750218, 43680040738619402, 43680032148684810, 43680049328553994, 43679660634013707, 43680023558750219, 43680027853717515, 43680025706233867,
    43680030001201163, 43680040738619403, 43680042886103051, 43680028927459340, 43680028390588428, 43680029464330252, 43680030001201164, 43680031074942988,
    43680041275490316, 43680042886103052) OR intDiv(t1.`__cover_s_region`, 134217728) IN (325441580, 325441582, 325441581, 325441583, 325441592, 325441594,
    325441669)) AND multiIf((t1.`__cover_s_region` IN (108086391056891905, 0, 27021597764222976, 36028797018963968, 72057594037927936, 1, 4503599627370497,
    29273397577908225, 36028797018963969, 40532396646334465, 38280596832649217, 42784196460019713, 4503599627370498, 39406496739491842, 39969446692913154,
    42784196460019714, 43910096366862338, 43347146413441026, 44473046320283650, 43206408925085699, 43347146413441027, 43628621390151683, 43487883901796355,
    43769358878507011, 44473046320283651, 44613783808638979, 43452699529707524, 43628621390151684, 43663805762240516, 43734174506418180, 43558252645974020,
    43769358878507012, 43839727622684676, 43479087808774149, 43663805762240517, 43672601855262725, 43690194041307141, 43575844832018437, 43769358878507013,
    43786951064551429, 43672601855262726, 43676999901773830, 43674800878518278, 43679198925029382, 43692393064562694, 43769358878507014, 43773756925018118,
    43786951064551430, 43675900390146055, 43676450145959943, 43679198925029383, 43680298436657159, 43679748680843271, 43680848192471047, 43773756925018119,
    43679336363982856, 43679611241889800, 43680435875610632, 43679748680843272, 43680023558750216, 43680160997703688, 43680848192471048, 43679439443197961,
    43679645601628169, 43679714321104905, 43679817400320009, 43680023558750217, 43680092278226953, 43680057918488585, 43679654191562762, 43679671371431946,
    43679834580189194, 43680023558750218, 43680040738619402, 43680032148684810, 43680049328553994, 43679660634013707, 43680023558750219, 43680027853717515,
    43680025706233867, 43680030001201163, 43680040738619403, 43680042886103051, 43680028927459340, 43680028390588428, 43680029464330252, 43680030001201164,
    43680031074942988, 43680041275490316, 43680042886103052) OR intDiv(t1.`__cover_s_region`, 134217728) IN (325441580, 325441582, 325441581, 325441583,
    325441592, 325441594, 325441669)), if(isNull(if(empty(t1.`__shape_s_region`), nan, 0.)) OR isNaN(if(empty(t1.`__shape_s_region`), nan, 0.)), NULL,
    (arrayMap((x1, y1, z1, array2) -> notEmpty(arrayFilter(i -> NOT has(arrayMap(s -> s[1], arrayFilter(s -> (multiIf(length(s) = 5, (2 * atan2(sqrt((x1 -
    (cos(radians(s[4])) * cos(radians(s[3] % 360.)))) * (x1 - (cos(radians(s[4])) * cos(radians(s[3] % 360.)))) + (y1 - (cos(radians(s[4])) * sin(radians(s[3] %
    360.)))) * (y1 - (cos(radians(s[4])) * sin(radians(s[3] % 360.)))) + (z1 - sin(radians(s[4]))) * (z1 - sin(radians(s[4])))), sqrt((x1 + (cos(radians(s[4]))
    * cos(radians(s[3] % 360.)))) * (x1 + (cos(radians(s[4])) * cos(radians(s[3] % 360.)))) + (y1 + (cos(radians(s[4])) * sin(radians(s[3] % 360.)))) * (y1 +
    (cos(radians(s[4])) * sin(radians(s[3] % 360.)))) + (z1 + sin(radians(s[4]))) * (z1 + sin(radians(s[4])))))) <= radians(s[5]) + 1e-15, length(s) = 6, (NOT
    (NOT (atan2(z1, sqrt(x1 * x1 + y1 * y1)) >= radians(s[5]) - 1e-15) OR NOT (atan2(z1, sqrt(x1 * x1 + y1 * y1)) <= radians(s[6]) + 1e-15) OR NOT
    ((positiveModulo(degrees(atan2(y1, x1)) - s[3] + 1e-13, 360.) <= positiveModulo(s[4] - s[3], 360.) + 2e-13 OR s[4] - s[3] >= 360 OR x1 * x1 + y1 * y1 <
    1e-31)))), arrayMap((edges8) -> (abs(arraySum(e -> atan2(-(x1 * e.7 + y1 * e.8 + z1 * e.9), (e.1 - x1) * (e.4 - x1) + (e.2 - y1) * (e.5 - y1) + (e.3 - z1) *
    (e.6 - z1)), edges8)) > 3.141592653589793 OR arrayExists(e -> (NOT (NOT ((e.7 * e.7 + e.8 * e.8 + e.9 * e.9) > 4e-30) OR NOT (abs((x1 * e.7 + y1 * e.8 + z1
    * e.9)) <= 1e-15 * sqrt((e.7 * e.7 + e.8 * e.8 + e.9 * e.9))) OR NOT ((x1 * (e.8 * e.3 - e.9 * e.2) + y1 * (e.9 * e.1 - e.7 * e.3) + z1 * (e.7 * e.2 - e.8 *
    e.1)) >= -1e-15 * sqrt((e.7 * e.7 + e.8 * e.8 + e.9 * e.9))) OR NOT ((x1 * (e.5 * e.9 - e.6 * e.8) + y1 * (e.6 * e.7 - e.4 * e.9) + z1 * (e.4 * e.8 - e.5 *
    e.7)) >= -1e-15 * sqrt((e.7 * e.7 + e.8 * e.8 + e.9 * e.9))))), edges8)), [arrayMap((c) -> arrayMap((v) -> arrayMap((a, b) -> (a.1, a.2, a.3, b.1, b.2, b.3,
    ((a.2 - b.2) * (a.3 + b.3) - (a.3 - b.3) * (a.2 + b.2)) / 2, ((a.3 - b.3) * (a.1 + b.1) - (a.1 - b.1) * (a.3 + b.3)) / 2, ((a.1 - b.1) * (a.2 + b.2) - (a.2
    - b.2) * (a.1 + b.1)) / 2), v, arrayRotateLeft(v, 1)), [arrayMap(i -> ((cos(radians(c[2 * i])) * cos(radians(c[2 * i - 1] % 360.))), (cos(radians(c[2 * i]))
    * sin(radians(c[2 * i - 1] % 360.))), sin(radians(c[2 * i]))), range(1, intDiv(length(c), 2) + 1))])[1], [arraySlice(s, 3)])[1]])[1])) != (s[2] > 0),
    arrayFilter(s -> s[1] >= 0, array2))), i), arrayMap(s -> s[1], arrayFilter(s -> s[1] >= 0, array2)))), [(0.9254165783983234)], [(0.16317591116653482)],
    [(0.3420201433256687)], [t1.`__shape_s_region`])[1] = 1)), false)
SETTINGS compile_aggregate_expressions = 0, compile_expressions = 0

-- Stored MOC and a constant
SELECT id FROM sky.observations WHERE 1 = INTERSECTS(moc, REGION('4/30-33'))
=>
SELECT t1.`id` AS c1
FROM `sky`.`observations` AS t1
WHERE (t1.`__cover_moc` IN (108086391056891905, 0, 9007199254740992, 27021597764222976, 36028797018963968, 45035996273704960, 72057594037927936, 1,
    4503599627370497, 2251799813685249, 6755399441055745, 38280596832649217, 42784196460019713, 49539595901075457, 51791395714760705, 78812993478983681, 2,
    1125899906842626, 562949953421314, 1688849860263938, 4503599627370498, 5066549580791810, 2251799813685250, 3377699720527874, 2814749767106562,
    38280596832649218, 39406496739491842, 38843546786070530, 39969446692913154, 43347146413441026, 50665495807918082, 51228445761339394, 52917295621603330,
    80501843339247618, 3, 281474976710659, 140737488355331, 422212465065987, 1125899906842627, 1407374883553283, 1266637395197955, 1548112371908611,
    562949953421315, 844424930131971, 703687441776643, 985162418487299, 1688849860263939, 1970324836974595, 1829587348619267, 2111062325329923,
    2251799813685251, 2533274790395907, 2674012278751235, 3377699720527875, 39125021762781187, 38984284274425859, 39265759251136515, 39969446692913155,
    40110184181268483, 40391659157979139, 281474976710660, 351843720888324, 316659348799492, 387028092977156, 422212465065988, 492581209243652, 527765581332484,
    1125899906842628, 1196268651020292, 1161084278931460, 1231453023109124, 1407374883553284, 1442559255642116, 1266637395197956, 1337006139375620,
    1301821767286788, 1372190511464452, 1548112371908612, 668503069687812, 844424930131972, 914793674309636, 879609302220804, 949978046398468, 774056185954308,
    809240558043140, 985162418487300, 1055531162664964, 1020346790576132, 1090715534753796, 1688849860263940, 1724034232352772, 1794402976530436,
    1829587348619268, 1899956092796932, 1864771720708100, 1935140464885764, 2322168557862916, 2533274790395908, 2603643534573572, 2568459162484740,
    2638827906662404, 3377699720527876, 3448068464705540, 3412884092616708, 39336127995314180, 39300943623225348, 39371312367403012, 40110184181268484,
    40180552925446148, 40145368553357316, 40215737297534980, 40426843530067972) OR intDiv(t1.`__cover_moc`, 8796093022208) IN (34, 40, 42, 41, 43, 38, 44, 46,
    45, 47, 56, 58, 59, 128, 130, 129, 131, 136, 138, 137, 139, 132, 134, 133, 135, 140, 142, 141, 143, 161, 164, 165, 144, 146, 145, 147, 152, 154, 153, 155,
    148, 150, 105, 107, 100, 102, 101, 103, 108, 110, 109, 111, 90, 91, 94, 95, 112, 114, 113, 115, 120, 122, 121, 123, 116, 118, 117, 119, 124, 126, 125, 127,
    196, 198, 197, 199, 208, 210, 209, 211, 216, 217, 212, 214, 213, 215, 220, 288, 290, 289, 291, 296, 298, 297, 299, 300, 384, 386, 385, 4476, 4478, 4477,
    4479, 4561, 4564, 4566, 4565, 4567, 4572, 4573, 4575)) AND multiIf((t1.`__cover_moc` IN (108086391056891905, 0, 9007199254740992, 27021597764222976,
    36028797018963968, 45035996273704960, 72057594037927936, 1, 4503599627370497, 2251799813685249, 6755399441055745, 38280596832649217, 42784196460019713,
    49539595901075457, 51791395714760705, 78812993478983681, 2, 1125899906842626, 562949953421314, 1688849860263938, 4503599627370498, 5066549580791810,
    2251799813685250, 3377699720527874, 2814749767106562, 38280596832649218, 39406496739491842, 38843546786070530, 39969446692913154, 43347146413441026,
    50665495807918082, 51228445761339394, 52917295621603330, 80501843339247618, 3, 281474976710659, 140737488355331, 422212465065987, 1125899906842627,
    1407374883553283, 1266637395197955, 1548112371908611, 562949953421315, 844424930131971, 703687441776643, 985162418487299, 1688849860263939,
    1970324836974595, 1829587348619267, 2111062325329923, 2251799813685251, 2533274790395907, 2674012278751235, 3377699720527875, 39125021762781187,
    38984284274425859, 39265759251136515, 39969446692913155, 40110184181268483, 40391659157979139, 281474976710660, 351843720888324, 316659348799492,
    387028092977156, 422212465065988, 492581209243652, 527765581332484, 1125899906842628, 1196268651020292, 1161084278931460, 1231453023109124,
    1407374883553284, 1442559255642116, 1266637395197956, 1337006139375620, 1301821767286788, 1372190511464452, 1548112371908612, 668503069687812,
    844424930131972, 914793674309636, 879609302220804, 949978046398468, 774056185954308, 809240558043140, 985162418487300, 1055531162664964, 1020346790576132,
    1090715534753796, 1688849860263940, 1724034232352772, 1794402976530436, 1829587348619268, 1899956092796932, 1864771720708100, 1935140464885764,
    2322168557862916, 2533274790395908, 2603643534573572, 2568459162484740, 2638827906662404, 3377699720527876, 3448068464705540, 3412884092616708,
    39336127995314180, 39300943623225348, 39371312367403012, 40110184181268484, 40180552925446148, 40145368553357316, 40215737297534980, 40426843530067972) OR
    intDiv(t1.`__cover_moc`, 8796093022208) IN (34, 40, 42, 41, 43, 38, 44, 46, 45, 47, 56, 58, 59, 128, 130, 129, 131, 136, 138, 137, 139, 132, 134, 133, 135,
    140, 142, 141, 143, 161, 164, 165, 144, 146, 145, 147, 152, 154, 153, 155, 148, 150, 105, 107, 100, 102, 101, 103, 108, 110, 109, 111, 90, 91, 94, 95, 112,
    114, 113, 115, 120, 122, 121, 123, 116, 118, 117, 119, 124, 126, 125, 127, 196, 198, 197, 199, 208, 210, 209, 211, 216, 217, 212, 214, 213, 215, 220, 288,
    290, 289, 291, 296, 298, 297, 299, 300, 384, 386, 385, 4476, 4478, 4477, 4479, 4561, 4564, 4566, 4565, 4567, 4572, 4573, 4575)),
    if(isNull(if(empty(t1.`__shape_moc`), nan, 0.)) OR isNaN(if(empty(t1.`__shape_moc`), nan, 0.)), NULL, (arrayExists(a -> (bitAnd(arrayCount(b -> b <= a,
    CAST([33776997205278720, 38280596832649216], 'Array(UInt64)')), 1) = 1), arrayFilter((b, i) -> bitAnd(i, 1) = 1, t1.`__shape_moc`,
    arrayEnumerate(t1.`__shape_moc`))) OR arrayExists(a -> (bitAnd(arrayCount(b -> b <= a, t1.`__shape_moc`), 1) = 1), arrayFilter((b, i) -> bitAnd(i, 1) = 1,
    CAST([33776997205278720, 38280596832649216], 'Array(UInt64)'), arrayEnumerate(CAST([33776997205278720, 38280596832649216], 'Array(UInt64)')))))), false)
SETTINGS compile_aggregate_expressions = 0, compile_expressions = 0

-- Union of MOCs
SELECT gavo_mocunion(moc, REGION('3/0-1')), AREA(moc) FROM sky.observations
=>
SELECT if(isNull(if(empty(t1.`__shape_moc`), nan, 0.)) OR isNaN(if(empty(t1.`__shape_moc`), nan, 0.)), NULL, arrayMap((f, l) -> arrayStringConcat(arrayFilter(o
    -> o != '', [arrayMap(o -> if(empty(o), '', concat('0/', arrayStringConcat(arrayMap(r -> if(r.2 = r.1 + 1, toString(r.1), concat(toString(r.1), '-',
    toString(r.2 - 1))), o), ','))), [arrayFlatten(arrayMap((a, z) -> arrayFilter(r -> r.1 < r.2, [(intDiv(a + 288230376151711743, 288230376151711744),
    intDiv(z, 288230376151711744))]), f, l))])[1], arrayMap(o -> if(empty(o), '', concat('1/', arrayStringConcat(arrayMap(r -> if(r.2 = r.1 + 1, toString(r.1),
    concat(toString(r.1), '-', toString(r.2 - 1))), o), ','))), [arrayFlatten(arrayMap((a, z) -> arrayFilter(r -> r.1 < r.2, if(4 * intDiv(a +
    288230376151711743, 288230376151711744) < 4 * intDiv(z, 288230376151711744), [(intDiv(a + 72057594037927935, 72057594037927936), 4 * intDiv(a +
    288230376151711743, 288230376151711744)), (4 * intDiv(z, 288230376151711744), intDiv(z, 72057594037927936))], [(intDiv(a + 72057594037927935,
    72057594037927936), intDiv(z, 72057594037927936))])), f, l))])[1], arrayMap(o -> if(empty(o), '', concat('2/', arrayStringConcat(arrayMap(r -> if(r.2 = r.1
    + 1, toString(r.1), concat(toString(r.1), '-', toString(r.2 - 1))), o), ','))), [arrayFlatten(arrayMap((a, z) -> arrayFilter(r -> r.1 < r.2, if(4 * intDiv(a
    + 72057594037927935, 72057594037927936) < 4 * intDiv(z, 72057594037927936), [(intDiv(a + 18014398509481983, 18014398509481984), 4 * intDiv(a +
    72057594037927935, 72057594037927936)), (4 * intDiv(z, 72057594037927936), intDiv(z, 18014398509481984))], [(intDiv(a + 18014398509481983,
    18014398509481984), intDiv(z, 18014398509481984))])), f, l))])[1], arrayMap(o -> if(empty(o), '', concat('3/', arrayStringConcat(arrayMap(r -> if(r.2 = r.1
    + 1, toString(r.1), concat(toString(r.1), '-', toString(r.2 - 1))), o), ','))), [arrayFlatten(arrayMap((a, z) -> arrayFilter(r -> r.1 < r.2, if(4 * intDiv(a
    + 18014398509481983, 18014398509481984) < 4 * intDiv(z, 18014398509481984), [(intDiv(a + 4503599627370495, 4503599627370496), 4 * intDiv(a +
    18014398509481983, 18014398509481984)), (4 * intDiv(z, 18014398509481984), intDiv(z, 4503599627370496))], [(intDiv(a + 4503599627370495, 4503599627370496),
    intDiv(z, 4503599627370496))])), f, l))])[1], arrayMap(o -> if(empty(o), '', concat('4/', arrayStringConcat(arrayMap(r -> if(r.2 = r.1 + 1, toString(r.1),
    concat(toString(r.1), '-', toString(r.2 - 1))), o), ','))), [arrayFlatten(arrayMap((a, z) -> arrayFilter(r -> r.1 < r.2, if(4 * intDiv(a + 4503599627370495,
    4503599627370496) < 4 * intDiv(z, 4503599627370496), [(intDiv(a + 1125899906842623, 1125899906842624), 4 * intDiv(a + 4503599627370495, 4503599627370496)),
    (4 * intDiv(z, 4503599627370496), intDiv(z, 1125899906842624))], [(intDiv(a + 1125899906842623, 1125899906842624), intDiv(z, 1125899906842624))])), f,
    l))])[1], arrayMap(o -> if(empty(o), '', concat('5/', arrayStringConcat(arrayMap(r -> if(r.2 = r.1 + 1, toString(r.1), concat(toString(r.1), '-',
    toString(r.2 - 1))), o), ','))), [arrayFlatten(arrayMap((a, z) -> arrayFilter(r -> r.1 < r.2, if(4 * intDiv(a + 1125899906842623, 1125899906842624) < 4 *
    intDiv(z, 1125899906842624), [(intDiv(a + 281474976710655, 281474976710656), 4 * intDiv(a + 1125899906842623, 1125899906842624)), (4 * intDiv(z,
    1125899906842624), intDiv(z, 281474976710656))], [(intDiv(a + 281474976710655, 281474976710656), intDiv(z, 281474976710656))])), f, l))])[1], arrayMap(o ->
    if(empty(o), '', concat('6/', arrayStringConcat(arrayMap(r -> if(r.2 = r.1 + 1, toString(r.1), concat(toString(r.1), '-', toString(r.2 - 1))), o), ','))),
    [arrayFlatten(arrayMap((a, z) -> arrayFilter(r -> r.1 < r.2, if(4 * intDiv(a + 281474976710655, 281474976710656) < 4 * intDiv(z, 281474976710656),
    [(intDiv(a + 70368744177663, 70368744177664), 4 * intDiv(a + 281474976710655, 281474976710656)), (4 * intDiv(z, 281474976710656), intDiv(z,
    70368744177664))], [(intDiv(a + 70368744177663, 70368744177664), intDiv(z, 70368744177664))])), f, l))])[1], arrayMap(o -> if(empty(o), '', concat('7/',
    arrayStringConcat(arrayMap(r -> if(r.2 = r.1 + 1, toString(r.1), concat(toString(r.1), '-', toString(r.2 - 1))), o), ','))), [arrayFlatten(arrayMap((a, z)
    -> arrayFilter(r -> r.1 < r.2, if(4 * intDiv(a + 70368744177663, 70368744177664) < 4 * intDiv(z, 70368744177664), [(intDiv(a + 17592186044415,
    17592186044416), 4 * intDiv(a + 70368744177663, 70368744177664)), (4 * intDiv(z, 70368744177664), intDiv(z, 17592186044416))], [(intDiv(a + 17592186044415,
    17592186044416), intDiv(z, 17592186044416))])), f, l))])[1], arrayMap(o -> if(empty(o), '', concat('8/', arrayStringConcat(arrayMap(r -> if(r.2 = r.1 + 1,
    toString(r.1), concat(toString(r.1), '-', toString(r.2 - 1))), o), ','))), [arrayFlatten(arrayMap((a, z) -> arrayFilter(r -> r.1 < r.2, if(4 * intDiv(a +
    17592186044415, 17592186044416) < 4 * intDiv(z, 17592186044416), [(intDiv(a + 4398046511103, 4398046511104), 4 * intDiv(a + 17592186044415,
    17592186044416)), (4 * intDiv(z, 17592186044416), intDiv(z, 4398046511104))], [(intDiv(a + 4398046511103, 4398046511104), intDiv(z, 4398046511104))])), f,
    l))])[1], arrayMap(o -> if(empty(o), '', concat('9/', arrayStringConcat(arrayMap(r -> if(r.2 = r.1 + 1, toString(r.1), concat(toString(r.1), '-',
    toString(r.2 - 1))), o), ','))), [arrayFlatten(arrayMap((a, z) -> arrayFilter(r -> r.1 < r.2, if(4 * intDiv(a + 4398046511103, 4398046511104) < 4 *
    intDiv(z, 4398046511104), [(intDiv(a + 1099511627775, 1099511627776), 4 * intDiv(a + 4398046511103, 4398046511104)), (4 * intDiv(z, 4398046511104),
    intDiv(z, 1099511627776))], [(intDiv(a + 1099511627775, 1099511627776), intDiv(z, 1099511627776))])), f, l))])[1], arrayMap(o -> if(empty(o), '',
    concat('10/', arrayStringConcat(arrayMap(r -> if(r.2 = r.1 + 1, toString(r.1), concat(toString(r.1), '-', toString(r.2 - 1))), o), ','))),
    [arrayFlatten(arrayMap((a, z) -> arrayFilter(r -> r.1 < r.2, if(4 * intDiv(a + 1099511627775, 1099511627776) < 4 * intDiv(z, 1099511627776), [(intDiv(a +
    274877906943, 274877906944), 4 * intDiv(a + 1099511627775, 1099511627776)), (4 * intDiv(z, 1099511627776), intDiv(z, 274877906944))], [(intDiv(a +
    274877906943, 274877906944), intDiv(z, 274877906944))])), f, l))])[1], arrayMap(o -> if(empty(o), '', concat('11/', arrayStringConcat(arrayMap(r -> if(r.2 =
    r.1 + 1, toString(r.1), concat(toString(r.1), '-', toString(r.2 - 1))), o), ','))), [arrayFlatten(arrayMap((a, z) -> arrayFilter(r -> r.1 < r.2, if(4 *
    intDiv(a + 274877906943, 274877906944) < 4 * intDiv(z, 274877906944), [(intDiv(a + 68719476735, 68719476736), 4 * intDiv(a + 274877906943, 274877906944)),
    (4 * intDiv(z, 274877906944), intDiv(z, 68719476736))], [(intDiv(a + 68719476735, 68719476736), intDiv(z, 68719476736))])), f, l))])[1], arrayMap(o ->
    if(empty(o), '', concat('12/', arrayStringConcat(arrayMap(r -> if(r.2 = r.1 + 1, toString(r.1), concat(toString(r.1), '-', toString(r.2 - 1))), o), ','))),
    [arrayFlatten(arrayMap((a, z) -> arrayFilter(r -> r.1 < r.2, if(4 * intDiv(a + 68719476735, 68719476736) < 4 * intDiv(z, 68719476736), [(intDiv(a +
    17179869183, 17179869184), 4 * intDiv(a + 68719476735, 68719476736)), (4 * intDiv(z, 68719476736), intDiv(z, 17179869184))], [(intDiv(a + 17179869183,
    17179869184), intDiv(z, 17179869184))])), f, l))])[1], arrayMap(o -> if(empty(o), '', concat('13/', arrayStringConcat(arrayMap(r -> if(r.2 = r.1 + 1,
    toString(r.1), concat(toString(r.1), '-', toString(r.2 - 1))), o), ','))), [arrayFlatten(arrayMap((a, z) -> arrayFilter(r -> r.1 < r.2, if(4 * intDiv(a +
    17179869183, 17179869184) < 4 * intDiv(z, 17179869184), [(intDiv(a + 4294967295, 4294967296), 4 * intDiv(a + 17179869183, 17179869184)), (4 * intDiv(z,
    17179869184), intDiv(z, 4294967296))], [(intDiv(a + 4294967295, 4294967296), intDiv(z, 4294967296))])), f, l))])[1], arrayMap(o -> if(empty(o), '',
    concat('14/', arrayStringConcat(arrayMap(r -> if(r.2 = r.1 + 1, toString(r.1), concat(toString(r.1), '-', toString(r.2 - 1))), o), ','))),
    [arrayFlatten(arrayMap((a, z) -> arrayFilter(r -> r.1 < r.2, if(4 * intDiv(a + 4294967295, 4294967296) < 4 * intDiv(z, 4294967296), [(intDiv(a + 1073741823,
    1073741824), 4 * intDiv(a + 4294967295, 4294967296)), (4 * intDiv(z, 4294967296), intDiv(z, 1073741824))], [(intDiv(a + 1073741823, 1073741824), intDiv(z,
    1073741824))])), f, l))])[1], arrayMap(o -> if(empty(o), '', concat('15/', arrayStringConcat(arrayMap(r -> if(r.2 = r.1 + 1, toString(r.1),
    concat(toString(r.1), '-', toString(r.2 - 1))), o), ','))), [arrayFlatten(arrayMap((a, z) -> arrayFilter(r -> r.1 < r.2, if(4 * intDiv(a + 1073741823,
    1073741824) < 4 * intDiv(z, 1073741824), [(intDiv(a + 268435455, 268435456), 4 * intDiv(a + 1073741823, 1073741824)), (4 * intDiv(z, 1073741824), intDiv(z,
    268435456))], [(intDiv(a + 268435455, 268435456), intDiv(z, 268435456))])), f, l))])[1], arrayMap(o -> if(empty(o), '', concat('16/',
    arrayStringConcat(arrayMap(r -> if(r.2 = r.1 + 1, toString(r.1), concat(toString(r.1), '-', toString(r.2 - 1))), o), ','))), [arrayFlatten(arrayMap((a, z)
    -> arrayFilter(r -> r.1 < r.2, if(4 * intDiv(a + 268435455, 268435456) < 4 * intDiv(z, 268435456), [(intDiv(a + 67108863, 67108864), 4 * intDiv(a +
    268435455, 268435456)), (4 * intDiv(z, 268435456), intDiv(z, 67108864))], [(intDiv(a + 67108863, 67108864), intDiv(z, 67108864))])), f, l))])[1], arrayMap(o
    -> if(empty(o), '', concat('17/', arrayStringConcat(arrayMap(r -> if(r.2 = r.1 + 1, toString(r.1), concat(toString(r.1), '-', toString(r.2 - 1))), o),
    ','))), [arrayFlatten(arrayMap((a, z) -> arrayFilter(r -> r.1 < r.2, if(4 * intDiv(a + 67108863, 67108864) < 4 * intDiv(z, 67108864), [(intDiv(a + 16777215,
    16777216), 4 * intDiv(a + 67108863, 67108864)), (4 * intDiv(z, 67108864), intDiv(z, 16777216))], [(intDiv(a + 16777215, 16777216), intDiv(z, 16777216))])),
    f, l))])[1], arrayMap(o -> if(empty(o), '', concat('18/', arrayStringConcat(arrayMap(r -> if(r.2 = r.1 + 1, toString(r.1), concat(toString(r.1), '-',
    toString(r.2 - 1))), o), ','))), [arrayFlatten(arrayMap((a, z) -> arrayFilter(r -> r.1 < r.2, if(4 * intDiv(a + 16777215, 16777216) < 4 * intDiv(z,
    16777216), [(intDiv(a + 4194303, 4194304), 4 * intDiv(a + 16777215, 16777216)), (4 * intDiv(z, 16777216), intDiv(z, 4194304))], [(intDiv(a + 4194303,
    4194304), intDiv(z, 4194304))])), f, l))])[1], arrayMap(o -> if(empty(o), '', concat('19/', arrayStringConcat(arrayMap(r -> if(r.2 = r.1 + 1, toString(r.1),
    concat(toString(r.1), '-', toString(r.2 - 1))), o), ','))), [arrayFlatten(arrayMap((a, z) -> arrayFilter(r -> r.1 < r.2, if(4 * intDiv(a + 4194303, 4194304)
    < 4 * intDiv(z, 4194304), [(intDiv(a + 1048575, 1048576), 4 * intDiv(a + 4194303, 4194304)), (4 * intDiv(z, 4194304), intDiv(z, 1048576))], [(intDiv(a +
    1048575, 1048576), intDiv(z, 1048576))])), f, l))])[1], arrayMap(o -> if(empty(o), '', concat('20/', arrayStringConcat(arrayMap(r -> if(r.2 = r.1 + 1,
    toString(r.1), concat(toString(r.1), '-', toString(r.2 - 1))), o), ','))), [arrayFlatten(arrayMap((a, z) -> arrayFilter(r -> r.1 < r.2, if(4 * intDiv(a +
    1048575, 1048576) < 4 * intDiv(z, 1048576), [(intDiv(a + 262143, 262144), 4 * intDiv(a + 1048575, 1048576)), (4 * intDiv(z, 1048576), intDiv(z, 262144))],
    [(intDiv(a + 262143, 262144), intDiv(z, 262144))])), f, l))])[1], arrayMap(o -> if(empty(o), '', concat('21/', arrayStringConcat(arrayMap(r -> if(r.2 = r.1
    + 1, toString(r.1), concat(toString(r.1), '-', toString(r.2 - 1))), o), ','))), [arrayFlatten(arrayMap((a, z) -> arrayFilter(r -> r.1 < r.2, if(4 * intDiv(a
    + 262143, 262144) < 4 * intDiv(z, 262144), [(intDiv(a + 65535, 65536), 4 * intDiv(a + 262143, 262144)), (4 * intDiv(z, 262144), intDiv(z, 65536))],
    [(intDiv(a + 65535, 65536), intDiv(z, 65536))])), f, l))])[1], arrayMap(o -> if(empty(o), '', concat('22/', arrayStringConcat(arrayMap(r -> if(r.2 = r.1 +
    1, toString(r.1), concat(toString(r.1), '-', toString(r.2 - 1))), o), ','))), [arrayFlatten(arrayMap((a, z) -> arrayFilter(r -> r.1 < r.2, if(4 * intDiv(a +
    65535, 65536) < 4 * intDiv(z, 65536), [(intDiv(a + 16383, 16384), 4 * intDiv(a + 65535, 65536)), (4 * intDiv(z, 65536), intDiv(z, 16384))], [(intDiv(a +
    16383, 16384), intDiv(z, 16384))])), f, l))])[1], arrayMap(o -> if(empty(o), '', concat('23/', arrayStringConcat(arrayMap(r -> if(r.2 = r.1 + 1,
    toString(r.1), concat(toString(r.1), '-', toString(r.2 - 1))), o), ','))), [arrayFlatten(arrayMap((a, z) -> arrayFilter(r -> r.1 < r.2, if(4 * intDiv(a +
    16383, 16384) < 4 * intDiv(z, 16384), [(intDiv(a + 4095, 4096), 4 * intDiv(a + 16383, 16384)), (4 * intDiv(z, 16384), intDiv(z, 4096))], [(intDiv(a + 4095,
    4096), intDiv(z, 4096))])), f, l))])[1], arrayMap(o -> if(empty(o), '', concat('24/', arrayStringConcat(arrayMap(r -> if(r.2 = r.1 + 1, toString(r.1),
    concat(toString(r.1), '-', toString(r.2 - 1))), o), ','))), [arrayFlatten(arrayMap((a, z) -> arrayFilter(r -> r.1 < r.2, if(4 * intDiv(a + 4095, 4096) < 4 *
    intDiv(z, 4096), [(intDiv(a + 1023, 1024), 4 * intDiv(a + 4095, 4096)), (4 * intDiv(z, 4096), intDiv(z, 1024))], [(intDiv(a + 1023, 1024), intDiv(z,
    1024))])), f, l))])[1], arrayMap(o -> if(empty(o), '', concat('25/', arrayStringConcat(arrayMap(r -> if(r.2 = r.1 + 1, toString(r.1), concat(toString(r.1),
    '-', toString(r.2 - 1))), o), ','))), [arrayFlatten(arrayMap((a, z) -> arrayFilter(r -> r.1 < r.2, if(4 * intDiv(a + 1023, 1024) < 4 * intDiv(z, 1024),
    [(intDiv(a + 255, 256), 4 * intDiv(a + 1023, 1024)), (4 * intDiv(z, 1024), intDiv(z, 256))], [(intDiv(a + 255, 256), intDiv(z, 256))])), f, l))])[1],
    arrayMap(o -> if(empty(o), '', concat('26/', arrayStringConcat(arrayMap(r -> if(r.2 = r.1 + 1, toString(r.1), concat(toString(r.1), '-', toString(r.2 -
    1))), o), ','))), [arrayFlatten(arrayMap((a, z) -> arrayFilter(r -> r.1 < r.2, if(4 * intDiv(a + 255, 256) < 4 * intDiv(z, 256), [(intDiv(a + 63, 64), 4 *
    intDiv(a + 255, 256)), (4 * intDiv(z, 256), intDiv(z, 64))], [(intDiv(a + 63, 64), intDiv(z, 64))])), f, l))])[1], arrayMap(o -> if(empty(o), '',
    concat('27/', arrayStringConcat(arrayMap(r -> if(r.2 = r.1 + 1, toString(r.1), concat(toString(r.1), '-', toString(r.2 - 1))), o), ','))),
    [arrayFlatten(arrayMap((a, z) -> arrayFilter(r -> r.1 < r.2, if(4 * intDiv(a + 63, 64) < 4 * intDiv(z, 64), [(intDiv(a + 15, 16), 4 * intDiv(a + 63, 64)),
    (4 * intDiv(z, 64), intDiv(z, 16))], [(intDiv(a + 15, 16), intDiv(z, 16))])), f, l))])[1], arrayMap(o -> if(empty(o), '', concat('28/',
    arrayStringConcat(arrayMap(r -> if(r.2 = r.1 + 1, toString(r.1), concat(toString(r.1), '-', toString(r.2 - 1))), o), ','))), [arrayFlatten(arrayMap((a, z)
    -> arrayFilter(r -> r.1 < r.2, if(4 * intDiv(a + 15, 16) < 4 * intDiv(z, 16), [(intDiv(a + 3, 4), 4 * intDiv(a + 15, 16)), (4 * intDiv(z, 16), intDiv(z,
    4))], [(intDiv(a + 3, 4), intDiv(z, 4))])), f, l))])[1], arrayMap(o -> if(empty(o), '', concat('29/', arrayStringConcat(arrayMap(r -> if(r.2 = r.1 + 1,
    toString(r.1), concat(toString(r.1), '-', toString(r.2 - 1))), o), ','))), [arrayFlatten(arrayMap((a, z) -> arrayFilter(r -> r.1 < r.2, if(4 * intDiv(a + 3,
    4) < 4 * intDiv(z, 4), [(intDiv(a + 0, 1), 4 * intDiv(a + 3, 4)), (4 * intDiv(z, 4), intDiv(z, 1))], [(intDiv(a + 0, 1), intDiv(z, 1))])), f, l))])[1]]), '
    '), [arrayFilter((b, i) -> bitAnd(i, 1) = 1, arrayMap(m -> arrayMap(p -> arrayFilter((b, i) -> b != p[bitXor(i - 1, 1) + 1], p, arrayEnumerate(p)),
    [arrayMap(s -> s.1, arrayFilter((s, n) -> (NOT (NOT (s.2 = 1) OR NOT (n = 1))) OR (NOT (NOT (s.2 = -1) OR NOT (n = 0))), m, arrayCumSum(s -> s.2, m)))])[1],
    [arraySort(s -> (s.1, -s.2), arrayConcat(arrayMap((b, i) -> (b, if(bitAnd(i, 1) = 1, 1, -1)), t1.`__shape_moc`, arrayEnumerate(t1.`__shape_moc`)),
    arrayMap((b, i) -> (b, if(bitAnd(i, 1) = 1, 1, -1)), CAST([0, 9007199254740992], 'Array(UInt64)'), arrayEnumerate(CAST([0, 9007199254740992],
    'Array(UInt64)')))))])[1], arrayEnumerate(arrayMap(m -> arrayMap(p -> arrayFilter((b, i) -> b != p[bitXor(i - 1, 1) + 1], p, arrayEnumerate(p)), [arrayMap(s
    -> s.1, arrayFilter((s, n) -> (NOT (NOT (s.2 = 1) OR NOT (n = 1))) OR (NOT (NOT (s.2 = -1) OR NOT (n = 0))), m, arrayCumSum(s -> s.2, m)))])[1],
    [arraySort(s -> (s.1, -s.2), arrayConcat(arrayMap((b, i) -> (b, if(bitAnd(i, 1) = 1, 1, -1)), t1.`__shape_moc`, arrayEnumerate(t1.`__shape_moc`)),
    arrayMap((b, i) -> (b, if(bitAnd(i, 1) = 1, 1, -1)), CAST([0, 9007199254740992], 'Array(UInt64)'), arrayEnumerate(CAST([0, 9007199254740992],
    'Array(UInt64)')))))])[1]))], [arrayFilter((b, i) -> bitAnd(i, 1) = 0, arrayMap(m -> arrayMap(p -> arrayFilter((b, i) -> b != p[bitXor(i - 1, 1) + 1], p,
    arrayEnumerate(p)), [arrayMap(s -> s.1, arrayFilter((s, n) -> (NOT (NOT (s.2 = 1) OR NOT (n = 1))) OR (NOT (NOT (s.2 = -1) OR NOT (n = 0))), m,
    arrayCumSum(s -> s.2, m)))])[1], [arraySort(s -> (s.1, -s.2), arrayConcat(arrayMap((b, i) -> (b, if(bitAnd(i, 1) = 1, 1, -1)), t1.`__shape_moc`,
    arrayEnumerate(t1.`__shape_moc`)), arrayMap((b, i) -> (b, if(bitAnd(i, 1) = 1, 1, -1)), CAST([0, 9007199254740992], 'Array(UInt64)'),
    arrayEnumerate(CAST([0, 9007199254740992], 'Array(UInt64)')))))])[1], arrayEnumerate(arrayMap(m -> arrayMap(p -> arrayFilter((b, i) -> b != p[bitXor(i - 1,
    1) + 1], p, arrayEnumerate(p)), [arrayMap(s -> s.1, arrayFilter((s, n) -> (NOT (NOT (s.2 = 1) OR NOT (n = 1))) OR (NOT (NOT (s.2 = -1) OR NOT (n = 0))), m,
    arrayCumSum(s -> s.2, m)))])[1], [arraySort(s -> (s.1, -s.2), arrayConcat(arrayMap((b, i) -> (b, if(bitAnd(i, 1) = 1, 1, -1)), t1.`__shape_moc`,
    arrayEnumerate(t1.`__shape_moc`)), arrayMap((b, i) -> (b, if(bitAnd(i, 1) = 1, 1, -1)), CAST([0, 9007199254740992], 'Array(UInt64)'),
    arrayEnumerate(CAST([0, 9007199254740992], 'Array(UInt64)')))))])[1]))])[1]) AS c1, if(isNull(if(empty(t1.`__shape_moc`), nan, 0.)) OR
    isNaN(if(empty(t1.`__shape_moc`), nan, 0.)), NULL, (arraySum((b, i) -> if(bitAnd(i, 1) = 1, -toInt64(b), toInt64(b)), t1.`__shape_moc`,
    arrayEnumerate(t1.`__shape_moc`)) * 1.1927080055488189e-14)) AS c2
FROM `sky`.`observations` AS t1
SETTINGS compile_aggregate_expressions = 0, compile_expressions = 0, max_block_size = 30122

-- Cross-match
SELECT o.id, s.id FROM sky.objects AS o JOIN sky.sources AS s ON DISTANCE(POINT(o.ra, o.dec), POINT(s.ra, s.dec)) < 1 / 3600.
=>
SELECT t9.`c28` AS c1, t9.`c29` AS c2
FROM (SELECT t8.`c11` AS c28, t8.`c12` AS c29
FROM ((SELECT t4.`c8` AS c11, t3.`c4` AS c12
FROM (SELECT intDiv(t2.`hpx29`, 4294967296) AS c3, t2.`id` AS c4, t2.`ra` AS c5, t2.`dec` AS c6
FROM `sky`.`sources` AS t2
PREWHERE (t2.`hpx29` < 3458764513820540928)) AS t3
INNER JOIN (SELECT intDiv(t1.`hpx29`, 4294967296) AS c7, t1.`id` AS c8, t1.`ra` AS c9, t1.`dec` AS c10
FROM `sky`.`objects` AS t1
PREWHERE (t1.`hpx29` < 3458764513820540928)) AS t4
ON (t3.`c3` = t4.`c7`)
WHERE (abs(t4.`c10` - t3.`c6`) <= 0.0002777777790555556) AND (pow(sin((t4.`c10` - t3.`c6`) * 0.008726646259971648), 2) + cos(radians(t3.`c6`)) *
    cos(radians(t4.`c10`)) * pow(sin((t4.`c9` % 360. - t3.`c5` % 360.) * 0.008726646259971648), 2) < 5.876107634762963e-12)
SETTINGS join_algorithm = 'full_sorting_merge')
UNION ALL (SELECT t7.`c23` AS c26, t5.`c14` AS c27
FROM (SELECT intDiv(t2.`hpx29`, 4294967296) AS c13, t2.`id` AS c14, t2.`ra` AS c15, t2.`dec` AS c16
FROM `sky`.`sources` AS t2
WHERE (t2.`hpx29` < 3458764513820540928) AND (mortonDecode(2, bitAnd(t2.`hpx29`, 4294967295)).1 < 3781 OR mortonDecode(2, bitAnd(t2.`hpx29`, 4294967295)).1 >=
    61755 OR mortonDecode(2, bitAnd(t2.`hpx29`, 4294967295)).2 < 3781 OR mortonDecode(2, bitAnd(t2.`hpx29`, 4294967295)).2 >= 61755)) AS t5
INNER JOIN (SELECT (toUInt64(bitShiftRight(([64, 72, 80, 88, 2040, 2040, 2040, 2040, 83, 91, 67, 75, 40, 48, 56, 32, 64, 72, 80, 88, 78, 86, 94, 70, 2040, 2040,
    2040, 2040, 40, 48, 56, 32, 2040, 2040, 2040, 2040, 32, 40, 48, 56, 88, 64, 72, 80, 93, 69, 77, 85, 0, 8, 16, 24, 32, 40, 48, 56, 64, 72, 80, 88, 13, 21,
    29, 5, 0, 8, 16, 24, 40, 48, 56, 32, 2040, 2040, 2040, 2040, 56, 32, 40, 48, 2040, 2040, 2040, 2040, 30, 6, 14, 22, 24, 0, 8, 16, 32, 40, 48, 56, 19, 27, 3,
    11, 2040, 2040, 2040, 2040, 0, 8, 16, 24][(1 + ((toInt32((mortonDecode(2, bitAnd(bitShiftRight(t6.`c17`, 32), 67108863)) AS __place).1) + toInt32(t6.`c18` %
    3) - 1 AS __x) >= 8192) - (__x < 0) + 3 * (1 + ((toInt32(__place.2) + toInt32(intDiv(t6.`c18`, 3)) - 1 AS __y) >= 8192) - (__y < 0))) * 12 +
    bitShiftRight(t6.`c17`, 58) + 1] AS __there), 3)) * 67108864 + if(bitTest(__there, 2), mortonEncode((toUInt32(bitXor(bitAnd(__y, 8191), 8191 *
    bitTest(__there, 1))) AS __y_there), (toUInt32(bitXor(bitAnd(__x, 8191), 8191 * bitTest(__there, 0))) AS __x_there)), mortonEncode(__x_there, __y_there)))
    AS c22, t6.`c19` AS c23, t6.`c20` AS c24, t6.`c21` AS c25
FROM (SELECT t1.`hpx29` AS c17, arrayJoin([[0, 1, 3], [1], [1, 2, 5], [3], [], [5], [3, 6, 7], [7], [5, 7, 8]][(toInt8(mortonDecode(2, bitAnd(t1.`hpx29`,
    4294967295)).1 >= 61755) - toInt8(mortonDecode(2, bitAnd(t1.`hpx29`, 4294967295)).1 < 3781)) + 3 * (toInt8(mortonDecode(2, bitAnd(t1.`hpx29`, 4294967295)).2
    >= 61755) - toInt8(mortonDecode(2, bitAnd(t1.`hpx29`, 4294967295)).2 < 3781)) + 5]) AS c18, t1.`id` AS c19, t1.`ra` AS c20, t1.`dec` AS c21
FROM `sky`.`objects` AS t1
WHERE (t1.`hpx29` < 3458764513820540928) AND (mortonDecode(2, bitAnd(t1.`hpx29`, 4294967295)).1 < 3781 OR mortonDecode(2, bitAnd(t1.`hpx29`, 4294967295)).1 >=
    61755 OR mortonDecode(2, bitAnd(t1.`hpx29`, 4294967295)).2 < 3781 OR mortonDecode(2, bitAnd(t1.`hpx29`, 4294967295)).2 >= 61755)) AS t6) AS t7
ON (t5.`c13` = t7.`c22`)
WHERE (abs(t7.`c25` - t5.`c16`) <= 0.0002777777790555556) AND (pow(sin((t7.`c25` - t5.`c16`) * 0.008726646259971648), 2) + cos(radians(t5.`c16`)) *
    cos(radians(t7.`c25`)) * pow(sin((t7.`c24` % 360. - t5.`c15` % 360.) * 0.008726646259971648), 2) < 5.876107634762963e-12)
SETTINGS join_algorithm = 'full_sorting_merge')) AS t8) AS t9
SETTINGS enable_join_runtime_filters = 0

-- Cross-match with a cone
SELECT o.id, s.id FROM sky.objects AS o JOIN sky.sources AS s ON DISTANCE(POINT(o.ra, o.dec), POINT(s.ra, s.dec)) < 0.0003 WHERE 1 = CONTAINS(POINT(o.ra, o.dec), CIRCLE(10, 20, 0.001))
=>
SELECT t9.`c28` AS c1, t9.`c29` AS c2
FROM (SELECT t8.`c11` AS c28, t8.`c12` AS c29
FROM ((SELECT t4.`c8` AS c11, t3.`c4` AS c12
FROM (SELECT intDiv(t2.`hpx29`, 4294967296) AS c3, t2.`id` AS c4, t2.`ra` AS c5, t2.`dec` AS c6
FROM `sky`.`sources` AS t2
PREWHERE (t2.`hpx29` < 3458764513820540928) AND (intDiv(t2.`hpx29`, 1073741824) IN (1301766326, 1301766327, 1301766332, 1301766333, 1301766335, 1301766376))) AS
    t3
INNER JOIN (SELECT intDiv(t1.`hpx29`, 4294967296) AS c7, t1.`id` AS c8, t1.`ra` AS c9, t1.`dec` AS c10
FROM `sky`.`objects` AS t1
PREWHERE (t1.`hpx29` < 3458764513820540928) AND (intDiv(t1.`hpx29`, 268435456) IN (5207065307, 5207065310, 5207065311, 5207065329, 5207065331, 5207065332,
    5207065333, 5207065334, 5207065335)) AND (pow(sin((t1.`dec` - 20.0) * 0.008726646259971648), 2) + 0.9396926207859084 * cos(radians(t1.`dec`)) *
    pow(sin((t1.`ra` % 360. - 10.0) * 0.008726646259971648), 2) <= 7.615435495347065e-11)) AS t4
ON (t3.`c3` = t4.`c7`)
WHERE (abs(t4.`c10` - t3.`c6`) <= 0.0003000000013) AND (pow(sin((t4.`c10` - t3.`c6`) * 0.008726646259971648), 2) + cos(radians(t3.`c6`)) *
    cos(radians(t4.`c10`)) * pow(sin((t4.`c9` % 360. - t3.`c5` % 360.) * 0.008726646259971648), 2) < 6.853891945185285e-12)
SETTINGS join_algorithm = 'full_sorting_merge')
UNION ALL (SELECT t7.`c23` AS c26, t5.`c14` AS c27
FROM (SELECT intDiv(t2.`hpx29`, 4294967296) AS c13, t2.`id` AS c14, t2.`ra` AS c15, t2.`dec` AS c16
FROM `sky`.`sources` AS t2
WHERE (t2.`hpx29` < 3458764513820540928) AND (mortonDecode(2, bitAnd(t2.`hpx29`, 4294967295)).1 < 4084 OR mortonDecode(2, bitAnd(t2.`hpx29`, 4294967295)).1 >=
    61452 OR mortonDecode(2, bitAnd(t2.`hpx29`, 4294967295)).2 < 4084 OR mortonDecode(2, bitAnd(t2.`hpx29`, 4294967295)).2 >= 61452) AND (intDiv(t2.`hpx29`,
    1073741824) IN (1301766326, 1301766327, 1301766332, 1301766333, 1301766335, 1301766376))) AS t5
INNER JOIN (SELECT (toUInt64(bitShiftRight(([64, 72, 80, 88, 2040, 2040, 2040, 2040, 83, 91, 67, 75, 40, 48, 56, 32, 64, 72, 80, 88, 78, 86, 94, 70, 2040, 2040,
    2040, 2040, 40, 48, 56, 32, 2040, 2040, 2040, 2040, 32, 40, 48, 56, 88, 64, 72, 80, 93, 69, 77, 85, 0, 8, 16, 24, 32, 40, 48, 56, 64, 72, 80, 88, 13, 21,
    29, 5, 0, 8, 16, 24, 40, 48, 56, 32, 2040, 2040, 2040, 2040, 56, 32, 40, 48, 2040, 2040, 2040, 2040, 30, 6, 14, 22, 24, 0, 8, 16, 32, 40, 48, 56, 19, 27, 3,
    11, 2040, 2040, 2040, 2040, 0, 8, 16, 24][(1 + ((toInt32((mortonDecode(2, bitAnd(bitShiftRight(t6.`c17`, 32), 67108863)) AS __place).1) + toInt32(t6.`c18` %
    3) - 1 AS __x) >= 8192) - (__x < 0) + 3 * (1 + ((toInt32(__place.2) + toInt32(intDiv(t6.`c18`, 3)) - 1 AS __y) >= 8192) - (__y < 0))) * 12 +
    bitShiftRight(t6.`c17`, 58) + 1] AS __there), 3)) * 67108864 + if(bitTest(__there, 2), mortonEncode((toUInt32(bitXor(bitAnd(__y, 8191), 8191 *
    bitTest(__there, 1))) AS __y_there), (toUInt32(bitXor(bitAnd(__x, 8191), 8191 * bitTest(__there, 0))) AS __x_there)), mortonEncode(__x_there, __y_there)))
    AS c22, t6.`c19` AS c23, t6.`c20` AS c24, t6.`c21` AS c25
FROM (SELECT t1.`hpx29` AS c17, arrayJoin([[0, 1, 3], [1], [1, 2, 5], [3], [], [5], [3, 6, 7], [7], [5, 7, 8]][(toInt8(mortonDecode(2, bitAnd(t1.`hpx29`,
    4294967295)).1 >= 61452) - toInt8(mortonDecode(2, bitAnd(t1.`hpx29`, 4294967295)).1 < 4084)) + 3 * (toInt8(mortonDecode(2, bitAnd(t1.`hpx29`, 4294967295)).2
    >= 61452) - toInt8(mortonDecode(2, bitAnd(t1.`hpx29`, 4294967295)).2 < 4084)) + 5]) AS c18, t1.`id` AS c19, t1.`ra` AS c20, t1.`dec` AS c21
FROM `sky`.`objects` AS t1
WHERE (t1.`hpx29` < 3458764513820540928) AND (mortonDecode(2, bitAnd(t1.`hpx29`, 4294967295)).1 < 4084 OR mortonDecode(2, bitAnd(t1.`hpx29`, 4294967295)).1 >=
    61452 OR mortonDecode(2, bitAnd(t1.`hpx29`, 4294967295)).2 < 4084 OR mortonDecode(2, bitAnd(t1.`hpx29`, 4294967295)).2 >= 61452) AND (intDiv(t1.`hpx29`,
    268435456) IN (5207065307, 5207065310, 5207065311, 5207065329, 5207065331, 5207065332, 5207065333, 5207065334, 5207065335)) AND (pow(sin((t1.`dec` - 20.0) *
    0.008726646259971648), 2) + 0.9396926207859084 * cos(radians(t1.`dec`)) * pow(sin((t1.`ra` % 360. - 10.0) * 0.008726646259971648), 2) <=
    7.615435495347065e-11)) AS t6) AS t7
ON (t5.`c13` = t7.`c22`)
WHERE (abs(t7.`c25` - t5.`c16`) <= 0.0003000000013) AND (pow(sin((t7.`c25` - t5.`c16`) * 0.008726646259971648), 2) + cos(radians(t5.`c16`)) *
    cos(radians(t7.`c25`)) * pow(sin((t7.`c24` % 360. - t5.`c15` % 360.) * 0.008726646259971648), 2) < 6.853891945185285e-12)
SETTINGS join_algorithm = 'full_sorting_merge')) AS t8) AS t9
SETTINGS compile_aggregate_expressions = 0, compile_expressions = 0, enable_join_runtime_filters = 0

-- Cross-match, left join
SELECT o.id, s.id FROM sky.objects AS o LEFT JOIN sky.sources AS s ON DISTANCE(POINT(o.ra, o.dec), POINT(s.ra, s.dec)) <= 0.0003 AND s.flux > 0
=>
SELECT t1.`id` AS c1, t9.`c29` AS c2
FROM `sky`.`objects` AS t1
LEFT JOIN (SELECT t8.`c11` AS c28, t8.`c12` AS c29
FROM ((SELECT t4.`c8` AS c11, t3.`c4` AS c12
FROM (SELECT intDiv(t2.`hpx29`, 4294967296) AS c3, t2.`id` AS c4, t2.`ra` AS c5, t2.`dec` AS c6
FROM `sky`.`sources` AS t2
PREWHERE (t2.`hpx29` < 3458764513820540928) AND (t2.`flux` > 0)) AS t3
INNER JOIN (SELECT intDiv(t1.`hpx29`, 4294967296) AS c7, (t1._part_starting_offset + t1._part_offset) AS c8, t1.`ra` AS c9, t1.`dec` AS c10
FROM `sky`.`objects` AS t1
PREWHERE (t1.`hpx29` < 3458764513820540928)) AS t4
ON (t3.`c3` = t4.`c7`)
WHERE (abs(t4.`c10` - t3.`c6`) <= 0.0003000000013) AND (pow(sin((t4.`c10` - t3.`c6`) * 0.008726646259971648), 2) + cos(radians(t3.`c6`)) *
    cos(radians(t4.`c10`)) * pow(sin((t4.`c9` % 360. - t3.`c5` % 360.) * 0.008726646259971648), 2) <= 6.85389194780328e-12)
SETTINGS join_algorithm = 'full_sorting_merge')
UNION ALL (SELECT t7.`c23` AS c26, t5.`c14` AS c27
FROM (SELECT intDiv(t2.`hpx29`, 4294967296) AS c13, t2.`id` AS c14, t2.`ra` AS c15, t2.`dec` AS c16
FROM `sky`.`sources` AS t2
WHERE (t2.`hpx29` < 3458764513820540928) AND (mortonDecode(2, bitAnd(t2.`hpx29`, 4294967295)).1 < 4084 OR mortonDecode(2, bitAnd(t2.`hpx29`, 4294967295)).1 >=
    61452 OR mortonDecode(2, bitAnd(t2.`hpx29`, 4294967295)).2 < 4084 OR mortonDecode(2, bitAnd(t2.`hpx29`, 4294967295)).2 >= 61452) AND (t2.`flux` > 0)) AS t5
INNER JOIN (SELECT (toUInt64(bitShiftRight(([64, 72, 80, 88, 2040, 2040, 2040, 2040, 83, 91, 67, 75, 40, 48, 56, 32, 64, 72, 80, 88, 78, 86, 94, 70, 2040, 2040,
    2040, 2040, 40, 48, 56, 32, 2040, 2040, 2040, 2040, 32, 40, 48, 56, 88, 64, 72, 80, 93, 69, 77, 85, 0, 8, 16, 24, 32, 40, 48, 56, 64, 72, 80, 88, 13, 21,
    29, 5, 0, 8, 16, 24, 40, 48, 56, 32, 2040, 2040, 2040, 2040, 56, 32, 40, 48, 2040, 2040, 2040, 2040, 30, 6, 14, 22, 24, 0, 8, 16, 32, 40, 48, 56, 19, 27, 3,
    11, 2040, 2040, 2040, 2040, 0, 8, 16, 24][(1 + ((toInt32((mortonDecode(2, bitAnd(bitShiftRight(t6.`c17`, 32), 67108863)) AS __place).1) + toInt32(t6.`c18` %
    3) - 1 AS __x) >= 8192) - (__x < 0) + 3 * (1 + ((toInt32(__place.2) + toInt32(intDiv(t6.`c18`, 3)) - 1 AS __y) >= 8192) - (__y < 0))) * 12 +
    bitShiftRight(t6.`c17`, 58) + 1] AS __there), 3)) * 67108864 + if(bitTest(__there, 2), mortonEncode((toUInt32(bitXor(bitAnd(__y, 8191), 8191 *
    bitTest(__there, 1))) AS __y_there), (toUInt32(bitXor(bitAnd(__x, 8191), 8191 * bitTest(__there, 0))) AS __x_there)), mortonEncode(__x_there, __y_there)))
    AS c22, t6.`c19` AS c23, t6.`c20` AS c24, t6.`c21` AS c25
FROM (SELECT t1.`hpx29` AS c17, arrayJoin([[0, 1, 3], [1], [1, 2, 5], [3], [], [5], [3, 6, 7], [7], [5, 7, 8]][(toInt8(mortonDecode(2, bitAnd(t1.`hpx29`,
    4294967295)).1 >= 61452) - toInt8(mortonDecode(2, bitAnd(t1.`hpx29`, 4294967295)).1 < 4084)) + 3 * (toInt8(mortonDecode(2, bitAnd(t1.`hpx29`, 4294967295)).2
    >= 61452) - toInt8(mortonDecode(2, bitAnd(t1.`hpx29`, 4294967295)).2 < 4084)) + 5]) AS c18, (t1._part_starting_offset + t1._part_offset) AS c19, t1.`ra` AS
    c20, t1.`dec` AS c21
FROM `sky`.`objects` AS t1
WHERE (t1.`hpx29` < 3458764513820540928) AND (mortonDecode(2, bitAnd(t1.`hpx29`, 4294967295)).1 < 4084 OR mortonDecode(2, bitAnd(t1.`hpx29`, 4294967295)).1 >=
    61452 OR mortonDecode(2, bitAnd(t1.`hpx29`, 4294967295)).2 < 4084 OR mortonDecode(2, bitAnd(t1.`hpx29`, 4294967295)).2 >= 61452)) AS t6) AS t7
ON (t5.`c13` = t7.`c22`)
WHERE (abs(t7.`c25` - t5.`c16`) <= 0.0003000000013) AND (pow(sin((t7.`c25` - t5.`c16`) * 0.008726646259971648), 2) + cos(radians(t5.`c16`)) *
    cos(radians(t7.`c25`)) * pow(sin((t7.`c24` % 360. - t5.`c15` % 360.) * 0.008726646259971648), 2) <= 6.85389194780328e-12)
SETTINGS join_algorithm = 'full_sorting_merge')) AS t8) AS t9
ON ((t1._part_starting_offset + t1._part_offset) = t9.`c28`)
SETTINGS enable_join_runtime_filters = 0

-- Cross-match with a radius of each row
SELECT o.id, s.id FROM sky.objects AS o JOIN sky.sources AS s ON 1 = CONTAINS(POINT(o.ra, o.dec), CIRCLE(s.ra, s.dec, s.radius))
=>
SELECT t4.`c9` AS c1, t3.`c6` AS c2
FROM (SELECT t2.`ra` AS c3, t2.`dec` AS c4, t2.`radius` AS c5, t2.`id` AS c6, bitOr(bitShiftLeft(toUInt64((if(t2.`radius` >= 0,
    toUInt8(greatest(ifNotFinite(ceil(log2(2 * (2 * sin(radians(least(t2.`radius`, 180)) / 2) * 1.000000001 + 1e-12)) / 2) - -8, 0), 0)), NULL) AS
    __level_21ad5fa0)), 60), bitOr(bitOr(bitShiftLeft(arrayJoin(range(toUInt64(floor(ifNotFinite(((cos(radians(toFloat64(ifNull(toFloat64(t2.`dec`), nan)))) *
    cos(radians(toFloat64(ifNull(toFloat64(t2.`ra`), nan)) % 360.))) - (2 * sin(radians(least(t2.`radius`, 180)) / 2) * 1.000000001 + 1e-12) - 1e-12) / exp2(2 *
    (toInt32(__level_21ad5fa0) + -8)), 0.)) + 524288), toUInt64(floor(ifNotFinite(((cos(radians(toFloat64(ifNull(toFloat64(t2.`dec`), nan)))) *
    cos(radians(toFloat64(ifNull(toFloat64(t2.`ra`), nan)) % 360.))) + (2 * sin(radians(least(t2.`radius`, 180)) / 2) * 1.000000001 + 1e-12) + 1e-12) / exp2(2 *
    (toInt32(__level_21ad5fa0) + -8)), 0.)) + 524288) + 1)), 40),
    bitShiftLeft(arrayJoin(range(toUInt64(floor(ifNotFinite(((cos(radians(toFloat64(ifNull(toFloat64(t2.`dec`), nan)))) *
    sin(radians(toFloat64(ifNull(toFloat64(t2.`ra`), nan)) % 360.))) - (2 * sin(radians(least(t2.`radius`, 180)) / 2) * 1.000000001 + 1e-12) - 1e-12) / exp2(2 *
    (toInt32(__level_21ad5fa0) + -8)), 0.)) + 524288), toUInt64(floor(ifNotFinite(((cos(radians(toFloat64(ifNull(toFloat64(t2.`dec`), nan)))) *
    sin(radians(toFloat64(ifNull(toFloat64(t2.`ra`), nan)) % 360.))) + (2 * sin(radians(least(t2.`radius`, 180)) / 2) * 1.000000001 + 1e-12) + 1e-12) / exp2(2 *
    (toInt32(__level_21ad5fa0) + -8)), 0.)) + 524288) + 1)), 20)), arrayJoin(range(toUInt64(floor(ifNotFinite((sin(radians(toFloat64(ifNull(toFloat64(t2.`dec`),
    nan)))) - (2 * sin(radians(least(t2.`radius`, 180)) / 2) * 1.000000001 + 1e-12) - 1e-12) / exp2(2 * (toInt32(__level_21ad5fa0) + -8)), 0.)) + 524288),
    toUInt64(floor(ifNotFinite((sin(radians(toFloat64(ifNull(toFloat64(t2.`dec`), nan)))) + (2 * sin(radians(least(t2.`radius`, 180)) / 2) * 1.000000001 +
    1e-12) + 1e-12) / exp2(2 * (toInt32(__level_21ad5fa0) + -8)), 0.)) + 524288) + 1)))) AS c10, (cos(radians(toFloat64(ifNull(toFloat64(t2.`dec`), nan)))) *
    cos(radians(toFloat64(ifNull(toFloat64(t2.`ra`), nan)) % 360.))) AS c13, (cos(radians(toFloat64(ifNull(toFloat64(t2.`dec`), nan)))) *
    sin(radians(toFloat64(ifNull(toFloat64(t2.`ra`), nan)) % 360.))) AS c14, sin(radians(toFloat64(ifNull(toFloat64(t2.`dec`), nan)))) AS c15
FROM `sky`.`sources` AS t2
PREWHERE (t2.`radius` >= 0.0)) AS t3
INNER JOIN (SELECT t1.`ra` AS c7, t1.`dec` AS c8, t1.`id` AS c9, bitOr(bitShiftLeft(toUInt64((arrayJoin(assumeNotNull((SELECT groupUniqArray(c11)
FROM (SELECT DISTINCT if(t2.`radius` >= 0, toUInt8(greatest(ifNotFinite(ceil(log2(2 * (2 * sin(radians(least(t2.`radius`, 180)) / 2) * 1.000000001 + 1e-12)) /
    2) - -8, 0), 0)), NULL) AS c11
FROM `sky`.`sources` AS t2)))) AS __level_cd5cfee2)), 60),
    bitOr(bitOr(bitShiftLeft(toUInt64(floor(ifNotFinite((cos(radians(toFloat64(ifNull(toFloat64(t1.`dec`), nan)))) *
    cos(radians(toFloat64(ifNull(toFloat64(t1.`ra`), nan)) % 360.))) / exp2(2 * (toInt32(__level_cd5cfee2) + -8)), 0.)) + 524288), 40),
    bitShiftLeft(toUInt64(floor(ifNotFinite((cos(radians(toFloat64(ifNull(toFloat64(t1.`dec`), nan)))) * sin(radians(toFloat64(ifNull(toFloat64(t1.`ra`), nan))
    % 360.))) / exp2(2 * (toInt32(__level_cd5cfee2) + -8)), 0.)) + 524288), 20)), toUInt64(floor(ifNotFinite(sin(radians(toFloat64(ifNull(toFloat64(t1.`dec`),
    nan)))) / exp2(2 * (toInt32(__level_cd5cfee2) + -8)), 0.)) + 524288))) AS c12, (cos(radians(toFloat64(ifNull(toFloat64(t1.`dec`), nan)))) *
    cos(radians(toFloat64(ifNull(toFloat64(t1.`ra`), nan)) % 360.))) AS c16, (cos(radians(toFloat64(ifNull(toFloat64(t1.`dec`), nan)))) *
    sin(radians(toFloat64(ifNull(toFloat64(t1.`ra`), nan)) % 360.))) AS c17, sin(radians(toFloat64(ifNull(toFloat64(t1.`dec`), nan)))) AS c18
FROM `sky`.`objects` AS t1
WHERE (NOT (NOT (isFinite(t1.`ra`)) OR NOT (isFinite(t1.`dec`))))) AS t4
ON (t4.`c12` = t3.`c10`) AND ((2 * atan2(sqrt((t3.`c13` - t4.`c16`) * (t3.`c13` - t4.`c16`) + (t3.`c14` - t4.`c17`) * (t3.`c14` - t4.`c17`) + (t3.`c15` -
    t4.`c18`) * (t3.`c15` - t4.`c18`)), sqrt((t3.`c13` + t4.`c16`) * (t3.`c13` + t4.`c16`) + (t3.`c14` + t4.`c17`) * (t3.`c14` + t4.`c17`) + (t3.`c15` +
    t4.`c18`) * (t3.`c15` + t4.`c18`)))) <= if(t3.`c5` < 0, -1, radians(t3.`c5`) + 1e-15))
SETTINGS compile_aggregate_expressions = 0, compile_expressions = 0, enable_join_runtime_filters = 0, query_plan_optimize_join_order_limit = 1,
    query_plan_remove_unused_columns = 0

-- Cross-match with a small table
SELECT t.name, o.id FROM sky.targets AS t JOIN sky.objects AS o ON DISTANCE(POINT(t.ra, t.dec), POINT(o.ra, o.dec)) < 0.01
=>
SELECT t4.`c10` AS c1, t3.`c7` AS c2
FROM (SELECT t2.`ra` AS c4, t2.`dec` AS c5, t2.`hpx29` AS c6, t2.`id` AS c7,
    bitOr(bitOr(bitShiftLeft(toUInt64(floor(ifNotFinite((cos(radians(toFloat64(ifNull(toFloat64(t2.`dec`), nan)))) *
    cos(radians(toFloat64(ifNull(toFloat64(t2.`ra`), nan)) % 360.))) / 0.0006981316999116356, 0.)) + 524288), 40),
    bitShiftLeft(toUInt64(floor(ifNotFinite((cos(radians(toFloat64(ifNull(toFloat64(t2.`dec`), nan)))) * sin(radians(toFloat64(ifNull(toFloat64(t2.`ra`), nan))
    % 360.))) / 0.0006981316999116356, 0.)) + 524288), 20)), toUInt64(floor(ifNotFinite(sin(radians(toFloat64(ifNull(toFloat64(t2.`dec`), nan)))) /
    0.0006981316999116356, 0.)) + 524288)) AS c11, (cos(radians(toFloat64(ifNull(toFloat64(t2.`dec`), nan)))) * cos(radians(toFloat64(ifNull(toFloat64(t2.`ra`),
    nan)) % 360.))) AS c13, (cos(radians(toFloat64(ifNull(toFloat64(t2.`dec`), nan)))) * sin(radians(toFloat64(ifNull(toFloat64(t2.`ra`), nan)) % 360.))) AS
    c14, sin(radians(toFloat64(ifNull(toFloat64(t2.`dec`), nan)))) AS c15
FROM `sky`.`objects` AS t2) AS t3
INNER JOIN (SELECT t1.`ra` AS c8, t1.`dec` AS c9, t1.`name` AS c10,
    bitOr(bitOr(bitShiftLeft(arrayJoin(range(toUInt64(floor(ifNotFinite(((cos(radians(toFloat64(ifNull(toFloat64(t1.`dec`), nan)))) *
    cos(radians(toFloat64(ifNull(toFloat64(t1.`ra`), nan)) % 360.))) - 0.0001745329249779089 - 1e-12) / 0.0006981316999116356, 0.)) + 524288),
    toUInt64(floor(ifNotFinite(((cos(radians(toFloat64(ifNull(toFloat64(t1.`dec`), nan)))) * cos(radians(toFloat64(ifNull(toFloat64(t1.`ra`), nan)) % 360.))) +
    0.0001745329249779089 + 1e-12) / 0.0006981316999116356, 0.)) + 524288) + 1)), 40),
    bitShiftLeft(arrayJoin(range(toUInt64(floor(ifNotFinite(((cos(radians(toFloat64(ifNull(toFloat64(t1.`dec`), nan)))) *
    sin(radians(toFloat64(ifNull(toFloat64(t1.`ra`), nan)) % 360.))) - 0.0001745329249779089 - 1e-12) / 0.0006981316999116356, 0.)) + 524288),
    toUInt64(floor(ifNotFinite(((cos(radians(toFloat64(ifNull(toFloat64(t1.`dec`), nan)))) * sin(radians(toFloat64(ifNull(toFloat64(t1.`ra`), nan)) % 360.))) +
    0.0001745329249779089 + 1e-12) / 0.0006981316999116356, 0.)) + 524288) + 1)), 20)),
    arrayJoin(range(toUInt64(floor(ifNotFinite((sin(radians(toFloat64(ifNull(toFloat64(t1.`dec`), nan)))) - 0.0001745329249779089 - 1e-12) /
    0.0006981316999116356, 0.)) + 524288), toUInt64(floor(ifNotFinite((sin(radians(toFloat64(ifNull(toFloat64(t1.`dec`), nan)))) + 0.0001745329249779089 +
    1e-12) / 0.0006981316999116356, 0.)) + 524288) + 1))) AS c12, (cos(radians(toFloat64(ifNull(toFloat64(t1.`dec`), nan)))) *
    cos(radians(toFloat64(ifNull(toFloat64(t1.`ra`), nan)) % 360.))) AS c16, (cos(radians(toFloat64(ifNull(toFloat64(t1.`dec`), nan)))) *
    sin(radians(toFloat64(ifNull(toFloat64(t1.`ra`), nan)) % 360.))) AS c17, sin(radians(toFloat64(ifNull(toFloat64(t1.`dec`), nan)))) AS c18
FROM `sky`.`targets` AS t1
WHERE (NOT (NOT (isFinite(t1.`ra`)) OR NOT (isFinite(t1.`dec`))))) AS t4
ON (t3.`c11` = t4.`c12`) AND ((t3.`c13` - t4.`c16`) * (t3.`c13` - t4.`c16`) + (t3.`c14` - t4.`c17`) * (t3.`c14` - t4.`c17`) + (t3.`c15` - t4.`c18`) * (t3.`c15`
    - t4.`c18`) < 3.046174190134438e-08)
WHERE (intDiv(t3.`c6`, 68719476736) IN (SELECT arrayJoin(arrayFilter(c -> c < 50331648, arrayMap(step -> (toUInt64(bitShiftRight(([64, 72, 80, 88, 2040, 2040,
    2040, 2040, 83, 91, 67, 75, 40, 48, 56, 32, 64, 72, 80, 88, 78, 86, 94, 70, 2040, 2040, 2040, 2040, 40, 48, 56, 32, 2040, 2040, 2040, 2040, 32, 40, 48, 56,
    88, 64, 72, 80, 93, 69, 77, 85, 0, 8, 16, 24, 32, 40, 48, 56, 64, 72, 80, 88, 13, 21, 29, 5, 0, 8, 16, 24, 40, 48, 56, 32, 2040, 2040, 2040, 2040, 56, 32,
    40, 48, 2040, 2040, 2040, 2040, 30, 6, 14, 22, 24, 0, 8, 16, 32, 40, 48, 56, 19, 27, 3, 11, 2040, 2040, 2040, 2040, 0, 8, 16, 24][(1 +
    ((toInt32((mortonDecode(2, bitAnd(bitShiftRight(t1.`hpx29`, 36), 4194303)) AS __place).1) + toInt32(step % 3) - 1 AS __x) >= 2048) - (__x < 0) + 3 * (1 +
    ((toInt32(__place.2) + toInt32(intDiv(step, 3)) - 1 AS __y) >= 2048) - (__y < 0))) * 12 + bitShiftRight(t1.`hpx29`, 58) + 1] AS __there), 3)) * 4194304 +
    if(bitTest(__there, 2), mortonEncode((toUInt32(bitXor(bitAnd(__y, 2047), 2047 * bitTest(__there, 1))) AS __y_there), (toUInt32(bitXor(bitAnd(__x, 2047),
    2047 * bitTest(__there, 0))) AS __x_there)), mortonEncode(__x_there, __y_there))), range(if(t1.`hpx29` < 3458764513820540928, 9, 0))))) AS c3
FROM `sky`.`targets` AS t1))
SETTINGS compile_aggregate_expressions = 0, compile_expressions = 0, enable_join_runtime_filters = 0

-- Cross-match of a table with itself
SELECT a.id, b.id FROM sky.sources AS a JOIN sky.sources AS b ON DISTANCE(POINT(a.ra, a.dec), POINT(b.ra, b.dec)) < 0.0003 AND a.id < b.id
=>
SELECT t9.`c28` AS c1, t9.`c29` AS c2
FROM (SELECT t8.`c11` AS c28, t8.`c12` AS c29
FROM ((SELECT t3.`c4` AS c11, t4.`c8` AS c12
FROM (SELECT intDiv(t1.`hpx29`, 4294967296) AS c3, t1.`id` AS c4, t1.`ra` AS c5, t1.`dec` AS c6
FROM `sky`.`sources` AS t1
PREWHERE (t1.`hpx29` < 3458764513820540928)) AS t3
INNER JOIN (SELECT intDiv(t2.`hpx29`, 4294967296) AS c7, t2.`id` AS c8, t2.`ra` AS c9, t2.`dec` AS c10
FROM `sky`.`sources` AS t2
PREWHERE (t2.`hpx29` < 3458764513820540928)) AS t4
ON (t3.`c3` = t4.`c7`)
WHERE (abs(t3.`c6` - t4.`c10`) <= 0.0003000000013) AND (pow(sin((t3.`c6` - t4.`c10`) * 0.008726646259971648), 2) + cos(radians(t4.`c10`)) *
    cos(radians(t3.`c6`)) * pow(sin((t3.`c5` % 360. - t4.`c9` % 360.) * 0.008726646259971648), 2) < 6.853891945185285e-12) AND (t3.`c4` < t4.`c8`)
SETTINGS join_algorithm = 'full_sorting_merge')
UNION ALL (SELECT t5.`c14` AS c26, t7.`c23` AS c27
FROM (SELECT intDiv(t1.`hpx29`, 4294967296) AS c13, t1.`id` AS c14, t1.`ra` AS c15, t1.`dec` AS c16
FROM `sky`.`sources` AS t1
WHERE (t1.`hpx29` < 3458764513820540928) AND (mortonDecode(2, bitAnd(t1.`hpx29`, 4294967295)).1 < 4084 OR mortonDecode(2, bitAnd(t1.`hpx29`, 4294967295)).1 >=
    61452 OR mortonDecode(2, bitAnd(t1.`hpx29`, 4294967295)).2 < 4084 OR mortonDecode(2, bitAnd(t1.`hpx29`, 4294967295)).2 >= 61452)) AS t5
INNER JOIN (SELECT (toUInt64(bitShiftRight(([64, 72, 80, 88, 2040, 2040, 2040, 2040, 83, 91, 67, 75, 40, 48, 56, 32, 64, 72, 80, 88, 78, 86, 94, 70, 2040, 2040,
    2040, 2040, 40, 48, 56, 32, 2040, 2040, 2040, 2040, 32, 40, 48, 56, 88, 64, 72, 80, 93, 69, 77, 85, 0, 8, 16, 24, 32, 40, 48, 56, 64, 72, 80, 88, 13, 21,
    29, 5, 0, 8, 16, 24, 40, 48, 56, 32, 2040, 2040, 2040, 2040, 56, 32, 40, 48, 2040, 2040, 2040, 2040, 30, 6, 14, 22, 24, 0, 8, 16, 32, 40, 48, 56, 19, 27, 3,
    11, 2040, 2040, 2040, 2040, 0, 8, 16, 24][(1 + ((toInt32((mortonDecode(2, bitAnd(bitShiftRight(t6.`c17`, 32), 67108863)) AS __place).1) + toInt32(t6.`c18` %
    3) - 1 AS __x) >= 8192) - (__x < 0) + 3 * (1 + ((toInt32(__place.2) + toInt32(intDiv(t6.`c18`, 3)) - 1 AS __y) >= 8192) - (__y < 0))) * 12 +
    bitShiftRight(t6.`c17`, 58) + 1] AS __there), 3)) * 67108864 + if(bitTest(__there, 2), mortonEncode((toUInt32(bitXor(bitAnd(__y, 8191), 8191 *
    bitTest(__there, 1))) AS __y_there), (toUInt32(bitXor(bitAnd(__x, 8191), 8191 * bitTest(__there, 0))) AS __x_there)), mortonEncode(__x_there, __y_there)))
    AS c22, t6.`c19` AS c23, t6.`c20` AS c24, t6.`c21` AS c25
FROM (SELECT t2.`hpx29` AS c17, arrayJoin([[0, 1, 3], [1], [1, 2, 5], [3], [], [5], [3, 6, 7], [7], [5, 7, 8]][(toInt8(mortonDecode(2, bitAnd(t2.`hpx29`,
    4294967295)).1 >= 61452) - toInt8(mortonDecode(2, bitAnd(t2.`hpx29`, 4294967295)).1 < 4084)) + 3 * (toInt8(mortonDecode(2, bitAnd(t2.`hpx29`, 4294967295)).2
    >= 61452) - toInt8(mortonDecode(2, bitAnd(t2.`hpx29`, 4294967295)).2 < 4084)) + 5]) AS c18, t2.`id` AS c19, t2.`ra` AS c20, t2.`dec` AS c21
FROM `sky`.`sources` AS t2
WHERE (t2.`hpx29` < 3458764513820540928) AND (mortonDecode(2, bitAnd(t2.`hpx29`, 4294967295)).1 < 4084 OR mortonDecode(2, bitAnd(t2.`hpx29`, 4294967295)).1 >=
    61452 OR mortonDecode(2, bitAnd(t2.`hpx29`, 4294967295)).2 < 4084 OR mortonDecode(2, bitAnd(t2.`hpx29`, 4294967295)).2 >= 61452)) AS t6) AS t7
ON (t5.`c13` = t7.`c22`)
WHERE (abs(t5.`c16` - t7.`c25`) <= 0.0003000000013) AND (pow(sin((t5.`c16` - t7.`c25`) * 0.008726646259971648), 2) + cos(radians(t7.`c25`)) *
    cos(radians(t5.`c16`)) * pow(sin((t5.`c15` % 360. - t7.`c24` % 360.) * 0.008726646259971648), 2) < 6.853891945185285e-12) AND (t5.`c14` < t7.`c23`)
SETTINGS join_algorithm = 'full_sorting_merge')) AS t8) AS t9
SETTINGS enable_join_runtime_filters = 0

-- Nearest neighbours
SELECT o.id, s.id FROM sky.objects AS o JOIN sky.sources AS s ON 1 = skyhouse_nearest(1, POINT(o.ra, o.dec), POINT(s.ra, s.dec), 0.001)
=>
SELECT t6.`c13` AS c1, t6.`c14` AS c2
FROM (SELECT t5.`c10` AS c13, t5.`c11` AS c14
FROM (SELECT t13.`c53` AS c10, t13.`c54` AS c11, toInt64(row_number() OVER (PARTITION BY t13.`c55`
ORDER BY (pow(sin((t13.`c57` - t13.`c59`) * 0.008726646259971648), 2) + cos(radians(t13.`c59`)) * cos(radians(t13.`c57`)) * pow(sin((t13.`c56` % 360. -
    t13.`c58` % 360.) * 0.008726646259971648), 2)) ASC NULLS LAST, t13.`c54` ASC NULLS LAST)) AS c12
FROM (SELECT t12.`c24` AS c53, t12.`c25` AS c54, t12.`c26` AS c55, t12.`c27` AS c56, t12.`c28` AS c57, t12.`c29` AS c58, t12.`c30` AS c59
FROM ((SELECT t8.`c20` AS c24, t7.`c16` AS c25, t8.`c21` AS c26, t8.`c22` AS c27, t8.`c23` AS c28, t7.`c17` AS c29, t7.`c18` AS c30
FROM (SELECT intDiv(t2.`hpx29`, 17179869184) AS c15, t2.`id` AS c16, t2.`ra` AS c17, t2.`dec` AS c18
FROM `sky`.`sources` AS t2
PREWHERE (t2.`hpx29` < 3458764513820540928)) AS t7
INNER JOIN (SELECT intDiv(t1.`hpx29`, 17179869184) AS c19, t1.`id` AS c20, (t1._part_starting_offset + t1._part_offset) AS c21, t1.`ra` AS c22, t1.`dec` AS c23
FROM `sky`.`objects` AS t1
PREWHERE (t1.`hpx29` < 3458764513820540928)) AS t8
ON (t7.`c15` = t8.`c19`)
WHERE (abs(t8.`c23` - t7.`c18`) <= 0.001000000002) AND (pow(sin((t8.`c23` - t7.`c18`) * 0.008726646259971648), 2) + cos(radians(t7.`c18`)) *
    cos(radians(t8.`c23`)) * pow(sin((t8.`c22` % 360. - t7.`c17` % 360.) * 0.008726646259971648), 2) <= 7.615435495347065e-11)
SETTINGS join_algorithm = 'full_sorting_merge')
UNION ALL (SELECT t11.`c42` AS c46, t9.`c32` AS c47, t11.`c43` AS c48, t11.`c44` AS c49, t11.`c45` AS c50, t9.`c33` AS c51, t9.`c34` AS c52
FROM (SELECT intDiv(t2.`hpx29`, 17179869184) AS c31, t2.`id` AS c32, t2.`ra` AS c33, t2.`dec` AS c34
FROM `sky`.`sources` AS t2
WHERE (t2.`hpx29` < 3458764513820540928) AND (mortonDecode(2, bitAnd(t2.`hpx29`, 17179869183)).1 < 13607 OR mortonDecode(2, bitAnd(t2.`hpx29`, 17179869183)).1
    >= 117465 OR mortonDecode(2, bitAnd(t2.`hpx29`, 17179869183)).2 < 13607 OR mortonDecode(2, bitAnd(t2.`hpx29`, 17179869183)).2 >= 117465)) AS t9
INNER JOIN (SELECT (toUInt64(bitShiftRight(([64, 72, 80, 88, 2040, 2040, 2040, 2040, 83, 91, 67, 75, 40, 48, 56, 32, 64, 72, 80, 88, 78, 86, 94, 70, 2040, 2040,
    2040, 2040, 40, 48, 56, 32, 2040, 2040, 2040, 2040, 32, 40, 48, 56, 88, 64, 72, 80, 93, 69, 77, 85, 0, 8, 16, 24, 32, 40, 48, 56, 64, 72, 80, 88, 13, 21,
    29, 5, 0, 8, 16, 24, 40, 48, 56, 32, 2040, 2040, 2040, 2040, 56, 32, 40, 48, 2040, 2040, 2040, 2040, 30, 6, 14, 22, 24, 0, 8, 16, 32, 40, 48, 56, 19, 27, 3,
    11, 2040, 2040, 2040, 2040, 0, 8, 16, 24][(1 + ((toInt32((mortonDecode(2, bitAnd(bitShiftRight(t10.`c35`, 34), 16777215)) AS __place).1) + toInt32(t10.`c36`
    % 3) - 1 AS __x) >= 4096) - (__x < 0) + 3 * (1 + ((toInt32(__place.2) + toInt32(intDiv(t10.`c36`, 3)) - 1 AS __y) >= 4096) - (__y < 0))) * 12 +
    bitShiftRight(t10.`c35`, 58) + 1] AS __there), 3)) * 16777216 + if(bitTest(__there, 2), mortonEncode((toUInt32(bitXor(bitAnd(__y, 4095), 4095 *
    bitTest(__there, 1))) AS __y_there), (toUInt32(bitXor(bitAnd(__x, 4095), 4095 * bitTest(__there, 0))) AS __x_there)), mortonEncode(__x_there, __y_there)))
    AS c41, t10.`c37` AS c42, t10.`c38` AS c43, t10.`c39` AS c44, t10.`c40` AS c45
FROM (SELECT t1.`hpx29` AS c35, arrayJoin([[0, 1, 3], [1], [1, 2, 5], [3], [], [5], [3, 6, 7], [7], [5, 7, 8]][(toInt8(mortonDecode(2, bitAnd(t1.`hpx29`,
    17179869183)).1 >= 117465) - toInt8(mortonDecode(2, bitAnd(t1.`hpx29`, 17179869183)).1 < 13607)) + 3 * (toInt8(mortonDecode(2, bitAnd(t1.`hpx29`,
    17179869183)).2 >= 117465) - toInt8(mortonDecode(2, bitAnd(t1.`hpx29`, 17179869183)).2 < 13607)) + 5]) AS c36, t1.`id` AS c37, (t1._part_starting_offset +
    t1._part_offset) AS c38, t1.`ra` AS c39, t1.`dec` AS c40
FROM `sky`.`objects` AS t1
WHERE (t1.`hpx29` < 3458764513820540928) AND (mortonDecode(2, bitAnd(t1.`hpx29`, 17179869183)).1 < 13607 OR mortonDecode(2, bitAnd(t1.`hpx29`, 17179869183)).1
    >= 117465 OR mortonDecode(2, bitAnd(t1.`hpx29`, 17179869183)).2 < 13607 OR mortonDecode(2, bitAnd(t1.`hpx29`, 17179869183)).2 >= 117465)) AS t10) AS t11
ON (t9.`c31` = t11.`c41`)
WHERE (abs(t11.`c45` - t9.`c34`) <= 0.001000000002) AND (pow(sin((t11.`c45` - t9.`c34`) * 0.008726646259971648), 2) + cos(radians(t9.`c34`)) *
    cos(radians(t11.`c45`)) * pow(sin((t11.`c44` % 360. - t9.`c33` % 360.) * 0.008726646259971648), 2) <= 7.615435495347065e-11)
SETTINGS join_algorithm = 'full_sorting_merge')) AS t12) AS t13) AS t5
WHERE (t5.`c12` <= 1)) AS t6
SETTINGS compile_aggregate_expressions = 0, compile_expressions = 0, enable_join_runtime_filters = 0

-- Mutual nearest neighbours
SELECT o.id, s.id FROM sky.objects AS o JOIN sky.sources AS s ON 1 = skyhouse_mutual(POINT(o.ra, o.dec), POINT(s.ra, s.dec), 0.001)
=>
SELECT t6.`c15` AS c1, t6.`c16` AS c2
FROM (SELECT t5.`c11` AS c15, t5.`c12` AS c16
FROM (SELECT t13.`c59` AS c11, t13.`c60` AS c12, toInt64(row_number() OVER (PARTITION BY t13.`c61`
ORDER BY (pow(sin((t13.`c63` - t13.`c65`) * 0.008726646259971648), 2) + cos(radians(t13.`c65`)) * cos(radians(t13.`c63`)) * pow(sin((t13.`c62` % 360. -
    t13.`c64` % 360.) * 0.008726646259971648), 2)) ASC NULLS LAST, t13.`c60` ASC NULLS LAST)) AS c13, toInt64(row_number() OVER (PARTITION BY t13.`c66`
ORDER BY (pow(sin((t13.`c63` - t13.`c65`) * 0.008726646259971648), 2) + cos(radians(t13.`c65`)) * cos(radians(t13.`c63`)) * pow(sin((t13.`c62` % 360. -
    t13.`c64` % 360.) * 0.008726646259971648), 2)) ASC NULLS LAST, t13.`c59` ASC NULLS LAST)) AS c14
FROM (SELECT t12.`c27` AS c59, t12.`c28` AS c60, t12.`c29` AS c61, t12.`c30` AS c62, t12.`c31` AS c63, t12.`c32` AS c64, t12.`c33` AS c65, t12.`c34` AS c66
FROM ((SELECT t8.`c23` AS c27, t7.`c18` AS c28, t8.`c24` AS c29, t8.`c25` AS c30, t8.`c26` AS c31, t7.`c19` AS c32, t7.`c20` AS c33, t7.`c21` AS c34
FROM (SELECT intDiv(t2.`hpx29`, 17179869184) AS c17, t2.`id` AS c18, t2.`ra` AS c19, t2.`dec` AS c20, (t2._part_starting_offset + t2._part_offset) AS c21
FROM `sky`.`sources` AS t2
PREWHERE (t2.`hpx29` < 3458764513820540928)) AS t7
INNER JOIN (SELECT intDiv(t1.`hpx29`, 17179869184) AS c22, t1.`id` AS c23, (t1._part_starting_offset + t1._part_offset) AS c24, t1.`ra` AS c25, t1.`dec` AS c26
FROM `sky`.`objects` AS t1
PREWHERE (t1.`hpx29` < 3458764513820540928)) AS t8
ON (t7.`c17` = t8.`c22`)
WHERE (abs(t8.`c26` - t7.`c20`) <= 0.001000000002) AND (pow(sin((t8.`c26` - t7.`c20`) * 0.008726646259971648), 2) + cos(radians(t7.`c20`)) *
    cos(radians(t8.`c26`)) * pow(sin((t8.`c25` % 360. - t7.`c19` % 360.) * 0.008726646259971648), 2) <= 7.615435495347065e-11)
SETTINGS join_algorithm = 'full_sorting_merge')
UNION ALL (SELECT t11.`c47` AS c51, t9.`c36` AS c52, t11.`c48` AS c53, t11.`c49` AS c54, t11.`c50` AS c55, t9.`c37` AS c56, t9.`c38` AS c57, t9.`c39` AS c58
FROM (SELECT intDiv(t2.`hpx29`, 17179869184) AS c35, t2.`id` AS c36, t2.`ra` AS c37, t2.`dec` AS c38, (t2._part_starting_offset + t2._part_offset) AS c39
FROM `sky`.`sources` AS t2
WHERE (t2.`hpx29` < 3458764513820540928) AND (mortonDecode(2, bitAnd(t2.`hpx29`, 17179869183)).1 < 13607 OR mortonDecode(2, bitAnd(t2.`hpx29`, 17179869183)).1
    >= 117465 OR mortonDecode(2, bitAnd(t2.`hpx29`, 17179869183)).2 < 13607 OR mortonDecode(2, bitAnd(t2.`hpx29`, 17179869183)).2 >= 117465)) AS t9
INNER JOIN (SELECT (toUInt64(bitShiftRight(([64, 72, 80, 88, 2040, 2040, 2040, 2040, 83, 91, 67, 75, 40, 48, 56, 32, 64, 72, 80, 88, 78, 86, 94, 70, 2040, 2040,
    2040, 2040, 40, 48, 56, 32, 2040, 2040, 2040, 2040, 32, 40, 48, 56, 88, 64, 72, 80, 93, 69, 77, 85, 0, 8, 16, 24, 32, 40, 48, 56, 64, 72, 80, 88, 13, 21,
    29, 5, 0, 8, 16, 24, 40, 48, 56, 32, 2040, 2040, 2040, 2040, 56, 32, 40, 48, 2040, 2040, 2040, 2040, 30, 6, 14, 22, 24, 0, 8, 16, 32, 40, 48, 56, 19, 27, 3,
    11, 2040, 2040, 2040, 2040, 0, 8, 16, 24][(1 + ((toInt32((mortonDecode(2, bitAnd(bitShiftRight(t10.`c40`, 34), 16777215)) AS __place).1) + toInt32(t10.`c41`
    % 3) - 1 AS __x) >= 4096) - (__x < 0) + 3 * (1 + ((toInt32(__place.2) + toInt32(intDiv(t10.`c41`, 3)) - 1 AS __y) >= 4096) - (__y < 0))) * 12 +
    bitShiftRight(t10.`c40`, 58) + 1] AS __there), 3)) * 16777216 + if(bitTest(__there, 2), mortonEncode((toUInt32(bitXor(bitAnd(__y, 4095), 4095 *
    bitTest(__there, 1))) AS __y_there), (toUInt32(bitXor(bitAnd(__x, 4095), 4095 * bitTest(__there, 0))) AS __x_there)), mortonEncode(__x_there, __y_there)))
    AS c46, t10.`c42` AS c47, t10.`c43` AS c48, t10.`c44` AS c49, t10.`c45` AS c50
FROM (SELECT t1.`hpx29` AS c40, arrayJoin([[0, 1, 3], [1], [1, 2, 5], [3], [], [5], [3, 6, 7], [7], [5, 7, 8]][(toInt8(mortonDecode(2, bitAnd(t1.`hpx29`,
    17179869183)).1 >= 117465) - toInt8(mortonDecode(2, bitAnd(t1.`hpx29`, 17179869183)).1 < 13607)) + 3 * (toInt8(mortonDecode(2, bitAnd(t1.`hpx29`,
    17179869183)).2 >= 117465) - toInt8(mortonDecode(2, bitAnd(t1.`hpx29`, 17179869183)).2 < 13607)) + 5]) AS c41, t1.`id` AS c42, (t1._part_starting_offset +
    t1._part_offset) AS c43, t1.`ra` AS c44, t1.`dec` AS c45
FROM `sky`.`objects` AS t1
WHERE (t1.`hpx29` < 3458764513820540928) AND (mortonDecode(2, bitAnd(t1.`hpx29`, 17179869183)).1 < 13607 OR mortonDecode(2, bitAnd(t1.`hpx29`, 17179869183)).1
    >= 117465 OR mortonDecode(2, bitAnd(t1.`hpx29`, 17179869183)).2 < 13607 OR mortonDecode(2, bitAnd(t1.`hpx29`, 17179869183)).2 >= 117465)) AS t10) AS t11
ON (t9.`c35` = t11.`c46`)
WHERE (abs(t11.`c50` - t9.`c38`) <= 0.001000000002) AND (pow(sin((t11.`c50` - t9.`c38`) * 0.008726646259971648), 2) + cos(radians(t9.`c38`)) *
    cos(radians(t11.`c50`)) * pow(sin((t11.`c49` % 360. - t9.`c37` % 360.) * 0.008726646259971648), 2) <= 7.615435495347065e-11)
SETTINGS join_algorithm = 'full_sorting_merge')) AS t12) AS t13) AS t5
WHERE (t5.`c13` <= 1) AND (t5.`c14` <= 1)) AS t6
SETTINGS compile_aggregate_expressions = 0, compile_expressions = 0, enable_join_runtime_filters = 0

-- Chain of matches
SELECT o.id, t.name FROM sky.objects AS o JOIN sky.sources AS s ON DISTANCE(POINT(o.ra, o.dec), POINT(s.ra, s.dec)) < 0.0003 JOIN sky.targets AS t ON DISTANCE(POINT(s.ra, s.dec), POINT(t.ra, t.dec)) < 0.01
=>
SELECT t5.`c11` AS c1, t7.`c29` AS c2
FROM (SELECT t4.`c12` AS c20, t4.`c14` AS c21, t4.`c15` AS c22, t4.`c16` AS c23, t4.`c5` AS c24, t4.`c6` AS c25, t4.`c7` AS c26,
    bitOr(bitOr(bitShiftLeft(toUInt64(floor(ifNotFinite((cos(radians(toFloat64(ifNull(toFloat64(t4.`c6`), nan)))) *
    cos(radians(toFloat64(ifNull(toFloat64(t4.`c5`), nan)) % 360.))) / 0.0006981316999116356, 0.)) + 524288), 40),
    bitShiftLeft(toUInt64(floor(ifNotFinite((cos(radians(toFloat64(ifNull(toFloat64(t4.`c6`), nan)))) * sin(radians(toFloat64(ifNull(toFloat64(t4.`c5`), nan)) %
    360.))) / 0.0006981316999116356, 0.)) + 524288), 20)), toUInt64(floor(ifNotFinite(sin(radians(toFloat64(ifNull(toFloat64(t4.`c6`), nan)))) /
    0.0006981316999116356, 0.)) + 524288)) AS c30, (cos(radians(toFloat64(ifNull(toFloat64(t4.`c6`), nan)))) * cos(radians(toFloat64(ifNull(toFloat64(t4.`c5`),
    nan)) % 360.))) AS c32, (cos(radians(toFloat64(ifNull(toFloat64(t4.`c6`), nan)))) * sin(radians(toFloat64(ifNull(toFloat64(t4.`c5`), nan)) % 360.))) AS c33,
    sin(radians(toFloat64(ifNull(toFloat64(t4.`c6`), nan)))) AS c34
FROM (SELECT t2.`ra` AS c5, t2.`dec` AS c6, t2.`hpx29` AS c7,
    bitOr(bitOr(bitShiftLeft(toUInt64(floor(ifNotFinite((cos(radians(toFloat64(ifNull(toFloat64(t2.`dec`), nan)))) *
    cos(radians(toFloat64(ifNull(toFloat64(t2.`ra`), nan)) % 360.))) / 8.377580409563212e-05, 0.)) + 524288), 40),
    bitShiftLeft(toUInt64(floor(ifNotFinite((cos(radians(toFloat64(ifNull(toFloat64(t2.`dec`), nan)))) * sin(radians(toFloat64(ifNull(toFloat64(t2.`ra`), nan))
    % 360.))) / 8.377580409563212e-05, 0.)) + 524288), 20)), toUInt64(floor(ifNotFinite(sin(radians(toFloat64(ifNull(toFloat64(t2.`dec`), nan)))) /
    8.377580409563212e-05, 0.)) + 524288)) AS c12, (cos(radians(toFloat64(ifNull(toFloat64(t2.`dec`), nan)))) * cos(radians(toFloat64(ifNull(toFloat64(t2.`ra`),
    nan)) % 360.))) AS c14, (cos(radians(toFloat64(ifNull(toFloat64(t2.`dec`), nan)))) * sin(radians(toFloat64(ifNull(toFloat64(t2.`ra`), nan)) % 360.))) AS
    c15, sin(radians(toFloat64(ifNull(toFloat64(t2.`dec`), nan)))) AS c16
FROM `sky`.`sources` AS t2) AS t4) AS t6
INNER JOIN (SELECT t1.`ra` AS c8, t1.`dec` AS c9, t1.`hpx29` AS c10, t1.`id` AS c11,
    bitOr(bitOr(bitShiftLeft(arrayJoin(range(toUInt64(floor(ifNotFinite(((cos(radians(toFloat64(ifNull(toFloat64(t1.`dec`), nan)))) *
    cos(radians(toFloat64(ifNull(toFloat64(t1.`ra`), nan)) % 360.))) - 5.235987755977008e-06 - 1e-12) / 8.377580409563212e-05, 0.)) + 524288),
    toUInt64(floor(ifNotFinite(((cos(radians(toFloat64(ifNull(toFloat64(t1.`dec`), nan)))) * cos(radians(toFloat64(ifNull(toFloat64(t1.`ra`), nan)) % 360.))) +
    5.235987755977008e-06 + 1e-12) / 8.377580409563212e-05, 0.)) + 524288) + 1)), 40),
    bitShiftLeft(arrayJoin(range(toUInt64(floor(ifNotFinite(((cos(radians(toFloat64(ifNull(toFloat64(t1.`dec`), nan)))) *
    sin(radians(toFloat64(ifNull(toFloat64(t1.`ra`), nan)) % 360.))) - 5.235987755977008e-06 - 1e-12) / 8.377580409563212e-05, 0.)) + 524288),
    toUInt64(floor(ifNotFinite(((cos(radians(toFloat64(ifNull(toFloat64(t1.`dec`), nan)))) * sin(radians(toFloat64(ifNull(toFloat64(t1.`ra`), nan)) % 360.))) +
    5.235987755977008e-06 + 1e-12) / 8.377580409563212e-05, 0.)) + 524288) + 1)), 20)),
    arrayJoin(range(toUInt64(floor(ifNotFinite((sin(radians(toFloat64(ifNull(toFloat64(t1.`dec`), nan)))) - 5.235987755977008e-06 - 1e-12) /
    8.377580409563212e-05, 0.)) + 524288), toUInt64(floor(ifNotFinite((sin(radians(toFloat64(ifNull(toFloat64(t1.`dec`), nan)))) + 5.235987755977008e-06 +
    1e-12) / 8.377580409563212e-05, 0.)) + 524288) + 1))) AS c13, (cos(radians(toFloat64(ifNull(toFloat64(t1.`dec`), nan)))) *
    cos(radians(toFloat64(ifNull(toFloat64(t1.`ra`), nan)) % 360.))) AS c17, (cos(radians(toFloat64(ifNull(toFloat64(t1.`dec`), nan)))) *
    sin(radians(toFloat64(ifNull(toFloat64(t1.`ra`), nan)) % 360.))) AS c18, sin(radians(toFloat64(ifNull(toFloat64(t1.`dec`), nan)))) AS c19
FROM `sky`.`objects` AS t1
WHERE (NOT (NOT (isFinite(t1.`ra`)) OR NOT (isFinite(t1.`dec`)))) AND (intDiv(t1.`hpx29`, 68719476736) IN (SELECT arrayJoin(arrayFilter(c -> c < 50331648,
    arrayMap(step -> (toUInt64(bitShiftRight(([64, 72, 80, 88, 2040, 2040, 2040, 2040, 83, 91, 67, 75, 40, 48, 56, 32, 64, 72, 80, 88, 78, 86, 94, 70, 2040,
    2040, 2040, 2040, 40, 48, 56, 32, 2040, 2040, 2040, 2040, 32, 40, 48, 56, 88, 64, 72, 80, 93, 69, 77, 85, 0, 8, 16, 24, 32, 40, 48, 56, 64, 72, 80, 88, 13,
    21, 29, 5, 0, 8, 16, 24, 40, 48, 56, 32, 2040, 2040, 2040, 2040, 56, 32, 40, 48, 2040, 2040, 2040, 2040, 30, 6, 14, 22, 24, 0, 8, 16, 32, 40, 48, 56, 19,
    27, 3, 11, 2040, 2040, 2040, 2040, 0, 8, 16, 24][(1 + ((toInt32((mortonDecode(2, bitAnd(bitShiftRight(t3.`hpx29`, 36), 4194303)) AS __place).1) +
    toInt32(step % 3) - 1 AS __x) >= 2048) - (__x < 0) + 3 * (1 + ((toInt32(__place.2) + toInt32(intDiv(step, 3)) - 1 AS __y) >= 2048) - (__y < 0))) * 12 +
    bitShiftRight(t3.`hpx29`, 58) + 1] AS __there), 3)) * 4194304 + if(bitTest(__there, 2), mortonEncode((toUInt32(bitXor(bitAnd(__y, 2047), 2047 *
    bitTest(__there, 1))) AS __y_there), (toUInt32(bitXor(bitAnd(__x, 2047), 2047 * bitTest(__there, 0))) AS __x_there)), mortonEncode(__x_there, __y_there))),
    range(if(t3.`hpx29` < 3458764513820540928, 9, 0))))) AS c4
FROM `sky`.`targets` AS t3))) AS t5
ON (t6.`c20` = t5.`c13`) AND ((t6.`c21` - t5.`c17`) * (t6.`c21` - t5.`c17`) + (t6.`c22` - t5.`c18`) * (t6.`c22` - t5.`c18`) + (t6.`c23` - t5.`c19`) * (t6.`c23`
    - t5.`c19`) < 2.741556778074114e-11)
INNER JOIN (SELECT t3.`ra` AS c27, t3.`dec` AS c28, t3.`name` AS c29,
    bitOr(bitOr(bitShiftLeft(arrayJoin(range(toUInt64(floor(ifNotFinite(((cos(radians(toFloat64(ifNull(toFloat64(t3.`dec`), nan)))) *
    cos(radians(toFloat64(ifNull(toFloat64(t3.`ra`), nan)) % 360.))) - 0.0001745329249779089 - 1e-12) / 0.0006981316999116356, 0.)) + 524288),
    toUInt64(floor(ifNotFinite(((cos(radians(toFloat64(ifNull(toFloat64(t3.`dec`), nan)))) * cos(radians(toFloat64(ifNull(toFloat64(t3.`ra`), nan)) % 360.))) +
    0.0001745329249779089 + 1e-12) / 0.0006981316999116356, 0.)) + 524288) + 1)), 40),
    bitShiftLeft(arrayJoin(range(toUInt64(floor(ifNotFinite(((cos(radians(toFloat64(ifNull(toFloat64(t3.`dec`), nan)))) *
    sin(radians(toFloat64(ifNull(toFloat64(t3.`ra`), nan)) % 360.))) - 0.0001745329249779089 - 1e-12) / 0.0006981316999116356, 0.)) + 524288),
    toUInt64(floor(ifNotFinite(((cos(radians(toFloat64(ifNull(toFloat64(t3.`dec`), nan)))) * sin(radians(toFloat64(ifNull(toFloat64(t3.`ra`), nan)) % 360.))) +
    0.0001745329249779089 + 1e-12) / 0.0006981316999116356, 0.)) + 524288) + 1)), 20)),
    arrayJoin(range(toUInt64(floor(ifNotFinite((sin(radians(toFloat64(ifNull(toFloat64(t3.`dec`), nan)))) - 0.0001745329249779089 - 1e-12) /
    0.0006981316999116356, 0.)) + 524288), toUInt64(floor(ifNotFinite((sin(radians(toFloat64(ifNull(toFloat64(t3.`dec`), nan)))) + 0.0001745329249779089 +
    1e-12) / 0.0006981316999116356, 0.)) + 524288) + 1))) AS c31, (cos(radians(toFloat64(ifNull(toFloat64(t3.`dec`), nan)))) *
    cos(radians(toFloat64(ifNull(toFloat64(t3.`ra`), nan)) % 360.))) AS c35, (cos(radians(toFloat64(ifNull(toFloat64(t3.`dec`), nan)))) *
    sin(radians(toFloat64(ifNull(toFloat64(t3.`ra`), nan)) % 360.))) AS c36, sin(radians(toFloat64(ifNull(toFloat64(t3.`dec`), nan)))) AS c37
FROM `sky`.`targets` AS t3
WHERE (NOT (NOT (isFinite(t3.`ra`)) OR NOT (isFinite(t3.`dec`))))) AS t7
ON (t6.`c30` = t7.`c31`) AND ((t6.`c32` - t7.`c35`) * (t6.`c32` - t7.`c35`) + (t6.`c33` - t7.`c36`) * (t6.`c33` - t7.`c36`) + (t6.`c34` - t7.`c37`) * (t6.`c34`
    - t7.`c37`) < 3.046174190134438e-08)
WHERE (intDiv(t6.`c26`, 68719476736) IN (SELECT arrayJoin(arrayFilter(c -> c < 50331648, arrayMap(step -> (toUInt64(bitShiftRight(([64, 72, 80, 88, 2040, 2040,
    2040, 2040, 83, 91, 67, 75, 40, 48, 56, 32, 64, 72, 80, 88, 78, 86, 94, 70, 2040, 2040, 2040, 2040, 40, 48, 56, 32, 2040, 2040, 2040, 2040, 32, 40, 48, 56,
    88, 64, 72, 80, 93, 69, 77, 85, 0, 8, 16, 24, 32, 40, 48, 56, 64, 72, 80, 88, 13, 21, 29, 5, 0, 8, 16, 24, 40, 48, 56, 32, 2040, 2040, 2040, 2040, 56, 32,
    40, 48, 2040, 2040, 2040, 2040, 30, 6, 14, 22, 24, 0, 8, 16, 32, 40, 48, 56, 19, 27, 3, 11, 2040, 2040, 2040, 2040, 0, 8, 16, 24][(1 +
    ((toInt32((mortonDecode(2, bitAnd(bitShiftRight(t3.`hpx29`, 36), 4194303)) AS __place).1) + toInt32(step % 3) - 1 AS __x) >= 2048) - (__x < 0) + 3 * (1 +
    ((toInt32(__place.2) + toInt32(intDiv(step, 3)) - 1 AS __y) >= 2048) - (__y < 0))) * 12 + bitShiftRight(t3.`hpx29`, 58) + 1] AS __there), 3)) * 4194304 +
    if(bitTest(__there, 2), mortonEncode((toUInt32(bitXor(bitAnd(__y, 2047), 2047 * bitTest(__there, 1))) AS __y_there), (toUInt32(bitXor(bitAnd(__x, 2047),
    2047 * bitTest(__there, 0))) AS __x_there)), mortonEncode(__x_there, __y_there))), range(if(t3.`hpx29` < 3458764513820540928, 9, 0))))) AS c3
FROM `sky`.`targets` AS t3))
SETTINGS compile_aggregate_expressions = 0, compile_expressions = 0, enable_join_runtime_filters = 0

-- Match that is not a join condition
SELECT o.name FROM sky.targets AS o JOIN sky.targets AS t ON DISTANCE(POINT(o.ra, o.dec), POINT(t.ra, t.dec)) < 0.1 OR o.name = t.name
=>
SELECT t1.`name` AS c1
FROM `sky`.`targets` AS t1
INNER JOIN `sky`.`targets` AS t2
ON (if(isNaN(toFloat64(t1.`ra`) + toFloat64(t1.`dec`) + toFloat64(t2.`ra`) + toFloat64(t2.`dec`)), NULL, (pow(sin((t1.`dec` - t2.`dec`) * 0.008726646259971648),
    2) + cos(radians(t2.`dec`)) * cos(radians(t1.`dec`)) * pow(sin((t1.`ra` % 360. - t2.`ra` % 360.) * 0.008726646259971648), 2) < 7.615433561505986e-07)) OR
    (t1.`name` = t2.`name`))
SETTINGS query_plan_optimize_join_order_limit = 1, query_plan_remove_unused_columns = 0

-- Cluster: look-up by id
SELECT ra, dec FROM sky.objects WHERE id = 4711
=>
SELECT t1.`ra` AS c1, t1.`dec` AS c2
FROM `sky`.`objects` AS t1
WHERE (t1.`id` = 4711)
SETTINGS distributed_product_mode = deny, min_table_rows_to_use_projection_index = 8192, optimize_skip_unused_shards = 1, preferred_optimize_projection_name =
    by_id

-- Cluster: cone
SELECT id FROM sky.objects WHERE 1 = CONTAINS(POINT(ra, dec), CIRCLE(100.5, -33.2, 0.002))
=>
SELECT t1.`id` AS c1
FROM `sky`.`objects` AS t1
WHERE (t1.`__shard` IN (2)) AND (intDiv(t1.`hpx29`, 1073741824) IN (2600013566, 2600013567, 2600013738, 2600019028, 2600019029, 2600019030)) AND
    (pow(sin((t1.`dec` - (-33.2)) * 0.008726646259971648), 2) + 0.8367643134589616 * cos(radians(t1.`dec`)) * pow(sin((t1.`ra` % 360. - 100.5) *
    0.008726646259971648), 2) <= 3.046174197732314e-10)
SETTINGS distributed_product_mode = deny, optimize_skip_unused_shards = 1

-- Cluster: groups
SELECT class, COUNT(*) FROM sky.objects GROUP BY class
=>
SELECT t1.`class` AS c1, toInt64(count()) AS c2
FROM `sky`.`objects` AS t1
GROUP BY t1.`class`
SETTINGS distributed_product_mode = deny, optimize_skip_unused_shards = 1

-- Cluster: match within the overlap
SELECT o.id, s.id FROM sky.objects AS o JOIN sky.sources AS s ON DISTANCE(POINT(o.ra, o.dec), POINT(s.ra, s.dec)) < 0.01
=>
SELECT t4.`c8` AS c1, t3.`c5` AS c2
FROM cluster('skyhouse', view(SELECT t1.`ra` AS c6, t1.`dec` AS c7, t1.`id` AS c8,
    bitOr(bitOr(bitShiftLeft(arrayJoin(range(toUInt64(floor(ifNotFinite(((cos(radians(toFloat64(ifNull(toFloat64(t1.`dec`), nan)))) *
    cos(radians(toFloat64(ifNull(toFloat64(t1.`ra`), nan)) % 360.))) - 0.0001745329249779089 - 1e-12) / 0.0006981316999116356, 0.)) + 524288),
    toUInt64(floor(ifNotFinite(((cos(radians(toFloat64(ifNull(toFloat64(t1.`dec`), nan)))) * cos(radians(toFloat64(ifNull(toFloat64(t1.`ra`), nan)) % 360.))) +
    0.0001745329249779089 + 1e-12) / 0.0006981316999116356, 0.)) + 524288) + 1)), 40),
    bitShiftLeft(arrayJoin(range(toUInt64(floor(ifNotFinite(((cos(radians(toFloat64(ifNull(toFloat64(t1.`dec`), nan)))) *
    sin(radians(toFloat64(ifNull(toFloat64(t1.`ra`), nan)) % 360.))) - 0.0001745329249779089 - 1e-12) / 0.0006981316999116356, 0.)) + 524288),
    toUInt64(floor(ifNotFinite(((cos(radians(toFloat64(ifNull(toFloat64(t1.`dec`), nan)))) * sin(radians(toFloat64(ifNull(toFloat64(t1.`ra`), nan)) % 360.))) +
    0.0001745329249779089 + 1e-12) / 0.0006981316999116356, 0.)) + 524288) + 1)), 20)),
    arrayJoin(range(toUInt64(floor(ifNotFinite((sin(radians(toFloat64(ifNull(toFloat64(t1.`dec`), nan)))) - 0.0001745329249779089 - 1e-12) /
    0.0006981316999116356, 0.)) + 524288), toUInt64(floor(ifNotFinite((sin(radians(toFloat64(ifNull(toFloat64(t1.`dec`), nan)))) + 0.0001745329249779089 +
    1e-12) / 0.0006981316999116356, 0.)) + 524288) + 1))) AS c10, (cos(radians(toFloat64(ifNull(toFloat64(t1.`dec`), nan)))) *
    cos(radians(toFloat64(ifNull(toFloat64(t1.`ra`), nan)) % 360.))) AS c14, (cos(radians(toFloat64(ifNull(toFloat64(t1.`dec`), nan)))) *
    sin(radians(toFloat64(ifNull(toFloat64(t1.`ra`), nan)) % 360.))) AS c15, sin(radians(toFloat64(ifNull(toFloat64(t1.`dec`), nan)))) AS c16
FROM `sky`.`objects__local` AS t1
WHERE (5 = 5) AND (NOT (NOT (isFinite(t1.`ra`)) OR NOT (isFinite(t1.`dec`)))))) AS t4
INNER JOIN (SELECT t2.`ra` AS c3, t2.`dec` AS c4, t2.`id` AS c5,
    bitOr(bitOr(bitShiftLeft(toUInt64(floor(ifNotFinite((cos(radians(toFloat64(ifNull(toFloat64(t2.`dec`), nan)))) *
    cos(radians(toFloat64(ifNull(toFloat64(t2.`ra`), nan)) % 360.))) / 0.0006981316999116356, 0.)) + 524288), 40),
    bitShiftLeft(toUInt64(floor(ifNotFinite((cos(radians(toFloat64(ifNull(toFloat64(t2.`dec`), nan)))) * sin(radians(toFloat64(ifNull(toFloat64(t2.`ra`), nan))
    % 360.))) / 0.0006981316999116356, 0.)) + 524288), 20)), toUInt64(floor(ifNotFinite(sin(radians(toFloat64(ifNull(toFloat64(t2.`dec`), nan)))) /
    0.0006981316999116356, 0.)) + 524288)) AS c9, (cos(radians(toFloat64(ifNull(toFloat64(t2.`dec`), nan)))) * cos(radians(toFloat64(ifNull(toFloat64(t2.`ra`),
    nan)) % 360.))) AS c11, (cos(radians(toFloat64(ifNull(toFloat64(t2.`dec`), nan)))) * sin(radians(toFloat64(ifNull(toFloat64(t2.`ra`), nan)) % 360.))) AS
    c12, sin(radians(toFloat64(ifNull(toFloat64(t2.`dec`), nan)))) AS c13
FROM `sky`.`sources__margin` AS t2) AS t3
ON (t3.`c9` = t4.`c10`) AND ((t3.`c11` - t4.`c14`) * (t3.`c11` - t4.`c14`) + (t3.`c12` - t4.`c15`) * (t3.`c12` - t4.`c15`) + (t3.`c13` - t4.`c16`) * (t3.`c13` -
    t4.`c16`) < 3.046174190134438e-08)
SETTINGS distributed_product_mode = deny, enable_join_runtime_filters = 0, optimize_skip_unused_shards = 1

-- Cluster: match beyond the overlap
SELECT o.id, s.id FROM sky.objects AS o JOIN sky.sources AS s ON DISTANCE(POINT(o.ra, o.dec), POINT(s.ra, s.dec)) < 0.2
=>
SELECT t4.`c8` AS c1, t3.`c5` AS c2
FROM cluster('skyhouse', view(SELECT t2.`ra` AS c3, t2.`dec` AS c4, t2.`id` AS c5,
    bitOr(bitOr(bitShiftLeft(toUInt64(floor(ifNotFinite((cos(radians(toFloat64(ifNull(toFloat64(t2.`dec`), nan)))) *
    cos(radians(toFloat64(ifNull(toFloat64(t2.`ra`), nan)) % 360.))) / 0.0034906567317966176, 0.)) + 524288), 40),
    bitShiftLeft(toUInt64(floor(ifNotFinite((cos(radians(toFloat64(ifNull(toFloat64(t2.`dec`), nan)))) * sin(radians(toFloat64(ifNull(toFloat64(t2.`ra`), nan))
    % 360.))) / 0.0034906567317966176, 0.)) + 524288), 20)), toUInt64(floor(ifNotFinite(sin(radians(toFloat64(ifNull(toFloat64(t2.`dec`), nan)))) /
    0.0034906567317966176, 0.)) + 524288)) AS c9, (cos(radians(toFloat64(ifNull(toFloat64(t2.`dec`), nan)))) * cos(radians(toFloat64(ifNull(toFloat64(t2.`ra`),
    nan)) % 360.))) AS c11, (cos(radians(toFloat64(ifNull(toFloat64(t2.`dec`), nan)))) * sin(radians(toFloat64(ifNull(toFloat64(t2.`ra`), nan)) % 360.))) AS
    c12, sin(radians(toFloat64(ifNull(toFloat64(t2.`dec`), nan)))) AS c13
FROM `sky`.`sources__local` AS t2
WHERE (5 = 5))) AS t3
GLOBAL
INNER JOIN (SELECT t1.`ra` AS c6, t1.`dec` AS c7, t1.`id` AS c8,
    bitOr(bitOr(bitShiftLeft(arrayJoin(range(toUInt64(floor(ifNotFinite(((cos(radians(toFloat64(ifNull(toFloat64(t1.`dec`), nan)))) *
    cos(radians(toFloat64(ifNull(toFloat64(t1.`ra`), nan)) % 360.))) - 0.0034906567317966176 - 1e-12) / 0.0034906567317966176, 0.)) + 524288),
    toUInt64(floor(ifNotFinite(((cos(radians(toFloat64(ifNull(toFloat64(t1.`dec`), nan)))) * cos(radians(toFloat64(ifNull(toFloat64(t1.`ra`), nan)) % 360.))) +
    0.0034906567317966176 + 1e-12) / 0.0034906567317966176, 0.)) + 524288) + 1)), 40),
    bitShiftLeft(arrayJoin(range(toUInt64(floor(ifNotFinite(((cos(radians(toFloat64(ifNull(toFloat64(t1.`dec`), nan)))) *
    sin(radians(toFloat64(ifNull(toFloat64(t1.`ra`), nan)) % 360.))) - 0.0034906567317966176 - 1e-12) / 0.0034906567317966176, 0.)) + 524288),
    toUInt64(floor(ifNotFinite(((cos(radians(toFloat64(ifNull(toFloat64(t1.`dec`), nan)))) * sin(radians(toFloat64(ifNull(toFloat64(t1.`ra`), nan)) % 360.))) +
    0.0034906567317966176 + 1e-12) / 0.0034906567317966176, 0.)) + 524288) + 1)), 20)),
    arrayJoin(range(toUInt64(floor(ifNotFinite((sin(radians(toFloat64(ifNull(toFloat64(t1.`dec`), nan)))) - 0.0034906567317966176 - 1e-12) /
    0.0034906567317966176, 0.)) + 524288), toUInt64(floor(ifNotFinite((sin(radians(toFloat64(ifNull(toFloat64(t1.`dec`), nan)))) + 0.0034906567317966176 +
    1e-12) / 0.0034906567317966176, 0.)) + 524288) + 1))) AS c10, (cos(radians(toFloat64(ifNull(toFloat64(t1.`dec`), nan)))) *
    cos(radians(toFloat64(ifNull(toFloat64(t1.`ra`), nan)) % 360.))) AS c14, (cos(radians(toFloat64(ifNull(toFloat64(t1.`dec`), nan)))) *
    sin(radians(toFloat64(ifNull(toFloat64(t1.`ra`), nan)) % 360.))) AS c15, sin(radians(toFloat64(ifNull(toFloat64(t1.`dec`), nan)))) AS c16
FROM `sky`.`objects` AS t1
WHERE (NOT (NOT (isFinite(t1.`ra`)) OR NOT (isFinite(t1.`dec`))))) AS t4
ON (t3.`c9` = t4.`c10`) AND ((t3.`c11` - t4.`c14`) * (t3.`c11` - t4.`c14`) + (t3.`c12` - t4.`c15`) * (t3.`c12` - t4.`c15`) + (t3.`c13` - t4.`c16`) * (t3.`c13` -
    t4.`c16`) < 1.2184684419237043e-05)
SETTINGS distributed_product_mode = deny, enable_join_runtime_filters = 0, optimize_skip_unused_shards = 1

-- Cluster: objects with their sources
SELECT o.id, s.flux FROM sky.objects AS o JOIN sky.sources AS s ON s.object = o.id
=>
SELECT t1.`id` AS c1, t2.`flux` AS c2
FROM `sky`.`objects` AS t1
INNER JOIN `sky`.`sources__local` AS t2
ON (t2.`object` = t1.`id`)
SETTINGS distributed_product_mode = deny, optimize_skip_unused_shards = 1

-- Cluster: join with a whole table
SELECT o.id, b.nm FROM sky.objects AS o JOIN sky.bands AS b ON b.name = o.class
=>
SELECT t1.`id` AS c1, t2.`nm` AS c2
FROM `sky`.`objects` AS t1
INNER JOIN `sky`.`bands` AS t2
ON (t2.`name` = t1.`class`)
WHERE (t1.`class` GLOBAL IN (SELECT t2.`name` AS c3
FROM `sky`.`bands` AS t2))
SETTINGS distributed_product_mode = deny, min_table_rows_to_use_projection_index = 8192, optimize_skip_unused_shards = 1

-- Cluster: IN of a subquery
SELECT id FROM sky.objects WHERE id IN (SELECT object FROM sky.sources WHERE flux > 100)
=>
SELECT t1.`id` AS c2
FROM `sky`.`objects` AS t1
WHERE (t1.`id` GLOBAL IN (SELECT accurateCast(t2.`object`, 'Nullable(Int64)') AS c1
FROM `sky`.`sources` AS t2
WHERE (t2.`flux` > 100)))
SETTINGS distributed_product_mode = deny, optimize_skip_unused_shards = 1
