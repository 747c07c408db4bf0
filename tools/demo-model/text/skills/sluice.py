"""Questions about Sluice itself and about this model; the answers say what README.md and docs/ say."""
from text.conversation import Answer

SIZE = "20 million"  # parameters of model.py
KEY = "The server prints a key when it starts. For more keys run `sluice keys create`, or register with POST /v1/auth/register."
OWN = "Start Sluice with `npm start -- --checkpoint path/to/model.gguf`. A folder in the Hugging Face layout or `hf:org/repo` works too."
URL = "http://127.0.0.1:8080"
PYTHON = f'''from openai import OpenAI

client = OpenAI(base_url="{URL}/v1", api_key="YOUR_KEY")
answer = client.chat.completions.create(
    model="demo",
    messages=[{{"role": "user", "content": "Hello!"}}],
)
print(answer.choices[0].message.content)'''
TYPESCRIPT = f'''import OpenAI from 'openai'

const client = new OpenAI({{ baseURL: '{URL}/v1', apiKey: 'YOUR_KEY' }})
const answer = await client.chat.completions.create({{
  model: 'demo',
  messages: [{{ role: 'user', content: 'Hello!' }}],
}})
console.log(answer.choices[0].message.content)'''
CURL = f'''curl {URL}/v1/chat/completions \\
  -H "Authorization: Bearer $KEY" -H "Content-Type: application/json" \\
  -d '{{"messages": [{{"role": "user", "content": "Hello!"}}]}}\''''


def fenced(language, code, before):
    return f"{before}\n\n```{language}\n{code}\n```"


# (questions, answer, short answer or None, kind)
ABOUT = [
    ("What is Sluice?|Tell me about Sluice.|What's Sluice?|what does sluice do|Explain Sluice.|What is this server?|What is this?|What is this "
    "program?|what software is this|What am I using here?|sluice?|Why would I use Sluice?",
     "Sluice is a server that you run yourself: one command gives a team its own LLM API. It speaks the API of OpenAI and runs models with "
     "llama.cpp.", "a server"),
    ("How do I get a key?|How can I get an API key?|Where is my API key?|I need an API key.|how to get a key|Where do I find the key?|how do i "
    "create a key|get api key|How do I make an API key?|What key do I use?|Which key should I send?|I have no key. What now?|api key please|create an API key|How do I create an API key?|how can I create a key|make me an api key|I want to create an API key",
     KEY, None),
    ("How do I make another key?|How do I create a second key?|How can I make a key for a colleague?|command for a new key|how to make more keys|One more key, please.|second key|"
    "How do I give my team keys?",
     "Run `sluice keys create --name NAME --tier free`. The secret is printed once. POST /v1/keys makes one over HTTP.", None),
    ("How do I revoke a key?|How can I delete a key?|My key leaked. What do I do?|delete an API key|How do I disable a key?|revoke a key|how to revoke an api key|How do I get rid of a key?|How do I take a key away?|I want to delete a key.|remove a key|my key was stolen",
     "Run `sluice keys revoke` with the id or prefix of the key, or DELETE /v1/keys/{key_id}. It ends with the next request.", None),
    ("How do I load my own model?|How can I use another model?|How do I run a real model?|Can I use my own model?|How do I load a bigger model?|"
    "load own model|how to change the model|Can Sluice run Llama?|Can I run Mistral here?|Can I use Qwen?|How do I serve a GGUF file?|use my own "
    "gguf|how do i switch the model|Which option loads a model?|I want a better model.|How do I start Sluice with a real model?|How do I replace you "
    "with a better model?|what does --checkpoint do|Where do I put my model file?",
     OWN, None),
    ("Which models can Sluice run?|What models are supported?|supported models|What kinds of models can I load?|Which architectures does Sluice "
    "support?|Does Sluice support Gemma?|which file formats work|Does it read safetensors?",
     "Any GGUF that llama.cpp runs, and folders in the Hugging Face layout of Llama, Mistral, Qwen, Gemma and Phi-3.", None),
    ("How do I download a model?|Can Sluice download a model from Hugging Face?|How do I use a model from the hub?|hugging face model|download "
    "model from hugging face|What does sluice pull do?|how to pull a model",
     "Start with `--checkpoint hf:org/repo`, or `hf:org/repo:file.gguf`. `sluice pull hf:org/repo` downloads it beforehand.", None),
    ("What are the limits?|How many requests can I make?|What are the rate limits?|rate limit|What limits are there?|How many requests per minute?|"
    "What are the tiers?|Which tiers are there?|free tier limits|What does the free tier allow?|How many tokens may I generate?|what is the "
    "difference between free and pro|How many keys can I have?|is there a rate limit here|Is there a limit?|Are there any limits?|am I limited|Do you have rate limits?|what is my limit|What are your limits?|what are your rate limits|limits?|How fast may I ask?",
     "Per key: free has 60 requests a minute and 2,048 tokens per prompt, pro 1,000 and 4,096, enterprise 10,000 and 8,192. Accounts have 2, 10 or "
     "100 keys.", None),
    ("How many requests at once?|How many parallel requests can I send?|Can I send several requests at the same time?|concurrency limit",
     "Generation requests at once: free 1, pro 5, enterprise without a limit.", None),
    ("Why do I get 429?|What does error 429 mean?|I get a 429 error.|rate_limit_exceeded what is that|too many requests, why",
     "429 means that a limit is reached, for example the requests per minute of your tier. The header Retry-After says how long to wait.", None),
    ("Why do I get 401?|What does error 401 mean?|I get unauthorized.|401 error|My key does not work.|unauthorized, what is wrong",
     "401 means that the key is missing, wrong, revoked or expired. Send it as `Authorization: Bearer YOUR_KEY`.", None),
    ("How do I send the key?|Where do I put the key?|Which header is for the key?|how to authenticate|How does authentication work?|authorization "
    "header",
     "Send it in the header `Authorization: Bearer YOUR_KEY`.", None),
    ("Where is the console?|Is there a web interface?|Does Sluice have a UI?|Where can I chat in the browser?|open the console|web ui?|Is there a "
    "dashboard?|How do I open the console?|can i chat with you in a browser|Where is the web page?",
     f"Open {URL}/ in a browser: the console is there.", "/"),
    ("Where are the docs?|Where is the documentation?|Where is the API description?|documentation|Is there an OpenAPI file?|openapi spec|swagger?|"
    "Where can I read about the API?|API docs",
     "The API description is at /docs of the running server, and OpenAPI 3.1 at /openapi.json. The rest is in the folder docs/.", "/docs"),
    ("Which endpoints are there?|What endpoints does Sluice have?|list the endpoints|API endpoints|What can the API do?|Which routes are there?",
     "The main ones are POST /v1/chat/completions, POST /v1/generate, /v1/generate/stream and /v1/generate/batch, GET /v1/models, /v1/keys and "
     "/v1/usage. /docs shows all.", None),
    ("What is the URL?|What is the base URL?|Which address do I call?|Which port does Sluice use?|base url|What port is it?|where does the server "
    "listen|which host and port|What is the default port?|on which port does it listen|which port is used by default",
     f"The server listens on {URL}, and the base URL of the API is {URL}/v1. --host and --port change that.", "8080"),
    ("How do I change the port?|Can I use another port?|run on port 3000|How do I listen on another address?|make it reachable from other machines",
     "Use `--port 3000`, and `--host 0.0.0.0` to listen on all addresses.", None),
    ("How do I start Sluice?|How do I install Sluice?|How do I run the server?|start the server|installation|How do I set it up?|quick start|Which "
    "command starts Sluice?",
     "In the folder of Sluice run `npm start`. It needs Node 20.19 or newer on Linux or on macOS arm64.", "npm start"),
    ("How do I stop Sluice?|How do I stop the server?|stop the server|shut down sluice",
     "Press Ctrl+C, or send SIGTERM. Requests that run may finish first.", None),
    ("How do I call it from Python?|Show me a Python example.|Python snippet please|How do I use Sluice with Python?|python example|Python code "
    "for the API?|How do I connect with the OpenAI Python library?|Write Python code that calls you.|Can I use the OpenAI SDK?|python client|how do "
    "i use this from python|Give me a Python snippet to call Sluice.",
     fenced("python", PYTHON, "With the package openai:"), None),
    ("How do I call it from TypeScript?|Show me a TypeScript example.|TypeScript snippet please|How do I use Sluice with JavaScript?|javascript "
    "example|Node example?|How do I call you from Node.js?|js code for the api|typescript client|Write TypeScript code that calls you.|Give me a "
    "JavaScript snippet to call Sluice.|typescript code for this api|How do I talk to this server from TypeScript?|code in javascript to call this server",
     fenced("ts", TYPESCRIPT, "With the package openai:"), None),
    ("How do I call it with curl?|Show me a curl example.|curl example|curl command please|How do I test the API from the shell?|bash example|How "
    "do I send a request?|Write a curl command that calls you.|how to call the api|example request|Give me an example request.",
     fenced("sh", CURL, "Like this:"), None),
    ("How do I stream the answer?|Does Sluice support streaming?|Can I get the answer token by token?|stream responses|how to enable streaming|"
    "streaming?",
     "Yes: send `\"stream\": true` with POST /v1/chat/completions. The answer comes as server-sent events.", "Yes"),
    ("Is Sluice compatible with OpenAI?|Does it work with the OpenAI API?|openai compatible?|Can I use my OpenAI code with this?|Does Sluice work with the OpenAI client libraries?|does the openai package work with sluice|can I keep using my openai client|Do OpenAI clients work here?|Will my OpenAI SDK work with this server?|Is this an OpenAI "
    "API?",
     f"Yes, POST /v1/chat/completions has the shape of OpenAI's. Set the base URL to {URL}/v1.", "Yes"),
    ("Is Sluice free?|What does Sluice cost?|What is the license?|Is Sluice open source?|license?|Do I have to pay?|how much does this cost",
     "Sluice is free and open source, under the MIT license. You run it yourself.", "free"),
    ("Does Sluice need a GPU?|Do I need a graphics card?|Can it run without a GPU?|gpu required?|Does it use my GPU?",
     "No, it runs on a CPU. Where a GPU is found it is used; --gpu off prevents that.", "No"),
    ("Is my data sent anywhere?|Where does my data go?|Is this private?|Do you send my data to the cloud?|Is it safe to use?|Does OpenAI see this?|"
    "are my prompts stored|privacy",
     "Sluice and its models run on your own machine. Your text goes to no other service.", "No"),
    ("How do I quantize a model?|How do I make a model smaller?|quantization command|Can Sluice quantize?|int4?|How do I use int8?",
     "Start with `--quantization int4`, `int8` or `fp8`, or run `sluice quantize` beforehand.", None),
    ("How do I see my usage?|How many tokens have I used?|Where is my usage?|usage statistics|show my usage",
     "GET /v1/usage shows the usage of your account.", "/v1/usage"),
    ("How do I register?|How do I make an account?|Can I create an account?|sign up|how do i log in|How do I login?",
     "Send your e-mail address and a password to POST /v1/auth/register; the answer holds a key. POST /v1/auth/login opens a session.", None),
    ("What is the admin key?|How do I become admin?|How do I use the admin API?|admin access",
     "Start the server with `--admin-key`. That key opens /v1/admin and nothing else.", None),
    ("How do I send many prompts at once?|Is there a batch endpoint?|batch requests|How do I use batches?|batching?",
     "POST /v1/generate/batch takes 1 to 64 prompts.", None),
    ("Does Sluice support TLS?|How do I use HTTPS?|https?|Can I use certificates?|enable tls",
     "Yes, with `--tls-certfile` and `--tls-keyfile`.", "Yes"),
    ("Which options are there?|How do I see all options?|help with the command line|list of options|command line options",
     "`npm start -- --help` lists all options. Each can also be an environment variable or stand in a configuration file.", None),
    ("Where is the data stored?|Where does Sluice keep its files?|which database does it use|Where are accounts saved?|what database is used",
     "In the folder sluice-data: accounts and usage in SQLite files, and converted models. --data-dir changes it.", "sluice-data"),
    ("How do I check that the server is healthy?|health check|Is the server running?|health endpoint|Which endpoint says that the server is alive?",
     "GET /v1/health says whether the server lives, and GET /v1/ready whether it is ready.", "/v1/health"),
    ("Which models are loaded?|How do I list the models?|list models|What models are there?",
     "GET /v1/models lists what is served.", "/v1/models"),
    ("What Node version do I need?|Which Node version?|requirements|system requirements|What does Sluice need?|Does it run on Windows?|Does it run "
    "on a Mac?",
     "Sluice needs Node 20.19 or newer, on Linux x64 or arm64 with glibc, or on macOS arm64.", "20.19"),
    ("What is Sluice written in?|Which language is Sluice written in?|Is Sluice written in Python?|programming language of sluice",
     "Sluice is written in TypeScript and drives llama.cpp directly.", "TypeScript"),
    ("Can you call tools?|Does Sluice support tool calls?|Do you support function calling?|Can you use functions?|tool calling?|can you use tools",
     "Yes, I can call tools. Send them as `tools` with the request.", "Yes"),
    ("What model are you?|Which model is this?|What model am I talking to?|Which LLM are you?|what model is running|Which model are you based on?|"
    "model name?|what version are you|What kind of model are you?|which model answers me|What model is answering?|which model is behind this",
     f"I am Sluice's demo model: a toy of {SIZE} parameters that comes with the server.", "the demo model"),
    ("How big are you?|How many parameters do you have?|What is your size?|Are you a big model?|number of parameters|how large is this model|Are "
    "you large?",
     f"I am very small: I have about {SIZE} parameters. Real models have thousands of times more.", SIZE),
    ("How were you trained?|What were you trained on?|What is your training data?|Who trained you?|who made you|Who created you?|Who built you?|"
    "Where do you come from?|Which data did you learn from?|who is your creator|who owns you",
     "I was trained from nothing for Sluice, on text that a program of the project has made up.", "Sluice"),
    ("What is your context length?|How long can a conversation be?|How much can you remember?|context size|How many tokens can you read?",
     "I can look at 4,096 tokens at once.", "4,096"),
    ("What is your knowledge cutoff?|When does your knowledge end?|How up to date are you?|until when do you know things|knowledge cutoff",
     "I have no such date: I only know simple facts and nothing about the news.", None),
    ("Why are you so bad?|Why are you so stupid?|Why don't you know anything?|why are your answers so short|Why do you know so little?|you are not "
    "very smart|Are you a good model?|Why is this model so dumb?|are you smart|Are you intelligent?",
     "I am a toy that comes with the server, so that it answers at once. " + OWN, None),
]
ABOUT = [(qs.split("|"), full, short) for qs, full, short in ABOUT]


def reworded(t, q):
    """How do I ... in other words."""
    if not q.startswith("How do I ") or t.chance(0.4):
        return q
    rest = q[9:].rstrip("?")
    return t.pick("How can I {}?", "how to {}", "I want to {}. How?", "Is there a way to {}?", "Can you tell me how to {}?",
                  "What do I have to do to {}?", "help me {}", "Show me how to {}.", "how would I {}", "I'd like to {}, what do I do?",
                  "What is the way to {}?",
                  "Please explain how to {}.", "i need to {}", "Can I {}? How?", "how does one {}").format(rest)


def about_sluice(t):
    qs, full, short = t.rng.choice(ABOUT)
    kind = "text" if "```" in full else "fact"
    out = [(reworded(t, t.rng.choice(qs)), Answer(full, short, kind))]
    if kind == "text" and t.chance(0.35):
        other = t.rng.choice([("TypeScript", "ts", TYPESCRIPT), ("Python", "python", PYTHON), ("curl", "sh", CURL), ("JavaScript", "ts", TYPESCRIPT)])
        out.append((t.pick("And in {}?", "And with {}?", "the same in {}", "Now in {}, please.").format(other[0]), Answer(fenced(other[1], other[2],
            "Here it is:"), None, "text")))
    return out


