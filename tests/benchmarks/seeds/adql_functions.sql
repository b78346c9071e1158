-- ADQL's functions in DuckDB, as far as the workloads use them. Angles in degrees.
CREATE MACRO sky_distance(ra1, dec1, ra2, dec2) AS degrees(2 * asin(least(1, sqrt(
    pow(sin(radians(dec2 - dec1) / 2), 2) + cos(radians(dec1)) * cos(radians(dec2)) * pow(sin(radians(ra2 - ra1) / 2), 2)))));
CREATE MACRO flux_to_ab_mag(flux) AS CASE WHEN flux > 0 THEN -2.5 * log10(flux) - 48.6 END;
CREATE MACRO nano_to_ab_mag(flux) AS CASE WHEN flux > 0 THEN -2.5 * log10(flux) + 31.4 END;
CREATE MACRO nano_to_ab_mag_sigma(flux, err) AS CASE WHEN flux > 0 AND err >= 0 THEN 2.5 / ln(10) * err / flux END;
CREATE MACRO in_circle(p, c) AS (sky_distance(p[1], p[2], c[1], c[2]) <= c[3])::INT;
CREATE MACRO in_circle_of_numbers(ra, dec, lon, lat, radius) AS (sky_distance(ra, dec, lon, lat) <= radius)::INT;
