"""The shapes of the keys of known services, for `shaped`.

They follow the issuers' documentation and public secret scanners. In a shape a capital before `{` is a class: A letters
and digits, W the same with `_` and `-`, H hex digits, L lower-case letters and digits, U capitals and digits, B base
64. The rest is a regular expression. No shape may look far back: each is tried at one place, and the text that it has
matched is not read again."""

import re
from collections.abc import Iterator

_CLASSES = {
    "A": "[A-Za-z0-9]",
    "W": "[A-Za-z0-9_-]",
    "H": "[0-9A-Fa-f]",
    "L": "[a-z0-9]",
    "U": "[A-Z0-9]",
    "B": "[A-Za-z0-9+/]",
}


def expanded(shape: str) -> str:
    """Return a shape as a regular expression."""
    return re.sub(r"(?<!\\)([AWHULB])(?=\{)", lambda match: _CLASSES[match[1]], shape)


# A shape and the keys that have it behind their beginnings, on indented lines where one is not enough. A key does not
# begin within a word; one that a few letters begin does not stand within base 64, as of a picture.
_PREFIXED = r"""
W{10,} Anthropic key: sk-ant-
(?:v[0-9]-)?A{20,} OpenRouter key: sk-or-
H{8}-H{4}-H{4}-H{4}-H{12} Langfuse key: sk-lf- pk-lf- | Amazon MWS token: amzn.mws. |
  Plaid token: access-sandbox- access-development- access-production- | Axiom token: xaat- xapt- |
  LaunchDarkly key: sdk- api- mob- rel- | HubSpot token: pat-na1- pat-na2- pat-na3- pat-eu1- pat-ap1-
W{20,} Helicone key: sk-helicone- | OpenAI key: sk- sess- | Tavily key: tvly- | Context7 key: ctx7sk- |
  Google token: GOCSPX- | Square token: sq0atp- sq0csp- sq0idp- | Paddle key: pdl_live_apikey_ pdl_sdbx_apikey_ |
  Polar token: polar_oat_ polar_pat_ | Docker token: dckr_pat_ dckr_oat_ | Vault token: hvs. hvb. hvr. |
  Supabase key: sbp_ sb_secret_ sbp_v0_ sbp_oauth_ | Postman key: PMAT- | Browserbase key: bb_live_ |
  Composio key: ak_
A{20,} Groq key: gsk_ | GitLab session: _gitlab_session= | secret key: sk_ rk_ |
  Linear key: lin_api_ lin_oauth_ lin_wh_ | Trigger.dev key: tr_dev_ tr_prod_ tr_stg_ tr_pat_ |
  Cal.com key: cal_live_ cal_test_
A{30,} xAI key: xai- | Perplexity key: pplx- | Replicate token: r8_ | Mollie key: live_ test_ | npm token: npm_ |
  Apify token: apify_api_ | Buildkite token: bkua_ bkat_ bkaj_ bkct_ | Pinterest token: pina_ | Tencent key id: AKID |
  Novu key: nv- | Codecov token: codecov_ | Nx Cloud token: nxcloud_ | GitBook token: gb_api_
A{25,} Hugging Face token: hf_ api_org_
A{22,} Fireworks key: fw_
W{30,} Together key: tgp_v1_ | Weights & Biases key: wandb_v1_ | Google key: AIza | Google refresh token: 1//0 |
  Google session token: g.a000 | Figma token: figd_ figo_ figdr_ figor_ figoh_ figu_ figur_ |
  MongoDB Atlas secret: mdb_sa_sk_ | dbt token: dbtc_ dbts_ dbtu_ | PostHog key: phx_ phs_ | Volcengine key id: AKLT
A{40,} Cerebras key: csk- | Jina key: jina_ | Notion token: secret_ ntn_ | Statsig key: secret- |
  Depot token: depot_project_ depot_org_ depot_user_ | age key: AGE-SECRET-KEY-1 age-secret-key-1
H{24,}(?:_H{6,})? LangSmith key: lsv2_pt_ lsv2_sk_
W{40,} Pinecone key: pcsk_ | NVIDIA key: nvapi- | PyPI token: pypi- | Fly token: fo1_ |
  Cloudflare token: cfut_ cfat_ cfk_ | Contentful token: CFPAT- | Yandex token: y0_ y1_ y2_ y3_
W{43} Voyage key: pa- | OpenShift token: sha256~
H{32} Firecrawl key: fc- | Shopify token: shpat_ shpca_ shppa_ shpss_ shprt_ shptka_
H{40} E2B key: e2b_ | Shippo token: shippo_live_ shippo_test_ | Pulumi token: pul- | SonarQube token: squ_ sqp_ sqa_ |
  Cisco key: cisco_
A{22}(?!W{1}) Modal token: ak- as-
H{32}(?:-[0-9])? Databricks token: dapi
U{16,17}(?!A{1}) AWS access key: AKIA ASIA ABIA ACCA AROA AIDA AGPA ANPA ANVA A3T
[A-Za-z0-9+/=]{60,} AWS session token: FwoGZXIvYXdz IQoJb3JpZ2lu FQoGZXIvYXdz
[A-Za-z0-9+/=]{80,} AWS Bedrock key: ABSK bedrock-api-key-
H{32,} Amazon OAuth secret: amzn1.oa2-cs.v1. | Inngest key: signkey-prod- signkey-test- signkey-branch-
[A-Za-z0-9_.-]{20,} Google token: ya29.
A{20,}(?:_A{20,})? GitHub token: ghp_ gho_ ghu_ ghs_ ghr_
[A-Za-z0-9_]{20,} GitHub token: github_pat_
W{15,}(?:\.W{2,}){0,2} GitLab token: glpat- glptt-
  gldt- glrt- glrtr- glcbt- glsoat- glft- glimt- glagent- gloas- glffct- glwt-
W{18,} GitLab token: GR1348941
A{24,} Bitbucket token: ATBB | Render key: rnd_
[A-Za-z0-9_=-]{30,} Atlassian token: ATATT3 ATCTT3 ATSTT3 ATOAT3 | Stytch secret: secret-live- secret-test-
[A-Za-z0-9%/+=-]{10,} Slack token: xoxa- xoxb- xoxe- xoxo- xoxp- xoxr- xoxs- xoxc- xoxd-
[A-Za-z0-9-]{10,} Slack token: xoxe.xoxb- xoxe.xoxp- xapp- xwfp-
[A-Za-z0-9+/=]{16,} Stripe key: sk_live_ sk_test_ rk_live_ rk_test_ sk_prod_ whsec_
W{56,} Square token: EAAA
L{16}\$H{32} Braintree token: access_token$production$ access_token$sandbox$
W{60,} PayPal token: A21AA A101.
A{14,} Razorpay key: rzp_live_ rzp_test_
A{12,}(?:-X)? Flutterwave key: FLWSECK- FLWSECK_TEST- FLWPUBK_TEST- FLWPUBK-
H{31} Lob key: live_pub_ test_pub_
A{54} EasyPost key: EZAK EZTK
[A-Za-z0-9_=-]{40,} Duffel token: duffel_live_ duffel_test_
W{16,64}\.W{16,} SendGrid key: SG.
H{32}(?!A{1}) Mailgun key: key- pubkey- | Twilio key: SK AC
H{64}(?:-A{16})? Brevo key: xkeysib- xsmtpsib-
A{8,12}_A{16,} Resend key: re_
A{14}\.H{40,} Airtable token: pat
A{14}(?!W{1}) Airtable key: key
[0-9]{12,16}(?:/[0-9]{12,17})?:H{32} Asana token: 0/ 1/ 2/
H{48} RubyGems key: rubygems_
A{32}(?!W{1}) crates.io token: cio
L{43}(?!W{1}) NuGet key: oy2
A{60} Clojars token: CLOJARS_ clojars_
A{24}(?![A-Za-z0-9_(-]|\.[A-Za-z]) Vault token: s. b.
(?:W{2,35}[.])?A{40,} Doppler token: dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit. dp.said.
[A-Za-z0-9+/=_-]{60,} 1Password token: ops_eyJ
U{6}-(?:U{11}|U{6}-U{5})-U{5}-U{5}-U{5} 1Password secret key: A3-
H{8}-H{4}-H{4}-H{4}-H{12}\.A{30}:[A-Za-z0-9+/]{22}== Bitwarden token: 0.
[A-Za-z0-9+/=_,-]{40,} Fly token: fm1r_ fm1a_ fm2_
W{36,} Heroku key: HRKU-
A{36} Netlify token: nfp_ nfc_ nfo_ nfu_ nfb_ | Prefect key: pnu_ pnb_ | Honeybadger token: hbp_
W{24,} Vercel token: vcp_ vck_ vci_ vca_ vcr_ vercel_blob_rw_
H{24}-H{100,} Cloudflare key: v1.0-
H{40,} DigitalOcean token: doo_v1_ dop_v1_ dor_v1_ dot_v1_
W{48} Scalingo token: tk-us-
[A-Za-z0-9_=.-]{32,} PlanetScale token: pscale_tkn_ pscale_oauth_ pscale_pw_
L{50,} Neon key: napi_ | Nostr key: nsec1
W{16,} Aiven password: AVNS_ | Tailscale key: tskey-auth- tskey-api- tskey-client- tskey-scim- tskey-webhook- tskey-
A{22}_A{40} CockroachDB key: CCDB1_
A{38}(?!W{1}) ClickHouse key: 4b1d
A{32}_H{8} Grafana token: glsa_
[A-Za-z0-9+/=]{32,} Grafana token: glc_
[A-Za-z0-9+/=_-]{40,} Grafana key: eyJrIjoi
W{19,} New Relic key: NRAK- NRII- NRJS- NRAA- NRRA- NRBR- NRSP-
[A-Za-z0-9+/=_-]{30,} Sentry token: sntrys_ sntryu_ sntryi_
A{26,} Honeycomb key: hcaik_ hcbik_ hcalk_ hcxik_ hcamk_ | Retool token: retool_
A{24}\.A{64} Dynatrace token: dt0c01. dt0s01. dt0s02. dt0s08. dt0s16.
(?:H{16}_|local_)?A{40,} Sourcegraph token: sgp_ slk_ sgd_
H{24}-H{34} Postman key: PMAK-
L{60,} ReadMe key: rdme_
[A-Za-z0-9_.=-]{40,} Typeform token: tfp_
[A-Za-z0-9_=-]{60,} Frame.io token: fio-u-
W{32} Adobe secret: p8e- p8-
[A-Za-z0-9_=.-]{100,} Dropbox token: sl.
H{64} 42 secret: s-s4t2ud- s-s4t2af- u-s4t2ud- u-s4t2af-
W{22}\.H{24}\.A{20} Harness token: pat. sat.
U{24,}(?!W{1}) Octopus Deploy key: API-
A{60,} JFrog key: AKCp | OneSignal key: os_v2_app_ os_v2_org_
A{59,} JFrog token: cmVmd
[A-Za-z0-9_.-]{30,} Snyk token: snyk_uat. snyk_sat. | Gitpod token: gitpod_pat_
A{20,}_H{40} CircleCI token: CCIPAT_ CCIPRJ_
A{32} Infracost key: ico-
L{30} Twitch token: oauth:
A{80,} Facebook token: EAAM EAAC EAAG EAAB EAAD EAAJ EAAL EAAH EAAI
W{80,} Instagram token: IGQV IGQW IGAA
[A-Za-z0-9_.=-]{12,} LinkedIn secret: WPL_AP1.
[A-Za-z0-9%]{60,} Twitter token: AAAAAAAAAAAAAAAAAAAA
W{20,}\.W{20,} Mapbox token: sk.eyJ tk.eyJ pk.eyJ
[A-Za-z0-9+/=_-]{50,} Intercom token: dG9rO
A{12,15}!A{1}[A-Za-z0-9_.]{40,} Salesforce token: 00D
H{34} Klaviyo key: pk_
A{90,} wallet key: xprv yprv zprv
A{16,} SettleMint token: sm_aat_ sm_pat_ sm_sat_
W{35,} Yandex key: AQVN
W{20,}={0,2}\.W{60,} Yandex token: t1.
A{12,24}(?!A{1}) Alibaba key id: LTAI
L{5,30}\.L{4,6}\.acc[_-][a-z0-9-]{10,32}\.[A-Za-z0-9+/_=-]{30,} Authress key: sc_ ext_ scauth_ authress_
W{26}-W{52} Defined Networking key: dnkey-
U{17}(?!A{1}) Scaleway key: SCW
(?<![+/]A[zC][A-Z][a-z])(?<![+/]ASt)[A-Za-z0-9+/=]{30,} Azure key: AzFu AzSe AzCa ACDb ASt
[a-z0-9-]{5,60}\|[A-Za-z0-9+/=]{40,} Convex key: prod: dev: preview:
A{36,} mem0 key: m0-
(?<![+/]sk)A{80,}(?![A-Za-z0-9+/=]) Sanity token: sk
"""


def _rows(text: str) -> Iterator[tuple[str, str]]:
    """Yield the name and the words of each entry of a table: `name: words | name: words`; one without words has itself
    in lower case."""
    for entry in " ".join(text.split()).split(" | "):
        name, _, words = entry.partition(": ")
        yield name, words or name.lower()


# (kind, the beginnings of such a key, the shape that follows).
PREFIXED = [
    (kind, beginnings, line.partition(" ")[0])
    for line in re.split(r"\n(?! )", _PREFIXED.strip())
    for kind, beginnings in _rows(line.partition(" ")[2])
]

# (kind, a text that such a key holds, the whole shape). A key does not begin within a word.
HOLDING: tuple[tuple[str, str, str], ...] = (
    ("Terraform token", ".atlasv1.", r"A{14}\.atlasv1\.[A-Za-z0-9_=-]{40,}"),
    ("Azure client secret", "Q~", r"[A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,36}"),
    ("Azure DevOps token", "AZDO", "A{76}AZDO(?:A{4})"),
    ("Azure storage key", "+ASt", r"[A-Za-z0-9+/]{76}\+ASt(?:A{6})=="),
    ("Telegram token", ":AA", "[0-9]{8,10}:AAW{32,}"),
    ("Firebase key", ":APA91b", "W{11,152}+:APA91bW{100,}"),
    ("Mailchimp key", "-us", "H{32}-us[0-9]{1,2}"),
    ("MaxMind key", "_mmk", "A{6}_A{29}_mmk"),
    ("TeamCity token", "eyJ0eXAiOiAiVENWMiJ9.", r"eyJ0eXAiOiAiVENWMiJ9\.W{20,}\.A{20,}"),
    ("New Relic key", "NRAL", "H{32,40}(?:FFFF)?NRAL"),
    ("Facebook token", "|", r"[0-9]{15,16}\|W{27,40}"),
    ("Laravel key", "base64:", "base64:[A-Za-z0-9+/]{43}="),
)

# Addresses that are secret themselves, since who knows one can post: (kind, a text in it, the rest).
WEBHOOKS: tuple[tuple[str, str, str], ...] = (
    ("Slack webhook", "hooks.slack.com/", r"(?:services|workflows|triggers)/(?P<secret>[\w/-]{20,})"),
    ("Slack webhook", "hooks.slack-gov.com/", r"(?:services|workflows|triggers)/(?P<secret>[\w/-]{20,})"),
    ("Discord webhook", "discord.com/api/", r"(?:v[0-9]{1,2}/)?webhooks/(?P<secret>[\w/-]{20,})"),
    ("Discord webhook", "discordapp.com/api/", r"(?:v[0-9]{1,2}/)?webhooks/(?P<secret>[\w/-]{20,})"),
    ("Teams webhook", "webhook.office.com/", r"(?P<secret>webhookb2/[\w@/.-]{30,})"),
    ("Google Chat webhook", "chat.googleapis.com/v1/spaces/", r"[\w/-]{5,80}\?(?P<secret>[\w&=%~.-]{20,})"),
    ("Zapier webhook", "hooks.zapier.com/hooks/catch/", r"(?P<secret>[\w/-]{8,})"),
    ("Make webhook", ".make.com/", r"(?P<secret>[a-z0-9]{25,})"),
    ("IFTTT key", "maker.ifttt.com/", r"[\w/-]{3,80}/key/(?P<secret>[\w-]{16,})"),
    ("Telegram token", "api.telegram.org/bot", r"(?P<secret>[0-9]{6,12}:[\w-]{30,})"),
)

_SERVICES = """
Adafruit | Adobe | Airtable | Algolia | Alibaba: alibaba aliyun | Amplitude | Artifactory: artifactory jfrog | Asana |
AssemblyAI | Atlassian: atlassian jira confluence | Auth0 | Azure | Beamer | Better Stack: betterstack logtail |
Bitbucket | Bitfinex | Bittrex | Box: boxsdk | Bugsnag | Cloudflare | Codecov | Cohere: cohere co_api_key | Coinbase |
Confluent | Contentful | Coveralls | Datadog: datadog dd_api_key dd_app_key | Deepgram | DeepSeek | Discord |
Drone: droneci drone_token | Dropbox | ElevenLabs | Etsy | Exa: exa_api_key | Facebook: facebook fb_app_secret |
Fastly | Finicity | Finnhub | Flickr | Freshbooks | Freshdesk | Gitea | Gitter | GoCardless | Heroku |
Hetzner: hetzner hcloud | HubSpot | Instagram | Intercom | Jenkins | Kraken | KuCoin | LaunchDarkly |
Linear: linear_client linear_secret | LinkedIn: linkedin linked_in | Linode | Lob: lob_api lob_key | LogDNA | Loggly |
Mailchimp | Mailgun | Mapbox | Mattermost | Meraki | MessageBird: messagebird message_bird | Mistral | Mixpanel |
Netlify | New Relic: newrelic new_relic | New York Times: nytimes | Okta | OpenWeather: openweather openweathermap |
Opsgenie | PagerDuty | Pinata | Plaid | Postmark | Private AI: privateai private_ai | Pusher | Railway | RapidAPI |
Rollbar | Segment: segment_write | Sendbird | Sentry | SerpAPI | Snyk | SonarQube: sonar_token sonar_login sonarqube |
Splunk | Spotify | Squarespace | Sumo Logic: sumologic sumo | Telegram | Travis CI: travis | Trello | Twilio |
Twitch | Twitter | Typesense | Unsplash | Vercel | Vultr | Weights & Biases: wandb | Yandex | Zendesk |
Zoom: zoom_api zoom_jwt zoom_client
"""
# Words for a service to its name. A value assigned to such a word, or to its key or token, is a secret, even a UUID or
# hex digits. A gap in a word is written as `_`.
SERVICES = {word: name for name, words in _rows(_SERVICES) for word in words.split()}
