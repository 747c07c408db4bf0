import { Counter, Registry } from 'prom-client'
import { describe, expect, it } from 'vitest'
import { withResolvers } from '../../core/concurrency/with-resolvers.ts'
import type { MetricValues } from '../../telemetry/metrics.ts'
import { ServiceMetrics } from './service-metrics.ts'

async function counted(count: number): Promise<MetricValues> {
  const registry = new Registry()
  new Counter({ name: 'x_total', help: 'X.', registers: [registry] }).inc(count)
  return await registry.getMetricsAsJSON()
}

const workerOf = (answer: () => unknown) => ({ channel: { call: answer } }) as never
const totalIn = (text: string): number => Number(/^x_total (\d+)$/m.exec(text)?.[1])

describe('the metrics of a service with workers', () => {
  it('count a worker once that ends while others are asked', async () => {
    const metrics = new ServiceMetrics({ values: () => counted(0) })
    const slow = withResolvers<MetricValues>()
    const [first, second] = [workerOf(() => counted(100)), workerOf(() => slow.promise)]

    const rendering = metrics.render([first, second])
    await metrics.read(first)
    metrics.end(first)
    slow.resolve(await counted(10))

    expect(totalIn(await rendering)).toBe(110)
    expect(totalIn(await metrics.render([]))).toBe(100)
  })

  it('lose none of many that have ended, however often they are asked for', async () => {
    const metrics = new ServiceMetrics({ values: () => counted(0) })
    for (let i = 0; i < 20; i++) {
      const worker = workerOf(() => counted(1))
      await metrics.read(worker)
      metrics.end(worker)
    }
    const texts = await Promise.all(Array.from({ length: 3 }, () => metrics.render([])))
    expect([...texts, await metrics.render([])].map(totalIn)).toEqual([20, 20, 20, 20])
  })
})
