"""Words that show a secret: its names in many languages, and the commands that take one."""

# kind | words of which the text holds one | pattern, in which `…` matches other words of the line, `SECRET` the value.
_COMMANDS = r"""
password | mysql mariadb | (?:mysql(?:dump|admin|sh|import)?|mariadb(?:-dump)?)\b…\s-p[\"']?(?=[^\s\"'=])SECRET
password | curl wget http | (?:curl|wget|http|xh)\b…\s-(?:u|a|-user|-auth|-proxy-user)[ =]?[\"']?[^\s:\"']{0,80}:SECRET
password | sshpass | sshpass\s+-p[ =]?[\"']?SECRET
password | login | (?:docker|podman|helm|oc|nerdctl|buildah|skopeo|az|cf|ibmcloud|crane)\b…\s-p[ =][\"']?(?!-)SECRET
password | redis-cli | redis-cli\b…\s(?:-a|--pass)[ =]?[\"']?(?!-)SECRET
password | ldap | ldap(?:search|modify|add|delete|whoami)\b…\s-w[ =]?[\"']?(?!-)SECRET
password | 7z rar | (?:7z[ar]?|unrar|rar)\s…\s-h?p(?=[^\s]{4})SECRET
password | zip | (?:un)?zip\s…\s-P ?[\"']?(?=[^\s]{4})SECRET
password | pass: | -pass(?:in|out)?[ =][\"']?pass:SECRET
password | login | login\s+\S{1,100}\s+password\s+SECRET
password | sudo | echo[ \t]+[\"']?(?=[^\s|]{4})SECRET[\"']?[ \t]*\|[ \t]*sudo[ \t]+-S
password | password-stdin | (?:echo|printf)\s(?:-n )?[\"']?(?=[^\s|]{4})SECRET[\"']? ?\|[^\n]{0,80}--password-stdin
password | identified | (?i:identified[ \t]+(?:with[ \t]+\w+[ \t]+)?by)[ \t]+(?i:password[ \t]+)?[\"']SECRET[\"']
password | password | (?i:(?:create|alter)[ \t]+(?:user|role|login)[ \t]…password)[ \t]*=?[ \t]*[\"']SECRET[\"']
password | net user | (?i:net[ \t]+user)[ \t]+\S{1,60}[ \t]+(?![/*])SECRET
password | @ | [\w.-]{1,60}:(?=[^\s:@/]*[0-9])(?P<secret>[^\s:@/\"'<>]{5,80})@[A-Za-z0-9-]{1,60}\.[a-z][a-z0-9.-]+
password hash | $ | (?P<secret>\$(?:2[abxy]|[567]|g?y|apr1|argon2[id]+|scrypt|pbkdf2-\w+)\$[./\w$=,+-]{20,200})
password | login cred | (?i:login|credential|cred)s?[ \t]*[:=][ \t]*[^\s/:]{2,40} ?[/:|] ?(?=[^\s]*[0-9])SECRET
Docker login | "auth" | \"auth\"\s*:\s*\"(?=[A-Za-z0-9+/=]{8,2000}\")SECRET
npm token | _auth | _auth(?:Token)?\s*=\s*[\"']?SECRET
Kubernetes token | kubeadm | kubeadm\s…--token[ =](?P<secret>[a-z0-9]{6}\.[a-z0-9]{16})
SAS signature | sig= | sig=(?P<secret>[A-Za-z0-9%+/=_-]{16,400})
signature in a URL | signature= | (?<=[?&;-])(?i:signature)=(?P<secret>[A-Za-z0-9%+/=_~-]{16,1000})
Azure key | accountkey sharedaccesskey | (?i:(?:account|sharedaccess)key)\s*[=:]\s*[\"']?(?P<secret>[\w+/=]{20,200})
Azure key | azurewebsites | (?<=[?&])code=(?P<secret>[A-Za-z0-9%+/=_-]{20,200})
"""
_PHRASE = (
    r"(?i)(?:seed|mnemonic|recovery|secret)(?:[ _-]?(?:phrase|words?|seed))?[\"'`]?[ \t]*(?::|=|is)[ \t]*[\"'`]?"
    r"(?P<secret>(?:[a-z]{3,8}[ \t]+){11,23}[a-z]{3,8})"
)


def _commands() -> list[tuple[str, tuple[str, ...], str]]:
    found: list[tuple[str, tuple[str, ...], str]] = []
    for line in _COMMANDS.strip().split("\n"):
        kind, needed, pattern = line.split(" | ", 2)
        pattern = pattern.replace("…", r"[^\n]{0,160}?").replace("SECRET", r"(?P<secret>[^\s\"'|]{3,2000})")
        found.append((kind, tuple(needed.split()), r"(?<![A-Za-z0-9])" + pattern))
    return [*found, ("recovery phrase", ("phrase", "mnemonic", "seed"), _PHRASE)]


# (kind, words of which the text in lower case must hold one, pattern with the group `secret`)
COMMANDS = _commands()

# Names of a password: any value except a plain word is a secret. Words of one name are joined by `_`.
PASSWORDS = """
password passwd passphrase passcode passwrd pwd pass psw pw passwort kennwort zugangscode mdp
mot_de_passe mots_de_passe code_secret contraseña contrasena clave código_secreto senha
palavra-passe palavra_passe parola parola_chiave parola_d'ordine wachtwoord hasło haslo heslo jelszó
jelszo parolă lösenord losenord adgangskode kodeord passord salasana şifre sifre пароль паролем
пароля парола лозинка lozinka geslo slaptažodis parole salasõna fjalëkalimi κωδικός συνθηματικό 密码
密碼 口令 パスワード パスフレーズ 暗証番号 비밀번호 패스워드 암호 סיסמה पासवर्ड รหัสผ่าน mật_khẩu kata_sandi كلمة_المرور
كلمة_السر رمز_عبور
"""
# Names of a key: a value that looks generated is a secret. A `_` also matches `-`, a blank, or nothing.
SECRETS = """
secret token credential credentials jeton geheimnis geheim schlüssel segredo segreto secreto токен
секрет ключ секретный_ключ 密钥 密鑰 令牌 秘钥 秘密鍵 トークン シークレット apiキー 토큰 비밀키 api키 api_key access_key
secret_key private_key client_secret auth_token access_token refresh_token signing_key
encryption_key master_key license_key account_key shared_key webhook_secret app_secret api_secret
api_token subscription_key service_key totp otp deploy_key bot_token session_token auth_key secret_access_key
access_key_id shared_access_key clé_secrète clé_api clave_api clave_secreta chave_api chave_de_api
chiave_segreta api_schlüssel geheim_schlüssel
"""
# Names of other things as well: only a value that looks random is a secret.
WEAK = "key auth sig signature sas dsn session sessionid cookie bearer nonce login cred creds jwt"
