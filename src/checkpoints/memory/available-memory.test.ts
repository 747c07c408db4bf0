import os from 'node:os'
import { describe, expect, it } from 'vitest'
import { availableMemoryBytes } from './available-memory.ts'

describe('availableMemoryBytes', () => {
  it('is some of the memory of the machine', () => {
    expect(availableMemoryBytes()).toBeGreaterThan(0)
    expect(availableMemoryBytes()).toBeLessThanOrEqual(os.totalmem())
  })
})
