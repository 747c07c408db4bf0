import { mkdtempSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { sayOk, ScriptedEngine } from '../../test/support/engines/scripted-engine.ts'
import { until } from '../../test/support/until.ts'
import { keepInUse } from './keep-in-use.ts'

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

it('marks the file of an engine each hour until the engine is closed', async () => {
  const key = 'a'.repeat(64)
  const note = path.join(folder, `${key}.json`)
  writeFileSync(note, '{}')
  const long = new Date(0)
  utimesSync(note, long, long)
  const engine = keepInUse(new ScriptedEngine(sayOk), path.join(folder, `${key}.gguf`))
  vi.advanceTimersByTime(HOUR_MS)
  await until('the note is marked', () => statSync(note).mtimeMs !== 0)
  await engine.close()
  expect(vi.getTimerCount()).toBe(0)
})
