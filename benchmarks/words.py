"""Text that looks like what people and agents write, made from the Python standard library on this machine.

Words come with the real frequencies of the docstrings and comments, code lines are real lines, so the head
and the tail of the distribution are those of technical prose.  Nothing of it is stored in the repository.
"""

from __future__ import annotations

import re
import sysconfig
from collections import Counter
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from pathlib import Path
from random import Random

_PACKAGES = (
    ".",
    "asyncio",
    "concurrent/futures",
    "email",
    "http",
    "json",
    "logging",
    "multiprocessing",
    "unittest",
)
_PROSE = re.compile(r'"""(.*?)"""|#(.*)', re.S)
_COMMENT = re.compile(r"#[^\n]*")
_WORD = re.compile(r"[a-z]{2,20}")
#: Words of the vocabulary, by frequency.
VOCABULARY = 20_000

_CJK = (
    ("検索", "索引", "接続", "設定", "移行", "テスト", "会話", "日付", "記録", "画面", "権限", "通信"),
    ("数据库", "索引", "连接", "配置", "迁移", "测试", "会话", "日期", "日志", "界面", "权限", "缓存"),
)
_CJK_SENTENCES = (
    (
        "{0}の{1}が失敗する原因を調べてください。",
        "{0}を直したので{1}をもう一度実行します。",
        "{0}と{1}の処理を分けたほうがよいです。",
    ),
    ("请检查{0}的{1}为什么失败。", "修复{0}之后重新运行{1}。", "建议把{0}和{1}分开处理。"),
)


@dataclass(frozen=True, slots=True)
class Material:
    """What the standard library gives: words by falling frequency, their counts, and lines of code."""

    words: list[str]
    counts: list[int]
    code: list[str]


@cache
def material() -> Material:
    """Read the standard library once: about 250 files, half a second."""
    root = Path(sysconfig.get_path("stdlib"))
    files = sorted(path for package in _PACKAGES for path in (root / package).glob("*.py"))
    counter: Counter[str] = Counter()
    code: list[str] = []
    for file in files:
        source = file.read_text("utf-8", "replace")
        for docstring, comment in _PROSE.findall(source):
            counter.update(_WORD.findall((docstring or comment).lower()))
        code += [line for line in source.splitlines() if 8 < len(line) < 110 and line.isascii()]
    ranked = sorted(counter.items(), key=lambda item: (-item[1], item[0]))[:VOCABULARY]
    return Material([word for word, _ in ranked], [count for _, count in ranked], code)


class Words:
    """Pools of sentences, identifiers, paths and code to draw from.

    :param random: decides everything; equal seeds give equal text on one Python version.
    :param sentences: size of the sentence pool, which also bounds how rare a word of the pool can be.
    """

    def __init__(self, random: Random, sentences: int) -> None:
        stock = material()
        self.code = stock.code
        self._tail = stock.words[len(stock.words) // 3 :]
        middle = stock.words[40:3000]
        self.identifiers = [_identifier(random, middle) for _ in range(4000)]
        self.paths = [_path(random, middle) for _ in range(3000)]
        lengths = [random.randint(6, 16) for _ in range(sentences)]
        drawn = iter(random.choices(stock.words, cum_weights=list(accumulate(stock.counts)), k=sum(lengths)))
        self.sentences = [self._sentence(random, [next(drawn) for _ in range(length)]) for length in lengths]

    def _sentence(self, random: Random, words: list[str]) -> str:
        die = random.random()
        if die < 0.12:
            words[len(words) // 2] = f"`{random.choice(self.identifiers)}`"
        elif die < 0.18:
            words[-1] = random.choice(self.paths)
        elif die < 0.20:
            words[-1] = f"{random.getrandbits(40):010x}"
        words[0] = words[0].capitalize()
        return " ".join(words) + random.choice("....:?")

    def topic(self, random: Random) -> list[str]:
        """Return the words one session is about: rare ones, and two names nobody else uses."""
        rare = random.sample(self._tail, 5)
        return [*rare, _identifier(random, rare), f"{rare[0]}_{rare[1]}"]

    def prose(self, random: Random, count: int, topic: list[str]) -> str:
        """Return some sentences; one text in three names its topic, one in fifty ends in another script."""
        parts = random.choices(self.sentences, k=count)
        if random.random() < 0.34:
            parts.insert(0, f"The {random.choice(topic)} {random.choice(topic)} in {random.choice(self.paths)}.")
        if random.random() < 0.02:
            language = random.randrange(len(_CJK))
            form = random.choice(_CJK_SENTENCES[language])
            parts.append(form.format(*random.sample(_CJK[language], 2)))
        return " ".join(parts)

    def lines(self, random: Random, count: int) -> list[str]:
        """Return lines of code that follow each other in some file."""
        start = random.randrange(max(1, len(self.code) - count))
        return self.code[start : start + count]


def _identifier(random: Random, words: list[str]) -> str:
    parts = random.sample(words, random.choice((2, 2, 3)))
    style = random.random()
    if style < 0.5:
        return parts[0] + "".join(part.capitalize() for part in parts[1:])
    return "_".join(parts) if style < 0.8 else "".join(part.capitalize() for part in parts)


def _path(random: Random, words: list[str]) -> str:
    folder = random.choice(("src", "tests", "lib", "app", "docs", "packages/core"))
    ending = random.choice((".py", ".ts", ".tsx", ".md", ".yml", ".rs", ".json"))
    return f"{folder}/{'/'.join(random.sample(words, random.choice((1, 2))))}{ending}"
