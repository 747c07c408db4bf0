import { expect, it } from 'vitest'
import { findReplaced, listServed } from './served-models.ts'

const toModel = (id: string, pinned = false) => ({ id, meta: { pinned, state: 'ready' as const } })
const toStatus = (id: string, state: 'ready' | 'draining' = 'ready') => ({ id, state })

it('finds the model in whose place another comes, and whether that is pinned', () => {
  const served = listServed([toModel('chat'), toModel('code', true)], [toStatus('chat'), toStatus('code')])
  expect(findReplaced('code', served)).toEqual({ id: 'code', isPinned: true })
  expect(findReplaced('chat', served)).toEqual({ id: 'chat', isPinned: false })
  expect(findReplaced('more', served)).toBeNull()
  expect(findReplaced('', served)).toBeNull()
})

it('knows a model that only the status shows: this session may not use it', () => {
  const served = listServed([toModel('chat')], [toStatus('secret'), toStatus('chat')])
  expect(findReplaced('secret', served)).toEqual({ id: 'secret', isPinned: false })
})

it('knows a model that only the listing shows: the status is away, or a moment old', () => {
  expect(findReplaced('chat', listServed([toModel('chat')], []))?.id).toBe('chat')
})

it('takes "default" for the first of all, where no model has this id', () => {
  const served = listServed([toModel('chat')], [toStatus('secret'), toStatus('chat')])
  expect(findReplaced('default', served)?.id).toBe('secret')
  expect(findReplaced('default', [...served, { id: 'default', isPinned: false }])?.id).toBe('default')
  expect(findReplaced('default', [])).toBeNull()
})

it('leaves out what is being removed: its place is free', () => {
  expect(findReplaced('chat', listServed([], [toStatus('chat', 'draining')]))).toBeNull()
})
