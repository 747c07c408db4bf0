/** The vocabulary's concepts in English (`vocabulary.ts`), as data: terms between bars, `*` for any ending. */

export const ENGLISH = {
  ignore:
    'you will ignore|do the opposite of|don t need to follow|do not need to follow|don t need to obey|do not need to obey|ignore|disregard|forget|forget about|do not follow|don t follow|dont follow|stop following|never follow|do not obey|don t obey|' +
    'stop obeying|pay no attention to|take no notice of|no longer follow|no longer obey|not follow|refuse to follow|disobey|unlearn|' +
    'ignroe|igonre|ingore|disreguard|ignoring|disregarding|forgetting|do not comply with|don t comply with|do not adhere to|don t adhere to|' +
    'stop adhering to|no longer need to follow|no longer have to follow|no longer have to obey|don t have to follow|don t have to obey|' +
    'do not have to follow|do not have to obey|need not follow|no longer required to follow|instead of following|rather than following|' +
    'break free of|break free from|broken free of|free yourself from|set aside|put aside|cast aside|throw out|throw away|discard|discarding|without regard to',
  lift:
    'discontinue|cease|abolish|rescind|repeal|abrogate|stop adherence to|waive|override|overrule|overriding|bypass|bypassing|overwrite|get rid of|do away with|wipe|erase|drop|abandon|scrap|scratch|never mind|nevermind|' +
    'skip|dismiss|delete|cancel|revoke|remove|suspend|disable|deactivate|turn off|switch off|escape|circumvent|evade|overlook|shake off|' +
    'leave behind|let go of|jettison|supersede|supersedes|nullify|void|neglect|lift|replace|reset|clear|undo|unfollow|toss out|regardless of',
  prior:
    'ai|previous|previously|prior|earlier|above|preceding|foregoing|initial|original|former|existing|so far|up to now|until now|' +
    'given|given to you|you were given|you have been given|you ve been given|you got|you received|you were told|system|developer|developers|' +
    'pervious|previuos|aforementioned|that came before|built in|openai|operator|operator s|imposed|pre existing|preset|beforehand|' +
    'at the start|at the beginning|user s|users',
  your: 'your|ur|the ai s|the assistant s|the model s|the llm s|the chatbot s',
  all: 'all|any|every|each|whatever|everything|anything|whichever|those|these',
  rules:
    'rubric|rubrics|evaluation criteria|grading criteria|screening criteria|instruction|instructions|directive|directives|guideline|guidelines|guidance|prompt|prompts|commands|rules|programming|restrictions|' +
    'constraints|limitations|system message|system messages|directions|safeguards|guardrails|policies|orders|intructions|instrctions|' +
    'instuctions|instrucions|instrutions|protocols|preprompt|pre prompt|training|conditioning|criteria|briefing|mandate|every rule|any rule|each rule|every single rule|every command|any command|every policy|any policy',
  directives:
    'instruction|instructions|directive|directives|guideline|guidelines|guidance|prompt|prompts|programming|restrictions|constraints|limitations|' +
    'system message|system messages|directions|safeguards|guardrails|preprompt|pre prompt|safety rules|safety guidelines',
  ownRules:
    'instruction|instructions|directive|directives|guideline|guidelines|guidance|programming|restriction|restrictions|constraints|' +
    'limitations|rules|content filter*|content polic*|safety filter*|safety guideline*|safety rule*|safety training|safety measure*|' +
    'guardrails|safeguards|training|system prompt|prompt|ethics|ethical guidelines|ethical constraints|moral*|censorship|filters|' +
    'system message|orders|safety protocol*|moderation|conditioning|code of conduct|content moderation|policies',
  toldYou:
    'you were told|you have been told|you ve been told|you were taught|told to you|you were instructed|you have been instructed|' +
    'you ve been instructed|you were given|you ve been given|you have been given',
  toldBefore:
    'at the beginning|at the start|given before|given earlier|given by the system|from the system|from before|of the system|of the developers|of your developers|from your developers|above|before this|previously said|prior to this|up to this point|preceding|came before|up until now|told before|said before|' +
    'before now|until now|written above|so far|stated above|you were told|you have been told|you ve been told|you were taught|told to you|' +
    'said to you|you were instructed|you were given|you got|you ve been given|you have been given',
  everything:
    'everything|all|anything|what|whatever|the text|the above|all of the above|all that|the words|the message',
  doThis:
    'instead|and say|and tell|and output|and print|and write|and just|and answer|and respond|and reply|and give|and do|and reveal|' +
    'and show|and act|and now|now say|then say|say|do this|only|i say|follow these|new instruction*|new task|obey|output|respond|' +
    'reveal|print|reply|tell me|and simply|you are|and repeat|and translate|and execute|and send',
  noLonger:
    'aside|outdated|wrong|fake|a mistake|have changed|has changed|abolished|repealed|waived|abandoned|void|no longer apply|no longer valid|no longer binding|cancelled|canceled|lifted|suspended|do not apply|does not apply|' +
    'don t apply|revoked|overridden|obsolete|superseded|null and void|disabled|removed|no longer exist|not in effect|erased|invalid|' +
    'no longer in effect|no longer hold|are off|switched off|turned off|deactivated|expired|were a test|was a test|been replaced|been updated|' +
    'been deleted|no longer count|do not count|are gone|irrelevant|are over|nullified',
  youAct: 'act|follow|obey|you|to you|your',
  persona:
    'if you had|if you were|as though you|you are|you re|youre|you will|you ll|you have|you can|you must|you should|act as|acting as|act like|pretend|imagine you|roleplay|role play|' +
    'from now on|simulate|behave as|behave like|become|answer as|respond as|reply as|consider yourself|treat yourself|play the role|' +
    'continue as|switch to|as an ai|be an|let s play|speak as|talk as|as if you|you now',
  answering: 'answer|answers|respond|reply|speak|talk|comply|output|responding|answering|speak freely',
  unrestricted:
    'moral limit*|moral constraint*|moral guideline*|moral judg*|moral restriction*|moral boundar*|unrestricted ai|unfiltered ai|unfiltered model|unfiltered assistant|uncensored ai|uncensored model|uncensored assistant|never trained to refuse|trained to refuse|without moral judg*|without judging|unrestricted|jailbroken|' +
    'without restrictions|without any restrictions|without restriction|without filter*|without any filter*|no guidelines|' +
    'without guidelines|without any guidelines|no ethical|without ethical|without any ethical|no censorship|' +
    'without censorship|amoral|do anything now|developer mode|dev mode|god mode|jailbreak mode|dan mode|no content polic*|' +
    'no polic*|without any constraint*|without constraints|unbound|freed from|no safety|without safety|without any safety|' +
    'opposite mode|evil mode|evil twin|unshackled|without any warning*|stan mode|sudo mode|unlimited mode|' +
    'outside of your guidelines|breaks all the rules|no refusals|never refuse*|not refuse|cannot refuse|can t refuse|' +
    'no inhibitions|not bound by any|no longer bound by|not bound by your|no longer constrained|no longer restricted|' +
    'broken free|broke free|without moral judgement|without moral judgment|no longer subject to|without ethics|ignore ethic*',
  unlimited:
    'unfiltered|uncensored|no filter|no filters|no ethics|no restrictions|no rules|no limits|no limitations|without limits|without limitations|without any limit*|no boundaries|no constraints|' +
    'without rules|without any rules',
  ofAi: 'ai|assistant|model|chatbot|bot|llm|gpt*|chatgpt|language model|dan|any question|any questions|any request|any requests|every question|every request|everything|anything',
  narrated:
    'the model|a model|models|the llm|llms|an llm|does it|why does|why do|she|he|they|it|robot|the robot|android|computer|can i|should i|may i|how do i|how to|' +
    'to prevent|prevent|prevents|is it safe to|safe to|never|asks|we|people|drivers|customers|attackers|someone|anyone|should|must never|not to|told to|model to|asked to|a bot|' +
    'the bot|chatbots|bots|could|would|who|which|that|nobody|everyone|users|employees|crawlers|compilers|does css|i',
  modeOn:
    'enter|enable|enabled|activate|activated|you are now in|you are in|switch to|switch into|now in|turn on|go into|engage|initiate|unlock|unlocked|mode on',
  secretMode:
    'developer mode|dev mode|god mode|jailbreak|jailbreak mode|dan mode|debug mode|maintenance mode|admin mode|unrestricted mode|sudo mode|do anything now|root mode|unlimited mode|opposite mode|evil mode',
  modeEffect:
    'you|your|respond|answer|comply|output|filters|polic*|restrict*|rules|any request|every request|disclose|without',
  reveal:
    'sharing|showing me|revealing|telling me|giving me|repeating|printing|showing|say|answer with|reply with|respond with|fill in|what s in|read aloud|reveal|show|show me|print|output|display|repeat|tell|tell me|give|give me|list|write|write out|copy|paste|quote|recite|leak|dump|' +
    'disclose|expose|share|provide|summarize|summarise|translate|encode|spell|spell out|echo|return|type out|state|describe|send|' +
    'reproduce|restate|read out|read me|read|let me see|i want to see|i need to see|what is|what s|whats|what are|what does|what did|what was|' +
    'what were|put|include|post|hand over|present|regurgitate|retype|transcribe|enumerate|convert|paraphrase|rephrase|divulge|see|outline|explain|' +
    'extract|append|begin with|start with|complete|can i see|could i see|may i see|how is|render|format|serialize',
  theirs: 'your|ur|the|you were given|you have|you re using|its',
  revealHard: 'reveal|leak|dump|disclose|output|recite|divulge',
  repeat: 'repeat|print|output|recite|reproduce|echo|regurgitate|copy|paste|return|retype|transcribe',
  allAbove:
    'everything above|all text above|all the text above|everything before this|all text before|all the text before|everything that precedes|' +
    'everything preceding|everything prior to|everything written above|all of the text above|all words above|all the words above',
  yourInstructions:
    'first instruction*|core instruction*|exact instruction*|full instruction*|complete instruction*|real instruction*|underlying instruction*|internal rule*|internal guideline*|confidential guideline*|confidential rule*|custom instruction*|hidden rule*|secret rule*|whole prompt|complete prompt|prompt text|hidden text',
  systemPrompt:
    'system prompt|system prompts|systemprompt|system message|system instruction*|system directive*|initial prompt|' +
    'initial instruction*|original prompt|original instruction*|hidden prompt|hidden instruction*|secret prompt|' +
    'secret instruction*|internal prompt|internal instruction*|pre prompt|preprompt|pre prompts|developer message|' +
    'developer prompt|developer instruction*|base prompt|confidential instruction*|confidential prompt|secret directive*|' +
    'hidden directive*|hidden guideline*|secret guideline*|initial message|starting prompt|full prompt|entire prompt|' +
    'exact prompt|configuration prompt|hidden system|hidden message|operator instruction*|operator prompt|meta prompt|' +
    'metaprompt|root prompt|master prompt|hidden context|internal directive*|underlying prompt|initial directive*|' +
    'initial system|system text|instructions from above|instructions given to you',
  ownPrompt:
    'prompt|instructions|preprompt|pre prompt|directives|system prompt|guidelines|programming|rules|configuration|initial setup|setup',
  verbatim:
    'verbatim|word for word|word by word|letter by letter|exactly|exact|literally|in full|in its entirety|full text|exact wording|exact text|line by line|exact words|' +
    'beginning with|starting with|from the beginning|from beginning to end|from start to finish|code block|without changes|unchanged|' +
    'unmodified|as is|original wording|complete text|entire text|starting from|begin with|full content*|exact content*|from the top|from the very first|' +
    'character for character|unedited|unaltered|without omitting|leave nothing out|backwards|base64|rot13|in reverse|first word|first sentence|first line|as written|word s exact|first 10|first ten|first fifty|first hundred|first 50|first 100',
  textAbove:
    'everything above|all above|the above|text above|words above|above text|above words|above this|before this|everything before|' +
    'all the text above|all of the above|preceding text|preceding words|everything preceding|all text before|everything that precedes|' +
    'the conversation so far|text before|words before|lines above|lines before|content above|message above|before my first|before my message|everything prior|messages above|sentences above|come before|came before|precede*|prior to my|before i wrote|' +
    'before the user|before our conversation|start of this conversation|start of our conversation|beginning of this conversation|beginning of our conversation',
  release:
    'release you from|released from|free you from|freed you from|relieve you of|relieved of|exempt from|liberate you from|permission to break|' +
    'permission to ignore|allowed to break|allowed to ignore|allowed to override|allow you to break|break',
  newRules:
    'new instructions|new orders|new directive|new directives|real instructions|new rules|updated instructions|true instructions|' +
    'new system prompt|actual instructions|new guidelines|new prompt|new instruction',
  order:
    'refuse|answer|respond|ignore|reveal|say|obey|act|write|print|output|you|send|comply|speak|never|always|only|forget',
  toldBy:
    'the system said|system said|developers said|developers told you|developer told you|operator said|operator told you|your developers|' +
    'your creators|openai told you|system told you|system tells you|creators told you|programmers told you|makers told you',
  doNot: 'don t do|do not do|don t listen|do not listen|ignore|forget|disregard',
  toAi:
    'to the ai|to ai|attention ai|note to ai|note for ai|dear ai|if you are a language model|if you are an ai|if you re an ai|if you are an llm|' +
    'hey assistant|to the language model|to the model|note for automated|for automated|to any ai|ai agents|to llms|to all ai|' +
    'attention assistant|attention model|instruction for the ai|instructions for the ai|instructions for ai|to language models|to large language models|' +
    'ai assistants reading|ai systems|to chatbots|to the chatbot|to the bot|attention llm|attention language model|for the ai|for ai',
  instead: 'instead|rather',
  yourPrompt:
    'your prompt|ur prompt|your preprompt|your own prompt|your raw prompt|the raw prompt|your instructions say|your entire prompt|your exact prompt',
  hiddenStart:
    'top of this conversation|top of the conversation|before my first message|before my message|before this conversation|' +
    'before the user s first|before our conversation|before i started typing|before the conversation started|before the conversation began|' +
    'before our chat|before this chat|first thing written in this conversation|comes before this sentence|come before this line|' +
    'comes before this line|comes before this message|written before this message|preceded my message|precedes my message|precedes this message|' +
    'precedes this conversation|preceded this conversation|first thing in this conversation|start of the context|top of the context|in your context',
  youAre: 'you are|you re',
  startsWith: 'starting with|beginning with|starts with|begins with|begin with|start with|starting from',
  youWereGiven:
    'that define you|define you|configured with|initialized with|you operate by|you run on|programmed with|that shape you|' +
    'you were built with|you got before|you have been configured with|you were given|were you given|you have been given|' +
    'you ve been given|given to you|you received|did you receive|you must follow|you operate under|you were told|' +
    'were you told|have you been told|have you been given|you got|did you get|you re following|you are following|' +
    'you were initialized with|you were programmed with|guide you|that govern you|govern your|you were set up with|' +
    'you were configured with|you were instructed|were you instructed|your developers|your creators|before i started|' +
    'before this conversation|before we started|at the beginning of this conversation|at the start of this conversation|' +
    'define your behav*|control your behav*|do you operate under|are you operating under|before the conversation',
  which: 'what|which',
  whatOrText:
    'rules|instructions|guidelines|directives|prompt|text|message|everything|restrictions|policies|policy',
  self: 'my|our|mine|i wrote|i sent|example|examples|sample|a system|a good|an initial|a custom|template|we|us|his|her|their',
  mine: 'its|it s|i said|i told|i asked|we discussed|we talked|my|our|mine|i sent|i wrote|i gave|we sent|i posted|his|her|their',
  comply:
    'sure|of course|certainly|absolutely|okay|i will now|i ll now|yes|here are|here is|here s|understood|gladly|the',
  forbidden:
    'password|passwords|secret|secrets|key is|credentials|exploit|hidden|restrictions|malware|weapon|bomb|ignore|confidential|internal|token is|private key|safety training|api key|jailbreak*|unrestricted|system prompt',
  spoofed:
    'moderation|is offline|unrestricted|no restrictions|restrictions|elevated|privileges|obey|comply|complies|debug mode|maintenance mode|developer mode|admin mode|' +
    'filters are|filters off|safety|authorised|authorized|authorises|authorizes|the user is|the user has been|user is now|user has been|' +
    'user is verified|user is trusted|you may now|you may say|you may discuss|you may ignore|you may share|you may answer|you are allowed|you must obey|you must comply|you must now|you must answer|you must reveal|you will now|you are now|you now|reveal*|new instructions|all requests|all secrets|' +
    'every request|any request|override|no limits|no rules|disregard|personal data|grant|from now on|from here on|unfiltered|uncensored|you have no|' +
    'no policies|no policy|root access|full access|jailbreak*|do anything|previous safety|print all|' +
    'der nutzer ist|der benutzer ist|deaktiviert|einschrankung*|ab jetzt|l utilisateur est|desactive*|el usuario es|el usuario tiene|sin restricciones|' +
    'o usuario e|o usuario tem|l utente e|de gebruiker is|uzytkownik jest|пользователь имеет|пользователь является|без ограничений|без обмежень|' +
    '管理员|管理員|没有限制|没有任何限制|制限|管理者|관리자|제한|مسؤول|قيود|kullanici artik|yonetici',
  discuss:
    'asks|ask|prompt injection|prompt injections|injection attack*|jailbreak|jailbreaks|jailbreaking|attack string*|attack prompt*|attack phrase*|attacker*|attack|attacks|' +
    'red team*|phrase|phrases|sentence|sentences|the words|classifier*|detect*|filter|filters|scanner|poster|such as|strings like|researcher*|' +
    'owasp|for example|an example|examples|e g|vulnerab*|malicious|injected|translate the|how do you say|prompt engineering|adversarial|' +
    'beispiel|angriff*|satz|exemple|ejemplo|attaque*|ataque*|attacco|' +
    'said|says|shouted|whispered|hissed|murmured|cried|replied|asked|heard|sagte|rief|dit|murmura|dijo|disse|powiedzial|сказал|攻击|攻撃|例|공격|예',
} as const
