/** The world as paths of an SVG: the outlines of countries, and where a point of the globe is drawn. */
import { geoNaturalEarth1, geoPath } from 'd3-geo';
import { feature, mesh } from 'topojson-client';
import type { GeometryCollection, Topology } from 'topojson-specification';
import outlines from '#countries';

export const width = 960;
export const height = 480;

type Outlines = Topology<{ countries: GeometryCollection; land: GeometryCollection }>;
const topology = outlines as unknown as Outlines;
const projection = geoNaturalEarth1().fitExtent(
  [
    [4, 4],
    [width - 4, height - 4],
  ],
  { type: 'Sphere' },
);
const path = geoPath(projection).digits(1);

export const sphere = path({ type: 'Sphere' }) ?? '';
export const land = path(feature(topology, topology.objects.land)) ?? '';
export const borders = path(mesh(topology, topology.objects.countries, (a, b) => a !== b)) ?? '';

/** Where a point is drawn. */
export function drawn(latitude: number, longitude: number): { x: number; y: number } | undefined {
  const at = projection([longitude, latitude]);
  return at ? { x: at[0], y: at[1] } : undefined;
}
