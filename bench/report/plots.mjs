// @ts-check
/** Draws figures as SVG: panels of bars, or lines, each with the range of its rounds. */

/** @typedef {import('./statistics.mjs').Range} Range */
/** @typedef {{ label: string, series: string, range: Range }} Bar */
/** @typedef {{ title: string, unit: string, bars: Bar[] }} Panel */
/** @typedef {{ series: string, points: { x: number, range: Range }[] }} Line */
/** @typedef {{ title: string, unit: string, xLabel: string, lines: Line[], isLogarithmic: boolean }} LinePlot */

const WIDTH = 880
const LABEL_WIDTH = 260
const VALUE_WIDTH = 200
const BAR_HEIGHT = 18
const BAR_STEP = 24
const TITLE_HEIGHT = 30
const MARGIN = 14
const COLOURS = ['#2f6fb5', '#c9732c', '#7a8793', '#3f8f5b', '#8a5aa8', '#b04a5a']

/** @param {Panel[]} panels @param {(figure: number) => string} format */
export function drawBars(panels, format) {
  const colours = colourOf(panels.flatMap(({ bars }) => bars.map(({ series }) => series)))
  const parts = []
  let y = MARGIN
  for (const { title, unit, bars } of panels) {
    const most = Math.max(...bars.map(({ range }) => range.max)) || 1
    const toX = (/** @type {number} */ figure) =>
      LABEL_WIDTH + (figure / most) * (WIDTH - LABEL_WIDTH - VALUE_WIDTH)
    parts.push(text(MARGIN, y + 14, unit === '' ? title : `${title}, ${unit}`, 'font-weight="bold"'))
    y += TITLE_HEIGHT
    for (const { label, series, range } of bars) {
      const middle = y + BAR_HEIGHT / 2
      parts.push(
        text(LABEL_WIDTH - 8, middle + 4, label, 'text-anchor="end"'),
        `<rect x="${LABEL_WIDTH}" y="${y}" width="${round(toX(range.median) - LABEL_WIDTH)}" height="${BAR_HEIGHT}" fill="${colours.get(series)}"/>`,
        ...whisker({ from: [toX(range.min), middle], to: [toX(range.max), middle] }),
        text(toX(range.max) + 8, middle + 4, describeRange(range, format)),
      )
      y += BAR_STEP
    }
    y += MARGIN
  }
  return svg(y, parts)
}

/** One below the other, lower where there are several. @param {LinePlot[]} plots @param {(figure: number) => string} format */
export function drawLines(plots, format) {
  const height = plots.length === 1 ? 240 : 140
  const drawn = plots.map((plot, index) => drawLinePlot(plot, { y: index * (height + 106), height, format }))
  return svg(plots.length * (height + 106), drawn.flat())
}

/** @param {LinePlot} plot @param {{ y: number, height: number, format: (figure: number) => string }} options */
function drawLinePlot({ title, unit, xLabel, lines, isLogarithmic }, { y, height, format }) {
  const [left, right, top, bottom] = [70, WIDTH - 170, y + 50, y + 50 + height]
  const colours = colourOf(lines.map(({ series }) => series))
  const points = lines.flatMap((line) => line.points)
  const most = roundUp(Math.max(...points.map(({ range }) => range.max)) || 1)
  const xs = [...new Set(points.map(({ x }) => x))].toSorted((a, b) => a - b)
  // Nothing has no logarithm: it stands one power of ten before the first that has.
  const nothing = Math.log((xs.find((x) => x > 0) ?? 1) / 10)
  const place = (/** @type {number} */ x) => (isLogarithmic ? (x === 0 ? nothing : Math.log(x)) : x)
  const [first, last] = [place(xs[0] ?? 0), place(xs.at(-1) ?? 1)]
  const toX = (/** @type {number} */ x) => left + ((place(x) - first) / (last - first || 1)) * (right - left)
  const toY = (/** @type {number} */ figure) => bottom - (figure / most) * (bottom - top)
  const grid = [0, 0.25, 0.5, 0.75, 1].flatMap((part) => [
    `<line x1="${left}" x2="${right}" y1="${round(toY(part * most))}" y2="${round(toY(part * most))}" stroke="#d8dde2"/>`,
    text(left - 8, toY(part * most) + 4, format(part * most), 'text-anchor="end"'),
  ])
  const ticks = xs.map((x) => text(toX(x), bottom + 18, x.toLocaleString('en-US'), 'text-anchor="middle"'))
  const drawn = lines.flatMap(({ series, points: own }, index) => {
    const colour = colours.get(series) ?? ''
    const path = own.map(({ x, range }) => `${round(toX(x))},${round(toY(range.median))}`).join(' ')
    return [
      `<polyline points="${path}" fill="none" stroke="${colour}" stroke-width="2"/>`,
      ...own.flatMap(({ x, range }) => [
        `<circle cx="${round(toX(x))}" cy="${round(toY(range.median))}" r="3.5" fill="${colour}"/>`,
        ...whisker({ from: [toX(x), toY(range.min)], to: [toX(x), toY(range.max)] }),
      ]),
      `<rect x="${right + 16}" y="${top + index * 22}" width="12" height="12" fill="${colour}"/>`,
      text(right + 34, top + 11 + index * 22, series),
    ]
  })
  const heading = text(MARGIN, y + 28, unit === '' ? title : `${title}, ${unit}`, 'font-weight="bold"')
  const axis = text((left + right) / 2, bottom + 40, xLabel, 'text-anchor="middle"')
  return [heading, ...grid, ...ticks, axis, ...drawn]
}

/** @param {Range} range @param {(figure: number) => string} format */
export function describeRange({ median, min, max }, format) {
  return min === max ? format(median) : `${format(median)} (${format(min)} to ${format(max)})`
}

/** @param {string[]} series */
function colourOf(series) {
  return new Map([...new Set(series)].map((name, index) => [name, COLOURS[index % COLOURS.length]]))
}

/** @param {{ from: [number, number], to: [number, number] }} ends */
function whisker({ from: [x1, y1], to: [x2, y2] }) {
  if (x1 === x2 && y1 === y2) return []
  const [dx, dy] = y1 === y2 ? [0, 4] : [4, 0]
  const segments = [
    [x1, y1, x2, y2],
    [x1 - dx, y1 - dy, x1 + dx, y1 + dy],
    [x2 - dx, y2 - dy, x2 + dx, y2 + dy],
  ]
  const path = segments.map(
    ([a = 0, b = 0, c = 0, d = 0]) => `M${round(a)} ${round(b)}L${round(c)} ${round(d)}`,
  )
  return [`<path d="${path.join('')}" stroke="#222b33" fill="none"/>`]
}

/** @param {number} x @param {number} y @param {string} content @param {string} [attributes] */
function text(x, y, content, attributes = '') {
  const escaped = content.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
  return `<text x="${round(x)}" y="${round(y)}" ${attributes}>${escaped}</text>`
}

/** @param {number} height @param {string[]} parts */
function svg(height, parts) {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="system-ui, sans-serif" font-size="13" fill="#222b33">`,
    `<rect width="${WIDTH}" height="${height}" fill="#ffffff"/>`,
    ...parts,
    '</svg>',
    '',
  ].join('\n')
}

/** To a number whose quarters are easily read. @param {number} figure */
function roundUp(figure) {
  const unit = 10 ** Math.floor(Math.log10(figure))
  return ([1, 2, 4, 6, 8].find((times) => times * unit >= figure) ?? 10) * unit
}

/** @param {number} figure */
function round(figure) {
  return Math.round(figure * 10) / 10
}
