"""Detectors of secrets whose issuer gave them a recognisable format: a prefix, a length, an alphabet.

The formats of gitleaks that have none here are listed, with the reason, in `tests/privacy/test_gitleaks.py`.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator

from .detector import Detector, issuer
from .values import has_digit, looks_random

#: Least number of characters of each part of a JSON web token.
_PART = 13


def _is_mixed(value: str) -> bool:
    """Return whether a value has digits, and both upper and lower case: it is no word, and no hexadecimal number."""
    return has_digit(value) and not value.islower() and not value.isupper() and looks_random(value)


def _web_tokens(match: re.Match[str]) -> Iterator[tuple[int, int]]:
    """Yield the JSON web tokens in a run of parts that dots join: two or three parts, or five of an encrypted one."""
    text = match.string
    starts = [match.start()]
    while (dot := text.find(".", starts[-1], match.end())) >= 0:
        starts.append(dot + 1)
    starts.append(match.end() + 1)
    number = 0
    while number < len(starts) - 2:
        begin = text.find("eyJ", starts[number], starts[number + 1] - 1)
        if begin >= 0 and starts[number + 1] - 1 - begin >= _PART:
            last = 0
            if text.startswith("eyJ", starts[number + 1]) and starts[number + 2] - 1 - starts[number + 1] >= _PART:
                last = min(number + 3, len(starts) - 1)
            elif number + 5 < len(starts) and _is_encrypted(text[begin : starts[number + 1] - 1]):
                last = number + 5
            if last:
                yield begin, starts[last] - 1
                number = last
                continue
        number += 1


def _is_encrypted(header: str) -> bool:
    header = header[:1024]
    try:
        return b'"enc"' in base64.urlsafe_b64decode(header + "=" * (-len(header) % 4))
    except ValueError:
        return False


#: The order decides: if several detectors match at one position, the first one names the secret.
ISSUERS = (
    issuer("age-key", "AGE-SECRET-KEY-", r"AGE-SECRET-KEY-1[0-9A-Z]{58}"),
    issuer("aws-access-key", "AKIA ASIA ABIA ACCA", r"A(?:KI|SI|BI|CC)A[A-Z0-9]{16}(?![A-Za-z0-9])"),
    issuer("anthropic-key", "sk-ant-", r"sk-ant-[a-z0-9]{2,10}-[\w-]{20,200}"),
    issuer(
        "openai-key",
        "sk-",
        r"sk-(?:(?:proj|svcacct|admin|or-v1)-[\w-]{20,200}|[A-Za-z0-9]{32,200})",
        has_digit,
        begins=True,
    ),
    issuer(
        "azure-key",
        "AccountKey= SharedAccessKey=",
        r"(?:Account|SharedAccess)Key=(?P<secret>[A-Za-z0-9+/]{40,}={0,2})",
    ),
    issuer("azure-signature", "?sig= &sig=", r"[?&]sig=(?P<secret>[A-Za-z0-9%+/]{40,}=?)"),
    issuer("databricks-token", "dapi", r"dapi[0-9a-f]{32}(?:-\d)?(?![A-Za-z0-9])"),
    issuer("digitalocean-token", "doo_v1_ dop_v1_ dor_v1_", r"do[opr]_v1_[0-9a-f]{64}"),
    issuer(
        "discord-webhook",
        "discord.com/api/webhooks/ discordapp.com/api/webhooks/",
        r"discord(?:app)?\.com/api/webhooks/\d+/(?P<secret>[\w-]{60,})",
    ),
    issuer("docker-token", "dckr_pat_ dckr_oat_", r"dckr_[po]at_[\w-]{27,}"),
    issuer(
        "doppler-token",
        "dp.pt. dp.st. dp.sa. dp.ct. dp.scim. dp.audit.",
        r"dp\.(?:pt|st|sa|ct|scim|audit)\.[\w.-]{40,}",
    ),
    issuer("figma-token", "figd_", r"figd_[\w-]{40,}"),
    issuer("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", r"gh[opusr]_[A-Za-z0-9]{36,255}"),
    issuer("github-token", "github_pat_", r"github_pat_\w{22,255}"),
    issuer(
        "gitlab-token",
        "glpat- gldt- glrt- glcbt- glptt- glft- glsoat- glagent- gloas- glffct- glimt-",
        r"gl(?:pat|dt|rt|cbt|ptt|ft|soat|agent|oas|ffct|imt)-[\w.-]{20,}",
    ),
    issuer("google-api-key", "AIza", r"AIza[\w-]{35}(?![\w-])"),
    issuer("google-oauth-secret", "GOCSPX-", r"GOCSPX-[\w-]{28}"),
    issuer("google-oauth-token", "ya29.", r"ya29\.[\w-]{30,}"),
    issuer("grafana-token", "glc_ glsa_", r"gl(?:c|sa)_[A-Za-z0-9+/=_]{32,}"),
    issuer("groq-key", "gsk_", r"gsk_[A-Za-z0-9]{40,}"),
    issuer("huggingface-token", "hf_ api_org_", r"(?:hf|api_org)_[A-Za-z0-9]{34,40}(?![A-Za-z0-9_])", begins=True),
    issuer("linear-key", "lin_api_", r"lin_api_[A-Za-z0-9]{40}"),
    issuer("mailgun-key", "key- pubkey-", r"(?:pub)?key-[0-9a-f]{32}(?![A-Za-z0-9])", begins=True),
    issuer("newrelic-key", "NRAK- NRJS- NRII-", r"NR(?:AK-[A-Z0-9]{27}|JS-[a-f0-9]{19}|II-[A-Za-z0-9-]{32})"),
    issuer("notion-token", "ntn_", r"ntn_[A-Za-z0-9]{40,}", begins=True),
    issuer("npm-token", "npm_", r"npm_[A-Za-z0-9]{36}(?![A-Za-z0-9])"),
    issuer("postman-key", "PMAK-", r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}"),
    issuer("pypi-token", "pypi-AgE", r"pypi-AgE[\w-]{50,}"),
    issuer("replicate-token", "r8_", r"r8_[A-Za-z0-9]{37}(?![A-Za-z0-9])", begins=True),
    issuer("rubygems-key", "rubygems_", r"rubygems_[0-9a-f]{48}"),
    issuer("sendgrid-key", "SG.", r"SG\.[\w-]{16,32}\.[\w-]{16,64}"),
    issuer("sentry-token", "sntrys_ sntryu_", r"sntry[su]_[A-Za-z0-9+/=_]{40,}"),
    issuer("shopify-token", "shpat_ shpca_ shppa_ shpss_", r"shp(?:at|ca|pa|ss)_[0-9A-Fa-f]{32}"),
    issuer(
        "slack-token",
        "xoxa- xoxb- xoxc- xoxd- xoxe- xoxo- xoxp- xoxr- xoxs- xoxe.",
        r"xox[abcdeoprs][-.][\w.-]{10,255}+",
        has_digit,
        rest=r"[\w.-]*+",
    ),
    issuer("slack-token", "xapp-", r"xapp-\d-[\w-]{20,}"),
    issuer(
        "slack-webhook",
        "hooks.slack.com/",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<secret>[A-Za-z0-9/]{20,})",
    ),
    issuer("square-token", "sq0atp- sq0csp-", r"sq0(?:atp|csp)-[\w-]{22,}"),
    issuer(
        "stripe-key",
        "sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ rk_prod_ sk_org_",
        r"[sr]k_(?:org_)?(?:live|test|prod)_[A-Za-z0-9]{16,}",
    ),
    issuer("stripe-webhook-secret", "whsec_", r"whsec_[A-Za-z0-9+/=]{24,}"),
    issuer("supabase-token", "sbp_", r"sbp_[0-9a-f]{40}"),
    issuer("tailscale-key", "tskey-", r"tskey-[a-z]+-[\w-]{20,}"),
    issuer("telegram-token", ":AA", r"(?<=\d{8}):(?P<secret>AA[\w-]{33})(?![\w-])"),
    issuer("terraform-token", ".atlasv1.", r"\.atlasv1\.(?P<secret>[\w-]{60,})"),
    issuer("twilio-key", "SK", r"SK[0-9a-f]{32}(?![A-Za-z0-9])", begins=True),
    issuer("vault-token", "hvs. hvb. hvr.", r"hv[sbr]\.[\w-]{24,}"),
    issuer("xai-key", "xai-", r"xai-[A-Za-z0-9]{60,}", begins=True),
    issuer("1password-token", "ops_eyJ", r"ops_eyJ[A-Za-z0-9+/]{100,}={0,3}"),
    issuer("adobe-secret", "p8e-", r"p8e-[A-Za-z0-9_-]{32}", begins=True),
    issuer("airtable-token", "pat", r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}", begins=True),
    issuer("alibaba-key", "LTAI", r"LTAI[A-Za-z0-9]{12,24}(?![A-Za-z0-9])", has_digit, begins=True),
    issuer("artifactory-key", "AKCp", r"AKCp[A-Za-z0-9]{69}(?![A-Za-z0-9])", begins=True),
    issuer("asana-token", "0/ 1/ 2/", r"[0-2]/\d{16}(?:/\d{16})?:[0-9a-f]{32}", begins=True),
    issuer(
        "atlassian-token", "ATATT3 ATCTT3 ATBB", r"AT(?:[AC]TT3[\w=-]{60,}|BB[A-Za-z0-9]{24,})", has_digit, begins=True
    ),
    issuer(
        "authress-key",
        "sc_ ext_ scauth_ authress_",
        r"(?:sc|ext|scauth|authress)_[A-Za-z0-9]{5,30}\.[A-Za-z0-9]{4,6}\.acc[_-][A-Za-z0-9-]{10,32}\.[A-Za-z0-9+/_=-]{30,120}",
        begins=True,
    ),
    issuer(
        "azure-client-secret",
        " ".join(f"{digit}Q~" for digit in range(10)),
        r"(?<=[\w~.]{3})\dQ~[\w.~-]{31,34}(?![\w~-])",
        before=3,
    ),
    issuer("clickhouse-key", "4b1d", r"4b1d[A-Za-z0-9]{38}(?![A-Za-z0-9])", _is_mixed, begins=True),
    issuer("clojars-token", "CLOJARS_", r"CLOJARS_[A-Za-z0-9]{60}"),
    issuer("cloudflare-ca-key", "v1.0-", r"v1\.0-[0-9a-f]{24}-[0-9a-f]{146}"),
    issuer("cloudinary-url", "cloudinary://", r"cloudinary://\d{10,20}:(?P<secret>[\w-]{20,40})@"),
    issuer("defined-networking-token", "dnkey-", r"dnkey-[A-Za-z0-9=_-]{26}-[A-Za-z0-9=_-]{52}"),
    issuer("dropbox-token", "sl.", r"sl\.(?:u\.)?[\w=-]{100,}", begins=True),
    issuer("duffel-token", "duffel_", r"duffel_(?:test|live)_[\w=-]{43}"),
    issuer("dynatrace-token", "dt0c01. dt0s0", r"dt0[cs]\d\d\.[A-Za-z0-9]{8,24}\.[A-Za-z0-9]{64}"),
    issuer("easypost-token", "EZAK EZTK", r"EZ[AT]K[A-Za-z0-9]{54}(?![A-Za-z0-9])", has_digit, begins=True),
    issuer("facebook-token", "EAA", r"EAA[A-Z][A-Za-z0-9]{80,300}(?![A-Za-z0-9+/=])", has_digit, begins=True),
    issuer(
        "flutterwave-key",
        "FLWSECK_TEST- FLWPUBK_TEST- FLWSECK- FLWPUBK-",
        r"FLW(?:SEC|PUB)K(?:_TEST)?-[A-Za-z0-9]{12,40}(?:-X)?",
        has_digit,
    ),
    issuer(
        "fly-token", "fo1_ fm1a_ fm1r_ fm2_", r"f(?:o1_[\w-]{43}|m(?:1[ar]|2)_[A-Za-z0-9+/]{80,}={0,3})", begins=True
    ),
    issuer("frameio-token", "fio-u-", r"fio-u-[\w=-]{64}"),
    issuer("gitlab-token", "GR1348941", r"GR1348941[\w-]{20}"),
    issuer("gocardless-token", "live_", r"(?<!_)live_[A-Za-z0-9_=-]{40}(?![\w-])", has_digit, begins=True),
    issuer("grafana-token", "eyJrIjoi", r"eyJrIjoi[A-Za-z0-9]{70,400}={0,3}"),
    issuer("harness-key", "pat. sat.", r"[ps]at\.[\w-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}", begins=True),
    issuer("heroku-key", "HRKU-", r"HRKU-[\w-]{36,64}"),
    issuer("infracost-token", "ico-", r"ico-[A-Za-z0-9]{32}(?![A-Za-z0-9])", has_digit, begins=True),
    issuer("intra42-secret", "s-s4t2ud- s-s4t2af-", r"s-s4t2(?:ud|af)-[0-9a-f]{64}"),
    issuer("langsmith-key", "lsv2_", r"lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}"),
    issuer("mailchimp-key", "-us", r"(?<=[0-9a-f]{32})-us\d{1,2}(?![\w-])", before=32),
    issuer("mapbox-token", "pk.eyJ sk.eyJ tk.eyJ", r"[pst]k\.eyJ[\w-]{20,}\.[\w-]{22}"),
    issuer("maxmind-key", "_mmk", r"(?<=[A-Za-z0-9]{6}_[A-Za-z0-9]{29})_mmk(?![A-Za-z0-9])", before=36),
    issuer(
        "microsoft-teams-webhook",
        ".webhook.office.com/",
        r"\.webhook\.office\.com/webhookb2/(?P<secret>[0-9a-f-]{36}@[0-9a-f-]{36}/IncomingWebhook/[0-9a-f]{32}/[0-9a-f-]{36})",
    ),
    issuer("octopus-key", "API-", r"API-[A-Z0-9]{26,36}(?![A-Z0-9])", has_digit, begins=True),
    issuer("openshift-token", "sha256~", r"sha256~[\w-]{43}(?![\w-])"),
    issuer("perplexity-key", "pplx-", r"pplx-[A-Za-z0-9]{40,}"),
    issuer(
        "plaid-token",
        "access-sandbox- access-development- access-production-",
        r"access-(?:sandbox|development|production)-[0-9a-f]{8}-[0-9a-f-]{27}",
    ),
    issuer("planetscale-token", "pscale_tkn_ pscale_oauth_ pscale_pw_", r"pscale_(?:tkn|oauth|pw)_[\w=.-]{32,64}"),
    issuer("posthog-key", "phx_ phc_", r"ph[xc]_[A-Za-z0-9]{40,}", begins=True),
    issuer("prefect-token", "pnu_ pnb_", r"pn[ub]_[A-Za-z0-9]{36}"),
    issuer("pulumi-token", "pul-", r"pul-[0-9a-f]{40}"),
    issuer("readme-token", "rdme_", r"rdme_[a-z0-9]{70}"),
    issuer("resend-key", "re_", r"re_[A-Za-z0-9]{8}_[A-Za-z0-9]{24}(?![A-Za-z0-9])", has_digit, begins=True),
    issuer("scalingo-token", "tk-us-", r"tk-us-[\w-]{48}"),
    issuer("sendinblue-key", "xkeysib- xsmtpsib-", r"x(?:key|smtp)sib-[0-9a-f]{64}-[A-Za-z0-9]{16}"),
    issuer("settlemint-token", "sm_aat_ sm_pat_ sm_sat_", r"sm_[aps]at_[A-Za-z0-9]{16}"),
    issuer("shippo-token", "shippo_", r"shippo_(?:live|test)_[0-9A-Fa-f]{40}"),
    issuer("sonar-token", "sqp_ sqa_ squ_", r"sq[pau]_[0-9a-f]{40}", begins=True),
    issuer("sourcegraph-token", "sgp_", r"sgp_(?:(?:[0-9A-Fa-f]{16}|local)_)?[0-9A-Fa-f]{40}"),
    issuer("square-token", "EAAA", r"EAAA[\w-]{60}(?![\w-])", has_digit, begins=True),
    issuer("typeform-token", "tfp_", r"tfp_[\w.=-]{40,60}"),
    issuer("vault-token", "s.", r"s\.[A-Za-z0-9]{24}(?![\w.])", _is_mixed, begins=True),
    issuer(
        "yandex-token",
        "t1. AQVN YCAJ YC",
        r"(?:t1\.[\w-]+=?=?\.[\w-]{86}=?=?|AQVN[\w-]{35,38}|YC[\w-]{38}(?![\w-]))",
        has_digit,
        begins=True,
    ),
    # Last, because tokens of some issuers have this form.
    Detector("json-web-token", ("eyJ",), r"eyJ[\w-]*+(?:\.[\w-]*+)*+", secrets=_web_tokens),
)
