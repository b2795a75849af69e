"""Secrets to plant: every kind in its right shape, drawn by a seeded generator, and the lines they turn up in.

Nothing here looks like a credential until it is drawn, so no scanner is alarmed by the source. Near misses are what
must stay: hashes, identifiers, pictures, examples and references.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Final

_ALPHABETS: Final = {
    "A": string.ascii_letters + string.digits,
    "L": string.ascii_letters,
    "U": string.ascii_uppercase + string.digits,
    "l": string.ascii_lowercase + string.digits,
    "h": "0123456789abcdef",
    "d": string.digits,
    "w": string.ascii_letters + string.digits + "_-",
    "b": string.ascii_letters + string.digits + "+/",
}
_FIELD: Final = re.compile(r"\{([ALUlhdwb])(\d+)\}")
_UUID: Final = "{h8}-{h4}-{h4}-{h4}-{h12}"

SHAPED: Final[tuple[tuple[str, str], ...]] = (
    ("aws-access-key", "AKIA{U16}"),
    ("aws-access-key", "ASIA{U16}"),
    ("aws-bedrock-key", "ABSK{A120}="),
    ("aws-mws-token", f"amzn.mws.{_UUID}"),
    ("google-api-key", "AIza{w35}"),
    ("google-oauth-secret", "GOCSPX-{w28}"),
    ("google-oauth-token", "ya29.{w120}"),
    ("google-oauth-token", "1//0{w60}"),
    ("azure-client-secret", "{A3}8Q~{A34}"),
    ("azure-devops-token", "{A76}AZDO{A4}"),
    ("alibaba-access-key", "LTAI{A18}42"),
    ("tencent-secret-id", "AKID{A32}"),
    ("digitalocean-token", "dop_v1_{h64}"),
    ("heroku-key", "HRKU-AA{w58}"),
    ("cloudflare-token", "cfut_{A40}{h8}"),
    ("cloudflare-token", "v1.0-{h24}-{h146}"),
    ("vault-token", "hvs.{w90}"),
    ("terraform-token", "{A14}.atlasv1.{w67}"),
    ("pulumi-token", "pul-{h40}"),
    ("doppler-token", "dp.st.prd.{A43}"),
    ("databricks-token", "dapi{h32}-2"),
    ("planetscale-token", "pscale_pw_{A43}"),
    ("supabase-key", "sbp_{h40}"),
    ("supabase-key", "sb_secret_{w31}"),
    ("fly-token", "fm2_{A100}=="),
    ("netlify-token", "nfp_{A36}"),
    ("vercel-token", "vcp_{A56}"),
    ("tailscale-key", "tskey-auth-{A16}-{A32}"),
    ("age-key", "AGE-SECRET-KEY-1{U58}"),
    ("onepassword-token", "ops_eyJ{A300}"),
    ("github-token", "ghp_{A36}"),
    ("github-token", "gho_{A36}"),
    ("github-token", "ghs_{A36}"),
    ("github-token", "github_pat_{A22}_{A59}"),
    ("gitlab-token", "glpat-{w20}"),
    ("gitlab-token", "glpat-{w27}.01.{l9}"),
    ("gitlab-token", "glrt-{w20}"),
    ("bitbucket-token", "ATBB{A32}"),
    ("atlassian-token", "ATATT3xFfGF0{w150}={U8}"),
    ("anthropic-key", "sk-ant-api03-{w93}AA"),
    ("openai-key", "sk-proj-{w74}T3BlbkFJ{w74}"),
    ("openai-key", "sk-{A20}T3BlbkFJ{A20}"),
    ("openai-key", "sk-svcacct-{w74}"),
    ("openrouter-key", "sk-or-v1-{h64}"),
    ("langfuse-key", f"sk-lf-{_UUID}"),
    ("huggingface-token", "hf_{L34}"),
    ("groq-key", "gsk_{A52}"),
    ("xai-key", "xai-{A80}"),
    ("perplexity-key", "pplx-{A48}"),
    ("replicate-token", "r8_{A37}"),
    ("fireworks-key", "fw_{A22}17"),
    ("pinecone-key", "pcsk_{A6}_{A63}"),
    ("tavily-key", "tvly-dev-{A30}09"),
    ("nvidia-key", "nvapi-{w64}"),
    ("together-key", "tgp_v1_{w43}"),
    ("elevenlabs-key", "sk_{h48}"),
    ("cerebras-key", "csk-{l48}"),
    ("langsmith-key", "lsv2_pt_{h32}_{h10}"),
    ("voyage-key", "pa-{A41}07"),
    ("jina-key", "jina_{h32}{A28}"),
    ("firecrawl-key", "fc-{h32}"),
    ("wandb-key", "wandb_v1_{A77}"),
    ("e2b-key", "e2b_{h40}"),
    ("npm-token", "npm_{A36}"),
    ("pypi-token", "pypi-AgEIcHlwaS5vcmc{w150}"),
    ("rubygems-key", "rubygems_{h48}"),
    ("crates-token", "cio{A30}31"),
    ("nuget-key", "oy2{l43}"),
    ("docker-token", "dckr_pat_{w27}"),
    ("clojars-token", "CLOJARS_{l60}"),
    ("jfrog-key", "AKCp{A69}"),
    ("slack-token", "xoxb-{d12}-{d13}-{A24}"),
    ("slack-token", "xoxp-{d12}-{d12}-{d12}-{h32}"),
    ("slack-token", "xapp-1-A{U10}-{d13}-{h64}"),
    ("slack-webhook", "hooks.slack.com/services/T{U8}/B{U10}/{A24}"),
    ("discord-token", "M{A21}3A4.{A6}.{w36}78"),
    ("discord-webhook", "discord.com/api/webhooks/{d18}/{w68}"),
    ("telegram-token", "{d9}:AA{w33}"),
    ("teams-webhook", f"acme.webhook.office.com/webhookb2/{_UUID}@{_UUID}/IncomingWebhook/{{h32}}/{_UUID}"),
    ("twitch-token", "oauth:{l30}"),
    ("linear-key", "lin_api_{A40}"),
    ("notion-token", "ntn_{d11}{A35}"),
    ("notion-token", "secret_{A43}"),
    ("figma-token", "figd_{w40}"),
    ("airtable-token", "pat{A14}.{h64}"),
    ("stripe-key", "sk_live_{A24}"),
    ("stripe-key", "rk_live_{A99}"),
    ("stripe-webhook-secret", "whsec_{A32}"),
    ("square-token", "sq0atp-{w22}"),
    ("square-token", "sq0csp-{w43}"),
    ("square-token", "EAAA{w60}"),
    ("braintree-token", "access_token$production${l16}${h32}"),
    ("shopify-token", "shpat_{h32}"),
    ("plaid-token", f"access-production-{_UUID}"),
    ("sendgrid-key", "SG.{w22}.{w43}"),
    ("mailgun-key", "key-{h32}"),
    ("mailchimp-key", "{h32}-us14"),
    ("brevo-key", "xkeysib-{h64}-{A16}"),
    ("resend-key", "re_{A8}_{A22}23"),
    ("twilio-key", "SK{h32}"),
    ("newrelic-key", "NRAK-{U27}"),
    ("grafana-token", "glsa_{A32}_{h8}"),
    ("grafana-token", "glc_{A80}="),
    ("sentry-token", "sntrys_{A90}_{A43}"),
    ("sentry-token", "sntryu_{h64}"),
    ("dynatrace-token", "dt0c01.{U24}.{U64}"),
    ("posthog-key", "phx_{A43}"),
    ("sonar-token", "squ_{h40}"),
    ("postman-key", "PMAK-{h24}-{h34}"),
    ("circleci-token", "CCIPAT_{A22}_{h40}"),
    ("buildkite-token", "bkua_{h40}"),
    ("honeycomb-key", "hcaik_{l58}"),
    ("jwt", "eyJhbGciOiJIUzI1NiJ9.eyJ{w80}.{w43}"),
    ("jwt", "eyJhbGciOiJSU0EtT0FFUCJ9.{w86}.{w16}.{w60}.{w22}"),
)

LINES: Final = (
    "2026-03-14T09:26:53Z ERROR worker[17]: upstream refused {s} (attempt 3 of 5)",
    "$ curl -sS https://api.acme.io/v2/jobs -H 'X-Auth: {s}' | jq .status",
    '{{"level":"debug","msg":"config loaded","value":"{s}","pid":4211}}',
    "+  deploy_credential: {s}",
    "export DEPLOY_VALUE={s} && make release",
    "I pasted {s} into the form and the build went green.",
    "Traceback: ValueError: can't parse '{s}' at config.py:88",
    "    client = Client({s!r}, timeout=30)",
    "notice: rotating <{s}> before Friday",
    "https://ci.acme.io/hook?ref=main&value={s}&retry=1",
)

PLACED: Final[tuple[tuple[str, str, str], ...]] = (
    (
        "private-key",
        "{b64}\n{b64}\n{b64}\n{b20}==",
        "-----BEGIN RSA PRIVATE KEY-----\n{s}\n-----END RSA PRIVATE KEY-----",
    ),
    (
        "private-key",
        "{b64}\\n{b64}\\n{b32}=",
        '"key": "-----BEGIN PRIVATE KEY-----\\n{s}\\n-----END PRIVATE KEY-----\\n"',
    ),
    ("private-key", "{b70}\n{b70}\n{b37}", "cat id_ed25519\n-----BEGIN OPENSSH PRIVATE KEY-----\n{s}"),
    ("private-key", "{b64}\n{b30}", "-----BEGIN EC PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\n{s}..."),
    ("url-password", "{A14}", "psql postgres://svc_app:{s}@db-7.internal:5432/orders"),
    ("url-password", "{A8}!{A6}", "cloning https://build-bot:{s}@git.acme.io/core.git"),
    ("url-password", "{A20}", "REDIS_URL=rediss://default:{s}@cache-2:6380/0"),
    ("url-password", "{w18}7", "amqp connect failed: amqp://worker:{s}@mq.acme.io//"),
    ("password", "{A10}!{d2}", "DB_PASSWORD={s}"),
    ("password", "{A6}#{A6}9", 'password: "{s}"'),
    ("password", "{A12}3", "mysql --host db-1 --password {s} < dump.sql"),
    ("password", "{L8}{d3}", "<add key='SmtpPassword' value='x'/> smtp.password = {s}"),
    ("password", "{A9}7", "docker login -u ci --password={s} registry.acme.io"),
    ("password", "{A12}", "curl -u deploy:{s} https://repo.acme.io/raw/app.tgz"),
    ("password", "{A11}5", "machine ftp.acme.io login builder password {s}"),
    ("password", "{A7}${A7}2", "spring.datasource.password={s}"),
    ("secret", "{A32}", '"client_secret": "{s}",'),
    ("secret", "{w40}", "OAUTH_CLIENT_SECRET='{s}'"),
    ("secret", "{h64}", "DJANGO_SECRET: {s}"),
    ("api-key", "{h32}", "DD_API_KEY={s} datadog-agent run"),
    ("api-key", "{h40}", "dd_app_key: {s}"),
    ("api-key", "{b40}", "aws_secret_access_key = {s}"),
    ("api-key", "{h32}", '{{"api_key": "{s}", "region": "eu"}}'),
    ("api-key", "{A32}", "x-api-key: {s}"),
    ("api-key", "{A40}", "config.apiKey = '{s}';"),
    ("api-key", "{h32}", 'body: "{{\\"api_key\\": \\"{s}\\"}}"'),
    ("api-key", "{A64}", "PAYPAL_CLIENT_SECRET_KEY={s}"),
    ("token", "{A40}", "export ACME_TOKEN={s}"),
    ("token", "{h40}", "token: {s}"),
    ("token", "{A32}", "kubectl config set-credentials ci --token {s}"),
    ("token", "{h32}", "TWILIO_AUTH_TOKEN={s}"),
    ("token", "{w30}4", "GET /v1/export?access_token={s}&page=2"),
    ("authorization", "{A38}9", "Authorization: Bearer {s}"),
    ("authorization", "{A30}4=", '"Authorization": "Basic {s}"'),
    ("authorization", "{A38}1", "curl -H 'authorization: token {s}' https://git.acme.io/api/user"),
    ("authorization", "{A40}2", "sending bearer {s} upstream"),
    ("session-cookie", "{A30}8", "Cookie: theme=dark; sessionid={s}; lang=en"),
    (
        "azure-storage-key",
        "{b86}==",
        "DefaultEndpointsProtocol=https;AccountName=acme;AccountKey={s};EndpointSuffix=core.net",
    ),
    ("azure-sas-signature", "{A43}%3D", "https://acme.blob.core.net/logs?sv=2024-11-04&sp=r&sig={s}"),
)

NEAR_MISSES: Final = (
    "commit {h40}",
    "Merge: {h8} {h8}",
    "request id {h8}-{h4}-{h4}-{h4}-{h12} took 31 ms",
    "sha256:{h64} app.tgz",
    '"integrity": "sha512-{b86}==",',
    "etag: {h32}",
    "<img src='data:image/png;base64,iVBORw0KGgo{b200}='>",
    "password = os.environ['DB_PASSWORD_{U4}']",
    "export API_TOKEN=$TOKEN_{U6}",
    "api_key: <your-key-{d2}>",
    'token = "{{{{ secrets.DEPLOY_{U4} }}}}"',
    "password: changeme{d2}",
    "secret: xxxxxxxx{d2}",
    "Authorization: Bearer $ACCESS_{U3}",
    "max_tokens: {d4}, temperature: 0.2",
    "token_count={d6}",
    "https://user:password@host-{d2}.acme.io/",
    "key: value{d2}, keyboard: us-{d2}",
    "-----BEGIN CERTIFICATE-----\n{b64}\n{b64}\n-----END CERTIFICATE-----",
    "ssh-rsa AAAAB3NzaC1yc2E{b200} ci@build",
    "see docs/api-key-rotation-{d2}.md for the password policy",
    "the token bucket refills {d2} tokens a second",
    "task-{h8} sk-learn-contrib-package-with-a-long-name-{d1}",
    "api_key=settings.vendor_{h4}.key",
)


@dataclass(frozen=True, slots=True)
class Planted:
    """A line with a secret in it."""

    kind: str
    secret: str
    line: str


def draw(shape: str, rng: Random) -> str:
    """Fill the fields of a shape: `{h40}` is forty hexadecimal digits."""
    return _FIELD.sub(lambda field: "".join(rng.choices(_ALPHABETS[field[1]], k=int(field[2]))), shape)


def planted(rng: Random, times: int) -> Iterator[Planted]:
    """Yield every kind of secret `times` times, in varying lines."""
    for _ in range(times):
        for kind, shape in SHAPED:
            secret = draw(shape, rng)
            yield Planted(kind, secret, rng.choice(LINES).format(s=secret))
        for kind, shape, place in PLACED:
            secret = draw(shape, rng)
            yield Planted(kind, secret, place.replace("{{", "{").replace("}}", "}").replace("{s}", secret))


def near_misses(rng: Random, times: int) -> Iterator[str]:
    """Yield lines without secrets that look as if they had some."""
    for _ in range(times):
        for shape in NEAR_MISSES:
            yield draw(shape, rng).replace("{{", "{").replace("}}", "}")
