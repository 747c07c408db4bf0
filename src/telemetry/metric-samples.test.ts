import { expect, it } from 'vitest'
import { parseMetrics } from './metric-samples.ts'

it('reads names, labels and values, and leaves comments out', () => {
  const text = [
    '# HELP sluice_ready 1 while the default model can take work.',
    'sluice_ready 1',
    String.raw`sluice_model_state{model="org/a \"b\" \\ {c}",state="ready"} 1`,
    String.raw`sluice_slots{model="a\nb"} 2`,
    'process_cpu_seconds_total 0.25',
    'sluice_odd NaN',
    '',
  ].join('\n')

  expect(parseMetrics(text)).toEqual([
    { name: 'sluice_ready', labels: {}, value: 1 },
    { name: 'sluice_model_state', labels: { model: String.raw`org/a "b" \ {c}`, state: 'ready' }, value: 1 },
    { name: 'sluice_slots', labels: { model: 'a\nb' }, value: 2 },
    { name: 'process_cpu_seconds_total', labels: {}, value: 0.25 },
    { name: 'sluice_odd', labels: {}, value: Number.NaN },
  ])
})
