"""Made-up secrets of every kind, made when a test runs: nothing that looks like one stands in the repository.

In a template `{A36}` is 36 characters of a class: A letters and digits, a lower-case letters and digits, U capitals and
digits, W as A with `_` and `-`, L letters, l lower-case letters, H hex digits, D digits, B base 64, P a password's. `{uuid}`
is a UUID. `<<` and `>>` stand around the secret part; without them all of it is secret.
"""

import random
import re
import string

CLASSES = {
    "A": string.ascii_letters + string.digits,
    "a": string.ascii_lowercase + string.digits,
    "U": string.ascii_uppercase + string.digits,
    "Q": string.ascii_uppercase + "234567",
    "q": string.ascii_lowercase + "234567",
    "W": string.ascii_letters + string.digits + "_-",
    "L": string.ascii_letters,
    "l": string.ascii_lowercase,
    "H": "0123456789abcdef",
    "D": string.digits,
    "B": string.ascii_letters + string.digits + "+/",
}

# What an issuer's own shape tells, wherever it stands.
SHAPED = """\
anthropic api: sk-ant-api03-{W93}AA
anthropic admin: sk-ant-admin01-{W93}AA
anthropic oauth: sk-ant-oat01-{W90}
openrouter: sk-or-v1-{H64}
openai legacy: sk-{A20}T3BlbkFJ{A20}
openai project: sk-proj-{W74}T3BlbkFJ{W74}
openai service account: sk-svcacct-{W58}T3BlbkFJ{W58}
openai admin: sk-admin-{W58}T3BlbkFJ{W58}
deepseek: sk-{H32}
langfuse: sk-lf-{uuid}
groq: gsk_{A52}
xai: xai-{A80}
perplexity: pplx-{A48}
replicate: r8_{A37}
hugging face: hf_{L34}
hugging face organisation: api_org_{L34}
fireworks: fw_{A24}
cerebras: csk-{a48}
langsmith: lsv2_pt_{H32}_{H10}
pinecone: pcsk_{A6}_{A60}
tavily: tvly-dev-{A32}
firecrawl: fc-{H32}
nvidia: nvapi-{W64}
jina: jina_{A60}
databricks: dapi{H32}
databricks numbered: dapi{H32}-2
aws access key: AKIA{Q16}
aws temporary key: ASIA{Q16}
aws secret: {B20}/{B19}
aws session token: IQoJb3JpZ2lu{B200}==
aws bedrock: ABSK{B120}=
amazon mws: amzn.mws.{uuid}
google api: AIza{W35}
google oauth secret: GOCSPX-{W28}
google access token: ya29.{W120}
google refresh token: 1//0{W60}
github classic: ghp_{A36}
github oauth: gho_{A36}
github app user: ghu_{A36}
github app server: ghs_{A36}
github refresh: ghr_{A36}
github fine-grained: github_pat_{A22}_{A59}
gitlab personal: glpat-{W20}
gitlab routable: glpat-{W27}.01.{a9}
gitlab trigger: glptt-{H40}
gitlab runner: glrt-{W20}
gitlab runner registration: GR1348941{W20}
gitlab deploy: gldt-{W20}
gitlab ci job: glcbt-64_{W20}
gitlab scim: glsoat-{W20}
gitlab feed: glft-{W20}
gitlab mail: glimt-{W25}
gitlab agent: glagent-{W50}
gitlab oauth app: gloas-{W64}
gitlab feature flag: glffct-{W20}
bitbucket app password: ATBB{A32}
atlassian api: ATATT3{W183}={H8}
atlassian connect: ATCTT3{W180}={H8}
slack bot: xoxb-{D12}-{D12}-{A24}
slack user: xoxp-{D12}-{D12}-{D12}-{H32}
slack app: xapp-1-A{U10}-{D13}-{H64}
slack refresh: xoxe-1-{A146}
slack configuration: xoxe.xoxp-1-{A160}
slack webhook: https://hooks.slack.com/services/<<T{U10}/B{U10}/{A24}>>
discord bot: M{A25}.{A6}.{W38}
discord webhook: https://discord.com/api/webhooks/<<{D18}/{W68}>>
teams webhook: https://acme.webhook.office.com/<<webhookb2/{uuid}@{uuid}/IncomingWebhook/{H32}/{uuid}>>
stripe live: sk_live_{A24}
stripe restricted: rk_live_{A24}
stripe test: sk_test_{A99}
stripe webhook: whsec_{B32}
square access: sq0atp-{W22}
square secret: sq0csp-{W43}
square production: EAAA{W60}
braintree: access_token$production${a16}${H32}
razorpay: rzp_live_{A14}
flutterwave: FLWSECK-{H32}-X
paddle: pdl_live_apikey_{a26}_{A22}_{A3}
mollie: live_{A30}
plaid: access-production-{uuid}
shippo: shippo_live_{H40}
easypost: EZAK{A54}
duffel: duffel_live_{W43}
shopify: shpat_{H32}
shopify private: shppa_{H32}
sendgrid: SG.{W22}.{W43}
mailgun: key-{H32}
mailchimp: {H32}-us14
brevo: xkeysib-{H64}-{A16}
resend: re_{A8}_{A24}
twilio api: SK{H32}
twilio account: AC{H32}
notion: ntn_{D11}{A35}
notion old: secret_{A43}
figma: figd_{W40}
airtable: pat{A14}.{H64}
airtable old: key{A14}
linear: lin_api_{A40}
asana: 1/{D16}:{H32}
docker personal: dckr_pat_{W27}
docker organisation: dckr_oat_{W32}
npm: npm_{A36}
pypi: pypi-AgEIcHlwaS5vcmc{W120}
rubygems: rubygems_{H48}
crates.io: cio{A32}
nuget: oy2{a43}
clojars: CLOJARS_{a60}
terraform: {A14}.atlasv1.{W66}
vault service: hvs.{W92}
vault batch: hvb.{W140}
vault old: s.{A24}
pulumi: pul-{H40}
doppler: dp.pt.{A43}
doppler service: dp.st.dev.{A43}
1password account: ops_eyJ{B250}
1password secret: A3-{U6}-{U6}-{U5}-{U5}-{U5}-{U5}
fly: fm2_{B120}
fly old: fo1_{W43}
heroku: HRKU-AA{W58}
render: rnd_{A32}
netlify: nfp_{A36}
vercel: vcp_{A48}
cloudflare origin: v1.0-{H24}-{H146}
digitalocean: dop_v1_{H64}
digitalocean oauth: doo_v1_{H64}
scalingo: tk-us-{W48}
supabase: sbp_{H40}
supabase secret: sb_secret_{W31}
planetscale: pscale_tkn_{W43}
planetscale password: pscale_pw_{W43}
neon: napi_{a60}
aiven: AVNS_{W19}
cockroach: CCDB1_{A22}_{A40}
clickhouse: 4b1d{A38}
prefect: pnu_{A36}
grafana service account: glsa_{A32}_{H8}
grafana cloud: glc_{B80}=
grafana old: eyJrIjoi{B80}
new relic user: NRAK-{U27}
new relic insert: NRII-{W32}
new relic browser: NRJS-{H19}
new relic licence: {H36}NRAL
sentry organisation: sntrys_{B120}
sentry user: sntryu_{H64}
honeycomb: hcaik_{a58}
axiom: xaat-{uuid}
dynatrace: dt0c01.{U24}.{U64}
posthog: phx_{A43}
sourcegraph: sgp_{H16}_{H40}
launchdarkly: sdk-{uuid}
postman: PMAK-{H24}-{H34}
readme: rdme_{a70}
apify: apify_api_{A36}
typeform: tfp_{A44}_{A14}
contentful: CFPAT-{W43}
frame.io: fio-u-{W64}
adobe: p8e-{W32}
dropbox: sl.{W135}
42: s-s4t2ud-{H64}
harness: pat.{W22}.{H24}.{A20}
octopus: API-{U26}
jfrog: AKCp{A69}
jfrog reference: cmVmd{A59}
sonarqube: squ_{H40}
snyk: snyk_uat.{A8}.{A40}
circleci: CCIPAT_{A22}_{H40}
buildkite: bkua_{H40}
gitpod: gitpod_pat_{A40}.{A20}
tailscale: tskey-auth-{A12}CNTRL-{A32}
infracost: ico-{A32}
facebook: EAAM{A150}
facebook app: {D16}|{W27}
instagram: IGQV{A140}
pinterest: pina_{A64}
mapbox: sk.eyJ{A60}.{A22}
hubspot: pat-na1-{uuid}
salesforce: 00D{A12}!{A60}
onesignal: os_v2_app_{q104}
age: AGE-SECRET-KEY-1{U58}
wallet: xprv{A107}
nostr: nsec1{a58}
settlemint: sm_pat_{A16}
yandex: AQVN{W36}
alibaba: LTAI{A20}
tencent: AKID{A32}
openshift: sha256~{W43}
defined networking: dnkey-{W26}-{W52}
telegram: {D10}:AA{W33}
maxmind: {A6}_{A29}_mmk
azure storage: {B76}+ASt{A6}==
azure client secret: {A3}8Q~{W34}
azure devops: {q52}
azure devops new: {A76}AZDO{A4}
azure function: AzFu{A40}==
jwt: eyJ{W30}.eyJ{W60}.{W43}
laravel: base64:{B43}=
firebase: {W22}:APA91b{W134}
"""

# What only its place tells: a name, a header, a command, an address.
PLACED = """\
azure connection: DefaultEndpointsProtocol=https;AccountName=acme;AccountKey=<<{B86}==>>;EndpointSuffix=core.windows.net
azure service bus: Endpoint=sb://acme.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey=<<{B43}=>>
azure sas: https://acme.blob.core.windows.net/c?sv=2022-11-02&sp=r&sig=<<{A40}%3D>>&se=2026-01-01
aws secret: aws_secret_access_key = <<{B40}>>
twilio auth: twilio auth token: <<{H32}>>
discord secret: discord client secret = <<{A32}>>
heroku old: HEROKU_API_KEY=<<{uuid}>>
heroku said: the heroku api key is <<{uuid}>>
datadog: DD_API_KEY=<<{H32}>>
datadog said: datadog api key: <<{H40}>>
cloudflare: cloudflare api token <<{W40}>>
mattermost: mattermost token: <<{a26}>>
okta: okta_token: 00<<{W40}>>
algolia: ALGOLIA_ADMIN_KEY: <<{H32}>>
snyk: SNYK_TOKEN=<<{uuid}>>
codecov: CODECOV_TOKEN: <<{uuid}>>
sonar: sonar.login=<<{H40}>>
fastly: fastly key = <<{W32}>>
mailgun signing: mailgun: <<{H32}-{H8}-{H8}>>
zendesk: zendesk secret: <<{A40}>>
splunk: splunk hec token: <<{uuid}>>
x-api-key: X-Api-Key: <<{A24}>>
x-api-key lower: curl -H 'x-api-key: <<{A24}>>' https://api.example.com
private-token: PRIVATE-TOKEN: <<{A20}>>
auth token: x-auth-token: <<{H32}>>
subscription key: Ocp-Apim-Subscription-Key: <<{H32}>>
bearer: Authorization: Bearer <<{A40}>>
bearer lower: authorization: bearer <<{A40}>>
bearer short: Authorization: Bearer <<{H16}>>
basic quoted: headers = {"Authorization": "Basic <<{B24}>>"}
header hex: X-Api-Key: <<{H24}>>
login pair: login: admin / <<{P12}>>
no scheme: scp bob:<<{P12}>>@files.example.com:/x .
password hash: bob:<<$2b$12${A53}>>
one line key: -----BEGIN PRIVATE KEY----- <<{A64} {A64}>> -----END PRIVATE KEY-----
basic: AUTHORIZATION: Basic <<{B40}>>
token scheme: Authorization: token <<{H40}>>
cookie: Cookie: theme=dark; <<session={A32}>>
set-cookie: Set-Cookie: <<sid={A32}>>; Path=/
mysql: mysql -u root -p<<{P12}>> shop
mysqldump: mysqldump -h db -u root -p'<<{P12}>>' shop
long flag: psql-tool --password <<{P12}>> --host db
long flag equals: tool --db-password=<<{P12}>>
token flag: deploy --token <<{A20}>>
sshpass: sshpass -p <<{P12}>> ssh root@host
curl user: curl -u bob:<<{P12}>> https://host
docker login: docker login -u bob -p <<{P12}>> registry
redis-cli: redis-cli -h host -a <<{P12}>> ping
openssl: openssl rsa -passin pass:<<{P12}>>
netrc: machine host login bob password <<{P12}>>
sql: CREATE USER bob IDENTIFIED BY '<<{P12}>>'
kubeadm: kubeadm join host:6443 --token <<{a6}.{a16}>>
docker config: {"auths": {"registry": {"auth": "<<{B40}>>"}}}
npmrc: //registry/:_authToken=<<{A36}>>
url token: git clone https://<<{H40}>>@github.com/acme/app
url token user: git clone https://<<{A20}>>@gitlab.com/acme/app
url password: postgres://bob:<<{P12}>>@db/shop
url password mongodb: mongodb+srv://bob:<<{P12}>>@cluster0.mongodb.net
url password redis: redis://:<<{P12}>>@cache:6379/0
url password amqp: amqps://bob:<<{P12}>>@mq
url query: https://api.example.com/v1?user=bob&access_token=<<{A32}>>&x=1
url signature: https://b.s3.amazonaws.com/f?X-Amz-Date=1&X-Amz-Signature=<<{H64}>>
ado: Server=db;Database=shop;User Id=sa;Password=<<{P12}>>;Encrypt=yes
env: DB_PASSWORD=<<{P12}>>
env quoted: export DB_PASSWORD="<<{P12}>>"
env token: MY_SERVICE_TOKEN=<<{A24}>>
env secret: SECRET_KEY_BASE=<<{H64}>>
yaml: password: <<{P12}>>
yaml key: api_key: <<{A32}>>
json: {"password": "<<{P12}>>"}
json key: {"client_secret": "<<{A32}>>"}
json in json: {\\"api_key\\": \\"<<{A32}>>\\"}
kubernetes env: {"name": "DB_PASSWORD", "value": "<<{P12}>>"}
xml: <password><<{P12}>></password>
nuget config: <add key="ClearTextPassword" value="<<{P12}>>" />
python: client = Client(api_key="<<{A32}>>")
ini: password = <<{P12}>>
go: token := "<<{A24}>>"
markdown: **password**: `<<{P12}>>`
backquoted: the token `<<{A24}>>` is for staging
pw: pw: <<{P12}>>
pwd: pwd=<<{P12}>>
said: the password for the staging database is <<{P12}>>
said near: use the password <<{P12}>> there
generic: the deploy key is <<{A32}>>
hex key: encryption_key = <<{H64}>>
recovery phrase: seed phrase: <<abandon ability able about above absent absorb abstract absurd abuse access accident>>
telegram address: https://api.telegram.org/bot<<{D10}:AA{W33}>>/getMe
gitlab session: _gitlab_session=<<{H32}>>
wireguard: PrivateKey = <<{B43}=>>
html escaped: password&#61;<<{P12}>>
html named: &quot;api_key&quot;: &quot;<<{A32}>>&quot;
url encoded: access_token%3D<<{A32}>>
json escaped: token\\u003d<<{A32}>>
full width: 密码：<<{P12}>>
unnamed: put <<{A40}>> into the config
unnamed assigned: FOO="<<{A32}>>"
"""

LANGUAGES = """\
Passwort: | Kennwort ist | das Passwort lautet | Zugangscode: | mot de passe : | mdp: | le mot de passe est | contraseña: |
la contraseña es | clave: | senha: | a senha é | palavra-passe: | wachtwoord: | het wachtwoord is | hasło: | hasło to | heslo: | jelszó: |
parola: | la parola è | parolă: | lösenord: | adgangskode: | kodeord: | passord: | salasana: | şifre: | Şifre = | пароль: | Пароль — | пароль: |
密码： | 密码是 | 密碼: | 口令： | パスワード： | パスワードは | 暗証番号： | 비밀번호: | 비밀번호는 | 패스워드: | סיסמה: | पासवर्ड: | รหัสผ่าน: | κωδικός: |
mật khẩu: | kata sandi: | كلمة المرور: | PASSWORD: | Passwd: | passphrase: | PIN-pw:
"""


def made(template: str, seed: str = "") -> str:
    """A template with its parts filled in; the same for the same template and seed."""
    chosen = random.Random(f"{template}/{seed}")

    def part(match: re.Match[str]) -> str:
        name, count = match[1], int(match[2] or 0)
        if name == "uuid":
            return "-".join("".join(chosen.choices(CLASSES["H"], k=n)) for n in (8, 4, 4, 4, 12))
        if name == "P":
            return (
                "".join(chosen.choices(string.ascii_letters, k=count - 3))
                + chosen.choice("!#%&*?")
                + chosen.choice(string.digits)
                + chosen.choice(string.ascii_letters)
            )
        while True:
            found = "".join(chosen.choices(CLASSES[name], k=count))
            kinds = {c.isdigit() for c in found}
            if (
                (len(kinds) == 2 or name in {"L", "l", "D"} or count < 16)
                and found[0].isalnum()
                and found[-1].isalnum()
            ):
                return found

    return re.sub(r"\{(uuid|[A-Za-z])([0-9]*)\}", part, template)


def _listed(source: str) -> list[tuple[str, str]]:
    return [(name, template) for name, _, template in (line.partition(": ") for line in source.strip().split("\n"))]


SHAPED_KINDS = _listed(SHAPED)
PLACED_KINDS = _listed(PLACED)
NAMES = [name.strip() for name in LANGUAGES.replace("\n", " ").split("|")]


def planted(template: str, seed: str = "") -> tuple[str, str]:
    """(text, the secret in it)"""
    text = made(template, seed)
    if "<<" not in text:
        return text, text
    before, _, rest = text.partition("<<")
    secret, _, after = rest.rpartition(">>")
    return before + secret + after, secret


def left_of(secret: str, text: str, length: int = 8) -> str:
    """A piece of a secret, of so many characters and not of its well-known beginning, that is still in a text."""
    size = min(length, len(secret))
    first = len(secret) // 3 if len(secret) > 2 * length else 0
    return next(
        (secret[n : n + size] for n in range(first, len(secret) - size + 1) if secret[n : n + size] in text), ""
    )
