#!/usr/bin/python3
"""Writes the seed inputs of the fuzz entry points (needs Debian's python3-onnx and python3-pil): one folder for each tests/fuzz/<name>_fuzz.cc.
Files called found-* beside them are inputs that once broke something; they are kept by hand."""
import io
import pathlib

import numpy as np
import PIL.Image
from onnx import AttributeProto, FunctionProto, TensorProto, helper, numpy_helper

HERE = pathlib.Path(__file__).resolve().parent


def put(path, data):
    path = HERE / path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def model(nodes, inputs, outputs, opset=18, **more):
    graph = helper.make_graph(nodes, "g", inputs, outputs, more.pop("initializer", None))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset), helper.make_opsetid("my", 1)], ir_version=8, **more)


def info(name, *shape, kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def lp_pool(opset, **attributes):
    node = helper.make_node("LpPool", ["x"], ["y"], "pool", **attributes)
    return model([node], [info("x", "N", 2, 5, 6)], [info("y", None, None, None, None)], opset).SerializeToString()


def models():
    put("model/lp_pool_18", lp_pool(18, p=3, kernel_shape=[2, 3], strides=[1, 2], pads=[0, 1, 1, 0], ceil_mode=1, dilations=[2, 1]))
    put("model/lp_pool_2_same", lp_pool(2, p=1, kernel_shape=[2, 2], auto_pad="SAME_LOWER"))
    put("model/lp_pool_1", lp_pool(1, p=2.5, kernel_shape=[2, 2]))
    branch = lambda name: helper.make_graph([helper.make_node("GlobalLpPool", ["x"], [name])], name + "_graph", [], [info(name, 1, 2, 1, 1)])
    node = helper.make_node("If", ["c"], ["y"], then_branch=branch("a"), else_branch=branch("b"))
    put("model/if", model([node], [info("c", kind=TensorProto.BOOL), info("x", 1, 2, 5, 6)], [info("y", 1, 2, 1, 1)]).SerializeToString())
    inner = helper.make_node("LpPool", ["x"], ["y"])
    for name, kind in (("p", AttributeProto.INT), ("kernel_shape", AttributeProto.INTS)):
        inner.attribute.append(AttributeProto(name=name, type=kind, ref_attr_name=name))
    function = FunctionProto(name="pool", domain="my", input=["x"], output=["y"], attribute=["p", "kernel_shape"], node=[inner],
                             opset_import=[helper.make_opsetid("", 18)])
    call = helper.make_node("pool", ["x"], ["y"], domain="my", p=2, kernel_shape=[2, 2])
    calls = model([call], [info("x", 1, 1, 4, 4)], [info("y", 1, 1, 3, 3)], functions=[function]).SerializeToString()
    put("model/function", calls)
    weights = [numpy_helper.from_array(np.arange(6, dtype=np.float32).reshape(2, 3), "w"),
               helper.make_tensor("h", TensorProto.FLOAT16, [2], [1.0, 2.0]), helper.make_tensor("s", TensorProto.STRING, [1], [b"a"])]
    external = TensorProto(name="e", data_type=1, dims=[2], data_location=TensorProto.EXTERNAL)
    for key, value in (("location", "data.bin"), ("offset", "4"), ("length", "8")):
        external.external_data.add(key=key, value=value)
    put("model/initializers", model([helper.make_node("Add", ["x", "w"], ["y"])], [info("x", 2, 3)], [info("y", 2, 3)],
                                    initializer=weights + [external]).SerializeToString())
    # A graph in two parts, a length longer than it need be, a group of unknown fields, a description with two types.
    def field(number, payload):
        return bytes([number << 3 | 2, len(payload)]) + payload
    info_y = field(1, b"y") + field(2, field(1, b"\x08\x01")) + field(2, field(1, field(2, field(1, b"\x08\x04"))))
    parts = field(1, field(1, b"x") + field(2, b"y") + field(4, b"Abs")) + b"\x6b\x08\x01\x6c", field(12, info_y) + field(13, field(1, b"z"))
    put("model/parts", field(7, parts[0]) + b"\x3a\x80\x80\x00" + b"\x08\x08" + field(8, b"\x10\x12") +
        b"\x3a" + bytes([len(parts[1]) | 0x80, 0x80, 0]) + parts[1])


def inferred():
    """Sizes as data, and rounds of a loop: what inference follows."""
    def ints(name, *values, shape=None):
        return helper.make_tensor(name, TensorProto.INT64, [len(values)] if shape is None else shape, values)
    node = helper.make_node
    put("infer/reshape", model(
        [node("Shape", ["x"], ["s"]), node("Gather", ["s", "i"], ["n"]), node("Concat", ["n", "m"], ["t"], axis=0), node("Mul", ["t", "k"], ["u"]),
         node("Reshape", ["x", "u"], ["y"]), node("Slice", ["y", "i", "k"], ["z"])],
        [info("x", "N", "C", 4)], [info("z", None, None)], initializer=[ints("i", 0), ints("m", -1), ints("k", 1)]).SerializeToString())
    body = helper.make_graph([node("Concat", ["v", "v"], ["w"], axis=0), node("Identity", ["c"], ["d"]), node("Abs", ["v"], ["e"])], "body",
                             [info("r", kind=TensorProto.INT64), info("c", kind=TensorProto.BOOL), info("v", "N")],
                             [info("d", kind=TensorProto.BOOL), info("w", None), info("e", None)])
    put("infer/loop", model([node("Loop", ["n", "", "x"], ["y", "z"], body=body)], [info("x", "N")], [info("y", None), info("z", None, None)],
                            initializer=[ints("n", 3, shape=[])]).SerializeToString())
    step = helper.make_graph([node("Add", ["a", "e"], ["b"]), node("Abs", ["b"], ["p"])], "step", [info("a", 2), info("e", 2)], [info("b", 2), info("p", 2)])
    put("infer/scan", model([node("Scan", ["s", "x"], ["t", "o"], body=step, num_scan_inputs=1)], [info("s", 2), info("x", "T", 2)],
                            [info("t", 2), info("o", None, 2)]).SerializeToString())
    put("infer/shapes", model(
        [node("LpPool", ["x"], ["a"], kernel_shape=[3, 2], strides=[2, 2], auto_pad="SAME_UPPER"), node("ConvTranspose", ["a", "f"], ["b"], strides=[2, 1]),
         node("Range", ["i", "j", "k"], ["r"]), node("Split", ["b"], ["p", "q"], axis=2, num_outputs=2), node("Einsum", ["p"], ["y"], equation="nchw->wn")],
        [info("x", "N", 2, "H", "W"), info("j", kind=TensorProto.INT64)], [info("y", None, None), info("r", None, kind=TensorProto.INT64)],
        initializer=[ints("i", 0, shape=[]), ints("k", 2, shape=[]), helper.make_tensor("f", TensorProto.FLOAT, [2, 1, 1, 1], [1.0, 2.0])]).SerializeToString())


def tensors():
    values = {TensorProto.FLOAT: [1.5, -2.0], TensorProto.INT32: [-1, 7], TensorProto.INT64: [-1, 2**40], TensorProto.UINT64: [1, 2**63],
              TensorProto.DOUBLE: [0.1, 2.0], TensorProto.BOOL: [True, False], TensorProto.STRING: [b"a", b""],
              TensorProto.FLOAT16: [1.0, 2.0], TensorProto.BFLOAT16: [1.0, 2.0], TensorProto.COMPLEX64: [1 + 2j, 3 + 4j]}
    for kind, list_ in values.items():
        put(f"tensor/typed_{TensorProto.DataType.Name(kind).lower()}", helper.make_tensor("t", kind, [2], list_).SerializeToString())
    put("tensor/raw", numpy_helper.from_array(np.ones((2, 3), np.float32), "t").SerializeToString())
    put("tensor/int4", TensorProto(name="t", data_type=22, dims=[3], raw_data=b"\x87\x0f").SerializeToString())


def arrays():
    for name, array in {"f4": np.ones((2, 3), "<f4"), "fortran": np.asfortranarray(np.arange(6, dtype=">i2").reshape(2, 3)),
                        "bool": np.array([True, False]), "scalar": np.array(1 + 2j), "void": np.zeros(2, "V2")}.items():
        buffer = io.BytesIO()
        np.lib.format.write_array(buffer, array, version=(2, 0) if name == "bool" else (1, 0))
        put(f"npy/{name}", buffer.getvalue())
    for name, save in {"stored": np.savez, "deflated": np.savez_compressed}.items():
        buffer = io.BytesIO()
        save(buffer, a=np.arange(3), b=np.zeros(50, np.float32))
        put(f"npz/{name}", buffer.getvalue())


def text():
    head = '# lppool tensor\n'
    put("text_tensor/float", (head + 'name: "y"\ndtype: float32\nshape: 2x3\n1 2.5 -inf\nnan 1e-45 nan(0x7fc00001)\n').encode())
    put("text_tensor/string", (head + 'dtype: string\nshape: 2\n"a b" "\\x00\\n\\""\n').encode())
    put("text_tensor/complex", (head + 'dtype: complex64\nshape: scalar\n(1,-2.5)\n').encode())
    put("text_tensor/small", (head + 'dtype: float8e4m3fn\nshape: 2\n# comment\n448 nan(0x7f)\n').encode())
    put("text_tensor/int4", (head + 'dtype: int4\nshape: 3\n-8 7 0\n').encode())


def images():
    y, x = np.mgrid[0:5, 0:7]
    rgb = np.stack([x * 40, y * 60, (x * y * 9) % 256], axis=-1).astype(np.uint8)
    colour = PIL.Image.fromarray(rgb)
    grey, palette, bits = colour.convert("L"), colour.quantize(5), colour.convert("1")
    saved = {
        "png_rgb": (colour, "png", {}), "png_palette": (palette, "png", {"bits": 4}), "png_bits": (bits, "png", {}),
        "jpeg_rgb": (colour, "jpeg", {"quality": 60}), "jpeg_grey": (grey, "jpeg", {}),
        "jpeg_progressive": (colour.resize((33, 17)), "jpeg", {"progressive": True, "quality": 30}),
        "tiff_plain": (colour, "tiff", {}), "tiff_lzw": (colour, "tiff", {"compression": "tiff_lzw"}),
        "tiff_fax": (bits, "tiff", {"compression": "group4"}), "tiff_jpeg": (colour, "tiff", {"compression": "jpeg"}),
        "tiff_palette": (palette, "tiff", {}), "tiff_deflate": (grey, "tiff", {"compression": "tiff_adobe_deflate"}),
        "webp_lossy": (colour, "webp", {}), "webp_lossless": (colour, "webp", {"lossless": True}),
        "jp2_rgb": (colour, "jpeg2000", {}), "j2k_grey": (grey, "jpeg2000", {"no_jp2": True}),
        "jp2_lossy_tiles": (colour.resize((33, 17)), "jpeg2000",
                            {"irreversible": True, "tile_size": (16, 16), "quality_layers": [20, 5]}),
        "bmp_rgb": (colour, "bmp", {}), "bmp_palette": (palette, "bmp", {}), "pnm_rgb": (colour, "ppm", {}),
        "pnm_bits": (bits, "ppm", {}),
    }
    for name, (image, kind, options) in saved.items():
        buffer = io.BytesIO()
        image.save(buffer, kind, **options)
        put(f"image/{name}", buffer.getvalue())


models()
inferred()
tensors()
arrays()
text()
images()
