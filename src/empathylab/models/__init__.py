"""Talking to language models."""

from empathylab.models.endpoint import EndpointModel
from empathylab.models.interface import (
    Completion,
    Message,
    Model,
    Parameters,
    TokenAlternatives,
    Usage,
)
from empathylab.models.local import LocalModel
from empathylab.models.prices import Price, Prices, install_prices
from empathylab.models.providers import PROVIDERS, Provider
from empathylab.models.registry import (
    DEFAULT_MODEL,
    Reachability,
    embedded_reachability,
    known_families,
    open_model,
    provider_reachability,
)
from empathylab.models.request_options import RequestOptions
from empathylab.models.scripted import ScriptedModel
from empathylab.models.weights import Weights, install, known_weights

__all__ = [
    "DEFAULT_MODEL",
    "PROVIDERS",
    "Completion",
    "EndpointModel",
    "LocalModel",
    "Message",
    "Model",
    "Parameters",
    "Price",
    "Prices",
    "Provider",
    "Reachability",
    "RequestOptions",
    "ScriptedModel",
    "TokenAlternatives",
    "Usage",
    "Weights",
    "embedded_reachability",
    "install",
    "install_prices",
    "known_families",
    "known_weights",
    "open_model",
    "provider_reachability",
]
