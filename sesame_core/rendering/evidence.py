"""The optional parts of an answer: further passages, windows, explanations; and its byte budget."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, cast

from ..text.readable import readable
from .text import as_json, count, iso, one_line, printable

if TYPE_CHECKING:
    from ..types.answer import Answer, Hit, Passage
    from ..types.evidence import ConfidenceExplanation, Explanation, HitExplanation, Window, WindowItem
    from ..types.index import ChunkKind
    from .schemas.answers import ResultJson
    from .schemas.evidence import (
        ConfidenceJson,
        EvidenceJson,
        ExplanationJson,
        PassageJson,
        ScoreJson,
        WindowItemJson,
    )

#: Characters of a window's item on its line of text.
LINE = 160


def evidence_json(hit: Hit) -> EvidenceJson:
    """Return the optional JSON fields of a result: those that were requested."""
    value: EvidenceJson = {}
    if len(hit.passages) > 1:
        value["passages"] = [_passage_json(passage) for passage in hit.passages]
    if hit.window:
        value["contextBefore"] = [_item_json(item) for item in hit.window.before]
        value["contextAfter"] = [_item_json(item) for item in hit.window.after]
    if hit.explanation:
        value["explain"] = _hit_explanation_json(hit.explanation)
    return value


def _item_json(item: WindowItem) -> WindowItemJson:
    return {
        "role": item.role,
        "position": item.position,
        "snippet": item.snippet,
        "truncated": item.is_truncated,
        "tool": item.tool,
    }


def _passage_json(passage: Passage) -> PassageJson:
    chunk = passage.chunk
    return {
        "snippet": passage.snippet.text,
        "type": chunk.kind,
        "role": chunk.role,
        "tool": chunk.tool_name,
        "at": iso(chunk.timestamp),
        "entryId": chunk.entry_id,
        "position": chunk.seq,
        "subagent": passage.subagent_id,
    }


def window_lines(items: tuple[WindowItem, ...]) -> list[str]:
    """Return one side of a window as text, one line per item."""
    lines = []
    for item in items:
        text = " ".join(readable(item.snippet, _kind(item)).split())
        is_whole = len(text) <= LINE and not item.is_truncated
        lines.append(f"#{_speaker(item)}{printable(text if is_whole else text[:LINE].rstrip() + '…')}")
    return lines


def match_mark(window: Window) -> str:
    """Return the prefix of the passage in the middle of a window."""
    return f"→{_speaker(window.match)}"


def _kind(item: WindowItem) -> ChunkKind:
    """Return the kind of the chunk that an item was cut from, as far as it matters for `readable`."""
    if item.role == "tool":
        return "tool_result"
    return "tool_call" if item.tool else "message"


def _speaker(item: WindowItem) -> str:
    return f"{item.position} {item.role or ''}{' ' + one_line(item.tool) if item.tool else ''}: "


# -- explanations -----------------------------------------------------------------------------------------


def explanation_json(explanation: Explanation, answer: Answer) -> ExplanationJson:
    """Return the JSON value of how a query was parsed and evaluated."""
    return {
        "words": [
            {
                "word": word.text,
                "alternatives": list(word.alternatives),
                "corrections": list(word.corrections),
                "required": word.is_required,
                "documentFrequency": word.document_frequency,
                "idf": round(word.idf, 3),
            }
            for word in explanation.words
        ],
        "excluded": list(explanation.excluded),
        "scanned": answer.scanned,
        "truncated": answer.is_truncated,
        "candidateChunks": explanation.candidate_chunks,
        "candidateHeads": explanation.candidate_heads,
        "confidence": None if explanation.confidence is None else _confidence_json(explanation.confidence),
    }


def _confidence_json(confidence: ConfidenceExplanation) -> ConfidenceJson:
    return {
        "share": round(confidence.share, 3),
        "found": list(confidence.found),
        "respelled": list(confidence.respelled),
        "missing": list(confidence.missing),
        "ignored": list(confidence.ignored),
        "weakBelow": confidence.weak_below,
    }


def _hit_explanation_json(explanation: HitExplanation) -> ScoreJson:
    return {
        "chunkSum": round(explanation.chunk_sum, 3),
        "chunkPart": round(explanation.chunk_part, 3),
        "headScore": round(explanation.head, 3),
        "headPart": round(explanation.head_part, 3),
        "conversationScore": round(explanation.conversation, 3),
        "conversationPart": round(explanation.conversation_part, 3),
        "nearness": round(explanation.nearness, 3),
        "nearPart": round(explanation.near_part, 3),
        "verbatim": explanation.verbatim,
        "verbatimPart": round(explanation.verbatim_part, 3),
        "chunks": [
            {
                "sessionId": chunk.session_id,
                "position": chunk.position,
                "class": chunk.class_name,
                "weight": chunk.weight,
                "decay": round(chunk.decay, 3),
                "score": round(chunk.score, 3),
                "words": list(chunk.words),
            }
            for chunk in explanation.chunks
        ],
    }


def explanation_lines(explanation: Explanation, answer: Answer) -> list[str]:
    """Return as text how a query was parsed and evaluated."""
    lines = ["How the query was read:"]
    for word in explanation.words:
        about = [f"in {count(word.document_frequency, 'chunk')}", f"idf {word.idf:.2f}"]
        if word.is_required:
            about.insert(0, "required")
        others = [text for text in word.alternatives if text != word.text]
        if others:
            about.append(f"also as {', '.join(others)}")
        if word.corrections:
            about.append(f"corrected to {', '.join(word.corrections)}")
        lines.append(one_line(f"  {word.text}: {'; '.join(about)}"))
    lines += [one_line(f"  without {word}") for word in explanation.excluded]
    budget = "the budget ran out, the rarest words first" if answer.is_truncated else "every match"
    lines.append(f"  {answer.scanned} of {count(answer.chunk_total, 'chunk')} scored ({budget})")
    if explanation.confidence is not None and answer.confidence is not None:
        lines.append(_confidence_line(explanation.confidence, answer.confidence))
    return lines


def _confidence_line(confidence: ConfidenceExplanation, value: float) -> str:
    about = [f"{confidence.share:.0%} of the query in the best passage, by rarity"]
    for name, words in (
        ("in the best passages", confidence.found),
        ("respelled", confidence.respelled),
        ("missing", confidence.missing),
        ("not counted", confidence.ignored),
    ):
        if words:
            about.append(f"{name}: {', '.join(words)}")
    return printable(f"  confidence {value:.2f} (weak below {confidence.weak_below:.2f}): {'; '.join(about)}")


def hit_explanation_lines(explanation: HitExplanation) -> list[str]:
    """Return as text how a score was computed."""
    parts = (explanation.chunk_part, explanation.head_part, explanation.conversation_part, explanation.near_part)
    total = sum(parts) + explanation.verbatim_part
    lines = [
        f"{total:.3f} = {explanation.chunk_part:.3f} from chunks ({explanation.chunk_sum:.2f}) "
        f"+ {explanation.head_part:.3f} from title and first prompts ({explanation.head:.2f}) "
        f"+ {explanation.conversation_part:.3f} from the conversation ({explanation.conversation:.2f}) "
        f"+ {explanation.near_part:.3f} from words as typed, side by side ({explanation.nearness:.2f})"
    ]
    if explanation.verbatim:
        lines[0] += f" + {explanation.verbatim_part:.3f} for the query word for word ({explanation.verbatim})"
    for chunk in explanation.chunks:
        words = ", ".join(map(one_line, chunk.words)) or "no word"
        score = f"{chunk.score:.2f} × {chunk.decay:.2f}"
        lines.append(f"  #{chunk.position} {chunk.class_name} (× {chunk.weight:g}): {score}; {words}")
    return lines


# -- the byte budget --------------------------------------------------------------------------------------


def within_budget(results: list[ResultJson], budget: int) -> list[ResultJson]:
    """Return results whose JSON, as it is printed, takes at most `budget` bytes of UTF-8.

    Window items are left out first, those farthest from a match before nearer ones and those of worse results before
    better ones; then further passages, then results from the end.
    """
    order = _order(results)
    # Leaving out more parts only shrinks the results, so a binary search finds the least that suffices.
    count = bisect_left(range(len(order)), True, key=lambda count: _size(_without(results, order[:count])) <= budget)
    return _without(results, order[:count])


#: A part to leave out: result, field, index in it; a whole result has no field.
_Part = tuple[int, str, int]


def _order(results: list[ResultJson]) -> list[_Part]:
    items: list[tuple[int, _Part]] = []
    passages: list[_Part] = []
    for number, result in enumerate(results):
        before, after = result.get("contextBefore", []), result.get("contextAfter", [])
        items += [(len(before) - place, (number, "contextBefore", place)) for place in range(len(before))]
        items += [(place + 1, (number, "contextAfter", place)) for place in range(len(after))]
        passages += [(number, "passages", place) for place in range(1, len(result.get("passages", [])))]
    items.sort(key=lambda item: (-item[0], -item[1][0], item[1][1]))
    passages.sort(key=lambda part: (-part[2], -part[0]))
    return [part for _, part in items] + passages + [(number, "", 0) for number in reversed(range(len(results)))]


def _without(results: list[ResultJson], parts: list[_Part]) -> list[ResultJson]:
    gone = set(parts)
    return [
        cast("ResultJson", {name: _left(value, number, name, gone) for name, value in result.items()})
        for number, result in enumerate(results)
        if (number, "", 0) not in gone
    ]


def _left(value: object, number: int, name: str, gone: set[_Part]) -> object:
    """Return the value of a result's field without the parts that are left out."""
    if name in ("contextBefore", "contextAfter", "passages") and isinstance(value, list):
        return [item for place, item in enumerate(value) if (number, name, place) not in gone]
    return value


def _size(results: list[ResultJson]) -> int:
    """Return the number of bytes that results take in an answer."""
    return len(as_json({"": results}).encode("utf-8", "surrogatepass")) - len(as_json({"": 0})) + 1
