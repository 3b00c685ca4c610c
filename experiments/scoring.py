"""Exact scoring of one answer. No model judges; the same text always gets the same score.

Codes (method `code`): an answer is right when exactly one distinct code is in it, and it is the
probe's answer. Why an answer was wrong:

* `refused`: the model or its endpoint declined to answer;
* `truncated`: cut off by the output limit, whatever it held until then;
* `no_code`: no code in it; an empty answer too;
* `several_codes`: two or more distinct codes, even with the right one among them;
* `stale_code`: one wrong code that the probe's own evidence holds (an older value, a value that
  was corrected, a step on the way);
* `wrong_code`: one code from anywhere else.

Free text (methods `exact`, `token_f1`): both texts are normalized as SQuAD does it (see
`stores.formats.spans`). `exact` wants equal tokens; `token_f1` wants the harmonic mean of token
precision and recall, repeated tokens counted, to reach the threshold. Why an answer was wrong:
`refused`, `truncated`, `no_text` (nothing left of it), `wrong_text`.

An answer that never came is not scored here: it is unscored, never wrong.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from stores.formats.codes import DEFAULT_CODE_PATTERN, find_codes
from stores.formats.spans import normalized_tokens
from stores.roles import FinishReason
from stores.workload.types import Probe

# Far above any reader's output limit. A longer text is taken for one that was cut off, so that a
# search never runs over more than this.
MAX_ANSWER_CHARS = 20_000


@dataclass(frozen=True, slots=True)
class Score:
    """A judged answer. `reason` is empty when it is right; `found` holds the codes in it.

    `value` is the token F1 where that was the method, else None.
    """

    correct: bool
    reason: str
    found: tuple[str, ...] = ()
    value: float | None = None


def score(
    text: str,
    finish_reason: FinishReason,
    *,
    probe: Probe,
    evidence_texts: Sequence[str] = (),
    code_pattern: str = DEFAULT_CODE_PATTERN,
    token_f1_threshold: float = 0.5,
) -> Score:
    """Judge one answer to a probe.

    Parameters
    ----------
    evidence_texts
        The texts of the probe's evidence events: they tell a stale code from a wrong one.
    code_pattern
        The plan's pattern; raises InvalidInputError when it is unsafe (see `formats.codes`).
    token_f1_threshold
        The plan's threshold, used where the probe names none of its own.
    """
    if probe.scoring.method == "code":
        judged = _score_code(text, probe, evidence_texts, code_pattern)
    else:
        judged = _score_text(text, probe, token_f1_threshold)
    if finish_reason == "refused":
        return Score(False, "refused", judged.found, judged.value)
    if finish_reason == "length" or len(text) > MAX_ANSWER_CHARS:
        return Score(False, "truncated", judged.found, judged.value)
    return judged


def _score_code(text: str, probe: Probe, evidence_texts: Sequence[str], pattern: str) -> Score:
    found = find_codes(text[:MAX_ANSWER_CHARS], pattern)
    if not found:
        return Score(False, "no_code")
    if len(found) > 1:
        return Score(False, "several_codes", found)
    if found == find_codes(probe.answer, pattern):
        return Score(True, "", found)
    in_evidence = {code for evidence in evidence_texts for code in find_codes(evidence, pattern)}
    return Score(False, "stale_code" if found[0] in in_evidence else "wrong_code", found)


def _score_text(text: str, probe: Probe, default_threshold: float) -> Score:
    given, right = normalized_tokens(text[:MAX_ANSWER_CHARS]), normalized_tokens(probe.answer)
    if probe.scoring.method == "exact":
        correct, value = bool(given) and given == right, None
    else:
        threshold = probe.scoring.threshold
        value = token_f1(given, right)
        correct = value >= (default_threshold if threshold is None else threshold) and value > 0
    if correct:
        return Score(True, "", value=value)
    return Score(False, "wrong_text" if given else "no_text", value=value)


def token_f1(given: Sequence[str], right: Sequence[str]) -> float:
    """Return the harmonic mean of precision and recall over tokens; 0 when they share none."""
    shared = sum((Counter(given) & Counter(right)).values())
    if not shared:
        return 0.0
    precision, recall = shared / len(given), shared / len(right)
    return 2 * precision * recall / (precision + recall)
