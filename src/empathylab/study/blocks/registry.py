"""The block types that a study file may use.

Those that ship are listed here. A package adds its own through the entry point
`empathylab.blocks`; `register` adds one by hand, before the study is read:

    @register
    class Slider(Block):
        block: Literal["slider"]
        ...
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Mapping
from typing import Annotated, Any, TypeVar, get_args

from pydantic import Discriminator, TypeAdapter, ValidationInfo, WrapValidator

from empathylab.plugins import plugin_parts, require_new
from empathylab.study.blocks.attention import Attention
from empathylab.study.blocks.comment import Comment
from empathylab.study.blocks.compare import Compare
from empathylab.study.blocks.consent import Consent
from empathylab.study.blocks.debrief import Debrief
from empathylab.study.blocks.demographics import Demographics, Questions
from empathylab.study.blocks.imagine import Imagine
from empathylab.study.blocks.interface import Block
from empathylab.study.blocks.norming import Norm
from empathylab.study.blocks.rate import Rate
from empathylab.study.blocks.recipients.chat import Chat
from empathylab.study.blocks.recipients.feel import Feel
from empathylab.study.blocks.recipients.reply import Reply
from empathylab.study.blocks.recipients.tell import Tell
from empathylab.study.blocks.scale import ScaleBlock
from empathylab.study.blocks.tutorial import Tutorial
from empathylab.study.blocks.write import Write

BlockType = TypeVar("BlockType", bound=Block)
_TYPES: dict[str, type[Block]] = {}


def register(block_type: type[BlockType]) -> type[BlockType]:
    """Lets study files use the block type, under the literal that its field `block` names."""
    [name] = get_args(block_type.model_fields["block"].annotation)
    _TYPES[name] = block_type
    _adapter.cache_clear()
    return block_type


def unregister(name: str) -> None:
    """Forgets a block type."""
    del _TYPES[name]
    _adapter.cache_clear()


def block_types() -> Mapping[str, type[Block]]:
    """The block types by name."""
    return _TYPES | _of_plugins()


def block_plugin(name: str, part: type[Block]) -> type[Block]:
    """The plugin's block type; an error where it is none, or has another name than its entry."""
    require_new(name, _TYPES)
    if not (isinstance(part, type) and issubclass(part, Block)):
        raise TypeError(f"{name!r} must be a subclass of empathylab.study.Block")
    if get_args(part.model_fields["block"].annotation) != (name,):
        raise TypeError(f"its field must be `block: Literal[{name!r}]`")
    return part


@functools.cache
def _of_plugins() -> dict[str, type[Block]]:
    return plugin_parts("blocks", block_plugin)


@functools.cache
def _adapter() -> TypeAdapter[Block]:
    """Reads any registered block: a union, distinguished by the key `block`."""
    union = functools.reduce(operator.or_, block_types().values())
    adapter: TypeAdapter[Block] = TypeAdapter(Annotated[union, Discriminator("block")])  # type: ignore[arg-type]
    return adapter


def _read(value: Any, handler: object, info: ValidationInfo) -> Block:
    if isinstance(value, Block):
        return value
    return _adapter().validate_python(value, context=info.context)


AnyBlock = Annotated[Block, WrapValidator(_read)]

for _type in (
    Consent,
    Demographics,
    Questions,
    ScaleBlock,
    Feel,
    Tutorial,
    Rate,
    Compare,
    Imagine,
    Norm,
    Write,
    Tell,
    Reply,
    Chat,
    Attention,
    Comment,
    Debrief,
):
    register(_type)
