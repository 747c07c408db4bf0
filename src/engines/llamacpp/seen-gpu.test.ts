import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { findSeenGpus } from './seen-gpu.ts'

/** A file system with these files. */
function createRoot(files: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(path.join(tmpdir(), 'sluice-gpu-'))
  onTestFinished(() => rmSync(root, { recursive: true }))
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(root, name)), { recursive: true })
    writeFileSync(path.join(root, name), text)
  }
  return root
}

it('finds an NVIDIA GPU by its driver, those of AMD and Intel by their vendor, and no others', () => {
  const root = createRoot({
    'proc/driver/nvidia/gpus/0000:01:00.0/information': 'Model: \t\t NVIDIA H100 80GB HBM3\nIRQ: 1\n',
    'sys/class/drm/renderD128/device/vendor': '0x10de\n',
    'sys/class/drm/renderD129/device/vendor': '0x1002\n',
    'sys/class/drm/renderD130/device/vendor': '0x1af4\n',
    'sys/class/drm/card0/device/vendor': '0x8086\n',
  })
  expect(findSeenGpus(root)).toEqual([
    { name: 'NVIDIA H100 80GB HBM3', libraries: 'cuda' },
    { name: 'a GPU of AMD', libraries: 'vulkan' },
  ])
})

it('finds none where there is none', () => {
  expect(findSeenGpus(createRoot({}))).toEqual([])
})
