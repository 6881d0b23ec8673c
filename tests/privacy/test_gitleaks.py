"""Each rule of gitleaks has a counterpart, or stands in the list of those without one, with the reason.

The names are those of the rules of gitleaks (MIT licence) as of November 2025, `config/gitleaks.toml`.
"""

from __future__ import annotations

import pytest

from sesame_core.config.model import Redaction
from sesame_core.privacy.detectors import DETECTORS
from sesame_core.privacy.redactor import Redactor

from ..support.planted import made

REDACTOR = Redactor(b"key", Redaction())

#: Rules of a format of its own, by the kind that finds it.
BY_FORMAT = {
    "1password-token": "1password-service-account-token",
    "adobe-secret": "adobe-client-secret",
    "age-key": "age-secret-key",
    "alibaba-key": "alibaba-access-key-id",
    "atlassian-token": "atlassian-api-token",
    "authorization": "curl-auth-header",
    "authress-key": "authress-service-client-access-key",
    "aws-access-key": "aws-access-token",
    "azure-client-secret": "azure-ad-client-secret",
    "clickhouse-key": "clickhouse-cloud-api-secret-key",
    "clojars-token": "clojars-api-token",
    "cloudflare-ca-key": "cloudflare-origin-ca-key",
    "cookie": "gitlab-session-cookie",
    "databricks-token": "databricks-api-token",
    "defined-networking-token": "defined-networking-api-token",
    "digitalocean-token": "digitalocean-access-token digitalocean-pat digitalocean-refresh-token",
    "doppler-token": "doppler-api-token",
    "dropbox-token": "dropbox-short-lived-api-token",
    "duffel-token": "duffel-api-token",
    "dynatrace-token": "dynatrace-api-token",
    "easypost-token": "easypost-api-token easypost-test-api-token",
    "facebook-token": "facebook-page-access-token",
    "flutterwave-key": "flutterwave-encryption-key flutterwave-public-key flutterwave-secret-key",
    "fly-token": "flyio-access-token",
    "frameio-token": "frameio-api-token",
    "github-token": "github-app-token github-fine-grained-pat github-oauth github-pat github-refresh-token",
    "gitlab-token": "gitlab-cicd-job-token gitlab-deploy-token gitlab-feature-flag-client-token gitlab-feed-token "
    "gitlab-incoming-mail-token gitlab-kubernetes-agent-token gitlab-oauth-app-secret gitlab-pat gitlab-pat-routable "
    "gitlab-ptt gitlab-rrt gitlab-runner-authentication-token gitlab-runner-authentication-token-routable "
    "gitlab-scim-token",
    "gocardless-token": "gocardless-api-token",
    "google-api-key": "gcp-api-key",
    "grafana-token": "grafana-api-key grafana-cloud-api-token grafana-service-account-token",
    "harness-key": "harness-api-key",
    "huggingface-token": "huggingface-access-token huggingface-organization-api-token",
    "infracost-token": "infracost-api-token",
    "intra42-secret": "intra42-client-secret",
    "json-web-token": "jwt",
    "kubernetes-secret": "kubernetes-secret-yaml",
    "linear-key": "linear-api-key",
    "mailchimp-key": "mailchimp-api-key",
    "mailgun-key": "mailgun-private-api-token mailgun-pub-key",
    "mapbox-token": "mapbox-api-token",
    "maxmind-key": "maxmind-license-key",
    "microsoft-teams-webhook": "microsoft-teams-webhook",
    "newrelic-key": "new-relic-browser-api-token new-relic-insert-key new-relic-user-api-key",
    "npm-token": "npm-access-token",
    "octopus-key": "octopus-deploy-api-key",
    "openai-key": "openai-api-key",
    "openshift-token": "openshift-user-token",
    "password": "curl-auth-user hashicorp-tf-password nuget-config-password",
    "plaid-token": "plaid-api-token",
    "planetscale-token": "planetscale-api-token planetscale-oauth-token planetscale-password",
    "postman-key": "postman-api-token",
    "prefect-token": "prefect-api-token",
    "private-key": "private-key",
    "pulumi-token": "pulumi-api-token",
    "pypi-token": "pypi-upload-token",
    "readme-token": "readme-api-token",
    "rubygems-key": "rubygems-api-token",
    "scalingo-token": "scalingo-api-token",
    "sendgrid-key": "sendgrid-api-token",
    "sendinblue-key": "sendinblue-api-token",
    "sentry-token": "sentry-org-token sentry-user-token",
    "settlemint-token": "settlemint-application-access-token settlemint-personal-access-token "
    "settlemint-service-access-token",
    "shippo-token": "shippo-api-token",
    "shopify-token": "shopify-access-token shopify-custom-access-token shopify-private-app-access-token "
    "shopify-shared-secret",
    "slack-token": "slack-app-token slack-bot-token slack-config-access-token slack-config-refresh-token "
    "slack-legacy-bot-token slack-legacy-token slack-legacy-workspace-token slack-user-token",
    "slack-webhook": "slack-webhook-url",
    "sourcegraph-token": "sourcegraph-access-token",
    "square-token": "square-access-token",
    "stripe-key": "stripe-access-token",
    "telegram-token": "telegram-bot-api-token",
    "terraform-token": "hashicorp-tf-api-token",
    "twilio-key": "twilio-api-key",
    "typeform-token": "typeform-api-token",
    "url-password": "sidekiq-sensitive-url",
    "vault-token": "vault-batch-token vault-service-token",
    "yandex-token": "yandex-access-token yandex-api-key yandex-aws-access-token",
}
#: Rules of values without a format, which only a name tells; ours looks for `key`, `token` or `secret` in it.
BY_NAME = """
adafruit-api-key airtable-api-key algolia-api-key alibaba-secret-key asana-client-secret beamer-api-token
bitbucket-client-secret bittrex-access-key bittrex-secret-key cisco-meraki-api-key cloudflare-api-key
cloudflare-global-api-key codecov-access-token cohere-api-token coinbase-access-token confluent-access-token
confluent-secret-key contentful-delivery-api-token datadog-access-token discord-api-token discord-client-secret
droneci-access-token dropbox-api-token dropbox-long-lived-api-token etsy-access-token facebook-access-token
facebook-secret fastly-api-token finicity-api-token finicity-client-secret finnhub-access-token flickr-access-token
freemius-secret-key freshbooks-access-token generic-api-key gitter-access-token heroku-api-key hubspot-api-key
intercom-api-key jfrog-api-key jfrog-identity-token kraken-access-token kucoin-access-token kucoin-secret-key
launchdarkly-access-token linear-client-secret linkedin-client-secret lob-api-key mailgun-signing-key
mattermost-access-token messagebird-api-token netlify-access-token nytimes-access-token
okta-access-token plaid-secret-key privateai-api-token rapidapi-access-token sendbird-access-token sentry-access-token
sidekiq-secret snyk-api-token sonar-api-token squarespace-access-token sumologic-access-token travisci-access-token
twitch-api-token twitter-access-secret twitter-access-token twitter-api-key twitter-api-secret twitter-bearer-token
zendesk-secret-key
""".split()
#: Rules without a counterpart.
MISSING = {
    "adobe-client-id": "an id is not secret",
    "asana-client-id": "an id is not secret",
    "bitbucket-client-id": "an id is not secret",
    "discord-client-id": "an id is not secret",
    "linkedin-client-id": "an id is not secret",
    "messagebird-client-id": "an id is not secret",
    "new-relic-user-api-id": "an id is not secret",
    "plaid-client-id": "an id is not secret",
    "sendbird-access-id": "an id is not secret",
    "sumologic-access-id": "an id is not secret",
    "lob-pub-api-key": "a key that is published with each page",
    "jwt-base64": "a token that is encoded once more",
    "pkcs12-file": "a file, known by its name; no text has its content",
}


def test_each_rule_has_a_counterpart_or_a_reason() -> None:
    assert set(BY_FORMAT) <= {kind.name for kind in DETECTORS}
    rules = [rule for names in BY_FORMAT.values() for rule in names.split()] + BY_NAME + list(MISSING)
    assert len(rules) == len(set(rules))
    assert len(MISSING) == 13


@pytest.mark.parametrize("rule", BY_NAME)
def test_a_value_is_found_by_the_name_of_its_service(rule: str) -> None:
    name = rule.replace("-", "_")
    camel = "".join(word if not n else word.capitalize() for n, word in enumerate(rule.split("-")))
    for form in (f"{name.upper()}=«»", f'{name} = "«»"', f'"{camel}": "«»"', f"{rule}: «»"):
        before, after = form.split("«»")
        masked = REDACTOR.text(f"{before}{made(40)}{after}")
        assert masked.startswith(before + "[redacted:"), form
        assert masked.endswith("]" + after), form
