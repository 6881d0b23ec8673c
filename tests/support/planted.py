"""Secrets to plant, of every kind, generated at each import so that no scanner of this repository finds one."""

from __future__ import annotations

import base64
import random
import re
import string
from typing import Any

_RANDOM = random.Random(20261128)
ALPHANUMERIC = string.ascii_letters + string.digits
HEX = "0123456789abcdef"
UPPER = string.ascii_uppercase + "234567"


def made(length: int, alphabet: str = ALPHANUMERIC) -> str:
    """Return random characters; some of them are digits."""
    return "a7f3" + "".join(_RANDOM.choice(alphabet) for _ in range(length - 4))


def _upper(length: int) -> str:
    return "".join(_RANDOM.choice(UPPER) for _ in range(length))


def _uuid() -> str:
    return "-".join(made(length, HEX) for length in (8, 4, 4, 4, 12))


def _key() -> str:
    body = "\n".join(made(64) for _ in range(6))
    return f"-----BEGIN {'OPENSSH'} PRIVATE KEY-----\n{body}\n-----END OPENSSH PRIVATE KEY-----"


def secrets() -> dict[str, str]:
    """Return a text with a secret by kind; the secret in it is between `<<` and `>>`, marks to be removed."""
    return {
        "private-key": f"<<{_key()}>>",
        "age-key": f"<<AGE-SECRET-KEY-1{_upper(58)}>>",
        "aws-access-key": f"<<{'AK'}IA{_upper(16)}>>",
        "anthropic-key": f"<<{'sk'}-ant-api03-{made(80)}>>",
        "openai-key": f"<<{'sk'}-proj-{made(60)}>>",
        "azure-key": f"DefaultEndpointsProtocol=https;AccountName=fox;AccountKey=<<{made(86)}==>>;",
        "azure-signature": f"https://fox.blob.core.windows.net/b?sv=2024&sig=<<{made(43)}>>",
        "databricks-token": f"<<{'da'}pi{made(32, HEX)}>>",
        "digitalocean-token": f"<<{'dop'}_v1_{made(64, HEX)}>>",
        "discord-webhook": f"https://discord.com/api/webhooks/123456789012/<<{made(68)}>>",
        "docker-token": f"<<{'dckr'}_pat_{made(27)}>>",
        "doppler-token": f"<<{'dp'}.pt.{made(43)}>>",
        "figma-token": f"<<{'fi'}gd_{made(43)}>>",
        "github-token": f"<<{'gh'}p_{made(36)}>>",
        "gitlab-token": f"<<{'gl'}pat-{made(20)}>>",
        "google-api-key": f"<<{'AI'}za{made(35)}>>",
        "google-oauth-secret": f"<<{'GOC'}SPX-{made(28)}>>",
        "google-oauth-token": f"<<{'ya'}29.{made(60)}>>",
        "grafana-token": f"<<{'gl'}sa_{made(40)}>>",
        "groq-key": f"<<{'gs'}k_{made(52)}>>",
        "huggingface-token": f"<<{'hf'}_{made(34)}>>",
        "json-web-token": f"<<{'ey'}J{made(20)}.{'ey'}J{made(40)}.{made(43)}>>",
        "linear-key": f"<<{'lin'}_api_{made(40)}>>",
        "mailgun-key": f"<<{'key'}-{made(32, HEX)}>>",
        "newrelic-key": f"<<{'NR'}AK-{_upper(27)}>>",
        "notion-token": f"<<{'nt'}n_{made(46)}>>",
        "npm-token": f"<<{'np'}m_{made(36)}>>",
        "postman-key": f"<<{'PM'}AK-{made(24, HEX)}-{made(34, HEX)}>>",
        "pypi-token": f"<<{'py'}pi-AgE{made(60)}>>",
        "replicate-token": f"<<{'r8'}_{made(37)}>>",
        "rubygems-key": f"<<{'ruby'}gems_{made(48, HEX)}>>",
        "sendgrid-key": f"<<{'S'}G.{made(22)}.{made(43)}>>",
        "sentry-token": f"<<{'sn'}trys_{made(60)}>>",
        "shopify-token": f"<<{'sh'}pat_{made(32, HEX)}>>",
        "slack-token": f"<<{'xo'}xb-{made(40)}>>",
        "slack-webhook": f"https://hooks.slack.com/services/<<T{made(9)}/B{made(9)}/{made(24)}>>",
        "square-token": f"<<{'sq'}0atp-{made(22)}>>",
        "stripe-key": f"<<{'sk'}_live_{made(24)}>>",
        "stripe-webhook-secret": f"<<{'wh'}sec_{made(32)}>>",
        "supabase-token": f"<<{'sb'}p_{made(40, HEX)}>>",
        "tailscale-key": f"<<{'ts'}key-auth-{made(30)}>>",
        "telegram-token": f"1234567890:<<{'A'}A{made(33)}>>",
        "terraform-token": f"fox{made(11)}.atlasv1.<<{made(67)}>>",
        "twilio-key": f"<<{'S'}K{made(32, HEX)}>>",
        "vault-token": f"<<{'hv'}s.{made(30)}>>",
        "xai-key": f"<<{'xa'}i-{made(80)}>>",
        "url-password": f"postgresql://fox:<<{made(18)}>>@db.example.org/fox",
        "bearer-token": f"curl -H 'Authorization: Bearer <<{made(30)}>>'",
        "basic-login": f"Authorization: Basic <<{base64.b64encode(f'fox:{made(12)}'.encode()).decode()}>>",
        "password": f'password = "<<{made(14)}>>"',
        "secret": f"AWS_SECRET_ACCESS_KEY=<<{made(40)}>>",
        "token": f'{{"session_token": "<<{made(30)}>>"}}',
        "api-key": f"X-API-KEY: <<{made(30)}>>",
        "1password-token": f"<<{'ops'}_eyJ{made(250)}>>",
        "adobe-secret": f"<<{'p8'}e-{made(32)}>>",
        "airtable-token": f"<<{'pa'}t{made(14)}.{made(64, HEX)}>>",
        "alibaba-key": f"<<{'LT'}AI{made(20)}>>",
        "artifactory-key": f"<<{'AK'}Cp{made(69)}>>",
        "asana-token": f"<<1/1234567890123456:{made(32, HEX)}>>",
        "atlassian-token": f"<<{'ATA'}TT3{made(186)}>>",
        "authress-key": f"<<{'sc'}_{made(12)}.{made(5)}.acc-{made(16)}.{made(60)}>>",
        "azure-client-secret": f"<<{made(4)[:3]}8Q~{made(34)}>>",
        "clickhouse-key": f"<<{'4b'}1d{made(38)}>>",
        "clojars-token": f"<<{'CLO'}JARS_{made(60)}>>",
        "cloudflare-ca-key": f"<<{'v1'}.0-{made(24, HEX)}-{made(146, HEX)}>>",
        "cloudinary-url": f"cloudinary://123456789012345:<<{made(27)}>>@fox",
        "defined-networking-token": f"<<{'dn'}key-{made(26)}-{made(52)}>>",
        "dropbox-token": f"<<{'s'}l.{made(135)}>>",
        "duffel-token": f"<<{'duf'}fel_live_{made(43)}>>",
        "dynatrace-token": f"<<{'dt'}0c01.{made(24)}.{made(64)}>>",
        "easypost-token": f"<<{'EZ'}AK{made(54)}>>",
        "facebook-token": f"<<{'EA'}AC{made(120)}>>",
        "flutterwave-key": f"<<{'FLW'}SECK_TEST-{made(32, HEX)}-X>>",
        "fly-token": f"<<{'fm'}2_{made(120)}>>",
        "frameio-token": f"<<{'fi'}o-u-{made(64)}>>",
        "gocardless-token": f"<<{'li'}ve_{made(40)}>>",
        "harness-key": f"<<{'pa'}t.{made(22)}.{made(24)}.{made(20)}>>",
        "heroku-key": f"<<{'HR'}KU-{made(36)}>>",
        "infracost-token": f"<<{'ic'}o-{made(32)}>>",
        "intra42-secret": f"<<{'s-s4'}t2ud-{made(64, HEX)}>>",
        "langsmith-key": f"<<{'ls'}v2_pt_{made(32, HEX)}_{made(10, HEX)}>>",
        "mailchimp-key": f"<<{made(32, HEX)}-{'us'}21>>",
        "mapbox-token": f"<<{'s'}k.eyJ{made(60)}.{made(22)}>>",
        "maxmind-key": f"<<{made(6)}_{made(29)}{'_mm'}k>>",
        "microsoft-teams-webhook": "https://fox.webhook.office.com/webhookb2/"
        f"<<{_uuid()}@{_uuid()}/IncomingWebhook/{made(32, HEX)}/{_uuid()}>>",
        "octopus-key": f"<<{'AP'}I-{_upper(24)}27>>",
        "openshift-token": f"<<{'sha'}256~{made(43)}>>",
        "perplexity-key": f"<<{'pp'}lx-{made(48)}>>",
        "plaid-token": f"<<{'acc'}ess-production-{_uuid()}>>",
        "planetscale-token": f"<<{'ps'}cale_pw_{made(43)}>>",
        "posthog-key": f"<<{'ph'}x_{made(43)}>>",
        "prefect-token": f"<<{'pn'}u_{made(36)}>>",
        "pulumi-token": f"<<{'pu'}l-{made(40, HEX)}>>",
        "readme-token": f"<<{'rd'}me_{made(70).lower()}>>",
        "resend-key": f"<<{'r'}e_{made(8)}_{made(24)}>>",
        "scalingo-token": f"<<{'tk'}-us-{made(48)}>>",
        "sendinblue-key": f"<<{'xkey'}sib-{made(64, HEX)}-{made(16)}>>",
        "settlemint-token": f"<<{'sm'}_pat_{made(16)}>>",
        "shippo-token": f"<<{'ship'}po_live_{made(40, HEX)}>>",
        "sonar-token": f"<<{'sq'}u_{made(40, HEX)}>>",
        "sourcegraph-token": f"<<{'sg'}p_{made(40, HEX)}>>",
        "typeform-token": f"<<{'tf'}p_{made(59)}>>",
        "yandex-token": f"<<{'AQ'}VN{made(36)}>>",
        "url-token": f"https://<<{made(40)}>>@git.example.org/a",
        "authorization": f"Authorization: token <<{made(40, HEX)}>>",
        "cookie": f"Cookie: session=<<{made(44)}>>",
        "netrc-password": f"machine fox.example.org login ann password <<{made(20)}>>",
        "pgpass": f"db:5432:fox:ann:<<{made(16)}>>",
        "password-hash": f"ann:<<$6${made(12)}${made(86)}>>",
        "wireguard-key": f"PrivateKey = <<{made(42)}E=>>",
        "kubernetes-secret": f'{{"kind": "Secret", "data": {{"fox": "<<{made(24)}>>"}}}}',
        "kubeconfig-key": f"client-key-data: <<{made(80)}>>",
        "wifi-password": f"psk=<<{made(20)}>>",
        "key": f"SIGNING_KEY=<<{made(44)}>>",
        "credential": f"CREDENTIAL=<<{made(24)}>>",
        "login": f'{{"auth": "<<{base64.b64encode(f"fox:{made(12)}".encode()).decode()}>>"}}',
        "url-parameter": f"https://fox.example.org/a?key=<<{made(32)}>>",
        "header": f"X-Fox-Signature: <<{made(40)}>>",
    }


def plain(text: str) -> str:
    """Return a text of `secrets` as it is written."""
    return text.replace("<<", "").replace(">>", "")


def traces(text: str) -> list[str]:
    """Return strings of a text of `secrets` that an index must not contain: in lower case, without stemmed endings."""
    (secret,) = re.findall("<<(.*)>>", text, re.DOTALL)
    runs = sorted(re.findall("[A-Za-z0-9]{8,}", secret), key=len)
    lines = [run for run in runs if len(run) == 64] if "PRIVATE" in secret else runs[-1:]
    return [run.lower()[:-2] for run in lines]


def claude_records(texts: list[str], session: Any) -> list[dict[str, Any]]:
    """Return records of Claude Code with the texts in every possible field."""
    records: list[dict[str, Any]] = []
    for n, text in enumerate(texts):
        line = text.replace("\n", " ")
        records += [
            session.user(f"prompt {text} end"),
            session.answer(f"answer {text} end"),
            session.call("Bash", f"bash_{n}", command=f"run {text}", description=line),
            session.result(f"output\n{text}\n", f"bash_{n}"),
            session.call("Write", f"write_{n}", file_path=f"/home/bo/{line}.txt", content=f"x = '{text}'\n"),
            session.result([{"type": "text", "text": f"wrote {text}"}], f"write_{n}", is_error=True),
            session.call("mcp__fox__do", f"mcp_{n}", options={"deep": [{"inner": text}], text: 1}),
            session.note("custom-title", customTitle=f"title {line}"),
            session.note("summary", summary=f"summary {line}", leafUuid=session.last),
        ]
    return records
