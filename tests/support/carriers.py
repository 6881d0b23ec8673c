"""Texts that carry a made-up secret, by the way in which they do, and texts that only look so."""

from __future__ import annotations

import base64
import random
import string

_RANDOM = random.Random(20261129)
_ALPHANUMERIC = string.ascii_letters + string.digits


def _made(length: int = 14, alphabet: str = _ALPHANUMERIC) -> str:
    """Return random characters, with a digit and a letter among them."""
    return "".join(_RANDOM.choice(alphabet) for _ in range(length - 2)) + "k7"


def _hex(length: int) -> str:
    return _made(length, "0123456789abcdef").replace("k", "e")


def _b64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _uuid() -> str:
    return "-".join(map(_hex, (8, 4, 4, 4, 12)))


def _lines(count: int = 6) -> str:
    return "\n".join(_made(64) for _ in range(count))


def carried() -> dict[str, list[str]]:
    """Return texts by carrier; the secret is between `<<` and `>>`."""
    key = _lines()
    numbered = "\n".join(f"{n:6}→{line}" for n, line in enumerate(_lines().split("\n"), 2))
    diffed = "\n".join("+" + line for line in _lines().split("\n"))
    pem = f"-----BEGIN RSA {'PRIVATE'} KEY-----\n{_lines(12)}\n-----END RSA {'PRIVATE'} KEY-----\n"
    return {
        "option": [
            f"deploy --password <<{_made()}>> --verbose",
            f"deploy --password=<<{_made()}>>",
            f"deploy --password '<<aB3 {_made(8)}>>'",
            f'deploy --passphrase "<<{_made(10)}$x&y>>" now',
            f"mytool --api-key <<{_hex(32)}>>",
            f"mytool --token <<{_hex(40)}>>",
            f"mytool --client-secret=<<{_made(30)}>>",
            f"kubectl --token=<<{_made(40)}>> get pods",
            f"keytool -genkey -storepass <<{_made()}>> -keypass <<{_made()}>>",
            f"java -jar app.jar --spring.datasource.password=<<{_made()}>>",
        ],
        "program": [
            f"curl -u deploy:<<{_made()}>> https://nexus.example.org",
            f"curl -udeploy:<<{_made()}>> https://nexus.example.org",
            f"curl --user 'deploy:<<hunter42>>' https://nexus.example.org/a -d '{{\"a\": 1}}'",
            f"curl -X POST -d '{{\n \"a\": \"b;c|d\"\n}}' \\\n  -u \"ann:<<{_made()}>>\" https://x.example.org",
            f"mysql -uroot -p<<{_made()}>> shop",
            f"mysqldump -h db -u root -p'<<{_made()}>>' shop > dump.sql",
            f"mariadb --user=root --password=<<{_made()}>> shop",
            f"sshpass -p <<{_made()}>> ssh ann@host",
            f"sshpass -p '<<{_made()}>>' scp a ann@host:",
            f"docker login -u ann -p <<{_made()}>> r.example.org",
            f"podman login --username ann --password <<{_made()}>> r.example.org",
            f"skopeo copy --src-creds ann:<<{_made()}>> docker://a docker://b",
            f"sqlcmd -S srv -U sa -P <<{_made()}>> -Q 'select 1'",
            f"redis-cli -h cache -a <<{_made()}>> ping",
            f"mongosh -u root -p <<{_made()}>> --authenticationDatabase admin",
            f"ldapsearch -x -D cn=admin,dc=example -w <<{_made()}>> -b dc=example",
            f"smbclient //srv/share -U ann%<<{_made()}>>",
            f"7z x -p<<{_made()}>> a.7z",
            f"unzip -P <<{_made()}>> a.zip",
            f"openssl enc -aes-256-cbc -pass pass:<<{_made()}>> -in a",
            f"openssl pkcs12 -in a.p12 -passin 'pass:<<{_made()}>>' -nodes",
            f"ssh-keygen -t ed25519 -N '<<{_made()}>>' -f key",
            f"htpasswd -bc users.htpasswd ann <<{_made()}>>",
            f"gpg --batch --passphrase <<{_made()}>> -c a.txt",
            f"rabbitmqctl add_user ann <<{_made()}>>",
            f"wget --user=ann --http-password=<<{_made()}>> https://x.example.org",
            f"echo <<{_made()}>> | sudo -S apt-get update",
            f"echo '<<{_made()}>>' | docker login -u ann --password-stdin",
            f"echo 'ann:<<{_made()}>>' | chpasswd",
            f"aws configure set aws_secret_access_key <<{_made(40)}>>",
            f"kubectl create secret generic db --from-literal=password=<<{_made()}>>",
            f"net use Z: \\\\srv\\share <<{_made()}>> /user:ann",
            f"cqlsh -u cassandra -p <<{_made()}>> host",
            f"az login --service-principal -u http://app -p <<{_made(34)}>> --tenant t",
        ],
        "header": [
            f"Authorization: Bearer <<{_made(40)}>>",
            f"Authorization: token <<{_hex(40)}>>",
            f"authorization: Basic <<{_b64('ann:' + _made())}>>",
            f"Request(headers={{'Authorization': 'token <<{_hex(40)}>>'}})",
            f'{{"Authorization": "ApiKey <<{_made(44)}==>>"}}',
            f'req.Header.Set("Authorization", "Bearer <<{_made(40)}>>")',
            f"curl -H 'Authorization: <<{_made(32)}>>' https://x.example.org",
            f'{{\\"Authorization\\": \\"Bearer <<{_made(40)}>>\\"}}',
            f"X-Api-Key: <<{_made(32)}>>",
            f"X-API-Key: <<{_made(32)}>>",
            f"x-api-key: <<{_hex(32)}>>",
            f"-H 'X-Auth-Token: <<{_made(32)}>>'",
            f"PRIVATE-TOKEN: <<{_made(20)}>>",
            f"X-Vault-Token: <<{_made(26)}>>",
            f"Ocp-Apim-Subscription-Key: <<{_hex(32)}>>",
            f"DD-API-KEY: <<{_hex(32)}>>",
            f"Proxy-Authorization: Basic <<{_b64('ann:' + _made())}>>",
        ],
        "cookie": [
            f"Cookie: session=<<{_made(60)}>>",
            f"Cookie: theme=dark; sessionid=<<{_made(32)}>>; lang=en",
            f"Set-Cookie: connect.sid=<<s%3A{_made(40)}>>; Path=/; HttpOnly",
            f"curl -b 'PHPSESSID=<<{_made(26)}>>' https://x.example.org",
            f"headers = {{'Cookie': 'auth_token=<<{_made(40)}>>'}}",
            f"cookies={{'JSESSIONID': '<<{_hex(32).upper()}>>'}}",
        ],
        "environment": [
            f"export ADMIN_PASS=<<{_made()}>>",
            "PGPASSWORD=<<abcdef42>> psql -h db",
            "export DB_PASSWORD=<<correcthorse>>",
            f"DB_PASSWORD='<<{_made(8)}$xiPbt1>>'",
            f"DB_PASSWORD='<<{_made(8)}&{_made(6)}>>'",
            f"DB_PASSWORD='<<{_made(8)}({_made(6)})1>>'",
            f"DB_PASSWORD=<<{_made(8)}${_made(6)}>>",
            f"PRIVATE_KEY=<<0x{_hex(64)}>>",
            f"ENCRYPTION_KEY=<<{_made(43)}=>>",
            f"DATADOG_APP_KEY=<<{_hex(40)}>>",
            f"CREDENTIAL=<<{_made(24)}>>",
            f"GITHUB_TOKEN=<<{_hex(40)}>>",
            f"HEROKU_API_KEY=<<{_uuid()}>>",
            f"SNYK_TOKEN=<<{_uuid()}>>",
            f"docker run -e MYSQL_ROOT_PASSWORD=<<{_made()}>> mysql",
            f"ENV SECRET_KEY_BASE=<<{_hex(64)}>>",
            f"SMTP_PASS=<<{_made(16, string.ascii_lowercase)}>>",
            f"$env:API_TOKEN = '<<{_made(30)}>>'",
            f"set DB_PWD=<<{_made()}>>",
        ],
        "settings": [
            f"password = <<{_made()}>>",
            f"password: <<{_made()}>>",
            "db:\n  user: ann\n  password: <<abcdef42>>\n  port: 5432\n",
            f'password = "<<{_made()}>>"',
            f'"password": "<<{_made()}>>",',
            f'"dbPassword" : "<<{_made()}>>"',
            f"ansible_become_pass: <<{_made()}>>",
            f"spring.datasource.password=<<{_made()}>>",
            f'passphrase: "<<aaa bbb1>>"',
            f'{{\\"password\\": \\"<<{_made()}>>\\"}}',
            f"api_key: <<{_hex(32)}>>",
            f'apiKey: "<<{_made(32)}>>"',
            f"client_secret: <<{_made(32)}>>",
            f'secret_access_key = "<<{_made(40)}>>"',
            f"signing-key: <<{_made(44)}>>",
            f'password="<<{_made(8)} {_made(6)}>>"',
            f"- name: DB_PASSWORD\n  value: <<{_made()}>>\n",
            f'{{"name": "DB_PASSWORD", "value": "<<{_made()}>>"}}',
            f"<password><<{_made()}>></password>",
            f"<entry key=\"password\">x</entry><property name=\"password\" value=\"<<{_made()}>>\"/>",
            f'<add key="ClearTextPassword" value="<<{_made()}>>" />',
            f"'password' => '<<{_made()}>>',",
            f"connect(user='ann', password='<<{_made()}>>')",
            f'os.environ.get("API_TOKEN", "<<{_made(30)}>>")',
            f"${{DB_PASSWORD:-<<{_made()}>>}}",
            f'const token: string = "<<{_made(32)}>>";',
        ],
        "url": [
            f"postgres://app:<<{_made()}>>@db/prod",
            f"postgres://app:<<{_made(6)}@{_made(6)}>>@db/prod",
            f"redis://:<<{_made()}>>@cache:6379/0",
            f"https://ann:<<{_hex(40)}>>@git.example.org/a/b.git",
            f"https://<<{_made(40)}>>@git.example.org/a/b.git",
            f"amqp://guest2:<<hunter42>>@mq:5672/%2f",
            f"mongodb+srv://ann:<<p%40{_made()}>>@c0.example.net/db",
            f"https://x.example.org/a?access_token=<<{_made(40)}>>&b=1",
            f"https://x.example.org/a?b=1&api_key=<<{_hex(32)}>>",
            f"https://x.example.org/a?key=<<{_made(32)}>>#top",
            f"https://b.s3.amazonaws.com/a?X-Amz-Signature=<<{_hex(64)}>>",
            f"grant_type=password&username=ann&password=<<{_made()}>>&scope=all",
        ],
        "connection string": [
            f"Server=tcp:srv,1433;Database=d;User Id=sa;Password=<<{_made()}>>;Encrypt=true",
            f"Data Source=srv;Uid=sa;Pwd=<<{_made()}>>;",
            f"host=db port=5432 user=app password=<<{_made()}>> dbname=prod",
            f"jdbc:postgresql://db/prod?user=app&password=<<{_made()}>>",
            f"CREATE USER ann WITH PASSWORD '<<{_made()}>>';",
            f"CREATE USER 'ann'@'%' IDENTIFIED BY '<<{_made()}>>';",
            f"Endpoint=sb://x.example.net/;SharedAccessKeyName=Root;SharedAccessKey=<<{_made(43)}=>>",
        ],
        "netrc": [
            f"machine h.example.org login a password <<{_made(20)}>>",
            f"machine h.example.org\n  login ann\n  password <<{_made()}>>\n",
            f"default login anonymous password <<{_made()}>>",
        ],
        "pgpass": [f"db.example.org:5432:prod:app:<<{_made()}>>", f"*:*:*:postgres:<<{_made()}>>"],
        "password hash": [
            f"ann:<<$apr1${_made(8)}${_made(22)}>>",
            f"ann:<<$2y$10${_made(53)}>>",
            f"ann:<<$6${_made(12)}${_made(86)}>>:19000:0:99999:7:::",
            f"<<$argon2id$v=19$m=65536,t=3,p=4${_made(22)}${_made(43)}>>",
            f"ann:<<{{SHA}}{_made(27)}=>>",
        ],
        "kubernetes": [
            f"    client-key-data: <<{_b64('-----BEGIN RSA ' + 'PRIVATE' + ' KEY-----' + _made(200))}>>",
            f"users:\n- name: ann\n  user:\n    token: <<{_made(60)}>>\n",
            f"apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\ndata:\n  user: <<{_b64(_made())}>>\n",
            f"apiVersion: v1\ndata:\n  a.conf: <<{_b64(_made(40))}>>\nkind: Secret\n",
        ],
        "wireguard": [
            f"[Interface]\nPrivateKey = <<{_made(42)}E=>>\nAddress = 10.0.0.2/32",
            f"PresharedKey=<<{_made(42)}E=>>",
        ],
        "docker": [
            f'{{"auths": {{"r.example.org": {{"auth": "<<{_b64("ann:" + _made())}>>"}}}}}}',
            f'{{\n\t"auths": {{\n\t\t"https://index.docker.io/v1/": {{\n\t\t\t"auth": "<<{_b64("ann:" + _made())}>>"\n',
        ],
        "npmrc and pypirc": [
            f"//registry.example.org/:_authToken=<<{_uuid()}>>",
            f"//registry.example.org/:_auth=<<{_b64('ann:' + _made())}>>",
            f"//registry.example.org/:_password=<<{_b64(_made())}>>",
            f"[pypi]\nusername = ann\npassword = <<{_made()}>>\n",
        ],
        "private key": [
            f"<<-----BEGIN {'PRIVATE'} KEY-----\n{key}\n-----END {'PRIVATE'} KEY----->>",
            f"     1→<<-----BEGIN OPENSSH {'PRIVATE'} KEY-----\n{numbered}>>",
            f"+<<-----BEGIN EC {'PRIVATE'} KEY-----\n{diffed}>>",
            f"<<{_lines()}\n-----END RSA {'PRIVATE'} KEY----->>",
            f"PuTTY-User-Key-File-3: ssh-ed25519\nPrivate-Lines: 6\n<<{_lines(6)}\nPrivate-{'MAC'}: {_hex(64)}>>",
            f"key: <<{_b64(pem)}>>",
        ],
        "web token": [
            f"<<{'ey'}J{_made(30)}.{'ey'}J{_made(60)}.{_made(43)}>>",
            f"?t=<<{'ey'}J{_made(30)}.{'ey'}J{_made(60)}.{_made(43)}>>&b",
            f"<<{_b64(chr(123) + chr(34) + 'alg' + chr(34) + ':' + chr(34) + 'RSA-OAEP' + chr(34) + ',' + chr(34) + 'enc' + chr(34) + ':' + chr(34) + 'A256GCM' + chr(34) + chr(125)).rstrip('=')}.{_made(40)}.{_made(16)}.{_made(60)}.{_made(22)}>>",
        ],
    }  # fmt: skip


_SHA, _ID = "3f9a1c27d08be45f6a1b9c0d2e4f67a8b1c3d5e7", "0b516c04-7a1e-4c3d-9f2b-5d8e6a7c1b90"

#: Texts that look as if they had a secret, and stay as they are.
LOOK_ALIKES = (
    f"token: {_SHA}",
    f"token={_SHA}",
    f"next_page_token: {_ID}",
    f"csrf_token = {_ID}",
    f"secret: {_ID}",
    f"session: {_ID}",
    f"sessionId: {_ID}",
    f"commit {_SHA}",
    "secretsmanager: arn:aws:secretsmanager:eu-west-1:123456789012:secret:prod/db-AbC12d",
    "tokenizer=o200k_base_v2b",
    "token_type: utf8mb4_0900_ai_ci",
    "password: PasswordHashV2Type",
    "password: string",
    "password: string | null;",
    "password?: string",
    "token: 512",
    "max_tokens: 4096, total_tokens=12k",
    "token = get_token()",
    "token = await client.getToken2(user1)",
    "password = os.environ['DB_PASSWORD2']",
    "password = config.database.password1",
    "api_key = settings.OPENAI_API_KEY2",
    "apiKey: process.env.API_KEY_V2,",
    "password: <password>",
    "token: $TOKEN",
    "PASSWORD=${DB_PASSWORD_2}",
    "API_KEY=xxxxxxxxxxxxxxxx",
    "API_KEY=your-api-key-123",
    "Authorization: Bearer <token>",
    "Authorization: Bearer $TOKEN2",
    'Authorization: "Bearer ${{ secrets.DEPLOY_TOKEN_2 }}"',
    "Authorization: Basic authentication is required",
    "X-Api-Key: <your api key>",
    "curl -u $USER:$PASSWORD https://x.example.org",
    "curl -u user:password https://x.example.org",
    "curl -u '<user>:<password>' https://x.example.org",
    "mysql -u root -p shop",
    "mysql -P 3306 -p",
    "docker run -p 8080:80 -p 127.0.0.1:5432:5432 nginx",
    "ssh -p 2222 ann@host && mkdir -p a/b2/c3",
    "docker login -u ann -p $REGISTRY_PASSWORD r.example.org",
    "--password string   Password of the database (default: none)",
    "  --token TOKEN     the token to use",
    "use --password to log in, and --token-file /run/secrets/token1",
    "mytool --token-type bearer2 --password-file ./pw1.txt",
    "Cookie: theme=dark; lang=en-GB; consent=2026-11-29",
    "https://example.org/a?key=index2&page=3&code=404&token=next",
    "https://example.org/a/b@v1.2.3 git@github.com:a/b.git http://localhost:8080/@vite/client",
    "redis://localhost:6379/0 postgres://user:password@localhost/db http://user:${PW}@host",
    "machine learning login page password field",
    "the password is wrong; passwords: 3, password length 12",
    'error("Password must be at least 8 characters, with 1 digit.")',
    '"password": "Your password", "confirm": "Repeat password"',
    '"password": "password123"',
    "passwordField2.value = input3",
    "it('resets the password2', async () => {",
    "<password>${env.PASSWORD}</password>",
    "<label for=\"password\">Password</label>",
    "key: user:123:profile2, cacheKey = `user:${id}:v2`",
    "primary_key=True, foreign_key: users.id2, sortKey: created_at2",
    "public_key: ssh-ed25519 AAAA, keyFile=~/.ssh/id_ed25519",
    "'integrity': 'sha512-' and sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "auth: jwt, auth=oauth2, \"auth\": \"none\"",
    "model: gpt-4o-2024-08-06, secret: false, token: null",
    "pass=1, passed: 12, bypass: true, 5 passed in 1.2s",
    "PWD=/home/ann/project2 OLDPWD=/tmp/a1b2c3",
    "const SECRET_NAME = 'prod/db/credentials-v2';",
    "RESET_PASSWORD = 'RESET_PASSWORD'",
    "eyJ is how a web token begins; eyJhbGciOi...",
    "psk: <psk>; auth_type: wpa2",
    "arn:aws:logs:*:123456789012:log-group:/aws/lambda/x1",
    "s/password=.*/password=***/g",
    "s.length2, s.replaceAllOccurrencesOfX2, t1.value",
    "data:\n  user: ann\n  mode: fast2\nkind: ConfigMap\n",
)  # fmt: skip
