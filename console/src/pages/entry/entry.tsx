/** Ways into the console: sign-in, the first admin of a new server, an invitation, and a server that cannot be reached. */
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { call } from '../../api/client.ts'
import type { Session } from '../../api/types.ts'
import mark from '../../mark.svg'
import { enter, enterAsGuest, entry, resume } from '../../session.ts'
import { TextField } from '../../ui/field.tsx'
import { Problem } from '../../ui/states.tsx'
import { useTask } from '../../ui/use-task.ts'

const MIN_PASSWORD_LENGTH = 8
const PASSWORD_HINT = `At least ${MIN_PASSWORD_LENGTH} characters.`

export function Entry() {
  const state = entry.value
  switch (state.kind) {
    case 'sign-in':
      return <SignIn notice={state.notice} />
    case 'welcome':
      return <Welcome />
    case 'invitation':
      return <Invitation token={state.token} />
    case 'unreachable':
      return <Unreachable />
    case 'starting':
    case 'inside':
      return (
        <Card title="Sluice">
          <div class="row muted" role="status">
            <span class="spinner" /> Opening…
          </div>
        </Card>
      )
  }
}

function Card({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    document.title = title === 'Sluice' ? title : `${title} · Sluice`
    heading.current?.focus()
  }, [title])
  return (
    <main class="entry">
      <div class="entry-card">
        <div class="brand">
          <img src={mark} alt="" />
          Sluice
        </div>
        <h1 ref={heading} tabIndex={-1} class={title === 'Sluice' ? 'hidden-text' : ''}>
          {title}
        </h1>
        {children}
      </div>
    </main>
  )
}

interface CredentialsFormProps {
  /** Without a field for it where it is known. */
  readonly hasEmail: boolean
  readonly isNewPassword: boolean
  readonly action: string
  readonly onSubmit: (given: { email: string; password: string }) => Promise<Session>
}

function CredentialsForm({ hasEmail, isNewPassword, action, onSubmit }: CredentialsFormProps) {
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const task = useTask()
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        task.run(async () => enter(await onSubmit({ email, password })))
      }}
    >
      {hasEmail && (
        <TextField
          label="E-mail"
          type="email"
          name="email"
          autocomplete="username"
          required
          value={email}
          onValue={setEmail}
        />
      )}
      <TextField
        label="Password"
        type="password"
        name="password"
        autocomplete={isNewPassword ? 'new-password' : 'current-password'}
        required
        {...(isNewPassword && { minLength: MIN_PASSWORD_LENGTH, hint: PASSWORD_HINT })}
        value={password}
        onValue={setPassword}
      />
      <Problem error={task.error} />
      <button type="submit" class="button primary wide" disabled={task.isBusy}>
        {action}
      </button>
    </form>
  )
}

function SignIn({ notice }: { readonly notice: string | null }) {
  return (
    <Card title="Sign in">
      {notice !== null && (
        <div class="note warn" role="status">
          {notice}
        </div>
      )}
      <CredentialsForm
        hasEmail
        isNewPassword={false}
        action="Sign in"
        onSubmit={(given) =>
          call<Session>('POST v1/auth/login', { body: { ...given, cookie: true }, isSignIn: true })
        }
      />
      <p class="small muted">
        No account? Ask the admin of this server for an invitation. A new server prints a link that opens this
        console when it starts.
      </p>
    </Card>
  )
}

function Welcome() {
  return (
    <Card title="Welcome. Make the admin account.">
      <p class="muted">
        This server has no admin yet. The admin invites people, loads models, and sees who used what. The link
        that brought you here works once.
      </p>
      <CredentialsForm
        hasEmail
        isNewPassword
        action="Make the account"
        onSubmit={(given) => call<Session>('POST v1/auth/first-admin', { body: given, isSignIn: true })}
      />
      <div class="or">or</div>
      <button type="button" class="button wide" onClick={enterAsGuest}>
        Try the playground first
      </button>
    </Card>
  )
}

function Invitation({ token }: { readonly token: string }) {
  return (
    <Card title="You are invited">
      <p class="muted">Choose a password, and your account is ready.</p>
      <CredentialsForm
        hasEmail={false}
        isNewPassword
        action="Join"
        onSubmit={({ password }) =>
          call<Session>('POST v1/auth/accept-invitation', {
            body: { token, password, cookie: true },
            isSignIn: true,
          })
        }
      />
      <button type="button" class="link small" onClick={() => void resume()}>
        I have an account already
      </button>
    </Card>
  )
}

const RETRY_MS = 3000

function Unreachable() {
  const task = useTask()
  useEffect(() => {
    const timer = setInterval(() => void resume(), RETRY_MS)
    return () => clearInterval(timer)
  }, [])
  return (
    <Card title="The server cannot be reached">
      <p class="muted">
        It may be starting, or the network may be away. This page goes on as soon as it answers.
      </p>
      <button
        type="button"
        class="button primary wide"
        disabled={task.isBusy}
        onClick={() => task.run(() => resume())}
      >
        Try again
      </button>
    </Card>
  )
}
