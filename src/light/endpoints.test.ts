import { expect, it } from 'vitest'
import { VirtualClock } from '../core/clock.ts'
import type { ModelRecord } from '../models/model-record.ts'
import { OPEN_POLICY } from '../protocol/model-policy.ts'
import { Endpoints } from './endpoints.ts'

const FAILED: ModelRecord = {
  id: 'm',
  createdUnixSeconds: 1.5,
  state: 'failed',
  loadFraction: 0.5,
  failure: "'/srv/secret/m.gguf' is cut off.",
  info: null,
  outline: null,
  replicas: { all: 2, ready: 1 },
  engineDeaths: 0,
  prefixCacheBytes: 0,
  preemptions: 0,
  quantization: 'none',
  policy: OPEN_POLICY,
  baseId: null,
  isPinned: false,
  lastUsedUnixSeconds: null,
}

it('shows of a model that failed neither the folders of its files nor less than the full server does', () => {
  const models = {
    list: () => [FAILED],
    get: () => FAILED,
    generate: () => Promise.reject(new Error('not asked for')),
    close: async () => {},
  }
  const endpoints = new Endpoints({ models, clock: new VirtualClock(), startedMs: 0, isClosing: () => false })

  expect(endpoints.getModel('m')).toMatchObject({
    meta: { failure: "'m.gguf' is cut off.", replicas: 2, replicas_ready: 1 },
  })
})
