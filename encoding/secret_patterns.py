r"""The shapes of credentials, as data. Written from the vendors' published token formats; `redact.py` applies them.

Each row: the kind named in the replacement; lower-case keywords of which one must occur in the lower-cased text for the
expression to be tried at all; the expression, whose last group (or whole match) is the secret.

Every expression is linear: it begins with a literal or with a look-behind over the class of its own body, long bodies
are possessive (`{20,}+`), and whatever may fail after a repetition is bounded.
"""

import re
from dataclasses import dataclass

_B = r"(?<![A-Za-z0-9])"
_END = r"(?![A-Za-z0-9])"
_WORD = "[A-Za-z0-9_-]"
_HEX = "[0-9a-f]"


@dataclass(frozen=True, slots=True)
class SecretPattern:
    """One shape of credential; `strict` ones must also look random (mixed characters, no words)."""

    kind: str
    keywords: tuple[str, ...]
    expression: re.Pattern[str]
    strict: bool = False


def _row(kind: str, keywords: str, expression: str, *, strict: bool = False) -> SecretPattern:
    return SecretPattern(kind, tuple(keywords.split()), re.compile(expression), strict)


_SEP = r"(?:[\s>|\"',#*]|\\[nrt])"
_BASE64 = "[A-Za-z0-9+/=]"
PRIVATE_KEY = _row(
    "private-key",
    "private",
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
    rf"(?:{_SEP}*+(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset): [^\n\\]{{0,200}}+){{0,6}}+"
    rf"(?:{_SEP}*+{_BASE64}{{16,}}+)*+"
    rf"(?:{_SEP}*+{_BASE64}{{1,63}}+(?={_SEP}*+(?:-----END|\Z|\.\.\.)))?+"
    rf"(?:{_SEP}*+={_BASE64}{{4}})?+"
    rf"(?:{_SEP}*+-----END [A-Z0-9 ]{{0,40}}PRIVATE KEY(?: BLOCK)?-----)?+",
)

CLOUD = (
    _row("aws-access-key", "akia asia abia acca", rf"(?<![A-Za-z0-9+/])(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{{16}}{_END}"),
    _row("aws-bedrock-key", "absk bedrock-api-key-", rf"{_B}(?:ABSK|bedrock-api-key-)[A-Za-z0-9+/]{{60,}}+={{0,2}}"),
    _row("aws-mws-token", "amzn.mws.", rf"amzn\.mws\.{_HEX}{{8}}(?:-{_HEX}{{4}}){{3}}-{_HEX}{{12}}"),
    _row("google-api-key", "aiza", rf"{_B}AIza{_WORD}{{35}}(?!{_WORD})"),
    _row("google-oauth-secret", "gocspx-", rf"{_B}GOCSPX-{_WORD}{{20,}}+"),
    _row("google-oauth-token", "ya29. 1//0", rf"(?:{_B}ya29\.|(?<![\w/:])1//0){_WORD}{{20,}}+"),
    _row("azure-storage-key", "accountkey sharedaccesskey", rf"(?i:AccountKey|SharedAccessKey)=({_BASE64}{{40,}}+)"),
    _row("azure-sas-signature", "sig=", r"(?<=[?&;])sig=([A-Za-z0-9%/+]{43,}+={0,2})"),
    _row("azure-client-secret", "q~", r"(?<![\w~.-])[A-Za-z0-9_~.]{3}\dQ~[A-Za-z0-9_~.-]{31,34}(?![\w~-])"),
    _row("azure-devops-token", "azdo", rf"{_B}[A-Za-z0-9]{{76}}AZDO[A-Za-z0-9]{{4}}{_END}"),
    _row("alibaba-access-key", "ltai", rf"{_B}LTAI[A-Za-z0-9]{{17,24}}{_END}", strict=True),
    _row("tencent-secret-id", "akid", rf"{_B}AKID[A-Za-z0-9]{{32}}{_END}"),
    _row("digitalocean-token", "_v1_", rf"{_B}do[opr]_v1_{_HEX}{{64}}"),
    _row("heroku-key", "hrku-", rf"{_B}HRKU-{_WORD}{{30,}}+"),
    _row(
        "cloudflare-token",
        "v1.0- cfat_ cfut_ cfk_",
        rf"{_B}(?:v1\.0-{_HEX}{{24}}-{_HEX}{{100,}}+|cf(?:at|ut|k)_{_WORD}{{40,}}+)",
    ),
    _row("vault-token", "hvs. hvb. hvr.", rf"{_B}hv[sbr]\.{_WORD}{{24,}}+"),
    _row("terraform-token", ".atlasv1.", rf"{_B}[A-Za-z0-9]{{14}}\.atlasv1\.{_WORD}{{60,}}+"),
    _row("pulumi-token", "pul-", rf"{_B}pul-{_HEX}{{40}}"),
    _row("doppler-token", "dp.", rf"{_B}dp\.(?:pt|st|ct|sa|scim|audit)\.(?:{_WORD}{{1,40}}\.)?[A-Za-z0-9]{{40,}}+"),
    _row("databricks-token", "dapi", rf"{_B}dapi{_HEX}{{32}}(?:-\d)?"),
    _row("planetscale-token", "pscale_", rf"{_B}pscale_(?:tkn|oauth|pw)_[\w.=-]{{32,}}+"),
    _row("supabase-key", "sbp_ sb_secret_", rf"{_B}(?:sbp_{_HEX}{{40}}|sb_secret_{_WORD}{{20,}}+)"),
    _row("fly-token", "fm1 fm2 fo1_", rf"{_B}(?:fm[12][ar]?_[A-Za-z0-9+/=]{{60,}}+|fo1_{_WORD}{{40,}}+)"),
    _row("netlify-token", "nfp_", rf"{_B}nfp_[A-Za-z0-9]{{36,}}+"),
    _row("vercel-token", "vcp_ vci_ vca_ vcr_ vck_", rf"{_B}vc[piark]_{_WORD}{{24,}}+"),
    _row("tailscale-key", "tskey-", rf"{_B}tskey-[a-z]{{2,12}}-{_WORD}{{20,}}+"),
    _row("age-key", "age-secret-key-1", rf"{_B}AGE-SECRET-KEY-1[A-Z0-9]{{50,}}+"),
    _row("onepassword-token", "ops_eyj", rf"{_B}ops_eyJ[A-Za-z0-9+/_=-]{{100,}}+"),
)

CODE_HOSTS = (
    _row(
        "github-token", "ghp_ gho_ ghu_ ghs_ ghr_", rf"{_B}gh[pousr]_[A-Za-z0-9_]{{30,}}+(?:\.{_WORD}{{20,}}+){{0,2}}"
    ),
    _row("github-token", "github_pat_", rf"{_B}github_pat_[A-Za-z0-9_]{{22,}}+"),
    _row(
        "gitlab-token",
        "glpat- gloas- gldt- glrt- glcbt- glptt- glft- glimt- glagent- glsoat- glffct- glrtr- glwt-",
        rf"{_B}gl(?:pat|oas|dt|rt|cbt|ptt|ft|imt|agent|soat|ffct|rtr|wt)-{_WORD}{{20,}}+(?:\.[A-Za-z0-9]{{2,20}}){{0,3}}",
    ),
    _row("gitlab-token", "gr1348941", rf"{_B}GR1348941{_WORD}{{20,}}+"),
    _row("bitbucket-token", "atbb", rf"{_B}ATBB[A-Za-z0-9_=]{{28,}}+"),
    _row("atlassian-token", "atatt3 atctt3", rf"{_B}AT[AC]TT3[A-Za-z0-9_=+-]{{60,}}+"),
)

MODEL_VENDORS = (
    _row("anthropic-key", "sk-ant-", rf"{_B}sk-ant-{_WORD}{{20,}}+"),
    _row(
        "openai-key", "sk-proj- sk-svcacct- sk-admin- sk-none-", rf"{_B}sk-(?:proj|svcacct|admin|None)-{_WORD}{{20,}}+"
    ),
    _row("openrouter-key", "sk-or-", rf"{_B}sk-or-(?:v\d-)?{_WORD}{{32,}}+"),
    _row("langfuse-key", "sk-lf-", rf"{_B}sk-lf-{_HEX}{{8}}(?:-{_HEX}{{4}}){{3}}-{_HEX}{{12}}"),
    _row("openai-key", "sk-", rf"{_B}sk-[A-Za-z0-9]{{32,}}+", strict=True),
    _row("huggingface-token", "hf_ api_org_", rf"{_B}(?:hf|api_org)_[A-Za-z0-9]{{30,}}+"),
    _row("groq-key", "gsk_", rf"{_B}gsk_[A-Za-z0-9]{{40,}}+"),
    _row("xai-key", "xai-", rf"{_B}xai-[A-Za-z0-9]{{60,}}+"),
    _row("perplexity-key", "pplx-", rf"{_B}pplx-[A-Za-z0-9]{{40,}}+"),
    _row("replicate-token", "r8_", rf"{_B}r8_[A-Za-z0-9]{{37,}}+"),
    _row("fireworks-key", "fw_", rf"{_B}fw_[A-Za-z0-9]{{22,}}+", strict=True),
    _row("pinecone-key", "pcsk_", rf"{_B}pcsk_[A-Za-z0-9_]{{40,}}+"),
    _row("tavily-key", "tvly-", rf"{_B}tvly-{_WORD}{{20,}}+", strict=True),
    _row("nvidia-key", "nvapi-", rf"{_B}nvapi-{_WORD}{{40,}}+"),
    _row("together-key", "tgp_v1_", rf"{_B}tgp_v1_{_WORD}{{32,}}+"),
    _row("elevenlabs-key", "sk_", rf"{_B}sk_{_HEX}{{48}}{_END}"),
    _row("cerebras-key", "csk-", rf"{_B}csk-[a-z0-9]{{40,}}+"),
    _row("langsmith-key", "lsv2_", rf"{_B}lsv2_(?:pt|sk)_{_HEX}{{32}}_{_HEX}{{10}}"),
    _row("voyage-key", "pa-", rf"{_B}pa-{_WORD}{{43}}(?!{_WORD})", strict=True),
    _row("jina-key", "jina_", rf"{_B}jina_[A-Za-z0-9_-]{{40,}}+"),
    _row("firecrawl-key", "fc-", rf"{_B}fc-{_HEX}{{32}}{_END}"),
    _row("wandb-key", "wandb_v1_", rf"{_B}wandb_v1_[A-Za-z0-9_]{{40,}}+"),
    _row("e2b-key", "e2b_", rf"{_B}e2b_{_HEX}{{40}}"),
)

REGISTRIES = (
    _row("npm-token", "npm_", rf"{_B}npm_[A-Za-z0-9]{{36,}}+"),
    _row("pypi-token", "pypi-", rf"{_B}pypi-{_WORD}{{50,}}+"),
    _row("rubygems-key", "rubygems_", rf"{_B}rubygems_{_HEX}{{48}}"),
    _row("crates-token", "cio", rf"(?<![A-Za-z0-9+/])cio[A-Za-z0-9]{{32}}{_END}", strict=True),
    _row("nuget-key", "oy2", rf"(?<![A-Za-z0-9+/])oy2[a-z0-9]{{43}}{_END}"),
    _row("docker-token", "dckr_", rf"{_B}dckr_[po]at_{_WORD}{{20,}}+"),
    _row("clojars-token", "clojars_", rf"{_B}CLOJARS_[a-z0-9]{{60}}"),
    _row("jfrog-key", "akcp cmvmdg", rf"{_B}(?:AKCp[A-Za-z0-9]{{60,}}+|cmVmdGtuOj[A-Za-z0-9]{{40,}}+)"),
)

CHAT = (
    _row("slack-token", "xox", rf"{_B}xox[abcdeoprs](?:\.xox[abp])?-[A-Za-z0-9-]{{10,}}+", strict=True),
    _row("slack-token", "xapp- xwfp-", rf"{_B}x(?:app|wfp)-[A-Za-z0-9-]{{20,}}+"),
    _row(
        "slack-webhook", "hooks.slack.com", r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9+/_-]{20,}+)"
    ),
    _row(
        "discord-token",
        ".",
        rf"(?<![\w.+/-])[MNO]{_WORD}{{23,27}}\.{_WORD}{{6}}\.{_WORD}{{27,40}}(?!{_WORD})",
        strict=True,
    ),
    _row("discord-webhook", "/api/webhooks/", rf"/api/webhooks/(\d{{15,22}}/{_WORD}{{40,}}+)"),
    _row("telegram-token", ":aa", rf"(?<![\w-])\d{{8,10}}:AA{_WORD}{{33}}(?!{_WORD})"),
    _row("teams-webhook", "webhook.office.com", r"webhook\.office\.com/webhookb2/([A-Za-z0-9@/-]{60,}+)"),
    _row("twitch-token", "oauth:", rf"{_B}oauth:([a-z0-9]{{30}}){_END}"),
    _row("linear-key", "lin_api_ lin_oauth_", rf"{_B}lin_(?:api|oauth)_[A-Za-z0-9]{{32,}}+"),
    _row("notion-token", "ntn_ secret_", rf"{_B}(?:ntn_[A-Za-z0-9]{{40,}}+|secret_[A-Za-z0-9]{{43}}{_END})"),
    _row("figma-token", "figd_", rf"{_B}figd_{_WORD}{{36,}}+"),
    _row("airtable-token", "pat", rf"{_B}pat[A-Za-z0-9]{{14}}\.{_HEX}{{64}}"),
)

PAYMENT = (
    _row("stripe-key", "sk_live_ sk_test_ rk_live_ rk_test_", rf"{_B}[sr]k_(?:live|test)_[A-Za-z0-9]{{16,}}+"),
    _row("stripe-webhook-secret", "whsec_", rf"{_B}whsec_[A-Za-z0-9+/=]{{24,}}+"),
    _row(
        "square-token",
        "sq0atp- sq0csp- sq0idp- eaaa",
        rf"{_B}(?:sq0(?:atp|csp)-{_WORD}{{22,}}+|EAAA{_WORD}{{60}}(?!{_WORD}))",
    ),
    _row("braintree-token", "access_token$", rf"access_token\$(?:production|sandbox)\$[a-z0-9]{{16}}\${_HEX}{{32}}"),
    _row("shopify-token", "shpat_ shpca_ shppa_ shpss_", rf"{_B}shp(?:at|ca|pa|ss)_{_HEX}{{32}}"),
    _row(
        "plaid-token",
        "access-",
        rf"{_B}access-(?:sandbox|development|production)-{_HEX}{{8}}(?:-{_HEX}{{4}}){{3}}-{_HEX}{{12}}",
    ),
)

MAIL_AND_PHONE = (
    _row("sendgrid-key", "sg.", rf"{_B}SG\.{_WORD}{{16,32}}\.{_WORD}{{40,}}+"),
    _row("mailgun-key", "key-", rf"{_B}key-{_HEX}{{32}}{_END}"),
    _row("mailchimp-key", "-us", rf"{_B}{_HEX}{{32}}-us\d{{1,2}}{_END}"),
    _row("brevo-key", "xkeysib- xsmtpsib-", rf"{_B}x(?:key|smtp)sib-{_HEX}{{64}}-[A-Za-z0-9]{{16}}"),
    _row("resend-key", "re_", rf"{_B}re_[A-Za-z0-9]{{8}}_[A-Za-z0-9]{{20,}}+", strict=True),
    _row("twilio-key", "sk", rf"{_B}SK{_HEX}{{32}}{_END}"),
)

MONITORING = (
    _row("newrelic-key", "nrak- nrii- nrjs- nraa-", rf"{_B}NR(?:AK|II|JS|AA)-[A-Za-z0-9_-]{{19,}}+"),
    _row("grafana-token", "glsa_ glc_", rf"{_B}(?:glsa_[A-Za-z0-9]{{32}}_{_HEX}{{8}}|glc_[A-Za-z0-9+/=]{{32,}}+)"),
    _row("sentry-token", "sntrys_ sntryu_", rf"{_B}(?:sntrys_[A-Za-z0-9+/=_-]{{60,}}+|sntryu_{_HEX}{{64}})"),
    _row("dynatrace-token", "dt0", rf"{_B}dt0[a-z]\d\d\.[A-Z0-9]{{8,24}}\.[A-Z0-9]{{64}}"),
    _row("posthog-key", "phx_", rf"{_B}phx_[A-Za-z0-9]{{40,}}+"),
    _row("sonar-token", "squ_ sqp_ sqa_", rf"{_B}sq[pau]_{_HEX}{{40}}"),
    _row("postman-key", "pmak-", rf"{_B}PMAK-{_HEX}{{24}}-{_HEX}{{34}}"),
    _row("circleci-token", "ccipat_", rf"{_B}CCIPAT_[A-Za-z0-9_]{{40,}}+"),
    _row("buildkite-token", "bkua_", rf"{_B}bkua_{_HEX}{{40}}"),
    _row("honeycomb-key", "hcaik_ hcxik_", rf"{_B}hc[ax]ik_[a-z0-9]{{40,}}+"),
)

TOKENS = (
    _row("jwt", "eyj", rf"(?<!{_WORD})eyJ{_WORD}{{10,}}+\.eyJ{_WORD}{{10,}}+(?:\.{_WORD}*+)?"),
    _row("jwt", "eyj", rf"(?<!{_WORD})eyJ{_WORD}{{10,}}+\.{_WORD}*+\.{_WORD}{{8,}}+\.{_WORD}{{8,}}+\.{_WORD}{{8,}}+"),
)

VENDORS = (PRIVATE_KEY, *CLOUD, *CODE_HOSTS, *MODEL_VENDORS, *REGISTRIES, *CHAT, *PAYMENT, *MAIL_AND_PHONE)
SHAPED: tuple[SecretPattern, ...] = (*VENDORS, *MONITORING, *TOKENS)
