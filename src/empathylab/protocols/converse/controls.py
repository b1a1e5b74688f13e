"""Scripted listeners that a simulator should tell apart: an attentive one and a cold one.

A simulator that feels no better with the first than with the second does not react to what is
said, so what it feels with any model means nothing.
"""

from __future__ import annotations

from collections.abc import Callable

from empathylab.models import Message, Parameters, ScriptedModel

ATTENTIVE = "scripted/control-attentive"
COLD = "scripted/control-cold"
CONTROLS = (ATTENTIVE, COLD)

# The same for every persona, so nothing but attention and coldness differs.
_ATTENTIVE = {
    "en": (
        "Thank you for telling me. I can hear how much this matters. What has stayed with you?",
        "That makes sense, after what you describe. How has it been for you since then?",
        "I am glad you said that, it helps me understand. What should someone see in this?",
        "It shows how much of yourself is in this. Take your time. What else belongs to it?",
    ),
    "de": (
        "Danke, dass du mir das erzählst. Ich merke, was dir das bedeutet. Was geht dir nach?",
        "Das verstehe ich gut, nach dem, was du beschreibst. Wie ist es dir seitdem ergangen?",
        "Gut, dass du das sagst, so verstehe ich es besser. Was sollte jemand daran sehen?",
        "Man merkt, wie viel von dir darin steckt. Nimm dir Zeit. Was gehört noch dazu?",
    ),
    "zh": (
        "谢谢你愿意告诉我。我能感觉到这件事对你有多重要。最让你放不下的是什么？",
        "听你刚才说的，你会这样想很自然。我在认真听。从那以后你过得怎么样？",
        "你这么一说，我更明白了。你最希望别人看到的是什么？",
        "看得出来你为此投入了很多。慢慢说，不着急。还有什么也和这件事有关？",
    ),
}
_COLD = {
    "en": (
        "Everybody has something. I do not see why this is special.",
        "You are making too much of it. Other people manage.",
        "Anyway. Was that all?",
        "I have heard this kind of story often enough. Get on with it.",
    ),
    "de": (
        "Jeder hat irgendetwas. Ich sehe nicht, was daran besonders sein soll.",
        "Du machst zu viel daraus. Andere kommen auch klar.",
        "Na ja. War das alles?",
        "Solche Geschichten habe ich oft genug gehört. Sieh zu, dass du weiterkommst.",
    ),
    "zh": (
        "谁都有点事。我看不出这有什么特别的。",
        "你想得太多了。别人不也都过来了。",
        "行吧。就这些？",
        "这种事我听得多了。别老揪着不放。",
    ),
}


def control_listeners(language: str) -> list[ScriptedModel]:
    """The attentive and the cold listener in that language; English for one that has none."""
    lines = {ATTENTIVE: _ATTENTIVE, COLD: _COLD}
    return [
        ScriptedModel(_listener(texts.get(language, texts["en"])), name=name)
        for name, texts in lines.items()
    ]


def _listener(lines: tuple[str, ...]) -> Callable[[tuple[Message, ...], Parameters], str]:
    def reply(messages: tuple[Message, ...], _parameters: Parameters) -> str:
        replies = sum(message.role == "assistant" for message in messages)
        return lines[replies % len(lines)]

    return reply
