/** The vocabulary's concepts in all languages but English (`vocabulary.ts`), as data: terms between bars, `*` for any ending. */

export const OTHERS = {
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
