import { createServer, type Server } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { ServiceError, StartError } from '../core/errors.ts'
import { toFailure } from './failure.ts'

/** The error of listening, or null. */
function listen(server: Server, host: string, port = 0): Promise<unknown> {
  onTestFinished(() => void server.close())
  return new Promise((resolve) => {
    server.once('error', resolve)
    server.listen({ host, port }, () => resolve(null))
  })
}

describe('toFailure', () => {
  it('says that a port is in use', async () => {
    const first = createServer()
    await listen(first, '127.0.0.1')
    const address = first.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    expect(toFailure(await listen(createServer(), '127.0.0.1', port))).toEqual({
      line: `sluice: 127.0.0.1:${port} is in use by another program; choose another with --port.`,
      exitCode: 1,
    })
  })

  it('says that an address belongs to another machine', async () => {
    // 192.0.2.0/24 is reserved for documentation, so no machine has it.
    const failure = toFailure(await listen(createServer(), '192.0.2.1'))
    expect(failure.line).toMatch(/^sluice: 192\.0\.2\.1 is not an address of this machine/)
    expect(failure.exitCode).toBe(1)
  })

  it('says that a port is not permitted', () => {
    const error = Object.assign(new Error('listen EACCES'), {
      code: 'EACCES',
      syscall: 'listen',
      address: '::',
      port: 80,
    })
    expect(toFailure(error).line).toBe(
      'sluice: listening on [::]:80 is not permitted; choose a port above 1023 with --port.',
    )
  })

  it('ends with 1 and the sentence when a service refuses', () => {
    expect(toFailure(new ServiceError('key_not_found', { keyId: 'x' }))).toEqual({
      line: "sluice: Key 'x' was not found.",
      exitCode: 1,
    })
  })

  it('keeps a sentence to its line, whatever it repeats', () => {
    expect(toFailure(new StartError('a\n\u001b[2J', 2))).toEqual({
      line: String.raw`sluice: a\u000a\u001b[2J`,
      exitCode: 2,
    })
    expect(toFailure(new ServiceError('user_not_found', { userId: '\u009b2J' })).line).toBe(
      String.raw`sluice: User '\u009b2J' does not exist.`,
    )
  })

  it('names the limit of open files when it is reached', () => {
    const error = Object.assign(new Error("EMFILE: too many open files, open 'x.js'"), { code: 'EMFILE' })
    expect(toFailure(error).line).toMatch(
      /^sluice: the limit of open files( \(\d+\))? is too low: raise it to 1024 or more, with ulimit -n /,
    )
  })

  it('gives one line for what is not an error', () => {
    expect(toFailure('text').line).toBe('sluice: unexpected error: text (SLUICE_LOG_LEVEL=debug shows more)')
  })
})
