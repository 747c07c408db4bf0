/** Sends the prompt and shows the whole answer at once, or the sentence that says why there is none. */
const form = document.querySelector('form')
const output = document.querySelector('output')
const button = document.querySelector('button')

form.addEventListener('submit', (event) => {
  event.preventDefault()
  void show(Object.fromEntries(new FormData(form)))
})

async function show({ key, prompt }) {
  button.disabled = true
  output.textContent = '…'
  output.textContent = await generate(key, prompt).catch((error) => error.message)
  button.disabled = false
}

async function generate(key, prompt) {
  const response = await fetch('/v1/generate', {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ prompt, max_new_tokens: 64 }),
  })
  const answer = await response.json()
  return response.ok ? answer.generated_text : answer.detail
}
