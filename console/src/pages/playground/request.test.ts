import { expect, it } from 'vitest'
import { buildRequest } from './request.ts'
import { DEFAULT_SETTINGS } from './settings.ts'

it('sends the numbers that were typed, and none that is not one yet', () => {
  const numbers = { temperature: '1.05', presence_penalty: '-0.5', seed: '7', top_k: '', min_p: '-' }
  const { request } = buildRequest({ ...DEFAULT_SETTINGS, numbers }, { model: 'demo', turns: [] })
  expect(request).toEqual({
    ...{ model: 'demo', messages: [] },
    ...{ temperature: 1.05, presence_penalty: -0.5, seed: 7 },
  })
})

it('sends the numbers of a conversation that holds them as numbers', () => {
  const settings = JSON.parse(JSON.stringify({ ...DEFAULT_SETTINGS, numbers: { top_p: 0.9 } }))
  expect(buildRequest(settings, { model: 'demo', turns: [] }).request).toMatchObject({ top_p: 0.9 })
})
