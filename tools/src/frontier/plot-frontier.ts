import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { risingHull, type FrontierPoint } from '@sluice/routing';
import type { TableFrontier } from './frontier.ts';

const WIDTH = 760;
const HEIGHT = 460;
const LEFT = 70;
const RIGHT = 36;
const TOP = 56;
const BOTTOM = 60;

interface Axes {
  x(cost: number): number;
  y(quality: number): number;
}

/** Writes an SVG of each table's frontier into the folder and gives their paths. */
export function plotFrontiers(frontiers: readonly TableFrontier[], folder: string): string[] {
  mkdirSync(folder, { recursive: true });
  return frontiers.map((frontier) => {
    const path = join(folder, `frontier-${frontier.name.toLowerCase().replaceAll(' ', '-')}.svg`);
    writeFileSync(path, frontierSvg(frontier));
    return path;
  });
}

/**
 * The frontier on the test folds with the hull of single models, a random mix, the oracle and the chosen point;
 * costs relative to the best model's.
 */
export function frontierSvg({ name, test, chosen, promised }: TableFrontier): string {
  const unit = test.best.cost;
  const dearest = Math.max(1, ...test.singles.map(({ cost }) => cost / unit));
  const oracle = test.oraclePoints;
  const best = Math.max(...oracle.map(({ quality }) => quality));
  const cheapest = test.singles.reduce((least, point) => (point.cost < least.cost ? point : least));
  const lowest = Math.min(cheapest.quality, ...test.points.map(({ quality }) => quality));
  const from = Math.floor(lowest * 20 - 0.5) / 20;
  const to = Math.ceil(best * 20) / 20;
  const axes: Axes = {
    x: (cost) => LEFT + (cost / unit / dearest) * (WIDTH - LEFT - RIGHT),
    y: (quality) => TOP + ((to - quality) / (to - from)) * (HEIGHT - TOP - BOTTOM),
  };
  const line = (points: readonly FrontierPoint[], style: string): string =>
    `<polyline fill="none" ${style} points="${[...new Set(points.map(({ cost, quality }) => `${axes.x(cost).toFixed(1)},${axes.y(quality).toFixed(1)}`))].join(' ')}"/>`;
  const shown = test.singles.filter(({ quality }) => quality >= from);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="system-ui, sans-serif" font-size="13" role="img" aria-label="Cost and quality of ${name}">`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#ffffff"/>`,
    `<text x="${LEFT}" y="24" font-size="16" font-weight="600" fill="#1a1a1a">${name}: quality for its cost, ${test.rows} held-out prompts</text>`,
    ...grid(axes, from, to, dearest),
    line(risingHull(oracle), 'stroke="#8a8a8a" stroke-width="1.5" stroke-dasharray="2 4"'),
    line([cheapest, test.best], 'stroke="#c77700" stroke-width="1.5" stroke-dasharray="7 4"'),
    line(risingHull(test.singles), 'stroke="#7a4fbf" stroke-width="1.5"'),
    line(
      [...test.points].sort((a, b) => a.cost - b.cost),
      'stroke="#0b6bcb" stroke-width="2.5"',
    ),
    ...shown.map(
      ({ cost, quality }) =>
        `<circle cx="${axes.x(cost).toFixed(1)}" cy="${axes.y(quality).toFixed(1)}" r="4" fill="#7a4fbf"/>`,
    ),
    ...(chosen === undefined ? [] : [pointMark(axes, chosen.test, 'chosen', -44)]),
    ...(promised === undefined ? [] : [pointMark(axes, promised.test, 'promised', 76)]),
    ...legend(),
    '</svg>',
    '',
  ].join('\n');
}

function grid(axes: Axes, from: number, to: number, dearest: number): string[] {
  const parts: string[] = [];
  const steps = Math.round((to - from) / 0.05);
  const every = steps > 8 ? 2 : 1;
  for (let i = 0; i <= steps; i += every) {
    const quality = from + i * 0.05;
    const y = axes.y(quality).toFixed(1);
    parts.push(
      `<line x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${y}" y2="${y}" stroke="#e6e6e6"/>`,
      `<text x="${LEFT - 8}" y="${Number(y) + 4}" text-anchor="end" fill="#444444">${quality.toFixed(2)}</text>`,
    );
  }
  for (let share = 0; share <= 5; share += 1) {
    const x = LEFT + (share / 5) * (WIDTH - LEFT - RIGHT);
    parts.push(
      `<text x="${x.toFixed(1)}" y="${HEIGHT - BOTTOM + 20}" text-anchor="middle" fill="#444444">${Math.round(share * 20 * dearest)} %</text>`,
    );
  }
  parts.push(
    `<text x="${(LEFT + WIDTH - RIGHT) / 2}" y="${HEIGHT - 14}" text-anchor="middle" fill="#1a1a1a">mean cost, share of the best single model's</text>`,
  );
  parts.push(
    `<text transform="translate(18 ${(TOP + HEIGHT - BOTTOM) / 2}) rotate(-90)" text-anchor="middle" fill="#1a1a1a">mean quality</text>`,
  );
  return parts;
}

function pointMark(
  axes: Axes,
  { cost, quality, saved, loss }: { cost: number; quality: number; saved: number; loss: number },
  name: string,
  down: number,
): string {
  const [x, y] = [axes.x(cost), axes.y(quality)];
  return `<circle cx="${x.toFixed(1)}" cy="${y.toFixed(1)}" r="6" fill="#ffffff" stroke="#0b6bcb" stroke-width="2.5"/><text x="${(x + 6).toFixed(1)}" y="${(y + down).toFixed(1)}" fill="#0b6bcb" font-weight="600">${name}: ${(saved * 100).toFixed(0)} % saved, ${loss.toFixed(3)} lost</text>`;
}

function legend(): string[] {
  const entries: [string, string, string][] = [
    ['router', '#0b6bcb', ''],
    ['hull of single models', '#7a4fbf', ''],
    ['random mix', '#c77700', 'stroke-dasharray="7 4"'],
    ['oracle', '#8a8a8a', 'stroke-dasharray="2 4"'],
  ];
  let x = LEFT;
  return entries.flatMap(([text, colour, dash]) => {
    const part = [
      `<line x1="${x}" x2="${x + 26}" y1="40" y2="40" stroke="${colour}" stroke-width="2.5" ${dash}/>`,
      `<text x="${x + 32}" y="44" fill="#1a1a1a">${text}</text>`,
    ];
    x += 60 + text.length * 7;
    return part;
  });
}
