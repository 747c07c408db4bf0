import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { completeConfig } from '../../config/resolve.ts'
import { gpuLibraries, hasGpuLibraries } from '../../engines/llamacpp/ffi/library-packages.ts'
import { adviseGpu } from './gpu-advice.ts'

/** A machine with an NVIDIA GPU. */
function createRoot(): string {
  const root = mkdtempSync(path.join(tmpdir(), 'sluice-gpu-'))
  onTestFinished(() => rmSync(root, { recursive: true }))
  const folder = path.join(root, 'proc/driver/nvidia/gpus/0000:01:00.0')
  mkdirSync(folder, { recursive: true })
  writeFileSync(path.join(folder, 'information'), 'Model: \t NVIDIA L4\n')
  return root
}

const advise = (options: Parameters<typeof completeConfig>[0], root = createRoot()) =>
  adviseGpu(completeConfig(options), root)

/** What this machine's own packages allow: nothing is missing where they are installed or there are none. */
const missing = hasGpuLibraries() ? null : gpuLibraries('cuda')
const sentence = missing && `NVIDIA L4 is not used; its libraries are missing: ${missing.command}`

it('a start tells of a GPU whose libraries are missing, with the line that installs them', () => {
  expect(advise({ checkpoint: 'demo' })).toBe(sentence)
  expect(advise({ models: [{ id: 'm', checkpoint: 'demo' }] })).toBe(sentence)
  if (missing !== null) {
    expect(missing.command).toMatch(/^npm install (--no-save )?@node-llama-cpp\/[a-z0-9-]+-cuda@3\.22\.1$/)
  }
})

it('a start tells of none where it is not wanted, no model of its own is served, or there is none', () => {
  expect(advise({ checkpoint: 'demo', gpu: 'off' })).toBeNull()
  expect(advise({ checkpoint: 'demo', gpuLayers: 0 })).toBeNull()
  expect(advise({})).toBeNull()
  expect(advise({ upstream: ['http://127.0.0.1:1/v1'] })).toBeNull()
  expect(advise({ checkpoint: 'demo' }, '/no/such/root')).toBeNull()
})
