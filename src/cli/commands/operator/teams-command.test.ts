import { describe, expect, it } from 'vitest'
import { createOperatorScene } from '../../../../test/support/servers/operator-scene.ts'

describe('sluice teams', () => {
  it('makes, lists, renames, bounds and deletes', async () => {
    const { output } = createOperatorScene()
    await output('keys', 'create')
    const made = JSON.parse(await output('teams', 'create', 'red', '--daily-token-budget', '1000', '--json'))
    expect(made).toMatchObject({ name: 'red', daily_token_budget: 1000, monthly_token_budget: null })
    const { team_id: id } = made as { team_id: string }

    expect(await output('teams', 'rename', 'red', 'blue')).toBe(`Team ${id} is called 'blue' now.`)
    expect(
      await output(
        'teams',
        'set-budget',
        id,
        ...['--daily-token-budget', 'none', '--monthly-token-budget', '5'],
      ),
    ).toBe(`Team blue (${id}) may use any number of tokens a day and 5 a month now.`)
    expect(JSON.parse(await output('teams', 'list', '--json'))).toMatchObject({
      teams: [{ team_id: id, name: 'blue', daily_token_budget: null, monthly_token_budget: 5 }],
      count: 1,
    })
    expect(await output('teams', 'list')).toMatch(/blue +any +5 +2023-11-14$/)
    expect(await output('teams', 'delete', 'blue')).toContain('is deleted')
    expect(await output('teams', 'list')).toBe('There are no teams.')
  })

  it('take users and keys in, with budgets of their own', async () => {
    const scene = createOperatorScene()
    const { output } = scene
    await output('keys', 'create')
    const { team_id: teamId } = JSON.parse(await output('teams', 'create', 'red', '--json')) as {
      team_id: string
    }
    await output('users', 'create', 'a@b.org', '--team', 'red', '--monthly-token-budget', '50')
    const key = JSON.parse(
      await output('keys', 'create', '--team', teamId, '--daily-token-budget', '7', '--json'),
    )
    const users = async () => JSON.parse(await output('users', 'list', '--json')).users

    expect(key).toMatchObject({ team_id: teamId, daily_token_budget: 7, monthly_token_budget: null })
    expect(await users()).toMatchObject([{ team_id: teamId, monthly_token_budget: 50 }])
    expect(await output('keys', 'set-team', key.id, 'none')).toContain('is in no team of its own')
    expect(await output('keys', 'set-budget', key.id, '--daily-token-budget', 'none')).toContain(
      'may use any number of tokens a day',
    )
    await output('users', 'set-team', 'a@b.org', 'none')
    await output('users', 'set-budget', 'a@b.org', '--daily-token-budget', '9')
    expect(await users()).toMatchObject([{ team_id: null, daily_token_budget: 9, monthly_token_budget: 50 }])
  })

  it.each([
    [['teams', 'delete', 'none'], 1, "sluice: Team 'none' does not exist."],
    [['keys', 'create', '--team', 'none'], 1, "sluice: Team 'none' does not exist."],
    [['teams', 'create', 'none'], 1, "sluice: name must not be 'none', which stands for no team."],
    [
      ['teams', 'create', ''],
      2,
      "sluice: The name must be 1 to 100 characters without a null character, but was ''.",
    ],
    [
      ['teams', 'set-budget', 'red'],
      2,
      "sluice: 'set-budget' needs --daily-token-budget or --monthly-token-budget",
    ],
    [
      ['teams', 'set-budget', 'red', '--daily-token-budget', '0'],
      2,
      "sluice: --daily-token-budget must be none or a whole number from 1 to 1000000000000000, but was '0'.",
    ],
  ])('says what is wrong with %j', async (words, exitCode, complaint) => {
    const { sluice, output } = createOperatorScene()
    await output('keys', 'create')

    expect(await sluice(...words)).toMatchObject({ exitCode, complaints: [complaint] })
  })

  it("are not renamed to 'none' either, and one that is called so already is found by its id", async () => {
    const { output, sluice, openServer } = createOperatorScene()
    await output('keys', 'create')
    await output('teams', 'create', 'red')
    expect(await sluice('teams', 'rename', 'red', 'none')).toMatchObject({
      exitCode: 1,
      complaints: ["sluice: name must not be 'none', which stands for no team."],
    })
    const { database } = await openServer()
    await database.updateTable('teams').set({ name: 'none' }).execute()
    const [old] = JSON.parse(await output('teams', 'list', '--json')).teams as [{ team_id: string }]
    await output('users', 'create', 'a@b.org')
    await output('users', 'set-team', 'a@b.org', old.team_id)
    expect(JSON.parse(await output('users', 'list', '--json')).users).toMatchObject([
      { team_id: old.team_id },
    ])
    expect(await output('teams', 'rename', 'none', 'blue')).toContain("is called 'blue' now")
  })

  it('leave rows in the audit log, with what was named', async () => {
    const { output, sluice, clock } = createOperatorScene()
    await output('keys', 'create')
    await output('teams', 'create', 'red')
    clock.advance(1)
    await sluice('teams', 'delete', 'blue')

    const { records } = JSON.parse(await output('audit', '--json')) as { records: { action: string }[] }
    expect(records.filter(({ action }) => action.startsWith('team.'))).toMatchObject([
      { action: 'team.create', status: 200 },
      { action: 'team.delete', target: 'blue', status: 404 },
    ])
  })
})
