#include "lppool/check/code_tables.h"

namespace lppool {
namespace {

using enum Severity;

constexpr CodeInfo kCodes[] = {
    {"TD001", kError, "raw_data has the wrong size",
     "raw_data holds exactly the product of the dims times the size of an element, little-endian, in row order. Too "
     "short and "
     "too long are both refused: either way the dims are not those of the data.",
     "dims: [2, 2]  data_type: FLOAT  raw_data: 12 bytes", "dims: [2, 2]  data_type: FLOAT  raw_data: 16 bytes"},
    {"TD002", kError, "a typed data field has the wrong number of values",
     "One value for each element (two for complex types, several elements in one for types below a byte).",
     "dims: [3]  data_type: FLOAT  float_data: [1, 2]", "dims: [3]  data_type: FLOAT  float_data: [1, 2, 3]"},
    {"TD003", kError, "a tensor has its data in two places",
     "Exactly one data field is used, or the data are external. Rule of onnx/checker.cc.",
     "float_data: [1]  raw_data: \"\\000\\000\\200?\"", "float_data: [1]"},
    {"TD004", kError, "a dim of a tensor is negative", "The dims of stored data are 0 or more.", "dims: [-1, 3]",
     "dims: [2, 3]"},
    {"TD005", kError, "the number of elements leaves 64 bits", "No such data can exist.",
     "dims: [4294967296, 4294967296]", "dims: [1024, 1024]"},
    {"TD006", kError, "the element type is a number without meaning", "ONNX 1.22 defines the element types 1 to 26.",
     "data_type: 99", "data_type: 1"},
    {"TD007", kError, "a tensor of no elements has data",
     "Where a dim is 0 no data field may be set. Rule of onnx/checker.cc.", "dims: [0, 3]  float_data: [1]",
     "dims: [0, 3]"},
    {"TD008", kError, "the data are in the wrong field for the type",
     "float_data holds float32 and complex64; double_data float64 and complex128; int64_data int64; uint64_data uint32 "
     "and "
     "uint64; string_data strings; int32_data everything else, 16-bit floats as their bits. raw_data takes all but "
     "strings.",
     "data_type: FLOAT16  float_data: [1]", "data_type: FLOAT16  int32_data: [15360]"},
    {"TD009", kError, "strings are stored in raw_data", "Strings have a field of their own, string_data.",
     "data_type: STRING  raw_data: \"abc\"", "data_type: STRING  string_data: [\"abc\"]"},
    {"TD010", kError, "a tensor is cut into segments",
     "The segment field was never given a meaning by any tool we know of; ONNX's documents say no more than that it "
     "exists.",
     "segment { begin: 0  end: 10 }", "the whole tensor in one piece"},
    {"TD011", kError, "a sparse tensor is malformed",
     "values has rank 1 and nnz entries; indices is int64, of shape nnz (positions in row order) or nnz x rank; "
     "indices lie in "
     "range, in ascending order, none twice; the dense rank is 1 or more and its dims are positive. Rules of "
     "onnx/checker.cc.",
     "dims: [4]  values: [1, 2]  indices: [3, 3]", "dims: [4]  values: [1, 2]  indices: [1, 3]"},

    {"EX001", kError, "external data have no location",
     "The entry \"location\" names the file that holds them (docs/ExternalData.md).",
     "external_data { key: \"offset\" value: \"0\" }", "external_data { key: \"location\" value: \"weights.bin\" }"},
    {"EX002", kError, "the location of external data is an absolute path",
     "It is relative to the model's folder. An absolute path breaks when the model moves, and would let a model read "
     "any "
     "file.",
     "location: \"/data/weights.bin\"", "location: \"weights.bin\""},
    {"EX003", kError, "the location of external data leaves the model's folder",
     "After links and \"..\" are resolved the file lies outside. A model may not read files from elsewhere.",
     "location: \"../weights.bin\"", "location: \"weights.bin\""},
    {"EX004", kError, "the file of external data is missing or cannot be read",
     "It was probably not copied along with the model.", "location: \"weights.bin\"  (no such file)",
     "weights.bin beside the model"},
    {"EX005", kError, "offset or length of external data is no whole number of bytes",
     "Both are decimal numbers, 0 or more, written as text.", "offset: \"4k\"", "offset: \"4096\""},
    {"EX006", kError, "external data lie past the end of their file",
     "offset + length is larger than the file: the file was cut short, or belongs to another model.",
     "offset: \"4096\"  length: \"400\"  (the file has 4100 bytes)", "the whole file, or the right offset"},
    {"EX007", kError, "the length of external data does not fit the tensor",
     "It must be the product of the dims times the size of an element.", "dims: [10]  data_type: FLOAT  length: \"44\"",
     "dims: [10]  data_type: FLOAT  length: \"40\""},
};

}  // namespace

std::span<const CodeInfo> data_codes() {
  return kCodes;
}

}  // namespace lppool
