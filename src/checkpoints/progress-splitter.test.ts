import { describe, expect, it } from 'vitest'
import { ProgressSplitter } from './progress-splitter.ts'

function createSplitter() {
  const reports: number[] = []
  return { reports, splitter: new ProgressSplitter((fraction) => void reports.push(fraction)) }
}

describe('ProgressSplitter', () => {
  it('gives each step its share of what is left when it begins', () => {
    const { reports, splitter } = createSplitter()
    const [download, load] = [splitter.step(0.8), splitter.step()]
    for (const report of [download, load]) for (const fraction of [0.5, 1]) report(fraction)
    expect(reports).toEqual([0.4, 0.8, 0.9, 1])
  })

  it('gives the share of a step that reports nothing to those after it', () => {
    const { reports, splitter } = createSplitter()
    splitter.step(0.8)
    const load = splitter.step()
    load(0.5)
    load(1)
    expect(reports).toEqual([0.5, 1])
  })

  it('splits a step again', () => {
    const { reports, splitter } = createSplitter()
    const weights = new ProgressSplitter(splitter.step(0.9))
    const [convert, quantize] = [weights.step(0.5), weights.step()]
    for (const report of [convert, quantize, splitter.step()]) report(1)
    expect(reports).toEqual([0.45, 0.9, 1])
  })

  it('counts the mean of steps that run side by side', () => {
    const { reports, splitter } = createSplitter()
    splitter.step(0.5)(1)
    const [first, second] = splitter.parallel(2)
    first?.(0.5)
    second?.(1)
    first?.(1)
    expect(reports).toEqual([0.5, 0.625, 0.875, 1])
  })

  it('never falls', () => {
    const { reports, splitter } = createSplitter()
    const step = splitter.step()
    step(0.6)
    step(0.4)
    expect(reports).toEqual([0.6, 0.6])
  })
})
