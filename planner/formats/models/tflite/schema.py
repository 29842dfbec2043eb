"""The meaning of numbers in TFLite's schema, and what operators do with memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ...binary.verified import TEXT, Choice, Many, Schema


class Type(NamedTuple):
    """The type of a tensor's elements."""

    name: str
    bits: int | None
    """Packed if less than a byte; None: unknown before it runs."""
    micro_bytes: int | None
    """TFLite Micro's bytes for each; None: it does not support them."""


TYPES: dict[int, Type] = {
    0: Type("float32", 32, 4),
    1: Type("float16", 16, 2),
    2: Type("int32", 32, 4),
    3: Type("uint8", 8, 1),
    4: Type("int64", 64, 8),
    5: Type("string", None, None),
    6: Type("bool", 8, 1),
    7: Type("int16", 16, 2),
    8: Type("complex64", 64, 8),
    9: Type("int8", 8, 1),
    10: Type("float64", 64, 8),
    11: Type("complex128", 128, 16),
    12: Type("uint64", 64, 8),
    13: Type("resource", 32, 4),
    14: Type("variant", None, None),
    15: Type("uint32", 32, 4),
    16: Type("uint16", 16, 2),
    17: Type("int4", 4, 1),
    18: Type("bfloat16", 16, None),
    19: Type("int2", 2, None),
    20: Type("uint4", 4, None),
}
"""By number."""

_IN_ORDER = """ADD AVERAGE_POOL_2D CONCATENATION CONV_2D DEPTHWISE_CONV_2D DEPTH_TO_SPACE DEQUANTIZE EMBEDDING_LOOKUP FLOOR
FULLY_CONNECTED HASHTABLE_LOOKUP L2_NORMALIZATION L2_POOL_2D LOCAL_RESPONSE_NORMALIZATION LOGISTIC LSH_PROJECTION LSTM
MAX_POOL_2D MUL RELU RELU_N1_TO_1 RELU6 RESHAPE RESIZE_BILINEAR RNN SOFTMAX SPACE_TO_DEPTH SVDF TANH CONCAT_EMBEDDINGS
SKIP_GRAM CALL CUSTOM EMBEDDING_LOOKUP_SPARSE PAD UNIDIRECTIONAL_SEQUENCE_RNN GATHER BATCH_TO_SPACE_ND SPACE_TO_BATCH_ND
TRANSPOSE MEAN SUB DIV SQUEEZE UNIDIRECTIONAL_SEQUENCE_LSTM STRIDED_SLICE BIDIRECTIONAL_SEQUENCE_RNN EXP TOPK_V2 SPLIT
LOG_SOFTMAX DELEGATE BIDIRECTIONAL_SEQUENCE_LSTM CAST PRELU MAXIMUM ARG_MAX MINIMUM LESS NEG PADV2 GREATER GREATER_EQUAL
LESS_EQUAL SELECT SLICE SIN TRANSPOSE_CONV SPARSE_TO_DENSE TILE EXPAND_DIMS EQUAL NOT_EQUAL LOG SUM SQRT RSQRT SHAPE POW
ARG_MIN FAKE_QUANT REDUCE_PROD REDUCE_MAX PACK LOGICAL_OR ONE_HOT LOGICAL_AND LOGICAL_NOT UNPACK REDUCE_MIN FLOOR_DIV
REDUCE_ANY SQUARE ZEROS_LIKE FILL FLOOR_MOD RANGE RESIZE_NEAREST_NEIGHBOR LEAKY_RELU SQUARED_DIFFERENCE MIRROR_PAD ABS
SPLIT_V UNIQUE CEIL REVERSE_V2 ADD_N GATHER_ND COS WHERE RANK ELU REVERSE_SEQUENCE MATRIX_DIAG QUANTIZE MATRIX_SET_DIAG
ROUND HARD_SWISH IF WHILE NON_MAX_SUPPRESSION_V4 NON_MAX_SUPPRESSION_V5 SCATTER_ND SELECT_V2 DENSIFY SEGMENT_SUM
BATCH_MATMUL PLACEHOLDER_FOR_GREATER_OP_CODES CUMSUM CALL_ONCE BROADCAST_TO RFFT2D CONV_3D IMAG REAL COMPLEX_ABS HASHTABLE
HASHTABLE_FIND HASHTABLE_IMPORT HASHTABLE_SIZE REDUCE_ALL CONV_3D_TRANSPOSE VAR_HANDLE READ_VARIABLE ASSIGN_VARIABLE
BROADCAST_ARGS RANDOM_STANDARD_NORMAL BUCKETIZE RANDOM_UNIFORM MULTINOMIAL GELU DYNAMIC_UPDATE_SLICE RELU_0_TO_1
UNSORTED_SEGMENT_PROD UNSORTED_SEGMENT_MAX UNSORTED_SEGMENT_SUM ATAN2 UNSORTED_SEGMENT_MIN SIGN BITCAST BITWISE_XOR
RIGHT_SHIFT"""
OPERATORS = dict(enumerate(_IN_ORDER.split())) | {
    200: "STABLEHLO_WHILE",
    206: "STABLEHLO_COMPOSITE",
    209: "STABLEHLO_CASE",
}
"""Built-in operators by number; others are known by their number."""
CUSTOM = 32
HANDLE = "VAR_HANDLE"
"""Returns the handle of a resource variable."""


def operator_name(code: int) -> str:
    """Return the name of the built-in operator of that number."""
    return OPERATORS.get(code, f"BUILTIN_{code}")


class Control(NamedTuple):
    """An operator that runs subgraphs, and the fields of its options that number them."""

    union: int
    """The number of the operator's field with the options' kind; the options are in the next one."""
    kind: int
    """The number of the options' kind."""
    fields: Mapping[int, str]
    """By number."""
    is_list: bool = False
    """Has its only field any number of subgraphs?"""


CONTROL: dict[str, Control] = {
    "CALL": Control(3, 16, {0: "subgraph"}),
    "IF": Control(3, 92, {0: "then_subgraph_index", 1: "else_subgraph_index"}),
    "WHILE": Control(3, 93, {0: "cond_subgraph_index", 1: "body_subgraph_index"}),
    "CALL_ONCE": Control(3, 103, {0: "init_subgraph_index"}),
    "STABLEHLO_WHILE": Control(11, 15, {0: "cond_subgraph_index", 1: "body_subgraph_index"}),
    "STABLEHLO_COMPOSITE": Control(11, 21, {1: "decomposition_subgraph_index"}),
    "STABLEHLO_CASE": Control(11, 23, {0: "branch_subgraph_indices"}, is_list=True),
}
"""The bodies of other STABLEHLO operators compute single elements: kernels know what they do, and never run them."""

VIEWS = frozenset(("RESHAPE", "SQUEEZE", "EXPAND_DIMS", "BITCAST"))
"""Operators that return the first input's bytes in another shape."""
_ELEMENT_BY_ELEMENT = """ADD SUB MUL DIV MAXIMUM MINIMUM POW FLOOR_DIV FLOOR_MOD SQUARED_DIFFERENCE ATAN2 LOGICAL_OR LOGICAL_AND BITWISE_XOR RIGHT_SHIFT
    RELU RELU_N1_TO_1 RELU6 RELU_0_TO_1 LEAKY_RELU PRELU ELU GELU HARD_SWISH LOGISTIC TANH EXP LOG SIN COS SQRT RSQRT SQUARE NEG ABS SIGN FLOOR
    CEIL ROUND LOGICAL_NOT QUANTIZE DEQUANTIZE CAST"""
ELEMENTWISE = frozenset(_ELEMENT_BY_ELEMENT.split())
"""Operators whose result's elements depend only on the elements at the same position."""


_QUANTIZATION = Schema({0: ("min", 4), 1: ("max", 4), 2: ("scale", 4), 3: ("zero_point", 8)})
_SPARSITY = Schema({0: ("traversal_order", 4), 1: ("block_map", 4), 2: ("dim_metadata", Many(Schema({})))})
_TENSOR = Schema(
    {
        0: ("shape", 4),
        3: ("name", TEXT),
        4: ("quantization", _QUANTIZATION),
        6: ("sparsity", _SPARSITY),
        7: ("shape_signature", 4),
        9: ("variant_tensors", Many(Schema({0: ("shape", 4)}))),
    }
)
_OPTIONS = Choice(
    {
        17: Schema({0: ("new_shape", 4)}),
        30: Schema({0: ("squeeze_dims", 4)}),
        111: Schema({0: ("container", TEXT), 1: ("shared_name", TEXT)}),
    }
)
_OPERATOR = Schema(
    {
        1: ("inputs", 4),
        2: ("outputs", 4),
        4: ("builtin_options", _OPTIONS),
        5: ("custom_options", 1),
        7: ("mutating_variable_inputs", 1),
        8: ("intermediates", 4),
    }
)
_MAP = Many(Schema({0: ("name", TEXT)}))
_SUBGRAPH = Schema(
    {
        0: ("tensors", Many(_TENSOR)),
        1: ("inputs", 4),
        2: ("outputs", 4),
        3: ("operators", Many(_OPERATOR)),
        4: ("name", TEXT),
    }
)
MODEL = Schema(
    {
        1: ("operator_codes", Many(Schema({1: ("custom_code", TEXT)}))),
        2: ("subgraphs", Many(_SUBGRAPH)),
        3: ("description", TEXT),
        4: ("buffers", Many(Schema({0: ("data", 1)}))),
        5: ("metadata_buffer", 4),
        6: ("metadata", Many(Schema({0: ("name", TEXT)}))),
        7: ("signature_defs", Many(Schema({0: ("inputs", _MAP), 1: ("outputs", _MAP), 2: ("signature_key", TEXT)}))),
    }
)
"""The whole file, as far as its parts have no fixed size."""
