/**
 * Words that people use when they ask, and documents rarely, by language (ISO 639-1): they address a person, ask politely, or say what is
 * wanted. In texts they are rare, and therefore would decide which one is found: “What does a dataclass do for me?” found `cancel_me`.
 * Forms of the words that are among the stop words are left out, as are languages that need no stop words. Written for Quiver.
 */
export const questionWords: Readonly<Record<string, string>> = {
  en: 'me us them must am so very just tell show please get make give want need know let help explain thanks don doesn didn isn ll ve re',
  da: 'venligst tak vis fortæl forklar giv gerne hjælp ønsker behøver få gør lige sige',
  nl: 'alsjeblieft graag bedankt toon laat vertel uitleg leg geef help krijg doe weet willen nodig even echt zeggen',
  fi: 'kiitos näytä kerro selitä anna auta haluan haluaisin tarvitsen tiedän saan teen sano ihan oikein',
  fr: 'merci svp plaît montre montrez dis dites explique expliquez donne donnez aide aidez veux voudrais besoin sais faire fait vraiment juste très',
  de: 'bitte danke zeig zeige erkläre erklär sag sage gib hilf brauche möchte wissen weiß mache bekomme eigentlich mal gerne',
  hu: 'mutasd mondd magyarázd adj segíts szeretnék akarok tudom tudni kapok csinál',
  id: 'tolong mohon terima kasih tunjukkan jelaskan beri berikan bantu perlu tahu dapatkan katakan',
  ga: 'dom dúinn thoil agat taispeáin inis mínigh tabhair cabhraigh teastaíonn fháil dhéanamh',
  it: 'me favore grazie mostra mostrami dimmi spiega spiegami dammi aiuta aiutami voglio vorrei bisogno so fare molto davvero proprio',
  lt: 'prašau ačiū parodyk pasakyk paaiškink duok padėk noriu reikia žinau gauti daryti labai',
  no: 'vennligst takk vis fortell forklar gi hjelp gjerne ønsker trenger vet få gjør veldig',
  pt: 'mim favor obrigado obrigada mostre mostra diga explique dê ajude ajuda quero queria preciso sei fazer faço apenas',
  ro: 'mulțumesc arată spune explică ajută vreau doresc știu fac foarte doar',
  es: 'favor gracias muestra muéstrame dime explica explícame dame ayuda quiero quisiera necesito realmente',
  sv: 'snälla tack visa berätta förklara ge hjälp vill gärna behöver vet få gör bara säg',
  tr: 'lütfen teşekkürler göster söyle açıkla anlat ver yardım istiyorum lazım biliyorum yap almak',
  pl: 'proszę dziękuję pokaż powiedz wyjaśnij daj pomóż chcę chciałbym potrzebuję wiem zrobić robię',
  cs: 'ukaž řekni vysvětli dej pomoz chtěl potřebuji vím dělat dělám velmi právě',
  vi: 'tôi mình giúp làm ơn cảm hãy chỉ nói giải thích muốn cần biết rất xin',
  ru: 'нам пожалуйста спасибо покажи покажите скажи скажите объясни объясните расскажи дай помоги хочу хотел нужно знаю сделать делать очень просто',
  uk: 'мені мене будь ласка дякую покажи покажіть скажи скажіть поясни поясніть розкажи дай допоможи хочу потрібно треба знаю зробити дуже просто',
  bg: 'покажи кажи обясни дай помогни искам нужно знам правя направя просто',
  sr: 'ми мени нам молим хвала покажи реци објасни дај помози желим хоћу треба знам радим урадити веома само',
  el: 'μου εμένα μας παρακαλώ ευχαριστώ δείξε δείξτε πες πείτε εξήγησε εξηγήστε δώσε βοήθησε θέλω χρειάζομαι ξέρω κάνω πολύ απλά',
  ar: 'فضلك رجاء شكرا أرني أخبرني اشرح أعطني ساعدني أريد أحتاج أعرف أفعل جدا فقط',
  fa: 'ممنون توضیح بده کمک میخواهم لازم میدانم',
  he: 'בבקשה תודה הראה ספר הסבר תן עזור רוצה צריך יודע לעשות מאוד פשוט',
  hi: 'मुझे हमें कृपया धन्यवाद दिखाओ दिखाइए बताओ बताइए समझाओ समझाइए दीजिए मदद चाहिए चाहता जानना बस',
  ne: 'धन्यवाद देखाउनुहोस् बताउनुहोस् भन्नुहोस् दिनुहोस् मद्दत चाहिन्छ',
  ta: 'எங்களுக்கு தயவுசெய்து நன்றி காட்டு சொல் விளக்கு கொடு உதவி',
  hy: 'ինձ մեզ խնդրում շնորհակալություն ցույց ասա բացատրիր տուր օգնիր ուզում պետք գիտեմ շատ',
};
