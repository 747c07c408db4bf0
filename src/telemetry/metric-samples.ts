/**
 * The values behind a text of metrics: what a page shows of a service is read from what its metrics say, so the two never
 * disagree, and a service of several processes is read as one. Reads what this server writes, not every exposition.
 */

export interface MetricSample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

const LINE = /^(\w+)(?:\{(.*)\})? (\S+)$/
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g

const ESCAPED: Readonly<Record<string, string>> = { n: '\n' }

export function parseMetrics(text: string): readonly MetricSample[] {
  return text.split('\n').flatMap((line) => {
    const [, name, labels = '', value] = LINE.exec(line) ?? []
    if (name === undefined) return []
    const pairs = Array.from(labels.matchAll(LABEL), ([, label = '', given = '']) => [
      label,
      given.replaceAll(/\\(.)/g, (_, character: string) => ESCAPED[character] ?? character),
    ])
    return [{ name, labels: Object.fromEntries(pairs) as Record<string, string>, value: Number(value) }]
  })
}
