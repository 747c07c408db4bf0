import { expect, it } from 'vitest'
import { guardedCall } from './guarded-call.ts'

it('hands over what the function throws, and goes on', () => {
  const failures: unknown[] = []
  const call = guardedCall(
    (text: string) => {
      throw new Error(text)
    },
    (error) => failures.push(error),
  )
  call('a')
  call('b')
  expect(failures).toEqual([new Error('a'), new Error('b')])
})

it('hands over what its promise rejects with', async () => {
  const failure = new Promise((resolve) => {
    guardedCall((text: string) => Promise.reject(new Error(text)), resolve)('a')
  })
  expect(await failure).toEqual(new Error('a'))
})
