import { mkdtempSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { sayOk, ScriptedEngine } from '../../../test/support/engines/scripted-engine.ts'
import { until } from '../../../test/support/until.ts'
import { touchWhileOpen } from './artifact-manifest.ts'

const HOUR_MS = 3600 * 1000
let folder = ''
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'sluice-use-'))
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
})
afterEach(() => {
  vi.useRealTimers()
  rmSync(folder, { recursive: true })
})

it('touches the cache entry of an engine each hour until the engine is closed', async () => {
  const key = 'a'.repeat(64)
  const manifest = path.join(folder, `${key}.json`)
  writeFileSync(manifest, '{}')
  const long = new Date(0)
  utimesSync(manifest, long, long)
  const engine = touchWhileOpen(new ScriptedEngine(sayOk), path.join(folder, `${key}.gguf`))
  vi.advanceTimersByTime(HOUR_MS)
  await until('the manifest is touched', () => statSync(manifest).mtimeMs !== 0)
  await engine.close()
  expect(vi.getTimerCount()).toBe(0)
})
