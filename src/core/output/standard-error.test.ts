import { describe, expect, it } from 'vitest'
import { LineOutput } from './standard-error.ts'

const LINE = `${'x'.repeat(99)}\n`

/** An output whose reader takes what was written when it is told to. */
function createScene() {
  const written: string[] = []
  const pending: {
    readonly bytes: Uint8Array
    readonly end: (error: Error | null, written: number) => void
  }[] = []
  const output = new LineOutput(2, (_fd, bytes, end) => void pending.push({ bytes, end }))
  const take = async (count?: number) => {
    const [next] = pending.splice(0, 1)
    if (next === undefined) throw new Error('Nothing is being written.')
    const length = count ?? next.bytes.length
    written.push(Buffer.from(next.bytes.subarray(0, length)).toString())
    next.end(null, length)
    await settled()
  }
  const fail = async (code: string) => {
    const [next] = pending.splice(0, 1)
    next?.end(Object.assign(new Error(code), { code }), 0)
    await settled()
  }
  return { output, take, fail, pending, text: () => written.join('') }
}

const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(() => setImmediate(resolve)))

describe('LineOutput', () => {
  it('writes the lines of one turn together, and what comes meanwhile after them', async () => {
    const { output, take, pending, text } = createScene()
    output.write('one\n')
    output.write('two\n')
    await settled()
    output.write('three\n')
    output.write('four\n')
    await settled()

    expect(pending).toHaveLength(1)
    await take()
    await take()

    expect(text()).toBe('one\ntwo\nthree\nfour\n')
    expect(pending).toEqual([])
    expect(output.droppedLines).toBe(0)
  })

  it('goes on where the reader took a part', async () => {
    const { output, take, text } = createScene()
    output.write('one line\n')
    await settled()

    await take(3)
    await take(1)
    await take()

    expect(text()).toBe('one line\n')
  })

  it('drops what nobody reads, in bounded memory, and says how many lines when they are read again', async () => {
    const { output, take, text } = createScene()
    output.write(LINE)
    await settled()
    for (let turn = 0; turn < 30_000; turn++) output.write(LINE)

    expect(output.droppedLines).toBeGreaterThan(19_000)
    await take()
    await take()

    const lines = text().trimEnd().split('\n')
    expect(lines).toHaveLength(1 + 30_000 - output.droppedLines + 1)
    expect(JSON.parse(lines.at(-1) ?? '')).toEqual({
      level: 'warn',
      time: expect.any(String),
      dropped: output.droppedLines,
      msg: 'lines of the log were dropped because their reader did not take them',
    })
    output.write('after\n')
    await settled()
    await take()
    expect(text().endsWith('}\nafter\n')).toBe(true)
  })

  it('loses what cannot be written and goes on', async () => {
    const { output, take, fail, text } = createScene()
    output.write('lost\n')
    await settled()
    await fail('ENOSPC')
    output.write('written\n')
    await settled()
    await take()

    expect(text()).toBe('written\n')
  })

  it('waits at its end for the reader, but not for ever', async () => {
    const { output, take, text } = createScene()
    output.write('last\n')
    const flushed = output.flush(10_000)
    await take()
    await flushed
    expect(text()).toBe('last\n')

    output.write('never taken\n')
    await output.flush(1)
    output.flushAtExit()
    expect(text()).toBe('last\n')
  })
})
