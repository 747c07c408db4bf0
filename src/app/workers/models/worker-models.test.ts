import { expect, it } from 'vitest'
import { ScriptedEngine } from '../../../../test/support/engines/scripted-engine.ts'
import { RenderThread } from '../../../models/chat/render-thread.ts'
import { withResolvers } from '../../../core/concurrency/with-resolvers.ts'
import type { ModelsTable } from './models-table.ts'
import { WorkerModels } from './worker-models.ts'

it('a worker opens the upstreams of a table at the same time, and goes by it once all are open', async () => {
  const answers = withResolvers<void>()
  const opening: string[] = []
  const models = new WorkerModels({
    channel: { call: async () => {}, cast: () => {} } as never,
    renderThread: new RenderThread(),
    aliases: new Map(),
    openEngine: async ({ modelId }) => {
      opening.push(modelId)
      await answers.promise
      return { engine: new ScriptedEngine(async function* () {}), update: () => {} }
    },
  })
  const ids = ['a', 'b', 'c']
  const table = {
    versions: ids.map((modelId, version) => ({ version, modelId, toolFormat: 'auto', hasBeams: false })),
    rows: ids.map((id, version) => ({ record: { id }, isRegistered: true, waitsForLoad: false, version })),
    ...{ defaultId: 'a', whyNotReady: null, servedClasses: [], usageLost: null },
  } as unknown as ModelsTable

  const taking = models.take(table, new Map())
  await new Promise((resolve) => setImmediate(resolve))
  expect([opening, models.list()]).toEqual([ids, []])
  answers.resolve()
  await taking
  expect(models.list().map(({ id }) => id)).toEqual(ids)
  await models.close()
})
