/** A host that stands for several addresses, as `localhost` does: one server, and one set of guards, behind all. */
import { describe, expect, it, onTestFinished } from 'vitest'
import { VirtualClock } from '../../../src/core/clock.ts'
import { MemoryKnocks } from '../../../src/limits/memory/knocks.ts'
import { GracefulClose } from '../../../src/net/connections/graceful-close.ts'
import { guardByKnock } from '../../../src/net/port-knock/knock-gate.ts'
import { addressesOf, openPort } from '../../../src/net/listen.ts'
import { openFrom } from '../../support/net/knocking.ts'
import { createTestApp } from '../../support/servers/test-app.ts'

const FIRST = '127.0.0.1'
const SECOND = '127.0.0.2'
/** For documentation: no machine has it. */
const NOBODYS = '192.0.2.1'

const HEALTH = 'GET /v1/health HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n'

/** What comes from a port at this address until the connection is closed. */
async function receivedAt(host: string, port: number): Promise<string> {
  const socket = await openFrom(port, FIRST, host)
  return new Promise((resolve) => {
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1')
    })
    socket.once('close', () => resolve(text))
    socket.write(HEALTH)
  })
}

describe('openPort', () => {
  it('answers at every address there is, at one port', async () => {
    const { app } = createTestApp()
    const opened = await openPort(app, { hosts: [FIRST, NOBODYS, SECOND], port: 0 })
    onTestFinished(() => opened.close())

    expect(opened.address.address).toBe(FIRST)
    for (const host of [FIRST, SECOND]) {
      expect(await receivedAt(host, opened.address.port)).toMatch(/^HTTP\/1\.1 200 /)
    }
  })

  it('closes the other addresses too', async () => {
    const { app } = createTestApp()
    const graceful = new GracefulClose(app.server)
    const opened = await openPort(app, { hosts: [FIRST, SECOND], port: 0 })
    const idle = await openFrom(opened.address.port, FIRST, SECOND)
    const isClosed = new Promise((resolve) => idle.once('close', resolve))

    opened.close()
    await graceful.drain(0)
    await graceful.close()

    await isClosed
    await expect(openFrom(opened.address.port, FIRST, SECOND)).rejects.toThrow('ECONNREFUSED')
  })

  it('guards every address', async () => {
    const { app } = createTestApp()
    const clock = new VirtualClock()
    const knock = new MemoryKnocks({ ports: [1], windowMs: 1, openMs: 1 }, clock)
    guardByKnock(app.server, { knocks: knock, onRefused: () => {} })
    const opened = await openPort(app, { hosts: [FIRST, SECOND], port: 0 })
    onTestFinished(() => opened.close())

    for (const host of [FIRST, SECOND]) expect(await receivedAt(host, opened.address.port)).toBe('')
  })

  it('fails when the first address is none of this machine', async () => {
    const { app } = createTestApp()

    await expect(openPort(app, { hosts: [NOBODYS, FIRST], port: 0 })).rejects.toThrow('EADDRNOTAVAIL')
  })
})

describe('addressesOf', () => {
  it('leaves an address and the name of a machine as they are', async () => {
    expect(await addressesOf('::')).toEqual(['::'])
    expect(await addressesOf('example.invalid')).toEqual(['example.invalid'])
  })

  it('knows what localhost stands for', async () => {
    expect(await addressesOf('localhost')).toContain('127.0.0.1')
  })
})
