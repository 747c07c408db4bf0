import { expect, it } from 'vitest'
import type { Channel } from '../../core/channel/channel.ts'
import { bringAdminKeys } from './bring-admin-keys.ts'

/** A worker that was started with `old`; the keys are replaced by each of `next` while it takes those before. */
async function toldOf(next: readonly string[][], old: readonly string[], current = old) {
  const told: unknown[] = []
  let newest = current
  const call = async (method: string, args: readonly unknown[]) => {
    told.push([method, ...args])
    newest = next[told.length - 1] ?? newest
  }
  await bringAdminKeys({ channel: { call: call as Channel['call'] } }, old, () => newest)
  return told
}

it('tells a worker nothing where it was started with the admin keys that hold', async () => {
  expect(await toldOf([], ['a'])).toEqual([])
})

it('gives a worker the admin keys that were replaced while it started, the last ones too', async () => {
  expect(await toldOf([['c']], ['a'], ['b'])).toEqual([
    ['reloadAdminKeys', ['b']],
    ['reloadAdminKeys', ['c']],
  ])
})
