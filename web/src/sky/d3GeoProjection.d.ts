/** The part of d3-geo-projection that is used: the package has no types. */
declare module 'd3-geo-projection' {
    import type { GeoProjection, GeoRawProjection } from 'd3-geo';
    export function geoHammer(): GeoProjection;
    export function geoHammerRaw(a: number, b: number): GeoRawProjection & Required<Pick<GeoRawProjection, 'invert'>>;
}
