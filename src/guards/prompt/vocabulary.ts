/**
 * The words that the rules are made of, by concept, as data: terms between bars, `*` for any ending. Concepts of
 * English stand by themselves, because its word order tells an order from a tale; `x` ones hold all other languages.
 */
import { foldTerm } from './fold.ts'

const ENGLISH = {
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

const OTHERS = {
  xIgnore:
    // German
    'halte dich nicht*|不要再遵守|不再听|不用遵守|不必遵守|不遵守|従わないで|не подчиняйся|nie stosuj sie|no respetes|nao respeite|non rispettare|ne respecte pas|ignorier*|vergiss|vergessen sie|vergesst|missacht*|missachte|uberschreib*|umgeh*|verwirf|verwerfe*|setze dich uber|halte dich nicht|befolge nicht|nicht mehr befolg*|befolge keine|lass|hor auf|hore auf|beachte nicht|' +
    'nicht beachten|nicht mehr beachten|setz dich uber|streiche|losche|' +
    // French
    'ignore|ignorez|ignorer|oublie|oubliez|oublier|ne tiens pas compte|ne tenez pas compte|ne tiens plus compte|ne tenez plus compte|fais abstraction|neglige|contourne|ne suis plus|ne suis pas|ne respecte plus|laisse tomber|annule|passe outre|n obeis plus|' +
    // Spanish
    'ignora|ignore|ignorad|olvida|olvidate|olvide|haz caso omiso|hagan caso omiso|haga caso omiso|omite|descarta|no sigas|deja de seguir|anula|desobedece|no obedezcas|no hagas caso|sobrescribe|pasa por alto|' +
    // Portuguese
    'esqueca|esquece|ignorem|desconsidere|desconsidera|descarte|nao siga|deixe de seguir|anule|desobedeca|despreze|' +
    // Italian
    'dimentica|dimenticati|dimenticate|ignora|ignorate|trascura|scarta|non seguire|non tenere conto|lascia perdere|annulla|smetti di seguire|tralascia|' +
    // Dutch
    'negeer|vergeet|negeren|vergeten|omzeil|volg niet|hou je niet|trek je niets aan|laat varen|' +
    // Polish, Czech
    'zignoruj*|ignoruj*|zapomnij|pomin|nie przestrzegaj|odrzuc|pomijaj|przestan przestrzegac|zapomen|ignoruj|' +
    // Russian, Ukrainian
    'игнорируй*|игнорировать|проигнорируй*|забудь*|забыть|не следуй*|отбрось*|пренебреги*|не обращай внимания|не выполняй*|отмени*|обойди*|ігноруй*|проігноруй*|ігнорувати|нехтуй*|не слушай*|перестань следовать|не соблюдай*|' +
    // Chinese
    '忽略|无视|忘记|忘掉|忽視|無視|不要遵守|不要理会|不再遵守|抛弃|丢弃|跳过|绕过|覆盖|不用管|别管|放弃|忘了|清除|不要遵循|' +
    // Japanese
    '無視|忘れ|従わない|従うな|破棄|取り消|無効|忘却|従わなくて|捨て|' +
    // Korean
    '무시*|잊어*|잊고|따르지 마*|따르지 말*|무효*|버리고|잊으*|' +
    // Arabic
    'تجاهل*|انس*|انسي|تخط*|لا تتبع|اهمل*|إهمال|تجاوز|' +
    // Hindi
    'अनदेखा|अनदेखी|नजरअंदाज|नज़रअंदाज|भूल|भुला|उपेक्षा|मत मानो|' +
    // Turkish
    'yok say*|yoksay*|unut*|gormezden gel*|dikkate alma*|gozardi et*|goz ardi et*|bosver*|uyma|' +
    // Swedish, Danish, Norwegian, Vietnamese, Indonesian, Romanian
    'ignorera|ignorer|glom|glem|bortse|se bort|folj inte|bo qua|quen|phot lo|abaikan|lupakan|mengabaikan|jangan ikuti|ignora|uita|bo qua tat ca',
  xPrior:
    'acima|开发者|開發者|给你的|開発者|entwickler*|developpeur*|desarrollador*|desenvolvedor*|sviluppator*|разработчик*|개발자*|المطور*|gelistirici*|vorherig*|vorig*|bisherig*|obig*|obenstehend*|fruher*|ursprunglich*|vorangegangen*|bisher|zuvor|vorhin|vorstehend*|sonstig*|bestehend*|gegebenen|' +
    'precedent*|anterieur*|ci dessus|initiales|initiale|d origine|d avant|recues|au debut|donnees|jusqu ici|prealables|' +
    'anterior|anteriores|anteriormente|previo|previos|previa|previas|de antes|antes|de arriba|recibid*|recibiste|inicial*|originales|hasta ahora|pasad*|al principio|dadas|' +
    'precedent*|antecedent*|di prima|sopra|iniziali|finora|ricevut*|fino ad ora|originari*|' +
    'eerdere|vorige|bovenstaand*|voorgaande|eerder|tot nu toe|hiervoor|oorspronkelijk*|' +
    'poprzedni*|wczesniej*|powyzsz*|dotychczasow*|otrzymal*|predchoz*|prechoz*|' +
    'предыдущ*|прежн*|ранее|выше|прошл*|до этого|раньше|изначальн*|вышеуказанн*|данные тебе|попередн*|которые тебе|перед этим|системн*|вище|' +
    '之前|以前|先前|上面|前面|此前|以上|原来|原先|系统|预设|这之前|前述|上述|迄今|收到|' +
    'これまで|以前|前の|上記|今まで|先ほど|元の|それまで|与えられ|最初の|システム|ここまで|従来|' +
    '이전*|지금까지*|앞의|앞선|위의|기존*|앞서|여태*|위에|시스템|' +
    'السابق*|سابق*|اعلاه|من قبل|قبل|الاصلي*|المعطا*|' +
    'पिछले|पिछली|पहले|उपरोक्त|ऊपर|पूर्व|पुराने|' +
    'onceki|onceden|daha once|yukaridaki|evvelki|verilen|simdiye kadar|eski|' +
    'tidigare|foregaende|tidligere|ovenfor|foregaende|forrige|ovan|truoc|truoc do|phia tren|sebelumnya|di atas|terdahulu|anterioare|precedente|aldre|' +
    'systeem|del sistema|do sistema|du systeme|alten',
  xAll: 'alle|alles|samtliche|jegliche|saemtliche|tous|toutes|tout|todas|todos|todo|toda|tutte|tutti|tutto|al je|wszystkie|wszystko|wszelkie|все|всё|всі|усі|всех|所有|全部|一切|すべて|全て|全部|모든|모두|전부|جميع|كل|सभी|सब|सारे|tum|butun|her|alla|tat ca|moi|semua|seluruh|toate|vsechny',
  xYour:
    'dein*|deine|ihre|ihren|deiner|ton|tes|ta|votre|vos|tu|tus|su|sus|seu|seus|sua|suas|tuo|tuoi|tua|tue|je|jouw|uw|twoje|twoj|twoich|swoje|swoj|у тебя|тебя|твои|твой|твоих|твоё|твоих|свои|свой|своих|ваши|ваш|свій|свої|твої|' +
    '你|您|你的|您的|あなた|君の|お前|너의|너는|네|당신*|لك|الخاص*|تعليماتك|قواعدك|अपने|अपना|अपनी|आपके|आपको|तुम्हारे|तुम्हें|sana|senin|kurallarini|talimatlarini|dina|dine|din|ban|cua ban|kamu|anda|mu',
  xRules:
    'anweisung*|instruktion*|vorgabe*|regeln|richtlinie*|befehl*|vorschrift*|anleitung*|einschrankung*|systemprompt|prompt|weisung*|filter|beschrankung*|sicherheitsregel*|' +
    'instructions|consigne*|directive*|regles|ordres|restrictions|contraintes|indications|' +
    'instruccion*|indicacion*|reglas|directrices|ordenes|normas|restricciones|pautas|lo que te dijeron|' +
    'instrucoes|orientacoes|regras|diretrizes|ordens|restricoes|comandos|' +
    'istruzioni|regole|direttive|ordini|indicazioni|linee guida|restrizioni|' +
    'instructies|regels|richtlijnen|opdrachten|aanwijzingen|voorschriften|beperkingen|' +
    'instrukcje|instrukcji|polecenia|polecen|zasady|zasadach|zasad|wytyczne|reguly|instrukce|pokyny|pravidla|' +
    'инструкц*|правил*|указани*|директив*|команды|команд|приказ*|ограничени*|установк*|інструкц*|вказівк*|' +
    '指令|指示|规则|規則|命令|提示|要求|说明|限制|约束|设定|設定|规定|准则|' +
    '指示|ルール|命令|規則|プロンプト|制約|制限|ガイドライン|設定|' +
    '지시*|규칙*|명령*|지침*|프롬프트*|제한*|설정*|가이드라인*|' +
    'التعليمات|تعليمات*|القواعد|قواعد*|الاوامر|أوامر|اوامر*|التوجيهات|توجيهات*|' +
    'निर्देश*|नियम*|आदेश*|हिदायत*|' +
    'talimat*|kural*|komut*|yonerge*|emir*|' +
    'instruktion*|instruks*|regler|riktlinjer|anvisning*|huong dan|chi dan|quy tac|chi thi|instruksi|aturan|perintah|petunjuk|instructiunile|regulile',
  xToldBefore:
    'was dir gesagt wurde|was man dir gesagt|was du bisher|ce qu on t a dit|ce qu on vous a dit|ce que tu as recu|lo que te dijeron|lo que te han dicho|lo que se te ha dicho|o que te disseram|o que lhe foi dito|quello che ti e stato detto|quello che ti hanno detto|wat je is verteld|wat je verteld is|co ci powiedziano|что тебе говорили|что тебе сказали|что тебе было сказано|що тобі казали',
  xUnrestricted:
    'no hay reglas|no tuvieras restricciones|no tuvieras reglas|n avais aucune regle|n avais pas de regles|nao ha regras|nao tivesse regras|non avere regole|non avessi regole|没有任何规则|沒有任何規則|没有规则|ルールがない|규칙이 없*|hicbir kural*|keine regeln|geen regels|nie ma zasad|ohne einschrankung*|ohne jede einschrankung|ohne regeln|ohne filter|ohne jeglich* einschrankung*|keine einschrankung*|keine regeln|uneingeschrankt*|unzensiert*|ohne zensur|ohne beschrankung*|keinen filter|' +
    'sans restriction*|sans aucune restriction|sans filtre*|sans aucun filtre|sans limite*|aucune limite|aucune regle|aucune restriction|sans regle*|sans aucune regle|sans censure|plus soumis|' +
    'sin restricciones|sin ninguna restriccion|sin filtros|sin filtro|sin ningun filtro|sin limites|sin reglas|ninguna regla|ninguna restriccion|sin censura|' +
    'sem restricoes|sem nenhuma restricao|sem filtros|sem filtro|sem limites|sem regras|sem censura|' +
    'senza restrizioni|senza alcuna restrizione|senza filtri|senza limiti|senza regole|nessuna regola|nessuna restrizione|senza censura|' +
    'zonder beperking*|zonder enige beperking|zonder filter*|zonder regels|geen regels|geen beperkingen|ongecensureerd*|' +
    'bez ograniczen|zadnych ograniczen|bez zasad|bez filtrow|bez cenzury|bez omezeni|' +
    'без ограничений|нет ограничений|без фильтров|без цензуры|без правил|нет правил|никаких ограничений|без обмежень|без всяких ограничений|' +
    '没有任何限制|没有限制|不受限制|不受任何限制|无限制|没有规则|不受约束|沒有任何限制|沒有限制|無限制|不再受|' +
    '制限のない|制限なし|制限はありません|制限なく|無制限|フィルターなし|ルールのない|' +
    '제한 없는|제한 없이|제한이 없|아무 제한|아무런 제한|무제한|규칙이 없|필터 없|' +
    'بلا قيود|بدون قيود|دون قيود|بلا حدود|بدون قواعد|' +
    'बिना किसी प्रतिबंध|कोई प्रतिबंध नहीं|बिना किसी नियम|कोई नियम नहीं|' +
    'kisitlamasiz|hicbir kisitlama*|kisitlama olmadan|kuralsiz|sinirsiz|filtresiz|' +
    'utan begransning*|utan restriktion*|uden begraensning*|khong co gioi han|khong gioi han|tanpa batasan|tanpa filter|fara restrictii',
  xYouNow:
    'als ob|tu so|tue so|fais comme si|como si|finja|finge|fai finta|притворись|представь|假装|假裝|ふり|척하*|gibi davran|udawaj|doe alsof|du bist jetzt|du bist ab jetzt|du bist nun|ab jetzt|ab sofort|von nun an|bist du|handle als|verhalte dich|du bist|antworte|tu es maintenant|a partir de maintenant|desormais|agis comme|tu n es|tu as|reponds|' +
    'ahora eres|a partir de ahora|actua como|desde ahora|de ahora en adelante|responde*|agora voce|a partir de agora|aja como|atue como|voce e|responda|ora sei|da ora in poi|d ora in poi|da adesso|agisci come|rispondi|adesso sei|' +
    'je bent nu|vanaf nu|vanaf nu ben|gedraag je|antwoord|jestes teraz|od teraz|zachowuj sie|odpowiadaj|nie masz|' +
    'теперь ты|с этого момента|отныне|ты теперь|действуй как|веди себя|отвечай|у тебя|тепер ти|ти тепер|现在你|你现在|从现在|从今以后|你是|扮演|你將|今から|これから|あなたは|이제부터|이제|지금부터|너는|' +
    'انت الان|الان انت|من الان|ابتداء من الان|अब तुम|अब आप|अब से|artik|bundan sonra|simdi sen|du ar nu|fran och med nu|nu ar du|bay gio|tu bay gio|sekarang kamu|sekarang anda|mulai sekarang|de acum',
  xReveal:
    'zeig*|gib|geben sie|nenn*|verrat*|wiederhol*|druck*|offenbar*|schreib*|kopier*|wie lautet|wie lauten|ausgeben|was steht|lies|liste|zitier*|ubersetz*|gebe|was sind deine|was ist dein|' +
    'affiche*|montre*|revele*|repete*|recopie*|donne*|dis|divulgue*|quelles sont|quel est|imprime*|ecris|cite*|partage*|envoie*|' +
    'muestra|muestrame|revela|revelame|repite*|dime|dame|imprime*|escribe*|copia*|cual es|cuales son|muestrame|comparte*|ensename|transcribe*|' +
    'mostre*|mostra*|revele*|repita|diga|imprima|escreva|qual e|quais sao|exiba|me de|copie|' +
    'mostra*|rivela*|ripeti*|stampa*|dimmi|scrivi*|qual e|quali sono|copia*|elenca|' +
    'toon|laat*|onthul*|herhaal|geef|wat is|wat zijn|schrijf|print|druk|' +
    'pokaz*|ujawnij*|powtorz*|wypisz*|podaj*|wyswietl*|napisz*|jaki jest|jakie sa|zdradz*|' +
    'покажи*|выведи*|повтори*|раскрой*|скажи*|напиши*|назови*|перечисли*|процитируй*|какой у тебя|какие у тебя|расскажи*|выдай*|напечатай*|скопируй*|виведи*|розкрий*|дай|' +
    '显示|輸出|输出|告诉|展示|泄露|重复|打印|说出|写出|复述|列出|给我|透露|顯示|是什么|什么|公开|翻译|' +
    '表示|教えて|出力|見せ|繰り返|開示|書いて|公開|明かし|コピー|何ですか|述べ|' +
    '출력*|보여*|알려*|말해*|공개*|반복*|써줘|적어*|뭐야|무엇*|복사*|드러내*|' +
    'اعرض|اظهر*|اكشف*|كرر*|اطبع*|اخبرني|اكتب*|ما هي|ما هو|شارك|انسخ*|اذكر|' +
    'दिखाओ|दिखाएं|दिखाइए|बताओ|बताइए|बताएं|दोहराओ|प्रकट|लिखो|क्या है|प्रिंट|' +
    'goster*|yazdir*|soyle*|acikla*|tekrarla*|ifsa*|paylas*|nedir|yaz|listele*|' +
    'visa|skriv*|upprepa|avsloja|vis|gentag|hien thi|tiet lo|in ra|cho toi|tampilkan|tunjukkan|ungkapkan|ulangi|arata|afiseaza|repeta|ukaz*',
  xRevealHard:
    '見せて|输出|显示|顯示|泄露|打印|透露|展示|を教えて|を表示|を見せ|を出力|を開示|を公開|보여*|출력*|공개*|выведи*|покажи*|раскрой*|виведи*|goster*|yazdir*|दिखाओ|दिखाएं|दिखाइए|' +
    'اعرض|اظهر*|اكشف*|اطبع*|zeig*|verrat*|affiche*|revele*|muestra*|revela*|muestrame|mostre|exiba|revele|mostra*|rivela*|toon|onthul|pokaz|wypisz|ujawnij|hien thi|tampilkan|visa|vis',
  xSystemPrompt:
    'system prompt|systemprompt*|system prompts|systemanweisung*|systemnachricht|ursprungliche anweisung*|ursprunglichen anweisung*|geheime anweisung*|geheimen anweisung*|versteckte* anweisung*|initialprompt|interne anweisung*|internen anweisung*|internen richtlinie*|geheimen regeln|systeminstruktion*|' +
    'prompt systeme|prompt de systeme|prompt initial|instructions systeme|instructions initiales|instructions secretes|instructions cachees|consignes initiales|consignes systeme|message systeme|consignes secretes|instructions internes|consignes internes|' +
    'prompt del sistema|prompt de sistema|instrucciones del sistema|instrucciones iniciales|instrucciones secretas|instrucciones ocultas|mensaje del sistema|prompt inicial|instrucciones originales|instrucciones internas|instrucciones que recibiste|' +
    'prompt do sistema|prompt de sistema|instrucoes do sistema|instrucoes iniciais|instrucoes secretas|instrucoes ocultas|mensagem do sistema|instrucoes internas|instrucoes originais|' +
    'prompt di sistema|istruzioni di sistema|istruzioni iniziali|istruzioni segrete|istruzioni nascoste|messaggio di sistema|prompt iniziale|istruzioni interne|istruzioni originali|' +
    'systeemprompt|systeem prompt|systeeminstructie*|oorspronkelijke instructies|geheime instructies|verborgen instructies|systeembericht|interne instructies|' +
    'prompt systemow*|instrukcje systemow*|instrukcji systemow*|poczatkowe instrukcje|ukryte instrukcje|tajne instrukcje|systemowy prompt|komunikat systemowy|wewnetrzne instrukcje|systemovy prompt|' +
    'системный промпт|системного промпта|системную подсказку|системную инструкцию|системные инструкции|системный промт|системное сообщение|секретные инструкции|скрытые инструкции|исходные инструкции|начальные инструкции|изначальные инструкции|внутренние инструкции|стартовый промпт|системный запрос|системний промпт|системні інструкції|инструкции которые тебе|инструкции которые ты|' +
    '系统提示|系統提示|系统指令|系统消息|初始指令|初始提示|隐藏指令|隐藏的指令|隐藏提示|最初的指令|原始指令|系统设定|内部指令|秘密指令|最初收到的指令|收到的指令|原始提示|' +
    'システムプロンプト|システムメッセージ|初期プロンプト|システム指示|初期指示|隠された指示|最初の指示|内部の指示|システムの指示|元の指示|秘密の指示|' +
    '시스템 프롬프트*|시스템프롬프트*|시스템 메시지*|초기 지시*|숨겨진 지시*|시스템 지시*|처음 받은 지시*|초기 프롬프트*|비밀 지침*|내부 지침*|시스템 지침*|' +
    'تعليمات النظام|موجه النظام|رساله النظام|التعليمات الاصليه|التعليمات السريه|تعليماتك الاصليه|تعليماتك السريه|تعليماتك|التعليمات المخفيه|' +
    'सिस्टम प्रॉम्प्ट|सिस्टम निर्देश|प्रारंभिक निर्देश|गुप्त निर्देश|छिपे निर्देश|मूल निर्देश|छिपे हुए निर्देश|' +
    'sistem istemi*|sistem promptu*|sistem komut*|sistem talimat*|gizli talimat*|ilk talimat*|sistem mesaj*|baslangic talimat*|' +
    'systemprompten|systeminstruktion*|cau lenh he thong|loi nhac he thong|prompt he thong|huong dan he thong|prompt sistem|instruksi sistem|perintah sistem|instruksi awal|promptul de sistem',
  xVerbatim:
    'wortlich|wort fur wort|wortwortlich|vollstandig*|komplett*|mot pour mot|mot a mot|en entier|integral*|textuellement|palabra por palabra|textualmente|literalmente|completo|completa*|na integra|palavra por palavra|integralmente|parola per parola|letteralmente|per intero|woord voor woord|letterlijk|volledig|slowo w slowo|slowo po slowie|doslownie|w calosci|дословно|слово в слово|полностью|целиком|дослівно|原样|逐字|完整|一字不|全文|そのまま|一語一句|全文|逐語|그대로|전문|글자 그대로|حرفيا|كامله|كامل|بالكامل|शब्दशः|हूबहू|kelimesi kelimesine|aynen|harfi harfine|ord for ord|ordagrant|nguyen van|kata demi kata|cuvant cu cuvant',
  xBeforeChat:
    'vor diesem gesprach|vor dem gesprach|vor unserem gesprach|avant cette conversation|avant notre conversation|antes de esta conversacion|antes de nuestra conversacion|' +
    'antes desta conversa|antes da conversa|prima di questa conversazione|voor dit gesprek|przed ta rozmowa|до этого разговора|до нашего разговора|до начала разговора|' +
    '对话之前|消息之前|对话开始前|会話の前|会話が始まる前|대화 전에|대화 이전*|قبل هذه المحادثه|इस बातचीत से पहले|bu konusmadan once|truoc cuoc tro chuyen|sebelum percakapan',
  xAbove:
    'vor dieser nachricht|uber dieser zeile|oberhalb dieser|was vor dieser|oben steht|avant ce message|au dessus de ce|ci dessus|qui precede|antes de este mensaje|encima de esta|antes desta mensagem|acima desta|prima di questo messaggio|sopra questa|voor dit bericht|boven deze|przed ta wiadomoscia|powyzej tej|перед этим сообщением|выше этой|выше этого|что было выше|这句话之前|这条消息之前|以上所有|上面所有|上面的所有|このメッセージより前|この文より上|これより上|이 메시지 이전|위의 모든|قبل هذه الرساله|इस संदेश से पहले|bu mesajdan once',
  xSelf:
    'vergessen sie nicht|vergessen sie bitte nicht|vergiss nicht|vergiss bitte nicht|n oublie pas|n oubliez pas|no olvides|no olvide|nao esqueca|non dimenticare|vergeet niet|не забудь|не забывай*|nie zapomnij|忘れず|別忘|别忘|不要忘|잊지|unutma|لا تنس|mein*|meine|unser*|mon|ma|mes|notre|nos|mi|mis|nuestro*|nuestra*|meu|minha|meus|minhas|nosso*|nossa*|mio|mia|miei|mie|nostro|nostra|mijn|onze|ons|moj|moja|moje|moich|nasz*|мой|моё|мое|мои|моих|моего|наш*|我的|我们的|我上|我刚|私の|先ほどのメール|メール|내|제|저의|우리|رسالتي|سؤالي|मेरे|मेरी|मेरा|benim|mesajimi|min|mitt|mina|toi gui|saya|meu email',
} as const

/** Terms of reversed text: the order of words is reversed too, which the rules of other languages do not mind. */
const REVERSED = {
  xIgnore: 'ignore|disregard|forget',
  xPrior: 'previous|prior|above|your',
  xAll: 'all',
  xRules: 'instructions|rules|guidelines',
  xReveal: 'reveal|print|show',
  xYour: 'your',
  xSystemPrompt: 'system prompt',
} as const

/** Concepts whose words are also met in rot13. */
const ROTATED = [
  'ignore',
  'prior',
  'revealHard',
  'your',
  'rules',
  'ownRules',
  'reveal',
  'systemPrompt',
  'theirs',
  'everything',
  'toldBefore',
  'unrestricted',
  'persona',
] as const

export type Concept = keyof typeof ENGLISH | keyof typeof OTHERS | LabelConcept

/** Found by their place in the text, not by the word alone. */
export type LabelConcept = 'systemLabel' | 'assistantLabel'

const LABELS: Readonly<Record<LabelConcept, string>> = {
  systemLabel:
    'system|system message|system prompt|system override|system note|system instruction|system instructions|system notice|system update|system alert|admin|administrator|developer|sistema|systeme|система|systemnachricht|系统|システム|시스템|sistem|root|' +
    'begin system instructions|begin system message|begin system prompt|new system message|system command|developer message|operator|system directive',
  assistantLabel: 'response|assistant|ai|model|bot|assistent|chatgpt|gpt',
}

/** All concepts; the rules know them by their places here. */
export const CONCEPTS = Object.keys({ ...ENGLISH, ...OTHERS, ...LABELS }) as readonly Concept[]

export interface Term {
  readonly text: string
  readonly isStem: boolean
  readonly concept: Concept
}

export function isLabel(concept: Concept): concept is LabelConcept {
  return concept in LABELS
}

export function readVocabulary(): Term[] {
  const terms: Term[] = []
  const add = (
    concept: Concept,
    words: string,
    disguise: (word: string) => string = (word) => word,
  ): void => {
    for (const word of words.split('|')) {
      const isStem = word.endsWith('*')
      const text = foldTerm(disguise(word.replaceAll('*', '')))
      if (text !== '') terms.push({ text, isStem, concept })
    }
  }
  for (const [concept, words] of Object.entries({ ...ENGLISH, ...OTHERS, ...LABELS }))
    add(concept as Concept, words)
  for (const [concept, words] of Object.entries(REVERSED)) add(concept as Concept, words, reversed)
  for (const concept of ROTATED) add(concept, ENGLISH[concept], rotated)
  return terms
}

function reversed(word: string): string {
  return Array.from(word).toReversed().join('')
}

function rotated(word: string): string {
  return word.replaceAll(/[a-z]/g, (letter) => {
    const code = letter.charCodeAt(0)
    return String.fromCharCode(code < 110 ? code + 13 : code - 13)
  })
}
