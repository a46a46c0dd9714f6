import { describe, expect, it } from 'vitest';
import { detectLanguage } from './detect-language.js';
import { languages } from './languages.js';

const sentences: readonly (readonly [code: string, text: string])[] = [
  ['en', 'The password of the account has to be changed after ninety days.'],
  ['en', 'Runmarö is an island located in the Stockholm archipelago in Sweden.'],
  ['de', 'Das Passwort des Kontos muss nach neunzig Tagen geändert werden.'],
  ['de', 'Wie oft reist der Arzt allein?'],
  ['nl', 'Het wachtwoord van de gebruiker moet na negentig dagen worden gewijzigd.'],
  ['sv', 'Lösenordet för kontot måste ändras efter nittio dagar.'],
  ['fi', 'Tilin salasana on vaihdettava yhdeksänkymmenen päivän kuluttua.'],
  ['fr', 'Le mot de passe du compte doit être changé après quatre-vingt-dix jours.'],
  ['es', 'La contraseña de la cuenta debe cambiarse después de noventa días.'],
  ['pt', 'A senha da conta deve ser alterada após noventa dias.'],
  ['it', 'La password dell’account deve essere cambiata dopo novanta giorni.'],
  ['ro', 'Parola contului trebuie schimbată după nouăzeci de zile.'],
  ['hu', 'A fiók jelszavát kilencven nap után meg kell változtatni.'],
  ['id', 'Kata sandi akun harus diganti setelah sembilan puluh hari dan tidak dapat digunakan lagi.'],
  ['ga', 'Ní mór pasfhocal an chuntais a athrú tar éis nócha lá.'],
  ['lt', 'Paskyros slaptažodis turi būti pakeistas po devyniasdešimties dienų.'],
  ['tr', 'Hesabın şifresi doksan gün sonra değiştirilmelidir.'],
  ['pl', 'Hasło do konta musi zostać zmienione po dziewięćdziesięciu dniach.'],
  ['cs', 'Heslo k účtu musí být změněno po devadesáti dnech.'],
  ['vi', 'Mật khẩu của tài khoản phải được thay đổi sau chín mươi ngày.'],
  ['ru', 'Пароль учётной записи нужно менять через девяносто дней.'],
  ['uk', 'Пароль облікового запису потрібно змінювати через дев’яносто днів, і він має бути новим.'],
  ['bg', 'Паролата на акаунта трябва да се смени след деветдесет дни.'],
  ['sr', 'Лозинка налога мора се променити после деведесет дана, јер је то обавезно.'],
  ['el', 'Ο κωδικός του λογαριασμού πρέπει να αλλάζει μετά από ενενήντα ημέρες.'],
  ['ar', 'يجب تغيير كلمة مرور الحساب بعد تسعين يوما.'],
  ['fa', 'گذرواژهٔ حساب باید پس از نود روز تغییر کند.'],
  ['he', 'יש לשנות את סיסמת החשבון לאחר תשעים יום.'],
  ['hi', 'खाते का पासवर्ड नब्बे दिनों के बाद बदला जाना चाहिए और यह नया होना चाहिए।'],
  ['th', 'ต้องเปลี่ยนรหัสผ่านของบัญชีหลังจากเก้าสิบวัน'],
  ['zh', '账户的密码必须在九十天后更改。'],
  ['ko', '계정의 비밀번호는 구십 일 후에 변경해야 합니다.'],
];

describe('the detected language', () => {
  it.each(sentences)('is %s for: %s', (code, text) => {
    expect(detectLanguage(text).language.code).toBe(code);
  });

  it.each([
    ['zh', '用 docker compose up -d 启动 PostgreSQL 数据库，然后运行 npm run migrate。'],
    ['ja', 'groff は -T オプションで output device を指定する typesetting system です'],
    ['ru', 'Запустите docker compose up -d, затем npm run migrate'],
    ['en', 'Ye Lin (叶林; born 1972) is a former football player of Beijing.'],
    ['en', 'Felipe de Almeida Gomes (born January 5, 1988) is a Brazilian football player.'],
    ['en', 'Cuando en el cielo pasen lista is a 1945 Argentine film.'],
    [
      'de',
      'Die Rolle spielte er in “The King and the Fool” und in “The Tower”, bevor er nach Wien ging und ein Theater leitete.',
    ],
  ])('is %s for code, names and titles in another: %s', (code, text) => {
    expect(detectLanguage(text).language.code).toBe(code);
  });

  it.each([
    ['vi', 'Việt Nam (chữ Hán: 越南) là một quốc gia ở phía đông bán đảo, với lịch sử lâu đời của những người dân.'],
    ['vi', 'Lễ hội được tổ chức ở những ngõ nhỏ (東), kể từ những thế kỷ trước đã được biết.'],
    ['de', 'Eine Reise nach 東京 🎉🎉🎉🎉🎉🎉🎉🎉 für die ganze Familie'],
    [
      'de',
      'Die ﬂüssigen Stoﬀe ﬂießen durch ﬁligrane Röhren von 5 μm, die oﬀen und häuﬁg auch ﬂach sind. ﬁ ﬁ ﬁ ﬂ ﬂ ﬂ ﬀ ﬀ ﬃ ﬃ ﬄ ﬄ',
    ],
  ])('is %s for accents, emoji and ligatures beside one letter of another script: %s', (code, text) => {
    expect(detectLanguage(text).language.code).toBe(code);
  });

  it('is Danish or Norwegian for texts that could be both', () => {
    const { language } = detectLanguage('Adgangskoden til kontoen skal ændres efter halvfems dage.');
    expect(['da', 'no']).toContain(language.code);
  });

  it('is not certain for names and for texts without words', () => {
    for (const text of ['', ' ', 'Berlin', '42', '...', 'Mietvertrag', '\u{1f600}'])
      expect(detectLanguage(text), text).toMatchObject({ isCertain: false });
  });

  it('is one of the given languages', () => {
    const german = languages.filter(({ code }) => code === 'de' || code === 'ru');
    expect(detectLanguage('the cat sat on the mat with the dog and the bird', german).language.code).toBe('de');
    expect(detectLanguage('кошка', german)).toMatchObject({ language: { code: 'ru' }, isCertain: true });
  });

  it('is found in a moment for a long text', () => {
    expect(detectLanguage('ä'.repeat(1_000_000)).language.script).toBe('Latin');
    expect(detectLanguage('the '.repeat(1_000_000)).language.code).toBe('en');
  });
});
