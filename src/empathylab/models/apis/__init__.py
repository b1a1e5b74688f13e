"""The languages in which endpoints are asked."""

from empathylab.models.apis.anthropic import AnthropicMessages
from empathylab.models.apis.gemini import GeminiContent
from empathylab.models.apis.interface import ChatApi
from empathylab.models.apis.openai import OpenAiChat

__all__ = ["AnthropicMessages", "ChatApi", "GeminiContent", "OpenAiChat"]
