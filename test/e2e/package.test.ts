/** The package as an application imports it: by its name, from what was built. */
import * as sluice from 'sluice'
import * as light from 'sluice/light'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from '../support/servers/server-process.ts'

describe('the package', () => {
  it('exports these names and no others', () => {
    expect(Object.keys(sluice).sort()).toEqual([
      'ContinuousBatchScheduler',
      'ModelRegistry',
      'ServiceError',
      'StartError',
      'VirtualClock',
      'createServer',
      'systemClock',
    ])
    expect(Object.keys(light).sort()).toEqual([
      'DEFAULT_PUBLIC_PATHS',
      'ServiceError',
      'StartError',
      'createLightServer',
    ])
  })

  it('schedules requests of the interface shape', () => {
    const scheduler = new sluice.ContinuousBatchScheduler({
      maxBatchSize: 2,
      maxSeqLen: 128,
      schedulePolicy: 'fcfs',
    })
    scheduler.add({ ids: [1, 2, 3], reqId: 1, maxNewTokens: 1 })
    expect(scheduler.plan()?.runs).toMatchObject([{ slotId: 0, position: 0, wantsToken: true }])
    expect(scheduler.update({ tokenIds: [9] }).at(-1)).toEqual({
      type: 'sequence-end',
      reqId: 1,
      finishReason: 'length',
    })
  })

  it('starts a server from code and takes it down again', async () => {
    const dataDir = temporaryFolder()
    const server = await sluice.createServer({ port: 0, apiKeys: ['secret'], logLevel: 'silent', dataDir })
    try {
      const response = await fetch(`${server.address}/v1/generate`, {
        method: 'POST',
        headers: { authorization: 'Bearer secret', 'content-type': 'application/json' },
        body: JSON.stringify({ prompt: 'echo' }),
      })
      expect(await response.json()).toMatchObject({ generated_text: 'echo', model: 'default' })
    } finally {
      await server.close()
    }
    await expect(fetch(`${server.address}/v1/health`)).rejects.toThrow('fetch failed')
  })

  it('refuses an option that does not exist', async () => {
    // @ts-expect-error: the compiler refuses it too
    await expect(sluice.createServer({ prot: 1 })).rejects.toThrow(/prot/)
  })
})
