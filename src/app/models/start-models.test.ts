import { expect, it } from 'vitest'
import { resolveConfig } from '../../config/resolve.ts'
import { modelsOf } from './start-models.ts'

it.each([
  ['checkpoint', { checkpoint: '/models/first.gguf' }],
  ['upstream', { upstream: ['http://127.0.0.1:9'], upstreamKey: 'a-key', modelId: 'first' }],
])('models must not name the id of the %s', (what, first) => {
  const models = [{ id: 'first', checkpoint: '/models/other.gguf' }]
  const config = resolveConfig({ file: { path: 'sluice.yaml', values: { ...first, models } } })
  expect(() => modelsOf(config)).toThrow(
    expect.objectContaining({
      message: `models must not name the id 'first', which is that of the ${what}.`,
      exitCode: 2,
    }),
  )
})
