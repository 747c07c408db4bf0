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

const NVIDIA = { name: 'an NVIDIA GPU', libraries: 'cuda' }
const VULKAN_LOADER = { 'usr/lib/x86_64-linux-gnu/libvulkan.so.1': '' }

it('finds an NVIDIA GPU by its driver, those of AMD and Intel by their vendor, and no others', () => {
  const root = createRoot({
    ...VULKAN_LOADER,
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

it('finds an NVIDIA GPU by its device where the driver is not seen: in a container, in the Linux of Windows', () => {
  expect(findSeenGpus(createRoot({ 'dev/nvidia0': '', 'dev/nvidiactl': '' }))).toEqual([NVIDIA])
  expect(findSeenGpus(createRoot({ 'usr/lib/wsl/lib/libcuda.so.1': '' }))).toEqual([NVIDIA])
  expect(findSeenGpus(createRoot({ 'dev/nvidiactl': '' }))).toEqual([])
})

it('finds no GPU for Vulkan where its loader is missing, nor a display adapter of a virtual machine', () => {
  expect(findSeenGpus(createRoot({ 'sys/class/drm/renderD128/device/vendor': '0x1002\n' }))).toEqual([])
  const adapters = { 'renderD128/device/vendor': '0x1af4\n', 'renderD129/device/vendor': '0x1234\n' }
  const files = Object.entries(adapters).map(([name, vendor]) => [`sys/class/drm/${name}`, vendor])
  expect(findSeenGpus(createRoot({ ...VULKAN_LOADER, ...Object.fromEntries(files) }))).toEqual([])
})

it('finds none where there is none', () => {
  expect(findSeenGpus(createRoot({}))).toEqual([])
})
