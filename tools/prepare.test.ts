import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { withLock } from './lock.mjs'
import { isInstalled, prepare } from './prepare.mjs'

type Packages = Readonly<Record<string, Readonly<Record<string, unknown>>>>

function createFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'sluice-prepare-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

function createClone({ wanted, present }: { wanted: Packages; present: Packages | null }): string {
  const root = createFolder()
  writeFileSync(path.join(root, 'package-lock.json'), JSON.stringify({ packages: { '': {}, ...wanted } }))
  if (present === null) return root
  mkdirSync(path.join(root, 'node_modules'))
  writeFileSync(path.join(root, 'node_modules', '.package-lock.json'), JSON.stringify({ packages: present }))
  return root
}

describe('isInstalled', () => {
  const a = { 'node_modules/a': { version: '1.0.0' } }

  it('is false in a fresh clone', () => {
    expect(isInstalled(createClone({ wanted: a, present: null }))).toBe(false)
  })

  it('is true when every package is there in its version, however it came', () => {
    expect(isInstalled(createClone({ wanted: a, present: a }))).toBe(true)
  })

  it('is false when a package is missing or of another version', () => {
    const b = { 'node_modules/b': { version: '2.0.0', dev: true } }
    expect(isInstalled(createClone({ wanted: { ...a, ...b }, present: a }))).toBe(false)
    expect(isInstalled(createClone({ wanted: a, present: { 'node_modules/a': { version: '1.0.1' } } }))).toBe(
      false,
    )
  })

  it('wants optional packages only where they are made for this machine', () => {
    const here = { version: '1.0.0', optional: true, os: [process.platform], cpu: [process.arch] }
    const elsewhere = { version: '1.0.0', optional: true, os: ['plan9'], cpu: [process.arch] }
    const unbound = { version: '1.0.0', optional: true }
    expect(isInstalled(createClone({ wanted: { ...a, 'node_modules/x': here }, present: a }))).toBe(false)
    expect(isInstalled(createClone({ wanted: { ...a, 'node_modules/x': elsewhere }, present: a }))).toBe(true)
    expect(isInstalled(createClone({ wanted: { ...a, 'node_modules/x': unbound }, present: a }))).toBe(true)
  })
})

describe('prepare', () => {
  it('installs in a dry run of npm too, whose option the environment hands on', async () => {
    const root = createClone({ wanted: {}, present: null })
    const npm = path.join(root, 'npm.js')
    writeFileSync(
      npm,
      "console.error('npm error called with ' + process.argv.slice(2).join(' ')); process.exit(1)",
    )
    vi.stubEnv('npm_execpath', npm)
    vi.stubEnv('npm_config_dry_run', 'true')
    onTestFinished(() => void vi.unstubAllEnvs())
    await expect(prepare({ root })).rejects.toThrow(/called with ci .*--dry-run=false/)
  })
})

describe('withLock', () => {
  it('lets one in at a time and gives the result back', async () => {
    const folder = createFolder()
    let inside = 0
    let most = 0
    const work = async () => {
      inside += 1
      most = Math.max(most, inside)
      await new Promise((resolve) => setImmediate(resolve))
      inside -= 1
      return 'done'
    }
    expect(await Promise.all([withLock(folder, work), withLock(folder, work)])).toEqual(['done', 'done'])
    expect(most).toBe(1)
  })

  it('is free again when the work fails', async () => {
    const folder = createFolder()
    const failing = () => Promise.reject(new Error('failed'))
    await expect(withLock(folder, failing)).rejects.toThrow('failed')
    expect(await withLock(folder, () => Promise.resolve(1))).toBe(1)
  })
})
