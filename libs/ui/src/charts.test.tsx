import { render, screen } from '@testing-library/react';
import { LineChart, pathOf } from './line-chart.tsx';
import { Meter } from './meter.tsx';
import { ScatterPlot } from './scatter-plot.tsx';

describe('a line', () => {
  it('jumps over a gap and never leaves the box', () => {
    expect(pathOf([0, 50, null, 200], 100, 102)).toBe('M0.0 101.0L200.0 51.0M600.0 1.0');
  });

  it('says each last value in words', () => {
    render(
      <LineChart
        label="tokens"
        series={[
          { label: 'acme', values: [1, 7, null] },
          { label: 'globex', values: [null] },
        ]}
        format={String}
        left="2 min ago"
        right="now"
      />,
    );
    expect(screen.getByRole('img').getAttribute('aria-label')).toBe('tokens: acme 7, globex –');
  });
});

describe('a meter', () => {
  it('fills at most whole, while its words tell the true figure, and a warning has a hatch of its own', () => {
    const { container } = render(<Meter label="slots" value={300} max={200} text="300 of 200" />);
    expect(container.querySelector<HTMLElement>('.meter-fill')?.style.width).toBe('100%');
    expect(container.querySelector('.meter-fill')?.classList.contains('bad')).toBe(true);
    expect(screen.getByRole('meter').getAttribute('aria-valuetext')).toBe('300 of 200');
  });
});

describe('a scatter plot', () => {
  it('names every point beside it and reads the figures aloud', () => {
    render(
      <ScatterPlot
        label="arms"
        xLabel="cost"
        yLabel="quality"
        points={[
          { label: 'small', x: 1, y: 0.5, on: true },
          { label: 'large', x: 1, y: 0.5, yError: 0.1, on: false },
        ]}
        formatX={String}
        formatY={String}
      />,
    );
    expect(screen.getByText('small')).toBeTruthy();
    expect(screen.getByRole('img').getAttribute('aria-label')).toBe(
      'arms: small quality 0.5 at cost 1; large quality 0.5 at cost 1',
    );
    expect(document.querySelector('circle')?.getAttribute('cx')).toMatch(/^\d/);
  });
});
