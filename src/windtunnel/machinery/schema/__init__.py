"""The shape of objects: what fields there are, of which type, and how they merge.

``Models`` reads OpenAPI v3 documents of built-in kinds; ``from_custom_schema`` reads the schema in
a CustomResourceDefinition. Both give a ``Structure``, a graph that all of ``machinery`` walks.
Typed (built-in) kinds are decoded by ``decode_check`` and settled by ``fill_defaults``; custom
resources are pruned, defaulted and validated.
"""

from windtunnel.machinery.schema.conversion import conversion_mistake
from windtunnel.machinery.schema.custom import (
    fill_custom_defaults,
    from_custom_schema,
    prune,
    read_custom,
)
from windtunnel.machinery.schema.decoding import (
    Findings,
    decode_check,
    fill_defaults,
    json_word,
    settle_fields,
    type_mistake,
    unreadable,
)
from windtunnel.machinery.schema.definition import judge_definition
from windtunnel.machinery.schema.duplicates import duplicate_fields, texts_in_order
from windtunnel.machinery.schema.models import Models
from windtunnel.machinery.schema.structure import MISSING, Structure
from windtunnel.machinery.schema.transitions import validate_transition
from windtunnel.machinery.schema.validation import validate_custom, validate_schema

__all__ = [
    "MISSING",
    "Findings",
    "Models",
    "Structure",
    "conversion_mistake",
    "decode_check",
    "duplicate_fields",
    "fill_custom_defaults",
    "fill_defaults",
    "from_custom_schema",
    "json_word",
    "judge_definition",
    "prune",
    "read_custom",
    "settle_fields",
    "texts_in_order",
    "type_mistake",
    "unreadable",
    "validate_custom",
    "validate_schema",
    "validate_transition",
]
