"""The rule of each operator, by its domain and name."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from . import elementwise as e
from . import fused as f
from . import layers as c
from . import layout as o
from . import others as r
from .site import Site, Type

Rule: TypeAlias = Callable[[Site], list[Type]]

_SAME = """Abs Acos Acosh Asin Asinh Atan Atanh BitwiseNot Ceil Celu Clip Cos Cosh CumProd CumSum Elu Erf Exp Floor Gelu HardSigmoid HardSwish Hardmax
Identity LRN LeakyRelu PRelu Log LogSoftmax LpNormalization MeanVarianceNormalization Mish Neg Not Reciprocal Relu ReverseSequence Round ScaledTanh Scatter
ScatterElements ScatterND Selu Shrink Sigmoid Sign Sin Sinh Softmax Softplus Softsign Sqrt Swish Tan Tanh TensorScatter ThresholdedRelu Trilu InstanceNormalization
GroupNormalization RMSNormalization RotaryEmbedding Affine ParametricSoftplus ImageScaler Crop"""
_JOINED = (
    "Add StringConcat SwiGLU And BitShift BitwiseAnd BitwiseOr BitwiseXor Div Max Mean Min Mod Mul Or Pow Sub Sum Xor"
)
_COMPARED = "Equal Greater GreaterOrEqual Less LessOrEqual"
_REDUCED = """ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum ReduceSumSquare"""

RULES: dict[tuple[str, str], Rule] = {
    **{("", name): e.same for name in _SAME.split()},
    **{("", name): e.joined for name in _JOINED.split()},
    **{("", name): e.compared for name in _COMPARED.split()},
    **{("", name): o.reduced for name in _REDUCED.split()},
    **{
        ("", name): rule
        for rule, names in (
            (e.tested, "IsInf IsNaN RegexFullMatch"),
            (e.compared, "And Or Xor"),
            (e.where, "Where"),
            (e.cast, "Cast"),
            (e.cast, "BitCast"),
            (e.cast_like, "CastLike"),
            (e.dropout, "Dropout"),
            (e.constant, "Constant"),
            (e.filled, "ConstantOfShape"),
            (e.shape_of, "Shape"),
            (e.size_of, "Size"),
            (e.counted, "Range"),
            (e.made_like, "EyeLike RandomNormalLike RandomUniformLike Bernoulli"),
            (e.made, "RandomNormal RandomUniform"),
            (e.multinomial, "Multinomial"),
            (e.window, "HannWindow HammingWindow BlackmanWindow"),
            (e.determinant, "Det"),
            (e.non_zero, "NonZero"),
            (e.compress, "Compress"),
            (e.unique, "Unique"),
            (e.non_max_suppression, "NonMaxSuppression"),
            (c.matmul, "MatMul"),
            (c.matmul_integer, "MatMulInteger"),
            (c.qlinear_matmul, "QLinearMatMul"),
            (c.gemm, "Gemm"),
            (c.conv, "Conv DeformConv"),
            (c.conv_integer, "ConvInteger"),
            (c.qlinear_conv, "QLinearConv"),
            (c.conv_transpose, "ConvTranspose"),
            (c.pool, "AveragePool MaxPool LpPool"),
            (c.global_pool, "GlobalAveragePool GlobalMaxPool GlobalLpPool"),
            (c.max_unpool, "MaxUnpool"),
            (c.max_roi_pool, "MaxRoiPool"),
            (c.roi_align, "RoiAlign"),
            (c.batch_norm, "BatchNormalization"),
            (c.layer_norm, "LayerNormalization"),
            (c.recurrent, "RNN GRU LSTM"),
            (c.attention, "Attention"),
            (r.linear_attention, "LinearAttention"),
            (r.convolution_with_state, "CausalConvWithState"),
            (r.counted_words, "TfIdfVectorizer"),
            (r.cleaned_words, "StringNormalizer"),
            (c.grid_sample, "GridSample"),
            (c.affine_grid, "AffineGrid"),
            (c.dynamic_quantize, "DynamicQuantizeLinear"),
            (c.quantize, "QuantizeLinear"),
            (c.dequantize, "DequantizeLinear"),
            (c.loss, "NegativeLogLikelihoodLoss SoftmaxCrossEntropyLoss"),
            (c.einsum, "Einsum"),
            (c.dft, "DFT"),
            (c.stft, "STFT"),
            (o.reshape, "Reshape"),
            (o.flatten, "Flatten"),
            (o.squeeze, "Squeeze"),
            (o.unsqueeze, "Unsqueeze"),
            (o.transpose, "Transpose"),
            (o.concat, "Concat"),
            (o.split, "Split"),
            (o.slice_, "Slice"),
            (o.gather, "Gather"),
            (o.gather_elements, "GatherElements"),
            (o.gather_nd, "GatherND"),
            (o.expand, "Expand"),
            (o.tile, "Tile"),
            (o.pad, "Pad"),
            (o.arg_reduced, "ArgMax ArgMin"),
            (o.top_k, "TopK"),
            (o.depth_to_space, "DepthToSpace"),
            (o.space_to_depth, "SpaceToDepth"),
            (o.one_hot, "OneHot"),
            (o.resize, "Resize Upsample"),
            (o.center_crop_pad, "CenterCropPad"),
            (o.col2im, "Col2Im"),
        )
        for name in names.split()
    },
    **{
        ("com.microsoft", name): rule
        for rule, names in (
            (
                e.same,
                "Gelu FastGelu BiasGelu QuickGelu QLinearSigmoid QLinearLeakyRelu QLinearSoftmax RotaryEmbedding Trilu Inverse",
            ),
            (e.joined, "BiasAdd"),
            (f.split_gelu, "BiasSplitGelu"),
            (f.fused_matmul, "FusedMatMul TransposeMatMul"),
            (c.matmul, "DynamicQuantizeMatMul"),
            (f.dequantized_matmul, "MatMulIntegerToFloat"),
            (f.packed_matmul, "MatMulNBits MatMulBnb4"),
            (c.gemm, "FusedGemm"),
            (f.quantized_gemm, "QGemm"),
            (c.conv, "FusedConv"),
            (c.quantize, "QuantizeLinear"),
            (c.dequantize, "DequantizeLinear"),
            (f.quantized_joined, "QLinearAdd QLinearMul"),
            (f.quantized_concat, "QLinearConcat"),
            (f.quantized_pool, "QLinearAveragePool QLinearGlobalAveragePool"),
            (c.recurrent, "DynamicQuantizeLSTM"),
            (c.grid_sample, "GridSample"),
            (f.skip_layer_norm, "SkipLayerNormalization SkipSimplifiedLayerNormalization"),
            (f.embedded, "EmbedLayerNormalization"),
            (f.self_attention, "Attention QAttention"),
            (f.heads_attention, "MultiHeadAttention"),
            (f.grouped_attention, "GroupQueryAttention"),
            (f.gathered_blocks, "GatherBlockQuantized"),
        )
        for name in names.split()
    },
    ("", "SimplifiedLayerNormalization"): c.layer_norm,
    ("ai.onnx.preview", "FlexAttention"): r.flex_attention,
    **{("ai.onnx.preview.training", name): r.trained(3) for name in ("Adagrad", "Momentum")},
    ("ai.onnx.preview.training", "Adam"): r.trained(4),
    **{
        ("ai.onnx.ml", name): rule
        for rule, names in (
            (e.same, "Binarizer Imputer"),
            (r.as_numbers, "Normalizer Scaler"),
            (r.labels, "LabelEncoder"),
            (r.picked, "ArrayFeatureExtractor"),
            (r.classified, "LinearClassifier TreeEnsembleClassifier"),
            (r.zipped, "ZipMap"),
            (r.vectorised, "DictVectorizer"),
            (r.from_map, "CastMap"),
            (r.targets, "LinearRegressor TreeEnsemble TreeEnsembleRegressor"),
        )
        for name in names.split()
    },
}

VIEWS = frozenset(("Flatten", "Identity", "Reshape", "Squeeze", "Unsqueeze", "Dropout"))
"""Operators that return the bytes of their first input."""
IN_PLACE = frozenset((*_SAME.split(), *_JOINED.split(), "BatchNormalization", "Cast", "Where")) - frozenset(
    ("LRN", "ReverseSequence", "InstanceNormalization", "GroupNormalization", "RotaryEmbedding", "CumProd", "CumSum", "Identity", "LpNormalization",
     "MeanVarianceNormalization", "RMSNormalization", "Crop", "Trilu", "Hardmax", "Softmax", "LogSoftmax", "Scatter",
     "ScatterElements", "ScatterND", "TensorScatter")
)  # fmt: skip
"""Operators that work element by element, so that a result of equal size can be written over an input."""
