/** `sluice chat` at a terminal and in a pipe, with real servers. */
import { describe, expect, it } from 'vitest'
import {
  failInTheMiddle,
  promptOf,
  type Script,
  ScriptedEngine,
  sequenceEnd,
  sequenceStart,
  textDelta,
} from '../../../../test/support/engines/scripted-engine.ts'
import {
  createOperatorScene,
  type OperatorSceneOptions,
} from '../../../../test/support/servers/operator-scene.ts'
import { createTestApp, KEY } from '../../../../test/support/servers/test-app.ts'
import type { Dialogue } from '../../terminal/dialogue.ts'

const SHOW_ALL = '{% for m in messages %}[{{ m.role }}: {{ m.content }}]{% endfor %}'

const say = (text: string, end = sequenceEnd()): Script =>
  async function* () {
    yield sequenceStart()
    yield textDelta(text, [1])
    yield end
  }

/** A server whose model has read the chats as `[role: content]`. */
async function startModel(script: Script = say('ok')) {
  const engine = new ScriptedEngine(script, { chatTemplate: SHOW_ALL })
  const { listen } = createTestApp({ engine })
  return { engine, url: `http://127.0.0.1:${await listen()}`, read: () => engine.requests.map(promptOf) }
}

/** A person who gives these lines, one when each is asked for. */
function createPerson(lines: readonly string[], given: Partial<Dialogue> = {}) {
  const left = [...lines]
  let shown = ''
  const dialogue: Dialogue = {
    isInteractive: true,
    hasColours: false,
    write: (text) => void (shown += text),
    readInput: () => Promise.reject(new Error('A person is asked for lines.')),
    askLine: async (prompt) => {
      const line = left.shift() ?? null
      shown += `${prompt}${line ?? ''}\n`
      return line
    },
    ...given,
  }
  return { dialogue, shown: () => shown }
}

const chatAt = (url: string, dialogue: Dialogue, given: OperatorSceneOptions = {}) => {
  const { sluice } = createOperatorScene({ env: { SLUICE_API_KEY: KEY }, dialogue, ...given })
  return (...words: string[]) => sluice('chat', '--url', url, ...words)
}

describe('sluice chat at a terminal', () => {
  it('sends the whole chat with each prompt, the system prompt first, until it is cleared', async () => {
    const { url, read } = await startModel()
    const { dialogue, shown } = createPerson([
      '/system be kind',
      'one',
      'two',
      '/clear',
      '/system',
      'three',
      '/exit',
      'x',
    ])

    const { exitCode, printed } = await chatAt(url, dialogue)()

    expect([exitCode, printed]).toEqual([0, `Chatting with default at ${url}/; /help lists the commands.`])
    expect(read()).toEqual([
      '[system: be kind][user: one]',
      '[system: be kind][user: one][assistant: ok][user: two]',
      '[user: three]',
    ])
    expect(shown()).toMatch(/> one\nok\n\n> two\nok\n\n> \/clear\nA new chat\.\n/)
    expect(shown().endsWith('> /exit\n')).toBe(true)
  })

  it('takes prompts of several lines, lists its commands and names one that there is not', async () => {
    const { url, read } = await startModel()
    const { dialogue, shown } = createPerson([
      '"""first',
      'second"""',
      '',
      '/help',
      '/nope',
      '"""never',
      'ended',
    ])

    expect((await chatAt(url, dialogue)()).exitCode).toBe(0)

    expect(read()).toEqual(['[user: first\nsecond]'])
    expect(shown()).toMatch(/\/system TEXT {3}set the system prompt/)
    expect(shown()).toContain('There is no command /nope; /help lists those there are.\n')
  })

  it('says why there is no answer, and goes on with the chat from before', async () => {
    const unknown = createPerson(['one', 'two'])
    const { url } = await startModel()
    await chatAt(url, unknown.dialogue)('no-such-model')
    expect(unknown.shown().match(/Model 'no-such-model' does not exist\.\n/g)).toHaveLength(2)

    const broken = createPerson(['one', 'two'])
    const { listen } = createTestApp({ engine: failInTheMiddle() })
    await chatAt(`http://127.0.0.1:${await listen()}`, broken.dialogue)()
    expect(broken.shown()).toMatch(/> one\na\n[^\n]+\n\n> two\na\n/)
  })

  it('stops an answer at a signal and asks on with what came of it', async () => {
    let interrupt = () => {}
    let turn = 0
    const { url, read } = await startModel(async function* (request, signal) {
      if (turn++ > 0) return yield* say('ok')(request, signal)
      yield sequenceStart()
      yield textDelta('begun', [1])
      await new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('gone'))))
    })
    const { dialogue, shown } = createPerson(['one', 'two'])
    const write = (text: string) => {
      dialogue.write(text)
      if (text === 'begun') interrupt()
    }
    const chat = chatAt(url, { ...dialogue, write }, { onSignal: (handler) => (interrupt = handler) })

    expect((await chat()).exitCode).toBe(0)

    expect(shown()).toContain('> one\nbegun\nStopped.\n\n> two\nok\n')
    expect(read()[1]).toBe('[user: one][assistant: begun][user: two]')
  })

  it('ends at a signal between two answers', async () => {
    let interrupt = () => {}
    const codes: number[] = []
    const { url } = await startModel()
    const { dialogue } = createPerson(['one', 'two'])
    const askLine = async (prompt: string) => {
      const line = await dialogue.askLine(prompt)
      if (line === 'two') interrupt()
      return line
    }
    await chatAt(
      url,
      { ...dialogue, askLine },
      { onSignal: (handler) => (interrupt = handler), onExit: (code) => void codes.push(code) },
    )()

    expect(codes).toEqual([130])
  })

  it('lets no model steer the terminal, and says that an answer was cut', async () => {
    const { url } = await startModel(say('a\u001B[2Jb\u202Ec\n👩‍🚀', sequenceEnd('length')))
    const { dialogue, shown } = createPerson(['one'])

    await chatAt(url, dialogue)()

    expect(shown()).toContain(
      'a\\u001b[2Jb\\u202ec\n👩‍🚀\n(cut at its most tokens; --max-tokens allows more)\n',
    )
  })
})

describe('sluice chat in a pipe', () => {
  const inPipe = (input: string) =>
    createPerson([], { isInteractive: false, readInput: () => Promise.resolve(input) })

  it('writes the answer to standard output and nothing else', async () => {
    const { url, engine, read } = await startModel()
    const { dialogue, shown } = inPipe('  what\nis it?\n')

    const { exitCode, printed, complaints } = await chatAt(url, dialogue)(
      '--system',
      'brief',
      '--max-tokens',
      '7',
    )

    expect([exitCode, printed, complaints, shown()]).toEqual([0, '', [], 'ok\n'])
    expect(read()).toEqual(['[system: brief][user: what\nis it?]'])
    expect(engine.requests[0]?.options.maxNewTokens).toBe(7)
  })

  it('takes the prompt from --prompt, and ends with 2 where there is none', async () => {
    const { url, read } = await startModel()
    expect((await chatAt(url, inPipe('unread').dialogue)('--prompt', 'hi')).exitCode).toBe(0)
    expect(read()).toEqual(['[user: hi]'])
    expect(await chatAt(url, inPipe(' \n').dialogue)()).toMatchObject({
      exitCode: 2,
      complaints: ['sluice: There is no prompt: give one with --prompt or on standard input.'],
    })
  })

  it('ends with 1 and one sentence where there is no answer', async () => {
    const { url } = await startModel()
    const ask = async (...words: string[]) => {
      const { exitCode, complaints } = await createOperatorScene({
        env: {},
        dialogue: inPipe('hi').dialogue,
      }).sluice('chat', ...words)
      return [exitCode, ...complaints]
    }
    expect(await ask('--url', url)).toEqual([
      1,
      `sluice: ${url}/ asks for a key: give one with --api-key or SLUICE_API_KEY.`,
    ])
    expect(await ask('--url', url, '--api-key', 'wrong')).toEqual([
      1,
      `sluice: ${url}/ asks for a key: it is not the right one.`,
    ])
    expect(await ask('nope', '--url', url, '--api-key', KEY)).toEqual([
      1,
      "sluice: Model 'nope' does not exist.",
    ])
    expect(await ask('--url', 'http://127.0.0.1:1')).toEqual([
      1,
      'sluice: No server answers at http://127.0.0.1:1/ (--url).',
    ])
  })
})
