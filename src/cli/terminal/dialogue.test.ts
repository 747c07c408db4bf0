/** Node's readline on a terminal that a test writes to. */
import { PassThrough } from 'node:stream'
import { expect, it, vi } from 'vitest'
import { createProcessDialogue } from './dialogue.ts'

function openTerminal() {
  const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => stdin })
  const stdout = Object.assign(new PassThrough(), { isTTY: true, columns: 80 })
  stdout.resume()
  const dialogue = createProcessDialogue(
    {},
    {
      stdin: stdin as unknown as NodeJS.ReadStream & { fd: 0 },
      stdout: stdout as unknown as NodeJS.WriteStream & { fd: 1 },
    },
  )
  return { stdin, ask: () => dialogue.askLine('> ') }
}

it.each([
  ['a line', 'one\r', 'one'],
  ['all lines of a paste', 'one\rtwo\r\nthree\n', 'one\ntwo\nthree'],
  ['a paste with an empty line', 'one\r\rthree\r', 'one\n\nthree'],
])('gives %s', async (_, written, given) => {
  const { stdin, ask } = openTerminal()

  const asked = ask()
  stdin.write(written)

  expect(await asked).toBe(given)
})

it('waits for the newline of a paste that ends without one, and takes what comes next for the next', async () => {
  const { stdin, ask } = openTerminal()
  const asked = ask()
  stdin.write('one\rtwo')
  await new Promise(setImmediate)
  stdin.write(' and a half\r')
  expect(await asked).toBe('one\ntwo and a half')

  const next = ask()
  stdin.write('three\r')
  expect(await next).toBe('three')
})

it('gives what was written before the end of the input', async () => {
  const { stdin, ask } = openTerminal()
  const asked = ask()
  stdin.end('one\rtwo\r')
  expect(await asked).toBe('one\ntwo')
})

it('throws away a paste that was begun at Ctrl-C, and ends at the next', async () => {
  const { stdin, ask } = openTerminal()
  const asked = ask()
  stdin.write('one\rtwo')
  await new Promise(setImmediate)
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  stdin.write('four\rfive')
  await new Promise(setImmediate)
  stdin.write('\u0003')
  await new Promise(setImmediate)
  await vi.advanceTimersByTimeAsync(1000)
  vi.useRealTimers()
  stdin.write('three\r')
  expect(await asked).toBe('three')

  const next = ask()
  stdin.write('\u0003')
  expect(await next).toBeNull()
})
