"""Made the frozen figures of tests/style/test_diversity.py; run by hand, not by the tests.

    pip install lexicalrichness==0.5.1 lexical-diversity==0.1.1
    python tests/reference/style_diversity.py

Printed: 13.684255001772733 0.6599547511312218 0.41026178010471226 0.6599547511312218
`lexicalrichness` closes a factor of MTLD at the threshold, we below it, as McCarthy & Jarvis say;
the sequence never meets the threshold exactly, so both agree.
"""

from lexical_diversity import lex_div  # type: ignore[import-not-found]
from lexicalrichness import LexicalRichness  # type: ignore[import-not-found]

words = [f"w{chr(97 + (i * i * 7 + 3 * i + i // 9) % 23)}" for i in range(240)]
text = LexicalRichness(" ".join(words))
print(text.mtld(), text.mattr(20), text.mattr(50), lex_div.mattr(words, 20))  # noqa: T201
