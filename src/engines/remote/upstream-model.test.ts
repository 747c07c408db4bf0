import { expect, it } from 'vitest'
import { readUpstreamModel } from './upstream-model.ts'

it('knows a model of more parameters and bytes than a count of tokens may have', () => {
  const meta = { n_params: 7_000_000_000, size: 15_000_000_000 }
  const answer = { data: [{ id: 'm', meta }] }
  expect(readUpstreamModel(answer, 'm')).toMatchObject({ parameters: meta.n_params, sizeBytes: meta.size })
})
