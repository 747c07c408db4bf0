import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { usageEntry } from '../../../test/support/servers/usage-databases.ts'
import { whenUnused } from '../../../test/support/shared.ts'
import { type UsageBatch, UsageFile } from './usage-file.ts'

function newLocation(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'sluice-usage-file-'))
  whenUnused(() => rmSync(folder, { recursive: true, force: true }))
  return path.join(folder, 'waiting.jsonl')
}

async function openFile(location = newLocation(), maxBytes?: number): Promise<UsageFile> {
  const file = await UsageFile.open(location, maxBytes)
  whenUnused(() => file.close())
  return file
}

const batch = (id: string): UsageBatch => ({
  id,
  createdAtUnixSeconds: 1_700_000_000.25,
  entries: [usageEntry({ keyId: id })],
})

/** Of some 600 KB. */
const longBatch = (id: string): UsageBatch => ({
  ...batch(id),
  entries: Array.from({ length: 2000 }, () => usageEntry({ keyId: id, model: 'é'.repeat(99) })),
})

/** Empties the file; gives what was written, in groups of ids. */
async function writtenFrom(file: UsageFile): Promise<readonly (readonly string[])[]> {
  const groups: string[][] = []
  await file.empty(async (batches) => void groups.push(batches.map(({ id }) => id)))
  return groups
}

describe('UsageFile', () => {
  it('gives back what it was given, once, also in the next run', async () => {
    const location = newLocation()
    const first = await UsageFile.open(location)
    expect(await Promise.all([first.append(batch('a')), first.append(batch('b'))])).toEqual([true, true])
    await first.close()
    expect(statSync(location).mode & 0o777).toBe(0o600)

    const second = await openFile(location)
    const written: UsageBatch[] = []
    await second.empty(async (batches) => void written.push(...batches))
    expect(written).toEqual([batch('a'), batch('b')])
    expect(second.isEmpty).toBe(true)
    expect(await writtenFrom(second)).toEqual([])
    expect(readFileSync(location, 'utf8')).toBe('')
  })

  it('keeps everything when the writing fails, and what comes after it', async () => {
    const file = await openFile()
    await file.append(batch('a'))
    await expect(file.empty(() => Promise.reject(new Error('away')))).rejects.toThrow('away')
    await file.append(batch('b'))

    expect(file.isEmpty).toBe(false)
    expect(await writtenFrom(file)).toEqual([['a', 'b']])
  })

  it('loses nothing that comes while it is emptied', async () => {
    const file = await openFile()
    await file.append(batch('a'))
    const appending: Promise<boolean>[] = []
    await file.empty(async () => void appending.push(file.append(batch('b'))))
    await Promise.all(appending)

    expect(await writtenFrom(file)).toEqual([['b']])
  })

  it('takes what comes while it is emptied, without a wait for the writing, and keeps it', async () => {
    const file = await openFile()
    await file.append(batch('a'))
    await file.empty(async () => {
      expect(await file.append(batch('b'))).toBe(true)
    })

    expect(file.isEmpty).toBe(false)
    expect(await writtenFrom(file)).toEqual([['b']])
    expect(file.isEmpty).toBe(true)
  })

  it('is emptied once for all that ask at a time, and then of what came meanwhile', async () => {
    const file = await openFile()
    await file.append(batch('a'))
    const write = vi.fn().mockRejectedValueOnce(new Error('away')).mockResolvedValue(undefined)
    const atOnce = () => Promise.allSettled([file.empty(write), file.empty(write)])

    expect((await atOnce()).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(write).toHaveBeenCalledTimes(1)

    const later = file.append(batch('b')).then(atOnce)
    await Promise.all([atOnce(), later])
    expect(write.mock.calls.slice(1).flatMap(([batches]) => batches)).toEqual([batch('a'), batch('b')])
    expect(file.isEmpty).toBe(true)
  })

  it('gives batches that are longer than what is read at a time, with their neighbours', async () => {
    const file = await openFile()
    const given = [batch('a'), longBatch('b'), batch('c'), longBatch('d'), batch('e')]
    for (const each of given) await file.append(each)
    const written: UsageBatch[] = []
    await file.empty(async (batches) => void written.push(...batches))

    expect(written).toEqual(given)
    expect(file.isEmpty).toBe(true)
  })

  it('reads a piece after the other, and in the same run none again that was written', async () => {
    const file = await openFile()
    for (const id of ['a', 'b', 'c']) await file.append(longBatch(id))
    const write = vi.fn().mockResolvedValueOnce(undefined).mockRejectedValueOnce(new Error('away'))
    await expect(file.empty(write)).rejects.toThrow('away')
    await file.append(batch('d'))

    expect((await writtenFrom(file)).flat()).toEqual(['b', 'c', 'd'])
    expect(file.isEmpty).toBe(true)
  })

  it('leaves out a line that a crash cut off, and no other', async () => {
    const location = newLocation()
    const first = await UsageFile.open(location)
    await first.append(batch('a'))
    await first.close()
    appendFileSync(location, JSON.stringify(batch('cut off')).slice(0, 40))
    const second = await openFile(location)
    await second.append(batch('b'))

    expect(await writtenFrom(second)).toEqual([['a', 'b']])
  })

  it('takes no more than its bytes, and is full until it was emptied', async () => {
    const location = newLocation()
    const lineBytes = JSON.stringify(batch('a')).length + 2
    const file = await openFile(location, 2 * lineBytes)

    expect([await file.append(batch('a')), await file.append(batch('b'))]).toEqual([true, true])
    expect(file.isFull).toBe(false)
    expect(await file.append(batch('c'))).toBe(false)
    expect(file.isFull).toBe(true)
    expect(statSync(location).size).toBe(2 * lineBytes)
    expect(await writtenFrom(file)).toEqual([['a', 'b']])
    expect(file.isFull).toBe(false)
    expect(await file.append(batch('c'))).toBe(true)
  })

  it('keeps what waits where its folder is removed meanwhile, also for the next run', async () => {
    const location = newLocation()
    const first = await UsageFile.open(location)
    await first.append(batch('a'))
    rmSync(path.dirname(location), { recursive: true })
    await first.append(batch('b'))
    expect(readFileSync(location, 'utf8')).toContain('"a"')
    rmSync(path.dirname(location), { recursive: true })
    await first.close()

    expect(await writtenFrom(await openFile(location))).toEqual([['a', 'b']])
  })

  it('writes many batches in groups, in their order', async () => {
    const file = await openFile()
    const ids = Array.from({ length: 450 }, (_, index) => String(index))
    for (const id of ids) await file.append(batch(id))

    const groups = await writtenFrom(file)
    expect(groups.map(({ length }) => length)).toEqual([200, 200, 50])
    expect(groups.flat()).toEqual(ids)
  })
})
