"""What an emoji is called, so that it can be read where it cannot be drawn."""

from __future__ import annotations

import unicodedata

_TONES = {chr(0x1F3FB + number): number for number in range(5)}
_TONE_NAMES = ("light", "medium-light", "medium", "medium-dark", "dark")
_SILENT = {"\ufe0e", "\ufe0f", "\u200d", "\u20e3"}


def emoji_name(emoji: str) -> str:
    """The emoji's name in lower case: its parts' Unicode names, skin tone last.

    A flag is named by its letters (`flag FR`), a keycap by its key.
    """
    letters = [_flag_letter(character) for character in emoji]
    if emoji and all(letters):
        return f"flag {''.join(letters)}"
    if emoji.startswith("\U0001f3f4") and len(emoji) > 2 and ord(emoji[1]) >= 0xE0020:
        return "flag " + "".join(chr(ord(tag) - 0xE0000) for tag in emoji[1:-1])
    if "\u20e3" in emoji:
        return f"keycap {emoji[0]}"
    parts = [_part(character) for character in emoji if character not in _SILENT | _TONES.keys()]
    tones = [_TONE_NAMES[_TONES[character]] for character in emoji if character in _TONES]
    name = ", ".join(part for part in parts if part) or "emoji"
    return f"{name} ({tones[0]} skin)" if tones else name


def _part(character: str) -> str:
    return unicodedata.name(character, f"U+{ord(character):04X}").lower()


def _flag_letter(character: str) -> str:
    place = ord(character) - 0x1F1E6
    return chr(ord("A") + place) if 0 <= place < 26 else ""
