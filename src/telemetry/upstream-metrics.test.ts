import { Registry } from 'prom-client'
import { expect, it } from 'vitest'
import { UpstreamMetrics } from './upstream-metrics.ts'

it('keep no series of an endpoint that is gone, nor of what it answers afterwards', async () => {
  const metrics = new UpstreamMetrics()
  const registry = new Registry()
  for (const metric of metrics.all) registry.registerMetric(metric)
  const observer = metrics.of('m')
  const open = (endpoint: string) => observer.onOpen(endpoint, () => ({ takesWork: true, outstanding: 0 }))
  const seriesOf = async (endpoint: string) =>
    (await registry.metrics()).split(`endpoint="${endpoint}"`).length - 1
  open('http://a')
  const closers = [open('http://b'), open('http://b')]
  for (const endpoint of ['http://a', 'http://b']) observer.onAnswer(endpoint, 'answered', 1)
  const count = await seriesOf('http://a')
  expect(count).toBeGreaterThan(10)

  closers[0]?.()
  // Another one of the same address is open.
  expect(await seriesOf('http://b')).toBe(count)
  closers[1]?.()
  observer.onAnswer('http://b', 'failed', 1)

  expect(await seriesOf('http://b')).toBe(0)
  expect(await seriesOf('http://a')).toBe(count)
})
