"""In which language a text is written, by its script and its most common words.

The rule can be read and checked by hand: letters of a script that the expected language does not
use, or clearly more of another language's most common words. Where neither says enough, as in short
texts, nothing is claimed.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import cache

LANGUAGE_NAMES = {
    "ar": "Arabic",
    "de": "German",
    "el": "Greek",
    "en": "English",
    "es": "Spanish",
    "fa": "Persian",
    "fr": "French",
    "he": "Hebrew",
    "hi": "Hindi",
    "id": "Indonesian",
    "it": "Italian",
    "ja": "Japanese",
    "ko": "Korean",
    "nl": "Dutch",
    "pl": "Polish",
    "pt": "Portuguese",
    "ru": "Russian",
    "sv": "Swedish",
    "th": "Thai",
    "tr": "Turkish",
    "uk": "Ukrainian",
    "ur": "Urdu",
    "zh": "Chinese",
}

_COMMON_WORDS = {
    "de": "ich du er sie es wir ihr das der die den dem ein eine und ist nicht mit für auf auch "
    "dass wie aber zu dir mir dich mich sich habe hast bin bist sehr noch wenn was so von",
    "en": "i you he she it we they the a an and is are was not with for on that this but to of in "
    "your my me so have has be been do what how if can will would just about there as or",
    "es": "yo tú él ella nosotros el la los las un una y es no con para que por pero a de en tu "
    "mi te me se lo muy como más si estoy estás eso esto ha he bien cuando todo del al",
    "fr": "je tu il elle nous vous le la les un une et est pas avec pour que qui mais de des du "
    "en ton ta mon ma te me se ce ça très comme plus si suis es dans sur ne c'est j'ai",
    "id": "saya aku kamu anda dia kami kita yang dan di ke dari ini itu untuk dengan tidak ada "
    "akan bisa sangat sudah juga atau pada karena bahwa merasa apa saat lebih jangan",
    "it": "io tu lui lei noi il lo la i gli le un una e è non con per che ma a di in tuo mio ti "
    "mi si ci molto come più se sono sei questo questa ho hai bene quando tutto del della",
    "nl": "ik jij je hij zij ze wij we het de een en is niet met voor op ook dat hoe maar te van "
    "in mijn jouw me heb hebt ben bent zo zijn wat als er nog heel wel kan dit",
    "pl": "ja ty on ona my się nie to jest że z na do i w o jak ale po co tak ci mi mnie ciebie "
    "jestem jesteś bardzo czy tylko już być dla ten tym tego sobie może wiem",
    "pt": "eu tu você ele ela nós o a os as um uma e é não com para que por mas de em seu sua "
    "meu minha te me se muito como mais isso está estou foi bem quando tudo do da ao",
    "sv": "jag du han hon vi ni det den en ett och är inte med för på att som men av i din min "
    "dig mig sig så har var hur om kan vad när också mycket till ska från bara",
    "tr": "ben sen o biz siz bir ve bu şu de da için ile değil çok ne ama gibi var yok daha mi mı "
    "olarak bana sana beni seni ki her kadar şey olan olduğunu zaman",
}
_WORDS_OF = {code: frozenset(words.split()) for code, words in _COMMON_WORDS.items()}

_SCRIPTS = dict.fromkeys(_COMMON_WORDS, frozenset({"LATIN"})) | {
    "ar": frozenset({"ARABIC"}),
    "el": frozenset({"GREEK"}),
    "fa": frozenset({"ARABIC"}),
    "he": frozenset({"HEBREW"}),
    "hi": frozenset({"DEVANAGARI"}),
    "ja": frozenset({"CJK", "HIRAGANA", "KATAKANA"}),
    "ko": frozenset({"HANGUL", "CJK"}),
    "ru": frozenset({"CYRILLIC"}),
    "th": frozenset({"THAI"}),
    "uk": frozenset({"CYRILLIC"}),
    "ur": frozenset({"ARABIC"}),
    "zh": frozenset({"CJK"}),
}

# Letters that a text of some length in the language cannot do without.
_NEEDED_SCRIPTS = {"ja": frozenset({"HIRAGANA", "KATAKANA"}), "ko": frozenset({"HANGUL"})}

# What begins the names of letters that are used as signs, whatever the language.
_NO_SCRIPT = ("FULLWIDTH", "HALFWIDTH", "MATHEMATICAL", "MODIFIER", "MICRO", "UNKNOWN")

_LEAST_LETTERS = 6
_LEAST_WORDS = 8
_FOREIGN_SHARE = 0.25
_LEAST_HITS = 3
_HIT_SHARE = 0.2


def language_code(language: str) -> str:
    """The code alone, in small letters: `pt` for `pt-BR`."""
    return re.split(r"[-_]", language.lower())[0]


def departs_from(text: str, language: str) -> str | None:
    """How the text departs from that language, in words; None if it does not, or is undecided.

    `language` is a code such as `en` or `pt-BR`; one that the rule does not know is undecided.
    """
    code = language_code(language)
    if code not in _SCRIPTS:
        return None
    expected = LANGUAGE_NAMES[code]
    letters = Counter(script for script in map(_script, text) if script)
    total = sum(letters.values())
    foreign = {script: n for script, n in letters.items() if script not in _SCRIPTS[code]}
    if total >= _LEAST_LETTERS and sum(foreign.values()) >= _FOREIGN_SHARE * total:
        script = max(foreign, key=lambda name: foreign[name])
        shown = "Chinese" if script == "CJK" else script.capitalize()
        return f"a quarter or more is in {shown} letters, not in {expected}"
    needed = _NEEDED_SCRIPTS.get(code, frozenset())
    if needed and total >= 2 * _LEAST_LETTERS and not needed & letters.keys():
        return f"it is in Chinese, not in {expected}"
    if code not in _WORDS_OF:
        return None
    other = _likeliest(text, code)
    return other and f"it is in {LANGUAGE_NAMES[other]}, not in {expected}"


def _likeliest(text: str, expected: str) -> str | None:
    """The language whose common words are clearly more than the expected one's."""
    words = re.findall(r"[^\W\d_]+(?:'[^\W\d_]+)?", text.lower().replace("’", "'"))
    if len(words) < _LEAST_WORDS:
        return None
    # Each word once: "ha ha ha ha" is not Spanish.
    different = set(words)
    hits = {code: len(different & common) for code, common in _WORDS_OF.items()}
    best = max(hits, key=lambda code: hits[code])
    enough = hits[best] >= max(_LEAST_HITS, _HIT_SHARE * len(different))
    return best if enough and 2 * hits[expected] < hits[best] else None


@cache
def _script(character: str) -> str | None:
    """The script of a letter: the first word of its name in Unicode."""
    if not character.isalpha():
        return None
    if character.isascii():
        return "LATIN"
    script = unicodedata.name(character, "UNKNOWN").split()[0]
    return None if script in _NO_SCRIPT else script
