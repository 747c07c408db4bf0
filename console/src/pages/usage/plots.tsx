/** Plots over time that one can point at, or step through with the arrow keys; the table below says the same in words. */
import { useEffect, useRef, useState } from 'preact/hooks'
import uPlot from 'uplot'
import type { UsageRow } from '../../api/types.ts'
import { formatMs, formatNumber, formatShort } from '../../format.ts'
import { theme } from '../../theme.ts'
import { type StepTimes, TIMES } from './times.ts'

interface Line {
  readonly label: string
  readonly color: '--accent' | '--warn' | '--danger'
  /** Null leaves a gap. */
  readonly value: (row: UsageRow) => number | null
}

interface PlotProps {
  readonly title: string
  readonly rows: readonly UsageRow[]
  readonly times: StepTimes
  readonly lines: readonly Line[]
  readonly format: (value: number) => string
  /** The least step between two marks of the axis. @default any */
  readonly leastStep?: number
}

interface PlotsProps {
  readonly rows: readonly UsageRow[]
  /** What each row counts. */
  readonly bucket: 'hour' | 'day'
}

export function Plots({ rows, bucket }: PlotsProps) {
  const times = TIMES[bucket]
  return (
    <div class="plots">
      <Plot
        title="Requests"
        rows={rows}
        times={times}
        leastStep={1}
        format={formatNumber}
        lines={[{ label: 'requests', color: '--accent', value: (row) => row.requests }]}
      />
      <Plot
        title="Tokens"
        rows={rows}
        times={times}
        leastStep={1}
        format={formatShort}
        lines={[
          { label: 'in', color: '--accent', value: (row) => row.tokens_in },
          { label: 'out', color: '--warn', value: (row) => row.tokens_out },
        ]}
      />
      <Plot
        title="Latency"
        rows={rows}
        times={times}
        format={formatMs}
        lines={[
          { label: 'p50', color: '--accent', value: (row) => row.p50_response_ms },
          { label: 'p95', color: '--warn', value: (row) => row.p95_response_ms },
        ]}
      />
      <Plot
        title="Errors"
        rows={rows}
        times={times}
        leastStep={1}
        format={formatNumber}
        lines={[{ label: 'errors', color: '--danger', value: (row) => row.errors }]}
      />
    </div>
  )
}

function Plot({ title, leastStep = 0, ...given }: PlotProps) {
  const { rows, lines } = given
  const place = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot | null>(null)
  const [at, setAt] = useState<number | null>(null)
  const currentTheme = theme.value
  useEffect(() => {
    const { current } = place
    if (current === null) return
    const made = draw(current, { ...given, leastStep, onPoint: setAt })
    plot.current = made
    const observer = new ResizeObserver(() => made.setSize({ width: current.clientWidth, height: HEIGHT }))
    observer.observe(current)
    return () => {
      observer.disconnect()
      made.destroy()
    }
  }, [rows, lines.length, currentTheme])
  const step = (by: number) => setAt(Math.min(rows.length - 1, Math.max(0, (at ?? rows.length) + by)))
  const row = at === null ? undefined : rows[at]
  return (
    <figure class="card plot">
      <figcaption class="row apart">
        <h2>{title}</h2>
        <span class="small muted plot-value" aria-live="polite">
          {row === undefined ? lines.map(({ label }) => label).join(' and ') : describe(row, given)}
        </span>
      </figcaption>
      <div
        ref={place}
        class="chart-box"
        role="slider"
        tabIndex={0}
        aria-label={`${title} over time; the arrow keys read its points`}
        aria-valuemin={0}
        aria-valuemax={rows.length - 1}
        aria-valuenow={at ?? rows.length - 1}
        aria-valuetext={describe(row ?? rows.at(-1), given)}
        onKeyDown={(event) => {
          if (event.key === 'ArrowLeft') step(-1)
          else if (event.key === 'ArrowRight') step(1)
          else return
          event.preventDefault()
        }}
      />
    </figure>
  )
}

type Wording = Pick<PlotProps, 'times' | 'lines' | 'format'>

function describe(row: UsageRow | undefined, { times, lines, format }: Wording): string {
  if (row === undefined) return ''
  const values = lines.map(({ label, value }) => `${toTextOrNone(value(row), format)} ${label}`).join(', ')
  return `${times.full(row.bucket_start ?? 0)}: ${values}`
}

const toTextOrNone = (value: number | null, format: PlotProps['format']) =>
  value === null ? 'no' : format(value)

const HEIGHT = 200
/** Up to so many points of a line are marked. */
const MAX_MARKED = 8
/** The same where the line has gaps: a point between two of them is nothing else. */
const MAX_MARKED_BETWEEN_GAPS = 30
/** Between two marks of an axis. */
const STEPS = Array.from({ length: 16 }, (_, power) =>
  [1, 2, 5].map((step) => step * 10 ** (power - 3)),
).flat()

interface Drawing extends Required<Omit<PlotProps, 'title'>> {
  readonly onPoint: (index: number | null) => void
}

function draw(place: HTMLElement, { rows, times, lines, format, leastStep, onPoint }: Drawing): uPlot {
  const color = (name: string) => resolveColor(place, name)
  const [grid, text] = [color('--line'), color('--muted')]
  const font = `12px ${getComputedStyle(place).fontFamily}`
  const axis = { stroke: text, font, grid: { stroke: grid, width: 1 }, ticks: { show: false } }
  const bars = uPlot.paths.bars?.({ size: [0.7, 40] })
  const options: uPlot.Options = {
    width: place.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    ...(times === TIMES.day && { tzDate: toUtcDate }),
    cursor: { y: false, drag: { x: false, y: false } },
    padding: [8, 8, 0, 0],
    scales: {
      // Half a step on each side: a bar stands on the middle of its own.
      x: { range: (_, min, max) => [min - stepOf(rows) / 2, max + stepOf(rows) / 2] },
      y: { range: (_, __, max) => [0, Math.max(1, max * 1.1)] },
    },
    axes: [
      { ...axis, size: 28, space: 64, values: (_, marked) => marked.map(times.mark) },
      {
        ...axis,
        size: 58,
        incrs: STEPS.filter((step) => step >= leastStep),
        values: (_, values) => values.map((value) => format(value)),
      },
    ],
    series: [
      {},
      ...lines.map(({ label, color: name, value }) => ({
        label,
        stroke: color(name),
        width: lines.length === 1 ? 0 : 2,
        points: { show: marksPoints(rows.map(value)) },
        ...(lines.length === 1 &&
          bars !== undefined && { paths: bars, fill: color(name), points: { show: false } }),
      })),
    ],
    hooks: { setCursor: [({ cursor: { idx } }) => onPoint(idx ?? null)] },
  }
  const starts = rows.map(({ bucket_start: start }) => start ?? 0)
  return new uPlot(options, [starts, ...lines.map(({ value }) => rows.map(value))], place)
}

/** So that the marks of days stand at their beginning, and not at that of the reader's. */
const toUtcDate = (unixSeconds: number) => uPlot.tzDate(new Date(unixSeconds * 1000), 'Etc/UTC')

function marksPoints(values: readonly (number | null)[]): boolean {
  const known = values.filter((value) => value !== null).length
  return known <= (known < values.length ? MAX_MARKED_BETWEEN_GAPS : MAX_MARKED)
}

function stepOf([first, second]: readonly UsageRow[]): number {
  return (second?.bucket_start ?? 0) - (first?.bucket_start ?? 0)
}

/** A canvas knows no custom properties. */
function resolveColor(place: HTMLElement, name: string): string {
  const probe = document.createElement('span')
  probe.style.color = `var(${name})`
  place.append(probe)
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}
