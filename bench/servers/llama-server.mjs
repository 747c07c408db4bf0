// @ts-check
/** Starts the peer, llama.cpp's own server, with the libraries that stand beside it and the settings that ours has. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import net from 'node:net'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const POLL_MS = 5

/**
 * @typedef {object} PeerOptions
 * @property {string} model a GGUF file
 * @property {number} slots
 * @property {number} slotTokens what one slot holds
 * @property {number} threads
 * @property {'auto' | 'off'} gpu
 * @property {string[]} [words] further ones of its command line
 */

/** @param {string} binary @param {PeerOptions} options @returns {Promise<{ address: string, pid: number, stop: () => Promise<void> }>} */
export async function startLlamaServer(binary, { model, slots, slotTokens, threads, gpu, words: more = [] }) {
  const port = await freePort()
  const words = [
    ...['-m', model, '--host', '127.0.0.1', '--port', String(port)],
    // Each slot has its own part of the cache, as ours have.
    ...['-c', String(slots * slotTokens), '--parallel', String(slots), '--no-kv-unified'],
    ...['-t', String(threads), '-tb', String(threads), '-fa', 'auto'],
    ...['-ngl', gpu === 'off' ? '0' : '999', '--no-webui', '--log-disable', '--offline'],
    ...more,
  ]
  const child = spawn(binary, words, { stdio: 'ignore', env: environment(binary) })
  const ended = once(child, 'close')
  const address = `http://127.0.0.1:${port}`
  const stop = async () => {
    child.kill('SIGTERM')
    await ended
  }
  while (!(await isReady(address))) {
    if (child.exitCode !== null)
      throw new Error(`llama-server ended with code ${child.exitCode}: ${words.join(' ')}`)
    await sleep(POLL_MS)
  }
  return { address, pid: child.pid ?? 0, stop }
}

/** What it says it is: version, build number and commit. @param {string} binary */
export function llamaServerVersion(binary) {
  const { stdout, stderr } = spawnSync(binary, ['--version'], { encoding: 'utf8', env: environment(binary) })
  return /^version: (.+)$/m.exec(stdout + stderr)?.[1] ?? 'of an unknown version'
}

/** @param {string} binary */
function environment(binary) {
  return { ...process.env, LD_LIBRARY_PATH: path.dirname(path.resolve(binary)) }
}

/** @param {string} address */
async function isReady(address) {
  try {
    return (await fetch(`${address}/health`)).ok
  } catch {
    return false
  }
}

/** It cannot pick one and say which. */
async function freePort() {
  const server = net.createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' && address !== null ? address.port : 0
}
