"""The shapes of the keys of known services, for `shaped`.

They follow the issuers' documentation and public secret scanners. In a shape a capital before `{` is a class: A letters
and digits, W the same with `_` and `-`, H hex digits, L lower-case letters and digits, U capitals and digits, B
base 64. The rest is a regular expression. No shape may look far back: each is tried at one place, and the text that it
has matched is not read again.
"""

import re

_CLASSES = {
    "A": "[A-Za-z0-9]",
    "W": "[A-Za-z0-9_-]",
    "H": "[0-9A-Fa-f]",
    "L": "[a-z0-9]",
    "U": "[A-Z0-9]",
    "B": "[A-Za-z0-9+/]",
}
_UUID = "H{8}-H{4}-H{4}-H{4}-H{12}"


def expanded(shape: str) -> str:
    """Return a shape as a regular expression."""
    return re.sub(r"(?<!\\)([AWHULB])(?=\{)", lambda match: _CLASSES[match[1]], shape)


# (kind, the beginnings of such a key, the shape that follows). A key does not begin within a word.
PREFIXED: tuple[tuple[str, str, str], ...] = (
    ("Anthropic key", "sk-ant-", "W{10,}"),
    ("OpenRouter key", "sk-or-", "(?:v[0-9]-)?A{20,}"),
    ("Langfuse key", "sk-lf- pk-lf-", _UUID),
    ("Helicone key", "sk-helicone-", "W{20,}"),
    ("OpenAI key", "sk- sess-", "W{20,}"),
    ("Groq key", "gsk_", "A{20,}"),
    ("xAI key", "xai-", "A{30,}"),
    ("Perplexity key", "pplx-", "A{30,}"),
    ("Replicate token", "r8_", "A{30,}"),
    ("Hugging Face token", "hf_ api_org_", "A{25,}"),
    ("Fireworks key", "fw_", "A{22,}"),
    ("Together key", "tgp_v1_", "W{30,}"),
    ("Cerebras key", "csk-", "A{40,}"),
    ("LangSmith key", "lsv2_pt_ lsv2_sk_", "H{24,}(?:_H{6,})?"),
    ("Pinecone key", "pcsk_", "W{40,}"),
    ("Voyage key", "pa-", "W{43}"),
    ("Tavily key", "tvly-", "W{20,}"),
    ("Firecrawl key", "fc-", "H{32}"),
    ("NVIDIA key", "nvapi-", "W{40,}"),
    ("E2B key", "e2b_", "H{40}"),
    ("Modal token", "ak- as-", "A{22}(?!W{1})"),
    ("Jina key", "jina_", "A{40,}"),
    ("Context7 key", "ctx7sk-", "W{20,}"),
    ("Weights & Biases key", "wandb_v1_", "W{30,}"),
    ("Databricks token", "dapi", "H{32}(?:-[0-9])?"),
    ("AWS access key", "AKIA ASIA ABIA ACCA AROA AIDA AGPA ANPA ANVA A3T", "U{16,17}(?!A{1})"),
    ("AWS session token", "FwoGZXIvYXdz IQoJb3JpZ2lu FQoGZXIvYXdz", "[A-Za-z0-9+/=]{60,}"),
    ("AWS Bedrock key", "ABSK bedrock-api-key-", "[A-Za-z0-9+/=]{80,}"),
    ("Amazon MWS token", "amzn.mws.", _UUID),
    ("Amazon OAuth secret", "amzn1.oa2-cs.v1.", "H{32,}"),
    ("Google key", "AIza", "W{30,}"),
    ("Google token", "ya29.", "[A-Za-z0-9_.-]{20,}"),
    ("Google token", "GOCSPX-", "W{20,}"),
    ("Google refresh token", "1//0", "W{30,}"),
    ("Google session token", "g.a000", "W{30,}"),
    ("GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_", "A{20,}(?:_A{20,})?"),
    ("GitHub token", "github_pat_", "[A-Za-z0-9_]{20,}"),
    (
        "GitLab token",
        "glpat- glptt- gldt- glrt- glrtr- glcbt- glsoat- glft- glimt- glagent- gloas- glffct- glwt-",
        r"W{15,}(?:\.W{2,}){0,2}",
    ),
    ("GitLab token", "GR1348941", "W{18,}"),
    ("GitLab session", "_gitlab_session=", "A{20,}"),
    ("Bitbucket token", "ATBB", "A{24,}"),
    ("Atlassian token", "ATATT3 ATCTT3 ATSTT3 ATOAT3", "[A-Za-z0-9_=-]{30,}"),
    ("Slack token", "xoxa- xoxb- xoxe- xoxo- xoxp- xoxr- xoxs- xoxc- xoxd-", "[A-Za-z0-9%/+=-]{10,}"),
    ("Slack token", "xoxe.xoxb- xoxe.xoxp- xapp- xwfp-", "[A-Za-z0-9-]{10,}"),
    ("Stripe key", "sk_live_ sk_test_ rk_live_ rk_test_ sk_prod_ whsec_", "[A-Za-z0-9+/=]{16,}"),
    ("secret key", "sk_ rk_", "A{20,}"),
    ("Square token", "sq0atp- sq0csp- sq0idp-", "W{20,}"),
    ("Square token", "EAAA", "W{56,}"),
    ("Braintree token", "access_token$production$ access_token$sandbox$", r"L{16}\$H{32}"),
    ("PayPal token", "A21AA A101.", "W{60,}"),
    ("Razorpay key", "rzp_live_ rzp_test_", "A{14,}"),
    ("Flutterwave key", "FLWSECK- FLWSECK_TEST- FLWPUBK_TEST- FLWPUBK-", "A{12,}(?:-X)?"),
    ("Paddle key", "pdl_live_apikey_ pdl_sdbx_apikey_", "W{20,}"),
    ("Polar token", "polar_oat_ polar_pat_", "W{20,}"),
    ("Mollie key", "live_ test_", "A{30,}"),
    ("Lob key", "live_pub_ test_pub_", "H{31}"),
    ("Plaid token", "access-sandbox- access-development- access-production-", _UUID),
    ("Shippo token", "shippo_live_ shippo_test_", "H{40}"),
    ("EasyPost key", "EZAK EZTK", "A{54}"),
    ("Duffel token", "duffel_live_ duffel_test_", "[A-Za-z0-9_=-]{40,}"),
    ("Shopify token", "shpat_ shpca_ shppa_ shpss_ shprt_ shptka_", "H{32}"),
    ("SendGrid key", "SG.", r"W{16,64}\.W{16,}"),
    ("Mailgun key", "key- pubkey-", "H{32}(?!A{1})"),
    ("Brevo key", "xkeysib- xsmtpsib-", "H{64}(?:-A{16})?"),
    ("Resend key", "re_", "A{8,12}_A{16,}"),
    ("Twilio key", "SK AC", "H{32}(?!A{1})"),
    ("Notion token", "secret_ ntn_", "A{40,}"),
    ("Figma token", "figd_ figo_ figdr_ figor_ figoh_ figu_ figur_", "W{30,}"),
    ("Airtable token", "pat", r"A{14}\.H{40,}"),
    ("Airtable key", "key", "A{14}(?!W{1})"),
    ("Linear key", "lin_api_ lin_oauth_ lin_wh_", "A{20,}"),
    ("Asana token", "0/ 1/ 2/", "[0-9]{12,16}(?:/[0-9]{12,17})?:H{32}"),
    ("Docker token", "dckr_pat_ dckr_oat_", "W{20,}"),
    ("npm token", "npm_", "A{30,}"),
    ("PyPI token", "pypi-", "W{40,}"),
    ("RubyGems key", "rubygems_", "H{48}"),
    ("crates.io token", "cio", "A{32}(?!W{1})"),
    ("NuGet key", "oy2", "L{43}(?!W{1})"),
    ("Clojars token", "CLOJARS_ clojars_", "A{60}"),
    ("Vault token", "hvs. hvb. hvr.", "W{20,}"),
    ("Vault token", "s. b.", r"A{24}(?![A-Za-z0-9_(-]|\.[A-Za-z])"),
    ("Pulumi token", "pul-", "H{40}"),
    ("Doppler token", "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit. dp.said.", "(?:W{2,35}[.])?A{40,}"),
    ("1Password token", "ops_eyJ", "[A-Za-z0-9+/=_-]{60,}"),
    ("1Password secret key", "A3-", "U{6}-(?:U{11}|U{6}-U{5})-U{5}-U{5}-U{5}"),
    ("Bitwarden token", "0.", _UUID + r"\.A{30}:[A-Za-z0-9+/]{22}=="),
    ("Fly token", "fm1r_ fm1a_ fm2_", "[A-Za-z0-9+/=_,-]{40,}"),
    ("Fly token", "fo1_", "W{40,}"),
    ("Heroku key", "HRKU-", "W{36,}"),
    ("Render key", "rnd_", "A{24,}"),
    ("Netlify token", "nfp_ nfc_ nfo_ nfu_ nfb_", "A{36}"),
    ("Vercel token", "vcp_ vck_ vci_ vca_ vcr_ vercel_blob_rw_", "W{24,}"),
    ("Cloudflare key", "v1.0-", "H{24}-H{100,}"),
    ("Cloudflare token", "cfut_ cfat_ cfk_", "W{40,}"),
    ("DigitalOcean token", "doo_v1_ dop_v1_ dor_v1_ dot_v1_", "H{40,}"),
    ("Scalingo token", "tk-us-", "W{48}"),
    ("Supabase key", "sbp_ sb_secret_ sbp_v0_ sbp_oauth_", "W{20,}"),
    ("PlanetScale token", "pscale_tkn_ pscale_oauth_ pscale_pw_", "[A-Za-z0-9_=.-]{32,}"),
    ("Neon key", "napi_", "L{50,}"),
    ("MongoDB Atlas secret", "mdb_sa_sk_", "W{30,}"),
    ("Aiven password", "AVNS_", "W{16,}"),
    ("CockroachDB key", "CCDB1_", "A{22}_A{40}"),
    ("ClickHouse key", "4b1d", "A{38}(?!W{1})"),
    ("dbt token", "dbtc_ dbts_ dbtu_", "W{30,}"),
    ("Prefect key", "pnu_ pnb_", "A{36}"),
    ("Grafana token", "glsa_", "A{32}_H{8}"),
    ("Grafana token", "glc_", "[A-Za-z0-9+/=]{32,}"),
    ("Grafana key", "eyJrIjoi", "[A-Za-z0-9+/=_-]{40,}"),
    ("New Relic key", "NRAK- NRII- NRJS- NRAA- NRRA- NRBR- NRSP-", "W{19,}"),
    ("Sentry token", "sntrys_ sntryu_ sntryi_", "[A-Za-z0-9+/=_-]{30,}"),
    ("Honeybadger token", "hbp_", "A{36}"),
    ("Honeycomb key", "hcaik_ hcbik_ hcalk_ hcxik_ hcamk_", "A{26,}"),
    ("Axiom token", "xaat- xapt-", _UUID),
    ("Dynatrace token", "dt0c01. dt0s01. dt0s02. dt0s08. dt0s16.", r"A{24}\.A{64}"),
    ("PostHog key", "phx_ phs_", "W{30,}"),
    ("Sourcegraph token", "sgp_ slk_ sgd_", "(?:H{16}_|local_)?A{40,}"),
    ("LaunchDarkly key", "sdk- api- mob- rel-", _UUID),
    ("Statsig key", "secret-", "A{40,}"),
    ("Stytch secret", "secret-live- secret-test-", "[A-Za-z0-9_=-]{30,}"),
    ("Postman key", "PMAK-", "H{24}-H{34}"),
    ("Postman key", "PMAT-", "W{20,}"),
    ("ReadMe key", "rdme_", "L{60,}"),
    ("Apify token", "apify_api_", "A{30,}"),
    ("Typeform token", "tfp_", r"[A-Za-z0-9_.=-]{40,}"),
    ("Contentful token", "CFPAT-", "W{40,}"),
    ("Frame.io token", "fio-u-", "[A-Za-z0-9_=-]{60,}"),
    ("Adobe secret", "p8e- p8-", "W{32}"),
    ("Dropbox token", "sl.", "[A-Za-z0-9_=.-]{100,}"),
    ("42 secret", "s-s4t2ud- s-s4t2af- u-s4t2ud- u-s4t2af-", "H{64}"),
    ("Harness token", "pat. sat.", r"W{22}\.H{24}\.A{20}"),
    ("Octopus Deploy key", "API-", "U{24,}(?!W{1})"),
    ("JFrog key", "AKCp", "A{60,}"),
    ("JFrog token", "cmVmd", "A{59,}"),
    ("SonarQube token", "squ_ sqp_ sqa_", "H{40}"),
    ("Snyk token", "snyk_uat. snyk_sat.", r"[A-Za-z0-9_.-]{30,}"),
    ("CircleCI token", "CCIPAT_ CCIPRJ_", "A{20,}_H{40}"),
    ("Buildkite token", "bkua_ bkat_ bkaj_ bkct_", "A{30,}"),
    ("Depot token", "depot_project_ depot_org_ depot_user_", "A{40,}"),
    ("Gitpod token", "gitpod_pat_", "[A-Za-z0-9_.-]{30,}"),
    ("Tailscale key", "tskey-auth- tskey-api- tskey-client- tskey-scim- tskey-webhook- tskey-", "W{16,}"),
    ("Infracost key", "ico-", "A{32}"),
    ("Twitch token", "oauth:", "L{30}"),
    ("Facebook token", "EAAM EAAC EAAG EAAB EAAD EAAJ EAAL EAAH EAAI", "A{80,}"),
    ("Instagram token", "IGQV IGQW IGAA", "W{80,}"),
    ("LinkedIn secret", "WPL_AP1.", r"[A-Za-z0-9_.=-]{12,}"),
    ("Pinterest token", "pina_", "A{30,}"),
    ("Twitter token", "AAAAAAAAAAAAAAAAAAAA", "[A-Za-z0-9%]{60,}"),
    ("Mapbox token", "sk.eyJ tk.eyJ pk.eyJ", r"W{20,}\.W{20,}"),
    ("Intercom token", "dG9rO", "[A-Za-z0-9+/=_-]{50,}"),
    ("HubSpot token", "pat-na1- pat-na2- pat-na3- pat-eu1- pat-ap1-", _UUID),
    ("Salesforce token", "00D", r"A{12,15}!A{1}[A-Za-z0-9_.]{40,}"),
    ("OneSignal key", "os_v2_app_ os_v2_org_", "A{60,}"),
    ("Klaviyo key", "pk_", "H{34}"),
    ("age key", "AGE-SECRET-KEY-1 age-secret-key-1", "A{40,}"),
    ("Nostr key", "nsec1", "L{50,}"),
    ("wallet key", "xprv yprv zprv", "A{90,}"),
    ("SettleMint token", "sm_aat_ sm_pat_ sm_sat_", "A{16,}"),
    ("Yandex key", "AQVN", "W{35,}"),
    ("Yandex token", "y0_ y1_ y2_ y3_", "W{40,}"),
    ("Yandex token", "t1.", r"W{20,}={0,2}\.W{60,}"),
    ("Alibaba key id", "LTAI", "A{12,24}(?!A{1})"),
    ("Tencent key id", "AKID", "A{30,}"),
    ("Volcengine key id", "AKLT", "W{30,}"),
    ("OpenShift token", "sha256~", "W{43}"),
    ("Authress key", "sc_ ext_ scauth_ authress_", r"L{5,30}\.L{4,6}\.acc[_-][a-z0-9-]{10,32}\.[A-Za-z0-9+/_=-]{30,}"),
    ("Defined Networking key", "dnkey-", "W{26}-W{52}"),
    ("Scaleway key", "SCW", "U{17}(?!A{1})"),
    ("Cisco key", "cisco_", "H{40}"),
    # A few letters say little: not within base 64, as of a picture.
    ("Azure key", "AzFu AzSe AzCa ACDb ASt", "(?<![+/]A[zC][A-Z][a-z])(?<![+/]ASt)[A-Za-z0-9+/=]{30,}"),
    ("Retool token", "retool_", "A{26,}"),
    ("Novu key", "nv-", "A{30,}"),
    ("Codecov token", "codecov_", "A{30,}"),
    ("Trigger.dev key", "tr_dev_ tr_prod_ tr_stg_ tr_pat_", "A{20,}"),
    ("Inngest key", "signkey-prod- signkey-test- signkey-branch-", "H{32,}"),
    ("Convex key", "prod: dev: preview:", r"[a-z0-9-]{5,60}\|[A-Za-z0-9+/=]{40,}"),
    ("Cal.com key", "cal_live_ cal_test_", "A{20,}"),
    ("Browserbase key", "bb_live_", "W{20,}"),
    ("Composio key", "ak_", "W{20,}"),
    ("mem0 key", "m0-", "A{36,}"),
    ("Nx Cloud token", "nxcloud_", "A{30,}"),
    ("GitBook token", "gb_api_", "A{30,}"),
    ("Sanity token", "sk", "(?<![+/]sk)A{80,}(?![A-Za-z0-9+/=])"),  # as above
)

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
Adafruit: adafruit
Adobe: adobe
Airtable: airtable
Algolia: algolia
Alibaba: alibaba aliyun
Amplitude: amplitude
Artifactory: artifactory jfrog
Asana: asana
AssemblyAI: assemblyai
Atlassian: atlassian jira confluence
Auth0: auth0
Azure: azure
Beamer: beamer
Better Stack: betterstack logtail
Bitbucket: bitbucket
Bitfinex: bitfinex
Bittrex: bittrex
Box: boxsdk
Bugsnag: bugsnag
Cloudflare: cloudflare
Codecov: codecov
Cohere: cohere co_api_key
Coinbase: coinbase
Confluent: confluent
Contentful: contentful
Coveralls: coveralls
Datadog: datadog dd_api_key dd_app_key
Deepgram: deepgram
DeepSeek: deepseek
Discord: discord
Drone: droneci drone_token
Dropbox: dropbox
ElevenLabs: elevenlabs
Etsy: etsy
Exa: exa_api_key
Facebook: facebook fb_app_secret
Fastly: fastly
Finicity: finicity
Finnhub: finnhub
Flickr: flickr
Freshbooks: freshbooks
Freshdesk: freshdesk
Gitea: gitea
Gitter: gitter
GoCardless: gocardless
Heroku: heroku
Hetzner: hetzner hcloud
HubSpot: hubspot
Instagram: instagram
Intercom: intercom
Jenkins: jenkins
Kraken: kraken
KuCoin: kucoin
LaunchDarkly: launchdarkly
Linear: linear_client linear_secret
LinkedIn: linkedin linked_in
Linode: linode
Lob: lob_api lob_key
LogDNA: logdna
Loggly: loggly
Mailchimp: mailchimp
Mailgun: mailgun
Mapbox: mapbox
Mattermost: mattermost
Meraki: meraki
MessageBird: messagebird message_bird
Mistral: mistral
Mixpanel: mixpanel
Netlify: netlify
New Relic: newrelic new_relic
New York Times: nytimes
Okta: okta
OpenWeather: openweather openweathermap
Opsgenie: opsgenie
PagerDuty: pagerduty
Pinata: pinata
Plaid: plaid
Postmark: postmark
Private AI: privateai private_ai
Pusher: pusher
Railway: railway
RapidAPI: rapidapi
Rollbar: rollbar
Segment: segment_write
Sendbird: sendbird
Sentry: sentry
SerpAPI: serpapi
Snyk: snyk
SonarQube: sonar_token sonar_login sonarqube
Splunk: splunk
Spotify: spotify
Squarespace: squarespace
Sumo Logic: sumologic sumo
Telegram: telegram
Travis CI: travis
Trello: trello
Twilio: twilio
Twitch: twitch
Twitter: twitter
Typesense: typesense
Unsplash: unsplash
Vercel: vercel
Vultr: vultr
Weights & Biases: wandb
Yandex: yandex
Zendesk: zendesk
Zoom: zoom_api zoom_jwt zoom_client
"""


def _services() -> dict[str, str]:
    found: dict[str, str] = {}
    for line in _SERVICES.strip().split("\n"):
        name, _, words = line.partition(": ")
        found |= dict.fromkeys(words.split(), name)
    return found


# Words for a service to its name. A value assigned to such a word, or to its key or token, is a secret, even a UUID or
# hex digits. A gap in a word is written as `_`.
SERVICES = _services()
