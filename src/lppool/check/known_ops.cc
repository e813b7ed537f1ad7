// Facts of ONNX's operator list at its newest commit (operator set 28 of the default domain in progress).
#include "lppool/check/known_ops.h"

#include <charconv>
#include <map>

namespace lppool {
namespace {

// "name:first" or "name:first-deprecated", in alphabetical order.
constexpr std::string_view kDefault =
    "Abs:1 Acos:7 Acosh:9 Add:1 AffineGrid:20 And:1 ArgMax:1 ArgMin:1 Asin:7 Asinh:9 Atan:7 Atanh:9 Attention:23 "
    "AveragePool:1 BatchNormalization:1 Bernoulli:15 BitCast:26 BitShift:11 BitwiseAnd:18 BitwiseNot:18 "
    "BitwiseOr:18 BitwiseXor:18 BlackmanWindow:17 Cast:1 CastLike:15 CausalConvWithState:27 Ceil:1 Celu:12 "
    "CenterCropPad:18 Clip:1 Col2Im:18 Compress:9 Concat:1 ConcatFromSequence:11 Constant:1 ConstantOfShape:9 "
    "Conv:1 ConvInteger:10 ConvTranspose:1 Cos:7 Cosh:9 CumProd:26 CumSum:11 DFT:17 DeformConv:19 DepthToSpace:1 "
    "DequantizeLinear:10 Det:11 Div:1 Dropout:1 DynamicQuantizeLinear:11 Einsum:12 Elu:1 Equal:1 Erf:9 Exp:1 "
    "Expand:8 EyeLike:9 Flatten:1 Floor:1 GRU:1 Gather:1 GatherElements:11 GatherND:11 Gelu:20 Gemm:1 "
    "GlobalAveragePool:1 GlobalLpPool:1 GlobalMaxPool:1 Greater:1 GreaterOrEqual:12 GridSample:16 "
    "GroupNormalization:18 HammingWindow:17 HannWindow:17 HardSigmoid:1 HardSwish:14 Hardmax:1 Identity:1 If:1 "
    "ImageDecoder:20 InstanceNormalization:1 IsInf:10 IsNaN:9 LRN:1 LSTM:1 LayerNormalization:17 LeakyRelu:1 "
    "Less:1 LessOrEqual:12 LinearAttention:27 Log:1 LogSoftmax:1 Loop:1 LpNormalization:1 LpPool:1 MatMul:1 "
    "MatMulInteger:10 Max:1 MaxPool:1 MaxRoiPool:1 MaxUnpool:9 Mean:1 MeanVarianceNormalization:9 "
    "MelWeightMatrix:17 Min:1 Mish:18 Mod:10 Mul:1 Multinomial:7 Neg:1 NegativeLogLikelihoodLoss:12 "
    "NonMaxSuppression:10 NonZero:9 Not:1 OneHot:9 Optional:15 OptionalGetElement:15 OptionalHasElement:15 Or:1 "
    "PRelu:1 Pad:1 Pow:1 QLinearConv:10 QLinearMatMul:10 QuantizeLinear:10 RMSNormalization:23 RNN:1 "
    "RandomNormal:1 RandomNormalLike:1 RandomUniform:1 RandomUniformLike:1 Range:11 Reciprocal:1 ReduceL1:1 "
    "ReduceL2:1 ReduceLogSum:1 ReduceLogSumExp:1 ReduceMax:1 ReduceMean:1 ReduceMin:1 ReduceProd:1 ReduceSum:1 "
    "ReduceSumSquare:1 RegexFullMatch:20 Relu:1 Reshape:1 Resize:10 ReverseSequence:10 RoiAlign:10 "
    "RotaryEmbedding:23 Round:11 STFT:17 Scan:8 Scatter:9-11 ScatterElements:11 ScatterND:11 Selu:1 SequenceAt:11 "
    "SequenceConstruct:11 SequenceEmpty:11 SequenceErase:11 SequenceInsert:11 SequenceLength:11 SequenceMap:17 "
    "Shape:1 Shrink:9 Sigmoid:1 Sign:9 Sin:7 Sinh:9 Size:1 Slice:1 Softmax:1 SoftmaxCrossEntropyLoss:12 "
    "Softplus:1 Softsign:1 SpaceToDepth:1 Split:1 SplitToSequence:11 Sqrt:1 Squeeze:1 StringConcat:20 "
    "StringNormalizer:10 StringSplit:20 Sub:1 Sum:1 SwiGLU:28 Swish:24 Tan:7 Tanh:1 TensorScatter:24 "
    "TfIdfVectorizer:9 ThresholdedRelu:10 Tile:1 TopK:1 Transpose:1 Trilu:14 Unique:11 Unsqueeze:1 Upsample:1-10 "
    "Where:9 Xor:1 ";

constexpr std::string_view kMl =
    "ArrayFeatureExtractor:1 Binarizer:1 CastMap:1 CategoryMapper:1 DictVectorizer:1 FeatureVectorizer:1 "
    "Imputer:1 LabelEncoder:1 LinearClassifier:1 LinearRegressor:1 Normalizer:1 OneHotEncoder:1 SVMClassifier:1 "
    "SVMRegressor:1 Scaler:1 TreeEnsemble:5 TreeEnsembleClassifier:1-5 TreeEnsembleRegressor:1-5 ZipMap:1 ";

constexpr std::string_view kTraining = "Adagrad:1 Adam:1 Gradient:1 Momentum:1 ";

constexpr std::string_view kPreview = "FlexAttention:1 ";

// Usable without a schema in early releases, gone since ONNX 1.5.
constexpr std::string_view kExperimental =
    "ATen Affine ConstantFill Crop DynamicSlice GRUUnit GivenTensorFill ImageScaler ParametricSoftplus Scale "
    "ScaledTanh ";

constexpr std::pair<std::string_view, std::string_view> kDomains[] = {
    {"", kDefault}, {"ai.onnx.ml", kMl}, {"ai.onnx.preview.training", kTraining}, {"ai.onnx.preview", kPreview}};

int number(std::string_view text) {
  int value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

using Operators = std::map<std::string_view, KnownOp>;

Operators parse(std::string_view list) {
  Operators result;
  while (!list.empty()) {
    const std::string_view word = list.substr(0, list.find(' '));
    list.remove_prefix(word.size() + 1);
    const std::size_t colon = word.find(':'), dash = word.find('-');
    KnownOp op;
    op.first = colon == std::string_view::npos ? 1 : number(word.substr(colon + 1));
    if (dash != std::string_view::npos) op.deprecated = number(word.substr(dash + 1));
    result.emplace(word.substr(0, colon), op);
  }
  return result;
}

const Operators* operators_of(std::string_view domain) {
  static const std::map<std::string_view, Operators> domains = [] {
    std::map<std::string_view, Operators> all;
    for (const auto& [name, list] : kDomains) all.emplace(name, parse(list));
    return all;
  }();
  const auto found = domains.find(domain);
  return found == domains.end() ? nullptr : &found->second;
}

}  // namespace

bool is_onnx_domain(std::string_view domain) {
  return operators_of(canonical_domain(domain)) != nullptr;
}

std::optional<KnownOp> known_op(std::string_view domain, std::string_view type) {
  const Operators* operators = operators_of(canonical_domain(domain));
  if (operators == nullptr) return std::nullopt;
  const auto found = operators->find(type);
  return found == operators->end() ? std::nullopt : std::optional(found->second);
}

bool is_experimental_op(std::string_view domain, std::string_view type) {
  static const Operators operators = parse(kExperimental);
  return canonical_domain(domain).empty() && operators.contains(type);
}

std::vector<std::string_view> known_op_names(std::string_view domain) {
  std::vector<std::string_view> names;
  if (const Operators* operators = operators_of(canonical_domain(domain))) {
    for (const auto& [name, op] : *operators) names.push_back(name);
  }
  return names;
}

}  // namespace lppool
