import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { renderMetricsDocs } from './metrics-docs.mjs'

it('has what is there with every option: Redis, PostgreSQL, TLS and remote models', () => {
  const docs = renderMetricsDocs()
  for (const name of [
    'redis_up',
    'database_up',
    'certificate_expiry_timestamp_seconds',
    'upstream_up',
    'slots',
  ])
    expect(docs).toMatch(new RegExp(`^\\| \`sluice_${name}\` \\| gauge \\| \\S`, 'm'))
  expect(docs).toMatch(/^\| `sluice_model_state` .* \| `model`, `state` \|$/m)
})

it('docs/metrics.md is what `npm run docs` gives', () => {
  expect(readFileSync(new URL('../../docs/metrics.md', import.meta.url), 'utf8')).toBe(renderMetricsDocs())
})
